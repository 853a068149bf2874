//! Experiments on the model: what people measure with a machine, and what they hold against it.
//!
//! [`regions`] finds windows that stand for a long trace and [`estimate`] scales their counts up; [`chunks`] runs a
//! trace in parts at the same time; [`membench`] measures the memory; [`core_bench`] and [`targets`] measure the core;
//! [`truth`] fills what formulas are held against, [`evidence`] runs a trace for that; [`diff`] says why two
//! configurations count differently; [`counterfactual`] says what a run would save if one thing cost nothing,
//! [`kernels`] are programs of which that is known.

pub mod chunks;
pub mod core_bench;
pub mod counterfactual;
pub mod diff;
pub mod estimate;
pub mod evidence;
mod flow_watch;
pub mod kernels;
mod known_events;
pub mod membench;
pub mod regions;
mod regression;
pub mod targets;
pub mod truth;

pub use chunks::run_chunks;
pub use estimate::Estimate;
pub use flow_watch::FlowWatch;
pub use regions::{Region, RegionOptions, Regions, RegionsError};
pub use truth::{Ledger, TruthSink};
