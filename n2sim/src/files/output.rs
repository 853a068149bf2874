//! The destination of results: standard output, or a file that appears when it is complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_files::{File, NewFile};

use crate::files::command_line;
use crate::host::call::{self, Stream};
use sim_core::Shown;

/// The destination of a report.
pub(crate) struct Output {
    target: Target,
}

enum Target {
    Stdout(BufWriter<Stream>),
    /// A device or pipe: written directly.
    Direct(BufWriter<File>, PathBuf),
    /// A file beside its final place.
    Temporary(BufWriter<NewFile>, PathBuf),
}

impl Output {
    /// Opens `path`, or standard output without one. Call it before the work, so that an error
    /// comes at once.
    pub(crate) fn create(path: Option<&Path>) -> anyhow::Result<Output> {
        let Some(path) = path else {
            return Ok(Output { target: Target::Stdout(BufWriter::new(call::stdout())) });
        };
        command_line::refuse_input(path)?;
        let context = || format!("cannot write {}", path.shown());
        let target = if is_written_in_place(path) {
            let file = File::open_with(fs::File::options().write(true), path);
            Target::Direct(BufWriter::new(file.with_context(context)?), path.to_owned())
        } else {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(missing) = directory.filter(|directory| !directory.is_dir()) {
                let (path, missing) = (path.shown(), missing.shown());
                anyhow::bail!("cannot write {path}: there is no directory {missing}");
            }
            let file = NewFile::beside(path).with_context(context)?;
            Target::Temporary(BufWriter::new(file), path.to_owned())
        };
        Ok(Output { target })
    }

    /// Refuses a path that [`Output::create`] refuses, and leaves nothing there.
    pub(crate) fn check(path: Option<&Path>) -> anyhow::Result<()> {
        // A pipe would lose its reader.
        if let Some(path) = path.filter(|path| path.is_dir() || !is_written_in_place(path)) {
            Output::create(Some(path))?;
        }
        Ok(())
    }

    /// Returns whether the report goes to a file of its own.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self.target, Target::Stdout(_))
    }

    /// Moves the finished file to its place. A symbolic link there is replaced.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        Output::finish_all(vec![self])
    }

    /// Moves files that belong together to their places: all of them, or none.
    pub(crate) fn finish_all(outputs: Vec<Output>) -> anyhow::Result<()> {
        // The caller of a stopped call has given up its result.
        anyhow::ensure!(!call::is_stopped(), "interrupted: nothing was written");
        let mut files = Vec::new();
        for output in outputs {
            match output.target {
                Target::Stdout(mut out) => out.flush()?,
                Target::Direct(mut out, path) => {
                    out.flush().map_err(|error| named(&path, error))?
                }
                Target::Temporary(out, path) => {
                    let file = out.into_inner().map_err(io::IntoInnerError::into_error);
                    files.push(file.map_err(|error| named(&path, error))?);
                }
            }
        }
        NewFile::finish_all(files).map_err(|(path, error)| named(&path, error).into())
    }
}

/// An error of the system with the file that it concerns.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.shown())]
struct Refused {
    path: PathBuf,
    source: io::Error,
}

/// Returns the error with the file in its text.
fn named(path: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), Refused { path: path.to_owned(), source })
}

/// Returns whether the text of the error names the file that could not be written.
pub(crate) fn is_named(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Refused>())
}

/// Returns whether a path is a device, a pipe or a name of the program's own streams. `/dev/stdout`
/// may lead to a file, but must never be replaced by one.
pub(crate) fn is_written_in_place(path: &Path) -> bool {
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let is_own_stream = is_link && (path.starts_with("/dev") || path.starts_with("/proc"));
    is_own_stream || path.metadata().is_ok_and(|metadata| !metadata.is_file())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stdout(out) => out.write(bytes),
            Target::Direct(out, path) => out.write(bytes).map_err(|error| named(path, error)),
            Target::Temporary(out, path) => out.write(bytes).map_err(|error| named(path, error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout(out) => out.flush(),
            Target::Direct(out, path) => out.flush().map_err(|error| named(path, error)),
            Target::Temporary(out, path) => out.flush().map_err(|error| named(path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_finished() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("counts.csv");
        let mut output = Output::create(Some(&path)).expect("the directory can be written");
        output.write_all(b"half").expect("room");
        drop(output);
        assert_eq!(directory.path().read_dir().expect("readable").count(), 0, "no file is left");

        let mut output = Output::create(Some(&path)).expect("the directory can be written");
        output.write_all(b"whole").expect("room");
        output.finish().expect("the file can be renamed");
        assert_eq!(std::fs::read(&path).expect("the file is there"), b"whole");
    }

    #[test]
    fn names_of_streams_are_never_replaced() {
        assert!(is_written_in_place(Path::new("/proc/self/fd/1")), "whatever it leads to");
        assert!(is_written_in_place(Path::new("/dev/null")));
        assert!(!is_written_in_place(Path::new(env!("CARGO_MANIFEST_PATH"))));
        assert!(!is_written_in_place(Path::new("/nowhere/counts.csv")));
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let error = Output::create(Some(Path::new("/nowhere/counts.csv"))).err().expect("no place");
        let expected = "cannot write /nowhere/counts.csv: there is no directory /nowhere";
        assert_eq!(format!("{error:#}"), expected);
    }
}
