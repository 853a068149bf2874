//! One core: takes instructions in program order through fetch, issue and write-back, and computes
//! the cycle of each.
//!
//! No clock ticks. An instruction issues in the cycle in which it is in the queue, its operands and
//! its unit are ready, and the stages before write-back have room. A cycle issues a second
//! instruction if the pair is allowed. Three groups fit between issue and write-back; while one of
//! them waits at write-back for a load miss or a store, at most the groups after it issue.

mod branches;
mod lost;
mod observed;
mod write_back;
mod wrong_path;

use crate::branch::Predictor;
use crate::config::PipelineConfig;
use crate::event::{A53Condition, A53Event, A53Sink, Issued};
use crate::front_end::FrontEnd;
use crate::memory::ClusterMemory;
use crate::seen::Seen;
use crate::slots::{LostTo, SLOTS, Slots};
use crate::timing::{Distances, EARLY_ALU, Needs, Timing, UNITS, USES, Use, Work};
use sim_core::{InstFlags, TraceInst};
use sim_isa::{BranchKind, Reg};
use write_back::WriteBack;
use wrong_path::Accessed;
pub(crate) use wrong_path::WrongPath;

/// Every number of a register, with the placeholders for missing ones: no lookup is out of range.
const REGISTERS: usize = 1 << u8::BITS;
const _: () = assert!(Reg::COUNT + 2 <= REGISTERS);

/// Instructions that issued in the latest cycle.
#[derive(Clone, Copy, Debug)]
struct Group {
    cycle: u64,
    /// Instructions of the group.
    insts: u64,
    /// The older one retires.
    older_retires: bool,
    /// Needs of a younger instruction that may not join the older one.
    excludes: Needs,
    /// Earliest cycle of the next group.
    next: u64,
}

/// When an instruction may issue, and what it waits for until then.
#[derive(Clone, Copy, Debug)]
struct Readiness {
    /// Cycle of its arrival in the queue.
    arrival: u64,
    /// Cycle in which its operands and its unit are ready.
    operands: u64,
    /// Cause of the wait for operands or unit.
    interlock: LostTo,
}

/// The last write of a register.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// Cycle of the issue of its writer, and the time of a load miss.
    from: u64,
    /// From there to the issue of a reader.
    distances: Distances,
    /// The writer did vector work.
    by_vector: bool,
}

impl Written {
    /// No write: readers need not wait.
    const NONE: Written = Written { from: 0, distances: [0; USES], by_vector: false };

    /// Returns the cycle in which a reader may issue.
    #[inline(always)]
    fn ready_for(&self, how: Use) -> u64 {
        self.from + u64::from(self.distances[how as usize])
    }
}

/// One core of the cluster.
#[derive(Debug)]
pub(crate) struct Core {
    number: usize,
    /// Needs that no pair may have: none, or those of every instruction.
    never_pairs: Needs,
    taken_bubble: u64,
    indirect_bubble: u64,
    unaligned_load: u64,
    wrong_paths: bool,
    /// Cycles after which the vector unit goes into retention; 0 is never.
    retention_after: u64,
    /// Cycle of the last vector work.
    last_vector: u64,
    front_end: FrontEnd,
    predictor: Predictor,
    /// Every branch is predicted right.
    predicts_all: bool,
    /// Branch whose target the front end keeps (branch target instruction cache, manual 2.1.1).
    kept_branch: u64,
    results: [Written; REGISTERS],
    /// Cycle from which each unit is free.
    units: [u64; UNITS],
    group: Group,
    write_back: WriteBack,
    /// The path after the last branch, if that was mispredicted, until a caller takes it.
    wrong_path: Option<WrongPath>,
    /// Last addresses of each static instruction, for wrong paths; empty if none executes.
    accessed: Vec<Accessed>,
    slots: Slots,
    /// Cause for which the last cycle with one instruction has no second one.
    last_half: LostTo,
    instructions: u64,
    /// Cycles in which two instructions retired.
    two_retired: u64,
    /// Executed instructions of extensions that the core does not have.
    foreign: u64,
    /// Executed words that the decoder does not know.
    unknown: u64,
}

