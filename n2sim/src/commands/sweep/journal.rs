//! The runs of a sweep that are done, one line each, kept until the table is written.
//!
//! The file has JSON lines. The first identifies the sweep, and each of the others holds the counts
//! of one run. A line is written at once; a line that an interruption cut is dropped. Two sweeps
//! cannot write the same journal.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sim_files::File;

use super::grid::Grid;
use sim_core::Shown;

/// The inputs that determine the counts of a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    n2sim: String,
    warmup: u64,
    limit: Option<u64>,
    /// Names and hashes of the traces.
    traces: Vec<(String, String)>,
    /// Hashes of the configurations.
    configs: Vec<String>,
}

/// The counts of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    /// Cores that ran.
    pub(super) cores: u32,
    /// Cycles of the core that ran longest.
    pub(super) longest: u64,
    /// Counts of all cores together, in the order of the core's events.
    pub(super) counts: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    run: usize,
    #[serde(flatten)]
    row: Row,
}

/// Rows by their number.
#[derive(Debug, Default)]
pub(super) struct Rows(BTreeMap<usize, Row>);

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// A line could not be written, and further lines would be lost with it.
    is_broken: bool,
}

impl Journal {
    /// Opens or creates the journal of a sweep. Returns also its runs.
    pub(super) fn open(path: &Path, grid: &Grid, restart: bool) -> anyhow::Result<(Journal, Rows)> {
        let name = path.shown();
        let mut options = fs::File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file =
            File::open_with(&options, path).with_context(|| format!("cannot write {name}"))?;
        if flock(file.as_std(), FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("{name} is in use: another sweep writes it");
        }
        let mut text = String::new();
        if !restart {
            file.read_to_string(&mut text).with_context(|| format!("cannot read {name}"))?;
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let head = head(grid);
        let rows =
            read(&text[..whole], &head, grid.len(), grid.core.events()).with_context(|| {
                format!("{name}: remove it, give another -o, or start again with --restart")
            })?;
        file.set_len(whole as u64).with_context(|| format!("cannot write {name}"))?;
        file.seek(SeekFrom::End(0)).with_context(|| format!("cannot write {name}"))?;
        let mut journal = Journal { file, path: path.to_owned(), is_broken: false };
        if whole == 0 {
            journal.write(&head)?;
        }
        Ok((journal, rows))
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: usize, row: &Row) -> anyhow::Result<()> {
        self.write(&Line { run, row: row.clone() })
    }

    /// Removes the journal, because the sweep is complete.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.shown()))
    }

    fn write(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(line).context("a line of the journal")?;
        text.push('\n');
        ensure!(!self.is_broken, "cannot write {}", self.path.shown());
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync());
        self.is_broken = written.is_err();
        written.with_context(|| format!("cannot write {}", self.path.shown()))
    }
}

impl Rows {
    pub(super) fn get(&self, run: usize) -> Option<&Row> {
        self.0.get(&run)
    }

    pub(super) fn insert(&mut self, run: usize, row: Row) {
        self.0.insert(run, row);
    }

    /// Returns all rows, if there is one for each of `runs` runs.
    pub(super) fn all(self, runs: usize) -> Option<Vec<Row>> {
        (self.0.len() == runs).then(|| self.0.into_values().collect())
    }
}

fn head(grid: &Grid) -> Head {
    let hex = |hash: u64| format!("{hash:016x}");
    Head {
        n2sim: env!("CARGO_PKG_VERSION").to_owned(),
        warmup: grid.options.warmup,
        limit: grid.options.limit,
        traces: grid.traces.iter().map(|trace| (trace.name.clone(), hex(trace.hash))).collect(),
        configs: grid.combinations.iter().map(|combination| hex(combination.hash)).collect(),
    }
}

/// Returns the rows of a journal of whole lines.
fn read(text: &str, expected: &Head, runs: usize, events: usize) -> anyhow::Result<Rows> {
    let mut rows = Rows::default();
    let mut lines = text.lines().enumerate();
    let Some((_, first)) = lines.next() else { return Ok(rows) };
    match serde_json::from_str::<Head>(first) {
        Ok(found) if found == *expected => {}
        Ok(_) => bail!("it holds the runs of another grid, other traces or another version"),
        Err(_) => bail!("it is not a journal of a sweep"),
    }
    for (number, line) in lines {
        let fits = |line: &Line| line.run < runs && line.row.counts.len() == events;
        match serde_json::from_str::<Line>(line).ok().filter(fits) {
            Some(Line { run, row }) => rows.insert(run, row),
            None => bail!("line {} is damaged", number + 1),
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of the core of these tests.
    const EVENTS: usize = 3;

    fn some_head() -> Head {
        Head {
            n2sim: "1".to_owned(),
            warmup: 0,
            limit: None,
            traces: vec![("a".to_owned(), "0".to_owned())],
            configs: vec!["1".to_owned(), "2".to_owned()],
        }
    }

    fn row(first: u64) -> Row {
        let mut counts = vec![0; EVENTS];
        counts[0] = first;
        Row { cores: 1, longest: 5, counts }
    }

    fn text(lines: &[Line]) -> String {
        let head = serde_json::to_string(&some_head()).expect("plain values");
        let line = |line| serde_json::to_string(line).expect("plain values");
        std::iter::once(head).chain(lines.iter().map(line)).map(|line| line + "\n").collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let text = text(&[Line { run: 1, row: row(7) }, Line { run: 0, row: row(3) }]);
        let rows = read(&text, &some_head(), 2, EVENTS).expect("a journal").all(2).expect("both");
        assert_eq!(rows, [row(3), row(7)]);
    }

    #[test]
    fn runs_of_another_sweep_and_damaged_lines_are_refused() {
        let good = text(&[Line { run: 1, row: row(7) }]);
        let other = Head { limit: Some(1), ..some_head() };
        let message = |text: &str, head: &Head, runs| {
            read(text, head, runs, EVENTS).expect_err("a fault").to_string()
        };
        assert!(message(&good, &other, 2).contains("another grid"));
        assert!(message("{}\n", &some_head(), 2).contains("not a journal"));
        assert_eq!(message(&good, &some_head(), 1), "line 2 is damaged", "no such run");
        assert_eq!(message(&good.replace("run", "ran"), &some_head(), 2), "line 2 is damaged");
    }
}
