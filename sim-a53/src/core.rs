//! One core: takes instructions in program order through fetch, issue and write-back, and computes
//! the cycle of each.
//!
//! No clock ticks. An instruction issues in the cycle in which it is in the queue, its operands and
//! its unit are ready, and the stages before write-back have room. A cycle issues a second
//! instruction if the pair is allowed. Three groups fit between issue and write-back; while one of
//! them waits at write-back for a load miss or a store, at most the groups after it issue.

mod branches;
mod pairing;
mod write_back;

use crate::branch::Predictor;
use crate::config::PipelineConfig;
use crate::event::{A53Condition, A53Event, A53Sink};
use crate::front_end::{Arrival, FrontEnd};
use crate::memory::ClusterMemory;
use crate::seen::Seen;
use crate::slots::{LostTo, SLOTS, Slots};
use crate::timing::{Distances, EARLY_ALU, Timing, UNITS, USES, Unit, Use, Work};
use sim_core::{InstFlags, TraceInst};
use sim_isa::{BranchKind, Reg};
use write_back::WriteBack;

/// Names of registers, with the placeholders for missing ones.
const REGISTERS: usize = Reg::COUNT + 2;

/// Instructions that issued in the latest cycle.
#[derive(Clone, Copy, Debug)]
struct Group {
    cycle: u64,
    /// Instructions of the group, and those of them that retire.
    insts: u64,
    retired: u64,
    /// Unit of the older instruction.
    unit: Unit,
    /// The older instruction shares its cycle with no other.
    is_alone: bool,
    /// Earliest cycle of the next group.
    next: u64,
}

/// When an instruction may issue, and what it waits for until then.
#[derive(Clone, Copy, Debug)]
struct Readiness {
    /// Its arrival in the queue.
    arrival: Arrival,
    /// Cycle in which its operands and its unit are ready.
    operands: u64,
    /// Cause of the wait for operands or unit.
    interlock: LostTo,
}

