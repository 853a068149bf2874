//! Why the reading of a foreign trace ends before its end.

use std::io;

use crate::error::TraceError;

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// As many instructions as were asked for.
    Enough,
    /// The trace says something that cannot be.
    Fault {
        /// Line or byte.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// The bytes cannot be read or unpacked.
    Input(io::Error),
    /// What was read cannot be written.
    Output(TraceError),
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Stop {
        Stop::Output(error)
    }
}

impl Stop {
    /// Something wrong at a byte of the unpacked trace.
    pub(super) fn at_byte(offset: u64, what: impl Into<String>) -> Stop {
        Stop::Fault { place: format!("byte {offset}"), what: what.into() }
    }
}
