//! New files that appear under their name only when they are complete.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs::{Metadata, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::calls::{Call, before};
use crate::file::File;
use crate::temporary::Temporary;
use crate::{live, stale};

/// Mode of a new file, before the user's mask applies.
const FILE_MODE: u32 = 0o666;

/// A temporary file in the directory of its destination. Finishing renames it to the destination;
/// dropping it removes it. Its lock (`flock`) shows other processes that it is in use.
#[derive(Debug)]
pub struct NewFile {
    // Closed first, so that the lock ends after the name.
    unfinished: Unfinished,
    file: File,
}

/// The temporary name of a [`NewFile`] without its file.
#[derive(Debug)]
pub struct Unfinished {
    temporary: Temporary,
    kind: Kind,
}

/// Kind of a temporary file, which decides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A result, useless once its process has ended.
    Result,
    /// A recording, whose content can be recovered.
    Recording,
}

/// Error of a recording that stays under its temporary name. Prints the reason, then the remedy.
#[derive(Debug)]
pub struct Kept {
    reason: io::Error,
    temp: PathBuf,
    /// True if the whole recording is on the disk.
    is_synced: bool,
}

impl Display for Kept {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let remedy = match self.is_synced {
            true => "rename it",
            false => "check it with `n2sim trace verify`, then rename it",
        };
        write!(f, "{}; the recording is kept as {:?}: {remedy}", self.reason, self.temp)
    }
}

impl Error for Kept {}

impl NewFile {
    /// Creates the temporary file `.n2sim-XXXXXX.tmp` in the directory of `destination`. First
    /// removes temporary files there whose processes were killed.
    ///
    /// # Errors
    /// The system call fails.
    pub fn beside(destination: &Path) -> io::Result<NewFile> {
        stale::remove_results(directory_of(destination));
        NewFile::make(destination, Kind::Result)
    }

    /// Creates the temporary file `NAME.XXXXXX.partial` for a recording, which is useful even
    /// without its end. No other process removes it.
    ///
    /// # Errors
    /// The system call fails.
    pub fn recording(destination: &Path) -> io::Result<NewFile> {
        NewFile::make(destination, Kind::Recording)
    }

    fn make(destination: &Path, kind: Kind) -> io::Result<NewFile> {
        loop {
            let (file, temp) = live::make(|| create(destination, kind))?;
            let unfinished = Unfinished { temporary: Temporary::new(temp, destination), kind };
            // Another process may remove the file as stale before it is locked.
            if is_locked(&file)? {
                return Ok(NewFile { unfinished, file: File::from_std(file) });
            }
        }
    }

    /// Returns the path of the temporary file.
    pub fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Returns the path that the file will have.
    pub fn destination(&self) -> &Path {
        self.unfinished.destination()
    }

    /// Gives the complete file its name: syncs it to the disk, renames it, and syncs the directory.
    /// Replaces a file or symbolic link of that name.
    ///
    /// # Errors
    /// A system call fails. No file remains then, unless only the last step failed.
    pub fn finish(self) -> io::Result<()> {
        NewFile::finish_all(vec![self]).map_err(|(_, error)| error)
    }

    /// Gives several related files their names: all of them, or none if one cannot be synced or
    /// renamed.
    ///
    /// # Errors
    /// A system call fails. The error holds the destination that failed and the reason.
    pub fn finish_all(files: Vec<NewFile>) -> Result<(), (PathBuf, io::Error)> {
        for file in &files {
            file.file.sync().map_err(|error| (file.destination().to_path_buf(), error))?;
        }
        // Keep the files open until they are renamed: their locks keep other processes from them.
        let (unfinished, _files): (Vec<Unfinished>, Vec<File>) =
            files.into_iter().map(NewFile::split).unzip();
        Unfinished::rename_all(unfinished)
    }

    /// Splits this value into name and file. The file keeps the lock.
    pub fn split(self) -> (Unfinished, File) {
        (self.unfinished, self.file)
    }
}

impl Unfinished {
    /// Returns the path of the temporary file.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Returns the path that the file will have.
    pub fn destination(&self) -> &Path {
        self.temporary.destination()
    }

    /// Gives the complete `file` its name, as [`NewFile::finish`] does.
    ///
    /// # Errors
    /// The same as for [`NewFile::finish`], except that a recording stays under its temporary name
    /// and the error holds [`Kept`].
    pub fn finish(mut self, file: &File) -> io::Result<()> {
        let synced = file.sync();
        let is_synced = synced.is_ok();
        match synced.and_then(|()| self.temporary.rename()) {
            Ok(()) => sync_directory(self.destination()),
            Err(error) if self.kind == Kind::Recording => Err(self.keep(error, is_synced)),
            Err(error) => Err(error),
        }
    }

    /// Leaves the recording under its temporary name. Returns the error for `reason`.
    fn keep(mut self, reason: io::Error, is_synced: bool) -> io::Error {
        let (kind, temp) = (reason.kind(), self.temporary.keep());
        io::Error::new(kind, Kept { reason, temp, is_synced })
    }

