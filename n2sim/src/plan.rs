//! `n2sim stat --plan`: the fewest runs in which a list of events needs no turns, and how wrong the
//! counts would be if all of it were counted in one.

use std::io::{self, Write};

use sim_machine::{RunOptions, Session};
use sim_pmu::perf::{Passes, PerfEvent, Plan, Reading};
use sim_report::perf_stat::grouped;
use sim_report::{Selected, header};

use crate::args::StatArgs;
use crate::measure::{Measured, Method, Request};
use crate::output::Output;
use crate::stat::with_progress;
use sim_core::Shown;

/// Plans, runs the trace once with turns, and prints both.
pub(crate) fn run(
    mut out: Output,
    args: &StatArgs,
    session: &Session,
    options: &RunOptions,
    request: &Request,
) -> anyhow::Result<()> {
    if request.groups.is_empty() {
        anyhow::bail!("--plan: none of the events can be counted in {}", args.trace.shown());
    }
    let plan = Passes::plan(&request.groups);
    let run = |progress: &mut dyn FnMut(u64)| {
        Ok(request.measure(session, options, Method::Turns(args.tick_ns()), progress)?)
    };
    let (measured, _) = with_progress(session, options, run)?;
    if out.is_file() {
        header::write(&mut out, &measured.outcome.header)?;
    } else {
        header::write(&mut io::stderr(), &measured.outcome.header)?;
    }
    write_passes(&mut out, request, &plan)?;
    if plan.passes.len() > 1 {
        write_errors(&mut out, args, request, &measured)?;
    }
    out.finish()
}

fn write_passes(out: &mut impl Write, request: &Request, plan: &Plan) -> io::Result<()> {
    let distinct: usize = plan.passes.iter().map(Vec::len).sum();
    let count = plan.passes.len();
    let word = if count == 1 { "run" } else { "runs" };
    writeln!(out, "\n {distinct} counts in {count} {word} without turns:\n")?;
    for (number, pass) in plan.passes.iter().enumerate() {
        let names: Vec<&str> = pass.iter().map(|event| name_of(event, request)).collect();
        writeln!(out, "   run {:>2}: {}", number + 1, names.join(","))?;
    }
    let fewest = if plan.is_fewest { "no plan needs fewer" } else { "the fewest that were found" };
    writeln!(out, "\n A core has six event counters and the cycle counter; {fewest}.\n")
}

/// The name under which an event was asked for first.
fn name_of<'a>(event: &PerfEvent, request: &'a Request) -> &'a str {
    let asked = request.events.iter().find(|selected| selected.event == *event);
    asked.map_or(event.event.info().mnemonic, |selected| selected.name.as_str())
}

fn write_errors(
    out: &mut impl Write,
    args: &StatArgs,
    request: &Request,
    measured: &Measured,
) -> io::Result<()> {
    let (tick, turns) = (args.tick_ns() as f64 / 1e6, grouped(measured.rotations));
    writeln!(out, " In one run, with turns of {tick} ms ({turns} turns):\n")?;
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

/// The readings of an event on all cores together.
fn sum(cores: &[Vec<Reading>], event: usize) -> Reading {
    let mut cores = cores.iter().map(|core| core[event]);
    let first = cores.next().unwrap_or_default();
    cores.fold(first, |sum, core| sum.plus(&core))
}
