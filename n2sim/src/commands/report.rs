//! `n2sim report`: replays a trace once and reports slots, time, caches, flows, code and counters.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use sim_report::run_report::{Observed, fitting_tick};
use sim_report::{RunReport, report_page};

use super::report_a53;
use crate::counting::notes;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::files::source_text;
use crate::files::symbols;
use crate::host::call;
use crate::host::progress;
use crate::shared_args::{CoreName, MachineArgs, RegionArgs, time_slice};
use crate::verdict::Verdict;

/// Write a page on a run: slots, time, caches, flows, code and counters
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim report traces/hash.n2t -o hash.html\n          \
    n2sim report traces/hash.n2t --core cortex-a53 -o hash-a53.html\n          \
    n2sim report app.n2t --elf app --limit 10M --json | jq '.top_down'\n          \
    n2sim report --schema > report.schema.json")]
pub(crate) struct ReportArgs {
    /// The trace to replay
    #[arg(required_unless_present = "schema")]
    trace: Option<PathBuf>,
    /// Write the report as one JSON document instead of a page
    #[arg(short, long)]
    pub(super) json: bool,
    /// Print the JSON schema of the report
    #[arg(long, exclusive = true)]
    schema: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// A program, library or debug file that was recorded, for names and lines (repeat for more)
    #[arg(long, value_name = "FILE")]
    pub(super) elf: Vec<PathBuf>,
    /// Modeled time between two counter rotations (default: 1ms to 4ms)
    ///
    /// The default gives every event several intervals; in a shorter run nothing is estimated.
    #[arg(long, alias = "tick", value_name = "TIME", value_parser = time_slice)]
    #[arg(allow_negative_numbers = true)]
    pub(super) mux_interval: Option<u64>,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    /// Simulated core
    ///
    /// The report on a Cortex-A53 has no flows, curves and multiplexed counts.
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Runs the trace and writes the report.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Verdict> {
    let Some(trace) = args.trace.as_ref() else {
        call::stdout().write_all(RunReport::schema().as_bytes())?;
        return Ok(Verdict::Good);
    };
    anyhow::ensure!(
        args.json || args.output.is_some() || call::stop().is_some() || !io::stdout().is_terminal(),
        "a page is for a browser: name its file with -o FILE.html, or ask for --json"
    );
    args.core.require_timing_model()?;
    if args.core == CoreName::CortexA53 {
        return report_a53::run(args, trace);
    }
    let options = args.region.run_options()?;
    let session = open_trace::with(trace, &args.machine)?;
    // The mesh of a single thread has no traffic between cores.
    let has_threads = session.trace().streams().len() > 1;
    let session = if has_threads { session.with_mesh_by_line() } else { session };
    let symbols = symbols::load(session.trace(), &args.elf)?;
    let mut out = Output::create(args.output.as_deref())?;
    let interval = args.mux_interval.or_else(|| fitting_tick(&session, &options));
    let (observed, _) = progress::with_progress(&session, &options, |progress| {
        Ok(Observed::run(&session, &options, interval, progress)?)
    })?;
    let report = RunReport::new(&observed, &symbols).with_source(source_text::read);
    if args.json {
        report.write_json(&mut out)?;
    } else {
        out.write_all(report_page::html(&report).as_bytes())?;
    }
    out.finish()?;
    notes::write_unknown_words(&mut call::stderr(), &observed.outcome)?;
    for note in &observed.outcome.notes {
        writeln!(call::stderr(), "n2sim: note: {note}")?;
    }
    Ok(Verdict::Good)
}
