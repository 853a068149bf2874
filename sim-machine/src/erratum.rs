//! Erratum of the revisions before r0p3: every cycle counts one stalled front-end slot too many
//! (`STALL_SLOT_FRONTEND`, and so `STALL_SLOT`).

use sim_core::{
    Counts, Cycle, EventSink, EventTally, FlowEdge, Lost, Operation, PmuEvent, Privilege,
    RegisterAccess,
};

/// Sink that passes all reports on and adds the surplus of these revisions.
pub(crate) struct Erratum<'a, S> {
    pub(crate) has_erratum: bool,
    pub(crate) observer: &'a mut S,
}

/// Adds the surplus of these revisions to totals.
pub(crate) fn count_surplus(counts: &mut Counts) {
    let cycles = counts.value(PmuEvent::CPU_CYCLES);
    counts.count(PmuEvent::STALL_SLOT_FRONTEND, cycles);
}

impl<S: EventSink> EventSink for Erratum<'_, S> {
    const FOLLOWS_RUN: bool = S::FOLLOWS_RUN;
    const ADDS_UP: bool = S::ADDS_UP;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        self.observer.hears_counts_alone()
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
    fn executed(&mut self, tally: &EventTally) {
        self.observer.executed(tally);
    }

    #[inline]
    fn software_increment(&mut self, counters: u32) {
        self.observer.software_increment(counters);
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        self.observer.edge(edge);
    }

    #[inline]
    fn at(&mut self, cycle: Cycle) {
        self.observer.at(cycle);
    }

    #[inline]
    fn register_access(&mut self, access: RegisterAccess) {
        self.observer.register_access(access);
    }

    #[inline]
    fn core(&mut self, core: usize) {
        self.observer.core(core);
    }

    #[inline]
    fn counting(&mut self, is_counted: bool) {
        self.observer.counting(is_counted);
    }

    #[inline]
    fn privilege(&mut self, privilege: Privilege) {
        self.observer.privilege(privilege);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        self.observer.operation(operation);
    }

    #[inline]
    fn lost(&mut self, lost: Lost) {
        self.observer.lost(lost);
    }

    #[inline]
    fn squashed(&mut self) {
        self.observer.squashed();
    }
}
