//! Rename and dispatch: five slots per cycle, and everything an operation must hold to take one
//! (reorder buffer, registers, load/store queues, issue queues, dispatch width).

use crate::config::PipelineConfig;
use crate::dispatch::{self, Way, uops_of};
use crate::issue_queue::IssueQueues;
use crate::resource::Ring;
use crate::slots::SLOTS;
use sim_core::{Cycle, StallCause};
use sim_isa::{Inst, RegFile, Rename, UopCounts};

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
    /// Until when the oldest operation waits for memory before an entry can be free, by entry.
    rob_memory: Box<[Cycle]>,
    general: Ring,
    vector: Ring,
    flags: Ring,
    loads: Ring,
    stores: Ring,
    branches: Ring,
    queues: IssueQueues,
    /// MOPs renamed so far, and the number of the first that may be a move done at rename.
    mops: u64,
    next_move: u64,
    move_interval: u64,
}

impl Window {
    /// An empty window at cycle 0.
    pub fn new(config: &PipelineConfig) -> Window {
        let w = &config.window;
        Window {
            limits: dispatch::limits(&config.dispatch),
            dispatched: UopCounts::default(),
            cycle: 0,
            used: 0,
            held_by: StallCause::DispatchWidth,
            floor: 0,
            floor_cause: StallCause::Serialise,
            rob: Ring::new(w.rob),
            rob_memory: vec![0; w.rob].into_boxed_slice(),
            general: Ring::new(w.general_registers),
            vector: Ring::new(w.vector_registers),
            flags: Ring::new(w.flag_registers),
            loads: Ring::new(w.load_queue),
            stores: Ring::new(w.store_queue),
            branches: Ring::new(w.branch_queue),
            queues: IssueQueues::new(w),
            mops: 0,
            next_move: 0,
            move_interval: w.move_interval.into(),
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

    /// How `inst` goes on from rename. Of some MOPs in a row only one register move is done there;
    /// the others take an integer pipe.
    #[inline]
    pub fn way(&self, inst: &Inst) -> Way {
        match inst.rename {
            Rename::Normal => Way::Issue,
            Rename::Move if self.mops < self.next_move => Way::Issue,
            Rename::Move | Rename::Zero | Rename::Nop => Way::AtRename,
        }
    }

    /// What the first MOP of `inst`, which arrives in `arrive`, waits for.
    #[inline]
    pub fn blocker(&self, inst: &Inst, way: Way, arrive: Cycle) -> Blocked {
        let mut blocked = self.floor(arrive);
        let free = self.rob.free_at();
        if free > blocked.until {
            blocked = Blocked { until: free, by: self.rob_cause(0, blocked.until) };
        }
        if way == Way::Issue { self.entries_blocker(inst, blocked) } else { blocked }
    }

    /// The cycle in which the second half of a fused pair, which arrives in `arrive`, goes on: it needs
    /// neither slot nor reorder buffer entry, but everything else.
    #[inline]
    pub fn partner_slot(&self, inst: &Inst, way: Way, arrive: Cycle) -> Blocked {
        let blocked = self.floor(arrive);
        if way != Way::Issue {
            return blocked;
        }
        let blocked = self.entries_blocker(inst, blocked);
        if blocked.until == self.cycle && !self.fits(uops_of(inst, way)) {
            return Blocked { until: self.cycle + 1, by: StallCause::DispatchWidth };
        }
        blocked
    }

    /// First cycle in which something that arrives in `arrive` may go on at all.
    #[inline]
    fn floor(&self, arrive: Cycle) -> Blocked {
        let until = arrive.max(self.cycle);
        if self.floor > until {
            Blocked { until: self.floor, by: self.floor_cause }
        } else {
            Blocked { until, by: self.held_by }
        }
    }

    /// What the registers and queue entries of `inst` add to it.
    #[inline]
    fn entries_blocker(&self, inst: &Inst, blocked: Blocked) -> Blocked {
        let late = self.entries_free(inst) > blocked.until;
        let blocked = if late { self.last_entry(inst, blocked) } else { blocked };
        self.queues.blocker(inst, blocked)
    }

    /// First cycle in which all registers and load, store and branch queue entries of `inst` are free.
    #[inline]
    fn entries_free(&self, inst: &Inst) -> Cycle {
        let entries = inst.entries;
        let mut free = self.general.all_free_at(entries.general);
        if entries.vector > 0 {
            free = free.max(self.vector.all_free_at(entries.vector));
        }
        free.max(self.flags.free_if(entries.flags))
            .max(self.loads.free_if(entries.load))
            .max(self.stores.free_if(entries.store))
            .max(self.branches.free_if(entries.branch))
    }

    /// Which of them is the last to be free, and when.
    #[inline(never)]
    fn last_entry(&self, inst: &Inst, mut blocked: Blocked) -> Blocked {
        let mut wait = |free: Cycle, by: StallCause| {
            if free > blocked.until {
                blocked = Blocked { until: free, by };
            }
        };
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
        let entries = inst.entries;
        if entries.load {
            wait(self.loads.free_at(), StallCause::LoadQueue);
        }
        if entries.store {
            wait(self.stores.free_at(), StallCause::StoreQueue);
        }
        if entries.branch {
            wait(self.branches.free_at(), StallCause::BranchQueue);
        }
        blocked
    }

    /// When the `nth` next reorder buffer entry is free, for the later MOPs of one instruction.
    #[inline]
    pub fn rob_blocker(&self, nth: usize) -> Blocked {
        Blocked { until: self.rob.free_at_nth(nth), by: self.rob_cause(nth, self.cycle) }
    }

    /// What the oldest operation waits for in `cycle`, when the wait for the `nth` next reorder buffer
    /// entry begins.
    #[inline]
    fn rob_cause(&self, nth: usize, cycle: Cycle) -> StallCause {
        let memory_until = self.rob_memory[self.rob.nth(nth)];
        if memory_until > cycle { StallCause::RobMemory } else { StallCause::RobCore }
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
        self.take_partner_slot(uops, slot);
        self.used += 1;
        self.mops += 1;
    }

    /// Sends on the second half of a pair, as [`Window::partner_slot`] said.
    #[inline]
    pub fn take_partner_slot(&mut self, uops: UopCounts, slot: Blocked) {
        self.held_by = slot.by;
        if slot.until > self.cycle {
            self.cycle = slot.until;
            self.queues.advance(slot.until);
            self.used = 0;
            self.dispatched = UopCounts::default();
        }
        self.dispatched = self.dispatched.plus(uops);
    }

    /// The MOP whose slot was taken last is a register move, done at rename.
    #[inline]
    pub fn moved(&mut self) {
        self.next_move = self.mops + self.move_interval - 1;
    }

    /// Whether the micro-operations still fit into the dispatch width of this cycle. An instruction
    /// that alone is too wide goes when the cycle is empty.
    #[inline]
    fn fits(&self, uops: UopCounts) -> bool {
        self.dispatched == UopCounts::default() || self.dispatched.plus(uops).within(self.limits)
    }

    /// Takes one reorder buffer entry until `free`; until `memory_until` the oldest operation, this one
    /// or one before it, waits for memory.
    #[inline]
    pub fn take_rob(&mut self, free: Cycle, memory_until: Cycle) {
        self.rob_memory[self.rob.mark()] = memory_until;
        self.rob.take(free);
    }

    /// Takes the registers, queue entries and the branch entry of `inst`: all free in `retired`,
    /// a store queue entry in `drained`.
    #[inline]
    pub fn take_rest(&mut self, inst: &Inst, way: Way, retired: Cycle, drained: Cycle) {
        if way != Way::Issue {
            return;
        }
        let entries = inst.entries;
        self.general.take_all(entries.general, retired);
        if entries.vector > 0 {
            self.vector.take_all(entries.vector, retired);
        }
        self.flags.take_if(entries.flags, retired);
        self.loads.take_if(entries.load, retired);
        self.stores.take_if(entries.store, drained);
        self.branches.take_if(entries.branch, retired);
    }

    /// The issue queues.
    #[inline]
    pub fn queues(&mut self) -> &mut IssueQueues {
        &mut self.queues
    }

    /// Entries of all kinds that are still taken in `cycle`.
    pub fn held(&self, cycle: Cycle) -> usize {
        let rings = [
            &self.rob,
            &self.general,
            &self.vector,
            &self.flags,
            &self.loads,
            &self.stores,
            &self.branches,
        ];
        rings.iter().map(|ring| ring.held(cycle)).sum::<usize>() + self.queues.held(cycle)
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
