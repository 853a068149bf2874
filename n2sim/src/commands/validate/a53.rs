//! `n2sim validate --core cortex-a53`: formulas for a Cortex-A53 and the ground truth of its model.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rayon::prelude::*;
use sim_a53::A53Config;
use sim_core::Shown;
use sim_core::config::Document;
use sim_lab::a53_evidence::examine;
use sim_metrics::formula::Catalog;
use sim_metrics::validator::a53::common_factor;
use sim_metrics::validator::{A53Evidence, A53Validator, Tolerance};
use sim_report::validate::{Judged, Judgment, RunInfo};
use sim_trace::TraceFile;

use super::{
    Source, ValidateArgs, end, judged, judgment, note_unclaimed, read_metrics, variants, wanted,
    write,
};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Runs the traces, validates the metrics and prints.
pub(super) fn run(args: &ValidateArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let file = read_metrics(args)?;
    let variants = variants(args)?;
    let mut out = Output::create(args.output.as_deref())?;
    let plot = args.plot.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let catalog: Catalog = file.metrics.iter().cloned().collect();
    let tolerance = Tolerance {
        relative: args.tolerance.unwrap_or(5.0) / 100.0,
        points: args.points.unwrap_or(0.5),
    };
    let judge = |metric| A53Validator::new(metric, &catalog, tolerance).map_err(anyhow::Error::msg);
    let judges = wanted(args, &file.metrics)?;
    let judges: Vec<A53Validator<'_>> =
        judges.into_iter().map(judge).collect::<anyhow::Result<_>>()?;
    let (evidence, infos): (Vec<_>, Vec<_>) = runs(args, &variants)?.into_iter().unzip();
    let metrics = judges.iter().map(|judge| verdicts(judge, &evidence)).collect();
    let judgment = Judgment { is_of_a53: true, ..judgment(metrics, infos) };
    write(&mut out, args, &judgment)?;
    for fault in &file.faults {
        writeln!(call::stderr(), "n2sim: {fault}")?;
    }
    note_unclaimed(args, judges.iter().all(|judge| judge.truth().is_none()))?;
    end(args, out, plot, &judgment)
}

/// Returns the verdicts on one metric.
fn verdicts(judge: &A53Validator<'_>, runs: &[A53Evidence]) -> Judged {
    let mut verdicts: Vec<_> = runs.iter().map(|run| judge.verdict(run)).collect();
    let several: Vec<_> = verdicts.iter().collect();
    let common = (several.len() > 1).then(|| common_factor(&several)).flatten();
    if common.is_some() {
        verdicts.iter_mut().for_each(|verdict| verdict.explained());
    }
    judged(judge.metric(), judge.formula().err(), verdicts, common)
}

/// Replays every trace with every variant, several at the same time.
fn runs(
    args: &ValidateArgs,
    variants: &[Option<String>],
) -> anyhow::Result<Vec<(A53Evidence, RunInfo)>> {
    let jobs = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("cannot start the threads of --jobs")?;
    let base = a53_config::document(&args.machine)?;
    let mut points = Vec::new();
    for trace in &args.traces {
        for variant in variants {
            let document = match variant {
                Some(assignment) => base.clone().set(assignment)?,
                None => base.clone(),
            };
            points.push((trace, variant, document));
        }
    }
    let present = call::present();
    let run = |(trace, variant, document): &(&PathBuf, &Option<String>, Document)| {
        present.during(|| run_one(args, trace, variant.as_deref(), document))
    };
    // All runs end first, so that of several errors the first in order is reported.
    let runs: Vec<anyhow::Result<_>> = pool.install(|| points.par_iter().map(run).collect());
    runs.into_iter().collect()
}

fn run_one(
    args: &ValidateArgs,
    path: &Path,
    variant: Option<&str>,
    document: &Document,
) -> anyhow::Result<(A53Evidence, RunInfo)> {
    let config = A53Config::from_document(document)?;
    let trace = TraceFile::open_within(path, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), path, &trace)?;
    let name = match variant {
        Some(variant) => format!("{} {variant}", path.shown()),
        None => path.shown().to_string(),
    };
    let evidence = examine(&trace, &config, args.region.part.limit)?;
    let info = RunInfo {
        name: name.clone(),
        trace_hash: trace.hash(),
        config: document.name(),
        config_hash: document.hash(),
    };
    Ok((A53Evidence { trace: name, ..evidence }, info))
}

/// Refuses the options that only the Neoverse N2 has.
fn refuse_others(args: &ValidateArgs) -> anyhow::Result<()> {
    let refused = [
        (args.revision.is_some(), "--revision"),
        (args.truth == Source::Counterfactual, "--truth counterfactual"),
        (args.region.part.warmup > 0, "--warmup"),
        (args.region.roi.is_some(), "--roi"),
        (args.counters.is_given(), "--counters"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!("{option} works with --core neoverse-n2 only"),
        None => Ok(()),
    }
}
