//! `n2sim report --core cortex-a53`: a page on a run on a Cortex-A53.

use std::io::Write;
use std::path::Path;

use sim_a53::A53Config;
use sim_a53::profile::run_profiled;
use sim_core::Shown;
use sim_machine::caveats;
use sim_report::run_report::A53Observed;
use sim_report::{RunReport, report_page};
use sim_trace::TraceFile;

use super::report::ReportArgs;
use super::stat_a53::note_instructions;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace, source_text, symbols};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Runs the trace and writes the report.
pub(super) fn run(args: &ReportArgs, trace: &Path) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let document = a53_config::document(&args.machine)?;
    let config = A53Config::from_document(&document)?;
    let file = TraceFile::open_within(trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), trace, &file)?;
    let symbols = symbols::load(&file, &args.elf)?;
    let mut out = Output::create(args.output.as_deref())?;
    let limit = args.region.part.limit;
    let profile = run_profiled(&file, &config, limit)?;
    let lacks = caveats::lacks(&file);
    let observed = A53Observed {
        trace: &file,
        name: trace.shown().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: &config,
        config_name: document.name(),
        config_hash: document.hash(),
        limit,
        notes: lacks.iter().map(|lack| lack.sentence().to_string()).collect(),
        profile,
    };
    let report = RunReport::of_a53(&observed, &symbols).with_source(source_text::read);
    if args.json {
        report.write_json(&mut out)?;
    } else {
        out.write_all(report_page::html(&report).as_bytes())?;
    }
    out.finish()?;
    note_instructions(&observed.profile.cores)?;
    Ok(Verdict::Good)
}

/// Refuses the options that only the Neoverse N2 has.
fn refuse_others(args: &ReportArgs) -> anyhow::Result<()> {
    let refused = [
        (args.mux_interval.is_some(), "--mux-interval"),
        (args.region.part.warmup > 0, "--warmup"),
        (args.region.roi.is_some(), "--roi"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use --json, -o, \
             --elf, --limit, --config, --set or --seed"
        ),
        None => Ok(()),
    }
}
