//! Experiments on the model: measurements with a machine, and their references.
//!
//! [`regions`] finds representative windows of a long trace and [`estimate`] scales their counts
//! up; [`chunks`] runs a trace in parts at the same time, [`run_a53_chunks`] on a Cortex-A53.
//! [`membench`] measures the memory; [`core_bench`] and [`targets`] measure the core. [`truth`]
//! collects the ground-truth values for formulas, and [`evidence`] runs a trace for them;
//! [`a53_evidence`] does both on a Cortex-A53.
//! [`diff`] explains why two configurations count differently. [`counterfactual`] measures what a
//! run would save without one cost, and [`scaling`] the time over the number of cores; [`kernels`]
//! are programs whose cost is known.

mod a53_chunks;
pub mod a53_evidence;
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
pub mod scaling;
pub mod targets;
mod thread_errors;
mod thread_rates;
pub mod truth;

pub use a53_chunks::{A53Chunks, a53_chunks, run_a53_chunks};
pub use chunks::run_chunks;
pub use estimate::Estimate;
pub use flow_watch::FlowWatch;
pub use regions::{Region, RegionOptions, Regions, RegionsError};
pub use truth::{Ledger, TruthSink};
