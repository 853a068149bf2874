//! `n2sim plan`: the fewest runs that count a list of events without multiplexing, and the error of
//! counting all of them in one run.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};
use sim_machine::Mode;
use sim_pmu::perf::{Passes, PerfEvent, Plan, Reading};
use sim_report::perf_stat::grouped;
use sim_report::{Selected, header};

use crate::counting::counted_run::{Measured, Method, Request};
use crate::counting::event_list;
use crate::counting::metric_events::Sharing;
use crate::counting::setup::Setup;
use crate::files::output::Output;
use crate::host::progress::with_progress;
use crate::shared_args::{EventArgs, MachineArgs, RegionArgs, time_slice};
use crate::verdict::Verdict;
use sim_core::Shown;

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
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    region: RegionArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Plans the runs, runs the trace once with multiplexing, and prints both.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<Verdict> {
    let mut groups = event_list::parse_all(&args.events.event)?;
    let options = args.region.run_options()?;
    let setup = Setup::open(&args.trace, &args.machine, Mode::Full, false)?;
    let metrics = setup.metrics(&args.events, &groups, Sharing::Plan)?;
    groups.extend_from_slice(metrics.requested());
    let request = setup.request(&groups)?;
    let mut out = Output::create(args.output.as_deref())?;
    if request.groups.is_empty() {
        anyhow::bail!("plan: none of the events can be counted in {}", args.trace.shown());
    }
    let plan = Passes::plan(&request.groups);
    let method = Method::Multiplexed(args.mux_interval);
    let (measured, _) = with_progress(&setup.session, &options, |progress| {
        Ok(request.measure(&setup.session, &options, method, progress)?)
    })?;
    if out.is_file() {
        header::write(&mut out, &measured.outcome.header)?;
    } else {
        header::write(&mut io::stderr(), &measured.outcome.header)?;
    }
    write_passes(&mut out, &request, &plan)?;
    if plan.passes.len() > 1 {
        write_errors(&mut out, args, &request, &measured)?;
    }
    out.finish()?;
    Ok(Verdict::Good)
}

fn write_passes(out: &mut impl Write, request: &Request, plan: &Plan) -> io::Result<()> {
    let distinct: usize = plan.passes.iter().map(Vec::len).sum();
    let count = plan.passes.len();
    let word = if count == 1 { "run" } else { "runs" };
    writeln!(out, "\n {distinct} counts in {count} {word} without multiplexing:\n")?;
    for (number, pass) in plan.passes.iter().enumerate() {
        let names: Vec<&str> = pass.iter().map(|event| name_of(event, request)).collect();
        writeln!(out, "   run {:>2}: {}", number + 1, names.join(","))?;
    }
    let fewest = if plan.is_fewest { "no plan needs fewer" } else { "the fewest that were found" };
    writeln!(out, "\n A core has six event counters and the cycle counter; {fewest}.\n")
}

/// Returns the name of the first request of an event.
fn name_of<'a>(event: &PerfEvent, request: &'a Request) -> &'a str {
    let asked = request.events.iter().find(|selected| selected.event == *event);
    asked.map_or(event.event.info().mnemonic, |selected| selected.name.as_str())
}

fn write_errors(
    out: &mut impl Write,
    args: &PlanArgs,
    request: &Request,
    measured: &Measured,
) -> io::Result<()> {
    let (interval, rotations) = (args.mux_interval as f64 / 1e6, grouped(measured.rotations));
    writeln!(out, " In one run, multiplexed every {interval} ms ({rotations} rotations):\n")?;
    let head = ["counted", "estimate", "truth", "error"];
    writeln!(out, " {:>8} {:>18} {:>18} {:>10}  event", head[0], head[1], head[2], head[3])?;
    let mut errors = Vec::new();
    for (i, selected) in request.events.iter().enumerate() {
        let reading = sum(&measured.readings, i);
        let truth = sum(&measured.truth, i).value;
        let error = reading.error_percent(truth);
        errors.push(error);
        writeln!(out, "{}", line(selected, &reading, truth, error))?;
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

fn line(selected: &Selected, reading: &Reading, truth: u64, error: Option<f64>) -> String {
    let estimate = reading.scaled().map_or_else(|| String::from("<not counted>"), grouped);
    let error = error.map_or_else(|| String::from("-"), |error| format!("{error:+.2}%"));
    let (share, truth) = (100.0 * reading.share(), grouped(truth));
    format!(" {share:>7.2}% {estimate:>18} {truth:>18} {error:>10}  {}", selected.name)
}

/// Returns the sum of the readings of an event over all cores.
fn sum(cores: &[Vec<Reading>], event: usize) -> Reading {
    let mut cores = cores.iter().map(|core| core[event]);
    let first = cores.next().unwrap_or_default();
    cores.fold(first, |sum, core| sum.plus(&core))
}
