//! A trace on a machine: one core per thread, advanced in time order.

pub mod windows;

use crate::code::{self, Code};
use crate::config::MachineConfig;
use crate::core_run::{CoreRun, Source};
use crate::erratum::{self, Erratum};
use crate::error::MachineError;
use crate::mode::Mode;
use crate::outcome::{CoreOutcome, Outcome, RunHeader};
use crate::page_map;
use crate::region::{RegionWatch, RunOptions};
use crate::thread_scheduler::{OrderOfRun, ThreadScheduler};
use crate::threads::{Ended, Threads};
use sim_cache::MemorySystem;
use sim_core::{Cycle, EventSink, MemoryBudget, NullSink, Relay};
use sim_pipeline::{Part, Pipeline};
use sim_trace::{AheadReader, TraceFile};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A trace and the configuration of the machine that will run it.
pub struct Session {
    trace: TraceFile,
    config: MachineConfig,
    header: RunHeader,
    finds_roots: bool,
    /// Instructions take the routes of their shapes through the core.
    has_shapes: bool,
    /// Set by others to end a run early.
    stop: Arc<AtomicBool>,
}

impl Session {
    /// Opens the trace. `header` comes with everything but the trace's hash and the seed.
    ///
    /// # Errors
    /// If the trace cannot be read or has no instructions, if it has a page map of another granule
    /// than the configuration, or if its code needs more memory than [`MemoryBudget::DEFAULT`].
    pub fn open(
        trace: &Path,
        config: MachineConfig,
        header: RunHeader,
    ) -> Result<Session, MachineError> {
        Session::open_within(trace, config, header, &MemoryBudget::default())
    }

    /// Opens the trace with an account for the memory of its code, the readers of threads, the cores, and what is kept of
    /// threads that have ended. Several sessions can share one account.
    ///
    /// # Errors
    /// As [`Session::open`], or if the code does not fit the account.
    pub fn open_within(
        trace: &Path,
        config: MachineConfig,
        header: RunHeader,
        budget: &MemoryBudget,
    ) -> Result<Session, MachineError> {
        let file = TraceFile::open_within(trace, budget)?;
        if file.instructions() == 0 {
            return Err(MachineError::Empty { trace: header.trace });
        }
        check_granule(&file, &config, &header)?;
        let lacks = crate::caveats::lacks(&file);
        let seed = config.run.seed;
        let order = OrderOfRun::of(&file, config.threads.order);
        let header = RunHeader { trace_hash: file.hash(), seed, lacks, order, ..header };
        let stop = Arc::default();
        Ok(Session { trace: file, config, header, finds_roots: true, has_shapes: true, stop })
    }

