//! `n2sim pipeline`: shows the pipeline stages of a window's operations, as text, as a figure, or
//! for a viewer.

use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use sim_core::PmuEvent;
use sim_machine::observe::OpWindow;
use sim_machine::{RunOptions, Session, caveats};
use sim_report::Symbols;
use sim_report::pipeview::{PipeView, kanata, o3, perfetto, svg, text};
use sim_trace::{MissingData, StreamInfo, TraceFile};

use super::pipeline_a53;
use crate::files::output::Output;
use crate::files::{open_trace, symbols};
use crate::host::{call, progress};
use crate::shared_args::{CoreName, MachineArgs, instructions};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Default length of the window in instructions.
const DEFAULT_WINDOW: u64 = 48;
/// Longest window: its operations are kept in memory, some 300 bytes each.
const WINDOW_MAX: u64 = 1_000_000;

/// Show pipeline stages, stalls, data sources and wrong-path work of each operation
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("form").args(["kanata", "o3", "perfetto", "svg"]))]
#[command(
    after_help = "Examples: n2sim pipeline traces/btree.n2t --window 100000..100040\n          \
    n2sim pipeline traces/btree.n2t --window 100k..101k --kanata -o btree.kanata\n          \
    n2sim pipeline traces/btree.n2t --window 100k..101k --perfetto -o btree.pftrace\n          \
    n2sim pipeline traces/btree.n2t --window 100000..100040 --svg -o btree.svg\n          \
    n2sim pipeline traces/btree.n2t --core cortex-a53 --window 100000..100040"
)]
pub(crate) struct PipelineArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Instructions of the thread to show, from A up to but not including B
    ///
    /// Instructions are counted from 0; the suffixes k, M and G are understood. The default is a
    /// window in the middle.
    #[arg(long, value_name = "A..B", value_parser = window, allow_hyphen_values = true)]
    window: Option<Range<u64>>,
    /// Number of the thread's stream (default: the first)
    #[arg(long, value_name = "N")]
    thread: Option<u32>,
    /// Write a log for the viewer Konata
    #[arg(long)]
    kanata: bool,
    /// Write what gem5's out-of-order core writes (O3PipeView)
    #[arg(long)]
    o3: bool,
    /// Write a trace for ui.perfetto.dev, in which a cycle is a nanosecond
    #[arg(long)]
    perfetto: bool,
    /// Draw a figure (SVG)
    #[arg(long)]
    svg: bool,
    /// A program, library or debug file of the recording, for names (repeat for more)
    #[arg(long, value_name = "FILE")]
    pub(super) elf: Vec<PathBuf>,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Simulated core
    ///
    /// The Cortex-A53 issues in order; its wrong paths are not shown.
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Reads a range of instructions.
fn window(text: &str) -> Result<Range<u64>, String> {
    let form = || String::from("give two numbers of instructions, such as 1000..1040 or 2M..2001k");
    let (from, to) = text.split_once("..").ok_or_else(form)?;
    let (from, to) =
        (instructions(from).map_err(|_| form())?, instructions(to).map_err(|_| form())?);
    if from >= to {
        return Err(format!("nothing is between {from} and {to}: give the smaller number first"));
    }
    if to - from > WINDOW_MAX {
        return Err(format!("{} instructions are too many: give at most {WINDOW_MAX}", to - from));
    }
    Ok(from..to)
}

/// Runs the trace up to the end of the window, and writes the requested form.
pub(crate) fn run(args: &PipelineArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    let has_terminal = call::stop().is_none() && io::stdout().is_terminal();
    if args.perfetto && args.output.is_none() && has_terminal {
        anyhow::bail!("--perfetto: its bytes are not for a terminal; give a file (-o)");
    }
    if args.core == CoreName::CortexA53 {
        return pipeline_a53::run(args);
    }
    let session = open_trace::with(&args.trace, &args.machine)?;
    let (core, stream) = thread_of(session.trace(), args)?;
    let window = window_of(&stream, args)?;
    let symbols = symbols::load(session.trace(), &args.elf)?;
    let mut out = Output::create(args.output.as_deref())?;
    let view = watch(&session, args, core, &stream, window)?;
    write_view(&mut out, args, &view, &symbols)?;
    out.finish()?;
    Ok(Verdict::Good)
}

