//! Assembles a machine from a configuration and runs traces on it.
//!
//! [`config`] is the configuration of a machine; [`session`] runs a trace on one core per thread;
//! [`region`] selects the counted part; [`outcome`] holds the results. [`functional_warming`]
//! updates caches and predictors without a pipeline. [`observe`] collects data for reports.
//! [`caveats`] lists the counts that a trace or a mode makes unreliable.

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
mod quanta;
mod quanta_report;
pub mod region;
mod run_sink;
mod seats;
pub mod session;
mod single_thread;
mod thread_cut;
mod thread_scheduler;
pub mod thread_warming;
mod threads;
mod threads_config;
mod totals;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use error::MachineError;
pub use levels::{Level, LevelCounts};
pub use machines::Machine;
pub use mode::Mode;
pub use observe::RunObserver;
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord, Waits};
pub use quanta_report::QuantaReport;
pub use region::{Marker, Roi, RunOptions, hint_word};
pub use session::Session;
pub use session::windows::Window;
pub use sim_cache::{MemoryStats, PrefetchCounts, PrefetchStats, Walks, floor_plan};
pub use single_thread::only_thread;
pub use thread_cut::{Cut, Place};
pub use thread_scheduler::OrderOfRun;
pub use thread_warming::ThreadWarming;
pub use threads_config::{ThreadOrder, ThreadsConfig};
