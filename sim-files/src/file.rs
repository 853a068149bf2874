//! Open files whose system calls are counted.

use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Output};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::calls::{Call, before};

/// A [`std::fs::File`] whose system calls go through [`calls`](crate::calls).
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system call fails.
    pub fn open(path: &Path) -> io::Result<File> {
        File::open_with(std::fs::File::options().read(true), path)
    }

    /// Opens a file with these options.
    ///
    /// # Errors
    /// The system call fails.
    pub fn open_with(options: &std::fs::OpenOptions, path: &Path) -> io::Result<File> {
        before(Call::Open)?;
        options.open(path).map(File)
    }

    /// Creates a memory file (`memfd`) without a path. Later child processes do not inherit it.
    /// Only debuggers show `name`; seals may be added.
    ///
    /// # Errors
    /// The system call fails.
    pub fn of_memory(name: &str) -> io::Result<File> {
        before(Call::Memory)?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        Ok(File(memfd_create(name, flags)?.into()))
    }

    /// Creates a file with this content, without a path. Its position is the start.
    ///
    /// # Errors
    /// A system call fails.
    pub fn of_bytes(bytes: Vec<u8>) -> io::Result<File> {
        let mut file = File::of_memory("n2sim")?;
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok(file)
    }

    /// Wraps an open file.
    pub fn from_std(file: std::fs::File) -> File {
        File(file)
    }

    /// Returns the wrapped file, for operations that this type does not have.
    pub fn as_std(&self) -> &std::fs::File {
        &self.0
    }

    /// Truncates or extends the file to `bytes`.
    ///
    /// # Errors
    /// The system call fails.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        before(Call::Write)?;
        self.0.set_len(bytes)
    }

    /// Reads at a position, until `bytes` is full.
    ///
    /// # Errors
    /// The system call fails, or the file ends too early.
    pub fn read_exact_at(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        before(Call::Read)?;
        self.0.read_exact_at(bytes, position)
    }

    /// Writes all of `bytes` at a position.
    ///
    /// # Errors
    /// The system call fails.
    pub fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        before(Call::Write)?;
        self.0.write_all_at(bytes, position)
    }

    /// Syncs all written bytes to the disk.
    ///
    /// # Errors
    /// The system call fails. The content of the disk is unknown then.
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
/// The system call fails.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file of text.
///
/// # Errors
/// The system call fails, or the file is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Runs a process to its end. Returns its output.
///
/// # Errors
/// The system call fails.
pub fn output(command: &mut Command) -> io::Result<Output> {
    before(Call::Spawn)?;
    command.output()
}

/// Starts a process.
///
/// # Errors
/// The system call fails.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    before(Call::Spawn)?;
    command.spawn()
}
