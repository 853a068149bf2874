//! Names of functions: those of a trace and those of a program file.

use std::path::Path;

use anyhow::Context;
use sim_core::Shown;
use sim_report::Symbols;
use sim_report::symbols::ProgramFile;
use sim_trace::TraceFile;

/// Returns the functions that the trace names, and those of the program file `elf`.
pub(crate) fn load(trace: &TraceFile, elf: Option<&Path>) -> anyhow::Result<Symbols> {
    let mut symbols = Symbols::from_trace(trace);
    if let Some(path) = elf {
        let bytes =
            sim_files::read(path).with_context(|| format!("cannot read {}", path.shown()))?;
        symbols.add(&ProgramFile::new(&path.shown().to_string(), bytes, trace)?)?;
    }
    Ok(symbols)
}
