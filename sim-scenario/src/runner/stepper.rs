//! Performs the steps of a case, in sequence or together, on the correct path or a wrong one.

use crate::language::{Action, Case, Join, Step, Xt};
use sim_cache::{CacheLevel, Contents, MemorySystem};
use sim_core::{
    Activity, Cycle, InstFlags, LINE_BYTES, MemoryPort, NullSink, RootCause, StallCause, TraceInst,
    VirtAddr,
};
use sim_isa::{BranchKind, Program};
use sim_pipeline::{Offer, Pipeline, Step as PipelineStep};

use super::cut_short::{CutShort, is_cut_short};
use super::error::CaseError;
use super::other_pmus::OtherPmus;
use super::pmu_registers::pmu_for;
use super::port::{DataPort, NoMemory};
use super::profiling::{self, unit_for};
use super::recorded::{Recorded, Tally};
use super::setup;
use super::statements::looks_at_cycles;
use sim_machine::config::MachineConfig;

/// Address of the first instruction. The I-side fetches nothing from there.
pub(super) const CODE: u64 = 0x4000_0000;
/// An operation that takes a rename slot and nothing else.
const NOP: u32 = 0xD503_201F;
/// Barrier after which fetch starts again.
const ISB: u32 = 0xD503_3FDF;
/// Uncounted cycles after the completion of a step. The last beats of a line arrive after its
/// critical word, and its prefetches later still.
const SETTLE_CYCLES: Cycle = 1000;
/// Number of training runs of the steps for a case with `trained`.
const TRAINING_RUNS: usize = 16;

/// A machine that runs a case.
pub(super) struct Stepper<T> {
    pub(super) memory: MemorySystem,
    pub(super) pipeline: Pipeline,
    pub(super) program: Program,
    pub(super) sink: T,
    /// Address of the next instruction.
    pub(super) pc: u64,
    /// Cycle in which all memory requests so far are complete.
    pub(super) busy_until: Cycle,
    /// First cycle of the current group of steps (joined by `&`).
    pub(super) group_start: Cycle,
    /// Cycles so far that no step counts: training, and the rests between steps.
    pub(super) uncounted: Cycle,
    /// Instructions to repeat after the return from their interrupts.
    pub(super) cut_short: Vec<CutShort>,
    /// The steps' own fetches go through the I-side.
    own_fetches: bool,
    /// The mesh is counted.
    pub(super) counts_mesh: bool,
}

impl<T: Tally> Stepper<T> {
    /// Creates a machine in the given state of the case.
    pub(super) fn new(
        case: &Case,
        config: &MachineConfig,
        mut sink: T,
    ) -> Result<Stepper<T>, CaseError> {
        sink.recorded_mut().pmu = pmu_for(case, config.core.pmu);
        sink.recorded_mut().others = OtherPmus::of(case);
        sink.recorded_mut().cycles = looks_at_cycles(case).then(Box::default);
        sink.recorded_mut().spe = unit_for(case, config);
        profiling::program(case, sink.recorded_mut());
        let cores = case.given.cores.unwrap_or(1) as usize;
        let mut memory =
            MemorySystem::new(&config.memory, &config.semantics, cores, config.run.seed);
        setup::apply(&case.given, &case.steps, &mut memory)
            .map_err(|source| CaseError::NotMapped { test: case.test.clone(), source })?;
        let mut pipeline = Pipeline::new(&config.pipeline);
        pipeline.set_clocks(config.core.counter_hz, config.core.clock_hz);
        pipeline.set_privilege(case.given.privilege);
        pipeline.set_exceptions(case.given.exceptions, true);
        let mut stepper = Stepper {
            memory,
            pipeline,
            program: Program::costing(config.pipeline.costs())
                .counting_structures(config.semantics.ase_structures_count),
            sink,
            pc: CODE,
            busy_until: 0,
            group_start: 0,
            uncounted: 0,
            cut_short: Vec::new(),
            own_fetches: case.given.own_fetches,
            counts_mesh: !case.mesh.is_empty(),
        };
        if case.given.trained {
            for _ in 0..TRAINING_RUNS {
                stepper.train(&case.steps, case.given.trained_taken);
                stepper.pipeline.reset_exceptions(case.given.privilege);
            }
        }
        stepper.update_pmu();
        if stepper.counts_mesh {
            stepper.memory.begin_counting(0);
        }
        Ok(stepper)
    }

