//! `n2sim`: replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU
//! events. This library is the whole program: its `main` calls [`program`]. Programs that load it
//! (the Python package) also call commands one by one, with [`call`], and get counts as values,
//! with [`count`].
//!
//! Exit codes: 0 done, 1 a check failed, 2 wrong use or input. A closed pipe is not an error.

mod args;
mod capture;
mod commands;
mod counting;
mod failure;
mod files;
mod help;
mod host;
mod old_forms;
mod plural;
mod shared_args;
mod verdict;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use args::{Args, Command};
use clap::CommandFactory;
use commands::perf_stat;
use host::{call, signals};
use sim_core::{MemoryBudget, shown_lines};
use sim_trace::{TraceError, TraceFile};

pub use commands::stat::exact::{Counted, MetricValue, SlotUse};

/// Runs the program with the words of a command line, its own name first. Returns the exit code.
///
/// It takes over SIGINT, SIGTERM and SIGHUP of the process, prints to its streams, and is called
/// once.
pub fn program(words: Vec<OsString>) -> u8 {
    call::set_program(&words);
    let done = signals::watch().and_then(|()| run_words(words));
    #[cfg(debug_assertions)]
    write_calls();
    let code = exit_code(done);
    // Only the end of a Rust program would do so by itself.
    let _ = io::stdout().flush();
    code
}

/// Names the words that start this program again, for a process whose own file is another program.
pub fn started_by(words: Vec<OsString>) {
    call::set_starter(words);
}

/// Prints the message of a command that failed, and returns the exit code.
fn exit_code(done: anyhow::Result<u8>) -> u8 {
    match done {
        Ok(code) => code,
        Err(error) if failure::is_closed_pipe(&error) => 0,
        Err(error) => match error.downcast::<clap::Error>() {
            Ok(usage) => {
                // stderr may be closed.
                let _ = usage.print();
                u8::try_from(usage.exit_code()).unwrap_or(WRONG)
            }
            Err(error) => {
                // The message may contain text of an input file, and stderr may be closed.
                let message = failure::message(&error);
                let _ = writeln!(call::stderr(), "n2sim: {}", shown_lines(&message));
                WRONG
            }
        },
    }
}

/// Exit code of wrong use or input.
const WRONG: u8 = 2;

/// The result of a called command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Exit code: 0, or 1 if a check failed.
    pub code: u8,
    /// Text or bytes on standard output.
    pub output: Vec<u8>,
    /// Text on standard error.
    pub notes: String,
}

/// The message of a command that failed, as the program prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Runs a command with the words of its command line, the program's name first, and keeps what it
/// prints on this thread. A set `stop` ends a replay early.
///
/// # Errors
/// Wrong words or input, with the message of the program.
pub fn call(words: Vec<OsString>, stop: Arc<AtomicBool>) -> Result<Called, Refused> {
    let (done, printed) = call::during(words.clone(), stop, || run_words(words));
    let notes = String::from_utf8_lossy(&printed.notes).into_owned();
    match done {
        Ok(code) => Ok(Called { code, output: printed.output, notes }),
        Err(error) => match error.downcast_ref::<clap::Error>() {
            // The help of a command.
            Some(help) if !help.use_stderr() => {
                let output = help.render().to_string().into_bytes();
                Ok(Called { code: 0, output, notes })
            }
            _ => Err(refused(&error)),
        },
    }
}

/// Replays a trace and returns its exact counts, its metrics and its slots. The words are those of
/// `n2sim stat`, the program's name first; options on the form of the output are ignored.
///
/// # Errors
/// Wrong words or input, with the message of the program.
pub fn count(words: Vec<OsString>, stop: Arc<AtomicBool>) -> Result<Counted, Refused> {
    let (done, printed) = call::during(words.clone(), stop, || match Args::read(words)?.command {
        Command::Stat(args) => commands::stat::exact::count(&args),
        _ => anyhow::bail!("only `n2sim stat` gives counts as values"),
    });
    let notes = String::from_utf8_lossy(&printed.notes);
    let counted = done.map_err(|error| refused(&error))?;
    Ok(Counted { notes: notes.lines().map(str::to_owned).collect(), ..counted })
}

/// Opens a trace, within the memory that the host can give.
///
/// # Errors
/// The file is missing or is no trace.
pub fn open(path: &Path) -> Result<TraceFile, TraceError> {
    TraceFile::open_within(path, &host::memory::budget())
}

