//! `n2sim litmus`: cases of the scenarios and kernels as a C program for real machines, and what a
//! machine counted beside the claims.

mod all_cases;
mod check;
mod export;
mod judged;
mod page;
mod replay;

use clap::{Args as ClapArgs, Subcommand};

use crate::verdict::Verdict;

/// Count the cases of the scenarios and kernels on a real machine, and compare
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim litmus export litmus\n          \
    cc -O1 -o litmus/litmus litmus/litmus.c; litmus/litmus -o result.json\n          \
    n2sim litmus check result.json\n          \
    n2sim capture -o cases.n2t -- litmus/litmus --replay; n2sim litmus replay cases.n2t -o model.json")]
pub(crate) struct LitmusArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Export(export::ExportArgs),
    Check(check::CheckArgs),
    Replay(replay::ReplayArgs),
}

/// Exports, replays or compares.
pub(crate) fn run(args: &LitmusArgs) -> anyhow::Result<Verdict> {
    match &args.what {
        What::Export(args) => export::run(args),
        What::Check(args) => check::run(args),
        What::Replay(args) => replay::run(args),
    }
}
