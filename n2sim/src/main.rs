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
    let done = match perf_stat::called_as_perf() {
        Some(words) => perf_stat::play(&words).map(|()| ExitCode::SUCCESS),
        None => run(Args::parse().command),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when stderr is closed too.
            let _ = writeln!(io::stderr(), "n2sim: {}", message(&error));
            ExitCode::from(2)
        }
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
    if error.chain().next().is_some_and(|cause| cause.is::<io::Error>()) {
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
