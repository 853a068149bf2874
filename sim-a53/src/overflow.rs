//! Sampling by counter overflow on this core: which instruction an interrupt finds.
//!
//! The core issues in order, and instructions that have issued complete before it takes an
//! interrupt. The interrupt is taken in the cycle of the overflow, so that the sample is the first
//! instruction that has not issued by then: never one that is older than the one that raised the
//! event. A load that misses is not its own sample; the instruction that waits for it is. A real
//! interrupt takes further cycles to arrive, which depend on the interrupt controller.

use crate::cluster::{A53Config, A53CoreOutcome, A53Error, run_with_sinks};
use crate::event::{A53Condition, A53Counts, A53Event, A53Note, A53Sink};
use crate::levels::Levels;
use crate::pmu;
use sim_isa::{BranchKind, Program};
use sim_pmu::call_stack::CallStack;
use sim_pmu::overflow::{CALLERS_MAX, Overflow, OverflowCounters, Sampled, TooManyEvents};
use sim_pmu::{A53Routes, PeState};
use sim_trace::TraceFile;

/// Address and branch of a static instruction.
#[derive(Clone, Copy, Debug)]
struct Code {
    pc: u64,
    branch: BranchKind,
}

/// Samples that wait for their instruction.
#[derive(Clone, Copy, Debug)]
struct Pending {
    request: usize,
    /// Cycle of the overflow.
    cycle: u64,
}

/// The instruction in progress.
#[derive(Clone, Copy, Debug)]
struct Current {
    code: Code,
    level: u8,
}

/// PMU of one core that samples its overflows.
#[derive(Clone, Debug)]
struct OverflowSink<'a> {
    code: &'a [Code],
    counts: A53Counts,
    counters: OverflowCounters<A53Routes>,
    levels: Levels,
    /// Call stacks of the application and of the levels above it.
    stacks: [CallStack; 2],
    current: Option<Current>,
    /// Cycles that were counted so far.
    cycles: u64,
    pending: Vec<Pending>,
    samples: Vec<Overflow>,
}

