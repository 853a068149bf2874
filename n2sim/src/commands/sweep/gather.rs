//! The table of the runs that several machines made.

use std::path::Path;

use sim_core::Shown;
use sim_runs::{Gathered, Grid, LackingShard, OtherRows, Shard};

use super::{SweepArgs, note, table_file, write_table};
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Most missing runs that are named.
const RUNS_NAMED: usize = 5;
/// Most shares that are named one by one.
const SHARES_NAMED: usize = 32;

/// Writes the table of the runs in a directory, if all are there.
pub(super) fn run(args: &SweepArgs, grid: &Grid, directory: &Path) -> anyhow::Result<Verdict> {
    let drawn = args.drawn(grid)?;
    let path = args.table();
    table_file::check(&path)?;
    Output::check(Some(&path))?;
    let gathered = sim_runs::gather(grid, directory)?;
    for OtherRows { path, rows, version } in &gathered.others {
        let of = version.as_ref().map_or_else(
            || String::from("another grid"),
            |version| format!("n2sim {version}, another version"),
        );
        note(&format!("{}: ignored rows of {of}: {rows}", path.shown()))?;
    }
    if gathered.missing.is_empty() {
        return write_table(args, grid, &gathered.rows, drawn);
    }
    anyhow::bail!(missing(args, grid, directory, &gathered))
}

/// Returns what is missing, and how to get it.
fn missing(args: &SweepArgs, grid: &Grid, directory: &Path, gathered: &Gathered) -> String {
    let (missing, place) = (gathered.missing.len(), directory.shown());
    let mut lines = vec![format!(
        "the directory {place} lacks {missing} of {} runs; {} is not written",
        grid.len(),
        args.table().shown()
    )];
    let shares = gathered.lacking.iter().map(|lacking| {
        let LackingShard { shard, missing, has_journal } = lacking;
        let (file, all) = (shard.file_name(), shard.range(grid.len()).len());
        match has_journal {
            true => format!("share {shard}: {missing} of {all} runs missing from {file}"),
            false => format!("share {shard}: {missing} of {all} runs missing, no {file}"),
        }
    });
    lines.extend(first(shares, SHARES_NAMED, "shares"));
    let runs = gathered.missing.iter().map(|point| format!("missing: {}", grid.name(point)));
    lines.extend(first(runs, RUNS_NAMED, "runs"));
    lines.push(String::from("make them with:"));
    let commands = repeated(gathered).into_iter().map(|shard| {
        let (grid, directory) = (quoted(&args.grid), quoted(directory));
        format!("n2sim sweep {grid} --shard {shard} --runs {directory}")
    });
    lines.extend(first(commands, SHARES_NAMED, "shares"));
    lines.join("\n  ")
}

/// Returns the first lines, and how many there are beside them.
fn first(lines: impl ExactSizeIterator<Item = String>, most: usize, what: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("and {more} more {what}"));
    lines.take(most).chain(more).collect()
}

/// Returns the shares to repeat: those of the number of shares of which most are there.
fn repeated(gathered: &Gathered) -> Vec<Shard> {
    let seen = |of: u32| gathered.shards.iter().filter(|shard| shard.of() == of).count();
    let numbers = gathered.lacking.iter().map(|lacking| lacking.shard.of());
    match numbers.max_by_key(|of| seen(*of)) {
        Some(of) => {
            let shards = gathered.lacking.iter().map(|lacking| lacking.shard);
            shards.filter(|shard| shard.of() == of).collect()
        }
        None => Shard::new(1, 1).into_iter().collect(),
    }
}

/// Returns a path as a word of a shell's command.
fn quoted(path: &Path) -> String {
    let shown = path.shown().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    match shown.chars().all(is_plain) {
        true => shown,
        false => format!("'{}'", shown.replace('\'', "'\\''")),
    }
}
