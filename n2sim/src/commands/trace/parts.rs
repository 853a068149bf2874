//! `n2sim trace slice` and `n2sim trace merge`: cut and join traces.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use sim_trace::{Join, Slice, TraceFile, WriterOptions};

use super::written::{check_different, write_written};
use crate::host::memory;
use crate::shared_args::{instructions, instructions_from_one};
use crate::verdict::Verdict;

/// Keep a part of a trace: some threads, and some instructions of each
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example: n2sim trace slice btree.n2t --start 2M --count 500k -o part.n2t")]
pub(crate) struct SliceArgs {
    /// The trace; it is not changed
    file: PathBuf,
    /// The trace to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Number of a thread's stream to keep (repeat for more; default: all)
    #[arg(long, value_name = "N")]
    stream: Vec<u32>,
    /// Position in each stream of the first instruction to keep (k, M and G are powers of 1000)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    start: u64,
    /// Instructions of each stream to keep (default: up to the end)
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    count: Option<u64>,
    /// Omit the order in which threads synchronized, so that no thread waits for another
    #[arg(long)]
    without_order: bool,
    /// Level of zstd: 3 to keep, 19 to archive
    #[arg(long, value_name = "N", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
    level: i32,
}

/// Join several traces of one program
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example: n2sim trace merge --as parts first.n2t second.n2t -o run.n2t")]
pub(crate) struct MergeArgs {
    /// The traces, in order; they are not changed
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// The trace to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Relation of the traces: parts or threads
    ///
    /// Each of several parts continues where the one before ended, with a gap. Threads run side by
    /// side in the same memory.
    #[arg(long = "as", value_name = "parts|threads", value_parser = join)]
    join: Join,
    /// Level of zstd: 3 to keep, 19 to archive
    #[arg(long, value_name = "N", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
    level: i32,
}

/// Reads the relation of merged traces by its name.
fn join(name: &str) -> Result<Join, String> {
    match name {
        "parts" => Ok(Join::Parts),
        "threads" => Ok(Join::Threads),
        _ => Err("known are parts, threads".into()),
    }
}

/// Writes the requested part.
pub(crate) fn slice(out: &mut impl Write, args: &SliceArgs) -> anyhow::Result<Verdict> {
    let SliceArgs { file, output, stream, start, count, without_order, level } = args;
    check_different(file, output)?;
    let end = count.map_or(u64::MAX, |count| start.saturating_add(count));
    let mut streams = stream.clone();
    streams.sort_unstable();
    streams.dedup();
    let what = Slice { streams, range: *start..end, without_order: *without_order };
    let summary = sim_trace::slice(
        &TraceFile::open_within(file, &memory::budget())?,
        &what,
        output,
        at_level(*level),
    )?;
    write_written(out, output, &summary)?;
    Ok(Verdict::Good)
}

/// Joins the traces.
pub(crate) fn merge(out: &mut impl Write, args: &MergeArgs) -> anyhow::Result<Verdict> {
    let MergeArgs { files, output, join, level } = args;
    for file in files {
        check_different(file, output)?;
    }
    let memory = memory::budget();
    let traces: Vec<TraceFile> =
        files.iter().map(|file| TraceFile::open_within(file, &memory)).collect::<Result<_, _>>()?;
    let summary = sim_trace::merge(&traces, *join, output, at_level(*level))?;
    write_written(out, output, &summary)?;
    Ok(Verdict::Good)
}

/// Returns the options of the written trace.
fn at_level(level: i32) -> WriterOptions {
    WriterOptions { level, ..WriterOptions::default() }
}
