//! `n2sim trace`: inspects, checks, converts and cuts trace files.

mod export;
mod import;
mod parts;
mod regions;
mod written;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args as ClapArgs, Subcommand};
use sim_asm::disassembly;
use sim_lab::kernels::Kernel;
use sim_report::Symbols;
use sim_report::export::Target;
use sim_trace::foreign::{Format, ImportOptions};
use sim_trace::{Report, TraceFile};

use crate::host::call;
use crate::host::memory;
use crate::shared_args::{instructions, instructions_from_one};
use crate::verdict::Verdict;
use parts::{MergeArgs, SliceArgs};
use regions::RegionsArgs;
use sim_core::Shown;
use written::{check_different, write_written};

/// zstd level of a recovered or mapped trace.
const RECOVERED_LEVEL: i32 = 9;
/// Faults that are listed one by one.
const FAULTS_SHOWN: usize = 20;

/// Inspect, check, convert or cut trace files
#[derive(Debug, ClapArgs)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    what: TraceWhat,
}

#[derive(Debug, Subcommand)]
enum TraceWhat {
    /// Print the origin and the size of a trace, and what it lacks
    Info {
        /// The trace
        file: PathBuf,
    },
    /// Read everything and report damage and contradictions
    Verify {
        /// The trace
        file: PathBuf,
    },
    /// Keep the good chunks of a damaged trace
    Recover {
        /// The damaged trace; it is not changed
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Rewrite a trace with another compression
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
    /// Write small programs, each bound by one known thing, as traces (docs/counterfactual.md)
    Kernels {
        /// Directory to write to; it is created if it is missing
        directory: PathBuf,
    },
    /// Rewrite a trace with the page map of a text file
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
        /// The trace, packed or not; or a directory with one file for each thread
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Format of the trace, if it is not recognized
        ///
        /// One of drmemtrace, tarmac, execlog, gem5-inst, gem5-exec, cvp1, champsim, cloudsuite or
        /// lackey.
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// The AArch64 program that ran
        ///
        /// The program gives words, names and the wrong path. ADDRESS is its load address, if it
        /// can be loaded anywhere.
        #[arg(long, value_name = "FILE[@ADDRESS]", value_parser = loaded_program)]
        elf: Option<LoadedProgram>,
        /// Maximum number of instructions to read (k, M and G are powers of 1000)
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
        /// Format: champsim or text
        ///
        /// champsim has records of 64 bytes; text has one line per instruction, like QEMU's
        /// execlog.
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

/// Reads the format of an exported trace.
fn target(name: &str) -> Result<Target, String> {
    match name {
        "champsim" => Ok(Target::Champsim),
        "text" => Ok(Target::Text),
        _ => Err("known are champsim, text".into()),
    }
}

/// A program's file and its load address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LoadedProgram(PathBuf, u64);

/// Reads a format by its name.
fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// Reads `FILE` or `FILE@0xADDRESS`.
fn loaded_program(text: &str) -> Result<LoadedProgram, String> {
    let Some((file, address)) = text.rsplit_once("@0x") else {
        return Ok(LoadedProgram(text.into(), 0));
    };
    let address = u64::from_str_radix(address, 16).map_err(|_| "give FILE@0xADDRESS")?;
    Ok(LoadedProgram(file.into(), address))
}

/// Writes every kernel.
fn kernels(out: &mut impl Write, directory: &Path) -> anyhow::Result<Verdict> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("{}: the directory cannot be created", directory.shown()))?;
    for kernel in Kernel::ALL {
        let path = directory.join(kernel.name()).with_extension("n2t");
        let summary = kernel.save(&path)?;
        write_written(out, &path, &summary)?;
    }
    Ok(Verdict::Good)
}

/// Runs the requested subcommand.
pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Verdict> {
    let mut out = io::BufWriter::new(call::stdout());
    let verdict = match &args.what {
        TraceWhat::Info { file } => {
            write!(out, "{}", sim_trace::info(&TraceFile::open_within(file, &memory::budget())?))?;
            Verdict::Good
        }
        TraceWhat::Verify { file } => verify(&mut out, file)?,
        TraceWhat::Recover { file, output } => recover(&mut out, file, output)?,
        TraceWhat::Repack { file, output, level } => {
            check_different(file, output)?;
            let summary = sim_trace::repack(
                &TraceFile::open_within(file, &memory::budget())?,
                output,
                *level,
            )?;
            write_written(&mut out, output, &summary)?;
            Verdict::Good
        }
        TraceWhat::Slice(args) => parts::slice(&mut out, args)?,
        TraceWhat::Merge(args) => parts::merge(&mut out, args)?,
        TraceWhat::Kernels { directory } => kernels(&mut out, directory)?,
        TraceWhat::Import { file, output, from, elf, limit } => {
            check_different(file, output)?;
            let elf = elf.clone().map(|LoadedProgram(path, bias)| (path, bias));
            let options = ImportOptions { from: *from, elf, limit: *limit };
            import::run(&mut out, file, output, &options)?;
            Verdict::Good
        }
        TraceWhat::Export { file, to, stream, output } => {
            if let Some(output) = output {
                check_different(file, output)?;
            }
            export::run(file, *to, *stream, output.as_deref())?;
            Verdict::Good
        }
        TraceWhat::Map { file, map, output } => {
            check_different(file, output)?;
            let place = map.shown();
            let text = sim_files::read_to_string(map)
                .with_context(|| format!("{place}: the page map cannot be read"))?;
            let map = text.parse().with_context(|| format!("{place}: no page map"))?;
            let trace = TraceFile::open_within(file, &memory::budget())?;
            let summary = sim_trace::repack_with_map(&trace, output, RECOVERED_LEVEL, &map)?;
            write_written(&mut out, output, &summary)?;
            Verdict::Good
        }
        TraceWhat::Regions(args) => {
            check_different(&args.file, &args.output)?;
            regions::run(&mut out, args)?;
            Verdict::Good
        }
        TraceWhat::Dump { file, stream, start, count } => {
            dump(&mut out, file, *stream, *start, *count)?;
            Verdict::Good
        }
    };
    out.flush()?;
    Ok(verdict)
}