    fn rename_all(mut all: Vec<Unfinished>) -> Result<(), (PathBuf, io::Error)> {
        for at in 0..all.len() {
            if let Err(error) = all[at].temporary.rename() {
                // The other files would be parts of an incomplete whole.
                for renamed in &all[..at] {
                    live::remove(renamed.destination());
                }
                return Err((all[at].destination().to_owned(), error));
            }
        }
        for file in &all {
            sync_directory(file.destination())
                .map_err(|error| (file.destination().to_owned(), error))?;
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Returns the directory of a path.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn create(destination: &Path, kind: Kind) -> io::Result<(std::fs::File, PathBuf)> {
    before(Call::Open)?;
    let mut prefix = destination.file_name().unwrap_or_default().to_os_string();
    prefix.push(".");
    let (prefix, suffix) = match kind {
        Kind::Result => (stale::RESULT_PREFIX.as_ref(), stale::RESULT_SUFFIX),
        Kind::Recording => (prefix.as_os_str(), stale::RECORDING_SUFFIX),
    };
    let made = tempfile::Builder::new()
        .prefix(prefix)
        .suffix(suffix)
        .rand_bytes(stale::RANDOM_BYTES)
        .permissions(Permissions::from_mode(FILE_MODE))
        .tempfile_in(directory_of(destination))?;
    made.keep().map_err(|error| error.error)
}

/// Locks the file. Returns false if its name was removed before.
fn is_locked(file: &std::fs::File) -> io::Result<bool> {
    // On a file system without locks no file ever counts as stale.
    let _ = flock(file, FlockOperation::LockExclusive);
    file.metadata().map(|found: Metadata| found.nlink() > 0)
}

/// Syncs the names in the directory of `path` to the disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    before(Call::Sync)?;
    let directory = std::fs::File::open(directory_of(path));
    match directory.and_then(|directory| directory.sync_all()) {
        // Not every file system supports this, and a writable directory may be unreadable.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn names(directory: &Path) -> Vec<String> {
        let entries = directory.read_dir().expect("a directory").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_recording_that_cannot_be_renamed_is_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("taken");
        std::fs::create_dir_all(path.join("not empty")).expect("a directory");
        let (unfinished, mut file) = NewFile::recording(&path).expect("a new file").split();
        file.write_all(b"all of it").expect("room");
        let temp = unfinished.path().to_path_buf();
        let error = unfinished.finish(&file).expect_err("a directory has the name").to_string();
        assert!(
            error.contains("; the recording is kept as \"")
                && error.ends_with(".partial\": rename it"),
            "{error}"
        );
        assert_eq!(std::fs::read(temp).expect("it stays"), b"all of it");
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_finished() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        let mut file = NewFile::beside(&path).expect("a new file");
        file.write_all(b"half").expect("room");
        assert!(!path.exists() && names(directory.path()).len() == 1);
        drop(file);
        assert!(names(directory.path()).is_empty());
        let mut file = NewFile::recording(&path).expect("a new file");
        let name = &names(directory.path())[0];
        assert!(name.starts_with("a.") && name.ends_with(".partial"), "{name}");
        file.write_all(b"whole").expect("room");
        file.finish().expect("it can be renamed");
        assert_eq!(names(directory.path()), ["a"]);
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
    }

    #[test]
    fn a_link_is_replaced_and_its_target_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let [target, link] = ["target", "link"].map(|name| directory.path().join(name));
        fs::write(&target, "precious").expect("room");
        symlink(&target, &link).expect("links are possible");
        let mut file = NewFile::beside(&link).expect("a new file");
        file.write_all(b"new").expect("room");
        file.finish().expect("it can be renamed");
        assert_eq!(fs::read(&target).expect("a file"), b"precious");
        assert!(!link.symlink_metadata().expect("a file").is_symlink());
    }

    #[test]
    fn related_files_appear_all_together_or_not_at_all() {
        let directory = tempfile::tempdir().expect("a directory");
        let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
        let files = [&first, &second].map(|path| NewFile::beside(path).expect("a new file"));
        // A directory cannot be replaced by a file.
        fs::create_dir(&second).expect("room");
        let (failed, _) = NewFile::finish_all(files.into()).expect_err("no file can replace it");
        assert_eq!((failed, names(directory.path())), (second, vec!["second".to_owned()]));
    }

    #[test]
    fn a_temporary_result_is_removed_only_if_its_process_is_dead() {
        let directory = tempfile::tempdir().expect("a directory");
        let stale = directory.path().join(".n2sim-aB3dE9.tmp");
        let others = [".n2sim-abc.tmp", ".n2sim-aB3dE9", "a.aB3dE9.partial"];
        fs::write(&stale, "half").expect("room");
        for other in others {
            fs::write(directory.path().join(other), "another's").expect("room");
        }
        let living = NewFile::beside(&directory.path().join("a")).expect("a new file");
        assert!(!stale.exists());
        let next = NewFile::beside(&directory.path().join("b")).expect("a new file");
        assert!(living.path().exists() && next.path().exists());
        drop((living, next));
        let mut left = others.map(str::to_owned);
        left.sort();
        assert_eq!(names(directory.path()), left);
        let recordings = stale::recordings(directory.path());
        assert_eq!(recordings, [directory.path().join("a.aB3dE9.partial")]);
    }
}
