//! Runs a trace on a machine: one core per thread, advanced in time order.

#[cfg(unix)]
mod open;
mod thread_windows;
pub mod windows;

use crate::code::{self, Code};
use crate::config::MachineConfig;
use crate::core_run::{CoreRun, Returning, Source};
use crate::erratum::{self, Erratum};
use crate::error::MachineError;
use crate::mode::Mode;
use crate::outcome::{CoreOutcome, Outcome, RunHeader};
use crate::page_map;
use crate::quanta::Quanta;
use crate::quanta_report::QuantaReport;
use crate::region::{RegionWatch, RunOptions};
use crate::run_sink::{RunSink, Unobserved};
use crate::thread_scheduler::{OrderOfRun, Seat, ThreadScheduler};
use crate::threads::{Ended, Reads, Threads};
use crate::threads_config::ThreadOrder;
use sim_cache::MemorySystem;
use sim_core::mesh_counts::MeshCounts;
use sim_core::{BatchingSink, Cycle, DeferredSink, EventSink};
use sim_pipeline::{Part, Pipeline};
use sim_trace::{ReadAhead, TraceFile};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Version of functional warming of several threads, and of their states.
const THREADS_LAYOUT: u32 = 1;

/// A trace, and the configuration of the machine that runs it.
pub struct Session {
    trace: TraceFile,
    config: MachineConfig,
    header: RunHeader,
    finds_roots: bool,
    /// Set if instructions take the fast paths of their classes through the core.
    has_shapes: bool,
    /// The mesh is counted.
    counts_mesh: bool,
    /// Pairs of cores are counted line by line too.
    keeps_lines: bool,
    /// Set by the caller to end a run early.
    stop: Arc<AtomicBool>,
    /// CPUs of the host that run threads at the same time; `None` for a run in exact order.
    cpus: Option<usize>,
}

impl Session {
    /// Makes a session of an open trace. `header` is complete but for the trace's hash and the
    /// seed.
    ///
    /// # Errors
    /// If the trace has no instructions, or if its page map has another granule than the
    /// configuration.
    pub fn of(
        file: TraceFile,
        config: MachineConfig,
        header: RunHeader,
    ) -> Result<Session, MachineError> {
        if file.instructions() == 0 {
            return Err(MachineError::Empty { trace: header.trace });
        }
        check_granule(&file, &config, &header)?;
        check_sharing(&file, &config, &header)?;
        let lacks = crate::caveats::lacks(&file);
        let seed = config.run.seed;
        let order = OrderOfRun::of(&file, config.threads.order);
        let header = RunHeader { trace_hash: file.hash(), seed, lacks, order, ..header };
        let stop = Arc::default();
        let (finds_roots, has_shapes) = (true, true);
        let trace = file;
        Ok(Session {
            trace,
            config,
            header,
            finds_roots,
            has_shapes,
            counts_mesh: false,
            keeps_lines: false,
            stop,
            cpus: None,
        })
    }

