//! `n2sim trace import`: converts a trace of another tool.

use std::io::Write;
use std::path::Path;

use sim_report::perf_stat::grouped;
use sim_trace::TraceFile;
use sim_trace::foreign::{self, ImportOptions, Imported};

use super::written::write_written;
use crate::files::open_trace;
use crate::host::call;
use crate::host::memory;
use sim_core::Shown;

/// Imports `file` as `output`. Prints its format and what it lacks.
pub(crate) fn run(
    out: &mut impl Write,
    file: &Path,
    output: &Path,
    options: &ImportOptions,
) -> anyhow::Result<()> {
    let Imported { format, packings, skipped, summary } = foreign::import(file, output, options)?;
    let mut packed = String::new();
    for packing in packings {
        packed = format!("{packed} in {packing}");
    }
    let place = file.shown();
    writeln!(out, "{place}: {}{packed}, {} threads", format.title(), summary.streams)?;
    if skipped > 0 {
        writeln!(out, "{place}: {} lines that say nothing were passed over", grouped(skipped))?;
    }
    write_written(out, output, &summary)?;
    open_trace::write_lacks(
        &mut call::stderr(),
        output,
        &TraceFile::open_within(output, &memory::budget())?,
    )?;
    Ok(())
}
