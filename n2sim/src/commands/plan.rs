//! `n2sim plan`: the fewest runs that count a list of events without multiplexing, and the error of
//! counting all of them in one run.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};
use sim_a53::A53Event;
use sim_core::Shown;
use sim_machine::Mode;
use sim_pmu::CoreEvent;
use sim_pmu::perf::{Passes, PerfEvent, Plan, Reading};
use sim_report::header;
use sim_report::perf_stat::grouped;
use sim_trace::TraceFile;

use super::stat_a53;
use crate::counting::a53_run::{A53Measured, A53Run};
use crate::counting::counted_run::{Measured, Method, Request};
use crate::counting::event_list;
use crate::counting::interval::Interval;
use crate::counting::metric_events::Sharing;
use crate::counting::setup::{NO_KERNEL, Setup};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::host::progress::with_progress;
use crate::plural::number_of;
use crate::shared_args::{CoreName, CountersArgs, EventArgs, MachineArgs, RegionArgs, time_slice};
use crate::verdict::Verdict;

/// Plan the fewest runs that count events without multiplexing
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("requested").args(["event", "metric"]).multiple(true).required(true))]
#[command(
    after_help = "Examples: n2sim plan traces/hash.n2t -e cycles,r03,r04,r05,r14,r21,r22,r24\n          \
    n2sim plan traces/hash.n2t -M TopdownL1,MPKI --mux-interval 20us\n\n\
    It also prints the error of each count in one multiplexed run."
)]
pub(crate) struct PlanArgs {
    /// The trace to replay
    trace: PathBuf,
    #[command(flatten)]
    events: EventArgs,
    /// Modeled time between two counter rotations of the multiplexed run
    ///
    /// The units are s, ms, us and ns.
    #[arg(long, alias = "tick", value_name = "TIME", value_parser = time_slice, default_value = "4ms")]
    #[arg(allow_negative_numbers = true, help_heading = "Counters")]
    mux_interval: u64,
    #[command(flatten)]
    counters: CountersArgs,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    region: RegionArgs,
    /// Simulated core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Plans the runs, runs the trace once with multiplexing, and prints both.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    match args.core {
        CoreName::CortexA53 => run_a53(args),
        _ => run_n2(args),
    }
}

fn run_n2(args: &PlanArgs) -> anyhow::Result<Verdict> {
    let mut groups = event_list::parse_all(&args.events.event)?;
    let options = args.region.run_options()?;
    let setup = Setup::open(&args.trace, &args.machine, Mode::Full, false)?;
    let metrics = setup.metrics(&args.events, &groups, Sharing::Plan)?;
    metrics.refuse_mesh("plan", "it shares the counters of a core")?;
    groups.extend_from_slice(metrics.requested());
    let request = setup.request(&groups)?.on(args.counters.counters);
    let mut out = Output::create(args.output.as_deref())?;
    let plan = planned(args, &request)?;
    let method = Method::Multiplexed(args.mux_interval);
    let (measured, _) = with_progress(&setup.session, &options, |progress| {
        Ok(request.measure(&setup.session, &options, method, progress)?)
    })?;
    if out.is_file() {
        header::write(&mut out, &measured.outcome.header)?;
    } else {
        header::write(&mut call::stderr(), &measured.outcome.header)?;
    }
    let Measured { readings, truth, rotations, .. } = &measured;
    let turns = Turns { interval_ns: args.mux_interval, readings, truth, rotations: *rotations };
    write(&mut out, &request, &plan, &turns)?;
    out.finish()?;
    Ok(Verdict::Good)
}

fn run_a53(args: &PlanArgs) -> anyhow::Result<Verdict> {
    let groups = event_list::parse_all::<A53Event>(&args.events.event)?;
    let metrics = stat_a53::wanted_metrics(&args.events)?;
    let groups = stat_a53::with_events_of(&metrics, &groups);
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let request =
        Request::new(&groups, trace.meta().machine.full_system).on(args.counters.counters);
    if request.lacks_kernel() {
        writeln!(call::stderr(), "{NO_KERNEL}")?;
    }
    let mut out = Output::create(args.output.as_deref())?;
    let plan = planned(args, &request)?;
    let part = &stat_a53::part(&args.region, &args.trace.shown().to_string(), &trace)?;
    let run = A53Run { trace: &trace, config: &config, part, request: &request };
    let interval = Interval::whole(config.cluster.clock_hz);
    let measured = run.measure(Some(args.mux_interval), interval)?;
    let A53Measured { readings, truth, rotations, .. } = &measured;
    let turns = Turns { interval_ns: args.mux_interval, readings, truth, rotations: *rotations };
    write(&mut out, &request, &plan, &turns)?;
    out.finish()?;
    stat_a53::note_instructions(&measured.cores)?;
    Ok(Verdict::Good)
}