    /// Returns the results so far.
    pub(super) fn recorded(&self) -> &Recorded {
        self.sink.recorded()
    }

    /// Returns the first cycle of the current group and the completion of all its memory requests.
    pub(super) fn span(&self) -> (Cycle, Cycle) {
        (self.group_start, self.busy_until)
    }

    /// Returns the content of caches and TLBs around these addresses.
    pub(super) fn contents(&self, addrs: &[VirtAddr]) -> Contents {
        self.memory.contents(0, addrs)
    }

    /// Runs step `i` of the case. The last step of a group (joined by `&`) also counts the time
    /// that the core still needs, so that no step pays for the one before it.
    ///
    /// # Errors
    ///
    /// If the step names a missing cache entry or page.
    pub(super) fn run(&mut self, case: &Case, i: usize) -> Result<(), CaseError> {
        let step = &case.steps[i];
        if step.join == Join::After {
            self.rest();
            self.pc = next_line(self.pc);
        }
        self.take(step, is_cut_short(case, i))?;
        if ends_group(case, i) {
            self.pipeline.drain(&mut self.sink);
        }
        Ok(())
    }

    /// Waits, uncounted, for all memory requests, so that the next step finds an idle machine.
    fn rest(&mut self) {
        if self.busy_until > 0 {
            self.group_start = self.busy_until + SETTLE_CYCLES;
            self.uncounted += self.pipeline.pause_until(self.group_start);
        }
    }

    /// Performs one step, which the next one may cut short.
    fn take(&mut self, step: &Step, is_cut_short: bool) -> Result<(), CaseError> {
        match step.action {
            Action::Fetch { addr } => {
                let done = self.fetch(addr, step.wrong_path);
                self.busy_until = self.busy_until.max(done);
            }
            Action::Snoop { snoop, addr } => {
                let (addr, at) = (VirtAddr(addr), self.group_start);
                let done = self.memory.snoop(0, snoop, addr, at, &mut self.sink);
                self.busy_until = self.busy_until.max(done.map_err(|s| not_mapped(step, s))?);
            }
            Action::Stash { addr } => {
                let (addr, at) = (VirtAddr(addr), self.group_start);
                let done = self.memory.stash(0, addr, at, &mut self.sink);
                self.busy_until = self.busy_until.max(done.map_err(|s| not_mapped(step, s))?);
            }
            Action::OtherCore { core, writes, addr } => {
                self.access_of_other(step, core as usize, writes, VirtAddr(addr))?;
            }
            Action::Execute { operand, .. } | Action::ExecuteA32 { operand, .. } => {
                let addr = operand.map(|xt| self.operand(step, xt)).transpose()?;
                self.lay_out_other_path(step)?;
                if is_cut_short {
                    self.execute_cut_short(step, addr);
                } else {
                    self.execute_with(step, addr, InstFlags::default());
                    self.access_pmu(step, addr)?;
                    self.access_spe(step, addr)?;
                    self.resume(step);
                }
            }
            Action::Interrupt(_) | Action::Idle { .. } => {
                let done = self.pass(step.action);
                self.busy_until = self.busy_until.max(done);
            }
            Action::Rename { offered, accepted, blocked } => {
                let (blocked, root) =
                    blocked.unwrap_or((StallCause::DispatchWidth, RootCause::Dispatch));
                let (offered, accepted) = (offered.into(), accepted.into());
                self.offer(Offer { offered, accepted, blocked, root });
            }
        }
        self.settle_others();
        self.update_pmu();
        Ok(())
    }

