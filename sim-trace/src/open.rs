//! Opening of a trace by its path. Imports a trace of another tool first.

use std::io::{Read, Seek};
use std::path::Path;

use sim_core::MemoryBudget;
use sim_files::File;

use crate::error::TraceError;
use crate::file::{TraceFile, open_file};
use crate::foreign::{self, ImportOptions};
use crate::layout::FILE_MAGIC;

impl TraceFile {
    /// Opens a complete trace. Imports a trace of another tool ([`foreign`](crate::foreign)) into a
    /// temporary file without a name.
    ///
    /// # Errors
    /// The file is absent, not a trace, of another major version, truncated, or damaged in its
    /// header, META, MAP, IMAGE or BLOCKS chunks. Reading a stream finds damage in the stream. A
    /// lost index is rebuilt and is not an error.
    pub fn open(path: &Path) -> Result<TraceFile, TraceError> {
        TraceFile::open_within(path, &MemoryBudget::default())
    }

    /// Opens a trace like [`TraceFile::open`], and reserves the memory of its code and readers in
    /// `budget`.
    ///
    /// # Errors
    /// The same as for [`TraceFile::open`], or the code of the trace exceeds the budget.
    pub fn open_within(path: &Path, budget: &MemoryBudget) -> Result<TraceFile, TraceError> {
        let imported = || Ok(foreign::open_within(path, &ImportOptions::default(), budget)?.0);
        if path.is_dir() {
            return imported();
        }
        let mut file = open_file(path)?;
        match begins_as_trace(&mut file).map_err(TraceError::io(path, "reading"))? {
            true => TraceFile::from_reader_within(file, path, budget),
            false => imported(),
        }
    }
}

/// Returns true if the file is empty or begins with the first byte of a trace.
fn begins_as_trace(file: &mut File) -> std::io::Result<bool> {
    let mut first = [0];
    let length = file.read(&mut first)?;
    file.rewind()?;
    Ok(length == 0 || first[0] == FILE_MAGIC[0])
}
