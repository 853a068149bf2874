//! Assembles a machine from a configuration and runs traces on it.
//!
//! [`config`] is the whole document; [`session`] runs one trace on one core
//! per thread; [`region`] says which part of the run is counted; [`outcome`] is what comes out; [`ladder`] measures the memory;
//! [`core_bench`] and [`targets`] measure the core;
//! [`truth`] fills what formulas are held against, [`evidence`] runs a trace for that;
//! [`observe`] looks at a run from all sides, for reports; [`trust`] says which counts a trace of another tool
//! spoils; [`diff`] says why two configurations count differently.

pub mod config;
pub mod core_bench;
mod core_run;
pub mod diff;
mod erratum;
pub mod error;
pub mod evidence;
mod flow_watch;
pub mod ladder;
mod levels;
pub mod observe;
pub mod outcome;
mod page_map;
pub mod region;
pub mod scenario;
pub mod session;
pub mod targets;
pub mod trust;
pub mod truth;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use error::MachineError;
pub use flow_watch::FlowWatch;
pub use levels::{Level, LevelCounts};
pub use observe::RunObserver;
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord};
pub use region::{Marker, Roi, RunOptions};
pub use session::Session;
pub use sim_cache::{MemoryTally, PrefetchCounts, PrefetchStats, Walks};
pub use truth::{Ledger, TruthSink};
