//! Temporary files and folders that other programs are given by name.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::calls::{Call, before};
use crate::live;

/// A file in the folder of temporary files; removed when it is dropped, and by signals.
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// A folder in the folder of temporary files; removed with all that is in it when it is dropped, and by signals.
#[derive(Debug)]
pub struct ScratchFolder(PathBuf);

impl Scratch {
    /// Makes a file of `bytes` whose name begins with `prefix`.
    ///
    /// # Errors
    /// If the system refuses.
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

impl ScratchFolder {
    /// Makes an empty folder that this user alone can read.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> io::Result<ScratchFolder> {
        let ((), path) = live::make(|| {
            before(Call::Open)?;
            Ok(((), tempfile::Builder::new().prefix("n2sim-").tempdir()?.keep()))
        })?;
        Ok(ScratchFolder(path))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    let _ = live::end(path, || {
        live::remove(path);
        Ok(())
    });
}
