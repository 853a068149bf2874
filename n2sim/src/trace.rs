//! `n2sim trace`: what a trace file is, whether it is intact, and what stands in it.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_lab::kernels::Kernel;
use sim_report::{Symbols, disassembly};
use sim_trace::foreign::ImportOptions;
use sim_trace::{Report, Summary, TraceFile};

use crate::Verdict;
use crate::args::{LoadedProgram, TraceArgs, TraceWhat};
use crate::memory;
use crate::{command_line, export, import, regions, trace_parts};
use sim_core::Shown;

/// zstd level of a recovered or mapped trace.
const RECOVERED_LEVEL: i32 = 9;
/// Faults that are listed one by one.
const FAULTS_SHOWN: usize = 20;

/// Writes every kernel that is bound by one known thing.
fn kernels(out: &mut impl Write, folder: &Path) -> anyhow::Result<Verdict> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.shown()))?;
    for kernel in Kernel::ALL {
        let path = folder.join(kernel.name()).with_extension("n2t");
        let summary = kernel.save(&path)?;
        write_written(out, &path, &summary)?;
    }
    Ok(Verdict::Good)
}

/// Does what was asked for with the trace.
pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Verdict> {
    let mut out = io::BufWriter::new(io::stdout().lock());
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
        TraceWhat::Slice(args) => trace_parts::slice(&mut out, args)?,
        TraceWhat::Merge(args) => trace_parts::merge(&mut out, args)?,
        TraceWhat::Kernels { folder } => kernels(&mut out, folder)?,
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
            "  {} register events do not stand behind an MRS or MSR of their register",
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

/// Whether threads synchronized in an order that can be.
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

/// The faults, and what is good beside them.
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

/// Writes the good chunks; says what was wrong with the first that is not.
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

/// A trace that is read must not be written at the same time.
pub(crate) fn check_different(file: &Path, output: &Path) -> anyhow::Result<()> {
    let same = |a: &Path, b: &Path| Some(a.canonicalize().ok()? == b.canonicalize().ok()?);
    if same(file, output) == Some(true) {
        anyhow::bail!("{}: give another file to write (-o)", output.shown());
    }
    command_line::refuse_input(output)
}

pub(crate) fn write_written(
    out: &mut impl Write,
    output: &Path,
    summary: &Summary,
) -> io::Result<()> {
    let (instructions, bytes) = (summary.instructions, summary.file_bytes);
    writeln!(out, "{}: {instructions} instructions, {bytes} bytes", output.shown())
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
