//! The host of the simulation: memory, signals, speed, and the progress bar.

pub(crate) mod memory;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod speed;
