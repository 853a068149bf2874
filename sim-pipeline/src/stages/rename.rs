//! Rename and dispatch: the slot of each MOP, and the resources it waits for (PMU guide 3.2.2,
//! 4.7).

use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::route::{Route, Slots};
use crate::units::dispatch::{RenameOutcome, uops_of};
use crate::units::frontend::FetchTiming;
use crate::units::issue_queue::IssueWait;
use crate::units::rename::DispatchStall;
use crate::units::slots::SlotUse;
use crate::units::stamp::Stamp;
use crate::units::wait_timeline::Segment;
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, MemoryPort, PmuEvent, RootCause, StallCause};
use sim_isa::{Inst, Rename, UopCounts};

impl Pipeline {
    /// Returns the rename outcome of the instruction.
    #[inline]
    pub(crate) fn rename_outcome(&self, inst: &Inst, fused: bool) -> RenameOutcome {
        if fused && inst.needs_no_uop {
            RenameOutcome::Fused
        } else {
            self.rename_stage.rename_outcome(inst)
        }
    }

    /// Takes the rename slots of all MOPs. Returns the cycle of the first, and how many got a slot
    /// before a squash. Returns `None` if none did.
    #[inline(always)]
    pub(crate) fn rename<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        (outcome, has_entries): (RenameOutcome, bool),
        timing: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<(Cycle, u32)> {
        if R::SLOTS == Slots::Shared || R::SLOTS == Slots::Any && timing.fused {
            return self.share_slot(op, outcome, timing);
        }
        let blocked = self.rename_stage.blocker_if(has_entries, op.inst, outcome, timing.at);
        let uops = uops_of(op.inst, outcome);
        let first = self.enter_slot(op.squash, uops, timing, blocked, memory, sink)?;
        self.front.renamed(first);
        self.pipes.advance(first);
        let mops = match R::SLOTS {
            Slots::One | Slots::Shared => 1,
            Slots::Two => 2,
            Slots::Any => op.inst.n_mops.into(),
        };
        for mop in 1..mops {
            let blocked = self.rename_stage.rob_blocker(mop as usize);
            let no_uops = UopCounts::default();
            if self.enter_slot(op.squash, no_uops, timing, blocked, memory, sink).is_none() {
                return Some((first, mop));
            }
        }
        if outcome == RenameOutcome::Eliminated && op.inst.rename == Rename::Move {
            self.rename_stage.moved();
        }
        Some((first, mops))
    }

    /// Takes the slot of one MOP, `blocked` by its stall. Returns its cycle, or `None` if the path
    /// is squashed first. The first MOP carries all micro-operations.
    #[inline(always)]
    pub(crate) fn enter_slot<M: MemoryPort, S: EventSink>(
        &mut self,
        squash: Cycle,
        uops: UopCounts,
        timing: &FetchTiming,
        blocked: DispatchStall,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<Cycle> {
        let slot = self.rename_stage.slot(uops, blocked);
        let (cycle, sent) = (slot.until, slot.until <= squash);
        let occupies_from = self.slots.occupies_from(timing.at);
        if cycle > occupies_from && self.path.is_on() {
            self.note_wait(occupies_from, squash, slot);
        }
        let (arrive, arrival_stall) = (timing.at, timing.stall);
        let used =
            SlotUse { arrive, leave: cycle.min(squash), sent, arrival_stall, blocked: slot.by };
        let idle = self.slots.enter(used, &self.waits, sink).back_end;
        if idle.1 > idle.0 {
            raise_memory_stall(idle, memory, sink);
        }
        if !sent {
            // Rename is in order: no younger operation gets a slot either.
            self.rename_stage.hold_until(squash + 1, slot.by, self.waits.last());
            self.front.renamed(squash);
            return None;
        }
        self.rename_stage.take_slot(uops, slot);
        Some(cycle)
    }

    /// Sends the second half of a fused pair on in its partner's slot, or later if a resource is
    /// not free. In that case younger operations wait too. Returns the cycle, or `None` if the path
    /// is squashed first.
    #[inline(always)]
    pub(crate) fn share_slot(
        &mut self,
        op: &Op<'_>,
        outcome: RenameOutcome,
        timing: &FetchTiming,
    ) -> Option<(Cycle, u32)> {
        let slot = self.rename_stage.partner_slot(op.inst, outcome, timing.at);
        if slot.until > self.rename_stage.cycle() && self.path.is_on() {
            self.note_wait(self.rename_stage.cycle(), op.squash, slot);
        }
        if slot.until > op.squash {
            self.rename_stage.hold_until(op.squash + 1, slot.by, self.waits.last());
            return None;
        }
        self.rename_stage.take_partner_slot(uops_of(op.inst, outcome), slot);
        self.pipes.advance(slot.until);
        Some((slot.until, 0))
    }

    /// Traces the wait since `from` of the operation that leaves rename in `slot` or is squashed
    /// first. Covers only cycles in which no older operation waited.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_wait(&mut self, from: Cycle, squash: Cycle, slot: DispatchStall) {
        let from = from.max(self.rename_stage.cycle());
        let end = slot.until.min(squash.saturating_add(1));
        if end <= from {
            return;
        }
        let waits = &mut self.waits;
        match slot.by {
            StallCause::DispatchWidth => {
                waits.push(Segment { end, root: RootCause::Dispatch, owner: None });
            }
            _ if slot.awaited.is_floor() => {
                let (root, owner) = self.rename_stage.held_for(end);
                waits.push(Segment { end, root, owner });
            }
            StallCause::StoreQueue => {
                self.path.trace_store(self.rename_stage.oldest_store(), (from, end), waits);
            }
            StallCause::IssueQueueInt | StallCause::IssueQueueMem | StallCause::IssueQueueVec => {
                let IssueWait { input, for_pipe } = slot.awaited.of_issue();
                self.path.trace_issue(input, for_pipe, (from, end), waits);
            }
            _ => self.path.trace(slot.awaited.of_retirement(), from, end, waits),
        }
    }

    /// Returns `cycle`, the first one in which entries held until retirement are free, and the
    /// operation that determines it. On a wrong path, that is the operation itself.
    #[inline(always)]
    pub(crate) fn free_at(&self, op: &Op<'_>, cycle: Cycle) -> Stamp {
        if op.squash == NEVER {
            self.retire.stamp(cycle)
        } else {
            Stamp::new(cycle, self.path.now())
        }
    }
}

/// Counts the cycles lost to the back end in which a miss outside the core was pending.
#[inline(never)]
pub(crate) fn raise_memory_stall<M: MemoryPort, S: EventSink>(
    (from, to): (Cycle, Cycle),
    memory: &M,
    sink: &mut S,
) {
    sink.count(PmuEvent::STALL_BACKEND_MEM, memory.l2_miss_pending(from, to));
}
