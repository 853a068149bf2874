//! Rename and dispatch: five slots per cycle, and everything an operation must hold to take one
//! (reorder buffer, registers, load/store queues, issue queues, dispatch width).

use crate::config::PipelineConfig;
use crate::resource::{Pool, Ring};
use crate::slots::SLOTS;
use sim_core::{Cycle, StallCause};
use sim_isa::{Inst, MemOp, PipeMask, RegFile, Rename};

/// Which issue queue a micro-operation waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Branch, integer and integer store data pipes.
    Int,
    /// Load/store address pipes.
    Mem,
    /// Vector pipes.
    Vec,
}

impl Queue {
    /// The queue in front of these pipes.
    #[inline]
    pub fn of(pipes: PipeMask) -> Queue {
        if pipes.0 & PipeMask::L.0 != 0 {
            Queue::Mem
        } else if pipes.0 & PipeMask::V.0 != 0 {
            Queue::Vec
        } else {
            Queue::Int
        }
    }
}

/// Micro-operations by the pipes they may use, one byte each: all, branch or single-cycle, multi-cycle,
/// M0, V0, V1, load/store. Counts stay below 128, so that no lane runs over into the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UopCounts(u64);

/// The top bit of every lane.
const LANE_TOPS: u64 = 0x8080_8080_8080_8080;

impl UopCounts {
    fn new(lanes: [u8; 7]) -> UopCounts {
        let packed = lanes.iter().rev().fold(0, |all, lane| all << 8 | u64::from(*lane));
        UopCounts(packed)
    }

    /// The micro-operations of one instruction.
    #[inline]
    pub fn of(inst: &Inst) -> UopCounts {
        if inst.rename != Rename::Normal {
            return UopCounts::default();
        }
        let mut all = 0;
        for group in inst.uops() {
            let count = u64::from(group.count);
            let lane = match group.pipes {
                PipeMask::B | PipeMask::S => 1,
                PipeMask::M | PipeMask::M1 => 2,
                // M0 alone is one of the multi-cycle pipes too.
                PipeMask::M0 => {
                    all += count << 16;
                    3
                }
                PipeMask::V0 => 4,
                PipeMask::V1 => 5,
                PipeMask::L | PipeMask::L01 | PipeMask::L2 => 6,
                _ => 7,
            };
            all += count | count << (8 * lane);
        }
        // The last lane is for those that no limit but the total binds.
        UopCounts(all & (u64::MAX >> 8))
    }

    /// Both together.
    #[inline]
    fn plus(self, more: UopCounts) -> UopCounts {
        UopCounts(self.0 + more.0)
    }

    /// True when no count is above its limit.
    #[inline]
    fn within(self, limits: UopCounts) -> bool {
        ((limits.0 | LANE_TOPS) - self.0) & LANE_TOPS == LANE_TOPS
    }
}

/// What holds an instruction back at rename, if anything.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// First cycle in which everything it needs is free.
    pub until: Cycle,
    /// The last thing to become free.
    pub by: StallCause,
}

/// Where everything that is taken in order stands, to come back to after a wrong path.
#[derive(Clone, Copy, Debug)]
pub struct WindowMark([usize; 7]);

/// Rename slots and the resources behind them.
#[derive(Clone, Debug)]
pub struct Window {
    limits: UopCounts,
    dispatched: UopCounts,
    cycle: Cycle,
    used: usize,
    /// What held the last operation that was held: those behind it wait for the same.
    held_by: StallCause,
    floor: Cycle,
    floor_cause: StallCause,
    rob: Ring,
    /// Whether the operation in a reorder buffer entry waits for memory, by entry.
    rob_memory: Box<[bool]>,
    general: Ring,
    vector: Ring,
    flags: Ring,
    loads: Ring,
    stores: Ring,
    branches: Ring,
    int_queue: Pool,
    mem_queue: Pool,
    vec_queue: Pool,
}

