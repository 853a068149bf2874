//! Runs a trace: one thread on each core of a cluster, the core with the smallest clock first.

use std::path::Path;

use crate::code::Code;
use crate::config::PipelineConfig;
use crate::core::Core;
pub use crate::error::{A53Error, MAX_CORES};
use crate::event::{A53Counts, A53Event, A53Note, A53Sink};
use crate::event_bus::BusSink;
use crate::groups::GroupSink;
use crate::memory::{ClusterMemory, MemoryConfig};
use crate::part::{Part, Totals, Watch};
use crate::pmu::{A53Pmu, PmuSink};
use crate::slots::Slots;
use crate::timing::{Timing, Work};
use serde::Deserialize;
use sim_core::config::{ConfigError, Document, Embedded, Problem};
use sim_core::{InstFlags, Privilege, RegisterAccess, TraceInst};
use sim_isa::BranchKind;
use sim_trace::{StreamEvent, StreamReader, TraceError, TraceFile};

/// Built-in configuration of the core and its cluster.
pub const EMBEDDED: [Embedded; 1] = [Embedded {
    name: "cortex-a53.toml",
    text: include_str!("../../configs/cortex-a53/machine.toml"),
}];

/// Configuration of a cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct A53Config {
    /// Clock of the cluster, and the seed of its random choices.
    pub cluster: ClusterConfig,
    /// Pipeline of each core.
    pub pipeline: PipelineConfig,
    /// Caches, TLBs and memory.
    pub memory: MemoryConfig,
}

/// Settings common to all cores.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClusterConfig {
    /// Clock in Hz, for seconds in reports.
    pub clock_hz: u64,
    /// Seed of the pseudo-random replacement.
    pub seed: u64,
}

impl A53Config {
    /// Returns the built-in document or that of a file, with `overrides` (`table.key=value`) on
    /// top.
    ///
    /// # Errors
    /// The file cannot be read, or it or an override does not fit the built-in document.
    pub fn document(file: Option<&Path>, overrides: &[String]) -> Result<Document, ConfigError> {
        let document = match file {
            Some(path) => Document::load(path, &EMBEDDED)?,
            None => Document::from_embedded(EMBEDDED[0].name, &EMBEDDED)?,
        };
        overrides.iter().try_fold(document, |document, assignment| document.set(assignment))
    }

    /// Reads and checks a merged document.
    ///
    /// # Errors
    /// Unknown or missing keys, values of a wrong type, or sizes that no core can have.
    pub fn from_document(document: &Document) -> Result<A53Config, ConfigError> {
        let config: A53Config = document.parse()?;
        document.refuse(&config.problems())?;
        Ok(config)
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.pipeline.problems();
        problems.extend(self.memory.problems());
        if !(1_000_000..=10_000_000_000).contains(&self.cluster.clock_hz) {
            let message = "a clock outside 1 MHz to 10 GHz: give it in Hz";
            problems.push(Problem::new("cluster.clock-hz", message.to_owned()));
        }
        problems
    }
}

/// Result of one core.
#[derive(Clone, Debug)]
pub struct A53CoreOutcome {
    /// Stream of the trace that ran on the core.
    pub stream: u32,
    /// Total of each event.
    pub counts: A53Counts,
    /// Cycles until the last instruction left write-back.
    pub cycles: u64,
    /// Retired instructions.
    pub instructions: u64,
    /// Cycles in which two instructions retired.
    pub two_retired: u64,
    /// Executed instructions of extensions that the core does not have: SVE, and atomics of LSE.
    pub foreign: u64,
    /// Executed words that the decoder does not know.
    pub unknown: u64,
    /// Store-exclusives that succeeded in the trace although the run had lost their line in
    /// between; of the whole run, a warm-up included.
    pub lost_exclusives: u64,
    /// Use of the issue slots.
    pub slots: Slots,
}

impl A53CoreOutcome {
    /// Adds the counts of another part of the same thread.
    pub fn add(&mut self, other: &A53CoreOutcome) {
        self.counts.add(&other.counts);
        self.cycles += other.cycles;
        self.instructions += other.instructions;
        self.two_retired += other.two_retired;
        self.foreign += other.foreign;
        self.unknown += other.unknown;
        self.lost_exclusives += other.lost_exclusives;
        self.slots.add(&other.slots);
    }
}

