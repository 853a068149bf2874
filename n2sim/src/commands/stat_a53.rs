//! `n2sim stat --core cortex-a53`: replays a trace on a Cortex-A53 cluster.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use sim_a53::{A53Config, A53CoreOutcome, A53Event, Mark, Part, Region};
use sim_core::Shown;
use sim_machine::{Marker, RunOptions};
use sim_report::a53_stat::{self, A53Format, A53Owner};
use sim_report::metrics::{self, MetricRow};
use sim_trace::TraceFile;

use super::stat::StatArgs;
use crate::counting::a53_events;
use crate::counting::a53_metrics::{A53Metric, Counts, with_counts};
use crate::files::output::Output;
use crate::files::{a53_config, metric_files, open_trace};
use crate::host::{memory, speed};
use crate::shared_args::EventArgs;
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

/// Runs the trace and prints the counts.
pub(super) fn run(args: &StatArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let counts = &args.counts;
    let requested = events(&counts.events.event)?;
    let metrics = wanted_metrics(&counts.events)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut io::stderr(), &args.trace, &trace)?;
    let mut out = Output::create(counts.format.output.as_deref())?;
    let start = Instant::now();
    let cores = sim_a53::run_part(&trace, &config, &part(args, &trace)?)?;
    if counts.verbose {
        let instructions = cores.iter().map(|core| core.instructions).sum();
        speed::write_speed(&mut io::stderr(), instructions, start.elapsed())?;
    }
    let chosen = match (requested.is_empty(), counts.all || counts.format.is_for_programs()) {
        _ if !metrics.is_empty() => with_events_of(&metrics, &requested),
        (false, _) => requested.clone(),
        (true, true) => named(&A53Event::ALL),
        (true, false) => named(&SHORT),
    };
    print(&mut out, args, &config, &cores, &Chosen { events: &chosen, metrics: &metrics })?;
    out.finish()?;
    with_counts(&cores, config.cluster.clock_hz, |counts| note_troubles(&metrics, counts))?;
    note_instructions(&cores)?;
    note_unraised(&requested)?;
    Ok(Verdict::Good)
}

/// Returns the part of the trace that is counted.
fn part(args: &StatArgs, trace: &TraceFile) -> anyhow::Result<Part> {
    let RunOptions { warmup, limit, roi } = args.region.run_options()?;
    let mark = |marker: &Marker| match marker {
        Marker::Hint(number) => Ok(Mark::hint(*number)),
        Marker::Symbol(name) => match trace.meta().symbol(name) {
            Some(symbol) => Ok(Mark::Address(symbol.addr)),
            None => anyhow::bail!(
                "{}: no function named '{name}' among the {} symbols of the trace; a marker can also be \
                 a HINT number, such as --roi 40,41",
                args.trace.shown(),
                trace.meta().symbols.len()
            ),
        },
    };
    let region = match &roi {
        Some(roi) => Some(Region { begin: mark(&roi.begin)?, end: mark(&roi.end)? }),
        None => None,
    };
    Ok(Part { warmup, limit, region })
}

fn print(
    out: &mut Output,
    args: &StatArgs,
    config: &A53Config,
    cores: &[A53CoreOutcome],
    chosen: &Chosen<'_>,
) -> anyhow::Result<()> {
    let counts = &args.counts;
    let events = chosen.events;
    let stem = Path::new(args.trace.file_stem().unwrap_or_default());
    let program = stem.shown().to_string();
    let program = counts.per_thread.then_some(program.as_str());
    let owners = A53Owner::of(cores, events, config.cluster.clock_hz, program);
    let rows = chosen.rows(cores, config.cluster.clock_hz, program);
    if let Some(separator) = counts.format.separator() {
        a53_stat::write_counts(out, &owners, &A53Format::Separated(separator.clone()))?;
        return Ok(metrics::write_csv(out, &rows, &separator, false)?);
    }
    if counts.format.json {
        a53_stat::write_counts(out, &owners, &A53Format::Json)?;
        return Ok(metrics::write_json(out, &rows)?);
    }
    writeln!(out, "\n Performance counter stats for '{}' (Cortex-A53):\n", args.trace.shown())?;
    a53_stat::write_counts(out, &owners, &A53Format::Text)?;
    writeln!(out)?;
    if !rows.is_empty() {
        metrics::write_text(out, &rows)?;
    }
    a53_stat::write_speed(out, cores, config.cluster.clock_hz)?;
    if counts.stalls {
        writeln!(out)?;
        a53_stat::write_slots(out, cores)?;
    }
    Ok(())
}

/// Events and metrics to print.
struct Chosen<'a> {
    events: &'a [(String, A53Event)],
    metrics: &'a [A53Metric],
}

