//! `n2sim trace`: what a trace file is, whether it is intact, and what stands in it.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_isa::{BranchKind, MemOp, Special};
use sim_trace::TraceFile;

use crate::Verdict;
use crate::args::{TraceArgs, TraceWhat};

/// Faults that are listed one by one.
const FAULTS_SHOWN: usize = 20;

/// Does what was asked for with the trace.
pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Verdict> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let verdict = match &args.what {
        TraceWhat::Info { file } => {
            write!(out, "{}", sim_trace::info(&TraceFile::open(file)?))?;
            Verdict::Good
        }
        TraceWhat::Verify { file } => verify(&mut out, file)?,
        TraceWhat::Dump { file, stream, start, count } => {
            dump(&mut out, file, *stream, *start, *count)?;
            Verdict::Good
        }
    };
    out.flush()?;
    Ok(verdict)
}

fn verify(out: &mut impl Write, file: &Path) -> anyhow::Result<Verdict> {
    let report = sim_trace::verify(file)?;
    writeln!(
        out,
        "{}: {} chunks, {} instructions, {} accesses, {} events",
        file.display(),
        report.chunks,
        report.instructions,
        report.accesses,
        report.events
    )?;
    for fault in report.faults.iter().take(FAULTS_SHOWN) {
        writeln!(out, "  {fault}")?;
    }
    if report.faults.len() > FAULTS_SHOWN {
        writeln!(out, "  and {} more faults", report.faults.len() - FAULTS_SHOWN)?;
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
    if !report.is_good() {
        return Ok(Verdict::Refuted);
    }
    writeln!(out, "  intact")?;
    Ok(Verdict::Good)
}

fn dump(
    out: &mut impl Write,
    path: &Path,
    stream: Option<u32>,
    start: u64,
    count: u64,
) -> anyhow::Result<()> {
    let file = TraceFile::open(path)?;
    let known = || file.streams().iter().map(|info| info.stream);
    let list = || known().map(|stream| stream.to_string()).collect::<Vec<_>>().join(", ");
    let stream = match stream {
        None => known().next().with_context(|| format!("{}: no streams", path.display()))?,
        Some(stream) if known().any(|known| known == stream) => stream,
        Some(stream) => {
            anyhow::bail!("{}: no stream {stream}; there are {}", path.display(), list())
        }
    };
    let range = start..start.saturating_add(count);
    sim_trace::dump(&file, stream, range, &describe, out)?;
    Ok(())
}

/// What the decoder makes of a word: how it touches memory, how it branches, what is special.
fn describe(_address: u64, word: u32) -> String {
    let inst = sim_isa::decode(word);
    let mut parts = Vec::new();
    if inst.mem.op != MemOp::None {
        parts.push(format!("{:?} {} bytes", inst.mem.op, inst.mem.bytes));
    }
    if inst.branch != BranchKind::None {
        parts.push(format!("branch {:?}", inst.branch));
    }
    if inst.special != Special::None {
        parts.push(format!("{:?}", inst.special));
    }
    parts.join(", ").to_lowercase()
}
