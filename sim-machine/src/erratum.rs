//! Erratum of the revisions before r0p3: every cycle counts one stalled front-end slot too many
//! (`STALL_SLOT_FRONTEND`, and so `STALL_SLOT`).

use sim_core::{Counts, EventSink, EventTally, Notice, PmuEvent};

/// Sink that passes all reports on and adds the surplus counts of revisions before r0p3.
pub(crate) struct Erratum<'a, S> {
    pub(crate) has_erratum: bool,
    pub(crate) observer: &'a mut S,
}

/// Adds the surplus counts of revisions before r0p3 to totals.
pub(crate) fn count_surplus(counts: &mut Counts) {
    let cycles = counts.value(PmuEvent::CPU_CYCLES);
    counts.count(PmuEvent::STALL_SLOT_FRONTEND, cycles);
}

impl<S: EventSink> EventSink for Erratum<'_, S> {
    const OBSERVES_OPS: bool = S::OBSERVES_OPS;
    const COUNTS_ONLY: bool = S::COUNTS_ONLY;

    #[inline]
    fn counts_only(&self) -> bool {
        self.observer.counts_only()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        if self.has_erratum && event == PmuEvent::CPU_CYCLES {
            self.observer.count(PmuEvent::STALL_SLOT_FRONTEND, n);
        }
        self.observer.count(event, n);
    }

    #[inline]
    fn add_tally(&mut self, tally: &EventTally) {
        self.observer.add_tally(tally);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        self.observer.notify(notice);
    }
}
