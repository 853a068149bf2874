//! Names of functions and lines: those of a trace, of the files that were recorded, and of given
//! program files.

use crate::host::call;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_core::Shown;
use sim_report::Symbols;
use sim_report::symbols::{ProgramFile, read_elf};
use sim_trace::{MappedFile, TraceFile};

/// Returns the names of the code of `trace`, with its lines where the recorded files are still
/// what was recorded. The files of `elf` are read too: the program, a library, or a debug file.
pub(crate) fn load(trace: &TraceFile, elf: &[PathBuf]) -> anyhow::Result<Symbols> {
    let mut symbols = Symbols::from_trace(trace);
    for path in elf {
        symbols.add(&given(path, trace)?.with_debug_file(path))?;
    }
    let recorded = recorded(trace);
    for (path, program) in recorded.same {
        symbols.add(&program.with_debug_file(&path))?;
    }
    // Given files take the place of those that changed.
    for (path, reason) in recorded.others.iter().filter(|_| elf.is_empty()) {
        writeln!(call::stderr(), "n2sim: note: no source lines of {}: {reason}", path.shown())?;
    }
    Ok(symbols)
}

/// Opens a program, library or debug file that a user gives for a trace.
pub(crate) fn given(path: &Path, trace: &TraceFile) -> anyhow::Result<ProgramFile> {
    let place = || format!("cannot read {}", path.shown());
    // A device has no end.
    if !path.metadata().with_context(place)?.is_file() {
        anyhow::bail!("{}: this is not a file; give the recorded program", path.shown());
    }
    let bytes = read_elf(path).with_context(place)?;
    Ok(ProgramFile::new(&path.shown().to_string(), bytes, trace)?)
}

/// The files that a trace names, as they are now. Those that are gone are left out.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Files that are still what was recorded, with their paths.
    pub(crate) same: Vec<(PathBuf, ProgramFile)>,
    /// Paths of the others, with the reason.
    others: Vec<(PathBuf, String)>,
}

/// Opens the files that `trace` names.
pub(crate) fn recorded(trace: &TraceFile) -> Recorded {
    let mut recorded = Recorded::default();
    for file in files(trace) {
        let path = Path::new(&file.path);
        if !path.is_file() {
            continue;
        }
        let opened = match read_elf(path) {
            Ok(bytes) => ProgramFile::recorded(path, file, bytes, trace)
                .ok_or_else(|| "it changed since the recording".to_owned()),
            Err(error) => Err(format!("cannot read it: {error}")),
        };
        match opened {
            Ok(program) => recorded.same.push((path.to_owned(), program)),
            Err(reason) => recorded.others.push((path.to_owned(), reason)),
        }
    }
    recorded
}

/// Most files of a trace that are read. A process has a few hundred at most.
const MAX_FILES: usize = 1000;

/// Returns the mapped files of a trace, each load address once.
fn files(trace: &TraceFile) -> Vec<&MappedFile> {
    let mut files: Vec<&MappedFile> = Vec::new();
    for file in &trace.meta().files {
        let is_same = |other: &&MappedFile| other.path == file.path && other.base == file.base;
        let is_whole = Path::new(&file.path).is_absolute() && file.base.is_some();
        if is_whole && files.len() < MAX_FILES && !files.iter().any(is_same) {
            files.push(file);
        }
    }
    files
}