/// One thread on its core.
struct Thread {
    stream: u32,
    core: Core,
    reader: StreamReader,
    batch: Vec<TraceInst>,
    at: usize,
    more_at: usize,
    event_at: usize,
    /// Instructions of the batch before the next event.
    next_event: usize,
    ended: bool,
    /// Place in the stream at which the thread ends.
    end: u64,
    /// Static instruction there, if the stream goes on.
    beyond: Option<u32>,
    /// Instructions before the part changes.
    next_change: u64,
    watch: Option<Watch>,
}

/// Runs all threads of a trace, at most `limit` instructions of each. The thread whose clock is
/// lowest runs next, until its clock passes that of another.
///
/// # Errors
/// If the trace is damaged, is empty, or has more than [`MAX_CORES`] threads.
pub fn run(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
) -> Result<Vec<A53CoreOutcome>, A53Error> {
    run_part(trace, config, &limit.into())
}

/// Runs as [`run`] does, and counts a part of each thread.
///
/// # Errors
/// Those of [`run`]; if the part does not begin in any thread.
pub fn run_part(
    trace: &TraceFile,
    config: &A53Config,
    part: &Part,
) -> Result<Vec<A53CoreOutcome>, A53Error> {
    run_with(trace, config, part, |_| A53Counts::default(), |_, _| Ok(())).map(without_sinks)
}

/// Runs as [`run`] does, with the PMU that `prepare` returns on each core. The program's own
/// accesses to its registers reach it, and its counters follow the program's exception level.
///
/// # Errors
/// Those of [`run`].
pub fn run_with_pmu(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
    mut prepare: impl FnMut(usize) -> A53Pmu,
) -> Result<Vec<(A53CoreOutcome, PmuSink)>, A53Error> {
    let sink = |core| PmuSink::new(core, prepare(core));
    run_with(trace, config, &limit.into(), sink, |_, _| Ok(()))
}

/// Runs as [`run`] does, with a sink for each core, which `sink` makes from the core's number.
/// Returns them, too.
///
/// # Errors
/// Those of [`run`].
pub fn run_with_sinks<S: A53Sink + AsRef<A53Counts>>(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
    sink: impl FnMut(usize) -> S,
) -> Result<Vec<(A53CoreOutcome, S)>, A53Error> {
    run_with(trace, config, &limit.into(), sink, |_, _| Ok(()))
}

