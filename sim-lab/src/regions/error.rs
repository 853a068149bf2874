//! Errors of a file of windows, and of the search for windows.

use sim_machine::MachineError;

/// A file of windows that is unusable, or a failed search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegionsError {
    /// The file has another format.
    #[error("{file}: not a file of windows as n2sim trace regions writes it: {reason}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Message of the parser.
        reason: String,
    },
    /// A window contradicts another one or the trace.
    #[error("{file}: window {number}: {what}")]
    Window {
        /// Name of the file.
        file: String,
        /// Number of the window, from 1.
        number: usize,
        /// Fault and remedy.
        what: String,
    },
    /// The file as a whole is wrong: no windows, too many, or a wrong number of instructions.
    #[error("{file}: {what}")]
    Whole {
        /// Name of the file.
        file: String,
        /// Fault and remedy.
        what: String,
    },
    /// The file belongs to another trace.
    #[error(
        "{file}: these windows are of {named} (hash {expected}), not of {trace} (hash {found}); find its own with: n2sim trace regions {trace} -o FILE"
    )]
    OtherTrace {
        /// Name of the file.
        file: String,
        /// Trace that the file names.
        named: String,
        /// Hash of that trace.
        expected: String,
        /// Trace that is to be run.
        trace: String,
        /// Hash of the trace that is to be run.
        found: String,
    },
    /// The intervals are too short for the trace.
    #[error(
        "{trace}: intervals of {interval} instructions would be {expected}; give longer ones (at most {most} intervals)"
    )]
    TooManyIntervals {
        /// The trace as named on the command line.
        trace: String,
        /// Length of an interval in instructions.
        interval: u64,
        /// Number of intervals of that length in the trace.
        expected: u64,
        /// Largest number of intervals.
        most: u64,
    },
    /// The trace cannot be read or run.
    #[error(transparent)]
    Machine(#[from] MachineError),
}