/// Returns the fewest runs for the events that the trace can answer.
fn planned<E: CoreEvent>(args: &PlanArgs, request: &Request<E>) -> anyhow::Result<Plan<E>> {
    if request.groups.is_empty() {
        anyhow::bail!("plan: none of the events can be counted in {}", args.trace.shown());
    }
    Ok(Passes::plan(&request.groups, request.counters))
}

/// Counts of a multiplexed run, and exact ones.
struct Turns<'a> {
    /// Time between rotations.
    interval_ns: u64,
    readings: &'a [Vec<Reading>],
    truth: &'a [Vec<Reading>],
    rotations: u64,
}

fn write<E: CoreEvent>(
    out: &mut impl Write,
    request: &Request<E>,
    plan: &Plan<E>,
    turns: &Turns<'_>,
) -> io::Result<()> {
    write_passes(out, request, plan)?;
    if plan.passes.len() > 1 {
        write_errors(out, request, turns)?;
    }
    Ok(())
}

fn write_passes<E: CoreEvent>(
    out: &mut impl Write,
    request: &Request<E>,
    plan: &Plan<E>,
) -> io::Result<()> {
    let distinct: usize = plan.passes.iter().map(Vec::len).sum();
    let (counts, runs) = (number_of(distinct, "count"), number_of(plan.passes.len(), "run"));
    writeln!(out, "\n {counts} in {runs} without multiplexing:\n")?;
    for (number, pass) in plan.passes.iter().enumerate() {
        let names: Vec<&str> = pass.iter().map(|event| name_of(event, request)).collect();
        writeln!(out, "   run {:>2}: {}", number + 1, names.join(","))?;
    }
    let fewest = if plan.is_fewest { "no plan needs fewer" } else { "the fewest that were found" };
    writeln!(
        out,
        "\n The machine has {} event counters and the cycle counter; {fewest}.\n",
        request.counters
    )
}

/// Returns the name of the first request of an event.
fn name_of<'a, E: CoreEvent>(event: &PerfEvent<E>, request: &'a Request<E>) -> &'a str {
    let asked = request.events.iter().find(|selected| selected.event == *event);
    asked.map_or("", |selected| selected.name.as_str())
}

fn write_errors<E: CoreEvent>(
    out: &mut impl Write,
    request: &Request<E>,
    turns: &Turns<'_>,
) -> io::Result<()> {
    let (interval, rotations) = (turns.interval_ns as f64 / 1e6, grouped(turns.rotations));
    writeln!(out, " In one run, multiplexed every {interval} ms ({rotations} rotations):\n")?;
    let head = ["counted", "estimate", "truth", "error"];
    writeln!(out, " {:>8} {:>18} {:>18} {:>10}  event", head[0], head[1], head[2], head[3])?;
    let mut errors = Vec::new();
    for (i, selected) in request.events.iter().enumerate() {
        let reading = sum(turns.readings, i);
        let truth = sum(turns.truth, i).value;
        let error = reading.error_percent(truth);
        errors.push(error);
        writeln!(out, "{}", line(&selected.name, &reading, truth, error))?;
    }
    let known: Vec<f64> = errors.iter().flatten().map(|error| error.abs()).collect();
    let missed = errors.len() - known.len();
    let worst = known.iter().copied().fold(0.0, f64::max);
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    write!(out, "\n mean error {mean:.2}%, largest {worst:.2}%")?;
    if missed > 0 {
        write!(out, "; {missed} without an estimate")?;
    }
    writeln!(out, "\n")
}

fn line(name: &str, reading: &Reading, truth: u64, error: Option<f64>) -> String {
    let estimate = reading.scaled().map_or_else(|| String::from("<not counted>"), grouped);
    let error = error.map_or_else(|| String::from("-"), |error| format!("{error:+.2}%"));
    let (share, truth) = (100.0 * reading.share(), grouped(truth));
    format!(" {share:>7.2}% {estimate:>18} {truth:>18} {error:>10}  {name}")
}

/// Returns the sum of the readings of an event over all cores.
fn sum(cores: &[Vec<Reading>], event: usize) -> Reading {
    let mut cores = cores.iter().map(|core| core[event]);
    let first = cores.next().unwrap_or_default();
    cores.fold(first, |sum, core| sum.plus(&core))
}
