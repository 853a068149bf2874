//! Temporary files of this process that are alive, so that a signal can remove them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A handler of signals knows nothing of the files that are open: they stand here.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn live() -> MutexGuard<'static, Vec<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a temporary file or folder and notes its path, which `make` returns beside it. No signal falls between.
pub(crate) fn make<T>(make: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, PathBuf)> {
    let mut live = live();
    let (made, path) = make()?;
    live.push(path.clone());
    Ok((made, path))
}

/// Forgets the temporary path if `done`, which removes or renames it, succeeds. No signal falls between.
pub(crate) fn end(path: &Path, done: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut live = live();
    done()?;
    live.retain(|other| other != path);
    Ok(())
}

/// Removes every temporary file and folder of this process, then calls `end`, which is to end the process: while
/// it runs, other threads can neither make, nor remove, nor rename a temporary file.
pub fn remove_all(end: impl FnOnce()) {
    let live = live();
    for path in live.iter() {
        remove(path);
    }
    end();
    drop(live);
}

/// Removes a file or a folder with all that is in it. What is gone already, or cannot be removed, is left.
pub(crate) fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}
