//! Parts of a trace, each counted for itself, on one machine that goes from one to the next.
//!
//! Between two parts the pipeline stands still. Of what is far from the next part only the last touch of each line
//! goes through the memory system; what is near goes through caches, TLBs, prefetchers and branch predictors in
//! order. Or the way to a part is not gone at all, and it begins in a state that was kept of it. The last
//! instructions in front of each part run without being counted.

use super::Session;
use crate::approach::{Places, show_state};
use crate::code::Code;
use crate::core_run::CoreRun;
use crate::error::MachineError;
use crate::estimate::{Estimate, Machine};
use crate::outcome::Outcome;
use crate::region::RegionWatch;
use crate::regions::{Region, Regions, only_thread};
use crate::touches::Touches;
use sim_cache::MemorySystem;
use sim_core::{Cycle, NullSink, Taker};
use sim_trace::{StatesError, StatesReader};

/// A part of a thread that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Instructions before it.
    pub begin: u64,
    /// Its instructions.
    pub length: u64,
    /// Instructions in front of it that run and are not counted, if there are so many.
    pub warmup: u64,
    /// Instructions in front of those that go through caches, TLBs, prefetchers and branch predictors in order.
    pub lesson: u64,
}

impl Session {
    /// Runs windows, which come in the order of the trace and do not overlap; an outcome for each.
    /// `progress` hears now and then how far in the trace it is. Random choices, and so the result, are the
    /// same each time.
    ///
    /// # Errors
    /// If the trace is damaged, or has instructions of several threads.
    pub fn run_windows(
        &self,
        windows: &[Window],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        let mut bench = Bench::new(self)?;
        let mut touches = Touches::new(self.trace.statics(), &bench.program);
        let places = Places::new(self.trace.statics(), &bench.program);
        let mut outcomes = Vec::with_capacity(windows.len());
        for window in windows {
            let begin = window.begin.saturating_sub(window.warmup);
            let learn_from = begin.saturating_sub(window.lesson);
            let Bench { program, memory, core } = &mut bench;
            core.skip_to(begin, learn_from, &places, &mut touches, program, memory)?;
            outcomes.push(bench.count(self, window.begin, window.length, progress)?);
        }
        Ok(outcomes)
    }

    /// Runs the windows of a file, each behind its lesson or in its state, and says what they tell of the whole
    /// trace; nothing without a window. Of states [`Regions::fit_states`] says first whether they are of this machine.
    ///
    /// # Errors
    /// As [`Session::run_windows`], or if the states are damaged.
    pub fn run_regions(
        &self,
        regions: &Regions,
        states: Option<&mut StatesReader>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Estimate>, MachineError> {
        let machine = Machine { warm: self.config.warm_hash(), is_warm: states.is_some() };
        let outcomes = match states {
            Some(states) => self.run_warm(regions, states, progress)?,
            None => self.run_windows(&windows(regions), progress)?,
        };
        Ok(Estimate::new(&outcomes, regions, machine))
    }

    /// Runs windows, each in its state.
    fn run_warm(
        &self,
        regions: &Regions,
        states: &mut StatesReader,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        let mut bench = Bench::new(self)?;
        bench.core.reserve_insts(self.trace.statics().insts().len());
        let file = states.file().to_owned();
        let damaged = |number: usize, what| StatesError::Damaged {
            file: file.clone(),
            place: format!("state {number}"),
            what,
        };
        if states.header().words != bench.words() {
            return Err(damaged(1, "it is not as large as those of this machine").into());
        }
        let mut outcomes = Vec::with_capacity(regions.windows.len());
        for (window, number) in regions.windows.iter().zip(1..) {
            let (place, words) =
                states.next_state()?.ok_or_else(|| damaged(number, "it is missing"))?;
            let wrong = || damaged(number, "its place is not one of this trace");
            if !window.has_place(regions.warmup, &place) {
                return Err(wrong().into());
            }
            if place.position > bench.core.position() {
                let reader = self.trace.reader_at(bench.core.stream(), place.position)?;
                let Bench { program, memory, core } = &mut bench;
                core.jump_to(reader, &place, words, program, memory)?.ok_or_else(wrong)?;
            }
            outcomes.push(bench.count(self, window.begin, window.length, progress)?);
        }
        Ok(outcomes)
    }
}

/// The windows of a file, each behind its lesson.
fn windows(regions: &Regions) -> Vec<Window> {
    let window = |one: &Region| Window {
        begin: one.begin,
        length: one.length,
        warmup: regions.warmup,
        lesson: regions.lesson,
    };
    regions.windows.iter().map(window).collect()
}

/// The machine that goes from window to window.
struct Bench {
    program: Code,
    memory: MemorySystem,
    core: CoreRun,
}

impl Bench {
    fn new(session: &Session) -> Result<Bench, MachineError> {
        let program = session.program()?;
        let stream = only_thread(&session.trace)?.stream;
        let watch =
            RegionWatch::new(&Default::default(), session.trace.meta(), &session.header.trace)?;
        let core = session.core(0, stream, watch, false)?;
        let memory = session.memory_of_one()?;
        Ok(Bench { program, memory, core })
    }

    /// Words of its state.
    fn words(&mut self) -> u64 {
        let mut taker = Taker::default();
        show_state(&mut self.memory, &mut self.core, &mut taker);
        taker.words.len() as u64
    }

    /// Runs to the begin of a window, and counts the window.
    fn count(
        &mut self,
        session: &Session,
        begin: u64,
        length: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Outcome, MachineError> {
        let Bench { program, memory, core } = self;
        let warmup = begin.saturating_sub(core.position());
        core.begin_window(RegionWatch::window(warmup, length));
        while !core.ended() {
            core.advance(Cycle::MAX, program, memory, &mut NullSink)?;
            progress(core.position());
        }
        Ok(session.outcome(vec![core.outcome(program)], Vec::new()))
    }
}
