//! `n2sim stat --core cortex-a53`: replays a trace on a Cortex-A53 cluster.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use sim_a53::{A53Config, A53CoreOutcome, A53Event, Mark, Part, Region};
use sim_machine::{Marker, RunOptions};
use sim_pmu::perf::PerfEvent;
use sim_report::a53_counts::{ClusterCounts, with_counts};
use sim_report::a53_stat::{self, A53Counted};
use sim_report::metrics::{self, MetricRow};
use sim_report::{Owner, Selected, perf_stat};
use sim_trace::TraceFile;

use super::stat::{ReplayArgs, Shared, write_not_counted};
use crate::counting::a53_metrics::A53Metric;
use crate::counting::a53_run::{self, A53Measured, A53Run};
use crate::counting::counted_run::Request;
use crate::counting::event_list::{self, EventGroup};
use crate::counting::interval::Interval;
use crate::counting::setup::NO_KERNEL;
use crate::files::open_trace::{self, NamedTrace};
use crate::files::output::Output;
use crate::files::{a53_config, metric_files};
use crate::host::call;
use crate::host::{memory, speed};
use crate::shared_args::{CountArgs, EventArgs, RegionArgs};
use crate::verdict::Verdict;

/// Events of a report without -e.
const SHORT: [A53Event; 24] = [
    A53Event::CPU_CYCLES,
    A53Event::INST_RETIRED,
    A53Event::LD_RETIRED,
    A53Event::ST_RETIRED,
    A53Event::BR_PRED,
    A53Event::BR_MIS_PRED,
    A53Event::L1I_CACHE,
    A53Event::L1I_CACHE_REFILL,
    A53Event::L1I_TLB_REFILL,
    A53Event::L1D_CACHE,
    A53Event::L1D_CACHE_REFILL,
    A53Event::L1D_CACHE_WB,
    A53Event::L1D_TLB_REFILL,
    A53Event::L2D_CACHE,
    A53Event::L2D_CACHE_REFILL,
    A53Event::PREFETCH_LINEFILL,
    A53Event::OTHER_IQ_DEP_STALL,
    A53Event::IC_DEP_STALL,
    A53Event::IUTLB_DEP_STALL,
    A53Event::OTHER_INTERLOCK_STALL,
    A53Event::AGU_DEP_STALL,
    A53Event::SIMD_DEP_STALL,
    A53Event::LD_DEP_STALL,
    A53Event::ST_DEP_STALL,
];

/// Events and metrics that a command was asked for.
pub(super) struct Asked {
    requested: Vec<EventGroup<A53Event>>,
    metrics: Vec<A53Metric>,
    /// Events to count and print.
    pub(super) groups: Vec<EventGroup<A53Event>>,
}

impl Asked {
    /// Returns what the options ask for.
    pub(super) fn of(counts: &CountArgs) -> anyhow::Result<Asked> {
        let requested = event_list::parse_all(&counts.events.event)?;
        let metrics = wanted_metrics(&counts.events)?;
        let groups = match (requested.is_empty(), counts.all || counts.format.is_for_programs()) {
            _ if !metrics.is_empty() => with_events_of(&metrics, &requested),
            (false, _) => requested.clone(),
            (true, true) => groups_of(&A53Event::ALL),
            (true, false) => groups_of(&SHORT),
        };
        Ok(Asked { requested, metrics, groups })
    }

    /// Notes what a reader of the counts has to know.
    pub(super) fn note(&self, cores: &[A53CoreOutcome], clock_hz: u64) -> io::Result<()> {
        with_counts(cores, clock_hz, |counts| note_troubles(&self.metrics, counts))?;
        note_instructions(cores)?;
        note_unraised(&self.requested)
    }
}

/// Refuses wrong options, as [`run`] does.
pub(super) fn check(args: &ReplayArgs) -> anyhow::Result<()> {
    refuse_others(args)?;
    Asked::of(&args.counts)?;
    a53_config::of(&args.machine)?;
    Ok(())
}

