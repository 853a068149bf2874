//! `n2sim stat`: replays a trace and prints its counts as `perf stat` would.

pub(crate) mod exact;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use sim_core::PmuEvent;
use sim_machine::{MachineConfig, Mode};
use sim_pmu::perf::{Reading, Status};
use sim_report::perf_stat::Columns;
use sim_report::stat;

use super::stat_a53;
use crate::counting::counted_run::{Measured, Method, Replay, Request};
use crate::counting::counts_file::CountsFile;
use crate::counting::event_list;
use crate::counting::interval::{self, Interval};
use crate::counting::mesh_events::MeshEvents;
use crate::counting::metric_events::{Metrics, Sharing};
use crate::counting::notes::write_unknown_words;
use crate::counting::print::{Printer, write_header};
use crate::counting::setup::Setup;
use crate::files::metric_files;
use crate::files::open_trace::NamedTrace;
use crate::files::output::Output;
use crate::host::call;
use crate::host::progress::{expected, with_progress};
use crate::host::signals::Keeper;
use crate::host::speed;
use crate::shared_args::{CoreName, CountArgs, CountersArgs, MachineArgs, RegionArgs, time_slice};
use crate::verdict::Verdict;

/// Replay a trace and print its counts as `perf stat` would
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim stat traces/hash.n2t\n          \
    n2sim stat traces/hash.n2t -e cycles,instructions,l1d_cache_refill --stalls\n          \
    n2sim stat traces/hash.n2t -e '{r08,r1b}:S,r03,r04,r05,r14,r21,r22,r24' --mux-interval 20us --truth")]
pub(crate) struct StatArgs {
    /// The trace to replay
    trace: PathBuf,
    #[command(flatten)]
    replay: ReplayArgs,
}

/// The counts of a replay, their form, and the machine: the options that `stat` and `run` share.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) counts: CountArgs,
    /// Print counts every MS milliseconds of modeled time
    ///
    /// Fractions are allowed.
    #[arg(short = 'I', long, value_name = "MS", allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["metric", "totals"], help_heading = "Output")]
    pub(super) interval_print: Option<f64>,
    /// Print the exact count and the error beside each multiplexed count
    #[arg(
        long,
        requires = "counted",
        conflicts_with = "interval_print",
        help_heading = "Counters"
    )]
    pub(super) truth: bool,
    /// Modeled time between two counter rotations (default: 4ms)
    ///
    /// The units are s, ms, us and ns. With -M, counters are multiplexed only if this option or
    /// --truth is given.
    #[arg(long, alias = "tick", value_name = "TIME", value_parser = time_slice)]
    #[arg(requires = "counted", allow_negative_numbers = true, help_heading = "Counters")]
    pub(super) mux_interval: Option<u64>,
    /// Give each event of -e a counter for the whole run
    #[arg(long, requires = "counted", help_heading = "Counters")]
    no_multiplex: bool,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    #[command(flatten)]
    mode: ModeArgs,
    /// Simulated core
    ///
    /// The Cortex-A53 has its own events, sizes and options (docs/cortex-a53.md).
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    /// Run the threads of the trace at the same time, on N CPUs of the host
    ///
    /// The counts are the same for every N. Cores that use one line run in exact order
    /// (docs/parallel-replay.md).
    #[arg(long, value_name = "N", help_heading = "Machine", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) cpus: Option<u16>,
}

/// The simulated part of the machine.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Machine")]
struct ModeArgs {
    /// Simulated part of the machine
    ///
    /// A part runs faster and gives fewer events (docs/modes.md).
    #[arg(long, value_enum, default_value_t)]
    mode: ModeName,
}

/// A part of the machine, as the command line names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ModeName {
    /// The whole machine
    #[default]
    Full,
    /// TLBs, caches and memory in program order, without the pipeline
    Memory,
    /// Branch prediction and instruction fetch in program order, without the pipeline and data
    Frontend,
}

/// perf's time between two rotations of the counters, in nanoseconds.
pub(crate) const MUX_INTERVAL_NS: u64 = 4_000_000;

impl ReplayArgs {
    /// Returns whether the simulated core is a Cortex-A53.
    pub(super) fn is_on_a53(&self) -> bool {
        self.core == CoreName::CortexA53
    }

    /// Returns whether the whole machine is simulated.
    pub(super) fn is_full_mode(&self) -> bool {
        self.mode() == Mode::Full
    }

