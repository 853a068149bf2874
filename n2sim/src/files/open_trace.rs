//! Opens a trace to run it, and notes what it lacks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sim_core::config::Document;
use sim_machine::{MachineConfig, RunHeader, Session, caveats};
use sim_report::stat::program_name;
use sim_trace::TraceFile;

use crate::host::call;
use crate::host::memory;
use crate::shared_args::MachineArgs;
use sim_core::Shown;

/// A trace to open, and what results call it.
#[derive(Clone, Debug)]
pub(crate) struct NamedTrace<'a> {
    pub(crate) path: &'a Path,
    /// The name of the file, or the command whose run was recorded.
    pub(crate) name: String,
    /// The name of the program, if the file has another.
    pub(crate) program: Option<String>,
}

impl NamedTrace<'_> {
    /// Returns the name of the program.
    pub(crate) fn program(&self) -> String {
        self.program.clone().unwrap_or_else(|| program_name(&self.name))
    }
}

impl<'a> From<&'a Path> for NamedTrace<'a> {
    fn from(path: &'a Path) -> NamedTrace<'a> {
        NamedTrace { path, name: path.shown().to_string(), program: None }
    }
}

impl<'a> From<&'a PathBuf> for NamedTrace<'a> {
    fn from(path: &'a PathBuf) -> NamedTrace<'a> {
        path.as_path().into()
    }
}

/// Opens the trace on the machine that the arguments describe.
pub(crate) fn with<'a>(
    trace: impl Into<NamedTrace<'a>>,
    machine: &MachineArgs,
) -> anyhow::Result<Session> {
    let overrides = machine.overrides();
    on(trace, &machine.source(&overrides).document()?)
}

/// Opens the trace on the machine of a configuration, whose name and hash the results carry.
pub(crate) fn on<'a>(
    trace: impl Into<NamedTrace<'a>>,
    document: &Document,
) -> anyhow::Result<Session> {
    let trace = trace.into();
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: trace.name,
        program: trace.program,
        ..RunHeader::default()
    };
    session(trace.path, MachineConfig::from_document(document)?, header)
}

/// Opens the trace on the machine.
pub(crate) fn session(
    trace: &Path,
    config: MachineConfig,
    header: RunHeader,
) -> anyhow::Result<Session> {
    let session = Session::open_within(trace, config, header, &memory::budget())?;
    write_lacks(&mut call::stderr(), Path::new(&session.header().trace), session.trace())?;
    Ok(session)
}

/// Writes one line for each kind of data that the trace lacks.
pub(crate) fn write_lacks(out: &mut impl Write, trace: &Path, file: &TraceFile) -> io::Result<()> {
    write_notes(out, trace, &caveats::notes(file))
}

/// Writes one line for each note about a trace.
pub(crate) fn write_notes(out: &mut impl Write, trace: &Path, notes: &[String]) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "n2sim: note: {}: {note}", trace.shown()))
}