    /// Fetches outside the pipeline and returns the completion cycle. On the correct path a fault
    /// is an abort.
    fn fetch(&mut self, addr: u64, wrong_path: bool) -> Cycle {
        let (mut port, at) = (self.memory.port(0), self.group_start);
        if wrong_path {
            return port.fetch(VirtAddr(addr), at, &mut self.sink).done;
        }
        self.pipeline.fetch(addr, at, &mut port, &mut self.sink)
    }

    /// Returns the value of the operand register.
    fn operand(&self, step: &Step, xt: Xt) -> Result<u64, CaseError> {
        const PAGE_NUMBER: u64 = (1 << 44) - 1;
        Ok(match xt {
            Xt::Address(addr) | Xt::Value(addr) => addr,
            Xt::Page { addr, asid } => {
                let asid = asid.unwrap_or_else(|| self.memory.asid(0));
                addr >> 12 & PAGE_NUMBER | u64::from(asid) << 48
            }
            Xt::Asid(asid) => u64::from(asid) << 48,
            Xt::SetAndWay { addr, level2 } => {
                let level = if level2 { CacheLevel::L2 } else { CacheLevel::L1d };
                let operand = self.memory.set_way_operand(0, VirtAddr(addr), level);
                operand.ok_or_else(|| CaseError::NotHeld { step: step.text.clone(), addr })?
            }
        })
    }

    /// Runs one instruction through the pipeline, with further flags for its record.
    pub(super) fn execute_with(&mut self, step: &Step, addr: Option<u64>, flags: InstFlags) {
        let (mut inst, next_pc) = self.instruction(step, addr);
        inst.flags = inst.flags.with(flags);
        let more = further(step);
        let mut port = DataPort {
            inner: self.memory.port(0),
            not_before: self.group_start,
            own_fetches: self.own_fetches,
            busy_until: &mut self.busy_until,
        };
        let (program, sink) = (&mut self.program, &mut self.sink);
        let wrong_path = step.wrong_path;
        let step = PipelineStep { inst, more, next_pc: Some(next_pc) };
        let done = if wrong_path {
            self.pipeline.run_squashed(&step, program, &mut port, sink)
        } else {
            let timeline = self.pipeline.run_inst(&step, program, &mut port, sink);
            timeline.complete.max(timeline.retire)
        };
        self.busy_until = self.busy_until.max(done);
        self.pc = next_pc;
    }

    /// Returns the record of a step at the current address, and the next address.
    fn instruction(&mut self, step: &Step, addr: Option<u64>) -> (TraceInst, u64) {
        if let Action::ExecuteA32 { word, .. } = step.action {
            return self.a32(word, addr);
        }
        let Action::Execute { word, taken, distance, exclusive_fails, elements, .. } = step.action
        else {
            unreachable!("fetches and steps of outside agents are not instructions");
        };
        let mut flags = elements.flags();
        if addr.is_some() && elements.activity != Activity::None {
            flags = flags.with(InstFlags::HAS_ADDR);
        }
        let exclusive = sim_isa::decode(word).mem;
        let lost = exclusive.exclusive
            && addr.is_some_and(|addr| !self.memory.monitor_holds(0, VirtAddr(addr)));
        if exclusive_fails || lost {
            flags = flags.with(InstFlags::EXCLUSIVE_FAILED);
        }
        let id = self.program.intern(self.pc, word);
        let next_pc = self.pc.wrapping_add(if taken { taken_distance(word, distance) } else { 4 });
        (TraceInst { addr: addr.unwrap_or(0), id, flags }, next_pc)
    }

    /// Passes the code in a branch's other direction to the pipeline, for the wrong path.
    fn lay_out_other_path(&mut self, step: &Step) -> Result<(), CaseError> {
        let Action::Execute { word, taken: branch_taken, distance, .. } = step.action else {
            return Ok(());
        };
        let target = taken_distance(word, distance);
        let mut pc = self.pc.wrapping_add(if branch_taken { 4 } else { target });
        for other in &step.other_path {
            let Action::Execute { word, operand, taken, distance, .. } = other.action else {
                continue;
            };
            let addr = operand.map(|xt| self.operand(other, xt)).transpose()?;
            let next = pc.wrapping_add(if taken { taken_distance(word, distance) } else { 4 });
            self.pipeline.preset_wrong_path(self.program.intern(pc, word), addr, Some(next));
            pc += 4;
        }
        Ok(())
    }

