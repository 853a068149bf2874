//! `cargo xtask multiplex`: counts all 147 events of every trace multiplexed on six counters, with
//! several lengths of a time slice in one run.
//!
//! It writes `docs/multiplexing.md` with its figure and data table.

mod page;

use std::path::Path;

use anyhow::{Context, Result};
use sim_report::figure::multiplexing::errors;
use sim_tests::multiplex::{Estimates, estimates};
use sim_tests::{files_below, repository};

/// Lengths of a time slice, in nanoseconds; the last is perf's.
const TICKS_NS: [u64; 13] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 1_000_000,
    4_000_000,
];

/// Options of `cargo xtask multiplex`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of instructions of each thread (default: all); print figures and write nothing
    #[arg(long)]
    limit: Option<u64>,
}

/// Measures, and writes the page; with a limit it only prints the table by time slice.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let traces = files_below(&repository().join("traces"), "n2t");
    let mut found = Vec::new();
    for trace in &traces {
        println!("{}", trace.display());
        let context = || format!("counting {}", trace.display());
        found.push(estimates(trace, &TICKS_NS, args.limit).with_context(context)?);
    }
    anyhow::ensure!(!found.is_empty(), "there is no trace below traces/");
    if args.limit.is_some() {
        print!("{}", page::by_slice(&TICKS_NS, &found));
        return Ok(true);
    }
    write_all(&repository().join("docs"), &found)?;
    Ok(true)
}

fn write_all(docs: &Path, found: &[Estimates]) -> Result<()> {
    let default_tick_ns = TICKS_NS[TICKS_NS.len() - 1];
    let files = [
        ("multiplexing.md", page::page(&TICKS_NS, found)),
        ("multiplexing.tsv", page::data(&TICKS_NS, found)),
        ("figures/multiplexing.svg", errors(&page::points(&TICKS_NS, found), default_tick_ns)),
    ];
    for (name, text) in files {
        let path = docs.join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
