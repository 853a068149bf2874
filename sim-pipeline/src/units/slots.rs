//! Slot ledger: every rename slot of every cycle goes into exactly one bucket (PMU guide 4.7).
//!
//! A slot is used if an operation was renamed in it. It is lost to the back end if an operation was
//! present and could not leave, and to the front end if no operation was present (decision A22).
//! Operations reach rename in order. The slots of a cycle therefore belong to the first [`SLOTS`]
//! operations that have arrived by then and have not left before. Closed forms follow, without a
//! loop over cycles:
//!
//! * Operation `k` is present from `arrive(k)` and renamed in `sent(k)`. It occupies a slot from
//!   the cycle in which operation `k - SLOTS` has left; its cycles before `sent(k)` are back-end
//!   slots.
//! * In the cycles from `arrive(k - 1)` to `arrive(k)`, operation `k` is the first one missing. The
//!   slots that the last [`SLOTS`] operations have left are front-end slots, with the cause of `k`.

use crate::units::wait_timeline::WaitTimeline;
use sim_core::{Cycle, EventSink, Lost, LostSlots, Notice, PmuEvent, RootCause, StallCause};

/// Rename slots per cycle (PMMIR_EL1.SLOTS on N2 reads 5).
pub const SLOTS: usize = 5;

/// Arrival and departure of one operation at rename.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotUse {
    /// First cycle in which the front end had it ready.
    pub arrive: Cycle,
    /// Cycle of its slot; the squash cycle of an operation squashed while it waited.
    pub leave: Cycle,
    /// Clear if the operation was squashed while it waited.
    pub sent: bool,
    /// Stall cause that delayed its arrival.
    pub arrival_stall: StallCause,
    /// Stall cause that delayed it after its arrival, or after the older operation left.
    pub blocked: StallCause,
}

/// Open end of the ledger, and the slots lost so far.
#[derive(Clone, Debug)]
pub(crate) struct SlotLedger {
    /// First cycle after the slot use of each of the last `SLOTS` operations, oldest first. Each
    /// new operation shifts them by one. On the host, that is faster than a ring with a variable
    /// start.
    free_from: [Cycle; SLOTS],
    /// Stall causes of the last `SLOTS` operations after their arrival, oldest first.
    blocked: [StallCause; SLOTS],
    last_arrive: Cycle,
    /// First cycle that is neither used for an operation nor counted as stalled.
    next_cycle: Cycle,
    lost: LostSlots,
}

/// Cycles without a renamed operation, found when an operation enters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdleCycles {
    /// First cycle lost to the back end, and the first cycle after the lost ones.
    pub back_end: (Cycle, Cycle),
}

impl Default for SlotLedger {
    fn default() -> SlotLedger {
        SlotLedger {
            free_from: [0; SLOTS],
            blocked: [StallCause::FetchEnd; SLOTS],
            last_arrive: 0,
            next_cycle: 0,
            lost: LostSlots::default(),
        }
    }
}

/// Counts slots that the back end left empty.
#[inline(always)]
fn back_end_stalled<S: EventSink>(slots: u64, sink: &mut S) {
    sink.count(PmuEvent::STALL_SLOT_BACKEND, slots);
}

impl SlotLedger {
    /// Enters one operation. Raises the slot and stall-cycle events; the caller adds
    /// `STALL_BACKEND_MEM` for the part of the returned range with a miss pending outside the core.
    /// `waits` contains the waits of rename up to the cycle in which the operation leaves.
    #[inline(always)]
    pub(crate) fn enter<S: EventSink>(
        &mut self,
        op: SlotUse,
        waits: &WaitTimeline,
        sink: &mut S,
    ) -> IdleCycles {
        debug_assert!(op.arrive >= self.last_arrive, "operations arrive in order");
        debug_assert!(op.leave >= op.arrive, "an operation leaves after it arrives");
        if op.arrive > self.last_arrive {
            self.front_end_lost(op.arrive, op.arrival_stall, sink);
        }
        let waits_until = if op.sent { op.leave } else { op.leave + 1 };
        let occupies_from = self.occupies_from(op.arrive);
        if waits_until > occupies_from {
            back_end_stalled(waits_until - occupies_from, sink);
            self.back_end_lost((occupies_from, waits_until), op.blocked, waits, sink);
        }
        self.blocked.copy_within(1.., 0);
        self.blocked[SLOTS - 1] = op.blocked;
        self.free_from.copy_within(1.., 0);
        self.free_from[SLOTS - 1] = op.leave + 1;
        self.idle(op.arrive, waits_until, op.leave + 1, sink)
    }

