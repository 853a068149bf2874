//! `n2sim sweep`: runs every trace on every combination of values and writes one table.
//!
//! Each finished run is kept in a journal beside the table, so that an interrupted sweep continues.
//! The table itself is written when all runs are done.

mod core;
mod grid;
mod journal;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, ensure};
use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use sim_report::figure::sensitivity;

use crate::files::output::{Output, is_written_in_place};
use crate::host::memory;
use crate::verdict::Verdict;
use core::is_over_budget;
use grid::{Grid, Point};
use journal::{Journal, Row};
use sim_core::Shown;
use table::Table;

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
    Interrupted, it goes on with the same command. docs/sweep.md says more.")]
pub(crate) struct SweepArgs {
    /// The sweep (TOML): traces, the keys to vary with their values, the columns
    grid: PathBuf,
    /// Table to write (CSV) [default: the grid's name with .csv, in this directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the table to FILE as Parquet too
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
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
}

/// Runs the missing runs, then writes the table.
pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<Verdict> {
    let grid = Grid::read(&args.grid)?;
    let drawn = args.plots.as_ref().map(|_| grid.metric(&args.plot_metric)).transpose()?;
    let path = args.output.clone().unwrap_or_else(|| default_output(&args.grid));
    check_place(&path)?;
    let (mut journal, kept) = Journal::open(&journal_path(&path), &grid, args.restart)?;
    let missing = grid.points().filter(|point| kept.get(point.number).is_none()).count();
    if missing < grid.len() {
        note(&format!("{} of {} runs are there already", grid.len() - missing, grid.len()))?;
    }
    let rows = complete(args, &grid, &mut journal, kept)?;
    let table = Table::new(&grid, &rows);
    table.write_csv(Output::create(Some(&path))?)?.finish()?;
    #[cfg(feature = "parquet")]
    if let Some(path) = &args.parquet {
        parquet::write(&table, path)?;
    }
    if let (Some(prefix), Some(metric)) = (&args.plots, drawn) {
        draw(prefix, &grid, &table, metric)?;
    }
    journal.remove()?;
    note(&format!("{} runs in {}", grid.len(), path.shown()))?;
    Ok(Verdict::Good)
}

/// Refuses a table that cannot be written before the work. No file stays if the sweep is killed.
fn check_place(path: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_written_in_place(path),
        "cannot write {}: the runs of a sweep are kept beside its table; give a file",
        path.shown()
    );
    Output::create(Some(path)).map(drop)
}

fn default_output(grid: &Path) -> PathBuf {
    Path::new(grid.file_name().unwrap_or(grid.as_os_str())).with_extension("csv")
}

fn journal_path(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(JOURNAL_ENDING);
    PathBuf::from(name)
}

fn note(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "n2sim: {text}")
}

/// Returns all rows: those of the journal, and those of missing runs, which it runs.
fn complete(
    args: &SweepArgs,
    grid: &Grid,
    journal: &mut Journal,
    kept: journal::Rows,
) -> anyhow::Result<Vec<Row>> {
    let bar = ProgressBar::new(grid.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} runs  {elapsed}  {eta}")?);
    let jobs = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.context("cannot start the threads of --jobs")?;
    let missing: Vec<Point<'_>> =
        grid.points().filter(|point| kept.get(point.number).is_none()).collect();
    bar.set_position((grid.len() - missing.len()) as u64);
    let shared = Mutex::new((journal, kept));
    let memory = memory::budget();
    let run = |point: &Point<'_>| -> anyhow::Result<()> {
        let row = grid.core.run(grid, point, &memory)?;
        let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (journal, rows) = &mut *shared;
        journal.add(point.number, &row)?;
        rows.insert(point.number, row);
        bar.inc(1);
        Ok(())
    };
    let done = pool.install(|| run_all(&missing, &run));
    bar.finish_and_clear();
    match done? {
        0 => {}
        again => note(&format!(
            "{again} of {} runs did not fit beside the others and ran again alone; lower --jobs or raise --max-memory",
            missing.len()
        ))?,
    }
    let (_, rows) = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    rows.all(grid.len()).context("a run is missing in the journal")
}

/// Runs all in parallel; then, one after another, those that were refused memory because others had
/// it. Returns the number of the latter.
fn run_all<'a>(
    points: &[Point<'a>],
    run: &(impl Fn(&Point<'a>) -> anyhow::Result<()> + Sync),
) -> anyhow::Result<usize> {
    let refused = points.par_iter().map(|point| match run(point) {
        Err(error) if is_over_budget(&error) => Ok(Some(point)),
        done => done.map(|()| None),
    });
    let refused: Vec<Option<&Point<'a>>> = refused.collect::<anyhow::Result<_>>()?;
    let refused: Vec<&Point<'a>> = refused.into_iter().flatten().collect();
    refused.iter().try_for_each(|point| run(point))?;
    Ok(refused.len())
}

/// Draws a figure for each key that has more than one value.
fn draw(prefix: &Path, grid: &Grid, table: &Table<'_>, metric: usize) -> anyhow::Result<()> {
    for (axis, vary) in grid.axes.iter().enumerate().filter(|(_, vary)| vary.values.len() > 1) {
        let curves = table.curves(axis, metric);
        let svg =
            sensitivity::sensitivity(&vary.key, &vary.values, &grid.metrics[metric].name, &curves);
        let mut name = prefix.as_os_str().to_owned();
        name.push(format!("-{}.svg", vary.key));
        let mut output = Output::create(Some(Path::new(&name)))?;
        output.write_all(svg.as_bytes())?;
        output.finish()?;
    }
    Ok(())
}
