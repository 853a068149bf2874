//! The performance monitoring unit of one core: what software can read of the events.
//!
//! * [`counter`]: six 32-bit event counters and the cycle counter, programmed with events, that
//!   wrap, chain and flag overflow. They hear the same events as the ground truth.
//!
//! Not modeled yet: filters by exception level, interrupts, the register interface, SPE.

pub mod counter;

pub use counter::{CounterIndex, Pmu};