impl Window {
    /// An empty window at cycle 0.
    pub fn new(config: &PipelineConfig) -> Window {
        let (w, d) = (&config.window, &config.dispatch);
        Window {
            limits: UopCounts::new([
                d.uops,
                d.branch_single,
                d.multi,
                d.multi0,
                d.vector0,
                d.vector1,
                d.load_store,
            ]),
            dispatched: UopCounts::default(),
            cycle: 0,
            used: 0,
            held_by: StallCause::DispatchWidth,
            floor: 0,
            floor_cause: StallCause::Serialise,
            rob: Ring::new(w.rob),
            rob_memory: vec![false; w.rob].into_boxed_slice(),
            general: Ring::new(w.general_registers),
            vector: Ring::new(w.vector_registers),
            flags: Ring::new(w.flag_registers),
            loads: Ring::new(w.load_queue),
            stores: Ring::new(w.store_queue),
            branches: Ring::new(w.branch_queue),
            int_queue: Pool::new(w.int_queue),
            mem_queue: Pool::new(w.mem_queue),
            vec_queue: Pool::new(w.vec_queue),
        }
    }

    /// The rename clock: cycle of the last slot taken.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// No slot before this cycle, because of `cause`: a serializing operation holds rename, or an
    /// older operation of a wrong path never got its slot.
    pub fn hold_until(&mut self, cycle: Cycle, cause: StallCause) {
        if cycle > self.floor {
            (self.floor, self.floor_cause) = (cycle, cause);
        }
    }

    /// What the first MOP of `inst`, which arrives in `arrive`, waits for.
    #[inline]
    pub fn blocker(&self, inst: &Inst, arrive: Cycle) -> Blocked {
        let mut blocked = Blocked { until: arrive.max(self.cycle), by: self.held_by };
        let mut wait = |free: Cycle, by: StallCause| {
            if free > blocked.until {
                blocked = Blocked { until: free, by };
            }
        };
        wait(self.floor, self.floor_cause);
        wait(self.rob.free_at(), self.rob_cause());
        if inst.rename != Rename::Normal {
            return blocked;
        }
        let (mut general, mut vector) = (0, 0);
        for dst in inst.dsts() {
            match dst.file() {
                RegFile::General => {
                    wait(self.general.free_at_nth(general), StallCause::IntRegisters);
                    general += 1;
                }
                RegFile::Vector => {
                    wait(self.vector.free_at_nth(vector), StallCause::VecRegisters);
                    vector += 1;
                }
                RegFile::Flags => wait(self.flags.free_at(), StallCause::FlagRegisters),
            }
        }
        let (loads, stores) = load_store_entries(inst.mem.op);
        if loads {
            wait(self.loads.free_at(), StallCause::LoadQueue);
        }
        if stores {
            wait(self.stores.free_at(), StallCause::StoreQueue);
        }
        if inst.branch != sim_isa::BranchKind::None {
            wait(self.branches.free_at(), StallCause::BranchQueue);
        }
        self.queue_blocker(inst, blocked)
    }

    /// What the issue queues add to it.
    #[inline]
    fn queue_blocker(&self, inst: &Inst, mut blocked: Blocked) -> Blocked {
        for group in inst.uops() {
            let queue = Queue::of(group.pipes);
            let (pool, by) = match queue {
                Queue::Int => (&self.int_queue, StallCause::IssueQueueInt),
                Queue::Mem => (&self.mem_queue, StallCause::IssueQueueMem),
                Queue::Vec => (&self.vec_queue, StallCause::IssueQueueVec),
            };
            let free = pool.free_at(blocked.until);
            if free > blocked.until {
                blocked = Blocked { until: free, by };
            }
        }
        blocked
    }

    /// When the `nth` next reorder buffer entry is free, for the later MOPs of one instruction.
    #[inline]
    pub fn rob_blocker(&self, nth: usize) -> Blocked {
        Blocked { until: self.rob.free_at_nth(nth), by: self.rob_cause() }
    }

    #[inline]
    fn rob_cause(&self) -> StallCause {
        if self.rob_memory[self.rob.mark()] { StallCause::RobMemory } else { StallCause::RobCore }
    }

