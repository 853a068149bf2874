//! Counts windows at random places of a run of all threads, with functional warming between them
//! (time-based sampling: Carlson, Heirman and Eeckhout, ISPASS 2013).
//!
//! All threads go on together, in the order that the scheduler demands. Between two windows each
//! has functional warming, at the pace that it had in the last windows. So a window begins at a
//! place of each thread that they reach at the same modeled time, and what one has to wait for has
//! happened.

use super::Session;
use crate::code::Code;
use crate::core_run::{Pace, WindowOfThread};
use crate::erratum::Erratum;
use crate::error::MachineError;
use crate::functional_warming::BlockTable;
use crate::outcome::{CoreOutcome, Outcome};
use crate::region::{RegionWatch, RunOptions};
use crate::run_sink::Unobserved;
use crate::thread_scheduler::ThreadScheduler;
use crate::threads::{Ended, Reads, Threads};
use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle};
use std::collections::VecDeque;

/// Cycles that a thread runs in functional warming before another one, unless one waits for it.
const TURN: Cycle = 500;

/// A part of a run, by the instructions of all threads together, and the window in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Number of instructions of all threads before it.
    pub begin: u64,
    /// Number of instructions before its window; at least `begin`.
    pub window: u64,
    /// Length of the window in instructions of all threads. The window ends in the stretch.
    pub length: u64,
    /// Number of instructions before the window that run in detail and uncounted; fewer after
    /// another window.
    pub warmup: u64,
}

/// Part of a thread in one stretch.
#[derive(Clone, Debug, Default)]
pub struct ThreadStretch {
    /// Instructions of the thread in the stretch.
    pub instructions: u64,
    /// Instructions of the thread in the window.
    pub counted: u64,
    /// Counts of the window; `None` if the thread ran no instruction in it.
    pub window: Option<CoreOutcome>,
}

/// Counts of windows of a run.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The run: its header, and for each thread the instructions, the unknown words and the waits,
    /// those on the core uncounted ones included. It has no counts.
    pub run: Outcome,
    /// Counts of each core in all that it ran: functional warming, warm-ups and windows.
    pub known: Vec<Counts>,
    /// Threads of each stretch, in the order of the cores of the run.
    pub stretches: Vec<Vec<ThreadStretch>>,
}

impl Session {
    /// Runs the whole trace with windows in these stretches, which ascend without overlap.
    /// `progress` receives the number of instructions run so far at intervals. The result is
    /// deterministic. A single window over everything counts what [`Session::run`] counts.
    ///
    /// # Errors
    /// If the trace is damaged, or if code, readers, cores or results of ended threads exceed the
    /// memory budget.
    pub fn run_samples(
        &self,
        stretches: &[Stretch],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Samples, MachineError> {
        let mut sampler = Sampler::new(self, stretches)?;
        while sampler.turn()? {
            progress(sampler.threads.done());
        }
        sampler.finish()
    }
}

/// What happens at a place of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A stretch begins.
    Begin,
    /// All threads go on in detail.
    Detail,
    /// The window begins.
    Open,
    /// The window ends, and functional warming begins.
    Close,
}

/// Returns the steps of a run in their order, each with the number of instructions before it.
fn steps(stretches: &[Stretch]) -> VecDeque<(u64, Step)> {
    let (mut steps, mut after) = (VecDeque::new(), 0);
    for stretch in stretches {
        let detail = stretch.window.saturating_sub(stretch.warmup).max(after);
        let begin = [(stretch.begin, Step::Begin), (detail, Step::Detail)];
        let is_early = detail < stretch.begin;
        steps.extend(if is_early { [begin[1], begin[0]] } else { begin });
        after = stretch.window.saturating_add(stretch.length);
        steps.extend([(stretch.window, Step::Open), (after, Step::Close)]);
    }
    steps
}

/// A run with windows.
struct Sampler<'s> {
    session: &'s Session,
    threads: Threads<'s>,
    scheduler: Option<ThreadScheduler<'s>>,
    program: Code,
    memory: MemorySystem,
    blocks: BlockTable,
    /// Steps to come.
    steps: VecDeque<(u64, Step)>,
    is_detailed: bool,
    is_open: bool,
    /// Pace of all threads in their windows.
    pace: Pace,
    /// Counts of the ended threads, in functional warming and in detail.
    known: Vec<Counts>,
    stretches: Vec<Vec<ThreadStretch>>,
    /// Instructions of each thread before the current stretch.
    before: Vec<u64>,
}

impl<'s> Sampler<'s> {
    fn new(session: &'s Session, stretches: &[Stretch]) -> Result<Sampler<'s>, MachineError> {
        let program = session.program()?;
        let blocks = BlockTable::new(session.trace.statics(), &program);
        let threads =
            Threads::new(session, session.running(), RegionWatch::uncounted(), Reads::Here)?;
        let memory = session.memory(threads.len())?;
        let scheduler = ThreadScheduler::of(
            &session.trace,
            session.config.threads.order,
            &RunOptions::default(),
            threads.streams(),
            threads.start(),
        )?;
        Ok(Sampler {
            session,
            before: vec![0; threads.len()],
            known: vec![Counts::default(); threads.len()],
            threads,
            scheduler,
            program,
            memory,
            blocks,
            steps: steps(stretches),
            is_detailed: false,
            is_open: false,
            pace: Pace::default(),
            stretches: Vec::with_capacity(stretches.len()),
        })
    }

    /// Takes the steps that are due, then lets one thread run. Returns false once all have ended.
    fn turn(&mut self) -> Result<bool, MachineError> {
        while let Some((place, step)) = self.steps.front().copied()
            && place <= self.threads.done()
        {
            self.steps.pop_front();
            self.take(step);
        }
        let left = self.steps.front().map_or(u64::MAX, |(place, _)| place - self.threads.done());
        let Some((first, until)) = self.choose(left)? else { return Ok(false) };
        let Sampler { program, memory, blocks, threads, .. } = self;
        // A plain run has an observer of this type, so that both share one compiled copy.
        let observer = &mut Erratum { has_erratum: false, observer: &mut Unobserved::default() };
        let core = threads.core(first, memory)?;
        let before = core.done();
        if self.is_detailed {
            core.advance_in_detail(until, program, memory, observer)?;
        } else {
            core.advance_warming((until, self.pace), blocks, program, memory, observer)?;
        }
        let (more, state) = (core.done() - before, core.state());
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.ran(first, state);
        }
        if state.ended {
            let window = core.take_window(program, memory, observer);
            core.end_sampling();
            self.known[first] = core.all_counts();
            self.keep(first, window);
        }
        self.threads.ran(first, more, &self.program, &mut self.memory)?;
        Ok(true)
    }

