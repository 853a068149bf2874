//! `n2sim scaling`: runs the threads of a trace on one core, two, four and so on.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args as ClapArgs;
use rayon::prelude::*;
use sim_core::Shown;
use sim_core::config::Document;
use sim_lab::scaling::{Scaling, ScalingRow, numbers_of_cores};
use sim_machine::{MachineConfig, Outcome, RunOptions};
use sim_report::{figure, header, scaling as report};

use crate::counting::ideal_run;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::call;
use crate::shared_args::{FormatArgs, MachineArgs};
use crate::verdict::Verdict;

/// Measure the speed-up of a program over the number of its cores
///
/// The threads of the trace share 1, 2, 4 and so on cores, up to one for each thread. A row has the
/// time of a run, and the parts of it in which the cores work, wait, switch and are idle.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples: n2sim scaling traces/parallel/samplesort.n2t --plot scaling.svg\n          \
    n2sim scaling traces/parallel/queue.n2t --cores 2,3 --set threads.migrate=false"
)]
pub(crate) struct ScalingArgs {
    /// The trace to replay, of several threads
    trace: PathBuf,
    /// Numbers of cores, ascending: 1,2,4
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cores: Option<Vec<usize>>,
    /// Also draw the speed-up (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Runs everything, prints the table and draws the figure.
pub(crate) fn run(args: &ScalingArgs) -> anyhow::Result<Verdict> {
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let session = open_trace::on(&args.trace, &document)?;
    let place = args.trace.shown().to_string();
    let trace = session.trace();
    if MachineConfig::from_document(&document)?.threads.cores > 0 {
        bail!("threads.cores: this command chooses the numbers of cores; give them with --cores");
    }
    let running = trace.streams().iter().filter(|stream| stream.instructions > 0).count();
    if trace.meta().machine.full_system {
        bail!(
            "{place}: a whole system was recorded; its processors cannot share cores as threads do"
        );
    }
    let numbers = numbers(args, running, &place)?;
    let header_of_all = session.header().clone();
    drop(session);
    let mut out = Output::create(args.format.output.as_deref())?;
    let plot = args.plot.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let outcomes = runs(args, &document, &numbers).with_context(|| place.clone())?;
    let config = MachineConfig::from_document(&document)?;
    let clock = config.core.clock_hz;
    let rows = numbers.iter().zip(&outcomes);
    let rows = rows.map(|(cores, one)| ScalingRow::of(*cores, one)).collect();
    let scaling = Scaling { rows };
    if !args.format.is_for_programs() {
        match out.is_file() {
            true => header::write(&mut out, &header_of_all)?,
            false => header::write(&mut call::stderr(), &header_of_all)?,
        }
    }
    match args.format.separator() {
        _ if args.format.json => report::write_json(&mut out, &scaling, clock)?,
        Some(separator) => report::write_csv(&mut out, &scaling, clock, &separator)?,
        None => report::write_text(&mut out, &scaling, clock)?,
    }
    out.finish()?;
    if let Some(mut plot) = plot {
        let stem = args.trace.file_stem().unwrap_or(args.trace.as_os_str());
        plot.write_all(figure::scaling::scaling(&stem.to_string_lossy(), &scaling).as_bytes())?;
        plot.finish()?;
    }
    Ok(Verdict::Good)
}

/// Returns the numbers of cores of the runs.
fn numbers(args: &ScalingArgs, running: usize, place: &str) -> anyhow::Result<Vec<usize>> {
    if running < 2 {
        bail!(
            "{place}: {running} thread has instructions; a scaling curve needs a trace of several"
        );
    }
    let Some(numbers) = &args.cores else { return Ok(numbers_of_cores(running)) };
    if !numbers.is_sorted_by(|a, b| a < b) {
        bail!("--cores: the numbers must ascend, as in --cores 1,2,4");
    }
    if let Some(wrong) = numbers.iter().find(|cores| !(1..=running).contains(*cores)) {
        bail!(
            "--cores {wrong}: give numbers from 1 to {running}, the number of threads in {place}"
        );
    }
    Ok(numbers.clone())
}

/// Performs all runs on the CPUs of the host.
fn runs(
    args: &ScalingArgs,
    document: &Document,
    numbers: &[usize],
) -> anyhow::Result<Vec<Outcome>> {
    let one = |cores: &usize| {
        let document = document.clone().set(&format!("threads.cores={cores}"))?;
        ideal_run::run(&args.trace, &document, &RunOptions::default(), &[])
    };
    // All runs end first. If several fail, the first error in order is reported.
    let ended: Vec<anyhow::Result<Outcome>> = numbers.par_iter().map(one).collect();
    ended.into_iter().collect()
}
