//! Assembles a machine from a configuration and runs traces on it.

pub mod outcome;

pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord};
