//! `n2sim capture --second-run`: adds what the engine's plugin interface does not show: SVE
//! accesses, predicates, and operands of `DC`, `IC` and `PRFM`.
//!
//! The engine's debugger interface shows every register. The first run of the program finds the
//! places of such instructions. The second run uses both interfaces: it is recorded, and stops at
//! each of these places. All addresses and predicates of the trace are therefore from one run.

mod debugger;
mod look;
mod merge;

use super::account::{self, PluginTally, Stopwatch, Title};
use super::args::CaptureArgs;
use super::names;
use super::output::Output;
use super::recorder::Recorder;
use super::session::{self, End};
use super::setup::{Setup, default_output, meta as meta_of, say};
use super::shared_memory::SharedMemory;
use super::tally::{Known, Tally};
use super::wire::{self, control};
use anyhow::{Context, Result, anyhow, bail, ensure};
use debugger::Debugger;
use look::{Places, Seen};
use sim_files::ScratchDirectory;
use sim_trace::{Meta, TraceFile, TraceWriter, WriterOptions};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

/// A recording whose trace is not finished.
struct Recorded {
    output: Output,
    recorder: Recorder,
    memory: SharedMemory,
    end: End,
}

/// Records a program in two runs and prints a summary to stderr.
///
/// # Errors
///
/// The errors of a plain recording. Also if the program has threads or does not do the same each
/// time.
pub(crate) fn run(args: &CaptureArgs, setup: &Setup, title: Option<&Title>) -> Result<()> {
    let stopwatch = Stopwatch::start();
    let path = args.output.clone().unwrap_or_else(|| default_output(&setup.program.path));
    let directory = ScratchDirectory::new().context("cannot make a temporary directory")?;
    let first = first(args, setup, directory.path()).context("the first run")?;
    if first.end.is_interrupted {
        bail!("interrupted in the first of two runs: nothing was recorded");
    }
    let places = look::places(&first.recorder.shared.blocks);
    let (seen, mut second) =
        second(args, setup, &places, directory.path()).context("the second run")?;

    let plugin = PluginTally::read(&mut second.memory)?;
    let start = second.memory.control(control::START_CODE)?;
    let meta = second.output.trace.meta().clone();
    second.output.trace.finish().context("a temporary trace could not be completed")?;
    let file = TraceFile::open(&directory.path().join(SECOND))?;
    let merged = merge::write(&file, meta, &places, &seen, &path, args.level)?;

    let mut tally = second.recorder.shared.tally.clone();
    update_known(&mut tally, merged.silent);
    let mut gaps = account::gaps(&tally, &plugin, &second.end);
    gaps.push(sentence(&seen));
    let mut trace = merged.writer;
    let code = &second.recorder.shared.code;
    gaps.extend(names::add(trace.meta_mut(), &setup.program, start, code));
    complete(trace.meta_mut(), &tally, &second.end, &gaps);
    let written = trace.finish().context("the trace could not be completed")?;
    let times = stopwatch.elapsed();
    let title = title.cloned().unwrap_or_else(|| path.as_path().into());
    say(&account::summary(&title, &tally, &plugin, &written, &second.end, times, &gaps));
    Ok(())
}

/// Names of the temporary traces and of the debugger's socket.
const FIRST: &str = "first.n2t";
const SECOND: &str = "second.n2t";
const SOCKET: &str = "debugger";

/// Runs the program without the debugger, for its blocks.
fn first(args: &CaptureArgs, setup: &Setup, directory: &Path) -> Result<Recorded> {
    let memory = SharedMemory::create()?;
    let mut command = setup.command(args, &memory, &[])?;
    command.stdin(input()?).stdout(Stdio::null()).stderr(Stdio::null());
    record(args, setup, command, memory, &directory.join(FIRST))
}

