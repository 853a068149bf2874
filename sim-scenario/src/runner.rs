//! Runs directed cases on a machine and compares every count that a case looks at.
//!
//! A case gets a machine of its own: the configuration it was given, hardware prefetchers off, an
//! identity page map, then the state of its "given" (`setup`). Each step is an A64 word that goes
//! through the decoder and the pipeline like any other; only its own fetch is free and silent, so
//! that a data step raises no event of the I-side. `IF` goes to the I-side directly.

mod cut_short;
mod cycle_counts;
mod elements;
mod error;
mod exceptions;
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

pub use cycle_counts::CycleCounts;
pub use error::CaseError;
pub use profiling::WrongProfile;
pub use recorded::{Recorded, Tally};
pub use run::{configure, reading_of, run_case, run_case_on};
pub use statements::WrongStatement;
pub use verdict::{Mismatch, StepCounts, Verdict, WrongCounter, WrongEdge};
pub use walk::{OPERATIONS_KEPT, Walked, walk_case};
