//! Termination signals: SIGINT, SIGTERM and SIGHUP. They end a command and remove its temporary
//! files at once, unless it is about to end by itself with a result.

use crate::host::call;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use sim_report::perf_stat::grouped;

/// A signal ends the process.
const ENDS: usize = 0;
/// The second signal ends the process.
const FIRST_WAITS: usize = 1;
/// No signal ends the process.
const ALL_WAIT: usize = 2;

/// Variable for a process that must not outlive the one that started it, whose end closes the
/// standard input.
pub(crate) const END_WITH_INPUT: &str = "N2SIM_END_WITH_INPUT";

static MODE: AtomicUsize = AtomicUsize::new(ENDS);
/// The last signal that is not handled yet, or 0.
static ASKED: AtomicI32 = AtomicI32::new(0);
static IS_STOPPED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static HANDLE: OnceLock<Handle> = OnceLock::new();

/// Starts to handle signals on a thread of its own. A signal that the caller ignores, as `nohup`
/// does, stays ignored. A [`Keeper`] handles SIGINT and SIGTERM from then on even so.
pub(crate) fn watch() -> anyhow::Result<()> {
    let ignored = ignored();
    let all = [SIGINT, SIGTERM, SIGHUP];
    let watched = all.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(watched).context("cannot watch for signals")?;
    let _ = HANDLE.set(signals.handle());
    let handle_all = move || signals.forever().for_each(on_signal);
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(handle_all).context("cannot watch for signals")?;
    if std::env::var_os(END_WITH_INPUT).is_some() {
        std::thread::spawn(end_with_input);
    }
    Ok(())
}

/// Ends the process as SIGTERM does, once the standard input is closed.
fn end_with_input() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    on_signal(SIGTERM);
}

/// Returns the signals that this process ignored at its start, one bit each.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn on_signal(signal: i32) {
    ASKED.store(signal, Ordering::SeqCst);
    let is_second = IS_STOPPED.swap(true, Ordering::SeqCst);
    match MODE.load(Ordering::SeqCst) {
        ENDS => end_by(signal),
        FIRST_WAITS if is_second => end_by(signal),
        _ => {}
    }
}

/// Removes the temporary files, then ends the process as the signal would have.
fn end_by(signal: i32) {
    sim_files::remove_all(|| {
        // The call returns only if the system refuses.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        signal_hook::low_level::exit(128 + signal);
    });
}

/// Returns the flag that is set once a signal arrives, or that the caller of a library sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    call::stop().unwrap_or_else(|| Arc::clone(&IS_STOPPED))
}

/// Forgets the signals that came so far, so that what follows is not stopped by them.
pub(crate) fn forget() {
    ASKED.store(0, Ordering::SeqCst);
    IS_STOPPED.store(false, Ordering::SeqCst);
}

/// A value that prevents signals from ending the process while it exists.
#[derive(Debug)]
pub(crate) struct Keeper {
    before: usize,
}

impl Keeper {
    /// Returns a keeper for a command that ends by itself at the first signal. A second one ends
    /// the process.
    pub(crate) fn for_first() -> Keeper {
        Keeper::enter(FIRST_WAITS)
    }

    /// Returns a keeper for a command that handles every signal.
    pub(crate) fn for_all() -> Keeper {
        Keeper::enter(ALL_WAIT)
    }

    fn enter(mode: usize) -> Keeper {
        let before = MODE.swap(mode, Ordering::SeqCst);
        // A shell lets its background jobs ignore SIGINT. A signal that is sent to such a job
        // explicitly still ends it with its result.
        for signal in [SIGINT, SIGTERM] {
            let _ = HANDLE.get().map(|handle| handle.add_signal(signal));
        }
        Keeper { before }
    }

    /// Returns whether a signal has arrived.
    pub(crate) fn is_stopped(&self) -> bool {
        IS_STOPPED.load(Ordering::SeqCst)
    }

    /// Returns the signal that arrived since the last call.
    pub(crate) fn take(&self) -> Option<i32> {
        Some(ASKED.swap(0, Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Prints the progress of the run and ends the process by the signal, if one has arrived.
    pub(crate) fn end(self, instructions: u64, of: u64) -> io::Result<()> {
        let Some(signal) = self.take() else { return Ok(()) };
        let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
        let (done, all) = (grouped(instructions), grouped(of));
        let message = format!(
            "stopped by {name} after {done} of {all} instructions; the results are of these"
        );
        writeln!(call::stderr(), "n2sim: note: {message}")?;
        end_by(signal);
        Ok(())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        MODE.store(self.before, Ordering::SeqCst);
    }
}