impl<'a> OverflowSink<'a> {
    fn new(code: &'a [Code], mut counters: OverflowCounters<A53Routes>) -> OverflowSink<'a> {
        counters.pmu_mut().control(true, false);
        OverflowSink {
            code,
            counts: A53Counts::default(),
            counters,
            levels: Levels::default(),
            stacks: Default::default(),
            current: None,
            cycles: 0,
            pending: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// Counts `times` occurrences in the cycle `cycle`, or one in each cycle from it on.
    #[inline]
    fn count(&mut self, event: A53Event, cycle: u64, times: u64) {
        let pmu = self.counters.pmu_mut();
        let counters = pmu.routes().of(event);
        pmu.increment(counters, times);
        if self.counters.pmu().overflowed() != 0 {
            self.serve(is_once_a_cycle(event), cycle, times);
        }
    }

    #[cold]
    fn serve(&mut self, is_once_a_cycle: bool, cycle: u64, times: u64) {
        let pending = &mut self.pending;
        self.counters.serve(|done| {
            for number in 0..done.samples {
                let later = done.after + (done.samples - 1 - number) * done.period;
                let passed = if is_once_a_cycle { times.saturating_sub(1 + later) } else { 0 };
                pending.push(Pending { request: done.request, cycle: cycle + passed });
            }
        });
    }

    /// Counts the cycles before `cycle`.
    #[inline]
    fn settle(&mut self, cycle: u64) {
        let (from, n) = (self.cycles, cycle.saturating_sub(self.cycles));
        if n > 0 {
            self.cycles = cycle;
            self.count(A53Event::CPU_CYCLES, from, n);
            self.count(A53Event::BUS_CYCLES, from, n);
        }
    }

    /// Gives the instruction in progress, which issued in the cycle `issued`, the samples of
    /// earlier overflows.
    #[cold]
    fn give(&mut self, issued: u64) {
        let Some(Current { code, level }) = self.current else { return };
        let callers = self.stacks[usize::from(level > 0)].callers(CALLERS_MAX);
        let samples = &mut self.samples;
        self.pending.retain(|pending| {
            let is_later = pending.cycle >= issued;
            if !is_later {
                let (request, callers) = (pending.request, callers.clone());
                samples.push(Overflow { request, pc: code.pc, level, cycle: issued, callers });
            }
            is_later
        });
    }

    /// Follows the branch of the instruction in progress to `next`.
    #[inline]
    fn follow(&mut self, next: u64) {
        let Some(Current { code, level }) = self.current else { return };
        let stack = &mut self.stacks[usize::from(level > 0)];
        match code.branch {
            BranchKind::Call | BranchKind::IndirectCall => stack.call(code.pc),
            BranchKind::Return => stack.return_to(Some(next)),
            _ => {}
        }
    }

    fn finish(mut self) -> (Vec<Overflow>, u64) {
        // The program ends before the interrupt finds another instruction.
        self.give(u64::MAX);
        (self.samples, self.cycles)
    }
}

/// Returns whether the event counts at most once in a cycle, for as many cycles as it is raised.
fn is_once_a_cycle(event: A53Event) -> bool {
    matches!(
        event,
        A53Event::CPU_CYCLES
            | A53Event::BUS_CYCLES
            | A53Event::STALL_SB_FULL
            | A53Event::OTHER_IQ_DEP_STALL
            | A53Event::IC_DEP_STALL
            | A53Event::IUTLB_DEP_STALL
            | A53Event::DECODE_DEP_STALL
            | A53Event::OTHER_INTERLOCK_STALL
            | A53Event::AGU_DEP_STALL
            | A53Event::SIMD_DEP_STALL
            | A53Event::LD_DEP_STALL
            | A53Event::ST_DEP_STALL
    )
}

impl AsRef<A53Counts> for OverflowSink<'_> {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl A53Sink for OverflowSink<'_> {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.counts.raise(event, cycle, times);
        match event {
            // The end of the run gives all cycles at once.
            A53Event::CPU_CYCLES => self.settle(times),
            A53Event::BUS_CYCLES => {}
            _ => self.count(event, cycle, times),
        }
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        // No counter can count it.
        self.counts.signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, inst: u32, cycle: u64) {
        self.settle(cycle);
        if !self.pending.is_empty() {
            self.give(cycle);
        }
        let code = self.code[inst as usize];
        self.follow(code.pc);
        self.current = Some(Current { code, level: self.levels.now().level });
    }

    fn note(&mut self, note: A53Note, cycle: u64) {
        self.settle(cycle);
        // The samples are those of the system's perf, whose counters the program does not use.
        let Some(now) = self.levels.follow(note) else { return };
        if now.level == 0 {
            self.stacks[1].clear();
        }
        self.counters.pmu_mut().set_state(PeState::from(now));
        if now.e2h {
            self.counters.kernel_is_host();
        }
    }
}

/// Result of a core whose overflows were sampled.
#[derive(Clone, Debug)]
pub struct SampledCore {
    /// The run.
    pub outcome: A53CoreOutcome,
    /// Samples, in the order of their instructions.
    pub samples: Vec<Overflow>,
    /// Cycles of the core.
    pub cycles: u64,
}

/// Failure of a run with sampling.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The run fails.
    #[error(transparent)]
    Run(#[from] A53Error),
    /// The requests need more counters.
    #[error(transparent)]
    TooMany(#[from] TooManyEvents),
}

/// Runs a trace as [`run`](crate::run) does, with a PMU on each core whose counters overflow after
/// the periods of `requests`.
///
/// # Errors
/// Those of [`run`](crate::run), and more requests than counters.
pub fn run_sampled(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
    requests: &[Sampled],
) -> Result<Vec<SampledCore>, SampleError> {
    let counters = OverflowCounters::new(pmu::new(), requests)?;
    let code = code_of(trace);
    let sink = |_| OverflowSink::new(&code, counters.clone());
    let cores = run_with_sinks(trace, config, limit, sink)?;
    let sampled = |(outcome, sink): (A53CoreOutcome, OverflowSink<'_>)| {
        let (samples, cycles) = sink.finish();
        SampledCore { outcome, samples, cycles }
    };
    Ok(cores.into_iter().map(sampled).collect())
}

fn code_of(trace: &TraceFile) -> Vec<Code> {
    let mut program = Program::new();
    let insts = trace.statics().insts().iter();
    let code = insts.map(|inst| {
        let id = program.intern(inst.pc, inst.word);
        Code { pc: inst.pc, branch: program.inst(id).branch }
    });
    code.collect()
}