    fn mode(&self) -> Mode {
        match self.mode.mode {
            ModeName::Full => Mode::Full,
            ModeName::Memory => Mode::Memory,
            ModeName::Frontend => Mode::Frontend,
        }
    }

    /// Returns the time between rotations in nanoseconds, if an option asks for shared counters.
    pub(super) fn rotation_ns(&self) -> Option<u64> {
        let is_requested = !self.no_multiplex && (self.mux_interval.is_some() || self.truth);
        is_requested.then(|| self.mux_interval.unwrap_or(MUX_INTERVAL_NS))
    }

    /// Returns how events without a counter of their own are counted. They are multiplexed with -e
    /// alone; with -M only if an option of the counters asks for it.
    fn method(&self) -> Method {
        let is_requested = self.mux_interval.is_some() || self.truth;
        let has_metrics = !self.counts.events.metric.is_empty();
        match !self.no_multiplex && (is_requested || !has_metrics) {
            true => Method::Multiplexed(self.mux_interval.unwrap_or(MUX_INTERVAL_NS)),
            false => Method::Passes,
        }
    }

    /// Refuses options that have no counts of the mesh.
    fn check_mesh(&self, mesh: &MeshEvents) -> anyhow::Result<()> {
        if self.interval_print.is_some() {
            mesh.refuse("-I", "events of the mesh are counted over the whole run")?;
        }
        if self.counts.per_thread {
            mesh.refuse("--per-thread", "the mesh counts for all cores together")?;
        }
        if self.counts.perf_data.is_some() {
            mesh.refuse("--perf-data", "the file has events of cores")?;
        }
        if self.mode() == Mode::Frontend {
            mesh.refuse("--mode frontend", "no data is accessed")?;
        }
        Ok(())
    }

    /// Refuses options that have no metrics of the mesh.
    fn check_mesh_metrics(&self, metrics: &Metrics) -> anyhow::Result<()> {
        if self.counts.per_thread {
            metrics.refuse_mesh("--per-thread", "the mesh counts for all cores together")?;
        }
        match self.mode() {
            Mode::Full => Ok(()),
            mode => metrics.refuse_mesh(&format!("--mode {}", mode.name()), "no time passes in it"),
        }
    }

    /// Refuses options that need the pipeline, or a time that a part of the machine does not have.
    fn check_mode(&self) -> anyhow::Result<()> {
        let (mode, counts) = (self.mode(), &self.counts);
        if mode == Mode::Full {
            return Ok(());
        }
        let refused = [
            (self.truth, "--truth", "every event has a counter of its own"),
            (
                counts.perf_data.is_some(),
                "--perf-data",
                "the file cannot say which counts there are",
            ),
            (self.interval_print.is_some(), "-I", "no cycles are counted"),
            (counts.stalls, "--stalls", "there are no rename slots"),
            (counts.prefetch, "--prefetch", "prefetches are judged by the time of their use"),
        ];
        match refused.iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, why)) => {
                anyhow::bail!("{option} needs --mode full: in --mode {} {why}", mode.name())
            }
            None => Ok(()),
        }
    }
}

/// Runs the trace and prints the requested counts.
pub(crate) fn run(args: &StatArgs) -> anyhow::Result<Verdict> {
    count((&args.trace).into(), &args.replay)
}

/// Cycles in a second of a clock of 1 GHz.
const NS_PER_S: u64 = 1_000_000_000;

/// Refuses wrong options, as [`count`] does. For a trace that is not recorded yet.
pub(super) fn check(args: &ReplayArgs) -> anyhow::Result<()> {
    args.core.require_timing_model()?;
    args.region.run_options()?;
    if let Some(milliseconds) = args.interval_print {
        // The trace, whose length decides on too many intervals, is not there yet.
        Interval::new(milliseconds, NS_PER_S, 0)?;
    }
    Output::check(args.counts.format.output.as_deref())?;
    Output::check(args.counts.perf_data.as_deref())?;
    if args.core == CoreName::CortexA53 {
        return stat_a53::check(args);
    }
    args.check_mode()?;
    let events = &args.counts.events;
    let (mesh, of_core) = MeshEvents::take(&events.event)?;
    args.check_mesh(&mesh)?;
    event_list::parse_all::<PmuEvent>(&of_core)?;
    if !events.metric.is_empty() {
        metric_files::chosen(&events.metric, &metric_files::catalog(&events.metrics)?)?;
    }
    let overrides = args.machine.overrides();
    MachineConfig::from_document(&args.machine.source(&overrides).document()?)?;
    Ok(())
}