impl Core {
    pub(crate) fn new(number: usize, config: &PipelineConfig) -> Core {
        Core {
            number,
            never_pairs: if config.dual_issue { Needs::NONE } else { Needs::ALL },
            taken_bubble: config.taken_bubble,
            indirect_bubble: config.indirect_bubble,
            unaligned_load: if config.ideal.latency { 0 } else { config.unaligned_load },
            wrong_paths: config.wrong_paths,
            retention_after: config.vector_retention_cycles,
            last_vector: 0,
            front_end: FrontEnd::new(config),
            predictor: Predictor::new(&config.branch),
            predicts_all: config.ideal.prediction,
            kept_branch: u64::MAX,
            results: [Written::NONE; REGISTERS],
            units: [0; UNITS],
            group: Group {
                cycle: 0,
                insts: SLOTS,
                older_retires: false,
                excludes: Needs::ALL,
                next: 1,
            },
            write_back: WriteBack::default(),
            wrong_path: None,
            accessed: Vec::new(),
            slots: Slots::default(),
            last_half: LostTo::End,
            instructions: 0,
            two_retired: 0,
            foreign: 0,
            unknown: 0,
        }
    }

    /// Executes wrong paths from now on, through this number of static instructions.
    pub(crate) fn execute_wrong_paths(&mut self, insts: usize) {
        if self.wrong_paths {
            self.accessed.resize(insts, Accessed::default());
        }
    }

    /// Notes where a static instruction accesses memory if a wrong path executes it.
    pub(crate) fn expect_access(&mut self, id: u32, addr: u64) {
        if let Some(last) = self.accessed.get_mut(id as usize) {
            *last = Accessed::default();
            last.add(addr);
        }
    }

    /// Returns the wrong path after the last instruction, if it is a mispredicted branch.
    #[inline]
    pub(crate) fn take_wrong_path(&mut self) -> Option<WrongPath> {
        self.wrong_path.take()
    }

    /// Returns the cycle of the latest issue.
    pub(crate) fn cycle(&self) -> u64 {
        self.group.cycle
    }

    /// Returns the number of cycles up to the last issue, its own included; 0 before the first.
    pub(crate) fn passed(&self) -> u64 {
        if self.slots().issued == 0 { 0 } else { self.cycle() + 1 }
    }

    /// Returns the cycle in which the instructions that issued last reach write-back, unless
    /// something holds it.
    pub(crate) fn at_write_back(&self) -> u64 {
        self.group.cycle + write_back::STAGES
    }

    /// Lets nothing more issue before this cycle. For comparisons with other models.
    pub(crate) fn hold_until(&mut self, cycle: u64) {
        if cycle > self.group.cycle {
            self.group.excludes = Needs::ALL;
            self.group.next = self.group.next.max(cycle);
        }
    }

