//! An open file whose calls are counted.

use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command};

use crate::calls::{Call, before};

/// A file as [`std::fs::File`], each of whose calls goes through [`calls`](crate::calls).
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(path: &Path) -> io::Result<File> {
        File::open_with(std::fs::File::options().read(true), path)
    }

    /// Opens a file as `options` say.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open_with(options: &std::fs::OpenOptions, path: &Path) -> io::Result<File> {
        before(Call::Open)?;
        options.open(path).map(File)
    }

    /// Takes a file that is open.
    pub fn from_std(file: std::fs::File) -> File {
        File(file)
    }

    /// Returns the file itself, for what this type does not have.
    pub fn as_std(&self) -> &std::fs::File {
        &self.0
    }

    /// Cuts or lengthens the file to so many bytes.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        before(Call::Write)?;
        self.0.set_len(bytes)
    }

    /// Brings all that was written to the disk.
    ///
    /// # Errors
    /// If the system refuses; what is on the disk is not known then.
    pub fn sync(&self) -> io::Result<()> {
        before(Call::Sync)?;
        self.0.sync_all()
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        before(Call::Read)?;
        self.0.read(bytes)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        before(Call::Write)?;
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        before(Call::Write)?;
        self.0.write_vectored(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Reads a whole file.
///
/// # Errors
/// If the system refuses.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Starts a process.
///
/// # Errors
/// If the system refuses.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    before(Call::Spawn)?;
    command.spawn()
}