/// Runs a trace and prints the requested counts.
pub(super) fn count(trace: NamedTrace<'_>, args: &ReplayArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.counters.is_given() && args.counts.events.is_empty() {
        anyhow::bail!("--counters shares counters among events: name them with -e or -M");
    }
    if args.core == CoreName::CortexA53 {
        return stat_a53::run(&trace, args);
    }
    args.check_mode()?;
    let counts = &args.counts;
    let (mesh, of_core) = MeshEvents::take(&counts.events.event)?;
    args.check_mesh(&mesh)?;
    let mut groups = event_list::parse_all(&of_core)?;
    let options = args.region.run_options()?;
    let mut setup = Setup::open(trace, &args.machine, args.mode(), counts.stalls)?;
    let sharing = match args.method() {
        Method::Multiplexed(_) => Sharing::Groups(args.counters.counters),
        Method::Passes => Sharing::Exact,
    };
    if let Some(cpus) = args.cpus {
        setup.session = setup.session.on_cpus(cpus.into());
    }
    mesh.check(&setup.session)?;
    let metrics = setup.metrics(&counts.events, &groups, sharing)?;
    args.check_mesh_metrics(&metrics)?;
    if !mesh.is_empty() || metrics.of_mesh().is_some() {
        setup.session = setup.session.with_mesh();
    }
    groups.extend_from_slice(metrics.requested());
    let request = setup.request(&groups)?.on(args.counters.counters);
    // From the first file on, a signal ends the run with its results.
    let keeper = Keeper::for_first();
    let output = Output::create(counts.format.output.as_deref())?;
    let perf_data =
        counts.perf_data.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let replay = Replay {
        session: &setup.session,
        options: &options,
        request: &request,
        has_stall_slot_erratum: setup.has_stall_slot_erratum,
    };
    let start = Instant::now();
    let (rounds, instructions) = match args.interval_print {
        Some(milliseconds) => count_intervals(output, args, &replay, milliseconds)?,
        None => count_once(output, args, &replay, &metrics, &mesh)?,
    };
    if counts.verbose {
        speed::write_speed(&mut call::stderr(), instructions, start.elapsed())?;
    }
    if let Some(mut file) = perf_data {
        rounds.write(&mut file)?;
        file.finish()?;
    }
    keeper.end(instructions, expected(&setup.session, &options))?;
    Ok(Verdict::Good)
}

/// Counts every event, or the requested ones with the counters of a core.
fn measure(args: &ReplayArgs, replay: &Replay<'_>) -> anyhow::Result<(Measured, u64)> {
    let Replay { session, options, request, .. } = replay;
    with_progress(session, options, |progress| {
        if args.mode() != Mode::Full {
            return Ok(request.of(session.run(options, progress)?));
        }
        if request.events.is_empty() {
            return Ok(Measured::of_all(session.run(options, progress)?));
        }
        Ok(request.measure(session, options, args.method(), progress)?)
    })
}

/// Counts and prints the whole run.
fn count_once(
    out: Output,
    args: &ReplayArgs,
    replay: &Replay<'_>,
    metrics: &Metrics,
    mesh: &MeshEvents,
) -> anyhow::Result<(CountsFile, u64)> {
    let (measured, instructions) = measure(args, replay)?;
    let has_truth = args.truth;
    let (counts, mesh) = (&args.counts, &mesh.rows(&measured.outcome, has_truth)?);
    let printer = Printer { args: counts, replay, metrics, has_truth, mesh, errors: None };
    printer.print(out, &measured)?;
    mesh.write_notes(&mut call::stderr())?;
    write_notes(&mut call::stderr(), args, replay.request, &measured)?;
    for trouble in metrics.troubles(&measured) {
        writeln!(call::stderr(), "n2sim: note: {trouble}")?;
    }
    Ok((CountsFile::of_run(replay, &measured, None), instructions))
}

