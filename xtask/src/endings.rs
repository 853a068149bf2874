//! Ends writing commands early, by signals and by disks that are full or cannot be written, and counts what
//! they leave behind.

mod commands;
mod disks;
mod kills;

use std::path::PathBuf;

use anyhow::{Context, Result};

use commands::Bench;

/// Arguments of `cargo xtask endings`: the program that is ended, and how often.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs that signals end, over all commands and signals
    #[arg(long, default_value_t = 1000)]
    kills: usize,
    /// Runs on disks that become full, over all commands; each command also runs once on a read-only disk. Both need root,
    /// to mount the disks; 0 leaves both out
    #[arg(long, default_value_t = 300)]
    disks: usize,
    /// The program
    #[arg(long, default_value = "target/release/n2sim")]
    program: PathBuf,
    /// Start of the random times and sizes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Ends commands and prints two tables. Returns false if something is left that should not be.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let program = args.program.canonicalize().context("build n2sim first, or give --program")?;
    let bench = Bench::new(program)?;
    let kills = kills::run(&bench, args.kills, args.seed)?;
    let disks = disks::run(&bench, args.disks, args.seed)?;
    Ok(kills && disks)
}
