//! Ends writing commands early, by signals and by full or read-only disks, and counts the files
//! that they leave.

mod commands;
mod disks;
mod kills;

use std::path::PathBuf;

use anyhow::{Context, Result};

use commands::Bench;

/// Options of `cargo xtask endings`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of runs to end by signals, over all commands and signals
    #[arg(long, default_value_t = 1000)]
    kills: usize,
    /// Number of runs on disks that become full, over all commands; each command also runs once on
    /// a read-only disk. Both need root, to mount the disks; 0 skips both
    #[arg(long, default_value_t = 300)]
    disks: usize,
    /// Program to end
    #[arg(long, default_value = "target/release/n2sim")]
    program: PathBuf,
    /// Seed of the random times and sizes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Ends commands and prints two tables. Returns false if a file is left that should not be.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let program = args.program.canonicalize().context("build n2sim first, or give --program")?;
    let bench = Bench::new(program)?;
    let kills = kills::run(&bench, args.kills, args.seed)?;
    let disks = disks::run(&bench, args.disks, args.seed)?;
    Ok(kills && disks)
}
