//! New directories that appear under their name only when all files in them are complete.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::calls::{Call, before};
use crate::file::File;
use crate::new_file::{NewFile, directory_of};
use crate::temporary::Temporary;
use crate::{live, stale};

/// A temporary directory beside its destination. Finishing renames it to the destination; dropping
/// it removes it with its files. A locked temporary file beside it shows other processes that it is
/// in use.
#[derive(Debug)]
pub struct NewDirectory {
    temporary: Temporary,
    // Dropped last: until then no other process removes the directory.
    _lock: NewFile,
}

impl NewDirectory {
    /// Creates a temporary directory beside `destination`, which may be an empty directory.
    ///
    /// # Errors
    /// The destination exists with files in it, or is not a directory; or a system call fails.
    pub fn beside(destination: &Path) -> io::Result<NewDirectory> {
        NewDirectory::check(destination)?;
        let lock = NewFile::beside(destination)?;
        let ((), temp) = live::make(|| {
            before(Call::Open)?;
            let temp = stale::directory_of_lock(lock.path());
            fs::create_dir(&temp)?;
            Ok(((), temp))
        })?;
        Ok(NewDirectory { temporary: Temporary::new(temp, destination), _lock: lock })
    }

    /// Refuses a destination that cannot become the new directory.
    ///
    /// # Errors
    /// The destination exists with files in it, or is not a directory.
    pub fn check(destination: &Path) -> io::Result<()> {
        match fs::read_dir(destination) {
            Ok(mut entries) => match entries.next() {
                None => Ok(()),
                Some(_) => {
                    let text = "the directory has files in it; name a new or an empty one";
                    Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, text))
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes a file, whose path is relative to the directory, and syncs it to the disk.
    ///
    /// # Errors
    /// A system call fails.
    pub fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let path = self.temporary.path().join(path);
        fs::create_dir_all(directory_of(&path))?;
        let mut options = fs::File::options();
        let mut file = File::open_with(options.write(true).create_new(true), &path)?;
        file.write_all(content)?;
        file.sync()
    }

    /// Gives the complete directory its name.
    ///
    /// # Errors
    /// A system call fails. Nothing remains then.
    pub fn finish(mut self) -> io::Result<()> {
        self.temporary.rename()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn names(directory: &Path) -> Vec<PathBuf> {
        directory.read_dir().expect("a directory").flatten().map(|entry| entry.path()).collect()
    }

    #[test]
    fn a_directory_appears_whole_or_not_at_all() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let kit = place.path().join("kit");
        let dropped = NewDirectory::beside(&kit).expect("room");
        dropped.write(Path::new("a/b.txt"), b"text").expect("room");
        assert!(!kit.exists());
        drop(dropped);
        assert!(names(place.path()).is_empty());
        let kept = NewDirectory::beside(&kit).expect("room");
        kept.write(Path::new("a/b.txt"), b"text").expect("room");
        kept.finish().expect("room");
        assert_eq!(names(place.path()), [kit.as_path()]);
        assert_eq!(fs::read(kit.join("a/b.txt")).expect("a file"), b"text");
    }

    #[test]
    fn the_directory_of_a_killed_process_is_removed() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let lock = place.path().join(".n2sim-abc123.tmp");
        fs::write(&lock, "").expect("room");
        let left = stale::directory_of_lock(&lock);
        fs::create_dir(&left).expect("room");
        fs::write(left.join("part"), "part").expect("room");
        let kept = NewDirectory::beside(&place.path().join("kit")).expect("room");
        assert!(!left.exists() && !lock.exists());
        stale::remove_results(place.path());
        kept.finish().expect("its directory is still there");
    }

    #[test]
    fn a_directory_with_files_is_refused_and_an_empty_one_is_taken() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let full = place.path().join("full");
        fs::create_dir(&full).expect("room");
        fs::write(full.join("mine"), "mine").expect("room");
        let error = NewDirectory::beside(&full).expect_err("it has a file");
        assert!(error.to_string().contains("has files in it"), "{error}");
        let empty = place.path().join("empty");
        fs::create_dir(&empty).expect("room");
        NewDirectory::beside(&empty).expect("it is empty").finish().expect("room");
        assert!(empty.is_dir() && names(place.path()).len() == 2);
        let file = full.join("mine");
        assert!(NewDirectory::beside(&file).is_err());
    }
}
