//! The command line of `n2sim trace`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use sim_report::export::Target;
use sim_trace::foreign::Format;

use super::{instructions, instructions_from_one};
use crate::regions::RegionsArgs;
use crate::trace_parts::{MergeArgs, SliceArgs};

#[derive(Debug, ClapArgs)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) what: TraceWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceWhat {
    /// Where a trace comes from, its size, and what it does not contain
    Info {
        /// The trace
        file: PathBuf,
    },
    /// Read everything, and say what is damaged or cannot be
    Verify {
        /// The trace
        file: PathBuf,
    },
    /// Keep what is good of a damaged trace
    Recover {
        /// The damaged trace; it is not changed
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Write a trace again with another compression
    Repack {
        /// The trace; it is not changed
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Level of zstd: 3 to keep, 19 to archive
        #[arg(long, value_name = "N", default_value_t = 19)]
        #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
        level: i32,
    },
    Slice(SliceArgs),
    Merge(MergeArgs),
    /// Write small programs as traces that are bound by one known thing each (docs/counterfactual.md)
    Kernels {
        /// Folder to write to; it is made if it is missing
        folder: PathBuf,
    },
    /// Write a trace again with the page map of a text file in place of its own
    Map {
        /// The trace; it is not changed
        file: PathBuf,
        /// Lines `granule,BYTES` and `VIRTUAL,BYTES,PHYSICAL,ATTRIBUTES` (docs/trace-format.md)
        map: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Read a trace of another tool (docs/foreign-traces.md)
    #[command(after_help = "Examples: n2sim trace import run.execlog.gz -o run.n2t\n          \
        n2sim trace import --elf a.out lackey.txt -o run.n2t")]
    Import {
        /// The trace, packed or not; or a folder with one file for each thread
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Its format, if it is not recognized: drmemtrace, tarmac, execlog, gem5-inst, gem5-exec,
        /// cvp1, champsim, cloudsuite or lackey
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// The AArch64 program that ran: for words and names, and for the wrong path; where it was
        /// loaded, if it can be loaded anywhere
        #[arg(long, value_name = "FILE[@ADDRESS]", value_parser = loaded_program)]
        elf: Option<LoadedProgram>,
        /// Instructions to read at most (k, M and G are powers of 1000)
        #[arg(long, value_name = "N", value_parser = instructions_from_one)]
        limit: Option<u64>,
    },
    /// Write a trace for other simulators
    #[command(
        after_help = "Example: n2sim trace export --to champsim traces/sort.n2t | xz > sort.champsimtrace.xz"
    )]
    Export {
        /// The trace
        file: PathBuf,
        /// champsim (records of 64 bytes) or text (one line per instruction, as QEMU's execlog has it)
        #[arg(long, value_name = "FORMAT", value_parser = target)]
        to: Target,
        /// Number of the thread's stream (default: all; ChampSim has one)
        #[arg(long, value_name = "N")]
        stream: Option<u32>,
        /// Write to FILE instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    Regions(RegionsArgs),
    /// Print instructions, one per line
    Dump {
        /// The trace
        file: PathBuf,
        /// Number of the thread's stream (default: the first)
        #[arg(long, value_name = "N")]
        stream: Option<u32>,
        /// Position of the first instruction in the stream
        #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
        start: u64,
        /// Instructions to print
        #[arg(long, value_name = "N", value_parser = instructions, default_value = "1000")]
        count: u64,
    },
}

/// What a trace is written as, by its name.
fn target(name: &str) -> Result<Target, String> {
    match name {
        "champsim" => Ok(Target::Champsim),
        "text" => Ok(Target::Text),
        _ => Err("known are champsim, text".into()),
    }
}

/// A program's file, and where it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedProgram(pub(crate) PathBuf, pub(crate) u64);

/// A format by its name.
fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// `FILE`, or `FILE@0xADDRESS`.
fn loaded_program(text: &str) -> Result<LoadedProgram, String> {
    let Some((file, address)) = text.rsplit_once("@0x") else {
        return Ok(LoadedProgram(text.into(), 0));
    };
    let address = u64::from_str_radix(address, 16).map_err(|_| "give FILE@0xADDRESS")?;
    Ok(LoadedProgram(file.into(), address))
}