/// Runs as [`run`] does. Returns also the counts of each group of static instructions, of all cores
/// together. `groups` has the group of each static instruction of the trace.
///
/// # Errors
/// Those of [`run`].
pub fn run_by_group(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
    groups: &[u32],
) -> Result<(Vec<A53CoreOutcome>, Vec<A53Counts>), A53Error> {
    let settle = |_: &mut [GroupSink<'_>], _| Ok::<(), A53Error>(());
    let runs = run_with(trace, config, &limit.into(), |_| GroupSink::new(groups), settle)?;
    let mut counts = GroupSink::new(groups).counts;
    for (_, sink) in &runs {
        counts.iter_mut().zip(&sink.counts).for_each(|(sum, own)| sum.add(own));
    }
    Ok((without_sinks(runs), counts))
}

fn without_sinks<S>(outcomes: Vec<(A53CoreOutcome, S)>) -> Vec<A53CoreOutcome> {
    outcomes.into_iter().map(|(outcome, _)| outcome).collect()
}

/// Runs as [`run`] does, and passes each cycle of a core in which a bit of its event bus is set to
/// `give`: cycle, core and bits, in order.
///
/// # Errors
/// Those of [`run`], and those of `give`.
pub fn run_with_bus<E: From<A53Error> + From<TraceError>>(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
    mut give: impl FnMut(u64, usize, u32) -> Result<(), E>,
) -> Result<Vec<A53CoreOutcome>, E> {
    let mut ready = Vec::new();
    let settle = |sinks: &mut [BusSink], until| {
        for (core, sink) in sinks.iter_mut().enumerate() {
            sink.drain(until, |cycle, bits| ready.push((cycle, core, bits)));
        }
        ready.sort_unstable();
        ready.drain(..).try_for_each(|(cycle, core, bits)| give(cycle, core, bits))
    };
    run_with(trace, config, &limit.into(), |_| BusSink::default(), settle).map(without_sinks)
}

/// Cycles that a core may run before another one is chosen, or its events are passed on.
const TURN: u64 = 4096;
/// Cycles by which an event may come after those of later cycles: several accesses to memory.
const SETTLED: u64 = 1 << 14;

/// Runs all threads of a trace, each with a sink of its own, made by `sink`. After each turn,
/// `settle` receives the sinks and a cycle that all cores have left long before.
pub(crate) fn run_with<S: A53Sink + AsRef<A53Counts>, E: From<A53Error> + From<TraceError>>(
    trace: &TraceFile,
    config: &A53Config,
    part: &Part,
    sink: impl FnMut(usize) -> S,
    mut settle: impl FnMut(&mut [S], u64) -> Result<(), E>,
) -> Result<Vec<(A53CoreOutcome, S)>, E> {
    let threads = threads_of(trace)?;
    let code = Code::of_trace(trace, &config.pipeline)?;
    let mut memory = ClusterMemory::new(&config.memory, threads, config.cluster.seed);
    trace.page_map().into_iter().for_each(|map| memory.map_pages(map));
    let mut sinks: Vec<S> = (0..threads).map(sink).collect();
    let mut running = Vec::new();
    for (number, sink) in sinks.iter_mut().enumerate() {
        let thread = Thread::new(trace, number, config, code.len(), part)?;
        if let Some(first) =
            thread.batch.get(thread.at).filter(|_| trace.meta().machine.full_system)
        {
            sink.note(A53Note::Begin { pc: code.timing(first.id).pc }, 0);
        }
        running.push(thread);
    }
    let clock = |thread: &Thread| if thread.ended { u64::MAX } else { thread.core.cycle() };
    while let Some(next) = (0..threads).min_by_key(|number| clock(&running[*number]))
        && !running[next].ended
    {
        let now = clock(&running[next]);
        let others = running.iter().enumerate().filter(|(number, _)| *number != next);
        let until = others.map(|(_, thread)| clock(thread)).min().unwrap_or(u64::MAX);
        let until = until.min(now.saturating_add(TURN));
        running[next].advance(until, &code, &mut memory, &mut sinks[next])?;
        settle(&mut sinks, now.saturating_sub(SETTLED))?;
    }
    part_began(trace, part, &running)?;
    let end = |(thread, sink): (Thread, &mut S)| {
        outcome_of(thread.stream, thread.core, thread.watch, &mut memory, sink)
    };
    let outcomes: Vec<_> = running.into_iter().zip(&mut sinks).map(end).collect();
    settle(&mut sinks, u64::MAX)?;
    Ok(outcomes.into_iter().zip(sinks).collect())
}

/// Returns the number of threads of a trace that a cluster can run.
fn threads_of(trace: &TraceFile) -> Result<usize, A53Error> {
    let name = || trace.path().to_string_lossy().into_owned();
    let threads = trace.streams().len();
    if threads > MAX_CORES {
        return Err(A53Error::TooManyThreads { trace: name(), threads });
    }
    if trace.instructions() == 0 {
        return Err(A53Error::Empty { trace: name() });
    }
    Ok(threads)
}

impl Thread {
    fn new(
        trace: &TraceFile,
        number: usize,
        config: &A53Config,
        insts: usize,
        part: &Part,
    ) -> Result<Thread, TraceError> {
        let stream = number as u32;
        let span = part.span.clone().unwrap_or(0..u64::MAX);
        let reader = trace.reader_at(stream, span.start)?;
        let mut core = Core::new(number, &config.pipeline);
        core.execute_wrong_paths(insts);
        let mut thread = Thread {
            stream,
            core,
            reader,
            batch: Vec::new(),
            at: 0,
            more_at: 0,
            event_at: 0,
            next_event: usize::MAX,
            ended: false,
            end: span.end,
            beyond: None,
            next_change: part.limit.unwrap_or(u64::MAX),
            watch: Watch::new(part),
        };
        if thread.watch.is_some() {
            thread.next_change = 0;
        }
        thread.next_batch()?;
        thread.skip_to(span.start)?;
        Ok(thread)
    }

    /// Skips the instructions before a place of the stream, with their events.
    fn skip_to(&mut self, place: u64) -> Result<(), TraceError> {
        let end_of = |thread: &Thread| thread.reader.batch_start() + thread.batch.len() as u64;
        while !self.ended && end_of(self) <= place {
            self.next_batch()?;
        }
        let skipped = place.saturating_sub(self.reader.batch_start()) as usize;
        if self.ended || skipped == 0 {
            return Ok(());
        }
        self.at = skipped;
        self.more_at = self.batch[..skipped].iter().map(|inst| inst.flags.further()).sum();
        while self.next_event <= skipped {
            self.event_at += 1;
            self.find_event();
        }
        Ok(())
    }

    /// Reads the next instructions.
    fn next_batch(&mut self) -> Result<(), TraceError> {
        (self.at, self.more_at, self.event_at) = (0, 0, 0);
        while self.reader.next_batch(&mut self.batch)? {
            let left = self.end.saturating_sub(self.reader.batch_start());
            if let Some(beyond) = self.batch.get(usize::try_from(left).unwrap_or(usize::MAX)) {
                self.beyond = self.beyond.or(Some(beyond.id));
                self.batch.truncate(left as usize);
            }
            if !self.batch.is_empty() {
                self.find_event();
                return Ok(());
            }
            if left == 0 {
                break;
            }
        }
        self.ended = true;
        Ok(())
    }

    /// Notes where the next event of the batch is.
    fn find_event(&mut self) {
        let next = self.reader.events().get(self.event_at);
        self.next_event = next.map_or(usize::MAX, |event| event.position as usize);
    }

    /// Runs one instruction, and more until the clock passes `until`.
    fn advance<S: A53Sink + AsRef<A53Counts>>(
        &mut self,
        until: u64,
        code: &Code,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> Result<(), TraceError> {
        while !self.ended {
            self.step(code, memory, sink)?;
            if self.core.cycle() > until {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn step<S: A53Sink + AsRef<A53Counts>>(
        &mut self,
        code: &Code,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> Result<(), TraceError> {
        let inst = self.batch[self.at];
        self.at += 1;
        if let Some(watch) = &mut self.watch {
            let was_open = watch.is_open();
            watch.before(code.place_of(inst.id), &self.core, sink.as_ref());
            if watch.is_open() != was_open {
                sink.counting(!was_open, self.core.passed());
            }
            watch.note(inst.flags);
        }
        let mut more = [0; sim_core::MAX_FURTHER];
        let further = inst.flags.further();
        if further > 0 {
            let from = self.more_at;
            self.more_at += further;
            more[..further].copy_from_slice(&self.reader.more()[from..self.more_at]);
        }
        let timing = code.timing(inst.id);
        let mut after = None;
        if self.at >= self.next_event || timing.work == Work::Exception {
            after = Some(self.steps_after(timing));
        }
        if self.at == self.batch.len() {
            self.next_batch()?;
        }
        let next = match timing.branch {
            BranchKind::None => None,
            _ => self.next_pc(&inst, after.as_ref(), code),
        };
        sink.begin(inst.id, self.core.cycle());
        self.core.step(&inst, &more[..further], timing, next, memory, sink);
        if next.is_some()
            && let Some(path) = self.core.take_wrong_path()
        {
            self.core.execute_wrong_path(path, code, memory, sink);
        }
        if let Some(after) = after {
            self.take(after, sink);
        }
        if self.core.instructions() >= self.next_change {
            self.ended |= self.follow_part(sink);
        }
        Ok(())
    }

    /// Lets the part of the run that counts follow an instruction. Returns whether the thread
    /// stops.
    fn follow_part<S: A53Sink + AsRef<A53Counts>>(&mut self, sink: &mut S) -> bool {
        let Some(watch) = &mut self.watch else { return true };
        let was_open = watch.is_open();
        let stops = watch.after(&self.core, sink.as_ref());
        if watch.is_open() != was_open {
            sink.counting(!was_open, self.core.passed());
        }
        stops
    }

    /// Returns the address of the next instruction of the stream; `None` where it breaks off.
    #[inline]
    fn next_pc(&self, inst: &TraceInst, after: Option<&After>, code: &Code) -> Option<u64> {
        let breaks = after.is_some_and(|after| after.exceptions > 0)
            || inst.flags.has(InstFlags::DISCONTINUITY);
        let next = if self.ended { self.beyond } else { Some(self.batch[self.at].id) };
        next.filter(|_| !breaks).map(|id| code.timing(id).pc)
    }

    /// Takes the steps after an instruction. Exceptions count at the level to which they are taken
    /// (erratum 855827).
    #[cold]
    fn take<S: A53Sink>(&mut self, after: After, sink: &mut S) {
        let at = self.core.at_write_back();
        if let Some(access) = after.access {
            sink.note(A53Note::Register(access), at);
        }
        if let Some(to) = after.entered {
            sink.note(A53Note::Enter(to), at);
        }
        for _ in 0..after.exceptions {
            self.core.take_exception(after.vector, sink);
        }
    }

    /// Returns what follows the current instruction. In a trace without the kernel, the instruction
    /// itself takes an exception.
    #[cold]
    fn steps_after(&mut self, timing: &Timing) -> After {
        let mut after = After::default();
        while self.at >= self.next_event {
            after.add(&self.reader.events()[self.event_at].event);
            self.event_at += 1;
            self.find_event();
        }
        if after.exceptions == 0 && timing.work == Work::Exception {
            (after.exceptions, after.vector) = (1, 0);
        }
        after
    }
}

/// Steps of the program after an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct After {
    exceptions: u32,
    /// Vector of the last exception.
    vector: u32,
    /// Level of the last exception, if its handler follows; `None` inside if it is not recorded.
    entered: Option<Option<Privilege>>,
    access: Option<RegisterAccess>,
}

impl After {
    fn add(&mut self, event: &StreamEvent) {
        match *event {
            StreamEvent::Exception { vector, level, state, .. } => {
                let bit = |n: u8| state >> n & 1 == 1;
                let to =
                    Privilege { level: level.min(3), e2h: bit(0), tge: bit(1), secure: bit(2) };
                self.exceptions += 1;
                self.vector = vector;
                self.entered = Some((level > 0).then_some(to));
            }
            StreamEvent::Register { encoding, value, is_write } => {
                self.access = Some(RegisterAccess { encoding, value, is_write });
            }
            _ => {}
        }
    }
}

/// Ends the run of a core, and returns its result.
pub(crate) fn outcome<S: A53Sink + AsRef<A53Counts>>(
    stream: u32,
    core: Core,
    memory: &mut ClusterMemory,
    sink: &mut S,
) -> A53CoreOutcome {
    outcome_of(stream, core, None, memory, sink)
}

fn outcome_of<S: A53Sink + AsRef<A53Counts>>(
    stream: u32,
    mut core: Core,
    watch: Option<Watch>,
    memory: &mut ClusterMemory,
    sink: &mut S,
) -> A53CoreOutcome {
    let cycles = core.finish(memory, sink);
    let mut totals = Totals::of(&core, sink.as_ref(), cycles);
    if let Some(watch) = watch {
        totals = watch.finish(&totals);
    }
    A53CoreOutcome {
        stream,
        cycles: totals.cycles,
        instructions: totals.counts.value(A53Event::INST_RETIRED),
        two_retired: totals.two_retired,
        foreign: totals.foreign,
        unknown: totals.unknown,
        lost_exclusives: memory.lost_exclusives(stream as usize),
        slots: totals.slots,
        counts: totals.counts,
    }
}

/// Returns an error if no thread has reached the part that is to be counted.
fn part_began(trace: &TraceFile, part: &Part, threads: &[Thread]) -> Result<(), A53Error> {
    let began = |thread: &Thread| thread.watch.as_ref().is_none_or(Watch::ever_began);
    let instructions = |thread: &Thread| thread.core.instructions();
    let longest = threads.iter().map(instructions).max().unwrap_or(0);
    // The warm-up of a span also counts instructions that do not retire.
    let is_plain = part.region.is_none() && part.span.is_none();
    let all_warmed_only = is_plain && part.warmup >= longest && part.warmup > 0;
    if threads.iter().any(began) && !all_warmed_only {
        return Ok(());
    }
    let trace = trace.path().to_string_lossy().into_owned();
    Err(match part.region {
        None => A53Error::WarmupTooLong { trace, warmup: part.warmup, instructions: longest },
        Some(_) => A53Error::RegionNotReached {
            trace,
            instructions: threads.iter().map(instructions).sum(),
        },
    })
}
