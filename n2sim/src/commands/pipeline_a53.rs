//! `n2sim pipeline --core cortex-a53`: the stages of a window's instructions on a Cortex-A53.

use sim_core::{PmuEvent, Shown};
use sim_machine::caveats;
use sim_report::pipeview::PipeView;
use sim_report::pipeview::a53::A53Watch;
use sim_trace::{MissingData, TraceFile};

use super::pipeline::{PipelineArgs, thread_of, window_of, write_view};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace, symbols};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Runs the trace up to the end of the window, and writes the requested form. With several threads,
/// whose accesses share the memory, all run to their ends.
pub(super) fn run(args: &PipelineArgs) -> anyhow::Result<Verdict> {
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let (_, stream) = thread_of(&trace, args)?;
    let window = window_of(&stream, args)?;
    let symbols = symbols::load(&trace, &args.elf)?;
    let mut out = Output::create(args.output.as_deref())?;
    let limit = (trace.streams().len() == 1).then_some(window.end);
    // Each stream of the trace runs on the core of its number.
    let watched = stream.stream as usize;
    let sink = |core| A53Watch::new(&trace, (core == watched).then(|| window.clone()));
    let runs = sim_a53::run_with_sinks(&trace, &config, limit, sink)?;
    let seen = runs.into_iter().map(|(_, sink)| sink).nth(watched);
    let seen = seen.unwrap_or_else(|| A53Watch::new(&trace, None));
    let view = seen.finish(&trace, args.trace.shown().to_string(), stream.stream);
    let doubt = caveats::doubt(PmuEvent::CPU_CYCLES, &caveats::lacks(&trace));
    let view = PipeView { doubt: doubt.map(MissingData::label), ..view };
    write_view(&mut out, args, &view, &symbols)?;
    out.finish()?;
    Ok(Verdict::Good)
}
