//! One cycle of the rename slots with a given number of operations, for directed tests (PMU guide
//! 4.7).
//!
//! The operations go through rename and the slot ledger like all others, on a path that is squashed
//! in the same cycle. Operations not accepted by then are dropped, and the next cycle begins with
//! empty slots.

use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::units::frontend::FetchTiming;
use sim_core::{Cycle, EventSink, InstFlags, InstId, MemoryPort, RootCause, StallCause};
use sim_isa::Program;

/// Operations offered to the rename slots in one cycle, and the number that leaves them.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Operations that the front end delivers.
    pub offered: u32,
    /// Operations that the back end accepts, if it has room for them.
    pub accepted: u32,
    /// Stall cause that limits `accepted`.
    pub blocked: StallCause,
    /// Root cause of that stall.
    pub root: RootCause,
}

impl Pipeline {
    /// Runs `offer` in the first cycle from `from` on in which no operation was renamed. `id` is a
    /// `NOP`, which takes one slot and no other resource. Returns the cycle.
    pub fn offer<M: MemoryPort, S: EventSink>(
        &mut self,
        offer: Offer,
        id: InstId,
        from: Cycle,
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let cycle = from.max(self.slots.next_cycle());
        let checkpoint = self.checkpoint();
        let (pc, inst) = (program.pc(id), program.inst(id));
        let op = Op {
            id,
            pc,
            inst,
            addr: None,
            flags: InstFlags::default(),
            more: &[],
            squash: cycle,
            retires: false,
        };
        let stall = StallCause::FetchWidth;
        let timing = FetchTiming { fetch: cycle, at: cycle, stall, fault: None, fused: false };
        for i in 0..offer.offered {
            if i == offer.accepted {
                self.rename_stage.hold_until(cycle + 1, offer.blocked, (offer.root, None));
            }
            self.schedule(&op, &timing, memory, sink);
        }
        if offer.offered == 0 {
            self.rename_stage.hold_until(cycle + 1, offer.blocked, (offer.root, None));
            self.slots.run_dry(cycle + 1, stall, sink);
        }
        self.squash(&checkpoint);
        self.front.not_before(cycle + 1);
        cycle
    }
}
