//! The trace that a recording writes.

use sim_trace::TraceWriter;

use super::tally::Tally;

/// The trace, and the part of the run that it records.
pub(crate) struct Output {
    /// The trace.
    pub(crate) trace: TraceWriter,
    /// Instructions to drop first.
    pub(crate) skip: u64,
}

impl Output {
    /// Counts `executed` instructions. Returns whether they are written.
    #[inline]
    pub(crate) fn admits(&mut self, executed: u64, tally: &mut Tally) -> bool {
        if tally.skipped < self.skip {
            tally.skipped += executed;
            return false;
        }
        tally.instructions += executed;
        true
    }
}
