//! Text output of a trace: a summary, and its instructions one per line.

use std::fmt;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::path::Path;

use sim_core::{Activity, InstFlags, Shown, TraceInst};

use crate::error::TraceError;
use crate::event::EventAt;
use crate::file::{StreamInfo, TraceFile};
use crate::layout::ChunkKind;
use crate::meta::{MappedFile, Meta};

/// Summary of a trace, printed by `n2sim trace info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Major and minor version of the format.
    pub version: (u16, u16),
    /// Content hash.
    pub hash: u64,
    /// Size of the file in bytes.
    pub file_bytes: u64,
    /// Origin and limits.
    pub meta: Meta,
    /// Streams of all threads.
    pub streams: Vec<StreamInfo>,
    /// Number of distinct blocks.
    pub blocks: usize,
    /// Number of distinct instructions.
    pub static_insts: usize,
    /// Number of code pages.
    pub pages: usize,
    /// Number of entries, mapped bytes and granule of the page map, if the trace has one.
    pub page_map: Option<(usize, u64, u64)>,
    /// Bytes of the file in META, IMAGE, BLOCKS, STREAM and other chunks.
    pub bytes_by_kind: [(&'static str, u64); 5],
    /// True if the trace contains the order in which threads synchronized.
    pub has_tickets: bool,
    /// True if the index was lost and rebuilt.
    pub index_rebuilt: bool,
}

/// Returns the summary of a trace. Does not read its streams.
pub fn info<R: Read + Seek>(file: &TraceFile<R>) -> Info {
    let mut bytes = [("META", 0), ("IMAGE", 0), ("BLOCKS", 0), ("STREAM", 0), ("other", 0)];
    for entry in file.chunks() {
        let row = match entry.header.kind {
            ChunkKind::Meta => 0,
            ChunkKind::Image => 1,
            ChunkKind::Blocks => 2,
            ChunkKind::Stream => 3,
            _ => 4,
        };
        bytes[row].1 += entry.header.total_bytes();
    }
    Info {
        version: file.version(),
        hash: file.hash(),
        file_bytes: file.file_bytes(),
        meta: file.meta().clone(),
        streams: file.streams().to_vec(),
        blocks: file.statics().blocks(),
        static_insts: file.statics().len(),
        pages: file.image().len(),
        page_map: file.page_map().map(|m| (m.entries().len(), m.mapped_bytes(), m.granule())),
        bytes_by_kind: bytes,
        has_tickets: file.has_tickets(),
        index_rebuilt: file.index_rebuilt(),
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Meta {
            producer,
            command,
            engine,
            cpu,
            gaps,
            lacks,
            recipe,
            symbols,
            files,
            notes,
            machine,
        } = &self.meta;
        writeln!(
            f,
            "format        {}.{}, hash {:016x}",
            self.version.0, self.version.1, self.hash
        )?;
        writeln!(f, "command       {}", command.join(" ").shown())?;
        writeln!(f, "producer      {}", producer.shown())?;
        writeln!(f, "engine        {}, cpu {}", engine.shown(), cpu.shown())?;
        writeln!(
            f,
            "machine       MIDR {:#x}, {}-byte vectors, {}-byte DC ZVA, {}-byte pages{}",
            machine.midr,
            machine.vector_bytes,
            machine.dc_zva_bytes,
            machine.page_bytes,
            if machine.full_system { ", kernel included" } else { "" }
        )?;
        if let Some(recipe) = recipe {
            writeln!(f, "recipe        {}", recipe.shown())?;
        }
        if !lacks.is_empty() {
            let labels: Vec<_> = lacks.iter().map(|missing| missing.label()).collect();
            writeln!(f, "lacks         {}", labels.join(", "))?;
        }
        for gap in gaps {
            writeln!(f, "gap           {}", gap.shown())?;
        }
        for (key, value) in notes {
            writeln!(f, "{:<13} {}", key.shown(), value.shown())?;
        }
        writeln!(
            f,
            "code          {} blocks, {} instructions, {} pages, {} symbols",
            self.blocks,
            self.static_insts,
            self.pages,
            symbols.len()
        )?;
        for MappedFile { path, build_id, start, .. } in files {
            let id = build_id.as_deref().unwrap_or("none");
            writeln!(f, "file          {} at {start:#x}, build id {}", path.shown(), id.shown())?;
        }
        if let Some((entries, bytes, granule)) = self.page_map {
            writeln!(
                f,
                "page map      {entries} entries, {bytes} bytes mapped, granule {granule}"
            )?;
        }
        if self.has_tickets {
            writeln!(f, "order         threads synchronize as recorded (tickets)")?;
        }
        self.write_streams(f)
    }
}

impl Info {
    fn write_streams(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for StreamInfo { stream, instructions, accesses, events, blocks, chunks } in &self.streams {
            writeln!(
                f,
                "stream {stream:<6} {instructions} instructions, {blocks} block runs, \
                 {accesses} addresses, {events} events, {} chunks",
                chunks.len()
            )?;
        }
        let instructions: u64 = self.streams.iter().map(|s| s.instructions).sum();
        write!(f, "size          {} bytes", self.file_bytes)?;
        if instructions > 0 {
            let per_inst = self.file_bytes as f64 / instructions as f64;
            write!(f, ", {per_inst:.4} per instruction")?;
        }
        for (kind, bytes) in self.bytes_by_kind.iter().filter(|(_, bytes)| *bytes > 0) {
            write!(f, ", {kind} {bytes}")?;
        }
        if self.index_rebuilt {
            write!(f, "\nindex         lost, rebuilt from the chunk headers")?;
        }
        writeln!(f)
    }
}

/// Writes the instructions `range` of `stream`, one per line: position, address, word, data address
/// and flags. An event has its own line before the next instruction. `describe` returns a further
/// column, such as the disassembly, for an address and a word.
///
/// # Errors
/// The trace is damaged in this range, or writing to `out` fails.
pub fn dump<R: Read + Seek>(
    file: &TraceFile<R>,
    stream: u32,
    range: Range<u64>,
    describe: &dyn Fn(u64, u32) -> String,
    out: &mut dyn Write,
) -> Result<(), TraceError> {
    let mut reader = file.reader_at(stream, range.start)?;
    let mut batch: Vec<TraceInst> = Vec::new();
    while reader.next_batch(&mut batch)? {
        let start = reader.batch_start();
        if start >= range.end && start > 0 {
            break;
        }
        let mut events = reader.events().iter().peekable();
        for (inst, i) in batch.iter().zip(0u32..) {
            while let Some(event) = events.next_if(|e| e.position <= i) {
                write_event(event, start, &range, out)?;
            }
            if range.contains(&(start + u64::from(i))) {
                let code = file.statics().insts()[inst.id as usize];
                let text = describe(code.pc, code.word);
                let (addr, flags) = (address(inst), Flags(inst.flags));
                let position = start + u64::from(i);
                let line =
                    format!("{position:>10} {:016x} {:08x}{addr}{flags}", code.pc, code.word);
                let line = format!("{line:<58} {text}");
                writeln!(out, "{}", line.trim_end()).map_err(output)?;
            }
        }
        for event in events {
            write_event(event, start, &range, out)?;
        }
    }
    Ok(())
}

fn write_event(
    event: &EventAt,
    start: u64,
    range: &Range<u64>,
    out: &mut dyn Write,
) -> Result<(), TraceError> {
    let position = start + u64::from(event.position);
    if range.start <= position && position <= range.end {
        writeln!(out, "         - {:?}", event.event).map_err(output)?;
    }
    Ok(())
}

fn address(inst: &TraceInst) -> String {
    if inst.flags.has(InstFlags::HAS_ADDR) { format!(" @{:x}", inst.addr) } else { String::new() }
}

fn output(source: std::io::Error) -> TraceError {
    TraceError::io(Path::new("output"), "writing")(source)
}

/// Flags of an instruction, printed as words.
struct Flags(InstFlags);

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (InstFlags::EXCLUSIVE_FAILED, " exclusive-failed"),
            (InstFlags::ABANDONED, " abandoned"),
            (InstFlags::DISCONTINUITY, " discontinuity"),
        ];
        names
            .iter()
            .filter(|(flag, _)| self.0.has(*flag))
            .try_for_each(|(_, name)| f.write_str(name))?;
        match (self.0.activity(), self.0.active_elements()) {
            (Activity::All, _) => Ok(()),
            (Activity::None, _) => f.write_str(" no-element"),
            (Activity::Partial, 0) => f.write_str(" some-elements"),
            (Activity::Partial, active) => write!(f, " elements-{active:b}"),
        }
    }
}