/// Writes the requested form.
pub(super) fn write_view(
    out: &mut Output,
    args: &PipelineArgs,
    view: &PipeView,
    symbols: &Symbols,
) -> anyhow::Result<()> {
    if args.kanata {
        kanata::write(out, view, symbols)?;
    } else if args.o3 {
        o3::write(out, view)?;
    } else if args.perfetto {
        perfetto::write(out, view, symbols)?;
    } else if args.svg {
        out.write_all(figure(view, symbols)?.as_bytes())?;
    } else {
        text::write(out, view, symbols)?;
    }
    Ok(())
}

/// Returns the requested thread and the core that runs it.
pub(super) fn thread_of(
    trace: &TraceFile,
    args: &PipelineArgs,
) -> anyhow::Result<(usize, StreamInfo)> {
    let name = args.trace.shown();
    let streams = trace.streams().iter().filter(|stream| stream.instructions > 0);
    let streams: Vec<&StreamInfo> = streams.collect();
    let found = match args.thread {
        None => Some(0),
        Some(number) => streams.iter().position(|stream| stream.stream == number),
    };
    let Some((core, stream)) = found.and_then(|core| Some((core, *streams.get(core)?))) else {
        let known: Vec<String> = streams.iter().map(|stream| stream.stream.to_string()).collect();
        let asked = args.thread.unwrap_or_default();
        anyhow::bail!("{name}: --thread {asked}: its threads are {}", known.join(", "));
    };
    Ok((core, stream.clone()))
}

/// Returns the window, cut at the end of the thread.
pub(super) fn window_of(stream: &StreamInfo, args: &PipelineArgs) -> anyhow::Result<Range<u64>> {
    let length = stream.instructions;
    let Some(window) = &args.window else {
        let from = (length / 2).min(length.saturating_sub(DEFAULT_WINDOW));
        return Ok(from..length.min(from + DEFAULT_WINDOW));
    };
    if window.start >= length {
        let (trace, number) = (args.trace.shown(), stream.stream);
        let (from, to) = (window.start, window.end);
        anyhow::bail!("{trace}: --window {from}..{to}: thread {number} has {length} instructions");
    }
    Ok(window.start..window.end.min(length))
}

/// Runs the trace. A single thread stops after the window; with others, whose accesses share the
/// memory, all run to their ends.
fn watch(
    session: &Session,
    args: &PipelineArgs,
    core: usize,
    stream: &StreamInfo,
    window: Range<u64>,
) -> anyhow::Result<PipeView> {
    let is_alone = session.trace().streams().iter().filter(|one| one.instructions > 0).count() == 1;
    let options = RunOptions { limit: is_alone.then_some(window.end), ..RunOptions::default() };
    let mut program = session.program()?;
    let mut watch = OpWindow::new(core, window.clone(), &mut program);
    progress::with_progress(session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut watch)?)
    })?;
    let trace = args.trace.shown().to_string();
    let view = PipeView::new(trace, stream.stream, window, watch.finish());
    let doubt = caveats::doubt(PmuEvent::CPU_CYCLES, &caveats::lacks(session.trace()));
    Ok(PipeView { doubt: doubt.map(MissingData::label), ..view })
}

fn figure(view: &PipeView, symbols: &Symbols) -> anyhow::Result<String> {
    let (operations, most) = (view.ops.len(), svg::OPERATIONS_MAX);
    if operations > most {
        anyhow::bail!(
            "{operations} operations, wrong paths included, are too many for one figure: give a window \
             with at most {most}, or --kanata"
        );
    }
    Ok(svg::draw(view, symbols))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_a_begin_before_its_end() {
        assert_eq!(window("1_000..1040"), Ok(1000..1040));
        assert_eq!(window("2k..3k"), Ok(2000..3000));
        for wrong in ["", "..", "5", "5..", "..5", "5..5", "6..5", "-1..5", "0..=5", "0..1000001"] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
    }
}
