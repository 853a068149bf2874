//! `n2sim trace export`: writes a trace for other simulators.

use std::io::Write;
use std::path::Path;

use sim_report::export::{self, ExportError, Target};
use sim_trace::TraceFile;

use crate::files::output::Output;
use crate::host::memory;
use sim_core::Shown;

/// Writes the trace, or one thread of it.
pub(crate) fn run(
    file: &Path,
    target: Target,
    stream: Option<u32>,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let trace = TraceFile::open_within(file, &memory::budget())?;
    let place = file.shown();
    let all: Vec<u32> = trace.streams().iter().map(|info| info.stream).collect();
    let list = || all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let streams = match stream {
        Some(stream) if all.contains(&stream) => vec![stream],
        Some(stream) => anyhow::bail!("{place}: no stream {stream}; the streams are: {}", list()),
        None if target == Target::Champsim && all.len() > 1 => {
            anyhow::bail!(
                "{place}: a ChampSim trace has one thread: choose --stream from {}",
                list()
            )
        }
        None => all.clone(),
    };
    let mut out = Output::create(output)?;
    for stream in streams {
        export::write(&trace, stream, target, &mut out).map_err(|error| match error {
            ExportError::Output(error) => anyhow::Error::from(error),
            error => anyhow::Error::from(error).context(place.to_string()),
        })?;
    }
    out.flush()?;
    out.finish()
}