/// Counts and prints the run interval by interval.
fn count_intervals(
    mut out: Output,
    args: &ReplayArgs,
    replay: &Replay<'_>,
    milliseconds: f64,
) -> anyhow::Result<(CountsFile, u64)> {
    let Replay { session, options, .. } = replay;
    let ((outcome, intervals), instructions) = with_progress(session, options, |progress| {
        interval::measure(replay, args.method(), milliseconds, progress)
    })?;
    let counts = &args.counts;
    let columns =
        Columns { time: true, thread: counts.per_thread, truth: args.truth, ..Columns::default() };
    write_header(&mut out, &counts.format, counts.header.then_some(columns), &outcome)?;
    interval::write(&mut out, counts, replay, &outcome, &intervals)?;
    out.finish()?;
    write_unknown_words(&mut call::stderr(), &outcome)?;
    let mut file = CountsFile::new(replay, &outcome, Some(milliseconds));
    for interval in &intervals {
        file.add(interval.time_ns, &interval.cores);
    }
    Ok((file, instructions))
}

/// Writes notes for the reader of the counts.
fn write_notes(
    out: &mut impl Write,
    args: &ReplayArgs,
    request: &Request,
    measured: &Measured,
) -> io::Result<()> {
    let outcome = &measured.outcome;
    write_unknown_words(out, outcome)?;
    if measured.passes > 1 {
        let passes = measured.passes;
        writeln!(
            out,
            "n2sim: note: exact counts, for which a machine would have needed {passes} runs"
        )?;
    }
    if !args.counts.events.metric.is_empty() {
        write_multiplexing(out, measured)?;
    }
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
    let shared = Shared {
        readings: &measured.readings,
        is_pinned: request.groups.iter().any(|group| group.pinned),
        cycles: cycles.max().unwrap_or(0),
        clock_hz: outcome.clock_hz,
    };
    write_not_counted(out, args, &shared)?;
    for note in &outcome.notes {
        writeln!(out, "n2sim: note: {note}")?;
    }
    Ok(())
}

/// A run whose events shared the counters of a core.
pub(super) struct Shared<'a> {
    pub(super) readings: &'a [Vec<Reading>],
    /// A group is pinned.
    pub(super) is_pinned: bool,
    /// Counted cycles of the core that counted longest.
    pub(super) cycles: u64,
    pub(super) clock_hz: u64,
}

/// Notes events that were never on a counter, with the remedy.
pub(super) fn write_not_counted(
    out: &mut impl Write,
    args: &ReplayArgs,
    run: &Shared<'_>,
) -> io::Result<()> {
    let has_none = |reading: &Reading| reading.status == Status::NotCounted;
    let events = run.readings.first().map_or(0, Vec::len);
    let nowhere = |event: &usize| run.readings.iter().all(|core| has_none(&core[*event]));
    let missed = (0..events).filter(nowhere).count();
    if missed == 0 {
        return Ok(());
    }
    let ms = run.cycles as f64 * 1e3 / run.clock_hz as f64;
    let pinned = if run.is_pinned { "pinned events (:D) never give up theirs, " } else { "" };
    let remedy = match args.counts.events.metric.is_empty() {
        true => "use fewer events, a shorter --mux-interval, or --no-multiplex for exact counts",
        false => {
            "use a shorter --mux-interval; without --mux-interval and --truth the values are exact"
        }
    };
    writeln!(
        out,
        "n2sim: note: {missed} of {events} events were never on a counter: {pinned}a time slice takes {} ms and \
         the run {ms:.3} ms; {remedy}",
        args.mux_interval.unwrap_or(MUX_INTERVAL_NS) as f64 / 1e6
    )
}

/// Notes that values of metrics are scaled from counters that did not count all the time.
fn write_multiplexing(out: &mut impl Write, measured: &Measured) -> io::Result<()> {
    let all: Vec<Reading> = stat::sum(&measured.readings);
    let is_scaled = |reading: &&Reading| reading.running > 0 && reading.running < reading.enabled;
    let scaled: Vec<&Reading> = all.iter().filter(is_scaled).collect();
    let Some(least) = scaled.iter().map(|reading| reading.share()).reduce(f64::min) else {
        return Ok(());
    };
    let (some, events, percent) = (scaled.len(), all.len(), 100.0 * least);
    writeln!(
        out,
        "n2sim: note: values are estimates: the counters were multiplexed, {some} of {events} counts are scaled from \
         a part of the run ({percent:.1} % or more); without --mux-interval and --truth they are exact"
    )
}
