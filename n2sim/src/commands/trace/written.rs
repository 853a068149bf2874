//! Checks before a trace is written, and the line that reports it.

use std::io::{self, Write};
use std::path::Path;

use sim_core::Shown;
use sim_trace::Summary;

use crate::files::command_line;

/// Refuses to write over the trace that is read.
pub(super) fn check_different(file: &Path, output: &Path) -> anyhow::Result<()> {
    let same = |a: &Path, b: &Path| Some(a.canonicalize().ok()? == b.canonicalize().ok()?);
    if same(file, output) == Some(true) {
        anyhow::bail!("{}: give another file to write (-o)", output.shown());
    }
    command_line::refuse_input(output)
}

/// Prints the name and the size of a written trace.
pub(super) fn write_written(
    out: &mut impl Write,
    output: &Path,
    summary: &Summary,
) -> io::Result<()> {
    let (instructions, bytes) = (summary.instructions, summary.file_bytes);
    writeln!(out, "{}: {instructions} instructions, {bytes} bytes", output.shown())
}
