//! Assembles a machine from a configuration and runs traces on it.
//!
//! [`config`] is the whole document; [`session`] runs one trace on one core
//! per thread; [`region`] says which part of the run is counted; [`regions`] finds windows that
//! stand for a long trace; [`outcome`] is what comes out; [`ladder`] measures the memory;
//! [`core_bench`] and [`targets`] measure the core;
//! [`truth`] fills what formulas are held against, [`evidence`] runs a trace for that;
//! [`observe`] looks at a run from all sides, for reports; [`trust`] says which counts a trace of another tool
//! spoils; [`diff`] says why two configurations count differently; [`counterfactual`] says what a run
//! would save if one thing cost nothing, [`kernels`] are programs of which that is known.

mod approach;
mod code;
pub mod config;
pub mod core_bench;
mod core_run;
pub mod counterfactual;
pub mod diff;
mod erratum;
pub mod error;
pub mod estimate;
pub mod evidence;
mod flow_watch;
pub mod kernels;
mod known;
pub mod ladder;
mod levels;
mod line_table;
pub mod machines;
pub mod mode;
pub mod observe;
pub mod outcome;
mod page_map;
pub mod region;
pub mod regions;
pub mod session;
pub mod targets;
mod threads;
mod totals;
mod touches;
pub mod trust;
pub mod truth;
mod turns;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use error::MachineError;
pub use estimate::Estimate;
pub use flow_watch::FlowWatch;
pub use levels::{Level, LevelCounts};
pub use machines::Machine;
pub use mode::Mode;
pub use observe::RunObserver;
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord, Waits};
pub use region::{Marker, Roi, RunOptions};
pub use regions::{Region, RegionOptions, Regions};
pub use session::{Session, Window};
pub use sim_cache::{MemoryTally, PrefetchCounts, PrefetchStats, Walks};
pub use truth::{Ledger, TruthSink};
pub use turns::{OrderOfRun, ThreadOrder};