impl Chosen<'_> {
    /// Returns the values of the metrics of all cores together, or of each thread of `program`.
    fn rows(
        &self,
        cores: &[A53CoreOutcome],
        clock_hz: u64,
        program: Option<&str>,
    ) -> Vec<MetricRow> {
        let row = |metric: &A53Metric, cores: &[A53CoreOutcome], thread| {
            with_counts(cores, clock_hz, |counts| metric.row(counts, thread))
        };
        let rows = |metric| match program {
            None => vec![row(metric, cores, None)],
            Some(program) => cores
                .iter()
                .map(|core| {
                    let name = format!("{program}-{}", core.stream);
                    row(metric, std::slice::from_ref(core), Some(name))
                })
                .collect(),
        };
        self.metrics.iter().flat_map(rows).collect()
    }
}

/// Returns the metrics of all -M options.
fn wanted_metrics(args: &EventArgs) -> anyhow::Result<Vec<A53Metric>> {
    if args.metric.is_empty() {
        return Ok(Vec::new());
    }
    let catalog = metric_files::a53_catalog(&args.metrics)?;
    let chosen = metric_files::chosen_on(&args.metric, &catalog, " --core cortex-a53")?;
    chosen.into_iter().map(|metric| A53Metric::new(metric, &catalog)).collect()
}

/// Returns the requested events, then those of the metrics, each once.
fn with_events_of(
    metrics: &[A53Metric],
    requested: &[(String, A53Event)],
) -> Vec<(String, A53Event)> {
    let mut all = requested.to_vec();
    for event in metrics.iter().flat_map(|metric| metric.linked.a53_events()) {
        if !all.iter().any(|(_, own)| *own == event) {
            all.push((event.mnemonic().to_lowercase(), event));
        }
    }
    all
}

/// Notes metrics without a value, with the reason.
fn note_troubles(metrics: &[A53Metric], counts: &Counts<'_>) -> io::Result<()> {
    for trouble in metrics.iter().filter_map(|metric| metric.trouble(counts)) {
        writeln!(io::stderr(), "n2sim: note: {trouble}")?;
    }
    Ok(())
}

/// Refuses the options that only the Neoverse N2 has yet.
fn refuse_others(args: &StatArgs) -> anyhow::Result<()> {
    let counts = &args.counts;
    let refused = [
        (args.interval_print.is_some(), "-I"),
        (args.truth, "--truth"),
        (args.mux_interval.is_some(), "--mux-interval"),
        (counts.perf_data.is_some(), "--perf-data"),
        (counts.header, "--header"),
        (counts.prefetch, "--prefetch"),
        (!args.is_full_mode(), "--mode"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use -e, -M, --all, \
             --stalls, --per-thread, --warmup, --limit, --roi, --config, --set, --seed, -x, -j or -o"
        ),
        None => Ok(()),
    }
}

/// Returns these events with their mnemonics.
pub(super) fn named(events: &[A53Event]) -> Vec<(String, A53Event)> {
    events.iter().map(|event| (event.mnemonic().to_lowercase(), *event)).collect()
}

/// Returns the events of all -e options, with the names given there: mnemonics in any case, or rNN.
pub(super) fn events(lists: &[String]) -> anyhow::Result<Vec<(String, A53Event)>> {
    let names = lists.iter().flat_map(|list| list.split(',')).map(str::trim);
    let event = |name: &str| match a53_events::named(name) {
        Ok(event) => Ok((name.to_owned(), event)),
        Err(error) => anyhow::bail!("-e {name}: {error}"),
    };
    names.filter(|name| !name.is_empty()).map(event).collect()
}

/// Notes requested events that no run raises, with the reason.
fn note_unraised(requested: &[(String, A53Event)]) -> io::Result<()> {
    for (name, event) in requested {
        if let Some(why) = sim_a53::event::never_raised(*event) {
            writeln!(io::stderr(), "n2sim: note: {name} is always 0: {why}")?;
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
            io::stderr(),
            "n2sim: note: {unknown} instructions are unknown to the decoder and ran as one-cycle \
             operations"
        )?;
    }
    let lost: u64 = cores.iter().map(|core| core.lost_exclusives).sum();
    if lost > 0 {
        writeln!(
            io::stderr(),
            "n2sim: note: {lost} store-exclusives succeed as recorded, although this run had lost \
             their line in between: a real core would fail and retry"
        )?;
    }
    let foreign: u64 = cores.iter().map(|core| core.foreign).sum();
    if foreign == 0 {
        return Ok(());
    }
    writeln!(
        io::stderr(),
        "n2sim: note: {foreign} instructions are SVE or atomics of LSE, which no Cortex-A53 has: \
         they are timed as Advanced SIMD of 128 bits, or as a load and a store"
    )
}
