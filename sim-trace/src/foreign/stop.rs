//! Reasons why reading of a foreign trace stops early, and the message for missing words.

use std::io;

use crate::error::TraceError;

/// Reason why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The limit on instructions is reached.
    Enough,
    /// The trace has an impossible content.
    Fault {
        /// Line or byte of the fault.
        place: String,
        /// Description of the fault.
        what: String,
    },
    /// The bytes cannot be read or unpacked.
    Input(io::Error),
    /// The result cannot be written.
    Output(TraceError),
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Stop {
        Stop::Output(error)
    }
}

impl Stop {
    /// Returns a fault at a byte of the unpacked trace.
    pub(super) fn at_byte(offset: u64, what: impl Into<String>) -> Stop {
        Stop::Fault { place: format!("byte {offset}"), what: what.into() }
    }
}

/// Returns the message for an instruction without a word in trace and program file.
pub(super) fn no_word(pc: u64) -> String {
    format!(
        "neither the trace nor a program file has the word of the instruction at {pc:#x}; pass the \
             file that ran there, with its load address (--elf FILE@ADDRESS)"
    )
}
