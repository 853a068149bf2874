//! Runs directed cases on a machine and compares their counts.
//!
//! Each case gets a machine of its own: its configuration with hardware prefetchers off and an
//! identity page map, then the given state (`setup`). Each step is an A64 word that takes the usual
//! path through decoder and pipeline. Only its own fetch is free and uncounted, so that a data step
//! raises no event of the I-side. `IF` accesses the I-side directly.

mod cut_short;
mod cycle_counts;
mod elements;
mod error;
mod exceptions;
mod mesh;
mod other_pmus;
mod pmu_registers;
mod port;
mod profiling;
mod recorded;
mod register_steps;
mod run;
mod setup;
mod statements;
mod stepper;
mod verdict;
mod walk;
mod watch;

pub use cycle_counts::CycleCounts;
pub use error::CaseError;
pub use profiling::WrongProfile;
pub use recorded::{Recorded, Tally};
pub use run::{configure, reading_of, run_case, run_case_on};
pub use statements::WrongStatement;
pub use verdict::{Mismatch, StepCounts, Verdict, WrongCounter, WrongEdge};
pub use walk::{OPERATIONS_KEPT, Walked, walk_case};
pub use watch::{Logged, Reported, STEPS_WATCHED, Watched, WatchedStep, watch_case};
