//! The rows of all machines, from the journals of a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sim_core::Shown;

use crate::error::RunsError;
use crate::grid::{Grid, Point};
use crate::journal::{self, Head, Line, damaged, whole_lines};
use crate::key::VERSION;
use crate::rows::Rows;
use crate::shard::Shard;

/// Ending of the names of journals.
const ENDING: &str = "runs";

/// Rows of other grids or versions in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRows {
    /// The journal.
    pub path: PathBuf,
    /// Number of its rows that belong to no run of the grid.
    pub rows: usize,
    /// Version of n2sim that wrote it, if it is another one.
    pub version: Option<String>,
}

/// A share whose runs are not all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LackingShard {
    /// The share.
    pub shard: Shard,
    /// Number of missing runs of the share.
    pub missing: usize,
    /// True if it has a journal; false if the journal is absent.
    pub has_journal: bool,
}

/// The rows of a grid that [`gather`] found.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The rows.
    pub rows: Rows,
    /// Shares of the grid that have a journal.
    pub shards: BTreeSet<Shard>,
    /// Journals with rows that belong to no run of the grid. These are ignored.
    pub others: Vec<OtherRows>,
    /// Runs without a row, each key once.
    pub missing: Vec<Point>,
    /// Shares with missing runs, for every number of shares of which there is a journal.
    pub lacking: Vec<LackingShard>,
}

/// Rows of the journals so far, with the journal of each.
struct Found<'a> {
    grid: &'a Grid,
    keys: BTreeMap<String, Point>,
    rows: Rows,
    origins: BTreeMap<String, PathBuf>,
}

/// Reads the rows of a grid from every journal (`*.runs`) in a directory, in order of their names.
/// A row may be there several times. The last line of a journal is ignored if it has no end.
///
/// # Errors
/// The directory or a journal cannot be read, a journal is damaged, or two rows of one run differ.
pub fn gather(grid: &Grid, directory: &Path) -> Result<Gathered, RunsError> {
    let paths = journals(directory)?;
    let mut found =
        Found { grid, keys: grid.keys(), rows: Rows::default(), origins: BTreeMap::new() };
    let mut gathered = Gathered::default();
    let identity = grid.identity();
    for path in &paths {
        let place = |error: RunsError| {
            let remedy = "remove it and run its share again";
            error.at(format!("{}: {remedy}", path.shown()))
        };
        let doing = format!("cannot read {}", path.shown());
        let bytes = sim_files::read(path).map_err(RunsError::io(&doing))?;
        let Some((head, lines)) = journal::read(whole_lines(&bytes)).map_err(place)? else {
            continue;
        };
        let others = found.add(path, lines)?;
        let version = (head.n2sim != VERSION).then(|| head.n2sim.clone());
        gathered.others.extend(others.map(|rows| OtherRows { path: path.clone(), rows, version }));
        if head.grid == identity {
            gathered.shards.extend(shard(&head).map_err(place)?);
        }
    }
    let points: Vec<Point> = grid.points().collect();
    gathered.missing = grid.missing(&points, &found.rows);
    gathered.rows = found.rows;
    gathered.lacking = lacking(grid, &gathered.rows, &gathered.shards);
    Ok(gathered)
}

impl Found<'_> {
    /// Adds the rows of a journal. Returns the number of rows that belong to no run of the grid, if
    /// there are any.
    fn add(&mut self, path: &Path, lines: Vec<Line>) -> Result<Option<usize>, RunsError> {
        let mut others = 0;
        for (number, Line { key, row }) in (2..).zip(lines) {
            let Some(point) = self.keys.get(&key) else {
                others += 1;
                continue;
            };
            if !self.grid.fits(point, &row) {
                return Err(damaged(number).at(path.shown().to_string()));
            }
            let before = self.rows.insert(key.clone(), row);
            if before.is_some() && before.as_ref() != self.rows.get(&key) {
                let first = self.origins[&key].shown();
                let (name, second) = (self.grid.name(point), path.shown());
                return Err(RunsError::Wrong(format!(
                    "{first} and {second} disagree about the run {name}: one of them is damaged or of \
                     another build of n2sim; remove it and run its share again"
                )));
            }
            self.origins.insert(key, path.to_owned());
        }
        Ok((others > 0).then_some(others))
    }
}

/// Returns the journals of a directory, in order of their names.
fn journals(directory: &Path) -> Result<Vec<PathBuf>, RunsError> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        let entries = directory.read_dir()?.collect::<std::io::Result<Vec<_>>>()?;
        let paths = entries.into_iter().map(|entry| entry.path());
        let is_journal =
            |path: &PathBuf| path.extension().is_some_and(|end| end == ENDING) && path.is_file();
        let mut paths: Vec<PathBuf> = paths.filter(is_journal).collect();
        paths.sort_unstable();
        Ok(paths)
    };
    list().map_err(RunsError::io(&format!("cannot read the directory {}", directory.shown())))
}

/// Returns the share of a journal.
fn shard(head: &Head) -> Result<Option<Shard>, RunsError> {
    let shard = head.shard.map(|(number, of)| Shard::new(number, of)).transpose();
    shard.map_err(|error| RunsError::Wrong(format!("line 1 is damaged: {error}")))
}

/// Returns the shares with missing runs, for each number of shares that was seen.
fn lacking(grid: &Grid, rows: &Rows, seen: &BTreeSet<Shard>) -> Vec<LackingShard> {
    let numbers: BTreeSet<u32> = seen.iter().map(|shard| shard.of()).collect();
    let all = numbers.iter().flat_map(|of| {
        // A number of shares that was seen has these shares.
        (1..=*of).filter_map(|number| Shard::new(number, *of).ok())
    });
    let state = |shard: Shard| {
        let missing = grid.missing(&grid.share(shard), rows).len();
        LackingShard { shard, missing, has_journal: seen.contains(&shard) }
    };
    all.map(state).filter(|state| state.missing > 0).collect()
}
