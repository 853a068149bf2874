//! Measures the modeled memory the way a machine is measured: with small loops of real
//! instructions.
//!
//! [`kernel`] makes the loops (pointer chase, one load per page, streaming reads); [`run`] runs one
//! on a machine and divides; [`latency`], [`knees`] and [`bandwidth`] are sweeps with one core,
//! [`core_to_core`] one with two; [`target`] holds what was published of silicon.

pub mod bandwidth;
pub mod core_to_core;
pub mod kernel;
pub mod knees;
pub mod latency;
pub mod run;
pub mod target;

pub use kernel::Kernel;
pub use run::{Measurement, Plan, measure};
pub use target::{TARGETS, Target};
