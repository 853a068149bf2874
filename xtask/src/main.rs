//! Tasks of the project's developers: `cargo run -p xtask -- COMMAND`.
#![allow(clippy::print_stdout, reason = "a developer tool prints to stdout")]

mod accuracy;
mod bench_compare;
mod check_traces;
mod compare_mca;
mod compare_simulator;
mod condition_mutants;
mod conformance;
mod counterfactual;
mod endings;
mod explain_index;
mod formulas;
mod fuzz;
mod isa_check;
mod loaded_latency;
mod long_run;
mod modes;
mod multiplex;
mod oracle;
mod pgo;
mod regions;
mod sanitize;
mod sbom;
mod silicon;
mod twins;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks and tasks that are not part of the product.
#[derive(Parser)]
#[command(name = "xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare the instruction decoder with an independent one on real arm64 libraries.
    IsaCheck(isa_check::Args),
    /// Replay whole traces and check every rule that their counts must keep.
    CheckTraces(check_traces::Args),
    /// Run llvm-mca on the kernels below tests/kernels and save its figures.
    CompareMca(compare_mca::Args),
    /// Write docs/accuracy.md: instruction costs, published targets, prediction.
    Accuracy(accuracy::Args),
    /// Compare the speed of another revision with that of the working tree.
    BenchCompare(bench_compare::Args),
    /// Run another simulator and n2sim on the same instructions; compare speed and counts.
    CompareSimulator(compare_simulator::Args),
    /// Make each condition of the model wrong and list those that no test notices.
    ConditionMutants(condition_mutants::Args),
    /// Write docs/conformance.md from the scenarios.
    Conformance,
    /// Write the tables of docs/counterfactual.md: cycles that ideal runs save, beside the ledger.
    Counterfactual(counterfactual::Args),
    /// Write the index of `n2sim explain` from the scenarios.
    ExplainIndex,
    /// Write docs/multiplexing.md: the error of multiplexing all events on six counters.
    Multiplex(multiplex::Args),
    /// End writing commands by signals and full disks, and count the files that they leave.
    Endings(endings::Args),
    /// Write docs/loaded-latency.md: latency and bandwidth of memory under load.
    LoadedLatency(loaded_latency::Args),
    /// Replay a trace until an event has passed 2^32, and compare chained counters with true
    /// counts.
    LongRun(long_run::Args),
    /// Write the tables of docs/modes.md: error and speed of partial machines.
    Modes(modes::Args),
    /// Fit hidden machines with `n2sim calibrate`, and check the intervals.
    Twins(twins::Args),
    /// Write docs/formulas.md: the meaning and the errors of metric formulas.
    Formulas,
    /// Feed every reader with malformed input, for a time, and print the results.
    Fuzz(fuzz::Args),
    /// Compare the memory model with an independent one on random sequences.
    Oracle(oracle::Args),
    /// Build n2sim with a profile of itself.
    Pgo(pgo::Args),
    /// Write the tables and the figure of docs/regions.md: sampled simulation beside whole runs.
    Regions(regions::Args),
    /// Run tests under Miri, the thread sanitizer and the address sanitizer.
    Sanitize(sanitize::Args),
    /// Write the components of a built n2sim as a CycloneDX document.
    Sbom(sbom::Args),
    /// Write docs/silicon.md: public measurements of two machines beside the model.
    Silicon(silicon::Args),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::IsaCheck(args) => isa_check::run(&args),
        Command::CheckTraces(args) => Ok(check_traces::run(&args)),
        Command::CompareMca(args) => compare_mca::run(&args),
        Command::CompareSimulator(args) => compare_simulator::run(&args),
        Command::ConditionMutants(args) => condition_mutants::run(&args),
        Command::Accuracy(args) => accuracy::run(&args),
        Command::BenchCompare(args) => bench_compare::run(&args),
        Command::Conformance => conformance::run(),
        Command::Counterfactual(args) => counterfactual::run(&args),
        Command::ExplainIndex => explain_index::run(),
        Command::Multiplex(args) => multiplex::run(&args),
        Command::Endings(args) => endings::run(&args),
        Command::LoadedLatency(args) => loaded_latency::run(&args),
        Command::LongRun(args) => long_run::run(&args),
        Command::Modes(args) => modes::run(&args),
        Command::Twins(args) => twins::run(&args),
        Command::Formulas => formulas::run(),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Oracle(args) => Ok(oracle::run(&args)),
        Command::Pgo(args) => pgo::run(&args),
        Command::Regions(args) => regions::run(&args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::Sbom(args) => sbom::run(&args),
        Command::Silicon(args) => silicon::run(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