    /// The slot for an operation that is ready for one, given its blocker: the slots and the dispatch
    /// width of the cycle may move it on. The first MOP brings all micro-operations of the instruction.
    #[inline]
    pub fn slot(&self, uops: UopCounts, ready: Blocked) -> Blocked {
        if ready.until > self.cycle {
            return ready;
        }
        if self.used >= SLOTS {
            return Blocked { until: self.cycle + 1, ..ready };
        }
        if !self.fits(uops) {
            return Blocked { until: self.cycle + 1, by: StallCause::DispatchWidth };
        }
        Blocked { until: self.cycle, ..ready }
    }

    /// Takes the slot that [`Window::slot`] gave.
    #[inline]
    pub fn take_slot(&mut self, uops: UopCounts, slot: Blocked) {
        self.held_by = slot.by;
        if slot.until > self.cycle {
            self.cycle = slot.until;
            for queue in [&mut self.int_queue, &mut self.mem_queue, &mut self.vec_queue] {
                queue.advance(slot.until);
            }
            self.used = 0;
            self.dispatched = UopCounts::default();
        }
        self.used += 1;
        self.dispatched = self.dispatched.plus(uops);
    }

    /// Whether the micro-operations still fit into the dispatch width of this cycle. An instruction
    /// that alone is too wide goes when the cycle is empty.
    #[inline]
    fn fits(&self, uops: UopCounts) -> bool {
        self.dispatched == UopCounts::default() || self.dispatched.plus(uops).within(self.limits)
    }

    /// Takes one reorder buffer entry until `free`.
    #[inline]
    pub fn take_rob(&mut self, free: Cycle, waits_for_memory: bool) {
        self.rob_memory[self.rob.mark()] = waits_for_memory;
        self.rob.take(free);
    }

    /// Takes the registers, queue entries and the branch entry of `inst`: all free in `retired`,
    /// a store queue entry in `drained`.
    #[inline]
    pub fn take_rest(&mut self, inst: &Inst, retired: Cycle, drained: Cycle) {
        if inst.rename == Rename::Normal {
            for dst in inst.dsts() {
                match dst.file() {
                    RegFile::General => self.general.take(retired),
                    RegFile::Vector => self.vector.take(retired),
                    RegFile::Flags => self.flags.take(retired),
                }
            }
        }
        let (loads, stores) = load_store_entries(inst.mem.op);
        if loads {
            self.loads.take(retired);
        }
        if stores {
            self.stores.take(drained);
        }
        if inst.branch != sim_isa::BranchKind::None {
            self.branches.take(retired);
        }
    }

    /// The issue queue.
    #[inline]
    pub fn queue(&mut self, queue: Queue) -> &mut Pool {
        match queue {
            Queue::Int => &mut self.int_queue,
            Queue::Mem => &mut self.mem_queue,
            Queue::Vec => &mut self.vec_queue,
        }
    }

    /// Where everything stands now.
    pub fn mark(&self) -> WindowMark {
        WindowMark([
            self.rob.mark(),
            self.general.mark(),
            self.vector.mark(),
            self.flags.mark(),
            self.loads.mark(),
            self.stores.mark(),
            self.branches.mark(),
        ])
    }

    /// Gives back what the wrong path took in order. Issue queue entries are free at the squash anyway.
    pub fn squash(&mut self, mark: WindowMark) {
        let rings = [
            &mut self.rob,
            &mut self.general,
            &mut self.vector,
            &mut self.flags,
            &mut self.loads,
            &mut self.stores,
            &mut self.branches,
        ];
        for (ring, mark) in rings.into_iter().zip(mark.0) {
            ring.rewind(mark);
        }
    }
}

/// Which of load and store queue an access needs an entry of.
#[inline]
fn load_store_entries(op: MemOp) -> (bool, bool) {
    match op {
        MemOp::None | MemOp::PrefetchInst => (false, false),
        MemOp::Load | MemOp::PrefetchLoad | MemOp::PrefetchStore => (true, false),
        MemOp::Store | MemOp::ZeroLine | MemOp::AtomicStore | MemOp::Maintenance => (false, true),
        MemOp::AtomicLoad | MemOp::AtomicSwap => (true, true),
    }
}
