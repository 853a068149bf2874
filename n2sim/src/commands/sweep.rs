//! `n2sim sweep`: runs every trace on every combination of values and writes one table.
//!
//! Each finished run is kept in a journal beside the table, so that an interrupted sweep continues.
//! The table itself is written when all runs are done. With `--shard` it makes the runs of one
//! machine, and with `--gather` the table of the runs of all machines.

mod gather;
mod plots;
mod table_file;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::ensure;
use clap::Args as ClapArgs;
use indicatif::ProgressStyle;
use sim_core::Shown;
use sim_runs::{Ended, Grid, Journal, Point, Row, Rows, Shard, Table};

use crate::files::open_trace;
use crate::files::output::{Output, is_written_in_place};
use crate::host::{call, memory, progress};
use crate::verdict::Verdict;

/// Suffix of the journal after the name of the table.
const JOURNAL_ENDING: &str = ".runs";

/// Run every trace on every combination of values and write one row for each
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "A grid:\n\n    \
    traces = [\"traces/hash.n2t\", \"traces/sort.n2t\"]\n    \
    limit = \"500k\"\n    \
    metrics = [\"ipc\", \"l2_mpki\"]\n    \
    [[vary]]\n    \
    key = \"memory.l2.size-bytes\"\n    \
    values = [524288, 1048576]\n\n\
    parts = 64 instead of limit cuts a long trace into as many runs.\n\n\
    Interrupted, it goes on with the same command. docs/sweep.md says more.")]
pub(crate) struct SweepArgs {
    /// The sweep (TOML): traces, the keys to vary with their values, the columns
    grid: PathBuf,
    /// Table to write: Parquet if it ends in .parquet, else CSV [default: the grid's name with
    /// .csv, in this directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the table to FILE as Parquet too
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    parquet: Option<PathBuf>,
    /// Draw a metric over each varied key: PREFIX-KEY.svg
    #[arg(long, value_name = "PREFIX")]
    plots: Option<PathBuf>,
    /// Metric to draw, one of the grid's
    #[arg(long, alias = "of", value_name = "METRIC", requires = "plots", default_value = "ipc")]
    plot_metric: String,
    /// Number of parallel runs [default: one for each CPU of the host]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Discard the runs of an interrupted sweep and start again
    #[arg(long)]
    restart: bool,
    /// Make only share I of N of the runs, and write no table
    ///
    /// Each of N machines makes one share. Interrupted, it goes on with the same command.
    #[arg(long, value_name = "I/N", requires = "runs", help_heading = "Several machines")]
    #[arg(conflicts_with_all = ["gather", "output", "plots"])]
    shard: Option<Shard>,
    /// Directory for the runs of all shares; this one goes to DIR/I-of-N.runs
    #[arg(long, value_name = "DIR", requires = "shard", help_heading = "Several machines")]
    runs: Option<PathBuf>,
    /// Run nothing: make the table of the runs in DIR
    #[arg(long, value_name = "DIR", help_heading = "Several machines")]
    #[arg(conflicts_with_all = ["jobs", "restart"])]
    gather: Option<PathBuf>,
}

/// Runs the missing runs, then writes the table.
pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<Verdict> {
    let grid = Grid::read(&args.grid, &memory::budget())?;
    for trace in grid.traces() {
        open_trace::write_notes(&mut call::stderr(), &trace.path, &trace.notes)?;
    }
    match (args.shard, &args.runs, &args.gather) {
        (Some(shard), Some(directory), _) => run_share(args, &grid, shard, directory),
        (_, _, Some(directory)) => gather::run(args, &grid, directory),
        _ => run_all(args, &grid),
    }
}

/// Makes all runs and their table.
fn run_all(args: &SweepArgs, grid: &Grid) -> anyhow::Result<Verdict> {
    let drawn = args.drawn(grid)?;
    let path = args.table();
    check_place(&path)?;
    let (mut journal, kept) = Journal::open(&journal_path(&path), grid, None, args.restart)?;
    let rows = complete(args, grid, &grid.points().collect::<Vec<_>>(), &mut journal, kept)?;
    let verdict = write_table(args, grid, &rows, drawn)?;
    journal.remove()?;
    Ok(verdict)
}

/// Makes the runs of one machine. Runs that failed are part of them, so that no scheduler repeats
/// the share for their sake; the table says that they failed.
fn run_share(
    args: &SweepArgs,
    grid: &Grid,
    shard: Shard,
    directory: &Path,
) -> anyhow::Result<Verdict> {
    let path = directory.join(shard.file_name());
    ensure!(
        directory.is_dir(),
        "cannot write {}: there is no directory {}",
        path.shown(),
        directory.shown()
    );
    let (mut journal, kept) = Journal::open(&path, grid, Some(shard), args.restart)?;
    let points = grid.share(shard);
    complete(args, grid, &points, &mut journal, kept)?;
    note(&format!("share {shard}: {} runs in {}", points.len(), path.shown()))?;
    Ok(Verdict::Good)
}

