//! Live temporary files of this process, so that a signal handler can remove them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Paths of all live temporary files, for a signal handler, which has no other access to them.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn live() -> MutexGuard<'static, Vec<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a temporary file or directory and records its path, which `make` returns as well. No
/// signal is handled in between.
pub(crate) fn make<T>(make: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, PathBuf)> {
    let mut live = live();
    let (made, path) = make()?;
    live.push(path.clone());
    Ok((made, path))
}

/// Calls `done`, which removes or renames the temporary path, and forgets the path if `done`
/// succeeds. No signal is handled in between.
pub(crate) fn end(path: &Path, done: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut live = live();
    done()?;
    live.retain(|other| other != path);
    Ok(())
}

/// Removes every temporary file and directory of this process, then calls `end`, which should end
/// the process. Until it returns, no other thread can create, remove or rename a temporary file.
pub fn remove_all(end: impl FnOnce()) {
    let live = live();
    for path in live.iter() {
        remove(path);
    }
    end();
    drop(live);
}

/// Removes a file, or a directory with its content. Ignores errors.
pub(crate) fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}
