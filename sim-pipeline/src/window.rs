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

/// Micro-operations dispatched in the current cycle, by the pipes they may use.
#[derive(Clone, Copy, Debug, Default)]
struct Dispatched {
    uops: u8,
    branch_single: u8,
    multi: u8,
    multi0: u8,
    vector0: u8,
    vector1: u8,
    load_store: u8,
}

impl Dispatched {
    /// With the micro-operations of one more instruction.
    #[inline]
    fn with(mut self, inst: &Inst) -> Dispatched {
        for group in inst.uops() {
            let (mask, count) = (group.pipes, group.count);
            self.uops += count;
            match mask {
                PipeMask::B | PipeMask::S => self.branch_single += count,
                PipeMask::M0 => self.multi0 += count,
                PipeMask::M | PipeMask::M1 => self.multi += count,
                PipeMask::V0 => self.vector0 += count,
                PipeMask::V1 => self.vector1 += count,
                PipeMask::L | PipeMask::L01 | PipeMask::L2 => self.load_store += count,
                _ => {}
            }
        }
        self
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

/// Marks of everything that is taken in order, to come back to after a wrong path.
#[derive(Clone, Debug, Default)]
pub struct WindowMark {
    rings: [usize; 7],
    queues: [Box<[Cycle]>; 3],
}

/// Rename slots and the resources behind them.
#[derive(Clone, Debug)]
pub struct Window {
    limits: Dispatched,
    dispatched: Dispatched,
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
            limits: Dispatched {
                uops: d.uops,
                branch_single: d.branch_single,
                multi: d.multi,
                multi0: d.multi0,
                vector0: d.vector0,
                vector1: d.vector1,
                load_store: d.load_store,
            },
            dispatched: Dispatched::default(),
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

    /// No slot before this cycle, because of `cause`: a serialising operation holds rename, or an
    /// older operation of a wrong path never got its slot.
    pub fn hold_until(&mut self, cycle: Cycle, cause: StallCause) {
        if cycle > self.floor {
            (self.floor, self.floor_cause) = (cycle, cause);
        }
    }

    /// What the first MOP of `inst`, which arrives in `arrive`, waits for.
    #[inline]
    pub fn blocker(&mut self, inst: &Inst, arrive: Cycle) -> Blocked {
        let mut blocked = Blocked { until: arrive.max(self.cycle), by: self.held_by };
        let mut wait = |free: Cycle, by: StallCause| {
            if free > blocked.until {
                blocked = Blocked { until: free, by };
            }
        };
        wait(self.floor, self.floor_cause);
        wait(self.rob.free_at(), self.rob_cause());
        if inst.rename == Rename::Normal {
            for dst in inst.dsts() {
                match dst.file() {
                    RegFile::General => wait(self.general.free_at(), StallCause::IntRegisters),
                    RegFile::Vector => wait(self.vector.free_at(), StallCause::VecRegisters),
                    RegFile::Flags => wait(self.flags.free_at(), StallCause::FlagRegisters),
                }
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
    fn queue_blocker(&mut self, inst: &Inst, mut blocked: Blocked) -> Blocked {
        for group in inst.uops() {
            let queue = Queue::of(group.pipes);
            let free = self.queue(queue).free_at(blocked.until);
            if free > blocked.until {
                let by = match queue {
                    Queue::Int => StallCause::IssueQueueInt,
                    Queue::Mem => StallCause::IssueQueueMem,
                    Queue::Vec => StallCause::IssueQueueVec,
                };
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

    /// The slot for an operation that is ready for one, given its blocker: slots and, for the first
    /// MOP, the dispatch width of the cycle may move it on.
    #[inline]
    pub fn slot(&self, inst: &Inst, ready: Blocked, is_first: bool) -> Blocked {
        if ready.until > self.cycle {
            return ready;
        }
        if self.used >= SLOTS {
            return Blocked { until: self.cycle + 1, ..ready };
        }
        if is_first && !self.fits(inst) {
            return Blocked { until: self.cycle + 1, by: StallCause::DispatchWidth };
        }
        Blocked { until: self.cycle, ..ready }
    }

    /// Takes the slot that [`Window::slot`] gave.
    #[inline]
    pub fn take_slot(&mut self, inst: &Inst, slot: Blocked, is_first: bool) {
        self.held_by = slot.by;
        if slot.until > self.cycle {
            self.cycle = slot.until;
            self.used = 0;
            self.dispatched = Dispatched::default();
        }
        self.used += 1;
        if is_first {
            self.dispatched = self.dispatched.with(inst);
        }
    }

    /// Whether the micro-operations still fit into the dispatch width of this cycle. An instruction
    /// that alone is too wide goes when the cycle is empty.
    #[inline]
    fn fits(&self, inst: &Inst) -> bool {
        if self.dispatched.uops == 0 {
            return true;
        }
        let (d, l) = (self.dispatched.with(inst), &self.limits);
        d.uops <= l.uops
            && d.branch_single <= l.branch_single
            && d.multi <= l.multi
            && d.multi0 <= l.multi0
            && d.vector0 <= l.vector0
            && d.vector1 <= l.vector1
            && d.load_store <= l.load_store
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

    /// An empty mark of the right size, to be filled by [`Window::save`].
    pub fn new_mark(&self) -> WindowMark {
        let queues = [&self.int_queue, &self.mem_queue, &self.vec_queue];
        WindowMark { rings: [0; 7], queues: queues.map(|queue| queue.entries().into()) }
    }

    /// Notes where everything stands before a wrong path.
    pub fn save(&self, mark: &mut WindowMark) {
        mark.rings = [
            self.rob.mark(),
            self.general.mark(),
            self.vector.mark(),
            self.flags.mark(),
            self.loads.mark(),
            self.stores.mark(),
            self.branches.mark(),
        ];
        let queues = [&self.int_queue, &self.mem_queue, &self.vec_queue];
        for (saved, queue) in mark.queues.iter_mut().zip(queues) {
            saved.copy_from_slice(queue.entries());
        }
    }

    /// Gives back what the wrong path took.
    pub fn squash(&mut self, mark: &WindowMark) {
        let rings = [
            &mut self.rob,
            &mut self.general,
            &mut self.vector,
            &mut self.flags,
            &mut self.loads,
            &mut self.stores,
            &mut self.branches,
        ];
        for (ring, mark) in rings.into_iter().zip(mark.rings) {
            ring.rewind(mark);
        }
        self.int_queue.restore(&mark.queues[0]);
        self.mem_queue.restore(&mark.queues[1]);
        self.vec_queue.restore(&mark.queues[2]);
    }
}

/// Which of load and store queue an access needs an entry of.
#[inline]
fn load_store_entries(op: MemOp) -> (bool, bool) {
    match op {
        MemOp::None | MemOp::PrefetchInst | MemOp::Maintenance => (false, false),
        MemOp::Load | MemOp::PrefetchLoad | MemOp::PrefetchStore => (true, false),
        MemOp::Store | MemOp::ZeroLine | MemOp::AtomicStore => (false, true),
        MemOp::AtomicLoad | MemOp::AtomicSwap => (true, true),
    }
}