    /// The same trace and machine, of which only a part is simulated.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Session {
        self.header.mode = mode;
        self
    }

    /// The same for a reader of counts alone: what the lost slots of an [`Outcome`] waited for is not found, and
    /// the run takes less time.
    #[must_use]
    pub fn without_roots(mut self) -> Session {
        self.finds_roots = false;
        self
    }

    /// The same trace and machine, on which every instruction takes the general route through the core. Nothing that is
    /// counted or told changes; it only takes more time: the other routes are held against this one.
    #[must_use]
    pub fn without_shapes(mut self) -> Session {
        self.has_shapes = false;
        self
    }

    /// The same trace and machine; once `stop` is set, a [`Session::run`] ends after the next batch of instructions as if
    /// the trace ended there.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Session {
        self.stop = stop;
        self
    }

    /// Instructions of all threads of the trace.
    pub fn instructions(&self) -> u64 {
        self.trace.instructions()
    }

    /// The trace.
    pub fn trace(&self) -> &TraceFile {
        &self.trace
    }

    /// Clock of the modeled core in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.config.core.clock_hz
    }

    /// The configuration of the machine.
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// What produces the results of this session.
    pub fn header(&self) -> &RunHeader {
        &self.header
    }

    /// Runs the whole trace, or the part that `options` asks for. `progress` hears the instructions
    /// run so far, now and then. The same session run twice gives the same outcome.
    ///
    /// # Errors
    /// If the trace is damaged, if nothing of it falls into the region that was asked for, or if code, readers, cores or
    /// counts of ended threads do not fit the account of memory.
    pub fn run(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Outcome, MachineError> {
        self.run_with(options, progress, &mut NullSink)
    }

    /// [`Session::run`] with a sink that hears every core from the first instruction to the last, inside
    /// and outside the part that is counted. Every sink is told as one with `FOLLOWS_RUN`.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_heard<S: EventSink>(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        listener: &mut S,
    ) -> Result<Outcome, MachineError> {
        self.run_relayed(options, progress, Relay::new(listener))
    }

    /// The machine as it is compiled for all who listen: once, here.
    fn run_relayed(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        mut relay: Relay<'_>,
    ) -> Result<Outcome, MachineError> {
        self.run_with(options, progress, &mut relay)
    }

    fn run_with<S: EventSink>(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        listener: &mut S,
    ) -> Result<Outcome, MachineError> {
        let mut program = self.program()?;
        let watch = RegionWatch::new(options, self.trace.meta(), &self.header.trace)?;
        let mut threads = Threads::new(self, self.running(), watch, self.may_read_ahead())?;
        let mut memory = self.memory(threads.len())?;
        let has_erratum = self.config.core.revision.has_stall_slot_erratum();
        let listener = &mut Erratum { has_erratum, listener };
        let order = self.config.threads.order;
        let mut scheduler =
            ThreadScheduler::of(&self.trace, order, options, threads.streams(), threads.start())?;
        while let Some((first, until)) = next(&mut threads, scheduler.as_mut(), &mut memory)? {
            let core = threads.core(first, &mut memory)?;
            let before = core.done();
            let part = match self.header.mode {
                Mode::Full => {
                    core.advance(until, &mut program, &mut memory, listener)?;
                    None
                }
                Mode::Memory => Some(Part::Memory),
                Mode::Frontend => Some(Part::FrontEnd),
            };
            if let Some(part) = part {
                core.advance_in_order(part, until, &program, &mut memory, listener)?;
            }
            if let Some(scheduler) = &mut scheduler {
                scheduler.ran(first, core.state());
            }
            let more = core.done() - before;
            threads.ran(first, more, &program, &mut memory)?;
            progress(threads.done());
            if self.stop.load(Ordering::Relaxed) {
                threads.stop(&program, &mut memory, listener)?;
                break;
            }
        }
        let (ended, _kept) = threads.finish();
        self.check_counted(&ended, options)?;
        let notes = notes(&ended, options);
        let cores = ended.into_iter().map(Ended::into_outcome).collect();
        let mut outcome = self.outcome(cores, notes);
        outcome.note_order();
        Ok(outcome)
    }

    /// The memory of one core, which is awake, with the pages of the trace.
    ///
    /// # Errors
    /// If the page map of the trace does not fit the tables of the machine.
    pub fn memory_of_one(&self) -> Result<MemorySystem, MachineError> {
        let mut memory = self.memory(1)?;
        memory.wake(0);
        Ok(memory)
    }

    /// The memory of so many cores, none of them awake, with the pages of the trace.
    fn memory(&self, cores: usize) -> Result<MemorySystem, MachineError> {
        let MachineConfig { memory, semantics, run, .. } = &self.config;
        let mut memory = MemorySystem::asleep(memory, semantics, cores, run.seed);
        self.map_pages(&mut memory)?;
        Ok(memory)
    }

    /// What the cores counted, as the revision of the core counts it.
    fn outcome(&self, cores: Vec<CoreOutcome>, notes: Vec<String>) -> Outcome {
        let contended_exclusives = cores.iter().map(|core| core.memory.contended_exclusives).sum();
        let mut outcome = Outcome {
            header: RunHeader { contended_exclusives, ..self.header.clone() },
            cores,
            clock_hz: self.config.core.clock_hz,
            notes,
        };
        let has_erratum = self.config.core.revision.has_stall_slot_erratum();
        for core in outcome.cores.iter_mut().filter(|_| has_erratum) {
            core.change_counts(erratum::count_surplus);
        }
        outcome
    }

    /// Decodes the static instructions of the trace, by their numbers, and the pages of its code.
    ///
    /// # Errors
    /// If two instructions of the trace are the same, or the code does not fit the account.
    pub fn program(&self) -> Result<Code, MachineError> {
        code::decoded(&self.trace, &self.config, self.has_shapes, &self.header.trace)
    }

    /// Enters the page map of the trace, if it has one.
    fn map_pages(&self, memory: &mut MemorySystem) -> Result<(), MachineError> {
        let Some(map) = self.trace.page_map() else { return Ok(()) };
        page_map::attach(map, memory)
            .map_err(|source| MachineError::Mapping { trace: self.header.trace.clone(), source })
    }

    /// True where a processor is left for a reader that is ahead: one for each of many threads would be too much.
    fn may_read_ahead(&self) -> bool {
        let running = self.trace.streams().iter().filter(|stream| stream.instructions > 0).count();
        running == 1 && std::thread::available_parallelism().is_ok_and(|all| all.get() > 1)
    }

    /// The reader of a thread; one that is ahead, if that is wanted and the system has a thread to give.
    fn source(&self, stream: u32, ahead: bool) -> Result<Source, MachineError> {
        if ahead && let Ok(reader) = AheadReader::new(self.trace.reader(stream)?) {
            return Ok(Source::Ahead(reader));
        }
        Ok(Source::Here(Box::new(self.trace.reader(stream)?)))
    }

    /// The streams that have instructions.
    fn running(&self) -> Vec<u32> {
        let all = self.trace.streams().iter();
        all.filter(|stream| stream.instructions > 0).map(|stream| stream.stream).collect()
    }

    /// A pipeline that has run nothing.
    pub(crate) fn pipeline(&self) -> Pipeline {
        let mut pipeline = Pipeline::new(&self.config.pipeline);
        pipeline.set_clocks(self.config.core.counter_hz, self.config.core.clock_hz);
        if !self.finds_roots {
            pipeline.skip_roots();
        }
        pipeline
    }

    /// Core `number` for a thread. A reader that is `ahead` can pass nothing.
    pub(crate) fn core(
        &self,
        number: usize,
        stream: u32,
        watch: RegionWatch,
        ahead: bool,
    ) -> Result<CoreRun, MachineError> {
        let reader = self.source(stream, ahead)?;
        let full_system = self.trace.meta().machine.full_system;
        Ok(CoreRun::new(number, stream, self.pipeline(), reader, watch, full_system))
    }

    fn check_counted(&self, cores: &[Ended], options: &RunOptions) -> Result<(), MachineError> {
        if cores.iter().any(Ended::is_counted) {
            return Ok(());
        }
        let trace = self.header.trace.clone();
        if self.stop.load(Ordering::Relaxed) {
            let instructions = cores.iter().map(Ended::done).sum();
            return Err(MachineError::Stopped { trace, instructions });
        }
        let longest = cores.iter().map(Ended::done).max().unwrap_or(0);
        match &options.roi {
            Some(roi) => Err(MachineError::RegionNotMet {
                trace,
                begin: roi.begin.to_string(),
                instructions: cores.iter().map(Ended::done).sum(),
            }),
            None => {
                let warmup = cores.iter().map(Ended::warmup).max().unwrap_or(0);
                Err(MachineError::WarmupTooLong { trace, warmup, instructions: longest })
            }
        }
    }
}

