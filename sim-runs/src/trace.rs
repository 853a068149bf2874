//! The traces of a grid, and the parts that they are cut into.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sim_core::MemoryBudget;
use sim_machine::{caveats, only_thread};
use sim_trace::TraceFile;

use crate::error::RunsError;
use crate::part::{Part, groups};
use crate::run_core::SweepCore;
use crate::windows::Windows;

/// A trace of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name in the grid.
    pub name: String,
    /// Place of the file.
    pub path: PathBuf,
    /// Content hash ([`TraceFile::hash`]).
    pub hash: u64,
    /// Sentences about data that the trace lacks ([`caveats::notes`]), and about its parts.
    pub notes: Vec<String>,
    /// Its runs, for each combination.
    pub(crate) parts: Vec<Part>,
    /// Windows that stand for the whole.
    pub(crate) windows: Option<Arc<Windows>>,
}

/// Rules by which traces are cut into parts.
#[derive(Debug)]
pub(crate) struct PartRules {
    /// Core of the runs.
    pub(crate) core: SweepCore,
    /// Largest number of parts.
    pub(crate) parts: u32,
    /// Windows of all traces; `None` if all instructions count.
    pub(crate) windows: Option<Vec<Arc<Windows>>>,
}

impl Trace {
    /// Opens a trace far enough to check that it is one, and cuts it.
    pub(crate) fn open(
        name: &str,
        directory: &Path,
        rules: &PartRules,
        memory: &MemoryBudget,
    ) -> Result<Trace, RunsError> {
        let path = directory.join(name);
        let file = TraceFile::open_within(&path, memory)?;
        let windows = rules.windows_of(name, &file)?;
        let parts = rules.parts(&file, windows.as_ref())?;
        let mut notes = caveats::notes(&file);
        notes.extend(note(parts.len(), windows.as_deref()));
        Ok(Trace { name: name.to_owned(), path, hash: file.hash(), notes, parts, windows })
    }
}

impl PartRules {
    /// Returns the windows of a trace, if the grid has any.
    fn windows_of(&self, name: &str, trace: &TraceFile) -> Result<Option<Arc<Windows>>, RunsError> {
        let Some(windows) = &self.windows else { return Ok(None) };
        let hash = format!("{:016x}", trace.hash());
        let Some(own) = windows.iter().find(|own| own.regions.trace_hash == hash) else {
            return Err(RunsError::Wrong(format!(
                "regions: no file has the windows of {name}; n2sim trace regions TRACE -o FILE makes one"
            )));
        };
        own.check(trace)?;
        Ok(Some(Arc::clone(own)))
    }

    fn parts(
        &self,
        trace: &TraceFile,
        windows: Option<&Arc<Windows>>,
    ) -> Result<Vec<Part>, RunsError> {
        if let Some(windows) = windows {
            only_thread(trace)?;
            return Ok(groups(windows, self.parts as usize));
        }
        if self.parts == 1 {
            return Ok(vec![Part::Whole]);
        }
        let thread = only_thread(trace)?;
        let (stream, instructions) = (thread.stream, thread.instructions);
        let parts: Vec<Part> = match self.core {
            SweepCore::NeoverseN2 => {
                let chunks = sim_lab::chunks::chunks(instructions, self.parts).into_iter();
                chunks.map(Part::Chunk).collect()
            }
            SweepCore::CortexA53 => {
                let chunks = sim_lab::a53_chunks(instructions, self.parts).into_iter();
                chunks.map(|part| Part::A53Chunk { stream, part }).collect()
            }
        };
        // One chunk is the run.
        Ok(if parts.len() == 1 { vec![Part::Whole] } else { parts })
    }
}

/// Returns what makes counts of parts differ from those of the whole trace.
fn note(parts: usize, windows: Option<&Windows>) -> Option<String> {
    let windows = windows.map(|windows| &windows.regions);
    match (windows, parts) {
        (Some(regions), _) => {
            let counted: u64 = regions.windows.iter().map(|window| window.length).sum();
            let groups = if parts > 1 { format!(" in {parts} parts") } else { String::new() };
            Some(format!(
                "estimated from {} windows{groups}, {:.2} % of the instructions (docs/regions.md)",
                regions.windows.len(),
                100.0 * counted as f64 / regions.instructions as f64
            ))
        }
        (None, 1) => None,
        (None, count) => Some(format!(
            "counted in {count} parts: docs/regions.md says how far that is from a run in one piece"
        )),
    }
}