    /// Returns the first cycle in which an operation that arrives in `arrive` occupies a slot.
    #[inline(always)]
    pub(crate) fn occupies_from(&self, arrive: Cycle) -> Cycle {
        arrive.max(self.free_from[0])
    }

    /// Closes all cycles before the one that follows the last slot use, so that a window can end
    /// here. Returns that cycle; the next operation must not arrive before it.
    pub(crate) fn cut<S: EventSink>(&mut self, cause: StallCause, sink: &mut S) -> Cycle {
        self.run_dry(self.next_cycle, cause, sink)
    }

    /// Closes all cycles before `end` with empty front-end slots. Returns the first open cycle.
    pub(crate) fn run_dry<S: EventSink>(
        &mut self,
        end: Cycle,
        cause: StallCause,
        sink: &mut S,
    ) -> Cycle {
        let end = end.max(self.next_cycle);
        self.front_end_lost(end, cause, sink);
        if end > self.next_cycle {
            sink.count(PmuEvent::STALL_FRONTEND, end - self.next_cycle);
            self.next_cycle = end;
        }
        end
    }

    /// Counts the slots beside the last operation while it waited: the younger operations, which
    /// the ledger does not know yet, wait with it.
    pub(crate) fn settle_wait<S: EventSink>(&mut self, sink: &mut S) {
        let (from, end) = (self.last_arrive, self.next_cycle);
        if end <= from + 1 {
            return;
        }
        let lost: u64 = self.free_from.iter().map(|free| end.saturating_sub(from.max(*free))).sum();
        self.last_arrive = end;
        if lost > 0 {
            let (cause, root) = (self.blocked[SLOTS - 1], RootCause::Latency);
            self.lost.add(cause, root, lost);
            back_end_stalled(lost, sink);
            sink.notify(Notice::Lost(Lost { cause, root, owner: None, slots: lost }));
        }
    }

    /// Returns the first cycle of which no slot is used yet.
    pub(crate) fn next_cycle(&self) -> Cycle {
        self.next_cycle
    }

    /// Returns the slots lost so far, by stall cause and root cause.
    pub(crate) fn lost(&self) -> &LostSlots {
        &self.lost
    }

    /// Counts the slots of these cycles, in which the entering operation could not leave. The
    /// operation waited for the causes of the older operations until they left, then for its own.
    #[inline(never)]
    fn back_end_lost<S: EventSink>(
        &mut self,
        (mut from, until): (Cycle, Cycle),
        own: StallCause,
        waits: &WaitTimeline,
        sink: &mut S,
    ) {
        for i in 1..SLOTS {
            // Older operations leave in order, so most of them left before `from`.
            if self.free_from[i] > from + 1 {
                let end = until.min(self.free_from[i] - 1);
                from = self.lose((from, end), self.blocked[i], waits, sink);
            }
        }
        self.lose((from, until), own, waits, sink);
    }

    /// Counts one lost slot in each of the cycles `from..end` for this cause. Returns the first
    /// cycle that is not counted yet.
    #[inline]
    fn lose<S: EventSink>(
        &mut self,
        (from, end): (Cycle, Cycle),
        cause: StallCause,
        waits: &WaitTimeline,
        sink: &mut S,
    ) -> Cycle {
        if end <= from {
            return from;
        }
        if waits.is_empty() {
            let (root, slots) = (RootCause::Latency, end - from);
            self.lost.add(cause, root, slots);
            sink.notify(Notice::Lost(Lost { cause, root, owner: None, slots }));
            return end;
        }
        for part in waits.over(from, end) {
            let (root, owner, slots) = (part.root, part.owner, part.cycles);
            self.lost.add(cause, root, slots);
            sink.notify(Notice::Lost(Lost { cause, root, owner, slots }));
        }
        end
    }

