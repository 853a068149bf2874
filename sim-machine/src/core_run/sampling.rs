//! A thread in a run of sampled windows ([`crate::session::samples`]): functional warming between
//! the windows, in turns among the other threads, and the counts of each window.
//!
//! The clock of functional warming advances at a pace: what it would by itself, times the ratio of
//! cycles per instruction in the last windows of all threads to those that it had by itself, times
//! how much slower than that ratio says the thread was in its own windows. Differences by chance
//! between threads that do the same would make them wait for each other.

use super::{CoreRun, Snapshot};
use crate::error::MachineError;
use crate::functional_warming::{BlockTable, FunctionalWarming, WHOLE};
use crate::outcome::CoreOutcome;
use crate::region::RegionWatch;
use crate::run_sink::RunSink;
use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle, InstId, NullSink, PmuEvent};
use sim_isa::{Program, Special};

/// Least and largest scale of a clock, in parts of [`WHOLE`].
const SCALES: std::ops::RangeInclusive<u64> = WHOLE / 32..=WHOLE * 32;
/// Part of a sum that remains when a window is added: the last four windows have most weight.
const KEPT: f64 = 0.75;
/// Number of windows in which a thread is taken to have been as fast as all, beside its own.
const PRIOR: f64 = 8.0;

/// Cycles of windows, and those that functional warming had for them by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    measured: f64,
    warmed: f64,
}

impl Pace {
    /// Returns the ratio of the cycles; 1 without any.
    fn ratio(self) -> f64 {
        let is_known = self.measured > 0.0 && self.warmed > 0.0;
        if is_known { self.measured / self.warmed } else { 1.0 }
    }

    /// Adds the window of a thread.
    pub(crate) fn add(&mut self, window: &WindowOfThread) {
        if let Some(warmed) = window.warmed_cycles {
            self.measured += window.busy_cycles() as f64;
            self.warmed += warmed;
        }
    }

    /// Reduces the weight of the windows so far.
    pub(crate) fn age(&mut self) {
        self.measured *= KEPT;
        self.warmed *= KEPT;
    }
}

/// State of a thread between sampled windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampling {
    /// The thread is in functional warming.
    is_warming: bool,
    /// Clock after the last functional warming, which the pipeline does not have before its next
    /// instruction.
    clock: Cycle,
    /// Last instruction of functional warming, whose successor is not known yet.
    last: Option<InstId>,
    /// Cycles and instructions of functional warming, before the scale.
    warmed: (f64, f64),
    /// Cycles of all windows, and those that the pace of all threads gave for them.
    own: (f64, f64),
    /// Number of windows.
    windows: f64,
    /// Number of instructions before the open window; `None` without one.
    opened_at: Option<u64>,
    /// Cycles in which the thread waited on its core, counted or not.
    pub(super) waited: u64,
}

impl Sampling {
    /// Returns how much slower than the pace of all threads the thread was.
    fn slowness(&self) -> f64 {
        let (measured, expected) = self.own;
        if expected <= 0.0 {
            return 1.0;
        }
        let prior = PRIOR * expected / self.windows;
        (measured + prior) / (expected + prior)
    }

    /// Returns the scale of the clock. `of_all` is the pace of all threads.
    fn scale(&self, of_all: Pace) -> u64 {
        let scale = (WHOLE as f64 * of_all.ratio() * self.slowness()).round() as u64;
        scale.clamp(*SCALES.start(), *SCALES.end())
    }

    /// Learns from a window how slow the thread is. `of_window` is the pace of all threads in this
    /// window.
    fn learn(&mut self, window: &WindowOfThread, of_window: Pace) {
        if let Some(warmed) = window.warmed_cycles {
            self.own.0 += window.busy_cycles() as f64;
            self.own.1 += warmed * of_window.ratio();
            self.windows += 1.0;
        }
    }
}

/// Counts of a thread in one window.
#[derive(Clone, Debug)]
pub(crate) struct WindowOfThread {
    pub(crate) instructions: u64,
    pub(crate) counts: CoreOutcome,
    /// Cycles that functional warming has for as many instructions of the thread, by itself; `None`
    /// if it had none yet.
    warmed_cycles: Option<f64>,
}

impl WindowOfThread {
    /// Returns the cycles in which the thread did not wait for others.
    pub(crate) fn busy_cycles(&self) -> u64 {
        let cycles = self.counts.counts.raised(PmuEvent::CPU_CYCLES);
        cycles.saturating_sub(self.counts.waits.on_core)
    }
}

impl CoreRun {
    /// Returns the clock of the last functional warming; 0 without any.
    pub(super) fn warmed_until(&self) -> Cycle {
        self.sampling.as_ref().map_or(0, |sampling| sampling.clock)
    }

    /// Prepares the thread for sampled windows, before its first instruction.
    pub(crate) fn begin_sampling(&mut self) {
        self.sampling.get_or_insert_default();
    }

