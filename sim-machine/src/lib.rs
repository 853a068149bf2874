//! Assembles a machine from a configuration and runs traces on it.
//!
//! [`config`] is the whole document; [`session`] runs one trace on one core per thread; [`region`] says which part
//! of the run is counted; [`outcome`] is what comes out; [`functional_warming`] goes through the memory and the predictors of a
//! core without its pipeline; [`observe`] looks at a run from all sides, for reports; [`caveats`] says which counts a
//! trace of another tool spoils.

pub mod caveats;
mod code;
pub mod config;
mod core_run;
mod erratum;
pub mod error;
pub mod functional_warming;
mod last_access;
mod levels;
mod line_table;
pub mod machines;
pub mod mode;
pub mod observe;
pub mod outcome;
mod page_map;
pub mod region;
pub mod session;
mod single_thread;
mod thread_scheduler;
mod threads;
mod totals;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use error::MachineError;
pub use levels::{Level, LevelCounts};
pub use machines::Machine;
pub use mode::Mode;
pub use observe::RunObserver;
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord, Waits};
pub use region::{Marker, Roi, RunOptions};
pub use session::Session;
pub use session::windows::Window;
pub use sim_cache::{MemoryTally, PrefetchCounts, PrefetchStats, Walks};
pub use single_thread::only_thread;
pub use thread_scheduler::{OrderOfRun, ThreadOrder};