    /// Counts the front-end slots of the cycles from the last arrival to this one, lost to `stall`.
    #[inline(never)]
    fn front_end_lost<S: EventSink>(&mut self, arrive: Cycle, stall: StallCause, sink: &mut S) {
        let from = self.last_arrive;
        debug_assert!(self.departures_are_in_order(), "operations leave in order");
        if self.free_from[0] >= arrive {
            // Older operations occupy all slots until this arrival.
            self.last_arrive = arrive;
            return;
        }
        let lost: u64 =
            self.free_from.iter().map(|free| arrive.saturating_sub(from.max(*free))).sum();
        self.last_arrive = arrive;
        if lost > 0 {
            let root = RootCause::FrontEnd;
            self.lost.add(stall, root, lost);
            sink.count(PmuEvent::STALL_SLOT_FRONTEND, lost);
            sink.notify(Notice::Lost(Lost { cause: stall, root, owner: None, slots: lost }));
        }
    }

    fn departures_are_in_order(&self) -> bool {
        self.free_from.is_sorted()
    }

    /// Counts the cycles without a renamed operation between the last slot use and this one.
    #[inline]
    fn idle<S: EventSink>(
        &mut self,
        arrive: Cycle,
        waits_until: Cycle,
        next: Cycle,
        sink: &mut S,
    ) -> IdleCycles {
        let from = self.next_cycle;
        self.next_cycle = from.max(next);
        if waits_until <= from {
            return IdleCycles::default();
        }
        if arrive > from {
            sink.count(PmuEvent::STALL_FRONTEND, arrive - from);
        }
        let blocked_from = arrive.max(from);
        if waits_until > blocked_from {
            sink.count(PmuEvent::STALL_BACKEND, waits_until - blocked_from);
        }
        IdleCycles { back_end: (blocked_from, waits_until.max(blocked_from)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::wait_timeline::Segment;
    use sim_core::Counts;

    fn enter(ledger: &mut SlotLedger, op: SlotUse, counts: &mut Counts) {
        ledger.enter(op, &WaitTimeline::default(), counts);
    }

    fn op(arrive: Cycle, leave: Cycle) -> SlotUse {
        let (arrival_stall, blocked) = (StallCause::FetchWidth, StallCause::ReorderBuffer);
        SlotUse { arrive, leave, sent: true, arrival_stall, blocked }
    }

    /// Enters operations (arrive, leave) and returns the counts of the stall events up to `end`.
    fn stalls(ops: &[(Cycle, Cycle)], end: Cycle) -> [u64; 6] {
        let mut ledger = SlotLedger::default();
        let mut counts = Counts::default();
        for (arrive, leave) in ops {
            enter(&mut ledger, op(*arrive, *leave), &mut counts);
        }
        let end = ledger.run_dry(end, StallCause::FetchEnd, &mut counts);
        let used = ops.len() as u64 + ledger.lost().total();
        assert_eq!(used, SLOTS as u64 * end, "the slots tile {end} cycles");
        [
            PmuEvent::STALL_FRONTEND,
            PmuEvent::STALL_BACKEND,
            PmuEvent::STALL,
            PmuEvent::STALL_SLOT_FRONTEND,
            PmuEvent::STALL_SLOT_BACKEND,
            PmuEvent::STALL_SLOT,
        ]
        .map(|event| counts.value(event))
    }

    /// Returns the stall events of one cycle in which `f` operations are offered and `b` are
    /// accepted. The others are accepted in cycle 1.
    fn one_cycle(f: usize, b: usize) -> [u64; 6] {
        let mut ledger = SlotLedger::default();
        let mut counts = Counts::default();
        for i in 0..f {
            enter(&mut ledger, op(0, u64::from(i >= b)), &mut counts);
        }
        if f == 0 {
            ledger.run_dry(1, StallCause::FetchEnd, &mut counts);
        } else {
            // The next operation arrives in cycle 1; only then are the front-end slots of cycle 0
            // known.
            enter(&mut ledger, op(1, 1), &mut counts);
        }
        [
            PmuEvent::STALL_FRONTEND,
            PmuEvent::STALL_BACKEND,
            PmuEvent::STALL,
            PmuEvent::STALL_SLOT_FRONTEND,
            PmuEvent::STALL_SLOT_BACKEND,
            PmuEvent::STALL_SLOT,
        ]
        .map(|event| counts.value(event))
    }

    #[test]
    fn each_mix_of_offered_and_accepted_operations_raises_the_stall_events_of_the_guide() {
        // PMU guide 4.7: STALL_FRONTEND, STALL_BACKEND, STALL, SLOT_FRONTEND, SLOT_BACKEND, SLOT
        assert_eq!(one_cycle(0, 0), [1, 0, 1, 5, 0, 5], "T.STALL_FRONTEND.1");
        assert_eq!(one_cycle(2, 2), [0, 0, 0, 3, 0, 3], "T.STALL_FRONTEND.3");
        assert_eq!(one_cycle(5, 0), [0, 1, 1, 0, 5, 5], "T.STALL_BACKEND.1");
        assert_eq!(one_cycle(5, 3), [0, 0, 0, 0, 2, 2], "T.STALL_BACKEND.3");
        assert_eq!(one_cycle(3, 0), [0, 1, 1, 2, 3, 5], "T.STALL.1");
        assert_eq!(one_cycle(5, 5), [0, 0, 0, 0, 0, 0], "T.STALL.2");
        assert_eq!(one_cycle(4, 1), [0, 0, 0, 1, 3, 4], "T.STALL_SLOT_BACKEND.1");
        assert_eq!(one_cycle(1, 1), [0, 0, 0, 4, 0, 4], "T.STALL_SLOT_FRONTEND.1");
        assert_eq!(one_cycle(3, 2), [0, 0, 0, 2, 1, 3], "T.STALL_SLOT.1");
    }

    #[test]
    fn the_back_end_loses_a_slot_only_if_an_operation_could_fill_it() {
        // One operation waits from cycle 0 to 10, a second from cycle 4: 10 + 6 back-end slots.
        let [fe, be, _, slot_fe, slot_be, _] = stalls(&[(0, 10), (4, 10)], 11);
        assert_eq!((fe, be), (0, 10));
        assert_eq!((slot_fe, slot_be), (4 * 4 + 6 * 3 + 3, 16));
    }

    #[test]
    fn renaming_at_full_width_loses_no_slot() {
        let ops: Vec<(Cycle, Cycle)> = (0..50).map(|i| (i / 5, i / 5)).collect();
        assert_eq!(stalls(&ops, 10), [0; 6]);
    }

    #[test]
    fn an_operation_squashed_while_it_waits_occupies_its_slot_until_the_squash() {
        let mut ledger = SlotLedger::default();
        let mut counts = Counts::default();
        enter(&mut ledger, op(0, 0), &mut counts);
        enter(&mut ledger, SlotUse { sent: false, ..op(1, 7) }, &mut counts);
        let end = ledger.run_dry(8, StallCause::FetchEnd, &mut counts);
        assert_eq!(counts.value(PmuEvent::STALL_SLOT_BACKEND), 7);
        assert_eq!(counts.value(PmuEvent::STALL_BACKEND), 7);
        assert_eq!(1 + ledger.lost().total(), 5 * end, "one of the two was sent");
    }

    #[test]
    fn slots_are_lost_to_the_stall_cause_of_the_oldest_waiting_operation() {
        // The first waits for memory until 100; the others arrive with it and wait two cycles more.
        let mut ledger = SlotLedger::default();
        let mut counts = Counts::default();
        let loads = StallCause::LoadQueue;
        let mut waits = WaitTimeline::default();
        for (end, root) in [(90, RootCause::LoadDram), (102, RootCause::Latency)] {
            waits.push(Segment { end, root, owner: None });
        }
        ledger.enter(SlotUse { blocked: loads, ..op(0, 100) }, &waits, &mut counts);
        ledger.enter(op(0, 102), &waits, &mut counts);
        ledger.enter(op(0, 102), &waits, &mut counts);
        let lost = ledger.lost();
        assert_eq!((lost.of(loads), lost.of(StallCause::ReorderBuffer)), (300, 4));
        assert_eq!((lost.at(loads, RootCause::LoadDram), lost.memory()), (270, 270));
        assert_eq!(counts.value(PmuEvent::STALL_SLOT_BACKEND), 304);
    }
}
