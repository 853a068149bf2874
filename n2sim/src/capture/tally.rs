//! Counts of a recording, for its summary and for the list of gaps.

use super::unreported::Unreported;

/// The number of executed instructions of a kind, and of those with a known address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) executed: u64,
    pub(crate) known: u64,
}

impl Known {
    /// Returns the number of those without an address.
    pub(crate) fn absent(self) -> u64 {
        self.executed - self.known
    }
}

/// Counts for the summary and for the list of gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Instructions that completed.
    pub(crate) instructions: u64,
    /// Instructions dropped by `--skip`.
    pub(crate) skipped: u64,
    /// Times that a thread was outside the recorded regions.
    pub(crate) pauses: u64,
    /// Instructions outside the recorded regions, if all were counted.
    pub(crate) unrecorded: Option<u64>,
    /// Instructions that began and did not complete.
    pub(crate) abandoned: u64,
    /// Executed prefetches.
    pub(crate) prefetches: Known,
    /// Executed `DC ZVA`.
    pub(crate) zero_lines: Known,
    /// Executed maintenance by address.
    pub(crate) maintenance: Known,
    /// Addresses were rebuilt from register values.
    pub(crate) is_rebuilt: bool,
    /// Addresses that rebuilt register values predicted and that the engine reported too.
    pub(crate) predictions: u64,
    /// Wrong predictions.
    pub(crate) wrong_predictions: u64,
    /// Loads and stores that were reported without an address.
    pub(crate) lost_accesses: u64,
    /// Executed SVE loads and stores.
    pub(crate) sve_accesses: u64,
    /// SVE accesses without their predicate, or without an address although an element was active
    /// or may have been active.
    pub(crate) sve_lost: u64,
    /// Executed SVE instructions with a governing predicate that is not known.
    pub(crate) untold_predicates: u64,
    /// System calls.
    pub(crate) syscalls: u64,
    /// Signals delivered.
    pub(crate) signals: u64,
    /// True when a program was replaced by `execve`.
    pub(crate) is_replaced: bool,
    /// The foreign content of the shared memory that ended the recording.
    pub(crate) damage: Option<String>,
}

impl Unreported {
    pub(crate) fn counted(self, tally: &mut Tally) -> &mut Known {
        match self {
            Unreported::ZeroLine => &mut tally.zero_lines,
            Unreported::Maintenance => &mut tally.maintenance,
            Unreported::Prefetch => &mut tally.prefetches,
        }
    }
}