impl SweepArgs {
    /// Returns the place of the table.
    fn table(&self) -> PathBuf {
        let grid = &self.grid;
        let default =
            || Path::new(grid.file_name().unwrap_or(grid.as_os_str())).with_extension("csv");
        self.output.clone().unwrap_or_else(default)
    }

    /// Returns the place of the metric to draw among those of the grid, if figures are wanted.
    fn drawn(&self, grid: &Grid) -> anyhow::Result<Option<usize>> {
        if self.plots.is_none() {
            return Ok(None);
        }
        let name = &self.plot_metric;
        let found = grid.metrics().position(|metric| metric.eq_ignore_ascii_case(name));
        ensure!(
            found.is_some(),
            "--plot-metric {name}: the grid has the metrics [{}]; add it there",
            grid.metrics().collect::<Vec<_>>().join(", ")
        );
        Ok(found)
    }
}

/// Refuses a table that cannot be written before the work. No file stays if the sweep is killed.
fn check_place(path: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_written_in_place(path),
        "cannot write {}: the runs of a sweep are kept beside its table; give a file",
        path.shown()
    );
    table_file::check(path)?;
    Output::create(Some(path)).map(drop)
}

fn journal_path(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(JOURNAL_ENDING);
    PathBuf::from(name)
}

fn note(text: &str) -> io::Result<()> {
    writeln!(call::stderr(), "n2sim: {text}")
}

/// Writes the table of all runs, and draws its metric.
fn write_table(
    args: &SweepArgs,
    grid: &Grid,
    rows: &Rows,
    drawn: Option<usize>,
) -> anyhow::Result<Verdict> {
    let Some(table) = Table::new(grid, rows) else { anyhow::bail!("a run is missing") };
    let path = args.table();
    table_file::write(&table, &path)?;
    #[cfg(feature = "parquet")]
    if let Some(path) = &args.parquet {
        table_file::write_parquet(&table, path)?;
    }
    if let (Some(prefix), Some(metric)) = (&args.plots, drawn) {
        plots::draw(prefix, grid, &table, metric)?;
    }
    let (rows, runs) = (grid.rows(), grid.len());
    match rows == runs {
        true => note(&format!("{runs} runs in {}", path.shown()))?,
        false => note(&format!("{runs} runs in {}; rows: {rows}", path.shown()))?,
    }
    if table.failed() == 0 {
        return Ok(Verdict::Good);
    }
    let failed = table.failed();
    note(&format!("{failed} of {rows} rows failed: the column error of the table says why"))?;
    Ok(Verdict::Refuted)
}

/// Returns all rows of these runs: those of the journal, and those of missing runs, which it makes.
fn complete(
    args: &SweepArgs,
    grid: &Grid,
    points: &[Point],
    journal: &mut Journal,
    kept: Rows,
) -> anyhow::Result<Rows> {
    let missing = grid.missing(points, &kept);
    let is_there = |point: &&Point| kept.get(&grid.key(point)).is_some();
    let there = points.iter().filter(is_there).count();
    if there > 0 {
        note(&format!("{there} of {} runs are there already", points.len()))?;
    }
    let bar = progress::bar(points.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} runs  {elapsed}  {eta}")?);
    bar.set_position((points.len() - missing.len()) as u64);
    let shared = Mutex::new((journal, kept));
    let keep = |point: Point, row: Row| {
        let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (journal, rows) = &mut *shared;
        let key = grid.key(&point);
        journal.add(&key, &row)?;
        rows.insert(key, row);
        bar.inc(1);
        Ok(())
    };
    let jobs = args.jobs.map_or(0, usize::from);
    let ended = sim_runs::run_all(grid, &missing, jobs, &memory::budget(), &keep);
    bar.finish_and_clear();
    check_end(ended?, missing.len())?;
    let (_, rows) = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(rows)
}

/// Says what kept runs from their rows. Returns the first error if there is one.
fn check_end(ended: Ended, runs: usize) -> anyhow::Result<()> {
    let Ended { again, mut refused } = ended;
    if again > 0 {
        note(&format!(
            "{again} of {runs} runs did not fit beside the others and ran again alone; lower --jobs or raise --max-memory"
        ))?;
    }
    if refused.len() > 1 {
        note(&format!(
            "{} of {runs} runs could not be made; the same command makes them; the first says:",
            refused.len()
        ))?;
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(refused.remove(0).1.into()),
    }
}
