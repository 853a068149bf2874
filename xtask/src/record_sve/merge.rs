//! Writes a recording again, with what was seen of its SVE instructions.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use sim_core::{Activity, InstFlags, TraceInst};
use sim_isa::Inst;
use sim_trace::{
    Access, EventAt, Further, StreamEvent, Summary, TraceFile, TraceWriter, WriterOptions,
};

use super::elements::{Places, Record, Seen, is_wanted};

/// Longest block written.
const MAX_BLOCK: usize = 512;

/// Straight-line code that is being gathered.
#[derive(Default)]
struct Block {
    pc: u64,
    words: Vec<u32>,
    accesses: Vec<Access>,
    /// Elements of the instructions at these places.
    elements: Vec<(usize, Record)>,
}

impl Block {
    fn next_pc(&self) -> u64 {
        self.pc + 4 * self.words.len() as u64
    }

    /// Writes the block and what happened behind it, and begins anew.
    fn flush(&mut self, writer: &mut TraceWriter, events: &[StreamEvent]) -> Result<()> {
        let block = std::mem::take(self);
        if !block.words.is_empty() {
            let id = writer.define_block(block.pc, &block.words)?;
            let length = block.words.len();
            writer.push_block(0, id, length as u16, &block.accesses, None)?;
            for (index, record) in block.elements {
                writer.push_event(0, told(length - index, &record)?)?;
            }
        }
        for event in events {
            writer.push_event(0, *event)?;
        }
        Ok(())
    }
}

fn told(back: usize, record: &Record) -> Result<StreamEvent> {
    let Record { activity, active, addrs, .. } = record;
    let active = if *activity == Activity::Partial { *active } else { 0 };
    let further = Further::of(addrs).context("more elements than a vector has")?;
    Ok(StreamEvent::Elements { back: back as u16, activity: *activity, active, further })
}

/// Writes `file` with the records of `seen` to `output`.
pub(super) fn write(
    file: &TraceFile<File>,
    places: &Places,
    seen: &Seen,
    output: &Path,
) -> Result<Summary> {
    let mut meta = file.meta().clone();
    meta.machine.vector_bytes = 16;
    meta.gaps.retain(|gap| !gap.contains("SVE"));
    meta.gaps.push(format!(
        "predicates and addresses of {} SVE instructions are from a second run; {} reads of the FFR found a \
         fault, which a replay only meets where a page map leaves the page out",
        seen.records.len(),
        seen.ended_early
    ));
    let options = WriterOptions { level: 19, ..WriterOptions::default() };
    let mut writer = TraceWriter::create_with(output, meta, options)?;
    for (va, bytes) in file.image().pages() {
        writer.image_page(va, bytes)?;
    }
    let mut records = seen.records.iter();
    let mut reader = file.reader(0)?;
    let mut batch: Vec<TraceInst> = Vec::new();
    let mut block = Block::default();
    while reader.next_batch(&mut batch)? {
        let mut events = reader.events().iter().copied().peekable();
        for (i, inst) in (0u32..).zip(&batch) {
            let mut happened = Vec::new();
            while let Some(EventAt { event, .. }) = events.next_if(|e| e.position == i) {
                happened.push(event);
            }
            let code = file.statics().insts()[inst.id as usize];
            if !happened.is_empty() || block.next_pc() != code.pc || block.words.len() == MAX_BLOCK
            {
                block.flush(&mut writer, &happened)?;
                block.pc = code.pc;
            }
            let place = places.get(&code.pc);
            append(&mut block, code.word, inst, place, &mut records, code.pc)?;
        }
        let rest: Vec<StreamEvent> = events.map(|e| e.event).collect();
        if !rest.is_empty() {
            block.flush(&mut writer, &rest)?;
        }
    }
    block.flush(&mut writer, &[])?;
    ensure!(records.next().is_none(), "the second run executed more SVE instructions");
    Ok(writer.finish()?)
}

fn append<'a>(
    block: &mut Block,
    word: u32,
    inst: &TraceInst,
    place: Option<&Inst>,
    records: &mut impl Iterator<Item = &'a Record>,
    pc: u64,
) -> Result<()> {
    let index = block.words.len();
    block.words.push(word);
    let mut addr = inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr);
    if place.is_some_and(is_wanted) {
        let Some(record) = records.next() else { bail!("the second run ended before {pc:#x}") };
        ensure!(record.pc == pc, "the second run is at {:#x}, the first at {pc:#x}", record.pc);
        addr = record.addrs.first().copied();
        if record.activity != Activity::All || record.addrs.len() > 1 {
            block.elements.push((index, record.clone()));
        }
    }
    if let Some(addr) = addr {
        block.accesses.push(Access { index: index as u16, addr });
    }
    Ok(())
}
