//! `n2sim counterfactual`: replays a trace with one thing ideal at a time, and with two.

use std::io;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use rayon::prelude::*;
use sim_lab::counterfactual::{Counterfactual, Ideal, Slots};
use sim_report::counterfactual as report;
use sim_report::header;

use crate::counting::ideal_run;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::shared_args::{FormatArgs, MachineArgs, RegionArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Measure the cycles saved when one thing at a time is ideal
///
/// The share of lost slots that the thing accounts for is printed beside them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example: n2sim counterfactual traces/btree.n2t --limit 300k")]
pub(crate) struct CounterfactualArgs {
    /// The trace to replay
    trace: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    region: RegionArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Runs everything and prints the table.
pub(crate) fn run(args: &CounterfactualArgs) -> anyhow::Result<Verdict> {
    let options = args.region.run_options()?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    // Notes what the trace lacks.
    open_trace::on(&args.trace, &document)?;
    let mut out = Output::create(args.format.output.as_deref())?;
    let place = args.trace.shown().to_string();
    let one = |ideals: &[Ideal]| ideal_run::run(&args.trace, &document, &options, ideals);
    let base = one(&[]).with_context(|| place.clone())?;
    // The runs are independent and run on all CPUs.
    let several = |wanted: &[Vec<Ideal>]| -> anyhow::Result<Vec<Slots>> {
        let slots = |ideals: &Vec<Ideal>| one(ideals).map(|outcome| Slots::of(&outcome));
        // All runs end first. If several fail, the first error in order is reported.
        let ended: Vec<anyhow::Result<Slots>> = wanted.par_iter().map(slots).collect();
        ended.into_iter().collect()
    };
    let found = Counterfactual::run(Slots::of(&base), several).with_context(|| place)?;
    match out.is_file() && !args.format.is_for_programs() {
        true => header::write(&mut out, &base.header)?,
        false => header::write(&mut io::stderr(), &base.header)?,
    }
    match args.format.separator() {
        _ if args.format.json => report::write_json(&mut out, &found)?,
        Some(separator) => report::write_csv(&mut out, &found, &separator)?,
        None => report::write_text(&mut out, &found)?,
    }
    out.finish()?;
    Ok(Verdict::Good)
}
