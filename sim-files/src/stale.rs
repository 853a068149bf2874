//! Stale temporary files: files of killed processes, whose lock no process holds.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::live;

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
