//! Lost slots: the cause of each slot that issues nothing, and the event of each cycle without an
//! issue.

use super::{Core, Group, Readiness};
use crate::event::{A53Event, A53Sink};
use crate::seen::Seen;
use crate::slots::{LostTo, SLOTS};

impl Core {
    /// Gives the slots of the cycles after the group `last` and before `cycle` their causes.
    #[inline]
    pub(super) fn lose_cycles<S: A53Sink>(
        &mut self,
        last: &Group,
        cycle: u64,
        ready: &Readiness,
        sink: &mut S,
    ) {
        let at = last.cycle + 1;
        if cycle <= at {
            return;
        }
        match self.only_cause(last, at, cycle, ready) {
            Some(cause) => self.lose_cycles_to(cause, at, cycle, true, sink),
            None => self.lose_long(last, cycle, ready, sink),
        }
    }

    /// Returns the cause of all lost cycles from `at` to `end`, if that is plain: one interlock, or
    /// an empty queue without a miss.
    #[inline]
    fn only_cause(&self, last: &Group, at: u64, end: u64, ready: &Readiness) -> Option<LostTo> {
        if last.next > at || self.write_back.may_stall_from(at) || self.slots.issued == 0 {
            return None;
        }
        if ready.arrival <= at && ready.operands >= end {
            return Some(ready.interlock);
        }
        (ready.arrival >= end && !self.front_end.has_missed()).then_some(LostTo::FrontEnd)
    }

    /// Gives the slots of the cycles from `at` on and before `until` one cause. Its event counts if
    /// `is_counted`.
    #[inline]
    fn lose_cycles_to<S: A53Sink>(
        &mut self,
        cause: LostTo,
        at: u64,
        until: u64,
        is_counted: bool,
        sink: &mut S,
    ) {
        self.slots.lose(cause, SLOTS * (until - at));
        sink.lose(cause, at, SLOTS * (until - at));
        sink.see(Seen::Idle(cause, until - at));
        if let Some(event) = event_of(cause).filter(|_| is_counted) {
            sink.raise(event, at, until - at);
        }
    }

    /// Gives lost cycles their causes one after the other. The first instruction issues in cycle 2
    /// at the earliest, because it is decoded first.
    #[inline(never)]
    fn lose_long<S: A53Sink>(&mut self, last: &Group, cycle: u64, ready: &Readiness, sink: &mut S) {
        // Further issue cycles of a wide access issue nothing else.
        let further = last.next.min(cycle) - (last.cycle + 1);
        self.slots.lose(LostTo::WideAccess, SLOTS * further);
        if further > 0 {
            sink.lose(LostTo::WideAccess, last.cycle + 1, SLOTS * further);
        }
        sink.see(Seen::Idle(LostTo::WideAccess, further));
        // Before the first instruction there is no group, so that cycle 0 is lost, too.
        let mut at = if self.slots.issued == 0 { 0 } else { last.cycle + 1 + further };
        while at < cycle {
            let (cause, until, is_counted) = self.wait_at(at, cycle, ready);
            self.lose_cycles_to(cause, at, until, is_counted, sink);
            at = until;
        }
    }

    /// Returns the cause of a lost slot in the cycle of the last group.
    pub(super) fn cause_at(&self, cycle: u64, ready: &Readiness) -> LostTo {
        match ready.arrival > cycle {
            true => self.front_end.empty_at(cycle, ready.arrival).cause,
            false => ready.interlock,
        }
    }

    /// Returns the cause of the lost cycle `at`, the cycle after the last one with this cause, at
    /// most `end`, and whether its event counts. A stall of write-back comes first, an empty queue
    /// next.
    fn wait_at(&self, at: u64, end: u64, ready: &Readiness) -> (LostTo, u64, bool) {
        if let Some((cause, until)) = self.write_back.stall_at(at) {
            return (cause, until.min(end), false);
        }
        let end = self.write_back.next_stall(at).min(end);
        if at < ready.arrival {
            let empty = self.front_end.empty_at(at, ready.arrival);
            return (empty.cause, empty.until.min(end), empty.is_counted);
        }
        match at < ready.operands {
            true => (ready.interlock, ready.operands.min(end), true),
            // The stages before write-back are still full.
            false => (self.write_back.last_cause(), end, false),
        }
    }
}

/// Returns the event that counts cycles lost to this cause without an issue.
fn event_of(cause: LostTo) -> Option<A53Event> {
    match cause {
        LostTo::SimdInterlock => Some(A53Event::SIMD_DEP_STALL),
        LostTo::AddressInterlock => Some(A53Event::AGU_DEP_STALL),
        LostTo::OtherInterlock => Some(A53Event::OTHER_INTERLOCK_STALL),
        LostTo::InstCache => Some(A53Event::IC_DEP_STALL),
        LostTo::InstTlb => Some(A53Event::IUTLB_DEP_STALL),
        LostTo::FrontEnd => Some(A53Event::OTHER_IQ_DEP_STALL),
        // Write-back counts its own cycles; the others are not stalls.
        LostTo::LoadMiss | LostTo::Store | LostTo::Pairing | LostTo::WideAccess | LostTo::End => {
            None
        }
    }
}
