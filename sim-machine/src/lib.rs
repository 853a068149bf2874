//! Assembles a machine from a configuration and runs traces on it.

pub mod config;
pub mod outcome;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord};