/// Refuses a page map whose pages the configured tables do not have.
fn check_granule(
    trace: &TraceFile,
    config: &MachineConfig,
    header: &RunHeader,
) -> Result<(), MachineError> {
    let configured = config.memory.pages.page_bytes;
    match trace.page_map().map(sim_trace::PageMap::granule) {
        Some(map) if map != configured => {
            Err(MachineError::Granule { trace: header.trace.clone(), map, configured })
        }
        _ => Ok(()),
    }
}

/// Says where a region of interest went on to the end of its thread.
fn notes(cores: &[Ended], options: &RunOptions) -> Vec<String> {
    let Some(roi) = &options.roi else { return Vec::new() };
    let open = cores.iter().filter(|core| core.ended_inside()).map(|core| {
        let (stream, end) = (core.stream(), &roi.end);
        format!("the region of interest of thread {stream} has no end: {end} was not met")
    });
    open.collect()
}

/// The core whose turn it is, by tickets if there are any, and the clock up to which it may run before another one
/// is due.
fn next(
    threads: &mut Threads,
    scheduler: Option<&mut ThreadScheduler>,
    memory: &mut MemorySystem,
) -> Result<Option<(usize, Cycle)>, MachineError> {
    let Some(scheduler) = scheduler else { return Ok(threads.take_lowest()) };
    let Some(choice) = scheduler.choose()? else { return Ok(None) };
    threads.core(choice.thread, memory)?.hold(choice.hold_at, choice.wait);
    Ok(Some((choice.thread, choice.until)))
}