/// Runs the trace and prints the counts.
pub(super) fn run(source: &NamedTrace<'_>, args: &ReplayArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let counts = &args.counts;
    let asked = Asked::of(counts)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(source.path, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), Path::new(&source.name), &trace)?;
    let request = Request::new(&asked.groups, trace.meta().machine.full_system);
    let request = request.on(args.counters.counters);
    if request.lacks_kernel() {
        writeln!(call::stderr(), "{NO_KERNEL}")?;
    }
    let mut out = Output::create(counts.format.output.as_deref())?;
    let part = &part(&args.region, &source.name, &trace)?;
    let run = A53Run { trace: &trace, config: &config, part, request: &request };
    let clock_hz = config.cluster.clock_hz;
    let interval = interval(args, &config, &trace)?;
    let measured = measure(args, &run, interval)?;
    let names = a53_run::names(&request.events);
    let printer = A53Printer { source, counts, names: &names, clock_hz, measured: &measured };
    match interval {
        Some(_) => printer.print_intervals(&mut out, &request)?,
        None => printer.print(&mut out, &asked, args.truth)?,
    }
    out.finish()?;
    if args.rotation_ns().is_some() {
        let shared = Shared {
            readings: &measured.readings,
            is_pinned: request.groups.iter().any(|group| group.pinned),
            cycles: measured.cycles(),
            clock_hz,
        };
        write_not_counted(&mut call::stderr(), args, &shared)?;
    }
    asked.note(&measured.cores, clock_hz)?;
    Ok(Verdict::Good)
}

/// Runs and counts.
fn measure(
    args: &ReplayArgs,
    run: &A53Run<'_>,
    interval: Option<Interval>,
) -> anyhow::Result<A53Measured> {
    let start = Instant::now();
    let whole = Interval::whole(run.config.cluster.clock_hz);
    let measured = match (args.rotation_ns(), interval) {
        (None, None) => run.count()?,
        (rotation, interval) => run.measure(rotation, interval.unwrap_or(whole))?,
    };
    if args.counts.verbose {
        let instructions = measured.cores.iter().map(|core| core.instructions).sum();
        speed::write_speed(&mut call::stderr(), instructions, start.elapsed())?;
    }
    Ok(measured)
}

/// Returns the intervals of -I.
fn interval(
    args: &ReplayArgs,
    config: &A53Config,
    trace: &TraceFile,
) -> anyhow::Result<Option<Interval>> {
    let interval = |ms| Interval::new(ms, config.cluster.clock_hz, trace.instructions());
    args.interval_print.map(interval).transpose()
}

/// Returns the part of the trace that is counted.
pub(super) fn part(region: &RegionArgs, name: &str, trace: &TraceFile) -> anyhow::Result<Part> {
    let RunOptions { warmup, limit, roi } = region.run_options()?;
    let mark = |marker: &Marker| match marker {
        Marker::Hint(number) => Ok(Mark::hint(*number)),
        Marker::Symbol(function) => match trace.meta().symbol(function) {
            Some(symbol) => Ok(Mark::Address(symbol.addr)),
            None => anyhow::bail!(
                "{}: no function named '{function}' among the {} symbols of the trace; a marker can also be \
                 a HINT number, such as --roi 40,41",
                name,
                trace.meta().symbols.len()
            ),
        },
    };
    let region = match &roi {
        Some(roi) => Some(Region { begin: mark(&roi.begin)?, end: mark(&roi.end)? }),
        None => None,
    };
    Ok(Part { warmup, limit, region, span: None })
}

/// Prints the counts of a run.
pub(super) struct A53Printer<'a> {
    pub(super) source: &'a NamedTrace<'a>,
    pub(super) counts: &'a CountArgs,
    /// Names of the events.
    pub(super) names: &'a [String],
    pub(super) clock_hz: u64,
    pub(super) measured: &'a A53Measured,
}

