//! Finished runs on the disk, so that a search that was ended goes on where it was.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Name of the format in the first line of a journal, before its version.
const FORMAT: &str = "n2sim calibrate ";
/// Version of the format. A journal of another one is of another search.
const VERSION: &str = "2";

/// A journal that cannot be read or written.
#[derive(Debug)]
pub enum JournalError {
    /// The file cannot be opened, read or written.
    Io(std::io::Error),
    /// The file is not a journal.
    NotAJournal,
    /// Another process writes the journal.
    InUse,
    /// The journal is of another search: other counts, keys, traces or machine.
    OtherSearch,
}

/// One run of the model.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The kernel; `None` for all of them together.
    pub(crate) kernel: Option<usize>,
    pub(crate) place: Vec<usize>,
    /// Predictions of the points; `None` if the model has no such machine.
    pub(crate) predicted: Option<Vec<f64>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    search: String,
}

/// A file with a line for each finished run.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    known: Vec<Line>,
}

impl Journal {
    /// Opens the journal of a search, or starts it. `search` names everything that determines a
    /// prediction besides the positions of the keys.
    ///
    /// A line that was not written to its end is removed, with all that follow it.
    ///
    /// # Errors
    /// The file cannot be opened, another process writes it, or it is of another search or no
    /// journal.
    pub fn open(path: &Path, search: &str) -> Result<Journal, JournalError> {
        let mut file = locked(path)?;
        if file.metadata().map_err(JournalError::Io)?.len() == 0 {
            return Journal::begin(file, path, search);
        }
        let mut lines = BufReader::new(&file);
        let mut line = String::new();
        let mut length = read_line(&mut lines, &mut line)?;
        let found: Head = serde_json::from_str(&line).map_err(|_| JournalError::NotAJournal)?;
        let version = found.format.strip_prefix(FORMAT).ok_or(JournalError::NotAJournal)?;
        if version != VERSION || found.search != search {
            return Err(JournalError::OtherSearch);
        }
        let mut known = Vec::new();
        loop {
            line.clear();
            let bytes = read_line(&mut lines, &mut line)?;
            let Ok(run) = serde_json::from_str::<Line>(&line) else { break };
            if !line.ends_with('\n') {
                break;
            }
            length += bytes;
            known.push(run);
        }
        file.set_len(length).map_err(JournalError::Io)?;
        file.seek(SeekFrom::End(0)).map_err(JournalError::Io)?;
        Ok(Journal { file, path: path.to_owned(), known })
    }

    /// Starts the journal of a search, and discards the runs that the file has.
    ///
    /// # Errors
    /// The file cannot be written, or another process writes it.
    pub fn restart(path: &Path, search: &str) -> Result<Journal, JournalError> {
        let file = locked(path)?;
        file.set_len(0).map_err(JournalError::Io)?;
        Journal::begin(file, path, search)
    }

    fn begin(mut file: File, path: &Path, search: &str) -> Result<Journal, JournalError> {
        let head = Head { format: format!("{FORMAT}{VERSION}"), search: search.to_owned() };
        writeln!(file, "{}", json(&head)).map_err(JournalError::Io)?;
        Ok(Journal { file, path: path.to_owned(), known: Vec::new() })
    }

    /// Removes the file of a search whose result is kept elsewhere. No other search can open it
    /// before it is gone.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path).map_err(JournalError::Io)
    }

    /// Takes the runs that were known when the journal was opened.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.known)
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, line: &Line) -> Result<(), JournalError> {
        writeln!(self.file, "{}", json(line)).map_err(JournalError::Io)
    }
}

/// Opens or creates a journal that no other process writes.
fn locked(path: &Path) -> Result<File, JournalError> {
    loop {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = file.map_err(JournalError::Io)?;
        // A file system without locks cannot keep two searches apart.
        if let Err(Errno::WOULDBLOCK) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            return Err(JournalError::InUse);
        }
        if has_name(&file)? {
            return Ok(file);
        }
    }
}

/// Returns false if another search removed a file after it was opened, and before it was locked.
fn has_name(file: &File) -> Result<bool, JournalError> {
    file.metadata().map(|about| about.nlink() > 0).map_err(JournalError::Io)
}

fn read_line(lines: &mut impl BufRead, line: &mut String) -> Result<u64, JournalError> {
    lines.read_line(line).map(|bytes| bytes as u64).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => JournalError::NotAJournal,
        _ => JournalError::Io(error),
    })
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and strings are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search that opened the file just before another one removed it takes a new file.
    #[test]
    fn removed_file_is_not_taken() {
        let path = std::env::temp_dir().join(format!("n2sim-removed-{}", std::process::id()));
        let journal = Journal::open(&path, "a search").expect("a new file");
        let old = File::open(&path).expect("it exists");
        assert!(has_name(&old).expect("it can be read"));
        assert!(matches!(Journal::open(&path, "a search"), Err(JournalError::InUse)));
        journal.remove().expect("it can be removed");
        assert!(!path.exists() && !has_name(&old).expect("it can be read"));
        let second = Journal::open(&path, "another search").expect("a new file");
        assert!(has_name(&second.file).expect("it can be read"));
        second.remove().expect("it can be removed");
    }
}