fn verify(out: &mut impl Write, file: &Path) -> anyhow::Result<Verdict> {
    let report = sim_trace::verify_file(&TraceFile::open_within(file, &memory::budget())?)?;
    writeln!(
        out,
        "{}: {} chunks, {} instructions, {} accesses, {} events",
        file.shown(),
        report.chunks,
        report.instructions,
        report.accesses,
        report.events
    )?;
    write_faults(out, &report)?;
    if report.gaps > 0 {
        writeln!(
            out,
            "  {} gaps; {} instructions are known to be absent",
            report.gaps, report.lost
        )?;
    }
    if report.index_rebuilt {
        writeln!(out, "  the index was lost and rebuilt from the chunk headers")?;
    }
    if let Some((stream, position)) = report.first_unexplained {
        writeln!(
            out,
            "  {} instructions cannot follow the one before; the first is {position} of stream \
             {stream}",
            report.unexplained
        )?;
    }
    if report.misplaced_registers > 0 {
        writeln!(
            out,
            "  {} register events do not follow an MRS or MSR of their register",
            report.misplaced_registers
        )?;
    }
    write_order(out, &report)?;
    if !report.is_good() {
        return Ok(Verdict::Refuted);
    }
    writeln!(out, "  intact")?;
    Ok(Verdict::Good)
}

/// Writes whether the order in which threads synchronized is possible.
fn write_order(out: &mut impl Write, report: &Report) -> io::Result<()> {
    if let Some((stream, position)) = report.first_misordered {
        writeln!(
            out,
            "  {} of {} tickets do not rise or are there twice; the first is that of instruction {position} \
             of stream {stream}",
            report.misordered_tickets, report.tickets
        )
    } else if report.tickets > 0 {
        writeln!(out, "  {} tickets order the threads", report.tickets)
    } else {
        Ok(())
    }
}

/// Writes the faults and the size of the good part.
fn write_faults(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for fault in report.faults.iter().take(FAULTS_SHOWN) {
        writeln!(out, "  {fault}")?;
    }
    if report.faults.len() > FAULTS_SHOWN {
        writeln!(out, "  and {} more faults", report.faults.len() - FAULTS_SHOWN)?;
    }
    if !report.faults.is_empty() {
        let good = report.chunks as usize - report.faults.len();
        writeln!(
            out,
            "  {good} of {} chunks are good, with {} of {} instructions",
            report.chunks, report.instructions, report.promised
        )?;
    }
    Ok(())
}

/// Writes the good chunks. Prints the fault of the first damaged one.
fn recover(out: &mut impl Write, file: &Path, output: &Path) -> anyhow::Result<Verdict> {
    check_different(file, output)?;
    let (trace, damage) = TraceFile::recover_within(file, &memory::budget())?;
    let summary = sim_trace::repack(&trace, output, RECOVERED_LEVEL)?;
    match damage {
        Some(damage) => writeln!(out, "{damage}")?,
        None => writeln!(out, "{}: no chunk is damaged", file.shown())?,
    }
    write_written(out, output, &summary)?;
    Ok(Verdict::Good)
}

fn dump(
    out: &mut impl Write,
    path: &Path,
    stream: Option<u32>,
    start: u64,
    count: u64,
) -> anyhow::Result<()> {
    let file = TraceFile::open_within(path, &memory::budget())?;
    let known = || file.streams().iter().map(|info| info.stream);
    let list = || known().map(|stream| stream.to_string()).collect::<Vec<_>>().join(", ");
    let stream = match stream {
        None => known().next().with_context(|| format!("{}: no streams", path.shown()))?,
        Some(stream) if known().any(|known| known == stream) => stream,
        Some(stream) => {
            anyhow::bail!("{}: no stream {stream}; the streams are: {}", path.shown(), list())
        }
    };
    let info = file.streams().iter().find(|info| info.stream == stream);
    let length = info.map_or(0, |info| info.instructions);
    if start >= length {
        let place = path.shown();
        anyhow::bail!("{place}: --start {start}: stream {stream} has {length} instructions");
    }
    let range = start..start.saturating_add(count);
    let symbols = Symbols::from_trace(&file);
    let describe = |pc: u64, word: u32| {
        let text = disassembly::text(pc, word);
        match symbols.function(pc) {
            Some(_) => format!("{:<24} {text}", symbols.name(pc)),
            None => text,
        }
    };
    sim_trace::dump(&file, stream, range, &describe, out)?;
    Ok(())
}