    /// Returns the number of retired instructions.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Returns the use of the issue slots so far.
    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }

    /// Returns whether the cycle of the latest issue may yet issue a second instruction.
    pub(crate) fn has_undecided_slot(&self) -> bool {
        self.group.insts < SLOTS
    }

    /// Returns why the last cycle with one instruction had no second one.
    pub(crate) fn last_half(&self) -> LostTo {
        self.last_half
    }

    /// Returns the number of cycles in which two instructions retired.
    pub(crate) fn two_retired(&self) -> u64 {
        self.two_retired
    }

    /// Returns how many executed instructions belong to extensions that the core does not have.
    pub(crate) fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Returns how many executed words the decoder does not know.
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Runs one instruction of the stream. `next` is where a branch continues; `None` at the end
    /// of the stream or where it breaks off. Others do not look at it.
    #[inline(always)]
    pub(crate) fn step<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        more: &[u64],
        timing: &Timing,
        next: Option<u64>,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        let arrival = self.front_end.fetch(self.number, timing.pc, memory, sink);
        let (operands, interlock) = self.operands(timing);
        let ready = Readiness { arrival, operands, interlock };
        let awaited = if S::OBSERVES_ISSUE { self.awaited(timing, operands) } else { None };
        let cycle = self.issue(timing, &ready, sink);
        self.front_end.note_issue(cycle);
        if timing.only_computes {
            self.write_results(timing, cycle, 0);
            if S::OBSERVES_ISSUE {
                sink.issued(&Issued { awaited, ..self.issued(timing, &ready) });
            }
            self.retire(inst, sink);
            return;
        }
        if self.retention_after > 0 && (timing.is_vector || timing.is_vector_access) {
            self.end_retention(cycle, sink);
        }
        let delay = match timing.work {
            Work::None => 0,
            _ => self.perform(inst, more, timing, cycle, memory, sink),
        };
        self.write_results(timing, cycle, delay);
        if S::OBSERVES_ISSUE {
            sink.issued(&Issued { awaited, delay, ..self.issued(timing, &ready) });
        }
        if self.retire(inst, sink) {
            self.retire_further(inst, timing, next, sink);
        }
        if timing.branch != BranchKind::None {
            self.resolve(timing, cycle, next, memory, sink);
        } else if matches!(timing.work, Work::Restart | Work::Exception) {
            self.front_end.restart(cycle + write_back::RESTART);
        }
    }

    /// Returns the cycle in which the operands and the unit of an instruction are ready, and the
    /// cause of a wait for them.
    #[inline]
    fn operands(&self, timing: &Timing) -> (u64, LostTo) {
        let mut cycle =
            self.units[timing.unit as usize].max(self.units[timing.second_unit as usize]);
        let mut cause = match timing.is_vector {
            true => LostTo::SimdInterlock,
            false => LostTo::OtherInterlock,
        };
        for (reg, how) in &timing.srcs[..usize::from(timing.n_srcs)] {
            let written = &self.results[usize::from(*reg)];
            let at = written.ready_for(*how);
            if at > cycle {
                cycle = at;
                cause = match () {
                    () if timing.is_vector || written.by_vector => LostTo::SimdInterlock,
                    () if *how == Use::Address && timing.work != Work::None => {
                        LostTo::AddressInterlock
                    }
                    () => LostTo::OtherInterlock,
                };
            }
        }
        (cycle, cause)
    }

    /// Issues an instruction and returns its cycle. Every slot between the last issue and this one
    /// gets its cause.
    #[inline(always)]
    fn issue<S: A53Sink>(&mut self, timing: &Timing, ready: &Readiness, sink: &mut S) -> u64 {
        let wanted = ready.arrival.max(ready.operands);
        let last = &mut self.group;
        if last.insts == 1 && wanted <= last.cycle && timing.needs.has_none_of(last.excludes) {
            last.insts = 2;
            self.two_retired += u64::from(last.older_retires);
            last.next = last.next.max(last.cycle + 1);
            let cycle = last.cycle;
            self.occupy(timing, cycle);
            self.slots.issued += 1;
            return cycle;
        }
        let last = self.group;
        let free = self.write_back.room_for_next();
        let cycle = wanted.max(last.next).max(free);
        if last.insts == 1 {
            let cause = match wanted > last.cycle {
                true => self.cause_at(last.cycle, ready),
                false => LostTo::Pairing,
            };
            self.slots.lose(cause, 1);
            self.last_half = cause;
            sink.lose(cause, last.cycle, 1);
        }
        self.lose_cycles(&last, cycle, ready, sink);
        self.group = Group {
            cycle,
            insts: 1,
            older_retires: true,
            excludes: timing.excludes.with(self.never_pairs),
            next: cycle + 1 + u64::from(timing.more_cycles),
        };
        self.occupy(timing, cycle);
        self.slots.issued += 1;
        self.write_back.begin(cycle);
        cycle
    }

    #[inline]
    fn occupy(&mut self, timing: &Timing, cycle: u64) {
        if timing.busy > 1 {
            self.units[timing.unit as usize] = cycle + u64::from(timing.busy);
        }
    }

    /// Notes when readers of the results may issue. `delay` is the time of a load miss.
    #[inline]
    fn write_results(&mut self, timing: &Timing, cycle: u64, delay: u64) {
        let is_early = timing.may_be_early && self.is_early(timing, cycle);
        for (reg, distances) in &timing.dsts[..usize::from(timing.n_dsts)] {
            self.results[usize::from(*reg)] = Written {
                from: cycle + delay,
                distances: if is_early { EARLY_ALU } else { *distances },
                by_vector: timing.is_vector,
            };
        }
    }

    /// Returns whether all operands are ready for the first execution stage.
    #[inline]
    fn is_early(&self, timing: &Timing, cycle: u64) -> bool {
        let srcs = &timing.srcs[..usize::from(timing.n_srcs)];
        srcs.iter().all(|(reg, _)| self.results[usize::from(*reg)].ready_for(Use::Shifted) <= cycle)
    }

    /// Counts what every instruction counts when it retires. Returns whether it does.
    #[inline]
    fn retire<S: A53Sink>(&mut self, inst: &TraceInst, sink: &mut S) -> bool {
        if inst.flags.has(InstFlags::ABANDONED) {
            sink.see(Seen::Abandoned);
            self.abandon();
            return false;
        }
        self.instructions += 1;
        sink.raise(A53Event::INST_RETIRED, self.at_write_back(), 1);
        true
    }

    /// Notes that the instruction that issued last does not retire.
    #[cold]
    fn abandon(&mut self) {
        let group = &mut self.group;
        if group.insts == 1 {
            group.older_retires = false;
        } else {
            self.two_retired -= u64::from(group.older_retires);
        }
    }

    /// Counts what an instruction counts when it retires, if it does more than compute.
    #[inline]
    fn retire_further<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        timing: &Timing,
        next: Option<u64>,
        sink: &mut S,
    ) {
        self.foreign += u64::from(timing.is_foreign);
        self.unknown += u64::from(timing.is_unknown);
        let at = self.at_write_back();
        if timing.work != Work::None {
            self.retire_access(inst, timing, at, sink);
        }
        if timing.branch != BranchKind::None {
            self.retire_branch(timing, next, at, sink);
        }
    }

    /// Counts what a load, a store or a write of `CONTEXTIDR` counts when it retires.
    fn retire_access<S: A53Sink>(&self, inst: &TraceInst, timing: &Timing, at: u64, sink: &mut S) {
        let (loads, stores) = match timing.work {
            Work::Load | Work::LoadExclusive => (true, false),
            Work::Store | Work::StoreExclusive => (false, true),
            Work::Atomic => (true, true),
            Work::ContextId => return sink.raise(A53Event::CID_WRITE_RETIRED, at, 1),
            _ => return,
        };
        if loads {
            sink.raise(A53Event::LD_RETIRED, at, 1);
        }
        // A failed store-exclusive counts, too (erratum 855827).
        if stores {
            sink.raise(A53Event::ST_RETIRED, at, 1);
        }
        let align = u64::from(timing.align.max(1));
        if inst.flags.has(InstFlags::HAS_ADDR) && inst.addr & (align - 1) != 0 {
            sink.raise(A53Event::UNALIGNED_LDST_RETIRED, at, 1);
        }
    }

    /// Returns the cycle after the last instruction has left write-back.
    pub(crate) fn end(&self) -> u64 {
        self.write_back.end()
    }

    /// Fetches the next instruction in the cycle `cycle` at the earliest.
    pub(crate) fn fetch_from(&mut self, cycle: u64) {
        self.front_end.restart(cycle);
    }

    /// Counts the cycles in which the vector unit was in retention before vector work in the cycle
    /// `at`. Assumed: it is back at once.
    #[cold]
    fn end_retention<S: A53Sink>(&mut self, at: u64, sink: &mut S) {
        let from = self.last_vector + 1 + self.retention_after;
        if at > from {
            sink.signal(A53Condition::VectorRetention, from, at - from);
        }
        self.last_vector = at;
    }

    /// Takes an exception before the next instruction.
    pub(crate) fn take_exception<S: A53Sink>(&mut self, vector: u32, sink: &mut S) {
        let at = self.group.cycle + write_back::STAGES;
        sink.raise(A53Event::EXC_TAKEN, at, 1);
        match vector & 0x180 {
            0x080 => sink.raise(A53Event::EXC_IRQ, at, 1),
            0x100 => sink.raise(A53Event::EXC_FIQ, at, 1),
            _ => {}
        }
        self.front_end.restart(self.group.cycle + write_back::RESTART);
    }

    /// Ends the run: counts the cycles, and the slot that the last group left empty. Returns the
    /// cycles.
    pub(crate) fn finish<S: A53Sink>(&mut self, memory: &mut ClusterMemory, sink: &mut S) -> u64 {
        if self.instructions == 0 {
            self.slots = Slots::default();
            return 0;
        }
        if self.group.insts == 1 {
            self.slots.lose(LostTo::End, 1);
            sink.lose(LostTo::End, self.group.cycle, 1);
        }
        let end = self.write_back.end().max(self.group.cycle + 1);
        let mut at = self.group.cycle + 1;
        while at < end {
            let (cause, until) = match self.write_back.stall_at(at) {
                Some((cause, until)) => (cause, until.min(end)),
                None => (LostTo::End, self.write_back.next_stall(at).min(end)),
            };
            self.slots.lose(cause, SLOTS * (until - at));
            sink.lose(cause, at, SLOTS * (until - at));
            sink.see(Seen::Idle(cause, until - at));
            at = until;
        }
        if self.retention_after > 0 {
            self.end_retention(end, sink);
        }
        memory.finish(self.number, end, sink);
        sink.raise(A53Event::CPU_CYCLES, end, end);
        sink.raise(A53Event::BUS_CYCLES, end, end);
        end
    }
}
