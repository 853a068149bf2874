//! `n2sim estimate`: estimates the counts of a long trace from parts of it.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::{ArgGroup, Args as ClapArgs};
use sim_machine::{Mode, RunOptions};
use sim_report::stat;

use super::estimate_a53;
use crate::counting::counted_run::Replay;
use crate::counting::counts_file::CountsFile;
use crate::counting::event_list;
use crate::counting::mesh_events::MeshRows;
use crate::counting::metric_events::Sharing;
use crate::counting::notes::write_unknown_words;
use crate::counting::partial_run::{PartialRun, run_chunks, run_windows};
use crate::counting::print::Printer;
use crate::counting::setup::Setup;
use crate::files::output::Output;
use crate::host::call;
use crate::host::progress::with_progress;
use crate::host::speed;
use crate::shared_args::{CoreName, CountArgs, MachineArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Estimate the counts of a long trace from windows of it or from parallel chunks
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("parts").args(["regions", "jobs"]).required(true))]
#[command(after_help = "Examples: n2sim trace regions long.n2t -o long.toml\n          \
    n2sim estimate long.n2t --regions long.toml\n          \
    n2sim estimate long.n2t --jobs 2\n          \
    n2sim estimate long.n2t --jobs 2 --core cortex-a53")]
pub(crate) struct EstimateArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Run only the windows of FILE, and scale their counts to the whole trace
    ///
    /// `n2sim trace regions` writes the file (docs/regions.md).
    #[arg(long, value_name = "FILE", help_heading = "Part of the trace")]
    pub(super) regions: Option<PathBuf>,
    /// Cut the trace into N chunks that run in parallel, each after a warm-up
    ///
    /// docs/regions.md gives the error of each event.
    #[arg(long, value_name = "N", help_heading = "Part of the trace")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) jobs: Option<u32>,
    #[command(flatten)]
    pub(super) counts: CountArgs,
    /// Simulated core
    ///
    /// A Cortex-A53 runs in chunks (--jobs), not in windows.
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Runs the parts and prints the requested counts. Each event has a counter of its own.
pub(crate) fn run(args: &EstimateArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.core == CoreName::CortexA53 {
        return estimate_a53::run(args);
    }
    let counts = &args.counts;
    let mut groups = event_list::parse_all(&counts.events.event)?;
    let setup = Setup::open(&args.trace, &args.machine, Mode::Full, counts.stalls)?;
    let metrics = setup.metrics(&counts.events, &groups, Sharing::Exact)?;
    metrics.refuse_mesh("estimate", "its parts start with an empty mesh")?;
    groups.extend_from_slice(metrics.requested());
    let request = setup.request(&groups)?;
    if args.regions.is_some() && setup.session.has_threads() {
        refuse_parts(args)?;
    }
    let output = Output::create(counts.format.output.as_deref())?;
    let perf_data =
        counts.perf_data.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let (session, options) = (&setup.session, &RunOptions::default());
    let start = Instant::now();
    let (PartialRun { outcome, errors }, instructions) =
        with_progress(session, options, |progress| match (&args.regions, args.jobs) {
            (Some(file), _) => run_windows(file, session, progress),
            (None, jobs) => run_chunks(jobs.unwrap_or(1), session, progress),
        })?;
    let mut measured = request.of(outcome);
    if let Some(errors) = &errors {
        let events = &request.events;
        measured.readings.iter_mut().for_each(|core| stat::take_unknown(core, events, errors));
    }
    let replay = Replay {
        session,
        options,
        request: &request,
        has_stall_slot_erratum: setup.has_stall_slot_erratum,
    };
    let printer = Printer {
        args: counts,
        replay: &replay,
        metrics: &metrics,
        has_truth: false,
        mesh: &MeshRows::default(),
        errors: errors.as_deref(),
    };
    printer.print(output, &measured)?;
    let stderr = &mut call::stderr();
    write_unknown_words(stderr, &measured.outcome)?;
    for note in &measured.outcome.notes {
        writeln!(stderr, "n2sim: note: {note}")?;
    }
    for trouble in metrics.troubles(&measured) {
        writeln!(stderr, "n2sim: note: {trouble}")?;
    }
    if counts.verbose {
        speed::write_speed(stderr, instructions, start.elapsed())?;
    }
    if let Some(mut file) = perf_data {
        CountsFile::of_run(&replay, &measured, errors.as_deref()).write(&mut file)?;
        file.finish()?;
    }
    Ok(Verdict::Good)
}

/// Refuses what windows of several threads do not estimate.
fn refuse_parts(args: &EstimateArgs) -> anyhow::Result<()> {
    let (counts, trace) = (&args.counts, args.trace.shown());
    if counts.per_thread {
        anyhow::bail!(
            "{trace}: windows estimate all threads together, not each: leave out --per-thread, or run n2sim stat"
        );
    }
    let tables = [("--stalls", counts.stalls), ("--prefetch", counts.prefetch)];
    match tables.iter().find(|(_, wanted)| *wanted) {
        None => Ok(()),
        Some((option, _)) => anyhow::bail!(
            "{trace}: windows of several threads estimate events, not the table of {option}: leave it out, or run \
             n2sim stat"
        ),
    }
}
