//! The issue queues in front of the thirteen pipes (PMU guide 3.2.2; Chips and Cheese, A710, A725, N2).
//!
//! In silicon they are distributed: four integer queues, three for addresses, two for vectors with a
//! third behind dispatch that cannot issue. Here the queues of one kind are a pool. A micro-operation
//! that has one pipe only may not take more of it than what stands before that pipe, so the pool has
//! a second limit for these. That is what distributed queues hold when dispatch balances them well.

use crate::config::WindowConfig;
use crate::resource::Pool;
use crate::window::Blocked;
use sim_core::{Cycle, StallCause};
use sim_isa::{Inst, PipeMask};

/// Number of pools.
const COUNT: usize = 7;
/// Branch, integer and integer store data pipes.
const INT: usize = 0;
/// Load/store address pipes.
const MEM: usize = 1;
/// Vector pipes.
const VEC: usize = 2;
/// What only M0 executes.
const M0_ONLY: usize = 3;
/// What only the two pipes for store addresses execute.
const L01_ONLY: usize = 4;
/// What only V0 executes.
const V0_ONLY: usize = 5;
/// What only V1 executes.
const V1_ONLY: usize = 6;

/// Why nothing goes on while a pool is full.
const CAUSES: [StallCause; COUNT] = [
    StallCause::IssueQueueInt,
    StallCause::IssueQueueMem,
    StallCause::IssueQueueVec,
    StallCause::IssueQueueInt,
    StallCause::IssueQueueMem,
    StallCause::IssueQueueVec,
    StallCause::IssueQueueVec,
];

/// The pools that a micro-operation for these pipes takes an entry of; twice the same for one.
#[inline]
fn pools_of(pipes: PipeMask) -> (usize, usize) {
    match pipes {
        PipeMask::L01 => (MEM, L01_ONLY),
        PipeMask::M0 => (INT, M0_ONLY),
        PipeMask::V0 => (VEC, V0_ONLY),
        PipeMask::V1 => (VEC, V1_ONLY),
        _ if pipes.0 & PipeMask::L.0 != 0 => (MEM, MEM),
        _ if pipes.0 & PipeMask::V.0 != 0 => (VEC, VEC),
        _ => (INT, INT),
    }
}

/// All issue queues.
#[derive(Clone, Debug)]
pub struct IssueQueues {
    pools: [Pool; COUNT],
    now: Cycle,
}

impl IssueQueues {
    /// Empty queues.
    pub fn new(w: &WindowConfig) -> IssueQueues {
        let sizes = [
            w.int_queue,
            w.mem_queue,
            w.vec_queue,
            w.int_queue_one_pipe,
            w.mem_queue_stores,
            w.vec_queue_one_pipe,
            w.vec_queue_one_pipe,
        ];
        IssueQueues { pools: sizes.map(Pool::new), now: 0 }
    }

    /// Moves the clock; it never goes back.
    #[inline]
    pub fn advance(&mut self, now: Cycle) {
        self.now = now;
    }

    /// Takes an entry for a micro-operation until it has issued in `issue`.
    #[inline]
    pub fn take(&mut self, pipes: PipeMask, issue: Cycle) {
        let (all, narrow) = pools_of(pipes);
        self.pools[all].take(self.now, issue + 1);
        if narrow != all {
            self.pools[narrow].take(self.now, issue + 1);
        }
    }

    /// What the queues add to what holds `inst` back: there must be room for all its micro-operations.
    #[inline]
    pub fn blocker(&self, inst: &Inst, blocked: Blocked) -> Blocked {
        if let [group] = inst.uops() {
            let (all, narrow) = pools_of(group.pipes);
            let blocked = self.wait_for(all, group.count.into(), blocked);
            return if narrow == all {
                blocked
            } else {
                self.wait_for(narrow, group.count.into(), blocked)
            };
        }
        let mut needed = [0; COUNT];
        for group in inst.uops() {
            let (all, narrow) = pools_of(group.pipes);
            needed[all] += u32::from(group.count);
            if narrow != all {
                needed[narrow] += u32::from(group.count);
            }
        }
        needed.into_iter().enumerate().fold(blocked, |blocked, (pool, entries)| {
            if entries == 0 { blocked } else { self.wait_for(pool, entries, blocked) }
        })
    }

    #[inline]
    fn wait_for(&self, pool: usize, entries: u32, blocked: Blocked) -> Blocked {
        let free = self.pools[pool].free_at(blocked.until, entries);
        if free > blocked.until { Blocked { until: free, by: CAUSES[pool] } } else { blocked }
    }

    /// Entries that are still taken in `cycle`.
    pub fn held(&self, cycle: Cycle) -> usize {
        self.pools.iter().map(|pool| pool.held(cycle)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::decode;

    /// Queues of four entries each, two for what has one pipe.
    fn queues() -> IssueQueues {
        IssueQueues { pools: [4, 4, 4, 2, 2, 2, 2].map(Pool::new), now: 0 }
    }

    fn nothing() -> Blocked {
        Blocked { until: 0, by: StallCause::RobCore }
    }

    #[test]
    fn an_instruction_waits_for_room_for_all_its_micro_operations() {
        let pair = decode(0xa940_0440); // ldp x0, x1, [x2]: two loads
        let mut queues = queues();
        for issue in [10, 20, 30] {
            queues.take(PipeMask::L, issue);
        }
        let blocked = queues.blocker(&pair, nothing());
        assert_eq!((blocked.until, blocked.by), (11, StallCause::IssueQueueMem));
        assert_eq!(queues.blocker(&decode(0xf940_0041), nothing()).until, 0, "one entry is left");
    }

    #[test]
    fn what_has_one_pipe_fills_the_queue_before_that_pipe_only() {
        let (multiply, add) = (decode(0x4ea2_9c20), decode(0x4ea2_8420)); // mul, add v0.4s, v1.4s, v2.4s
        let mut queues = queues();
        queues.take(PipeMask::V0, 10);
        queues.take(PipeMask::V0, 20);
        assert_eq!(queues.blocker(&multiply, nothing()).until, 11);
        assert_eq!(queues.blocker(&add, nothing()).until, 0);
    }

    #[test]
    fn more_micro_operations_than_entries_wait_for_an_empty_queue() {
        let table = decode(0x4e02_7020); // tbx v0.16b, { v1 - v4 }, v2.16b: eight for the vector pipes
        let mut queues = queues();
        queues.take(PipeMask::V, 10);
        assert_eq!(queues.blocker(&table, nothing()).until, 11);
    }
}