    /// Returns the session with only a part of the machine simulated.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Session {
        self.header.mode = mode;
        self
    }

    /// Returns the session without root causes of lost slots in the [`Outcome`]. A run takes less
    /// time.
    #[must_use]
    pub fn without_roots(mut self) -> Session {
        self.finds_roots = false;
        self
    }

    /// Returns the session with counts of the mesh in the [`Outcome`]. A miss of the L2 takes more
    /// time of the host.
    #[must_use]
    pub fn with_mesh(mut self) -> Session {
        self.counts_mesh = true;
        self
    }

    /// Returns the session with counts of the mesh, and with those of pairs of cores line by line
    /// too, which take up to 20 MB.
    #[must_use]
    pub fn with_mesh_by_line(mut self) -> Session {
        self.keeps_lines = true;
        self.with_mesh()
    }

    /// Returns whether the [`Outcome`] has counts of the mesh.
    pub fn counts_mesh(&self) -> bool {
        self.counts_mesh
    }

    /// Returns the session with its threads run at the same time on this many CPUs of the host. All
    /// numbers of CPUs give the same counts. They can differ a little from those of a run in exact
    /// order ([`crate::QuantaReport`]). Only [`Session::run`] of a whole machine does this, without
    /// counts of the mesh; otherwise a note of the outcome gives the reason.
    #[must_use]
    pub fn on_cpus(mut self, cpus: usize) -> Session {
        self.cpus = Some(cpus);
        self
    }

    /// Returns the session with every instruction on the general path through the core. All results
    /// stay the same and runs take longer: the reference for the fast paths.
    #[must_use]
    pub fn without_path_classes(mut self) -> Session {
        self.has_shapes = false;
        self
    }

    /// Returns the session with a stop flag. Once it is set, [`Session::run`] ends after the
    /// current batch of instructions, as if the trace ended there.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Session {
        self.stop = stop;
        self
    }

    /// Returns the number of instructions of all threads of the trace.
    pub fn instructions(&self) -> u64 {
        self.trace.instructions()
    }

    /// Returns the trace.
    pub fn trace(&self) -> &TraceFile {
        &self.trace
    }

    /// Returns the clock of the modeled core in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.config.core.clock_hz
    }

    /// Returns the configuration of the machine.
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// Returns the header of this session's results.
    pub fn header(&self) -> &RunHeader {
        &self.header
    }

    /// Runs the whole trace, or the part that `options` selects. `progress` receives the number of
    /// instructions run so far at intervals. Repeated runs of a session give the same outcome.
    ///
    /// # Errors
    /// If the trace is damaged, if the selected region contains no instruction, or if code,
    /// readers, cores or results of ended threads exceed the memory budget.
    pub fn run(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Outcome, MachineError> {
        let reason = self.reason_for_exact_order();
        let cpus = self.cpus.filter(|_| reason.is_none());
        let mut outcome = self.run_cores(options, progress, &mut Unobserved::default(), cpus)?;
        self.note_exact_order(None, &mut outcome);
        Ok(outcome)
    }

    /// Returns why threads cannot run at the same time; `None` if they can.
    fn reason_for_exact_order(&self) -> Option<&'static str> {
        let memory = &self.config.memory;
        let has_limits = memory.slc.queue_entries > 0 || memory.mesh.link_contention;
        let has_banks = memory.dram.banks > 0;
        let has_poison = memory.errors.l1d_uncorrectable_per_million_refills > 0;
        match self.header.order {
            _ if self.header.mode != Mode::Full => Some("only a part of the machine is simulated"),
            _ if self.shares_cores() => Some("threads share cores"),
            _ if self.counts_mesh => Some("the mesh counts the messages of all cores"),
            _ if has_limits => Some("requests of all cores wait for home nodes or links"),
            _ if has_banks => Some("requests of all cores open and close rows of memory"),
            _ if has_poison => Some("poisoned data goes from core to core"),
            None => Some("a single thread runs"),
            Some(order) if order.kept() == ThreadOrder::Recorded => {
                Some("the recorded order is one of all threads")
            }
            Some(_) => None,
        }
    }

    /// Notes why a run was in exact order, if the caller asked for another one. `reason` is that of
    /// a trace and machine that have none.
    fn note_exact_order(&self, reason: Option<&str>, outcome: &mut Outcome) {
        let reason = self.reason_for_exact_order().or(reason);
        if let (Some(_), Some(reason)) = (self.cpus, reason) {
            outcome.notes.push(format!("no threads ran at the same time: {reason}"));
        }
    }

    /// Runs as [`Session::run`] does and reports every core to a sink from the first instruction to
    /// the last, inside and outside the counted part. Every sink is treated as one with
    /// `OBSERVES_OPS`.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_with_sink<S: EventSink>(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        observer: &mut S,
    ) -> Result<Outcome, MachineError> {
        let mut outcome = self.run_batched(options, progress, BatchingSink::new(observer))?;
        self.note_exact_order(Some(OBSERVED), &mut outcome);
        Ok(outcome)
    }

    /// Runs as [`Session::run`] does and passes the counts of every core to a sink that accepts
    /// sums. The sink gets the same readings as from [`Session::run_with_sink`], in a fraction of
    /// the time. In a mode that runs a part of the machine, the sink observes the run.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_deferred<S: DeferredSink>(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        sink: &mut S,
    ) -> Result<Outcome, MachineError> {
        match self.header.mode {
            Mode::Full => {
                let mut outcome =
                    self.run_cores(options, progress, &mut Unobserved(Some(sink)), None)?;
                self.note_exact_order(Some(OBSERVED), &mut outcome);
                Ok(outcome)
            }
            Mode::Memory | Mode::Frontend => self.run_with_sink(options, progress, sink),
        }
    }

    /// Runs with the one compiled copy of the machine that all observers share.
    fn run_batched(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        mut batching: BatchingSink<'_>,
    ) -> Result<Outcome, MachineError> {
        self.run_cores(options, progress, &mut batching, None)
    }

    fn run_cores<S: RunSink>(
        &self,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
        observer: &mut S,
        cpus: Option<usize>,
    ) -> Result<Outcome, MachineError> {
        // In quanta each thread has a program of its own.
        let mut program = if cpus.is_none() { Some(self.program()?) } else { None };
        let watch = RegionWatch::new(options, self.trace.meta(), &self.header.trace)?;
        let reads = if cpus.is_some() { Reads::Returning } else { self.reads() };
        let mut threads = Threads::new(self, self.running(), watch, reads)?;
        let mut memory = self.memory(threads.cores())?;
        let quanta = cpus.map(|cpus| Quanta::new(self, threads.len(), cpus));
        let mut quanta = quanta.transpose()?;
        let has_erratum = self.config.core.revision.has_stall_slot_erratum();
        let observer = &mut Erratum { has_erratum, observer };
        let mut scheduler = ThreadScheduler::of(
            &self.trace,
            self.config.threads,
            options,
            threads.streams(),
            threads.start(),
        )?;
        while let Some((first, until, seat)) = {
            if let Some(quanta) = &mut quanta {
                self.run_quanta(quanta, &mut threads, scheduler.as_mut(), &mut memory, progress)?;
            }
            next(&mut threads, scheduler.as_mut(), &mut memory)?
        } {
            let program = match (&mut quanta, &mut program) {
                (Some(quanta), _) => quanta.program(first)?,
                (None, Some(program)) => program,
                (None, None) => unreachable!("a run without quanta has one program"),
            };
            if let Some(seat) = seat {
                threads.take_seat(first, &seat, program, &mut memory, observer)?;
            }
            let core = threads.core(first, &mut memory)?;
            let before = core.done();
            self.advance(core, until, program, &mut memory, observer)?;
            if let Some(scheduler) = &mut scheduler {
                scheduler.ran(first, core.state());
            }
            let more = core.done() - before;
            let has_ended = core.ended();
            threads.ran(first, more, program, &mut memory)?;
            progress(threads.done());
            if self.stop.load(Ordering::Relaxed) {
                threads.stop(program, &mut memory, observer)?;
                break;
            }
            if let Some(quanta) = quanta.as_mut().filter(|_| has_ended) {
                quanta.end(first);
            }
        }
        let (ended, _kept) = threads.finish();
        self.check_counted(&ended, options)?;
        let notes = notes(&ended, options);
        let cores = ended.into_iter().map(Ended::into_outcome).collect();
        let mut outcome = self.outcome(cores, memory.take_mesh_counts(), notes);
        self.note_threads(&mut outcome, quanta.map(|quanta| quanta.report()));
        Ok(outcome)
    }

    /// Runs a thread up to the clock `until`, in the part of the core that the mode has.
    fn advance<S: RunSink>(
        &self,
        core: &mut CoreRun,
        until: Cycle,
        program: &mut Code,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) -> Result<(), MachineError> {
        let part = match self.header.mode {
            Mode::Full => return core.advance(until, program, memory, observer),
            Mode::Memory => Part::Memory,
            Mode::Frontend => Part::FrontEnd,
        };
        core.advance_in_order(part, until, program, memory, observer)
    }

    /// Adds the notes on several threads to a result.
    fn note_threads(&self, outcome: &mut Outcome, quanta: Option<QuantaReport>) {
        outcome.note_order();
        if self.shares_cores() {
            outcome.note_sharing(&self.config.threads);
        }
        if let Some(report) = quanta {
            outcome.note_quanta(report);
        }
    }

    /// Runs quanta while threads can run at the same time and the caller does not stop the run.
    fn run_quanta(
        &self,
        quanta: &mut Quanta,
        threads: &mut Threads,
        mut scheduler: Option<&mut ThreadScheduler>,
        memory: &mut MemorySystem,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MachineError> {
        while !self.stop.load(Ordering::Relaxed)
            && quanta.run(threads, scheduler.as_deref_mut(), memory)?
        {
            progress(threads.done());
        }
        Ok(())
    }

    /// Creates the memory of one core, which is awake, with the page map of the trace.
    ///
    /// # Errors
    /// If the page map of the trace does not fit the tables of the machine.
    pub fn memory_of_one(&self) -> Result<MemorySystem, MachineError> {
        let mut memory = self.memory(1)?;
        memory.wake(0);
        Ok(memory)
    }

    /// Creates the memory of `cores` cores, all asleep, with the page map of the trace.
    fn memory(&self, cores: usize) -> Result<MemorySystem, MachineError> {
        let MachineConfig { memory, semantics, run, .. } = &self.config;
        let mut memory = MemorySystem::asleep(memory, semantics, cores, run.seed);
        if !self.counts_mesh {
            memory.leave_mesh_uncounted();
        }
        if self.keeps_lines {
            memory.keep_lines_of_pairs();
        }
        self.map_pages(&mut memory)?;
        Ok(memory)
    }

    /// Combines the results of the cores and applies the erratum of the core's revision.
    fn outcome(&self, cores: Vec<CoreOutcome>, mesh: MeshCounts, notes: Vec<String>) -> Outcome {
        let contended_exclusives = cores.iter().map(|core| core.memory.contended_exclusives).sum();
        let mut outcome = Outcome {
            header: RunHeader { contended_exclusives, ..self.header.clone() },
            cores,
            mesh,
            clock_hz: self.config.core.clock_hz,
            notes,
            shares_cores: false,
            quanta: None,
        };
        let has_erratum = self.config.core.revision.has_stall_slot_erratum();
        for core in outcome.cores.iter_mut().filter(|_| has_erratum) {
            core.change_counts(erratum::count_surplus);
        }
        outcome
    }

    /// Decodes the static instructions of the trace, in the order of their numbers, and attaches
    /// the pages of its code.
    ///
    /// # Errors
    /// If the trace contains an instruction twice, or if the code exceeds the memory budget.
    pub fn program(&self) -> Result<Code, MachineError> {
        code::decoded(&self.trace, &self.config, self.has_shapes, &self.header.trace)
    }

    /// Enters the page map of the trace, if it has one.
    fn map_pages(&self, memory: &mut MemorySystem) -> Result<(), MachineError> {
        let Some(map) = self.trace.page_map() else { return Ok(()) };
        page_map::attach(map, memory)
            .map_err(|source| MachineError::Mapping { trace: self.header.trace.clone(), source })
    }

    /// Returns how the threads read: ahead if the host has a CPU for it and there is a single one.
    fn reads(&self) -> Reads {
        let has_cpu = || std::thread::available_parallelism().is_ok_and(|all| all.get() > 1);
        if self.running().len() == 1 && has_cpu() { Reads::Ahead } else { Reads::Here }
    }

    /// Creates the reader of a thread. If the host has no thread to read ahead, it reads on demand.
    fn source(&self, stream: u32, reads: Reads) -> Result<Source, MachineError> {
        let reader = self.trace.reader(stream)?;
        match reads {
            Reads::Here => Ok(Source::Here(Box::new(reader))),
            Reads::Returning => Ok(Source::Returning(Box::new(Returning::new(reader)))),
            Reads::Ahead => match ReadAhead::new(reader) {
                Ok(reader) => Ok(Source::Ahead(reader)),
                Err(_) => self.source(stream, Reads::Here),
            },
        }
    }

    /// Returns true if threads share cores.
    fn shares_cores(&self) -> bool {
        self.config.threads.shares_cores(self.running().len())
    }

    /// Returns the hash of all that shapes the state of functional warming: that of the machine
    /// ([`MachineConfig::warm_hash`]), and the order of several threads.
    pub fn warm_hash(&self) -> u64 {
        let machine = self.config.warm_hash();
        if !self.has_threads() {
            return machine;
        }
        let text = format!("{:?}", (THREADS_LAYOUT, machine, self.config.threads));
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }

    /// Returns the number of instructions of each thread that has any.
    pub fn instructions_of_threads(&self) -> Vec<u64> {
        self.running_streams().map(|stream| stream.instructions).collect()
    }

    /// Returns true if several threads have instructions.
    pub fn has_threads(&self) -> bool {
        self.running_streams().count() > 1
    }

    /// Returns the streams that have instructions.
    fn running(&self) -> Vec<u32> {
        let all = self.trace.streams().iter();
        all.filter(|stream| stream.instructions > 0).map(|stream| stream.stream).collect()
    }

    /// Creates an empty pipeline.
    pub(crate) fn pipeline(&self) -> Pipeline {
        let mut pipeline = Pipeline::new(&self.config.pipeline);
        pipeline.set_clocks(self.config.core.counter_hz, self.config.core.clock_hz);
        if !self.finds_roots {
            pipeline.skip_roots();
        }
        pipeline
    }

    /// Creates core `number` for a thread. Only a reader on demand can skip instructions.
    pub(crate) fn core(
        &self,
        number: usize,
        stream: u32,
        watch: RegionWatch,
        reads: Reads,
    ) -> Result<CoreRun, MachineError> {
        let reader = self.source(stream, reads)?;
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
            Some(roi) => Err(MachineError::RegionNotReached {
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

/// Refuses a page map whose granule differs from the configured one.
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

/// Refuses to let the processors of a whole system share cores, as threads do.
fn check_sharing(
    trace: &TraceFile,
    config: &MachineConfig,
    header: &RunHeader,
) -> Result<(), MachineError> {
    let running = trace.streams().iter().filter(|stream| stream.instructions > 0).count();
    if !trace.meta().machine.full_system || !config.threads.shares_cores(running) {
        return Ok(());
    }
    let (trace, cores) = (header.trace.clone(), config.threads.cores);
    Err(MachineError::SharedProcessors { trace, processors: running, cores })
}

/// Returns a note for every thread that ended inside a region of interest.
fn notes(cores: &[Ended], options: &RunOptions) -> Vec<String> {
    let Some(roi) = &options.roi else { return Vec::new() };
    let open = cores.iter().filter(|core| core.ended_inside()).map(|core| {
        let (stream, end) = (core.stream(), &roi.end);
        format!("the region of interest of thread {stream} has no end: {end} was not reached")
    });
    open.collect()
}

/// Reason for exact order of a run with counters or an observer.
const OBSERVED: &str = "counters need the time of each event";

/// Returns the thread to run next, the clock up to which it may run, and the core that it gets if
/// threads share cores. The scheduler decides, if there is one.
fn next(
    threads: &mut Threads,
    scheduler: Option<&mut ThreadScheduler>,
    memory: &mut MemorySystem,
) -> Result<Option<(usize, Cycle, Option<Seat>)>, MachineError> {
    let Some(scheduler) = scheduler else {
        return Ok(threads.take_lowest().map(|(thread, until)| (thread, until, None)));
    };
    let Some(choice) = scheduler.choose()? else { return Ok(None) };
    threads.core(choice.thread, memory)?.hold(choice.hold_at, choice.wait);
    Ok(Some((choice.thread, choice.until, choice.seat)))
}
