//! The host of the simulation: the call of a command, memory, signals, speed, and the progress bar.

pub(crate) mod call;
pub(crate) mod memory;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod speed;
