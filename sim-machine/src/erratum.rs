//! Erratum of the revisions before r0p3: every cycle counts one stalled front-end slot too many
//! (`STALL_SLOT_FRONTEND`, and so `STALL_SLOT`).

use crate::run_sink::RunSink;
use sim_core::{Counts, EventSink, EventTally, InstId, Notice, PmuEvent, Privilege};

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

    #[inline(always)]
    fn add_tally(&mut self, tally: &EventTally) {
        self.observer.add_tally(tally);
    }

    #[inline(always)]
    fn notify(&mut self, notice: Notice<'_>) {
        self.observer.notify(notice);
    }
}

impl<S: RunSink> RunSink for Erratum<'_, S> {
    fn is_deferred(&self) -> bool {
        self.observer.is_deferred()
    }

    fn cycles_to_deadline(&self) -> u64 {
        self.observer.cycles_to_deadline()
    }

    fn pass(&mut self, event: PmuEvent, n: u64) {
        if self.has_erratum && event == PmuEvent::CPU_CYCLES {
            self.observer.pass(PmuEvent::STALL_SLOT_FRONTEND, n);
        }
        self.observer.pass(event, n);
    }

    fn pass_all(&mut self, sum: &Counts) {
        self.observer.pass_all(sum);
    }

    fn attributes(&self) -> bool {
        self.observer.attributes()
    }

    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        self.observer.part_of(inst, pc)
    }

    fn pass_part(&mut self, part: u32, on_wrong_path: bool) {
        self.observer.pass_part(part, on_wrong_path);
    }

    fn skips_ops(&self) -> bool {
        self.observer.skips_ops()
    }

    fn next_unneeded_mops(&mut self) -> u64 {
        self.observer.next_unneeded_mops()
    }

    fn pass_privilege(&mut self, privilege: Privilege) {
        self.observer.pass_privilege(privilege);
    }
}
