//! Counts windows of a trace of several threads: all threads run in detail from their places in a
//! cut on, in the order of the scheduler.
//!
//! A window begins in the state of functional warming of all threads at the cut
//! ([`ThreadWarming`]), from a file of states or made on the way. The pipelines keep what only they
//! have from the previous window.

use super::Session;
use super::windows::Window;
use crate::code::Code;
use crate::core_run::CoreRun;
use crate::erratum::Erratum;
use crate::error::MachineError;
use crate::outcome::{CoreOutcome, Outcome};
use crate::region::RegionWatch;
use crate::run_sink::{RunSink, Unobserved};
use crate::thread_cut::Cut;
use crate::thread_scheduler::{FirstTwo, ThreadScheduler, ThreadState, turn_end};
use crate::thread_warming::{ANSWERS, ThreadWarming, WAITS};
use crate::threads::{PIPELINE_BYTES, Reads};
use sim_cache::MemorySystem;
use sim_core::{Cycle, NullSink, Reserved, StateLoader, StateSaver, WarmState};
use sim_pipeline::Pipeline;
use sim_trace::{StatesError, StatesReader, StreamInfo, TraceError};

/// Latest cycle of a state; well below the largest clock value.
const LATEST: Cycle = 1 << 40;
/// Longest distance of a thread's clock from the first one in a state, in cycles.
const FARTHEST: Cycle = 1 << 30;
/// Cycles between two windows, in which all requests of the first one end.
const GAP: Cycle = 10_000;

/// Source of the states in which windows begin.
pub(super) trait States {
    /// Returns the state of a window: the words of its cut and of the machine.
    fn next_state(&mut self, window: &Window) -> Result<&[u64], MachineError>;
}

/// Functional warming of everything before each window.
pub(super) struct WarmedStates<'s> {
    warming: ThreadWarming<'s>,
    words: Vec<u64>,
}

impl<'s> WarmedStates<'s> {
    pub(super) fn new(session: &'s Session) -> Result<WarmedStates<'s>, MachineError> {
        Ok(WarmedStates { warming: ThreadWarming::new(session)?, words: Vec::new() })
    }
}

impl States for WarmedStates<'_> {
    fn next_state(&mut self, window: &Window) -> Result<&[u64], MachineError> {
        let needed = window.first_run();
        self.warming.run_to(needed, &mut |_, _| {})?;
        if self.warming.done() < needed {
            return Err(self.warming.ends_before(needed));
        }
        self.warming.save(window.instructions(), &mut self.words)?;
        Ok(&self.words)
    }
}

/// States of a file.
pub(super) struct FileStates<'a> {
    pub(super) states: &'a mut StatesReader,
    /// Number of states before the next one.
    pub(super) passed: usize,
}

impl States for FileStates<'_> {
    fn next_state(&mut self, window: &Window) -> Result<&[u64], MachineError> {
        self.passed += 1;
        let (file, number) = (self.states.file().to_owned(), self.passed);
        let damaged = |what| damaged(&file, number, what).into();
        match self.states.next_state()? {
            None => Err(damaged("it is missing")),
            Some((place, _)) if place.position != window.first_run() => Err(damaged(WRONG_PLACE)),
            Some((_, words)) => Ok(words),
        }
    }
}

/// Damage of a state whose place the trace does not have.
const WRONG_PLACE: &str = "its place is not one of this trace";

fn damaged(file: &str, number: usize, what: &'static str) -> StatesError {
    StatesError::Damaged { file: file.to_owned(), place: format!("state {number}"), what }
}

impl Session {
    /// Runs windows of all threads, each in the next state of `states`. `file` names the states in
    /// messages.
    pub(super) fn run_thread_windows(
        &self,
        windows: &[Window],
        states: &mut impl States,
        file: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        let mut bench = Bench::new(self)?;
        let mut outcomes = Vec::with_capacity(windows.len());
        for (window, number) in windows.iter().zip(1..) {
            let words = states.next_state(window)?;
            let wrong = || damaged(file, number, WRONG_PLACE);
            let run = bench.begin(window, words)?.ok_or_else(wrong)?;
            outcomes.push(run.count(window, progress)?);
        }
        Ok(outcomes)
    }

