//! `n2sim`: replays recorded AArch64 programs on a model of the Arm Neoverse N2 and counts its PMU
//! events. This file selects the command and turns its result into an exit code.
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
mod shared_args;
mod verdict;

use std::io::{self, Write};
use std::process::ExitCode;

use args::{Args, Command};
use clap::CommandFactory;
use commands::perf_stat;
use host::signals;
use sim_core::shown_lines;

fn main() -> ExitCode {
    let done = signals::watch().and_then(|()| match perf_stat::called_as_perf() {
        Some(words) => perf_stat::play(&words).map(|()| ExitCode::SUCCESS),
        None => run_command_line(),
    });
    #[cfg(debug_assertions)]
    write_calls();
    match done {
        Ok(code) => code,
        Err(error) if failure::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // The message may contain text of an input file, and stderr may be closed.
            let message = failure::message(&error);
            let _ = writeln!(io::stderr(), "n2sim: {}", shown_lines(&message));
            ExitCode::from(2)
        }
    }
}

fn run_command_line() -> anyhow::Result<ExitCode> {
    match Args::read(old_forms::current(std::env::args_os().collect())) {
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

/// Prints the number of system calls, the kind of the failed one, and the number of memory
/// reservations. For tests that make system calls fail or refuse memory.
#[cfg(debug_assertions)]
fn write_calls() {
    if std::env::var_os("N2SIM_COUNT_CALLS").is_some() {
        let (made, failed) = sim_files::calls::made();
        let failed = failed.map_or_else(|| "none".to_owned(), |call| format!("{call:?}"));
        let _ = writeln!(io::stderr(), "n2sim: {made} calls of the system, failed: {failed}");
        let reserved = host::memory::refusals::most();
        let _ = writeln!(io::stderr(), "n2sim: {reserved} reservations of memory");
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    Ok(match command {
        Command::Capture(args) => return commands::capture::run(&args),
        Command::Check(args) => commands::check::run(&args)?.into(),
        Command::Completions(args) => commands::completions::run(&args, Args::command())?.into(),
        Command::Counterfactual(args) => commands::counterfactual::run(&args)?.into(),
        Command::Diff(args) => commands::diff::run(&args)?.into(),
        Command::Doctor(args) => return commands::doctor::run(&args),
        Command::Estimate(args) => commands::estimate::run(&args)?.into(),
        Command::EventBus(args) => commands::event_bus::run(&args)?.into(),
        Command::Explain(args) => commands::explain::run(&args)?.into(),
        Command::Flow(args) => commands::flow::run(&args)?.into(),
        Command::Functions(args) => commands::functions::run(&args)?.into(),
        Command::Lint(args) => commands::lint::run(&args)?.into(),
        Command::List(args) => commands::list::run(&args)?.into(),
        Command::Man(args) => commands::man::run(&args, Args::command())?.into(),
        Command::Mcp(args) => commands::mcp::run(&args)?.into(),
        Command::Membench(args) => commands::membench::run(&args)?.into(),
        Command::PerfStat(args) => {
            perf_stat::run(&args)?;
            ExitCode::SUCCESS
        }
        Command::Pipeline(args) => commands::pipeline::run(&args)?.into(),
        Command::Plan(args) => commands::plan::run(&args)?.into(),
        Command::ProgramPmu(args) => commands::program_pmu::run(&args)?.into(),
        Command::Record(args) => commands::record::run(&args)?.into(),
        Command::Report(args) => commands::report::run(&args)?.into(),
        Command::Run(args) => return commands::run::run(&args),
        Command::Spe(args) => commands::spe::run(&args)?.into(),
        Command::Stat(args) => commands::stat::run(&args)?.into(),
        Command::Sweep(args) => commands::sweep::run(&args)?.into(),
        Command::Trace(args) => commands::trace::run(&args)?.into(),
        Command::Validate(args) => commands::validate::run(&args)?.into(),
    })
}
