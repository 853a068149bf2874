//! The runs that are done, one line each, on the disk.
//!
//! The file has JSON lines. The first identifies the grid, and each of the others holds the row of
//! one run with its key. A line is written at once; a line that an interruption cut is dropped. Two
//! sweeps cannot write the same journal.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sim_core::Shown;
use sim_files::File;

use crate::error::RunsError;
use crate::grid::Grid;
use crate::key::VERSION;
use crate::rows::{Row, Rows};
use crate::shard::Shard;

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Version of n2sim.
    pub(crate) n2sim: String,
    /// Hash of the keys of all runs.
    pub(crate) grid: String,
    /// Number of the share and of all shares; absent if one machine makes all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shard: Option<(u32, u32)>,
}

/// A line after the first.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) row: Row,
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// A line could not be written, and further lines would be lost with it.
    is_broken: bool,
}

impl Journal {
    /// Opens or creates the journal of a grid, or of the share of one machine. Returns also the
    /// rows that it has; `restart` discards them.
    ///
    /// # Errors
    /// The file cannot be written, another process writes it, a line is damaged, or it has the runs
    /// of another grid or another version of n2sim.
    pub fn open(
        path: &Path,
        grid: &Grid,
        shard: Option<Shard>,
        restart: bool,
    ) -> Result<(Journal, Rows), RunsError> {
        let cannot_write = format!("cannot write {}", path.shown());
        let cannot_write = RunsError::io(&cannot_write);
        let mut file = locked(path)?;
        let mut bytes = Vec::new();
        if !restart {
            let doing = format!("cannot read {}", path.shown());
            file.read_to_end(&mut bytes).map_err(RunsError::io(&doing))?;
        }
        let head = Head {
            n2sim: VERSION.to_owned(),
            grid: grid.identity(),
            shard: shard.map(|shard| (shard.number(), shard.of())),
        };
        let (whole, rows) = kept(&bytes, &head, grid).map_err(|error| {
            let (name, place) = (path.shown(), if shard.is_some() { "--runs" } else { "-o" });
            error.at(format!(
                "{name}: remove it, give another {place}, or start again with --restart"
            ))
        })?;
        file.set_len(whole as u64).map_err(&cannot_write)?;
        file.seek(SeekFrom::End(0)).map_err(&cannot_write)?;
        let mut journal = Journal { file, path: path.to_owned(), is_broken: false };
        if whole == 0 {
            journal.write(&head)?;
        }
        Ok((journal, rows))
    }

    /// Adds the row of a run. It is on the disk when this returns.
    ///
    /// # Errors
    /// The file cannot be written. No further row can be added then.
    pub fn add(&mut self, key: &str, row: &Row) -> Result<(), RunsError> {
        self.write(&Line { key: key.to_owned(), row: row.clone() })
    }

    /// Removes the journal, because its rows are in a table.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(self) -> Result<(), RunsError> {
        let doing = format!("cannot remove {}", self.path.shown());
        fs::remove_file(&self.path).map_err(RunsError::io(&doing))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), RunsError> {
        let mut text = serde_json::to_string(line).map_err(RunsError::Line)?;
        text.push('\n');
        let doing = format!("cannot write {}", self.path.shown());
        if self.is_broken {
            return Err(RunsError::Wrong(doing));
        }
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync());
        self.is_broken = written.is_err();
        written.map_err(RunsError::io(&doing))
    }
}

/// Opens or creates a journal that no other process writes.
fn locked(path: &Path) -> Result<File, RunsError> {
    let name = path.shown();
    let mut options = fs::File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = File::open_with(&options, path);
    let file = file.map_err(RunsError::io(&format!("cannot write {name}")))?;
    // A file system without locks cannot keep two sweeps apart.
    match flock(file.as_std(), FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            Err(RunsError::Wrong(format!("{name} is in use: another sweep writes it")))
        }
        _ => Ok(file),
    }
}

/// Returns the length of the whole lines of a journal, and its rows.
fn kept(bytes: &[u8], expected: &Head, grid: &Grid) -> Result<(usize, Rows), RunsError> {
    let mut rows = Rows::default();
    let whole = whole_lines(bytes);
    let Some((head, lines)) = read(whole)? else { return Ok((0, rows)) };
    if (&head.n2sim, &head.grid) != (&expected.n2sim, &expected.grid) {
        let what = "it holds the runs of another grid, other traces or another version";
        return Err(RunsError::Wrong(what.to_owned()));
    }
    let keys = grid.keys();
    for (number, Line { key, row }) in (2..).zip(lines) {
        if !keys.get(&key).is_some_and(|point| grid.fits(point, &row)) {
            return Err(damaged(number));
        }
        rows.insert(key, row);
    }
    Ok((whole.len(), rows))
}

/// Returns the bytes up to the last line end: a process that was killed may leave a part of a line.
pub(crate) fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    &bytes[..end]
}

/// Returns the lines of a journal; `None` if not even the first is there.
pub(crate) fn read(whole: &[u8]) -> Result<Option<(Head, Vec<Line>)>, RunsError> {
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
    let Some(first) = lines.next() else { return Ok(None) };
    let no_journal = |_| RunsError::Wrong(String::from("it is not a journal of a sweep"));
    let head = serde_json::from_slice::<Head>(first).map_err(no_journal)?;
    let line = |(number, line)| serde_json::from_slice(line).map_err(|_| damaged(number));
    let lines = (2..).zip(lines).map(line).collect::<Result<Vec<Line>, RunsError>>()?;
    Ok(Some((head, lines)))
}

pub(crate) fn damaged(line: usize) -> RunsError {
    RunsError::Wrong(format!("line {line} is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Counts;

    fn head() -> Head {
        Head { n2sim: "1".to_owned(), grid: "ab".to_owned(), shard: Some((3, 16)) }
    }

    fn lines() -> Vec<Line> {
        let counts = Counts { cores: 1, longest: u64::MAX, counts: vec![7, 0, 1 << 63] };
        let failed = Row::Failed { error: "no \"room\"\nhere".to_owned() };
        let line = |key: &str, row| Line { key: key.to_owned(), row };
        vec![line("1", Row::Counted(counts)), line("2", failed)]
    }

    fn text() -> String {
        let head = serde_json::to_string(&head()).expect("plain values");
        let lines = lines();
        let lines = lines.iter().map(|line| serde_json::to_string(line).expect("plain values"));
        std::iter::once(head).chain(lines).map(|line| line + "\n").collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let text = text();
        assert_eq!(read(text.as_bytes()).expect("a journal"), Some((head(), lines())));
        assert_eq!(read(b"").expect("a journal that a kill left empty"), None);
    }

    #[test]
    fn a_cut_line_is_dropped_and_a_damaged_one_is_refused() {
        let text = text();
        for cut in 1..text.lines().last().expect("a line").len() {
            let whole = whole_lines(&text.as_bytes()[..text.len() - cut]);
            let (_, lines) = read(whole).expect("whole lines").expect("a head");
            assert_eq!(lines.len(), 1, "{cut}");
        }
        let message = |text: String| read(text.as_bytes()).expect_err("a fault").to_string();
        assert_eq!(message(text.replace("cores", "core")), "line 2 is damaged");
        assert_eq!(message(text.replace("error", "eror")), "line 3 is damaged");
        assert!(message(text.replace("grid", "gird")).contains("not a journal"));
    }
}