/// Returns the memory that runs of this process may take together: three quarters of what the host
/// can give now.
pub fn memory() -> MemoryBudget {
    host::memory::budget()
}

fn refused(error: &anyhow::Error) -> Refused {
    Refused(match error.downcast_ref::<clap::Error>() {
        Some(usage) => usage.render().to_string().trim_end().to_owned(),
        None => shown_lines(&failure::message(error)).to_string(),
    })
}

fn run_words(words: Vec<OsString>) -> anyhow::Result<u8> {
    if let Some(words) = perf_stat::called_as_perf(&words) {
        return perf_stat::play(words).map(|()| 0);
    }
    match Args::read(old_forms::current(words)) {
        Ok(args) => run(args.command),
        Err(text) if text.use_stderr() || call::stop().is_some() => Err(text.into()),
        // Help, or the version.
        Err(text) => {
            text.print()?;
            call::stdout().flush()?;
            Ok(0)
        }
    }
}

/// Prints the number of system calls, the kind of the failed one, and the number of memory
/// reservations. For tests that make system calls fail or refuse memory.
#[cfg(debug_assertions)]
fn write_calls() {
    if std::env::var_os("N2SIM_COUNT_CALLS").is_some() {
        let (made, failed) = sim_files::calls::made();
        let failed = failed.map_or_else(|| "none".to_owned(), |call| format!("{call:?}"));
        let _ = writeln!(call::stderr(), "n2sim: {made} calls of the system, failed: {failed}");
        let reserved = host::memory::refusals::most();
        let _ = writeln!(call::stderr(), "n2sim: {reserved} reservations of memory");
    }
}

fn run(command: Command) -> anyhow::Result<u8> {
    Ok(match command {
        Command::Book(args) => commands::book::run(&args)?.into(),
        Command::Calibrate(args) => commands::calibrate::run(&args)?.into(),
        Command::Capture(args) => return commands::capture::run(&args),
        Command::Check(args) => commands::check::run(&args)?.into(),
        Command::Completions(args) => commands::completions::run(&args, Args::command())?.into(),
        Command::Counterfactual(args) => commands::counterfactual::run(&args)?.into(),
        Command::Course(args) => commands::course::run(&args)?.into(),
        Command::Diff(args) => commands::diff::run(&args)?.into(),
        Command::Doctor(args) => return commands::doctor::run(&args),
        Command::Estimate(args) => commands::estimate::run(&args)?.into(),
        Command::EventBus(args) => commands::event_bus::run(&args)?.into(),
        Command::Explain(args) => commands::explain::run(&args)?.into(),
        Command::Flow(args) => commands::flow::run(&args)?.into(),
        Command::Functions(args) => commands::functions::run(&args)?.into(),
        Command::Lint(args) => commands::lint::run(&args)?.into(),
        Command::Litmus(args) => commands::litmus::run(&args)?.into(),
        Command::List(args) => commands::list::run(&args)?.into(),
        Command::Man(args) => commands::man::run(&args, Args::command())?.into(),
        Command::Mcp(args) => commands::mcp::run(&args)?.into(),
        Command::Membench(args) => commands::membench::run(&args)?.into(),
        Command::PerfStat(args) => {
            perf_stat::run(&args)?;
            0
        }
        Command::Pipeline(args) => commands::pipeline::run(&args)?.into(),
        Command::Playground(args) => commands::playground::run(&args)?.into(),
        Command::Plan(args) => commands::plan::run(&args)?.into(),
        Command::ProgramPmu(args) => commands::program_pmu::run(&args)?.into(),
        Command::Record(args) => commands::record::run(&args)?.into(),
        Command::Report(args) => commands::report::run(&args)?.into(),
        Command::Run(args) => return commands::run::run(&args),
        Command::Scaling(args) => commands::scaling::run(&args)?.into(),
        Command::Space(args) => commands::space::run(&args)?.into(),
        Command::Spe(args) => commands::spe::run(&args)?.into(),
        Command::Stat(args) => commands::stat::run(&args)?.into(),
        Command::Sweep(args) => commands::sweep::run(&args)?.into(),
        Command::Trace(args) => commands::trace::run(&args)?.into(),
        Command::Validate(args) => commands::validate::run(&args)?.into(),
    })
}
