//! The ELF files that a profile names: the recorded program where it still exists, and a file made
//! from the code of the trace.

use std::path::{Path, PathBuf};

use sim_report::Symbols;
use sim_report::perf_data::Mapping;
use sim_report::symbols::{ProgramFile, code_elf};
use sim_trace::TraceFile;

use crate::files::output::{Output, is_written_in_place};
use crate::files::symbols;
use sim_core::Shown;

/// The mapped files, and notes on them.
#[derive(Default)]
pub(super) struct Program {
    pub(super) mappings: Vec<Mapping>,
    pub(super) notes: Vec<String>,
    /// The file beside the profile. Both are moved to their places together.
    pub(super) beside: Option<Output>,
}

/// Finds the given or recorded files, and writes one beside `output` for missing parts.
pub(super) fn find(trace: &TraceFile, given: &[PathBuf], output: &Path) -> anyhow::Result<Program> {
    let mut program = Program::default();
    for (path, file) in files(trace, given)? {
        program.add(&file, &path);
    }
    let beside = beside(output);
    if let (Some(beside), Ok(made)) = (beside, code_elf("the trace's code", trace))
        && program.add(&made, &beside)
    {
        let mut file = Output::create(Some(&beside))?;
        std::io::Write::write_all(&mut file, made.bytes())?;
        program.beside = Some(file);
        let note = "code and function names of the trace, which perf reads in place of the program";
        program.notes.push(format!("{}: {note}", beside.shown()));
    }
    Ok(program)
}

/// Returns the names of the trace's code: its own, and those of the given or recorded files.
pub(super) fn symbols(trace: &TraceFile, given: &[PathBuf]) -> anyhow::Result<Symbols> {
    let mut symbols = Symbols::from_trace(trace);
    for (path, file) in files(trace, given)? {
        symbols.add(&file.with_debug_file(&path))?;
    }
    Ok(symbols)
}

/// Returns the given files, and those that were recorded.
fn files(trace: &TraceFile, given: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, ProgramFile)>> {
    let mut files = Vec::new();
    for path in given {
        files.push((path.clone(), symbols::given(path, trace)?));
    }
    files.extend(symbols::recorded(trace).same);
    // An older trace names only its program, which may be gone, or another build by now.
    let recorded = trace.meta().command.first().map(PathBuf::from);
    if let Some(path) = recorded.filter(|path| files.is_empty() && path.is_file())
        && let Ok(file) = symbols::given(&path, trace)
    {
        files.push((path, file));
    }
    Ok(files)
}

/// Returns `perf.data.elf` for `perf.data`, or `None` if the profile goes to no file.
fn beside(output: &Path) -> Option<PathBuf> {
    if is_written_in_place(output) {
        return None;
    }
    let mut name = output.file_name()?.to_owned();
    name.push(".elf");
    Some(output.with_file_name(name))
}

impl Program {
    /// Maps the unmapped parts of a file. Returns whether there are any.
    fn add(&mut self, file: &ProgramFile, path: &Path) -> bool {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let before = self.mappings.len();
        for segment in file.segments() {
            let end = segment.start.saturating_add(segment.bytes);
            let overlaps = |other: &Mapping| {
                other.start < end && segment.start < other.start.saturating_add(other.bytes)
            };
            if segment.bytes > 0 && !self.mappings[..before].iter().any(overlaps) {
                self.mappings.push(Mapping {
                    start: segment.start,
                    bytes: segment.bytes,
                    offset: segment.offset,
                    is_code: segment.is_code,
                    path: path.to_string_lossy().into_owned(),
                });
            }
        }
        self.mappings.len() > before
    }
}
