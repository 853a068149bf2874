//! An open file whose calls are counted.

use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Output};

use rustix::fs::{MemfdFlags, memfd_create};

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

    /// Makes a file of memory that has no path and that processes started later do not inherit.
    /// `name` is shown by debuggers alone; seals may be added.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn of_memory(name: &str) -> io::Result<File> {
        before(Call::Memory)?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        Ok(File(memfd_create(name, flags)?.into()))
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

    /// Reads from a position until `bytes` are full.
    ///
    /// # Errors
    /// If the system refuses, or the file ends before.
    pub fn read_exact_at(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        before(Call::Read)?;
        self.0.read_exact_at(bytes, position)
    }

    /// Writes all of `bytes` at a position.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        before(Call::Write)?;
        self.0.write_all_at(bytes, position)
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

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
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

/// Reads a whole file of text.
///
/// # Errors
/// If the system refuses, or the file is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Runs a process to its end and returns what it printed.
///
/// # Errors
/// If the system refuses.
pub fn output(command: &mut Command) -> io::Result<Output> {
    before(Call::Spawn)?;
    command.output()
}

/// Starts a process.
///
/// # Errors
/// If the system refuses.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    before(Call::Spawn)?;
    command.spawn()
}
