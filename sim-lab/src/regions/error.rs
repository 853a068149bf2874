//! Faults of a file of windows, and of the search for windows.

use sim_machine::MachineError;

/// Why a file of windows cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegionsError {
    /// It is no such file.
    #[error("{file}: no file of windows, such as n2sim trace regions writes: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// What the parser says.
        reason: String,
    },
    /// Its windows contradict each other or the trace.
    #[error("{file}: window {number}: {what}")]
    Window {
        /// The file.
        file: String,
        /// Which one, counted from 1.
        number: usize,
        /// What is wrong and what would be right.
        what: String,
    },
    /// It has no windows, or too many, or they stand for another number of instructions than there are.
    #[error("{file}: {what}")]
    Whole {
        /// The file.
        file: String,
        /// What is wrong and what would be right.
        what: String,
    },
    /// It belongs to another trace.
    #[error(
        "{file}: these windows are of {named} (hash {expected}), not of {trace} (hash {found}); find its own with: n2sim trace regions {trace} -o FILE"
    )]
    OtherTrace {
        /// The file.
        file: String,
        /// The trace that it names.
        named: String,
        /// That trace's hash.
        expected: String,
        /// The trace that is to be run.
        trace: String,
        /// Its hash.
        found: String,
    },
    /// The intervals are too short for the trace.
    #[error(
        "{trace}: intervals of {interval} instructions would be {expected}; give longer ones (at most {most} intervals)"
    )]
    TooManyIntervals {
        /// The trace as named on the command line.
        trace: String,
        /// Instructions of an interval.
        interval: u64,
        /// Intervals of that length in the trace.
        expected: u64,
        /// Most intervals.
        most: u64,
    },
    /// The trace cannot be read or run.
    #[error(transparent)]
    Machine(#[from] MachineError),
}
