//! Temporary files and directories whose paths are passed to other programs.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::calls::{Call, before};
use crate::live;

/// A file in the system's temporary directory, removed when this value is dropped or a signal ends
/// the process.
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// A directory in the system's temporary directory, removed with its content when this value is
/// dropped or a signal ends the process.
#[derive(Debug)]
pub struct ScratchDirectory {
    path: PathBuf,
    /// File in the directory, locked while this value lives: a killed process leaves it unlocked.
    _lock: Option<File>,
}

/// Prefix of the name of a temporary directory.
pub(crate) const DIRECTORY_PREFIX: &str = "n2sim-scratch-";
/// Name of the locked file in a temporary directory.
pub(crate) const LOCK_NAME: &str = ".n2sim-lock";

impl Scratch {
    /// Creates a file with the content `bytes`, whose name begins with `prefix`.
    ///
    /// # Errors
    /// The system call fails.
    pub fn new(prefix: &str, mode: u32, bytes: &[u8]) -> io::Result<Scratch> {
        let (mut file, path) = live::make(|| {
            before(Call::Open)?;
            let made = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(mode))
                .tempfile()?;
            made.keep().map_err(|error| error.error)
        })?;
        let scratch = Scratch(path);
        before(Call::Write)?;
        file.write_all(bytes)?;
        Ok(scratch)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl ScratchDirectory {
    /// Creates an empty directory that only this user can read.
    ///
    /// # Errors
    /// The system call fails.
    pub fn new() -> io::Result<ScratchDirectory> {
        let ((), path) = live::make(|| {
            before(Call::Open)?;
            Ok(((), tempfile::Builder::new().prefix(DIRECTORY_PREFIX).tempdir()?.keep()))
        })?;
        // A directory without this file is never removed by another process.
        let lock = File::create_new(path.join(LOCK_NAME)).ok();
        let is_locked = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let lock = lock.filter(is_locked);
        if lock.is_none() {
            let _ = std::fs::remove_file(path.join(LOCK_NAME));
        }
        Ok(ScratchDirectory { path, _lock: lock })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    let _ = live::end(path, || {
        live::remove(path);
        Ok(())
    });
}
