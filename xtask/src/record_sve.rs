//! Adds what a recording of an SVE program lacks: predicates, and where each element went.
//!
//! QEMU 7.2 tells its plugins nothing about SVE accesses. Its debugger interface shows every register,
//! though, so the program runs a second time and stops at each SVE instruction. Both runs execute the same
//! instructions: the programs of `traces/src` depend on nothing outside.

mod debugger;
mod elements;
mod merge;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use sim_trace::TraceFile;

/// A recording and the program that it is of.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program.
    program: PathBuf,
    /// What `n2sim capture` recorded of it.
    trace: PathBuf,
    /// The trace to write.
    #[arg(short, long)]
    output: PathBuf,
    /// Processor that the engine plays.
    #[arg(long, default_value = "max,sve128=on,sve256=off")]
    cpu: String,
    /// The engine.
    #[arg(long, default_value = "qemu-aarch64")]
    engine: String,
}

/// Runs the program again and writes the merged trace.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let file = TraceFile::open(&args.trace)?;
    ensure!(file.streams().len() == 1, "a program of one thread is needed");
    let places = elements::places(&file);
    let mut debugger = debugger::Debugger::start(&args.engine, &args.cpu, &args.program)
        .context("starting the engine with its debugger interface")?;
    let seen = elements::watch(&mut debugger, &places)?;
    let written = merge::write(&file, &places, &seen, &args.output)?;
    println!(
        "{}: {} instructions, {} blocks, {} accesses, 1 thread; {} SVE instructions, {} first-fault loads \
         ended early",
        args.output.display(),
        written.instructions,
        written.blocks,
        written.accesses,
        seen.records.len(),
        seen.ended_early
    );
    Ok(true)
}
