//! Stale temporary files: files of killed processes, whose lock no process holds.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::live;
use crate::scratch::DIRECTORY_PREFIX;

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
        live::remove(path);
        drop(lock);
        true
    });
    removed
}

/// Age before which a temporary directory may not be locked yet, in seconds.
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

fn is_directory(name: &str) -> bool {
    name.strip_prefix(DIRECTORY_PREFIX).is_some_and(is_random)
}

/// Opens and locks a directory of this user. Returns `None` if another process has locked it, or
/// if it is new.
fn abandoned_directory(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::DIRECTORY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let is_settled = metadata.modified().ok()?.elapsed().ok()?.as_secs() >= SETTLED;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    let is_free =
        is_own && is_settled && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    is_free.then_some(file)
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
        let make = |name: &str, age: u64| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).expect("it is new");
            std::fs::write(path.join("first.n2t"), "a trace").expect("room");
            let directory = File::open(&path).expect("it is there");
            let then = SystemTime::now() - Duration::from_secs(age);
            directory.set_modified(then).expect("it is ours");
            (path, directory)
        };
        let (killed, _) = make("n2sim-abc123", 120);
        let (new, _) = make("n2sim-abc124", 0);
        let (other, _) = make("n2sim-results", 120);
        let (used, lock) = make("n2sim-abc125", 120);
        flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("it is free");
        assert_eq!(remove_directories(place.path()), [killed.as_path()]);
        assert!(!killed.exists() && new.exists() && other.exists() && used.exists());
        drop(lock);
        assert_eq!(remove_directories(place.path()), [used]);
    }
}
