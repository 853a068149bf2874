//! Stale temporary files: files of killed processes, whose lock no process holds.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::live;
use crate::scratch::{DIRECTORY_PREFIX, LOCK_NAME};

/// Prefix of the name of a temporary result.
pub(crate) const RESULT_PREFIX: &str = ".n2sim-";
/// Suffix of the name of a temporary result.
pub(crate) const RESULT_SUFFIX: &str = ".tmp";
/// Suffix of the name of a temporary recording.
pub(crate) const RECORDING_SUFFIX: &str = ".partial";
/// Number of random letters and digits in each name.
pub(crate) const RANDOM_BYTES: usize = 6;

/// Removes the temporary results in a directory that belong to this user and to no living process.
/// Returns their paths. Ignores an unreadable directory.
pub fn remove_results(directory: &Path) -> Vec<PathBuf> {
    let mut removed = found(directory, is_result);
    removed.retain(|path| {
        let Some(lock) = abandoned(path) else { return false };
        // First the directory, so that it never lacks its lock.
        let _ = std::fs::remove_dir_all(directory_of_lock(path));
        live::remove(path);
        drop(lock);
        true
    });
    removed
}

/// Age before which the file of a temporary directory may not be locked yet, in seconds.
const SETTLED: u64 = 60;

/// Removes the temporary directories in `directory`, the system's, that belong to this user and to
/// no living process. Returns their paths.
pub fn remove_directories(directory: &Path) -> Vec<PathBuf> {
    let mut removed = found(directory, is_directory);
    removed.retain(|path| {
        let Some(lock) = abandoned_directory(path) else { return false };
        let is_removed = std::fs::remove_dir_all(path).is_ok();
        drop(lock);
        is_removed
    });
    removed.sort();
    removed
}

/// Returns the temporary directory that a temporary file is the lock of.
pub(crate) fn directory_of_lock(lock: &Path) -> PathBuf {
    let mut path = lock.as_os_str().to_owned();
    path.push(".d");
    path.into()
}

fn is_directory(name: &str) -> bool {
    name.strip_prefix(DIRECTORY_PREFIX).is_some_and(is_random)
}

/// Locks the file that n2sim makes in each of its directories. Returns `None` if the directory has
/// none, if another process has locked it, or if it is new.
fn abandoned_directory(path: &Path) -> Option<File> {
    if path.symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let lock = abandoned(&path.join(LOCK_NAME))?;
    let age = lock.metadata().ok()?.modified().ok()?.elapsed().ok()?;
    (age.as_secs() >= SETTLED).then_some(lock)
}

/// Returns the unfinished recordings in a directory that belong to this user and to no living
/// process.
pub fn recordings(directory: &Path) -> Vec<PathBuf> {
    let mut recordings = found(directory, is_recording);
    recordings.retain(|path| abandoned(path).is_some());
    recordings.sort();
    recordings
}

fn found(directory: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let wanted = entries.filter(|entry| is_wanted(&entry.file_name().to_string_lossy()));
    wanted.map(|entry| entry.path()).collect()
}

fn is_result(name: &str) -> bool {
    let rest = name.strip_prefix(RESULT_PREFIX).and_then(|rest| rest.strip_suffix(RESULT_SUFFIX));
    rest.is_some_and(is_random)
}

fn is_recording(name: &str) -> bool {
    let rest = name.strip_suffix(RECORDING_SUFFIX).and_then(|rest| rest.rsplit_once('.'));
    rest.is_some_and(|(name, random)| !name.is_empty() && is_random(random))
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM_BYTES && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Opens and locks a file of this user. Returns `None` if another process has locked it.
fn abandoned(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let is_own = metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw();
    let is_free = is_own && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    is_free.then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn directories_of_killed_processes_are_removed_and_no_others() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let make = |name: &str, lock: &str, age: u64| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).expect("it is new");
            std::fs::write(path.join("first.n2t"), "a trace").expect("room");
            let lock = File::create_new(path.join(lock)).expect("room");
            let then = SystemTime::now() - Duration::from_secs(age);
            lock.set_modified(then).expect("it is ours");
            (path, lock)
        };
        let (killed, _) = make("n2sim-scratch-abc123", LOCK_NAME, 120);
        let (new, _) = make("n2sim-scratch-abc124", LOCK_NAME, 0);
        let (used, lock) = make("n2sim-scratch-abc125", LOCK_NAME, 120);
        let (of_a_user, _) = make("n2sim-source", LOCK_NAME, 120);
        let (unmarked, _) = make("n2sim-scratch-source", "lock", 120);
        flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("it is free");
        assert_eq!(remove_directories(place.path()), [killed.as_path()]);
        let others = [&new, &used, &of_a_user, &unmarked];
        assert!(!killed.exists() && others.iter().all(|path| path.exists()));
        drop(lock);
        assert_eq!(remove_directories(place.path()), [used]);
    }
}
