//! `n2sim report`: replays a trace once and gives everything that is worth seeing of the run.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use sim_machine::RunOptions;
use sim_report::run_report::{Observed, fitting_tick};
use sim_report::{RunReport, report_page};

use crate::Verdict;
use crate::args::{MachineArgs, instructions, instructions_from_one, tick};
use crate::opened;
use crate::output::Output;
use crate::per_function;
use crate::stat::{self, parse_roi};

/// Replay a trace and report on it from all sides: slots, time, caches, flows, code, counters
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim report traces/hash.n2t -o hash.html\n          \
    n2sim report app.n2t --elf app --limit 10M --json | jq '.top_down'\n          \
    n2sim report --schema > report.schema.json")]
pub(crate) struct ReportArgs {
    /// The trace to replay
    #[arg(required_unless_present = "schema")]
    trace: Option<PathBuf>,
    /// Give the report as one JSON document instead of a page
    #[arg(short, long)]
    json: bool,
    /// Print the JSON schema of the report
    #[arg(long, exclusive = true)]
    schema: bool,
    /// Write to FILE instead of standard output, when everything is done
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The program that was recorded, for source lines, and functions that the trace does not name
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// Modeled time of one multiplexing interval of the six counters (default: 1ms to the 4ms of perf, so that every
    /// event has several; in a shorter run nothing is estimated)
    #[arg(long, value_name = "TIME", value_parser = tick, allow_negative_numbers = true)]
    tick: Option<u64>,
    /// Instructions of each thread that only warm the machine (k, M and G are powers of 1000)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    warmup: u64,
    /// Instructions of each thread to report on, after the warm-up
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(allow_negative_numbers = true, help_heading = "Part of the trace")]
    limit: Option<u64>,
    /// Report only on what is between two markers: numbers of HINT instructions (40,41) or names of functions
    #[arg(long, value_name = "BEGIN,END", help_heading = "Part of the trace")]
    roi: Option<String>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Runs the trace and writes the report.
pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Verdict> {
    let Some(trace) = args.trace.as_ref() else {
        io::stdout().lock().write_all(RunReport::schema().as_bytes())?;
        return Ok(Verdict::Good);
    };
    anyhow::ensure!(
        args.json || args.output.is_some() || !io::stdout().is_terminal(),
        "a page is for a browser: name its file with -o FILE.html, or ask for --json"
    );
    let roi = args.roi.as_deref().map(parse_roi).transpose()?;
    let options = RunOptions { warmup: args.warmup, limit: args.limit, roi };
    let session = opened::with(trace, &args.machine)?;
    let symbols = per_function::symbols(session.trace(), args.elf.as_deref())?;
    let mut out = Output::create(args.output.as_deref())?;
    let tick = args.tick.or_else(|| fitting_tick(&session, &options));
    let (observed, _) = stat::with_progress(&session, &options, |progress| {
        Ok(Observed::run(&session, &options, tick, progress)?)
    })?;
    let report = RunReport::new(&observed, &symbols);
    if args.json {
        report.write_json(&mut out)?;
    } else {
        out.write_all(report_page::html(&report).as_bytes())?;
    }
    out.finish()?;
    stat::write_unknown_words(&mut io::stderr(), &observed.outcome)?;
    for note in &observed.outcome.notes {
        writeln!(io::stderr(), "n2sim: note: {note}")?;
    }
    Ok(Verdict::Good)
}