/// One core of the cluster.
#[derive(Debug)]
pub(crate) struct Core {
    number: usize,
    dual_issue: bool,
    taken_bubble: u64,
    indirect_bubble: u64,
    unaligned_load: u64,
    /// Cycles after which the vector unit goes into retention; 0 is never.
    retention_after: u64,
    /// Cycle of the last vector work.
    last_vector: u64,
    front_end: FrontEnd,
    predictor: Predictor,
    /// Branch whose target the front end keeps (branch target instruction cache, manual 2.1.1).
    kept_branch: u64,
    /// Earliest issue of a reader of each register, by use.
    ready: [[u64; USES]; REGISTERS],
    /// The last writer of each register did vector work.
    by_vector: [bool; REGISTERS],
    /// Cycle from which each unit is free.
    units: [u64; UNITS],
    group: Group,
    write_back: WriteBack,
    slots: Slots,
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
            dual_issue: config.dual_issue,
            taken_bubble: config.taken_bubble,
            indirect_bubble: config.indirect_bubble,
            unaligned_load: config.unaligned_load,
            retention_after: config.vector_retention_cycles,
            last_vector: 0,
            front_end: FrontEnd::new(config),
            predictor: Predictor::new(&config.branch),
            kept_branch: u64::MAX,
            ready: [[0; USES]; REGISTERS],
            by_vector: [false; REGISTERS],
            units: [0; UNITS],
            group: Group {
                cycle: 0,
                insts: SLOTS,
                retired: 0,
                unit: Unit::Integer,
                is_alone: true,
                next: 1,
            },
            write_back: WriteBack::default(),
            slots: Slots::default(),
            instructions: 0,
            two_retired: 0,
            foreign: 0,
            unknown: 0,
        }
    }

    /// Returns the cycle of the latest issue.
    pub(crate) fn cycle(&self) -> u64 {
        self.group.cycle
    }

    /// Returns the cycle in which the instructions that issued last reach write-back, unless
    /// something holds it.
    pub(crate) fn at_write_back(&self) -> u64 {
        self.group.cycle + write_back::STAGES
    }

    /// Lets nothing more issue before this cycle. For comparisons with other models.
    pub(crate) fn hold_until(&mut self, cycle: u64) {
        if cycle > self.group.cycle {
            self.group.is_alone = true;
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

    /// Runs one instruction of the stream. `next` is the address of the next one; `None` at the end
    /// of the stream or where it breaks off.
    #[inline]
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
        let cycle = self.issue(timing, &ready, sink);
        self.front_end.note_issue(cycle);
        if self.retention_after > 0 && (timing.is_vector || timing.is_vector_access) {
            self.end_retention(cycle, sink);
        }
        let delay = match timing.work {
            Work::None => 0,
            _ => self.perform(inst, more, timing, cycle, memory, sink),
        };
        self.write_results(timing, cycle, delay);
        self.retire(inst, timing, next, sink);
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
        let mut cycle = self.units[timing.unit as usize];
        if timing.unit == Unit::FullVector {
            cycle = cycle.max(self.units[Unit::VectorDivide as usize]);
        }
        let mut cause = match timing.is_vector {
            true => LostTo::SimdInterlock,
            false => LostTo::OtherInterlock,
        };
        for (reg, how) in &timing.srcs[..usize::from(timing.n_srcs)] {
            let reg = usize::from(*reg);
            let at = self.ready[reg][*how as usize];
            if at > cycle {
                cycle = at;
                cause = match () {
                    () if timing.is_vector || self.by_vector[reg] => LostTo::SimdInterlock,
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
    #[inline]
    fn issue<S: A53Sink>(&mut self, timing: &Timing, ready: &Readiness, sink: &mut S) -> u64 {
        let wanted = ready.arrival.cycle.max(ready.operands);
        let last = self.group;
        if last.insts == 1 && wanted <= last.cycle && self.may_pair(&last, timing) {
            self.group.insts = 2;
            self.group.next = last.next.max(last.cycle + 1);
            self.occupy(timing, last.cycle);
            self.slots.issued += 1;
            return last.cycle;
        }
        let free = self.write_back.room_for_next();
        let cycle = wanted.max(last.next).max(free);
        if last.insts == 1 {
            let cause = match wanted > last.cycle {
                true => self.cause_at(last.cycle, ready),
                false => LostTo::Pairing,
            };
            self.slots.lose(cause, 1);
        }
        self.lose_cycles(&last, cycle, ready, sink);
        self.group = Group {
            cycle,
            insts: 1,
            retired: 0,
            unit: timing.unit,
            is_alone: timing.is_alone,
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

    /// Gives the slots of the cycles after the group `last` and before `cycle` their causes. The
    /// first instruction issues in cycle 2 at the earliest, because it is decoded first.
    #[inline]
    fn lose_cycles<S: A53Sink>(
        &mut self,
        last: &Group,
        cycle: u64,
        ready: &Readiness,
        sink: &mut S,
    ) {
        if cycle > last.cycle + 1 {
            self.lose_long(last, cycle, ready, sink);
        }
    }

    fn lose_long<S: A53Sink>(&mut self, last: &Group, cycle: u64, ready: &Readiness, sink: &mut S) {
        // Further issue cycles of a wide access issue nothing else.
        let further = last.next.min(cycle) - (last.cycle + 1);
        self.slots.lose(LostTo::WideAccess, SLOTS * further);
        sink.see(Seen::Idle(LostTo::WideAccess, further));
        // Before the first instruction there is no group, so that cycle 0 is lost, too.
        let mut at = if self.slots.issued == 0 { 0 } else { last.cycle + 1 + further };
        while at < cycle {
            let (cause, until, is_counted) = self.wait_at(at, cycle, ready);
            self.slots.lose(cause, SLOTS * (until - at));
            sink.see(Seen::Idle(cause, until - at));
            if let Some(event) = event_of(cause).filter(|_| is_counted) {
                sink.raise(event, at, until - at);
            }
            at = until;
        }
    }

    /// Returns the cause of a lost slot in the cycle of the last group.
    fn cause_at(&self, cycle: u64, ready: &Readiness) -> LostTo {
        match ready.arrival.cycle > cycle {
            true => ready.arrival.empty_at(cycle).cause,
            false => ready.interlock,
        }
    }

    /// Returns the cause of the lost cycle `at`, the cycle after the last one with this cause, at
    /// most `end`, and whether its event counts. A stall of write-back comes first, an empty queue
    /// next.
    fn wait_at(&self, at: u64, end: u64, ready: &Readiness) -> (LostTo, u64, bool) {
        if let Some((cause, until)) = self.write_back.stall_at(at) {
            return (cause, until.min(end), false);
        }
        let end = self.write_back.next_stall(at).min(end);
        if at < ready.arrival.cycle {
            let empty = ready.arrival.empty_at(at);
            return (empty.cause, empty.until.min(end), empty.is_counted);
        }
        match at < ready.operands {
            true => (ready.interlock, ready.operands.min(end), true),
            // The stages before write-back are still full.
            false => (self.write_back.last_cause(), end, false),
        }
    }

    /// Notes when readers of the results may issue. `delay` is the time of a load miss.
    #[inline]
    fn write_results(&mut self, timing: &Timing, cycle: u64, delay: u64) {
        let is_early = timing.may_be_early && self.is_early(timing, cycle);
        for (reg, distances) in &timing.dsts[..usize::from(timing.n_dsts)] {
            let distances: &Distances = if is_early { &EARLY_ALU } else { distances };
            self.by_vector[usize::from(*reg)] = timing.is_vector;
            let ready = &mut self.ready[usize::from(*reg)];
            for (at, distance) in ready.iter_mut().zip(distances) {
                *at = cycle + u64::from(*distance) + delay;
            }
        }
    }

    /// Returns whether all operands are ready for the first execution stage.
    #[inline]
    fn is_early(&self, timing: &Timing, cycle: u64) -> bool {
        let srcs = &timing.srcs[..usize::from(timing.n_srcs)];
        srcs.iter().all(|(reg, _)| self.ready[usize::from(*reg)][Use::Shifted as usize] <= cycle)
    }

    /// Counts what an instruction counts when it retires.
    #[inline]
    fn retire<S: A53Sink>(
        &mut self,
        inst: &TraceInst,
        timing: &Timing,
        next: Option<u64>,
        sink: &mut S,
    ) {
        if inst.flags.has(InstFlags::ABANDONED) {
            sink.see(Seen::Abandoned);
            return;
        }
        self.instructions += 1;
        self.foreign += u64::from(timing.is_foreign);
        self.unknown += u64::from(timing.is_unknown);
        let at = self.group.cycle + write_back::STAGES;
        sink.raise(A53Event::INST_RETIRED, at, 1);
        self.group.retired += 1;
        self.two_retired += u64::from(self.group.retired == 2);
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
            Work::Load => (true, false),
            Work::Store => (false, true),
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
        }
        let end = self.write_back.end().max(self.group.cycle + 1);
        let mut at = self.group.cycle + 1;
        while at < end {
            let (cause, until) = match self.write_back.stall_at(at) {
                Some((cause, until)) => (cause, until.min(end)),
                None => (LostTo::End, self.write_back.next_stall(at).min(end)),
            };
            self.slots.lose(cause, SLOTS * (until - at));
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

/// Returns the event that counts cycles lost to this cause without an issue.
fn event_of(cause: LostTo) -> Option<A53Event> {
    match cause {
        LostTo::SimdInterlock => Some(A53Event::SIMD_DEP_STALL),
        LostTo::AddressInterlock => Some(A53Event::AGU_DEP_STALL),
        LostTo::OtherInterlock => Some(A53Event::OTHER_INTERLOCK_STALL),
        LostTo::InstCache => Some(A53Event::IC_DEP_STALL),
        LostTo::InstTlb => Some(A53Event::IUTLB_DEP_STALL),
        LostTo::FrontEnd => Some(A53Event::OTHER_IQ_DEP_STALL),
        // Write-back counts its own cycles; the others are not stalls.
        LostTo::LoadMiss | LostTo::Store | LostTo::Pairing | LostTo::WideAccess | LostTo::End => {
            None
        }
    }
}
