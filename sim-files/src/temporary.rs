//! A temporary name and the name that replaces it when the content is complete: the end of every
//! new file and directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::calls::{Call, before};
use crate::live;

/// Path of a live temporary file or directory, and its destination. Dropping it removes what it
/// names, unless it was finished or kept.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    destination: PathBuf,
    is_over: bool,
}

impl Temporary {
    /// Takes a path that [`live::make`] recorded.
    pub(crate) fn new(path: PathBuf, destination: &Path) -> Temporary {
        Temporary { path, destination: destination.to_owned(), is_over: false }
    }

    /// Returns the temporary path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path that it will have.
    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Gives the complete file or directory its name.
    ///
    /// # Errors
    /// The system call fails. The temporary name remains then until this value is dropped.
    pub(crate) fn rename(&mut self) -> io::Result<()> {
        live::end(&self.path, || {
            before(Call::Rename)?;
            fs::rename(&self.path, &self.destination)
        })?;
        self.is_over = true;
        Ok(())
    }

    /// Leaves the file under its temporary name, which it returns.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.is_over = true;
        let _ = live::end(&self.path, || Ok(()));
        self.path.clone()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = live::end(&self.path, || {
                live::remove(&self.path);
                Ok(())
            });
        }
    }
}
