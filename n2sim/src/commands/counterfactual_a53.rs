//! `n2sim counterfactual --core cortex-a53`: runs of the core with one thing ideal, and with two.

use std::io::Write;

use anyhow::Context;
use sim_a53::{A53Config, A53CoreOutcome, MispredictionSlots, run_with_mispredictions};
use sim_core::Shown;
use sim_core::config::Document;
use sim_lab::counterfactual::{A53Ideal, CoreIdeal, Slots};
use sim_trace::TraceFile;

use super::counterfactual::{CounterfactualArgs, measure, print};
use super::stat_a53::note_instructions;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Runs everything and prints the table.
pub(super) fn run(args: &CounterfactualArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let document = a53_config::document(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let mut out = Output::create(args.format.output.as_deref())?;
    let limit = args.region.part.limit;
    let one = |ideals: &[A53Ideal]| -> anyhow::Result<Vec<(A53CoreOutcome, MispredictionSlots)>> {
        let set = |document: Document, ideal: &A53Ideal| document.set(ideal.setting());
        let document = ideals.iter().try_fold(document.clone(), set)?;
        let config = A53Config::from_document(&document)?;
        Ok(run_with_mispredictions(&trace, &config, limit)?)
    };
    let base = one(&[])?;
    let slots = |ideals: &[A53Ideal]| one(ideals).map(|cores| Slots::of_a53(&cores));
    let found =
        measure(Slots::of_a53(&base), slots).with_context(|| args.trace.shown().to_string())?;
    if !args.format.is_for_programs() {
        writeln!(out, "\n Costs in '{}' (Cortex-A53):\n", args.trace.shown())?;
    }
    print(&mut out, &args.format, &found)?;
    out.finish()?;
    let cores: Vec<A53CoreOutcome> = base.into_iter().map(|(core, _)| core).collect();
    note_instructions(&cores)?;
    Ok(Verdict::Good)
}

/// Refuses the options that only the Neoverse N2 has.
fn refuse_others(args: &CounterfactualArgs) -> anyhow::Result<()> {
    let refused = [(args.region.part.warmup > 0, "--warmup"), (args.region.roi.is_some(), "--roi")];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use --limit, -x, -j, \
             -o, --config, --set or --seed"
        ),
        None => Ok(()),
    }
}
