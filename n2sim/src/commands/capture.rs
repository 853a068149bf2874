//! `n2sim capture`: records an AArch64 program that runs under QEMU into a trace.

use std::path::Path;

use anyhow::{Context, Result, bail};
use sim_core::Shown;
use sim_trace::{Meta, Summary, TraceError, TraceWriter, WriterOptions};

use crate::capture::account::{self, PluginTally, Stopwatch, Title};
use crate::capture::args::CaptureArgs;
use crate::capture::code::Code;
use crate::capture::names;
use crate::capture::output::Output;
use crate::capture::program::Program;
use crate::capture::recorder::Recorder;
use crate::capture::region::Region;
use crate::capture::session::{self, End};
use crate::capture::setup::{Setup, default_output, meta, say};
use crate::capture::shared_memory::SharedMemory;
use crate::capture::wire::{self, control};
use crate::capture::{second_run, system};
use crate::files::command_line;
use crate::host::signals::Keeper;

/// Records a program and prints a summary to stderr.
///
/// # Errors
///
/// If the engine, the plugin or the program is missing or unfit, or the trace cannot be written.
pub(crate) fn run(args: &CaptureArgs) -> Result<u8> {
    if args.system.is_wanted() {
        return system::run(args);
    }
    if args.count_only {
        return count(args);
    }
    record(args, None, TraceWriter::record)?;
    Ok(0)
}

/// Begins the trace of a recording. [`TraceWriter::record`] keeps what a failed run leaves.
pub(crate) type Begin = fn(&Path, Meta, WriterOptions) -> Result<TraceWriter, TraceError>;

/// Records a program and prints a summary to stderr, under the name of the trace or another title.
///
/// # Errors
///
/// If the engine, the plugin or the program is missing or unfit. [`Cut`] if the trace cannot be
/// written to its end.
pub(crate) fn record(args: &CaptureArgs, title: Option<&Title>, begin: Begin) -> Result<()> {
    let setup = Setup::of(args)?;
    if args.program.second_run {
        return second_run::run(args, &setup, title);
    }
    let Setup { program, engine, cpu, .. } = &setup;
    let mut memory = SharedMemory::create()?;
    let region = Region { from: args.program.from.clone(), to: args.program.to.clone() };
    region.announce(program, &memory)?;
    let mut command = setup.command(args, &memory, &[])?;
    let stopwatch = Stopwatch::start();
    let path = args.output.clone().unwrap_or_else(|| default_output(&program.path));
    command_line::refuse_input(&path)?;
    let meta = meta(args, engine, cpu);
    let options = WriterOptions { level: args.level, ..WriterOptions::default() };
    // Held to the end, so that a signal loses no part of the trace.
    let _keeper = Keeper::for_all();
    let trace = begin(&path, meta, options)?;
    let mut output = Output { trace, skip: args.skip };
    let mut recorder = Recorder::default();
    recorder.shared.ends_for_good = region.ends_for_good();
    let limit = args.limit.unwrap_or(u64::MAX);
    let recorded = session::record(&mut command, &mut memory, &mut recorder, &mut output, limit);
    let end = match recorded.map_err(|error| error.downcast::<TraceError>()) {
        Ok(end) => end,
        Err(Ok(refusal)) => {
            return keep_cut(output, refusal, program, &recorder.shared.code, &mut memory);
        }
        Err(Err(error)) => return Err(error),
    };
    let is_empty = output.trace.instructions() == 0;
    if is_empty && memory.control(control::MAGIC)? != wire::MAGIC {
        bail!(
            "{} did not start the recording plugin ({})",
            engine.path.shown(),
            account::ending(&end)
        );
    }
    if is_empty {
        bail!("nothing was recorded: {}", nothing_recorded(args, &end));
    }
    let (written, plugin, gaps) = finish(program, &region, output, &recorder, &mut memory, &end)?;
    let tally = &recorder.shared.tally;
    let times = stopwatch.elapsed();
    let title = title.cloned().unwrap_or_else(|| path.as_path().into());
    say(&account::summary(&title, tally, &plugin, &written, &end, times, &gaps));
    say(&account::advice(tally, &end, cpu));
    Ok(())
}

/// The end of an error message when not even one chunk could be kept.
const NO_FILE: &str = "the trace could not be written and no file is left";

/// Keeps the part of the trace that was written before the system refused more.
fn keep_cut(
    mut output: Output,
    refusal: TraceError,
    program: &Program,
    code: &Code,
    memory: &mut SharedMemory,
) -> Result<()> {
    let start = memory.control(control::START_CODE)?;
    let meta = output.trace.meta_mut();
    let absent = names::add(meta, program, start, code);
    meta.gaps.extend(absent);
    let (written, refusal) = output.trace.cut(refusal).context(NO_FILE)?;
    Err(Cut { refusal, instructions: written.instructions }.into())
}

/// The error that a trace is shorter than the run, because the system wrote no more of it.
#[derive(Debug, thiserror::Error)]
#[error("{refusal}; a whole trace of the first {} instructions is left", account::thousands(*.instructions))]
pub(crate) struct Cut {
    pub(crate) refusal: TraceError,
    pub(crate) instructions: u64,
}

/// Returns the likely reason why a recording is empty.
fn nothing_recorded(args: &CaptureArgs, end: &End) -> String {
    let ending = account::ending(end);
    match (args.skip, &args.program.from) {
        (0, None) => format!("the engine ended before the program began ({ending})"),
        (0, Some(from)) => format!("the program never came to --from {from} ({ending})"),
        (skip, _) => format!("the program ended before --skip {skip} instructions ({ending})"),
    }
}

/// Completes the description of the trace, and its file.
fn finish(
    program: &Program,
    region: &Region,
    mut output: Output,
    recorder: &Recorder,
    memory: &mut SharedMemory,
    end: &End,
) -> Result<(Summary, PluginTally, Vec<String>)> {
    let plugin = PluginTally::read(memory)?;
    let mut gaps = account::gaps(&recorder.shared.tally, &plugin, end);
    let meta = output.trace.meta_mut();
    let start = memory.control(control::START_CODE)?;
    gaps.extend(names::add(meta, program, start, &recorder.shared.code));
    meta.gaps.clone_from(&gaps);
    meta.lacks = account::lacks(&recorder.shared.tally);
    meta.notes.extend([account::operands(&recorder.shared.tally)]);
    meta.notes.insert("program-end".to_owned(), account::ending(end));
    if let Some(text) = region.describe() {
        meta.notes.insert("region".to_owned(), text);
    }
    if let Some(count) = plugin.engine_count.filter(|_| plugin.streams <= 1) {
        meta.notes.insert("engine-instruction-count".to_owned(), count.to_string());
    }
    match output.trace.finish_or_cut().context(NO_FILE)? {
        (written, None) => Ok((written, plugin, gaps)),
        (written, Some(refusal)) => Err(Cut { refusal, instructions: written.instructions }.into()),
    }
}

/// Runs with the engine's counter only and prints the count on stderr.
fn count(args: &CaptureArgs) -> Result<u8> {
    // It holds the plugin.
    let setup = Setup::of(args)?;
    let mut memory = SharedMemory::create()?;
    let mut command = setup.command(args, &memory, &[])?;
    let status = command.status().context("cannot run the engine")?;
    let plugin = PluginTally::read(&mut memory)?;
    let Some(count) = plugin.engine_count else {
        bail!("the program did not end by itself ({status}), so the engine's count is not final");
    };
    say(&format!("engine count: {count}\n"));
    Ok(0)
}
