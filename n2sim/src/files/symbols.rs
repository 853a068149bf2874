//! Names of functions and lines: those of a trace, of the files that were recorded, and of given
//! program files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_core::Shown;
use sim_report::Symbols;
use sim_report::symbols::ProgramFile;
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
    let changed = recorded.changed;
    if !changed.is_empty() {
        writeln!(
            io::stderr(),
            "n2sim: note: changed since the recording, so without source lines: {}",
            changed.join(", ")
        )?;
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
    let bytes = sim_files::read(path).with_context(place)?;
    Ok(ProgramFile::new(&path.shown().to_string(), bytes, trace)?)
}

/// The files that a trace names, as they are now. Those that are gone are left out.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Files that are still what was recorded, with their paths.
    pub(crate) same: Vec<(PathBuf, ProgramFile)>,
    /// Paths of the others.
    changed: Vec<String>,
}

/// Opens the files that `trace` names.
pub(crate) fn recorded(trace: &TraceFile) -> Recorded {
    let mut recorded = Recorded::default();
    for file in files(trace) {
        let path = Path::new(&file.path);
        if !path.is_file() {
            continue;
        }
        let bytes = sim_files::read(path).ok();
        match bytes.and_then(|bytes| ProgramFile::recorded(path, file, bytes, trace)) {
            Some(program) => recorded.same.push((path.to_owned(), program)),
            None => recorded.changed.push(path.shown().to_string()),
        }
    }
    recorded
}

/// Returns the mapped files of a trace, each load address once.
fn files(trace: &TraceFile) -> Vec<&MappedFile> {
    let mut files: Vec<&MappedFile> = Vec::new();
    for file in &trace.meta().files {
        let is_same = |other: &&MappedFile| other.path == file.path && other.base == file.base;
        if file.base.is_some() && !files.iter().any(|other| is_same(other)) {
            files.push(file);
        }
    }
    files
}
