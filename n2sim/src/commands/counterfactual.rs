//! `n2sim counterfactual`: replays a trace with one thing ideal at a time, and with two.

use std::io;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use rayon::prelude::*;
use sim_lab::counterfactual::{CoreIdeal, Counterfactual, Ideal, Slots};
use sim_report::counterfactual as report;
use sim_report::header;

use super::counterfactual_a53;
use crate::counting::ideal_run;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::call;
use crate::shared_args::{CoreName, FormatArgs, MachineArgs, RegionArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Measure the cycles saved when one thing at a time is ideal
///
/// The share of lost slots that the thing accounts for is printed beside them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim counterfactual traces/btree.n2t --limit 300k\n          \
    n2sim counterfactual traces/btree.n2t --limit 300k --core cortex-a53")]
pub(crate) struct CounterfactualArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    /// Simulated core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Runs everything and prints the table.
pub(crate) fn run(args: &CounterfactualArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.core == CoreName::CortexA53 {
        return counterfactual_a53::run(args);
    }
    let options = args.region.run_options()?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    // Notes what the trace lacks.
    open_trace::on(&args.trace, &document)?;
    let mut out = Output::create(args.format.output.as_deref())?;
    let place = args.trace.shown().to_string();
    let one = |ideals: &[Ideal]| ideal_run::run(&args.trace, &document, &options, ideals);
    let base = one(&[]).with_context(|| place.clone())?;
    let slots = |ideals: &[Ideal]| one(ideals).map(|outcome| Slots::of(&outcome));
    let found = measure(Slots::of(&base), slots).with_context(|| place)?;
    match out.is_file() && !args.format.is_for_programs() {
        true => header::write(&mut out, &base.header)?,
        false => header::write(&mut call::stderr(), &base.header)?,
    }
    print(&mut out, &args.format, &found)?;
    out.finish()?;
    Ok(Verdict::Good)
}

/// Performs all runs beside the base run. `one` runs a set of ideals; the runs are independent and
/// run on all CPUs.
pub(super) fn measure<I: CoreIdeal + Sync + Send>(
    base: Slots,
    one: impl Fn(&[I]) -> anyhow::Result<Slots> + Sync,
) -> anyhow::Result<Counterfactual<I>> {
    let several = |wanted: &[Vec<I>]| -> anyhow::Result<Vec<Slots>> {
        // All runs end first. If several fail, the first error in order is reported.
        let ended: Vec<anyhow::Result<Slots>> =
            wanted.par_iter().map(|ideals| one(ideals)).collect();
        ended.into_iter().collect()
    };
    Counterfactual::run(base, several)
}

/// Prints the table in the requested form.
pub(super) fn print<I: CoreIdeal>(
    out: &mut Output,
    format: &FormatArgs,
    found: &Counterfactual<I>,
) -> io::Result<()> {
    match format.separator() {
        _ if format.json => report::write_json(out, found),
        Some(separator) => report::write_csv(out, found, &separator),
        None => report::write_text(out, found),
    }
}