impl A53Printer<'_> {
    pub(super) fn print(
        &self,
        out: &mut Output,
        asked: &Asked,
        has_truth: bool,
    ) -> anyhow::Result<()> {
        let (counts, cores) = (self.counts, &self.measured.cores);
        let (owners, trace) = (self.owners(), self.source.name.as_str());
        let report =
            self.measured.report(trace, self.names, has_truth, owners.as_deref(), self.clock_hz);
        let rows = self.metric_rows(&asked.metrics);
        if let Some(separator) = counts.format.separator() {
            perf_stat::write_csv(out, &report, &separator)?;
            return Ok(metrics::write_csv(out, &rows, &separator, false)?);
        }
        if counts.format.json {
            perf_stat::write_json(out, &report)?;
            return Ok(metrics::write_json(out, &rows)?);
        }
        writeln!(out, "\n Performance counter stats for '{trace}' (Cortex-A53):")?;
        perf_stat::write_sections(out, &report)?;
        writeln!(out)?;
        if !rows.is_empty() {
            metrics::write_text(out, &rows)?;
        }
        a53_stat::write_speed(out, cores, self.clock_hz)?;
        if counts.stalls {
            writeln!(out)?;
            a53_stat::write_slots(out, cores)?;
        }
        Ok(())
    }

    /// Prints the counts of each interval.
    fn print_intervals(&self, out: &mut Output, request: &Request<A53Event>) -> io::Result<()> {
        let format = &self.counts.format;
        let owners = self.owners();
        for (number, interval) in self.measured.intervals.iter().enumerate() {
            let readings = request.all(self.measured.cores.len(), interval.cores.clone());
            let counted = A53Counted {
                names: self.names,
                readings: &readings,
                truth: None,
                owners: owners.as_deref(),
                clock_hz: self.clock_hz,
            };
            let report = counted.report(&self.source.name, 0).at(interval.time_ns);
            if format.json {
                perf_stat::write_json(out, &report)?;
            } else if let Some(separator) = &format.separator() {
                perf_stat::write_csv(out, &report, separator)?;
            } else {
                perf_stat::write_text_interval(out, &report, number == 0)?;
            }
        }
        Ok(())
    }

    /// Returns the threads, if their counts are printed one by one.
    fn owners(&self) -> Option<Vec<Owner>> {
        let threads = || a53_stat::threads(&self.source.program(), &self.measured.cores);
        self.counts.per_thread.then(threads)
    }

    /// Returns the values of the metrics of all cores together, or of each thread.
    fn metric_rows(&self, metrics: &[A53Metric]) -> Vec<MetricRow> {
        let row = |metric: &A53Metric, cores: &[A53CoreOutcome], thread| {
            with_counts(cores, self.clock_hz, |counts| metric.row(counts, thread))
        };
        let program = self.source.program();
        let by_thread = |metric: &A53Metric, core: &A53CoreOutcome| {
            let thread = format!("{program}-{}", core.stream);
            row(metric, std::slice::from_ref(core), Some(thread))
        };
        let cores = &self.measured.cores;
        let rows = |metric| match self.counts.per_thread {
            false => vec![row(metric, cores, None)],
            true => cores.iter().map(|core| by_thread(metric, core)).collect(),
        };
        metrics.iter().flat_map(rows).collect()
    }
}

/// Returns the metrics of all -M options.
pub(super) fn wanted_metrics(args: &EventArgs) -> anyhow::Result<Vec<A53Metric>> {
    if args.metric.is_empty() {
        return Ok(Vec::new());
    }
    let catalog = metric_files::a53_catalog(&args.metrics)?;
    let chosen = metric_files::chosen_on(&args.metric, &catalog, " --core cortex-a53")?;
    chosen.into_iter().map(|metric| A53Metric::new(metric, &catalog)).collect()
}

