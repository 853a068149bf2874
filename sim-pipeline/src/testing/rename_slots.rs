//! One cycle of the rename slots with a given number of operations, for directed tests (PMU guide 4.7).
//!
//! The operations go through rename, window and ledger like any others, on a path that is abandoned in
//! the same cycle: what was not accepted by then is gone, and the next cycle begins with empty slots.

use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::units::frontend::FetchTiming;
use sim_core::{Cycle, EventSink, InstFlags, InstId, MemoryPort, RootCause, StallCause};
use sim_isa::Program;

/// What one cycle brings to the rename slots, and how much of it leaves them.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Operations that the front end gives.
    pub offered: u32,
    /// How many of them the back end takes, if it has room for them.
    pub accepted: u32,
    /// Why it takes no more.
    pub blocked: StallCause,
    /// What that waits for.
    pub root: RootCause,
}

impl Pipeline {
    /// Runs one cycle with `offer`, not before `from`: the next one in which nothing was renamed yet.
    /// `id` is an instruction that takes one slot and nothing else, `NOP`. Returns the cycle.
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
        let late = StallCause::FetchWidth;
        let arrival = FetchTiming { fetch: cycle, at: cycle, late, fault: None, fused: false };
        for i in 0..offer.offered {
            if i == offer.accepted {
                self.rename_stage.hold_until(cycle + 1, offer.blocked, (offer.root, None));
            }
            self.schedule(&op, &arrival, memory, sink);
        }
        if offer.offered == 0 {
            self.rename_stage.hold_until(cycle + 1, offer.blocked, (offer.root, None));
            self.slots.run_dry(cycle + 1, late, sink);
        }
        self.squash(&checkpoint);
        self.front.not_before(cycle + 1);
        cycle
    }
}
