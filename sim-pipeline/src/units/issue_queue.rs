//! Issue queues of the thirteen pipes (PMU guide 3.2.2; Chips and Cheese, A710, A725, N2).
//!
//! In silicon the queues are distributed: four integer queues, three for addresses, two for
//! vectors. A third vector queue after dispatch cannot issue. Here the queues of one kind form a
//! pool. A micro-operation with only one possible pipe may fill only the part of the pool that
//! serves that pipe. The pool therefore has a second limit for it. A pool holds as much as
//! distributed queues do when dispatch balances them well.

use crate::config::WindowConfig;
use crate::units::rename::{Awaited, DispatchStall};
use crate::units::resource::{HORIZON, Pools, slot_of};
use crate::units::stamp::{OpRef, Stamp};
use sim_core::{Cycle, StallCause};
use sim_isa::{Inst, UopCounts};

/// Stall cause of a full queue, in the order of [`UopCounts::queue_entry`].
const CAUSES: [StallCause; UopCounts::LANES] = [
    StallCause::IssueQueueInt,
    StallCause::IssueQueueMem,
    StallCause::IssueQueueVec,
    StallCause::IssueQueueInt,
    StallCause::IssueQueueMem,
    StallCause::IssueQueueVec,
    StallCause::IssueQueueVec,
];

/// Queue of each count of [`UopCounts::queue_entry`]: integer, memory, vector.
const QUEUE_OF: [usize; UopCounts::LANES] = [0, 1, 2, 0, 1, 2, 2];

/// Wait of the micro-operation that left a queue in some cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IssueWait {
    /// Producer of its last input.
    pub(crate) input: OpRef,
    /// Cycles that it then waited for a pipe.
    pub(crate) for_pipe: u16,
}

/// All issue queues.
#[derive(Clone, Debug)]
pub(crate) struct IssueQueues {
    pools: Pools,
    /// Last input of the operation that left each queue last in each cycle: its ready cycle and its
    /// producer.
    left: Box<[[Stamp; 4]; HORIZON as usize]>,
    records_inputs: bool,
}

impl IssueQueues {
    /// Returns empty queues.
    pub(crate) fn new(w: &WindowConfig) -> IssueQueues {
        let sizes = [
            w.int_queue,
            w.mem_queue,
            w.vec_queue,
            w.int_queue_one_pipe,
            w.mem_queue_stores,
            w.vec_queue_one_pipe,
            w.vec_queue_one_pipe,
        ];
        IssueQueues::of(UopCounts::new(sizes.map(|size| size as u32)))
    }

    fn of(sizes: UopCounts) -> IssueQueues {
        let left = Box::new([[Stamp::default(); 4]; HORIZON as usize]);
        IssueQueues { pools: Pools::new(sizes), left, records_inputs: true }
    }

    /// Stops recording the inputs that entries wait for.
    pub(crate) fn skip_inputs(&mut self) {
        self.records_inputs = false;
    }

    /// Advances the clock. `now` never decreases.
    #[inline]
    pub(crate) fn advance(&mut self, now: Cycle) {
        self.pools.advance(now);
    }

    /// Takes an entry for a micro-operation whose inputs are ready in `needs`, until it has issued
    /// in `issue` or is squashed.
    #[inline(always)]
    pub(crate) fn take(&mut self, entry: UopCounts, needs: Stamp, issue: Cycle, squash: Cycle) {
        let at = self.pools.take(entry, issue.min(squash) + 1);
        if self.records_inputs {
            self.left[at][entry.queue()] = needs;
        }
    }

    /// Returns the stall of `inst`: `blocked`, or a longer wait until all its micro-operations have
    /// a queue entry.
    #[inline]
    pub(crate) fn blocker(&self, inst: &Inst, blocked: DispatchStall) -> DispatchStall {
        let room = self.pools.have_room(inst.by_queue);
        if room { blocked } else { self.wait_for(inst.by_queue, blocked) }
    }

    fn wait_for(&self, needed: UopCounts, blocked: DispatchStall) -> DispatchStall {
        self.pools.lacking(needed).fold(blocked, |blocked, pool| {
            let until = self.pools.free_at(pool, blocked.until, needed.lane(pool));
            if until <= blocked.until {
                return blocked;
            }
            if !self.records_inputs {
                return DispatchStall { until, by: CAUSES[pool], awaited: Awaited::default() };
            }
            let needs = self.left[slot_of(until)][QUEUE_OF[pool]];
            // The micro-operation issued the cycle before, or was squashed while it waited for its
            // inputs.
            let for_pipe = (until - 1).saturating_sub(needs.cycle()).min(u16::MAX.into()) as u16;
            let awaited = Awaited::issue(IssueWait { input: needs.by(), for_pipe });
            DispatchStall { until, by: CAUSES[pool], awaited }
        })
    }

    /// Returns how many entries are still taken in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        self.pools.held(cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::time::NEVER;
    use sim_isa::{PipeMask, decode};

    /// Returns queues of four entries each, of which two for operations with one pipe.
    fn queues() -> IssueQueues {
        IssueQueues::of(UopCounts::new([4, 4, 4, 2, 2, 2, 2]))
    }

    fn take(queues: &mut IssueQueues, pipes: PipeMask, issue: Cycle) {
        let needs = Stamp::new(issue - 3, OpRef(5));
        queues.take(UopCounts::queue_entry(pipes), needs, issue, NEVER);
    }

    fn nothing() -> DispatchStall {
        DispatchStall { until: 0, by: StallCause::ReorderBuffer, awaited: Awaited::default() }
    }

    #[test]
    fn an_instruction_waits_for_room_for_all_its_micro_operations() {
        let pair = decode(0xa940_0440); // ldp x0, x1, [x2]: two loads
        let mut queues = queues();
        for issue in [10, 20, 30] {
            take(&mut queues, PipeMask::L, issue);
        }
        let blocked = queues.blocker(&pair, nothing());
        assert_eq!((blocked.until, blocked.by), (11, StallCause::IssueQueueMem));
        let IssueWait { input, for_pipe } = blocked.awaited.of_issue();
        assert_eq!((input, for_pipe), (OpRef(5), 3), "the first one to leave had its input in 7");
        assert_eq!(queues.blocker(&decode(0xf940_0041), nothing()).until, 0, "one entry is left");
    }

    #[test]
    fn operations_with_one_pipe_fill_only_the_queue_of_that_pipe() {
        let (multiply, add) = (decode(0x4ea2_9c20), decode(0x4ea2_8420)); // mul, add v0.4s, v1.4s, v2.4s
        let mut queues = queues();
        take(&mut queues, PipeMask::V0, 10);
        take(&mut queues, PipeMask::V0, 20);
        assert_eq!(queues.blocker(&multiply, nothing()).until, 11);
        assert_eq!(queues.blocker(&add, nothing()).until, 0);
    }

    #[test]
    fn more_micro_operations_than_entries_wait_for_an_empty_queue() {
        let table = decode(0x4e02_7020); // tbx v0.16b, { v1 - v4 }, v2.16b: eight for the vector pipes
        let mut queues = queues();
        take(&mut queues, PipeMask::V, 10);
        assert_eq!(queues.blocker(&table, nothing()).until, 11);
    }
}