/// Returns the requested events, then those of the metrics, each once.
pub(super) fn with_events_of(
    metrics: &[A53Metric],
    requested: &[EventGroup<A53Event>],
) -> Vec<EventGroup<A53Event>> {
    let mut all = requested.to_vec();
    for event in metrics.iter().flat_map(|metric| metric.linked.a53_events()) {
        let own = PerfEvent::new(event);
        if !all.iter().flat_map(|group| &group.events).any(|selected| selected.event == own) {
            all.extend(groups_of(&[event]));
        }
    }
    all
}

/// Notes metrics without a value, with the reason.
fn note_troubles(metrics: &[A53Metric], counts: &ClusterCounts<'_>) -> io::Result<()> {
    for trouble in metrics.iter().filter_map(|metric| metric.trouble(counts)) {
        writeln!(call::stderr(), "n2sim: note: {trouble}")?;
    }
    Ok(())
}

/// Refuses the options that only the Neoverse N2 has.
pub(super) fn refuse_others(args: &ReplayArgs) -> anyhow::Result<()> {
    let counts = &args.counts;
    let refused = [
        (counts.perf_data.is_some(), "--perf-data"),
        (counts.header, "--header"),
        (counts.prefetch, "--prefetch"),
        (!args.is_full_mode(), "--mode"),
        (args.cpus.is_some(), "--cpus"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use -e, -M, --all, \
             --stalls, --per-thread, -I, --mux-interval, --truth, --warmup, --limit, --roi, --config, --set, \
             --seed, -x, -j or -o"
        ),
        None if !counts.events.metric.is_empty() && args.rotation_ns().is_some() => anyhow::bail!(
            "-M of a Cortex-A53 is computed from exact counts: leave --mux-interval and --truth out"
        ),
        None => Ok(()),
    }
}

/// Returns these events with their mnemonics, each as a group of its own.
pub(super) fn groups_of(events: &[A53Event]) -> Vec<EventGroup<A53Event>> {
    events.iter().map(|event| EventGroup::single(selected(*event))).collect()
}

/// Returns an event with its mnemonic.
pub(super) fn selected(event: A53Event) -> Selected<A53Event> {
    Selected { name: event.mnemonic().to_lowercase(), event: PerfEvent::new(event) }
}

/// Notes requested events that no run raises, with the reason.
fn note_unraised(requested: &[EventGroup<A53Event>]) -> io::Result<()> {
    let events = requested.iter().flat_map(|group| &group.events);
    for selected in events.filter(|selected| !event_list::is_nowhere(selected)) {
        let Selected { name, event } = selected;
        if let Some(why) = sim_a53::event::never_raised(event.event) {
            writeln!(call::stderr(), "n2sim: note: {name} is always 0: {why}")?;
        }
    }
    Ok(())
}

/// Notes instructions that the core or the decoder does not have, and outcomes that only the
/// recording has.
pub(super) fn note_instructions(cores: &[A53CoreOutcome]) -> io::Result<()> {
    let unknown: u64 = cores.iter().map(|core| core.unknown).sum();
    if unknown > 0 {
        writeln!(
            call::stderr(),
            "n2sim: note: {unknown} instructions are unknown to the decoder and ran as one-cycle \
             operations"
        )?;
    }
    let lost: u64 = cores.iter().map(|core| core.lost_exclusives).sum();
    if lost > 0 {
        writeln!(
            call::stderr(),
            "n2sim: note: {lost} store-exclusives succeed as recorded, although this run had lost \
             their line in between: a real core would fail and retry"
        )?;
    }
    let foreign: u64 = cores.iter().map(|core| core.foreign).sum();
    if foreign == 0 {
        return Ok(());
    }
    writeln!(
        call::stderr(),
        "n2sim: note: {foreign} instructions are SVE or atomics of LSE, which no Cortex-A53 has: \
         they are timed as Advanced SIMD of 128 bits, or as a load and a store; a program that chooses its code by \
         the core does not use them when it is recorded with --cpu cortex-a53"
    )
}
