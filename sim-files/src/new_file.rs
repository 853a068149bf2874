//! A file that appears under its name only when it is complete.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, Metadata, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::calls::{Call, before};
use crate::file::File;
use crate::{live, stale};

/// Mode of a new file before the user's mask is taken off.
const FILE_MODE: u32 = 0o666;

/// A temporary file beside its destination, of which it takes the place when it is finished. It is removed when it
/// is dropped before. While it lives it is locked (`flock`), by which other processes know that it is in use.
#[derive(Debug)]
pub struct NewFile {
    // Closed first, so that the lock ends after the name.
    unfinished: Unfinished,
    file: File,
}

/// The temporary name of a [`NewFile`] without its file.
#[derive(Debug)]
pub struct Unfinished {
    temp: PathBuf,
    destination: PathBuf,
    kind: Kind,
    is_over: bool,
}

/// How a temporary file is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nobody needs it once its process has ended.
    Result,
    /// What is in it can be recovered.
    Recording,
}

/// A recording that did not get its name and is left under its temporary one: the reason, then what to do.
#[derive(Debug)]
pub struct Kept {
    reason: io::Error,
    temp: PathBuf,
    /// All of it is on the disk.
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
    /// Makes the temporary file of what will be `destination`, `.n2sim-XXXXXX.tmp` beside it, and removes those
    /// in the same folder whose processes were killed.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn beside(destination: &Path) -> io::Result<NewFile> {
        stale::remove_results(folder_of(destination));
        NewFile::make(destination, Kind::Result)
    }

    /// As [`NewFile::beside`] for a recording that is worth something without its end: the temporary file is
    /// `NAME.XXXXXX.partial`, and is never removed by another process.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn recording(destination: &Path) -> io::Result<NewFile> {
        NewFile::make(destination, Kind::Recording)
    }

    fn make(destination: &Path, kind: Kind) -> io::Result<NewFile> {
        loop {
            let (file, temp) = live::make(|| create(destination, kind))?;
            let unfinished =
                Unfinished { temp, destination: destination.to_path_buf(), kind, is_over: false };
            // Between its making and its lock another process may have taken it for a stale one.
            if is_locked(&file)? {
                return Ok(NewFile { unfinished, file: File::from_std(file) });
            }
        }
    }

    /// Returns the path of the temporary file.
    pub fn path(&self) -> &Path {
        &self.unfinished.temp
    }

    /// Returns the path that the file will have.
    pub fn destination(&self) -> &Path {
        &self.unfinished.destination
    }

    /// Gives the complete file its name: brings it to the disk, renames it, brings the folder to the disk. A file or
    /// a symbolic link that has the name is replaced.
    ///
    /// # Errors
    /// If the system refuses; no file is left then, unless only the last step failed.
    pub fn finish(self) -> io::Result<()> {
        NewFile::finish_all(vec![self]).map_err(|(_, error)| error)
    }

    /// Gives several files that belong together their names: all of them, or none if one cannot be brought to the
    /// disk or renamed.
    ///
    /// # Errors
    /// The destination that failed, and why.
    pub fn finish_all(files: Vec<NewFile>) -> Result<(), (PathBuf, io::Error)> {
        for file in &files {
            file.file.sync().map_err(|error| (file.destination().to_path_buf(), error))?;
        }
        // Open until they are renamed: their locks keep other processes off.
        let (unfinished, _files): (Vec<Unfinished>, Vec<File>) =
            files.into_iter().map(NewFile::split).unzip();
        Unfinished::rename_all(unfinished)
    }

    /// Takes file and name apart. The lock is the file's.
    pub fn split(self) -> (Unfinished, File) {
        (self.unfinished, self.file)
    }
}

impl Unfinished {
    /// Returns the path of the temporary file.
    pub fn path(&self) -> &Path {
        &self.temp
    }

    /// Returns the path that the file will have.
    pub fn destination(&self) -> &Path {
        &self.destination
    }

    /// Gives the file its name, once `file` is complete, as [`NewFile::finish`] does.
    ///
    /// # Errors
    /// As [`NewFile::finish`]; but a recording is left under its temporary name, and the error holds [`Kept`].
    pub fn finish(mut self, file: &File) -> io::Result<()> {
        let synced = file.sync();
        let is_synced = synced.is_ok();
        match synced.and_then(|()| self.rename()) {
            Ok(()) => sync_folder(&self.destination),
            Err(error) if self.kind == Kind::Recording => Err(self.keep(error, is_synced)),
            Err(error) => Err(error),
        }
    }