/// Returns the standard input again, if it is a file; a terminal or a pipe gives it only once.
fn input() -> Result<Stdio> {
    let Ok(mut again) = File::open("/proc/self/fd/0") else { return Ok(Stdio::null()) };
    if !again.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(Stdio::null());
    }
    let mut given = File::from(rustix::io::dup(std::io::stdin()).context("standard input")?);
    let position = given.stream_position().context("standard input")?;
    again.seek(SeekFrom::Start(position)).context("standard input")?;
    Ok(Stdio::from(again))
}

/// Runs the program with the recorder and the debugger.
fn second(
    args: &CaptureArgs,
    setup: &Setup,
    places: &Places,
    directory: &Path,
) -> Result<(Seen, Recorded)> {
    let socket = directory.join(SOCKET);
    let memory = SharedMemory::create()?;
    let command = setup.command(args, &memory, &["-g".as_ref(), socket.as_os_str()])?;
    let is_over = AtomicBool::new(false);
    let (seen, recorded) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&socket, places, &is_over));
        let recorded = record(args, setup, command, memory, &directory.join(SECOND));
        is_over.store(true, Ordering::Relaxed);
        (watcher.join(), recorded)
    });
    let seen = seen.map_err(|_| anyhow!("the debugger's side failed"))?;
    // An error of the debugger explains all later errors of the recording.
    let seen = seen.context("the engine's debugger interface")?;
    let recorded = recorded?;
    Ok((seen.context("the engine opened no debugger interface")?, recorded))
}

/// Follows the program from its first instruction. Returns `None` if the engine ended before it.
fn watch(socket: &Path, places: &Places, is_over: &AtomicBool) -> Result<Option<Seen>> {
    let Some(mut debugger) = Debugger::connect(socket, is_over)? else { return Ok(None) };
    let seen = look::watch(&mut debugger, places);
    if seen.is_err() {
        debugger.kill();
    }
    seen.map(Some)
}

fn record(
    args: &CaptureArgs,
    setup: &Setup,
    mut command: std::process::Command,
    mut memory: SharedMemory,
    path: &Path,
) -> Result<Recorded> {
    let meta = meta_of(args, &setup.engine, &setup.cpu);
    let trace = TraceWriter::create_with(path, meta, WriterOptions::default())?;
    let mut output = Output { trace, skip: 0 };
    let mut recorder = Recorder::default();
    let end = session::record(&mut command, &mut memory, &mut recorder, &mut output, u64::MAX)?;
    if memory.control(control::MAGIC)? != wire::MAGIC || output.trace.instructions() == 0 {
        bail!("nothing was recorded ({})", account::ending(&end));
    }
    ensure!(memory.control(control::STREAMS)? <= 1, "the program has threads: it must have one");
    Ok(Recorded { output, recorder, memory, end })
}

/// Updates the tally: everything is known now except the targets of the `silent` SVE prefetches.
fn update_known(tally: &mut Tally, silent: u64) {
    (tally.sve_lost, tally.untold_predicates, tally.is_rebuilt) = (0, 0, false);
    for known in [&mut tally.zero_lines, &mut tally.maintenance, &mut tally.prefetches] {
        known.known = known.executed;
    }
    let Known { executed, known } = &mut tally.prefetches;
    *known = executed.saturating_sub(silent);
}

fn sentence(seen: &Seen) -> String {
    let count = seen.records.len();
    let mut text = format!(
        "predicates, addresses and operands of {count} instructions are from the engine's debugger interface"
    );
    if seen.ended_early > 0 {
        text.push_str(&format!(
            "; {} reads of the FFR found a fault, which a replay only meets where a page map leaves the page out",
            seen.ended_early
        ));
    }
    text
}

/// Completes the description of the trace.
fn complete(meta: &mut Meta, tally: &Tally, end: &End, gaps: &[String]) {
    meta.machine.vector_bytes = 16;
    meta.gaps = gaps.to_vec();
    meta.lacks = account::lacks(tally);
    meta.notes.extend([account::operands(tally)]);
    meta.notes.insert("program-end".to_owned(), account::ending(end));
    meta.notes.insert("second-run".to_owned(), "with the engine's debugger interface".to_owned());
}
