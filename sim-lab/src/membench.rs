//! Measures the modeled memory with small loops of real instructions, as on silicon.
//!
//! [`kernel`] makes the loops: pointer chase, one load per page, streaming reads. [`run`] runs one
//! on a machine and computes rates. [`latency`], [`knees`] and [`bandwidth`] are sweeps with one
//! core, [`core_to_core`] is one with two, and [`loaded`] has many generators of requests in place
//! of loops. [`target`] holds the published values of silicon. All of these run on the Neoverse N2;
//! [`a53`] is for the Cortex-A53.

pub mod a53;
pub mod bandwidth;
pub mod core_to_core;
pub mod kernel;
pub mod knees;
pub mod latency;
pub mod loaded;
pub mod run;
pub mod target;

pub use kernel::Kernel;
pub use run::{Measurement, Plan, measure};
pub use target::{TARGETS, Target};
