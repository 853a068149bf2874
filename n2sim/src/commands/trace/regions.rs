//! `n2sim trace regions`: writes the representative windows of a long trace, and the states in
//! which they begin.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_lab::{RegionOptions, Regions};
use sim_machine::Session;
use sim_report::perf_stat::grouped;

use super::written::check_different;
use crate::files::open_trace;
use crate::files::output::{Output, is_written_in_place};
use crate::host::call;
use crate::host::progress::with_bar;
use crate::shared_args::{MachineArgs, instructions, instructions_from_one};
use sim_core::Shown;

/// Find representative windows of a long trace, for `n2sim estimate --regions`
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples: n2sim trace regions long.n2t -o long.toml\n          \
    n2sim estimate --regions long.toml long.n2t")]
pub(crate) struct RegionsArgs {
    /// The trace
    pub(crate) file: PathBuf,
    /// The windows to write (TOML)
    ///
    /// A second file with the suffix .states holds the caches and predictors before each window.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Approximate number of windows
    #[arg(long, value_name = "N", default_value_t = 120)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) windows: u32,
    /// Instructions of a window (default: a 6000th of the trace, from 10k to 10M)
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    pub(crate) interval: Option<u64>,
    /// Maximum number of clusters of similar intervals
    #[arg(long, value_name = "N", default_value_t = 24)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) clusters: u32,
    /// Instructions before each window that run and are not counted
    ///
    /// The default is half of a window.
    #[arg(long, value_name = "N", value_parser = instructions)]
    pub(crate) warmup: Option<u64>,
    /// Do not save warm state
    ///
    /// Windows then start after functional warm-up: faster to generate, slower to run, less
    /// accurate.
    #[arg(long)]
    pub(crate) no_states: bool,
    /// Instructions of functional warm-up before each window without saved state
    ///
    /// These instructions update caches and predictors in program order (default: five windows).
    /// With several threads, all instructions before a window do.
    #[arg(long, alias = "lesson", value_name = "N", value_parser = instructions)]
    pub(crate) functional_warmup: Option<u64>,
    /// Seed of the selection of windows
    #[arg(long, alias = "draw", value_name = "N", default_value_t = 1)]
    pub(crate) selection_seed: u64,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Reads the trace, writes the files and prints a summary.
pub(crate) fn run(out: &mut impl Write, args: &RegionsArgs) -> anyhow::Result<()> {
    // A pipe has no file beside it.
    let is_alone = is_written_in_place(&args.output);
    if is_alone && !args.no_states {
        let shown = args.output.shown();
        writeln!(call::stderr(), "n2sim: note: {shown}: no file of states can stand beside it")?;
    }
    let has_states = !args.no_states && !is_alone;
    let states = has_states.then(|| beside(&args.output)).transpose()?;
    if let Some((path, _)) = &states {
        check_different(&args.file, path)?;
    }
    let session = open_trace::with(&args.file, &args.machine)?;
    let mut file = Output::create(Some(&args.output))?;
    // Created now, so that an error comes before the work.
    let mut states_file =
        states.as_ref().map(|(path, _)| Output::create(Some(path))).transpose()?;
    let options = options(args);
    let find = |progress: &mut dyn FnMut(u64)| Ok(Regions::find(&session, &options, progress)?);
    let ((mut regions, found), _) = with_bar(session.instructions(), find)?;
    if let (Some((path, name)), Some(states_file)) = (&states, &mut states_file) {
        write_states(&session, &regions, path, states_file)?;
        regions.states = Some(name.clone());
    }
    write!(file, "{regions}")?;
    Output::finish_all(states_file.into_iter().chain([file]).collect())?;
    let windows = regions.windows.len();
    let counted: u64 = regions.windows.iter().map(|window| window.length).sum();
    writeln!(
        out,
        "{}: {windows} windows of {} clusters in {} intervals: {} of {} instructions ({:.2} %), {} each to \
         warm up",
        args.output.shown(),
        found.clusters,
        found.intervals,
        grouped(counted),
        grouped(regions.instructions),
        100.0 * counted as f64 / regions.instructions as f64,
        grouped(regions.warmup)
    )?;
    if let Some((path, _)) = &states {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        writeln!(
            out,
            "{}: the states in which they begin, {} bytes",
            path.shown(),
            grouped(bytes)
        )?;
    }
    Ok(())
}

fn options(args: &RegionsArgs) -> RegionOptions {
    RegionOptions {
        interval: args.interval,
        windows: args.windows as usize,
        clusters: args.clusters as usize,
        warmup: args.warmup,
        functional_warmup: args.functional_warmup,
        seed: args.selection_seed,
    }
}

/// Returns the path and the name of the file of states beside a file of windows: `a.states` for
/// `a.toml`, `a.1.states` for `a.1`.
fn beside(windows: &Path) -> anyhow::Result<(PathBuf, String)> {
    let name = windows.file_name().and_then(|name| name.to_str()).with_context(|| {
        let shown = windows.shown();
        format!("{shown}: the file of windows names that of its states: give a name in UTF-8, or --no-states")
    })?;
    let name = format!("{}.states", name.strip_suffix(".toml").unwrap_or(name));
    Ok((windows.with_file_name(&name), name))
}

/// Runs through the trace again and writes its states. The caller finishes the file.
fn write_states(
    session: &Session,
    regions: &Regions,
    path: &Path,
    file: &mut Output,
) -> anyhow::Result<()> {
    let name = path.shown().to_string();
    with_bar(session.instructions(), |progress| {
        Ok(regions.write_states(session, file, &name, progress)?)
    })?;
    Ok(())
}
