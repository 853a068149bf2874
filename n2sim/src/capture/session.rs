//! Runs the program under the engine, drains the recording during the run, and ends it on demand.

use super::output::Output;
use super::recorder::Recorder;
use super::shared_memory::SharedMemory;
use super::wire::control;
use crate::host::call;
use crate::host::signals::Keeper;
use anyhow::{Context, Result};
use rustix::process::{
    DumpableBehavior, Pid, Signal, dumpable_behavior, kill_process, set_dumpable_behavior,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Pause when there was nothing to take.
const PAUSE: Duration = Duration::from_micros(500);

/// Time in which a system must turn itself off after its stop marker.
const FAREWELL: Duration = Duration::from_secs(3);

/// The end of a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// The exit status of the program.
    pub(crate) status: ExitStatus,
    /// The recorder ended the program, because `--limit` was reached.
    pub(crate) is_cut: bool,
    /// The recorder ended the program, because control reached `--to`.
    pub(crate) is_over: bool,
    /// The recording was interrupted (Ctrl-C, `kill`).
    pub(crate) is_interrupted: bool,
}

impl End {
    /// Returns whether the recorder ended the program.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_cut || self.is_over
    }
}

/// Runs `command` to its end, or to `limit` recorded instructions.
pub(crate) fn record(
    command: &mut Command,
    memory: &mut SharedMemory,
    recorder: &mut Recorder,
    output: &mut Output,
    limit: u64,
) -> Result<End> {
    let interrupts = Keeper::for_all();
    let _others = OthersRefused::new();
    let child = sim_files::spawn(command);
    memory.keep();
    let mut child =
        child.with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let mut end =
        End { status: ExitStatus::default(), is_cut: false, is_over: false, is_interrupted: false };
    let drained =
        drain_until_exit(&mut child, &interrupts, memory, recorder, output, limit, &mut end);
    if drained.is_err() {
        // The recording failed: do not leave the program running.
        let _ = child.kill();
        let _ = child.wait();
    }
    drained?;
    // A signal that ends a program from outside, between any two instructions, is not one of its
    // own.
    let is_outside = |signal: &i32| *signal == SIGKILL || end.is_ended() || end.is_interrupted;
    let signal = end.status.signal().filter(|signal| !is_outside(signal));
    recorder.finish(memory, output, signal.map(|signal| signal as u32))?;
    // A short program may have ended before this was seen.
    end.is_over = recorder.shared.is_over;
    Ok(end)
}

/// A value that prevents other processes of this user from opening the descriptors of this process
/// while it exists, and so the memory of the recording. The recorded program is one of these
/// processes. Root can still open them.
struct OthersRefused {
    before: Option<DumpableBehavior>,
}

impl OthersRefused {
    fn new() -> OthersRefused {
        // The program ends soon, but a caller of this command goes on.
        let before = call::stop().and_then(|_| dumpable_behavior().ok());
        // Systems without this feature leave the descriptors open to them.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        OthersRefused { before }
    }
}

impl Drop for OthersRefused {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = set_dumpable_behavior(before);
        }
    }
}

fn drain_until_exit(
    child: &mut Child,
    interrupts: &Keeper,
    memory: &mut SharedMemory,
    recorder: &mut Recorder,
    output: &mut Output,
    limit: u64,
    end: &mut End,
) -> Result<()> {
    let mut patience = None;
    loop {
        recorder.note_streams(memory)?;
        let has_taken = recorder.drain(memory, output)?;
        if !end.is_ended()
            && (recorder.shared.tally.instructions >= limit || recorder.shared.is_over)
        {
            (end.is_cut, end.is_over) = (!recorder.shared.is_over, recorder.shared.is_over);
            memory.stop()?;
            child.kill().context("cannot end the program")?;
        }
        if recorder.is_damaged() {
            memory.stop()?;
            child.kill().context("cannot end the program")?;
        }
        end_if_done(child, memory, &mut patience)?;
        let stopped = (call::is_stopped() && !end.is_interrupted).then_some(SIGTERM);
        if let Some(signal) = interrupts.take().or(stopped) {
            interrupt(child, signal, end.is_interrupted);
            end.is_interrupted = true;
        }
        if let Some(status) = child.try_wait().context("cannot wait for the program")? {
            end.status = status;
            return recorder.note_streams(memory);
        }
        if !has_taken {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Ends a system that passed its stop marker and does not turn itself off.
fn end_if_done(
    child: &mut Child,
    memory: &mut SharedMemory,
    patience: &mut Option<Instant>,
) -> Result<()> {
    if memory.control(control::DONE)? == 0 {
        return Ok(());
    }
    let until = *patience.get_or_insert_with(|| Instant::now() + FAREWELL);
    if Instant::now() >= until {
        child.kill().context("cannot end the system")?;
    }
    Ok(())
}

/// Passes a request to end on to the program; a second one kills it.
fn interrupt(child: &mut Child, signal: i32, is_second: bool) {
    if is_second {
        let _ = child.kill();
        return;
    }
    // A terminal itself sends Ctrl-C to the program.
    if signal == SIGINT && std::io::stdin().is_terminal() {
        return;
    }
    let signal = match signal {
        SIGINT => Signal::INT,
        SIGHUP => Signal::HUP,
        _ => Signal::TERM,
    };
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        // If the program has already ended, there is nothing to do.
        let _ = kill_process(pid, signal);
    }
}