    /// Returns the number of words of a state of all threads.
    pub(super) fn words_of_threads(&self) -> Result<u64, MachineError> {
        let mut bench = Bench::new(self)?;
        let (mut memory, _reserved) = self.memory_of_all(true)?;
        let mut saver = StateSaver::default();
        memory.visit(&mut saver);
        bench.pipelines.iter_mut().flatten().for_each(|pipeline| pipeline.visit(&mut saver));
        Ok((saver.words.len() + Cut::words(bench.streams.len()) + WAITS) as u64)
    }

    /// Creates the memory of all threads with instructions, each on a core of its own. The cores
    /// are awake or wait for their first use.
    ///
    /// # Errors
    /// If the memory budget has no room for the cores.
    pub(crate) fn memory_of_all(
        &self,
        awake: bool,
    ) -> Result<(MemorySystem, Reserved), MachineError> {
        let count = self.running_streams().count();
        let mut memory = self.memory(count)?;
        let bytes = (memory.core_bytes() + PIPELINE_BYTES) * count as u64;
        let reserved = self.trace.budget().reserve(bytes, "the cores of all threads");
        let path = || self.trace.path().to_owned();
        let reserved = reserved.map_err(|problem| TraceError::Memory { path: path(), problem })?;
        (0..count).filter(|_| awake).for_each(|core| memory.wake(core));
        Ok((memory, reserved))
    }

    /// Returns the streams that have instructions.
    pub(crate) fn running_streams(&self) -> impl Iterator<Item = &StreamInfo> {
        self.trace.streams().iter().filter(|stream| stream.instructions > 0)
    }

    /// Refuses threads that share cores, and processors of a system.
    ///
    /// # Errors
    /// If the threads of the session are of one of these kinds.
    pub fn check_thread_windows(&self) -> Result<(), MachineError> {
        let processors = self.running_streams().count();
        if self.trace.meta().machine.full_system && processors > 1 {
            let trace = self.header.trace.clone();
            return Err(MachineError::SystemWindows { trace, processors });
        }
        if !self.shares_cores() {
            return Ok(());
        }
        let (trace, cores) = (self.header.trace.clone(), self.config.threads.cores);
        Err(MachineError::SharedWindows { trace, cores })
    }
}

/// Machines of windows, one after the other.
struct Bench<'s> {
    session: &'s Session,
    program: Code,
    streams: Vec<&'s StreamInfo>,
    /// Pipelines of the cores that do not run.
    pipelines: Vec<Option<Pipeline>>,
    /// Cycle in which the next window may begin.
    clock: Cycle,
}

