//! Counts several windows of a trace on one machine, one after the other.
//!
//! The pipeline is idle between windows. Far from the next window, only the last access to each
//! line goes through the memory system. Close to it, functional warming runs. Instead of both, a
//! window can start in a saved state. The last instructions before each window run uncounted.

use super::Session;
use super::thread_windows::{FileStates, WarmedStates};
use crate::code::Code;
use crate::core_run::CoreRun;
use crate::erratum::Erratum;
use crate::error::MachineError;
use crate::functional_warming::{BlockTable, visit_state};
use crate::last_access::LastAccesses;
use crate::outcome::Outcome;
use crate::region::RegionWatch;
use crate::run_sink::Unobserved;
use crate::single_thread::only_thread;
use crate::threads::Reads;
use sim_cache::MemorySystem;
use sim_core::{Cycle, StateSaver};
use sim_trace::{StatePlace, StatesError, StatesReader};

/// A counted part of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of instructions before the window.
    pub begin: u64,
    /// Length of the window in instructions.
    pub length: u64,
    /// Number of instructions before the window that run uncounted; fewer at the start of the
    /// trace.
    pub warmup: u64,
    /// Number of instructions of functional warming before the warm-up.
    pub functional_warmup: u64,
}

impl Window {
    /// Returns the position of the first instruction of the warm-up.
    pub fn first_run(&self) -> u64 {
        self.begin.saturating_sub(self.warmup)
    }

    /// Returns the number of instructions of the warm-up and the window.
    pub fn instructions(&self) -> u64 {
        self.begin - self.first_run() + self.length
    }

    /// Returns true if `place` is the end of the block that reaches the warm-up.
    fn has_place(&self, place: &StatePlace) -> bool {
        let begin = self.first_run();
        (begin..=begin.saturating_add(u16::MAX.into())).contains(&place.position)
    }
}

impl Session {
    /// Runs windows in trace order, without overlap, and returns an outcome for each. `progress`
    /// receives the position in the trace at intervals. The result is deterministic.
    ///
    /// Windows of several threads are parts of a run of all of them. Each begins after functional
    /// warming of everything before it.
    ///
    /// # Errors
    /// If the trace is damaged, or if threads share cores.
    pub fn run_windows(
        &self,
        windows: &[Window],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        if self.has_threads() {
            return self.run_thread_windows(windows, &mut WarmedStates::new(self)?, "", progress);
        }
        let mut bench = Bench::new(self)?;
        let mut accesses = LastAccesses::new(self.trace.statics(), &bench.program);
        let blocks = BlockTable::new(self.trace.statics(), &bench.program);
        let mut outcomes = Vec::with_capacity(windows.len());
        for window in windows {
            let begin = window.first_run();
            let warm_from = begin.saturating_sub(window.functional_warmup);
            let Bench { program, memory, core } = &mut bench;
            core.skip_to(begin, warm_from, &blocks, &mut accesses, program, memory)?;
            outcomes.push(bench.count(self, window.begin, window.length, progress)?);
        }
        Ok(outcomes)
    }

    /// Runs windows, each in its saved state, which the caller has checked to be of this machine.
    /// `skipped` is the number of states before that of the first window.
    ///
    /// # Errors
    /// As [`Session::run_windows`], or if the states are damaged.
    pub fn run_windows_in_states(
        &self,
        windows: &[Window],
        states: &mut StatesReader,
        skipped: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        let file = states.file().to_owned();
        let damaged = |number: usize, what| StatesError::Damaged {
            file: file.clone(),
            place: format!("state {number}"),
            what,
        };
        let mut bench = if self.has_threads() { None } else { Some(Bench::new(self)?) };
        let words = match &mut bench {
            Some(bench) => bench.words(self),
            None => self.words_of_threads()?,
        };
        if states.header().words != words {
            return Err(damaged(1, "it is not as large as those of this machine").into());
        }
        for number in 1..=skipped {
            // A state is a difference from the one before it.
            states.next_state()?.ok_or_else(|| damaged(number, "it is missing"))?;
        }
        let Some(mut bench) = bench else {
            let states = &mut FileStates { states, passed: skipped };
            return self.run_thread_windows(windows, states, &file, progress);
        };
        let mut outcomes = Vec::with_capacity(windows.len());
        for (window, number) in windows.iter().zip(skipped + 1..) {
            let (place, words) =
                states.next_state()?.ok_or_else(|| damaged(number, "it is missing"))?;
            let wrong = || damaged(number, "its place is not one of this trace");
            if !window.has_place(&place) {
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

/// A machine that runs one window after another.
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
        let core = session.core(0, stream, watch, Reads::Here)?;
        let memory = session.memory_of_one()?;
        Ok(Bench { program, memory, core })
    }

    /// Returns the size of the machine's warm state in words.
    fn words(&mut self, session: &Session) -> u64 {
        self.core.reserve_insts(session.trace.statics().insts().len());
        let mut taker = StateSaver::default();
        visit_state(&mut self.memory, &mut self.core, &mut taker);
        taker.words.len() as u64
    }

    /// Runs the warm-up, then counts a window of `length` instructions at `begin`.
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
        // A plain run has an observer of this type, so that both share one compiled copy.
        let observer = &mut Erratum { has_erratum: false, observer: &mut Unobserved::default() };
        while !core.ended() {
            core.advance(Cycle::MAX, program, memory, observer)?;
            progress(core.position());
        }
        let mesh = memory.take_mesh_counts();
        Ok(session.outcome(vec![core.outcome(program)], mesh, Vec::new()))
    }
}
