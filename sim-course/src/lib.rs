//! Lessons: short texts with questions that a model answers.
//!
//! A lesson is a TOML file that a teacher writes without programming. It has a text, setups and
//! questions. A setup is a scenario of a few steps, or a part of a trace. A question asks for a
//! number that the model computes, so no answer is typed into the file:
//!
//! ```
//! let text = r#"
//!     title   = "A line"
//!     minutes = 10
//!     level   = "beginner"
//!     text    = "The cache reads memory in **lines** of 64 bytes."
//!     given   = "K1"
//!     do      = "LD8 0x8000 ; LD8 0x8008"
//!
//!     [[question]]
//!     ask   = "How many refills do the two loads count?"
//!     count = "L1D_CACHE_REFILL"
//!     why   = "Both are in one line: {answer} refill for {L1D_CACHE} accesses."
//! "#;
//! let lesson = sim_course::Lesson::parse(text, "line.toml")?;
//! let solved = lesson.solve(&mut sim_course::NoTraces)?;
//! assert_eq!(solved[0].shown, "1");
//! assert_eq!(solved[0].why, "Both are in one line: 1 refill for 2 accesses.");
//! assert!(lesson.questions[0].check("1", &solved[0].truth).is_right());
//! # Ok::<(), sim_course::LessonError>(())
//! ```
//!
//! * [`lesson`], [`setup`], [`question`]: the parts of a lesson, which serialize without answers;
//! * [`expression`]: formulas over counts of setups and steps; [`text`]: the small Markdown;
//! * [`notation`]: the terms of the setups with their meanings; [`source`]: the sources of data;
//! * [`solve`]: the true answers; [`verdict`]: a typed answer compared with the true one;
//! * [`sheet`]: the answers of a student and their points; [`builtin`]: the lessons of n2sim.
//!
//! The crate reads no files and no clocks, so that it also runs in a browser. Who uses it opens
//! the traces ([`TraceSource`]); [`TraceRun::count`] counts them.

pub mod builtin;
mod condition;
mod count;
mod document;
mod error;
pub mod expression;
pub mod lesson;
pub mod notation;
pub mod question;
pub mod setup;
pub mod sheet;
pub mod solve;
pub mod source;
pub mod text;
pub mod verdict;

pub use builtin::LESSONS;
pub use error::{LessonError, Problem};
pub use lesson::{Lesson, Level};
pub use notation::Term;
pub use question::{Answer, Question, Tolerance};
pub use setup::{Run, Scenario, Setup, TraceRun};
pub use sheet::{Grade, GradedLesson, GradedQuestion, Sheet, grade};
pub use solve::{NoTraces, Results, Solved, TraceCounts, TraceSource, Truth};
pub use verdict::Verdict;