    /// Leaves the recording under its temporary name, for this reason.
    fn keep(mut self, reason: io::Error, is_synced: bool) -> io::Error {
        self.is_over = true;
        let _ = live::end(&self.temp, || Ok(()));
        let (kind, temp) = (reason.kind(), self.temp.clone());
        io::Error::new(kind, Kept { reason, temp, is_synced })
    }

    fn rename_all(mut all: Vec<Unfinished>) -> Result<(), (PathBuf, io::Error)> {
        for at in 0..all.len() {
            if let Err(error) = all[at].rename() {
                // The others would be parts of a whole that is not there.
                for renamed in &all[..at] {
                    live::remove(&renamed.destination);
                }
                return Err((all[at].destination.clone(), error));
            }
        }
        for file in &all {
            sync_folder(&file.destination).map_err(|error| (file.destination.clone(), error))?;
        }
        Ok(())
    }

    fn rename(&mut self) -> io::Result<()> {
        live::end(&self.temp, || {
            before(Call::Rename)?;
            fs::rename(&self.temp, &self.destination)
        })?;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = live::end(&self.temp, || {
                live::remove(&self.temp);
                Ok(())
            });
        }
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

/// The folder of a path.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
        .tempfile_in(folder_of(destination))?;
    made.keep().map_err(|error| error.error)
}

/// Locks the file. Returns false if its name was taken away before.
fn is_locked(file: &std::fs::File) -> io::Result<bool> {
    // Where a file system has no locks, nothing is ever taken for stale.
    let _ = flock(file, FlockOperation::LockExclusive);
    file.metadata().map(|found: Metadata| found.nlink() > 0)
}

/// Brings the names of a folder to the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    before(Call::Sync)?;
    let folder = std::fs::File::open(folder_of(path));
    match folder.and_then(|folder| folder.sync_all()) {
        // Not every file system has this, and not every folder that may be written may be read.
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
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_recording_that_cannot_have_its_name_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("taken");
        std::fs::create_dir_all(path.join("not empty")).expect("a folder");
        let (unfinished, mut file) = NewFile::recording(&path).expect("a new file").split();
        file.write_all(b"all of it").expect("room");
        let temp = unfinished.path().to_path_buf();
        let error = unfinished.finish(&file).expect_err("a folder has the name").to_string();
        assert!(
            error.contains("; the recording is kept as \"")
                && error.ends_with(".partial\": rename it"),
            "{error}"
        );
        assert_eq!(std::fs::read(temp).expect("it stays"), b"all of it");
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_finished() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let mut file = NewFile::beside(&path).expect("a new file");
        file.write_all(b"half").expect("room");
        assert!(!path.exists() && names(folder.path()).len() == 1);
        drop(file);
        assert!(names(folder.path()).is_empty());
        let mut file = NewFile::recording(&path).expect("a new file");
        let name = &names(folder.path())[0];
        assert!(name.starts_with("a.") && name.ends_with(".partial"), "{name}");
        file.write_all(b"whole").expect("room");
        file.finish().expect("it can be renamed");
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        fs::write(&target, "precious").expect("room");
        symlink(&target, &link).expect("links are possible");
        let mut file = NewFile::beside(&link).expect("a new file");
        file.write_all(b"new").expect("room");
        file.finish().expect("it can be renamed");
        assert_eq!(fs::read(&target).expect("a file"), b"precious");
        assert!(!link.symlink_metadata().expect("a file").is_symlink());
    }

    #[test]
    fn of_files_that_belong_together_all_or_none_appear() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        let files = [&first, &second].map(|path| NewFile::beside(path).expect("a new file"));
        // A folder cannot be replaced by a file.
        fs::create_dir(&second).expect("room");
        let (failed, _) = NewFile::finish_all(files.into()).expect_err("no file can replace it");
        assert_eq!((failed, names(folder.path())), (second, vec!["second".to_owned()]));
    }

    #[test]
    fn a_result_of_a_dead_process_is_removed_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let stale = folder.path().join(".n2sim-aB3dE9.tmp");
        let others = [".n2sim-abc.tmp", ".n2sim-aB3dE9", "a.aB3dE9.partial"];
        fs::write(&stale, "half").expect("room");
        for other in others {
            fs::write(folder.path().join(other), "another's").expect("room");
        }
        let living = NewFile::beside(&folder.path().join("a")).expect("a new file");
        assert!(!stale.exists());
        let next = NewFile::beside(&folder.path().join("b")).expect("a new file");
        assert!(living.path().exists() && next.path().exists());
        drop((living, next));
        let mut left = others.map(str::to_owned);
        left.sort();
        assert_eq!(names(folder.path()), left);
        let recordings = stale::recordings(folder.path());
        assert_eq!(recordings, [folder.path().join("a.aB3dE9.partial")]);
    }
}