impl<'s> Bench<'s> {
    fn new(session: &'s Session) -> Result<Bench<'s>, MachineError> {
        session.check_thread_windows()?;
        let streams: Vec<_> = session.running_streams().collect();
        Ok(Bench {
            program: session.program()?,
            pipelines: streams.iter().map(|_| Some(session.reserved_pipeline())).collect(),
            streams,
            session,
            clock: 0,
        })
    }

    /// Sets all cores to a state. Returns `None` if it has a place that the trace does not have.
    fn begin(
        &mut self,
        window: &Window,
        words: &[u64],
    ) -> Result<Option<WindowRun<'_, 's>>, MachineError> {
        let count = self.streams.len();
        let (cut, words) = words.split_at(Cut::words(count).min(words.len()));
        let (waits, words) = words.split_at(WAITS.min(words.len()));
        let cut = Cut::load(cut);
        let fits = |(stream, place): (&&StreamInfo, &crate::thread_cut::Place)| {
            place.position <= stream.instructions
        };
        if cut.places.len() != count
            || cut.instructions() != window.first_run()
            || !self.streams.iter().zip(&cut.places).all(fits)
        {
            return Ok(None);
        }
        let (mut memory, reserved) = self.session.memory_of_all(window.first_run() > 0)?;
        if window.first_run() > 0 {
            let mut loader = StateLoader::new(words);
            memory.visit(&mut loader);
            self.pipelines.iter_mut().flatten().for_each(|pipeline| pipeline.visit(&mut loader));
        } else {
            // Nothing ran before.
            self.pipelines.fill_with(|| Some(self.session.reserved_pipeline()));
        }
        self.start(&cut, waits, memory, reserved)
    }

    /// Creates the threads of a window at their places in the cut.
    fn start(
        &mut self,
        cut: &Cut,
        waits: &[u64],
        mut memory: MemorySystem,
        reserved: Reserved,
    ) -> Result<Option<WindowRun<'_, 's>>, MachineError> {
        let session = self.session;
        // Lines of a state have the cycles of their refills, which must not be in the future.
        let begin = match cut.instructions() {
            0 => session.pipeline().cycle(),
            _ => self.clock.max(cut.now.min(LATEST)),
        };
        let (mut cores, mut states, mut delays) = (Vec::new(), Vec::new(), Vec::new());
        let at = |cycle: Cycle| begin + cycle.saturating_sub(cut.now).min(FARTHEST);
        for (i, (place, stream)) in cut.places.iter().zip(&self.streams).enumerate() {
            let cycle = at(place.cycle);
            delays.extend((at(place.ready) > cycle).then(|| (i, at(place.ready))));
            let ended = place.position == stream.instructions;
            let has_begun = place.position > 0;
            states.push(ThreadState { ended, position: place.position, cycle });
            cores.push(None);
            if ended {
                memory.release(i);
                continue;
            }
            let Some(pipeline) = self.pipelines[i].take() else { continue };
            let mut core = session.core_of(i, stream.stream, pipeline)?;
            if has_begun {
                let reader = session.trace.reader_at(stream.stream, place.position)?;
                if core.begin_at(reader, place, cycle, &self.program)?.is_none() {
                    return Ok(None);
                }
            }
            cores[i] = Some(Box::new(core));
        }
        let streams = self.streams.iter().map(|stream| stream.stream);
        let order = session.config.threads;
        let loaded = ThreadScheduler::load(&session.trace, order, streams, states.clone(), waits)?;
        let Some(mut scheduler) = loaded else { return Ok(None) };
        if let Some(scheduler) = &mut scheduler {
            delays.into_iter().for_each(|(thread, until)| scheduler.delay(thread, until));
        }
        let outcome =
            |stream: &&StreamInfo| CoreOutcome { stream: stream.stream, ..Default::default() };
        let outcomes = self.streams.iter().map(outcome).collect();
        let uncounted = vec![0; self.streams.len()];
        Ok(Some(WindowRun {
            bench: self,
            memory,
            cores,
            states,
            scheduler,
            uncounted,
            outcomes,
            done: 0,
            is_open: false,
            _memory: reserved,
        }))
    }
}

/// A window that runs.
struct WindowRun<'b, 's> {
    bench: &'b mut Bench<'s>,
    memory: MemorySystem,
    /// The threads; `None` for one that has ended.
    cores: Vec<Option<Box<CoreRun>>>,
    states: Vec<ThreadState>,
    scheduler: Option<ThreadScheduler<'s>>,
    outcomes: Vec<CoreOutcome>,
    /// Number of instructions of each thread before counting began.
    uncounted: Vec<u64>,
    /// Number of instructions of all threads so far.
    done: u64,
    is_open: bool,
    _memory: Reserved,
}

impl WindowRun<'_, '_> {
    /// Runs the warm-up, counts the window and returns its counts.
    fn count(
        mut self,
        window: &Window,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Outcome, MachineError> {
        // A plain run has an observer of this type, so that both share one compiled copy.
        let observer = &mut Erratum { has_erratum: false, observer: &mut Unobserved::default() };
        self.run_to(window.begin - window.first_run(), observer)?;
        self.open(observer);
        self.run_to(window.begin - window.first_run() + window.length, observer)?;
        self.close(observer);
        progress(window.begin + window.length);
        let mesh = self.memory.take_mesh_counts();
        Ok(self.bench.session.outcome(self.outcomes, mesh, Vec::new()))
    }

    /// Runs until the threads have run `to` instructions together, or all have ended.
    fn run_to<S: RunSink>(&mut self, to: u64, observer: &mut S) -> Result<(), MachineError> {
        while self.done < to {
            let Some((thread, until, hold_at, wait)) = self.choose()? else { return Ok(()) };
            let Some(core) = &mut self.cores[thread] else { return Ok(()) };
            let program = &mut self.bench.program;
            self.memory.wake(thread);
            let before = core.done();
            core.hold(hold_at.min(core.position().saturating_add(to - self.done)), wait);
            core.advance(until, program, &mut self.memory, observer)?;
            self.done += core.done() - before;
            self.states[thread] = core.state();
            if let Some(scheduler) = &mut self.scheduler {
                scheduler.ran(thread, self.states[thread]);
            }
            if self.states[thread].ended {
                self.end(thread);
            }
        }
        Ok(())
    }

    /// Returns the thread to run next, the clock up to which it may run, the first instruction that
    /// may not run, and the end of its wait.
    fn choose(&mut self) -> Result<Option<(usize, Cycle, u64, Cycle)>, MachineError> {
        if let Some(scheduler) = &mut self.scheduler {
            let chosen = scheduler.choose()?;
            return Ok(chosen.map(|one| (one.thread, one.until, one.hold_at, one.wait)));
        }
        let mut order = FirstTwo::default();
        let threads = self.states.iter().enumerate();
        threads.filter(|(_, one)| !one.ended).for_each(|(i, one)| order.add((one.cycle, i)));
        let turn = |(_, thread)| (thread, turn_end(thread, order.second), u64::MAX, 0);
        Ok(order.first.map(turn))
    }

    /// Takes the results of a thread that has ended, and its pipeline.
    fn end(&mut self, thread: usize) {
        if let Some(core) = self.cores[thread].take() {
            let outcome = core.outcome(&self.bench.program);
            let instructions = match self.is_open {
                true => outcome.instructions - self.uncounted[thread],
                false => 0,
            };
            self.outcomes[thread] = CoreOutcome { instructions, ..outcome };
            self.bench.clock = self.bench.clock.max(core.cycle() + GAP);
            self.bench.pipelines[thread] = Some(core.into_pipeline(&mut self.memory));
            self.memory.release(thread);
        }
    }

    /// Makes all cores answer the snoops that wait for them.
    fn answer_snoops(&mut self) {
        for _ in 0..ANSWERS {
            let begun = self.cores.iter_mut().flatten().filter(|core| core.position() > 0);
            begun.for_each(|core| core.answer_snoops(&mut self.memory));
            if !self.memory.has_snoops() {
                return;
            }
        }
    }

    /// Returns the cycle in which the next instruction begins.
    fn now(&self) -> Cycle {
        let left = self.states.iter().enumerate().filter(|(_, one)| !one.ended);
        let ready = left.filter_map(|(i, one)| match &self.scheduler {
            Some(scheduler) => scheduler.ready(i),
            None => Some(one.cycle),
        });
        ready.min().unwrap_or(0)
    }

    /// Begins to count.
    fn open<S: RunSink>(&mut self, observer: &mut S) {
        self.answer_snoops();
        let from = self.now();
        self.is_open = true;
        let done = |core: &Option<Box<CoreRun>>| core.as_ref().map_or(0, |core| core.done());
        self.uncounted = self.cores.iter().map(done).collect();
        let program = &self.bench.program;
        for core in self.cores.iter_mut().flatten() {
            match core.position() {
                0 => core.watch(RegionWatch::window(0, u64::MAX)),
                _ => core.open_at(from, program, &mut self.memory, observer),
            }
        }
    }

    /// Ends counting and takes the results of all threads.
    fn close<S: RunSink>(&mut self, observer: &mut S) {
        self.answer_snoops();
        let until = self.now();
        for thread in 0..self.cores.len() {
            if let Some(core) = &mut self.cores[thread] {
                if core.position() > 0 {
                    core.close_at(until, &self.bench.program, &mut self.memory, observer);
                }
                self.memory.wake(thread);
                self.end(thread);
            }
        }
        self.bench.pipelines.iter_mut().flatten().for_each(|pipeline| {
            pipeline.idle_until(0, &mut NullSink);
        });
    }
}

impl Session {
    /// Creates an empty pipeline whose saved state has the same size in all runs of the trace.
    pub(crate) fn reserved_pipeline(&self) -> Pipeline {
        let mut pipeline = self.pipeline();
        pipeline.reserve_insts(self.trace.statics().insts().len());
        pipeline
    }

    /// Creates the core of a thread with a pipeline that another window had. It counts nothing yet.
    fn core_of(
        &self,
        thread: usize,
        stream: u32,
        pipeline: Pipeline,
    ) -> Result<CoreRun, MachineError> {
        let reader = self.source(stream, Reads::Here)?;
        let full_system = self.trace.meta().machine.full_system;
        let watch = RegionWatch::uncounted();
        Ok(CoreRun::new(thread, stream, pipeline, reader, watch, full_system))
    }
}
