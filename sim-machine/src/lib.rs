//! Assembles a machine from a configuration and runs traces on it.
//!
//! [`config`] is the whole document; [`region`]
//! says which part of the run is counted; [`outcome`] is what comes out.

pub mod config;
pub mod error;
pub mod outcome;
pub mod region;

pub use config::{ConfigSource, MachineConfig, Profile, Revision};
pub use error::MachineError;
pub use outcome::{CoreOutcome, Outcome, RunHeader, UnknownWord};
pub use region::{Marker, Roi, RunOptions};
