//! Rewrites a recording with the records of its instructions.

use super::look::{Places, Record, Seen, is_wanted};
use anyhow::{Context, Result, bail, ensure};
use sim_core::{Activity, InstFlags, TraceInst};
use sim_isa::{decode, is_prefetch, is_sve};
use sim_trace::{
    Access, EventAt, Further, Meta, StreamEvent, TraceFile, TraceWriter, WriterOptions,
};
use std::path::Path;

/// Longest block written.
const MAX_BLOCK: usize = 512;

/// Straight-line code to write as one block.
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

    /// Writes the block and the events after it, and starts a new one.
    fn flush(&mut self, writer: &mut TraceWriter, events: &[StreamEvent]) -> Result<()> {
        let block = std::mem::take(self);
        if !block.words.is_empty() {
            let id = writer.define_block(block.pc, &block.words)?;
            let length = block.words.len();
            writer.push_block(0, id, length as u16, &block.accesses, None)?;
            for (index, record) in block.elements {
                writer.push_event(0, message(length - index, &record)?)?;
            }
        }
        for event in events {
            writer.push_event(0, *event)?;
        }
        Ok(())
    }
}

fn message(back: usize, record: &Record) -> Result<StreamEvent> {
    let Record { activity, active, addrs, .. } = record;
    let active = if *activity == Activity::Partial { *active } else { 0 };
    let further = Further::of(addrs).context("more elements than a vector has")?;
    Ok(StreamEvent::Elements { back: back as u16, activity: *activity, active, further })
}

/// A trace that only has to be finished.
pub(super) struct Merged {
    pub(super) writer: TraceWriter,
    /// Prefetches of SVE, whose addresses are not known.
    pub(super) silent: u64,
}

/// Writes all instructions of `file` with the records of `seen` to `output`.
pub(super) fn write(
    file: &TraceFile,
    meta: Meta,
    places: &Places,
    seen: &Seen,
    output: &Path,
    level: i32,
) -> Result<Merged> {
    let options = WriterOptions { level, ..WriterOptions::default() };
    let mut writer = TraceWriter::create_with(output, meta, options)?;
    for (va, bytes) in file.image().pages() {
        writer.image_page(va, bytes)?;
    }
    // Whether a record is wanted is the same for all executions.
    let insts = file.statics().insts();
    let wanted: Vec<bool> = insts.iter().map(|code| is_wanted(&decode(code.word))).collect();
    let is_silent: Vec<bool> =
        insts.iter().map(|code| is_prefetch(code.word) && is_sve(code.word)).collect();
    let mut records = seen.records.iter();
    let mut reader = file.reader(0)?;
    let mut batch: Vec<TraceInst> = Vec::new();
    let mut block = Block::default();
    let mut silent = 0;
    while reader.next_batch(&mut batch)? {
        let mut events = reader.events().iter().copied().peekable();
        for (i, inst) in (0u32..).zip(&batch) {
            let mut happened = Vec::new();
            while let Some(EventAt { event, .. }) = events.next_if(|e| e.position == i) {
                happened.push(event);
            }
            let code = insts[inst.id as usize];
            if !happened.is_empty() || block.next_pc() != code.pc || block.words.len() == MAX_BLOCK
            {
                block.flush(&mut writer, &happened)?;
                block.pc = code.pc;
            }
            let record = match wanted[inst.id as usize] {
                true => Some(next(&mut records, places, code.pc)?),
                false => None,
            };
            silent += u64::from(is_silent[inst.id as usize]);
            append(&mut block, code.word, inst, record);
        }
        let rest: Vec<StreamEvent> = events.map(|e| e.event).collect();
        if !rest.is_empty() {
            block.flush(&mut writer, &rest)?;
        }
    }
    block.flush(&mut writer, &[])?;
    ensure!(records.next().is_none(), "the debugger saw more than was recorded");
    Ok(Merged { writer, silent })
}

/// Returns the record of the instruction at `pc`.
fn next<'a>(
    records: &mut impl Iterator<Item = &'a Record>,
    places: &Places,
    pc: u64,
) -> Result<&'a Record> {
    ensure!(
        places.contains_key(&pc),
        "the second run came to {pc:#x} and the first did not: the program must do the same each time"
    );
    let Some(record) = records.next() else { bail!("nothing is known of what ran at {pc:#x}") };
    ensure!(record.pc == pc, "the debugger is at {:#x}, the recording at {pc:#x}", record.pc);
    Ok(record)
}

fn append(block: &mut Block, word: u32, inst: &TraceInst, record: Option<&Record>) {
    let index = block.words.len();
    block.words.push(word);
    let mut addr = inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr);
    if let Some(record) = record {
        addr = record.addrs.first().copied();
        if record.activity != Activity::All || record.addrs.len() > 1 {
            block.elements.push((index, record.clone()));
        }
    }
    if let Some(addr) = addr {
        block.accesses.push(Access { index: index as u16, addr });
    }
}
