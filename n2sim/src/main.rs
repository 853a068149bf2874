//! `n2sim`: replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU
//! events. This file only picks the command and turns its result into an exit code.
//!
//! Exit codes: 0 done, 1 a check failed, 2 wrong use or input. A closed pipe is no error.

mod args;
mod bus;
mod capture;
mod check;
mod check_counts;
mod command_line;
mod counterfactual;
mod counts_file;
mod diff;
mod diff_runs;
mod doctor;
mod event_list;
mod explain;
mod export;
mod flow;
mod host;
mod import;
mod input;
mod interval;
mod ladder;
mod lint;
mod list;
mod measure;
mod memory;
mod metric_files;
mod mode;
mod opened;
mod output;
mod per_function;
mod perf_stat;
mod pipeline;
mod plan;
mod program_pmu;
mod record;
mod regions;
mod report;
mod sampled;
mod signals;
mod spe;
mod stat;
mod stat_metrics;
mod sweep;
mod trace;
mod trace_parts;
mod validate;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use sim_core::shown_lines;

/// What a command found, if nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Done; whatever was checked holds.
    Good,
    /// A check failed.
    Refuted,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> ExitCode {
        match verdict {
            Verdict::Good => ExitCode::SUCCESS,
            Verdict::Refuted => ExitCode::from(1),
        }
    }
}

fn main() -> ExitCode {
    let done = signals::watch().and_then(|()| match perf_stat::called_as_perf() {
        Some(words) => perf_stat::play(&words).map(|()| ExitCode::SUCCESS),
        None => run_command_line(),
    });
    #[cfg(debug_assertions)]
    write_calls();
    match done {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when stderr is closed too.
            // What a file says of itself may be part of the message.
            let _ = writeln!(io::stderr(), "n2sim: {}", shown_lines(&message(&error)));
            ExitCode::from(2)
        }
    }
}

fn run_command_line() -> anyhow::Result<ExitCode> {
    match Args::try_parse() {
        Ok(args) => run(args.command),
        Err(error) if error.use_stderr() => error.exit(),
        // Help, or the version.
        Err(text) => {
            text.print()?;
            io::stdout().flush()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// For tests that make calls of the system fail or refuse memory: says how many calls there were, of what kind the failed
/// one was, and how often memory was reserved.
#[cfg(debug_assertions)]
fn write_calls() {
    if std::env::var_os("N2SIM_COUNT_CALLS").is_some() {
        let (made, failed) = sim_files::calls::made();
        let failed = failed.map_or_else(|| "none".to_owned(), |call| format!("{call:?}"));
        let _ = writeln!(io::stderr(), "n2sim: {made} calls of the system, failed: {failed}");
        let reserved = memory::refusals::most();
        let _ = writeln!(io::stderr(), "n2sim: {reserved} reservations of memory");
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    Ok(match command {
        Command::Bus(args) => bus::run(&args)?.into(),
        Command::Capture(args) => return capture::run(&args),
        Command::Check(args) if args.has_counts() => check_counts::run(&args)?.into(),
        Command::Check(args) => check::run(&args)?.into(),
        Command::Diff(args) => diff::run(&args)?.into(),
        Command::Doctor(args) => return doctor::run(&args),
        Command::Explain(args) => explain::run(&args)?.into(),
        Command::Flow(args) => flow::run(&args)?.into(),
        Command::Ladder(args) => ladder::run(&args)?.into(),
        Command::Lint(args) => lint::run(&args)?.into(),
        Command::List(args) => list::run(&args)?.into(),
        Command::PerfStat(args) => {
            perf_stat::run(&args)?;
            ExitCode::SUCCESS
        }
        Command::Pipeline(args) => pipeline::run(&args)?.into(),
        Command::Spe(args) => spe::run(&args)?.into(),
        Command::Record(args) => record::run(&args)?.into(),
        Command::Report(args) => report::run(&args)?.into(),
        Command::Stat(args) => stat::run(&args)?.into(),
        Command::Sweep(args) => sweep::run(&args)?.into(),
        Command::Trace(args) => trace::run(&args)?.into(),
        Command::Validate(args) => validate::run(&args)?.into(),
    })
}

/// The error and its causes in one sentence, without a cause that was told already.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    let first = error.chain().next().and_then(|cause| cause.downcast_ref::<io::Error>());
    if first.is_some_and(|first| !output::is_named(first)) {
        // Only the writers of reports fail without a place.
        message.push_str("cannot write the output");
    }
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// True when the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_standard_output_is_named() {
        let error = anyhow::Error::from(io::Error::other("no room"));
        assert_eq!(message(&error), "cannot write the output: no room");
        assert_eq!(message(&error.context("x.csv")), "x.csv: no room");
    }

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("no room").context("writing: no room").context("x.n2t");
        assert_eq!(message(&error), "x.n2t: writing: no room");
    }
}
