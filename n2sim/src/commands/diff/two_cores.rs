//! `n2sim diff --core A,B`: one trace on two cores.

use std::path::Path;

use sim_a53::Part;
use sim_core::Shown;
use sim_report::core_diff::{self, CoreDiff, CoreRun};
use sim_trace::TraceFile;

use super::{DiffArgs, document};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::{memory, progress};
use crate::shared_args::CoreName;
use crate::verdict::Verdict;

/// Replays every trace on both cores, and prints.
pub(super) fn run(args: &DiffArgs) -> anyhow::Result<Verdict> {
    let cores = check(args)?;
    let mut out = Output::create(args.output.as_deref())?;
    let mut diffs = Vec::new();
    for trace in &args.traces {
        let mut runs = Vec::new();
        for core in cores {
            runs.push(match core {
                CoreName::CortexA53 => on_a53(args, trace)?,
                _ => on_n2(args, trace)?,
            });
        }
        let [first, second] = &runs[..] else { anyhow::bail!("--core: give two cores") };
        diffs.push(CoreDiff::new(trace.shown().to_string(), [first.clone(), second.clone()]));
    }
    match &args.field_separator {
        _ if args.markdown => core_diff::write_markdown(&mut out, &diffs)?,
        _ if args.json => {
            diffs.iter().try_for_each(|diff| core_diff::write_json(&mut out, diff))?
        }
        Some(separator) => {
            core_diff::write_csv(&mut out, &diffs, &separator.replace("\\t", "\t"))?;
        }
        None => diffs.iter().try_for_each(|diff| core_diff::write_text(&mut out, diff))?,
    }
    out.finish()?;
    Ok(Verdict::Good)
}

/// Returns the two cores. Refuses options that do not apply to them.
fn check(args: &DiffArgs) -> anyhow::Result<[CoreName; 2]> {
    let refused = [
        (args.runs, "--runs"),
        (args.html, "--html"),
        (args.from.is_some(), "--from"),
        (args.to.is_some(), "--to"),
        (!args.set.is_empty(), "--set"),
        (args.min_change > 0.0, "--min-change"),
        (!args.fail_on.is_empty(), "--fail-on"),
    ];
    if let Some((_, option)) = refused.iter().find(|(is_given, _)| *is_given) {
        anyhow::bail!(
            "{option} is for the comparison of two configurations or runs of one core; with --core \
             use --warmup, --limit, -x, --json, --markdown or -o"
        );
    }
    args.core.iter().try_for_each(|core| core.require_timing_model())?;
    match args.core[..] {
        [first, second] if first != second => Ok([first, second]),
        _ => anyhow::bail!("--core: give two different cores, such as cortex-a53,neoverse-n2"),
    }
}

fn on_a53(args: &DiffArgs, trace: &Path) -> anyhow::Result<CoreRun> {
    let config = a53_config::built_in()?;
    let file = TraceFile::open_within(trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), trace, &file)?;
    let part = Part { warmup: args.part.warmup, ..args.part.limit.into() };
    let cores = sim_a53::run_part(&file, &config, &part)?;
    Ok(CoreRun::of_a53(&cores, config.cluster.clock_hz))
}

fn on_n2(args: &DiffArgs, trace: &Path) -> anyhow::Result<CoreRun> {
    let session = open_trace::on(trace, &document("guide", &[])?)?;
    let options = args.part.run_options();
    let (outcome, _) = progress::with_progress(&session, &options, |progress| {
        Ok(session.run(&options, progress)?)
    })?;
    Ok(CoreRun::of_n2(&outcome))
}