    /// Performs one cycle of the rename slots.
    fn offer(&mut self, offer: Offer) {
        let nop = self.program.intern(self.pc, NOP);
        let mut port = self.memory.port(0);
        let (from, sink) = (self.group_start, &mut self.sink);
        let cycle = self.pipeline.offer(offer, nop, from, &self.program, &mut port, sink);
        self.busy_until = self.busy_until.max(cycle);
    }

    /// Runs the steps once on the pipeline alone, uncounted.
    fn train(&mut self, steps: &[Step], branches_taken: Option<bool>) {
        let start = self.pc;
        for step in steps {
            if step.join == Join::After {
                self.pc = next_line(self.pc);
            }
            if let Action::Execute { word, operand, distance, .. } = step.action {
                let addr = operand.and_then(|xt| self.operand(step, xt).ok());
                let (inst, next_pc) = self.instruction(step, addr);
                let conditional = sim_isa::decode(word).branch == BranchKind::Conditional;
                let learned = match branches_taken.filter(|_| conditional) {
                    Some(true) => self.pc.wrapping_add(taken_distance(word, distance)),
                    Some(false) => self.pc + 4,
                    None => next_pc,
                };
                self.train_one(inst, learned);
                self.pc = next_pc;
            }
        }
        // The first step of the case is fetched again.
        let barrier = TraceInst { id: self.program.intern(self.pc, ISB), ..TraceInst::default() };
        self.train_one(barrier, self.pc + 4);
        self.uncounted = self.pipeline.cut_window(&mut NullSink);
        self.pc = start;
    }

    fn train_one(&mut self, inst: TraceInst, next_pc: u64) {
        let step = PipelineStep { inst, more: &[], next_pc: Some(next_pc) };
        let timeline =
            self.pipeline.run_inst(&step, &mut self.program, &mut NoMemory, &mut NullSink);
        self.busy_until = self.busy_until.max(timeline.complete.max(timeline.retire));
    }

    /// Lets the memory system idle until this cycle.
    pub(super) fn idle_memory(&mut self, until: Cycle) {
        self.memory.pass_time(0, until, &mut self.sink);
    }

    /// Drains the machine and returns the sink with everything that the case raised.
    pub(super) fn finish(mut self) -> T {
        let mut port = self.memory.port(0);
        self.pipeline.push_stores(self.busy_until, &mut port, &mut self.sink);
        self.pipeline.finish(&mut self.sink);
        self.sink.profile(|spe, sink| spe.synchronize(sink));
        self.end_of_mesh();
        self.sink
    }
}

/// Returns true if the step after number `i`, if any, waits for it.
pub(super) fn ends_group(case: &Case, i: usize) -> bool {
    case.steps.get(i + 1).is_none_or(|next| next.join == Join::After)
}

/// Returns the addresses of a step after its first.
fn further(step: &Step) -> &[u64] {
    match &step.action {
        Action::Execute { elements, .. } => elements.further(),
        _ => &[],
    }
}

pub(super) fn not_mapped(step: &Step, source: sim_cache::NotMapped) -> CaseError {
    CaseError::NotMapped { test: step.text.clone(), source }
}

/// Returns the distance of a taken branch in bytes: as the step gives it, as encoded, or two
/// instructions for other indirect ones.
fn taken_distance(word: u32, given: Option<i64>) -> u64 {
    let encoded = || match sim_isa::decode(word).offset {
        0 => 8,
        offset => i64::from(offset),
    };
    given.unwrap_or_else(encoded) as u64
}

fn next_line(pc: u64) -> u64 {
    (pc / LINE_BYTES + 1) * LINE_BYTES
}