    /// Chooses the thread to run next, and the cycle up to which it may run. It runs at most `left`
    /// instructions.
    fn choose(&mut self, left: u64) -> Result<Option<(usize, Cycle)>, MachineError> {
        let (thread, until, hold_at, wait, is_passing) = match &mut self.scheduler {
            None => {
                let Some((thread, until)) = self.threads.take_lowest() else { return Ok(None) };
                (thread, until, u64::MAX, 0, false)
            }
            Some(scheduler) => {
                let Some(choice) = scheduler.choose()? else { return Ok(None) };
                let is_passing = scheduler.is_passing();
                (choice.thread, choice.until, choice.hold_at, choice.wait, is_passing)
            }
        };
        let is_new = self.threads.is_new(thread);
        let core = self.threads.core(thread, &mut self.memory)?;
        if is_new {
            core.begin_sampling();
            if self.is_open {
                core.open_window();
            }
        }
        core.hold(hold_at.min(core.position().saturating_add(left)), wait);
        let turn = core.cycle().max(wait).saturating_add(TURN);
        let until = if self.is_detailed || is_passing { until } else { until.max(turn) };
        Ok(Some((thread, until)))
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Begin => self.begin_stretch(),
            Step::Detail => self.is_detailed = true,
            Step::Open => {
                self.is_open = true;
                self.threads.all_running().for_each(|(_, core)| core.open_window());
            }
            Step::Close => self.close(),
        }
    }

    fn begin_stretch(&mut self) {
        self.end_stretch();
        self.stretches.push(vec![ThreadStretch::default(); self.threads.len()]);
    }

    /// Notes the instructions of the threads in the current stretch.
    fn end_stretch(&mut self) {
        for (number, before) in self.before.iter_mut().enumerate() {
            let done = self.threads.done_by(number);
            let more = done - std::mem::replace(before, done);
            if let Some(stretch) = self.stretches.last_mut() {
                stretch[number].instructions = more;
            }
        }
    }

    fn close(&mut self) {
        (self.is_open, self.is_detailed) = (false, false);
        let observer = &mut Erratum { has_erratum: false, observer: &mut Unobserved::default() };
        let Sampler { program, memory, threads, .. } = self;
        let windows: Vec<_> = threads
            .all_running()
            .filter_map(|(number, core)| {
                core.take_window(program, memory, observer).map(|window| (number, window))
            })
            .collect();
        let mut of_window = Pace::default();
        windows.iter().for_each(|(_, window)| of_window.add(window));
        for (number, core) in threads.all_running() {
            if let Ok(place) = windows.binary_search_by_key(&number, |(number, _)| *number) {
                core.learn_pace(&windows[place].1, of_window);
            }
        }
        self.pace.age();
        windows.into_iter().for_each(|(number, window)| self.keep(number, Some(window)));
    }

    /// Keeps the window of a thread in the current stretch.
    fn keep(&mut self, thread: usize, window: Option<WindowOfThread>) {
        if let (Some(window), Some(stretch)) = (window, self.stretches.last_mut()) {
            self.pace.add(&window);
            stretch[thread].counted = window.instructions;
            stretch[thread].window = Some(window.counts);
        }
    }

    fn finish(mut self) -> Result<Samples, MachineError> {
        self.end_stretch();
        let (ended, _kept) = self.threads.finish();
        let mut cores: Vec<CoreOutcome> = ended.into_iter().map(Ended::into_outcome).collect();
        cores.iter_mut().for_each(|core| core.is_counted = true);
        let mesh = self.memory.take_mesh_counts();
        let run = self.session.outcome(cores, mesh, Vec::new());
        Ok(Samples { run, known: self.known, stretches: self.stretches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_may_begin_in_the_stretch_before_but_not_in_its_window() {
        let stretch =
            |begin, window| Stretch { begin, window, length: 10, warmup: 20 };
        let found = Vec::from(steps(&[stretch(0, 0), stretch(100, 105), stretch(200, 290), stretch(300, 305)]));
        let expected = [
            (0, Step::Begin),
            (0, Step::Detail),
            (0, Step::Open),
            (10, Step::Close),
            (85, Step::Detail),
            (100, Step::Begin),
            (105, Step::Open),
            (115, Step::Close),
            (200, Step::Begin),
            (270, Step::Detail),
            (290, Step::Open),
            (300, Step::Close),
            (300, Step::Begin),
            (300, Step::Detail),
            (305, Step::Open),
            (315, Step::Close),
        ];
        assert_eq!(found, expected);
    }
}