    /// Counts from the next instruction on.
    pub(crate) fn open_window(&mut self) {
        self.watch = RegionWatch::window(0, u64::MAX);
        self.stretch = 0;
        let done = self.done;
        self.sampling.get_or_insert_default().opened_at = Some(done);
    }

    /// Ends the window and returns its counts; `None` if the thread ran no instruction in it.
    pub(crate) fn take_window<S: RunSink>(
        &mut self,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Option<WindowOfThread> {
        if self.opened.is_some() {
            self.close(false, memory, observer);
        }
        self.watch = RegionWatch::uncounted();
        self.stretch = 0;
        let sampling = self.sampling.get_or_insert_default();
        let instructions = self.done - sampling.opened_at.take()?;
        if instructions == 0 {
            return None;
        }
        let (cycles, warmed) = sampling.warmed;
        sampling.warmed = (cycles * KEPT, warmed * KEPT);
        let warmed_cycles = (warmed > 0.0).then(|| cycles / warmed * instructions as f64);
        let window =
            WindowOfThread { instructions, counts: self.outcome(program), warmed_cycles };
        self.measured = Snapshot::default();
        self.levels.forget_totals();
        self.waits.on_core = 0;
        Some(window)
    }

    /// Learns from a window how slow the thread is beside all threads of this window.
    pub(crate) fn learn_pace(&mut self, window: &WindowOfThread, of_window: Pace) {
        self.sampling.get_or_insert_default().learn(window, of_window);
    }

    /// Returns all counts of the thread so far, those of functional warming and of warm-ups
    /// included.
    pub(crate) fn all_counts(&mut self) -> Counts {
        self.totals.counts().clone()
    }

    /// Adds all waits on the core to the result of the thread, which has ended and whose last window
    /// was taken.
    pub(crate) fn end_sampling(&mut self) {
        self.waits.on_core = self.sampling.as_ref().map_or(0, |sampling| sampling.waited);
    }

    /// Runs as [`CoreRun::advance`] does, but with functional warming. `of_all` is the pace of all
    /// threads in their windows.
    pub(crate) fn advance_warming<S: RunSink>(
        &mut self,
        (until, of_all): (Cycle, Pace),
        blocks: &BlockTable,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        if self.at >= self.batch.len() && !self.next_batch()? {
            self.end(memory, observer);
            return Ok(());
        }
        self.wait_uncounted(program);
        let begin = self.pipeline.idle_until(0, &mut NullSink);
        let sampling = self.sampling.get_or_insert_default();
        let scale = sampling.scale(of_all);
        let (core, pipeline, sink) = (self.core, &mut self.pipeline, &mut self.totals);
        let mut warming =
            FunctionalWarming::new(core, blocks, program, pipeline, memory, begin, sink)
                .continued(sampling.last, scale);
        let first = self.at;
        while self.at < self.stop && warming.now() <= until {
            let inst = &self.batch[self.at];
            warming.run_timed(inst);
            self.more_at += inst.flags.further();
            self.at += 1;
        }
        let (end, last) = warming.now_and_last();
        let ran = (self.at - first) as u64;
        sampling.is_warming = true;
        sampling.last = last;
        sampling.clock = end;
        sampling.warmed.0 += ((end - begin) * WHOLE) as f64 / scale as f64;
        sampling.warmed.1 += ran as f64;
        self.done += ran;
        self.pipeline.idle_until(end, &mut NullSink);
        for place in first..self.at {
            let id = self.batch[place].id;
            if program.inst(id).special == Special::Unknown {
                self.note_unknown(id);
            }
        }
        self.pass_exceptions();
        Ok(())
    }

    /// Runs as [`CoreRun::advance`] does, also after functional warming.
    pub(crate) fn advance_in_detail<S: RunSink>(
        &mut self,
        until: Cycle,
        program: &mut Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        let sampling = self.sampling.get_or_insert_default();
        if std::mem::take(&mut sampling.is_warming) {
            let last = sampling.last.take();
            self.stretch = 0;
            if (self.at < self.batch.len() || self.next_batch()?)
                && let Some(last) = last
            {
                let next = program.pc(self.batch[self.at].id);
                self.pipeline.learn_branch(program.pc(last), program.inst(last), next);
            }
        }
        self.advance(until, program, memory, observer)
    }

    /// Advances the clock to the end of a wait between windows.
    fn wait_uncounted(&mut self, program: &Program) {
        let until = std::mem::take(&mut self.wait);
        if until == 0 {
            return;
        }
        let from = self.cycle();
        if self.is_away(program) {
            self.waits.away += until.saturating_sub(from);
        } else {
            self.note_wait(from, until);
        }
        let end = self.pipeline.idle_until(until, &mut NullSink);
        self.sampling.get_or_insert_default().clock = end;
    }

    /// Passes the recorded exceptions before the next instruction. The level after them shows at
    /// the next one that runs.
    fn pass_exceptions(&mut self) {
        self.begins_somewhere = self.full_system;
        while self.exception_at as usize <= self.at {
            self.events_seen += 1;
            self.find_exception();
        }
    }
}
