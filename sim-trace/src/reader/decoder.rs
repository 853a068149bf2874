//! Decoder of the columns of a STREAM chunk. Its predictors learn from the same sequence as those
//! of [`crate::writer::stream_encoder`].
//!
//! The fast path handles a block execution whose block is a recent successor and whose accesses are
//! those of its last run. It copies the template of the block and adds a prediction and a stored
//! difference for each address.

mod block_visitor;

use sim_core::{Activity, InstFlags, TraceInst};
use sim_isa::is_store_exclusive;

use crate::column::{ColumnFault, Columns};
use crate::event::{EventAt, StreamEvent};
use crate::layout::ChunkHeader;
use crate::predict::{
    AddrPredictor, BlockMemory, CONTROL_EXPLICIT, CONTROL_PARTIAL, CONTROL_SHAPE,
};
use crate::reader::event_cursor::EventCursor;
use crate::statics::StaticTable;
use crate::varint::{unzigzag, varint_at};

pub use block_visitor::BlockVisitor;

/// Columns of a STREAM chunk: control, explicit block numbers, shapes, addresses, events.
pub(crate) const STREAM_COLUMNS: usize = 5;
const CONTROL: usize = 0;
const IDS: usize = 1;
const SHAPES: usize = 2;
const ADDRS: usize = 3;
pub(crate) const EVENTS: usize = 4;

/// Number of instructions at which a batch ends, after the current block. The instructions take
/// 128 KiB and stay in an L2 cache of the host.
const BATCH: usize = 8192;

/// Decoder state of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    memory: BlockMemory,
    start: u32,
    len: u16,
}

/// Progress in a chunk: positions in its columns, and counts.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    control: usize,
    ids: usize,
    shapes: usize,
    addrs: usize,
    events: EventCursor,
    instructions: u32,
    accesses: u32,
    previous: Option<u32>,
    last_addr: u64,
}

/// Decoder of the chunks of one stream.
pub(crate) struct Decoder {
    columns: Columns<STREAM_COLUMNS>,
    header: Option<ChunkHeader>,
    cursor: Cursor,
    /// Stamp of the open chunk in `blocks` and `predictors`, from 1.
    chunk: u32,
    blocks: Vec<Block>,
    /// Instructions of all blocks after their last whole run, without addresses.
    template: Vec<TraceInst>,
    /// For each instruction of each block, true if it is a store-exclusive.
    exclusive: Vec<bool>,
    predictors: Vec<AddrPredictor>,
    /// Indexes of the instructions that accessed memory in the last whole run of a block, from the
    /// start of the block on.
    shapes: Vec<u16>,
    /// Indexes of the accesses of a partial run.
    partial: Vec<u16>,
    /// Number of instructions before the open chunk.
    first: u64,
}

/// Memory of the decompression library and of columns of typical length, in bytes.
const UNPACKING: u64 = 160 << 10;

impl Decoder {
    /// Returns the memory that a decoder of this code takes, in bytes.
    pub(crate) fn memory(statics: &StaticTable) -> u64 {
        let of_place =
            size_of::<TraceInst>() + size_of::<AddrPredictor>() + size_of::<(bool, u16)>();
        let blocks = statics.blocks() as u64 * size_of::<Block>() as u64;
        statics.places().len() as u64 * of_place as u64 + blocks + UNPACKING
    }

    pub(crate) fn new(statics: &StaticTable) -> std::io::Result<Decoder> {
        let insts = statics.places();
        let starts = statics.starts();
        let block = |pair: &[u32]| Block {
            memory: BlockMemory::EMPTY,
            start: pair[0],
            len: (pair[1] - pair[0]) as u16,
        };
        let template = |&id| TraceInst { addr: 0, id, flags: InstFlags::default() };
        Ok(Decoder {
            columns: Columns::new()?,
            header: None,
            cursor: Cursor::default(),
            chunk: 0,
            blocks: starts.windows(2).map(block).collect(),
            template: insts.iter().map(template).collect(),
            exclusive: insts
                .iter()
                .map(|&id| is_store_exclusive(statics.insts()[id as usize].word))
                .collect(),
            predictors: vec![AddrPredictor::default(); insts.len()],
            shapes: vec![0; insts.len()],
            partial: Vec::new(),
            first: 0,
        })
    }

    /// Returns true while a chunk is open.
    pub(crate) fn is_open(&self) -> bool {
        self.header.is_some()
    }

    /// Abandons the open chunk.
    pub(crate) fn close(&mut self) {
        self.header = None;
    }

    /// Returns the position of the next instruction in the stream.
    pub(crate) fn position(&self) -> u64 {
        self.first + u64::from(self.cursor.instructions)
    }

    /// Unpacks a chunk and resets all predictors.
    pub(crate) fn open(
        &mut self,
        header: &ChunkHeader,
        payload: &[u8],
        limits: [u64; STREAM_COLUMNS],
    ) -> Result<(), ColumnFault> {
        self.columns.unpack(payload, header.codec, limits)?;
        if self.columns.length(CONTROL) != header.blocks as usize {
            return Err(ColumnFault::Inconsistent(
                "the length of the control column is not the number of blocks",
            ));
        }
        self.header = Some(*header);
        self.first = header.first;
        self.cursor = Cursor::default();
        self.chunk += 1;
        Ok(())
    }

    /// Appends the next instructions of the open chunk and closes the chunk after its last one.
    pub(crate) fn batch(
        &mut self,
        out: &mut Vec<TraceInst>,
        more: &mut MoreAddrs,
        events: &mut Vec<EventAt>,
    ) -> Result<(), &'static str> {
        let Some(header) = self.header else { return Ok(()) };
        let batch_start = self.cursor.instructions;
        self.blocks(out)?;
        if self.cursor.instructions > header.instructions {
            return Err("more instructions than counted");
        }
        self.events(out, batch_start, more, events)?;
        if self.cursor.control == self.columns.length(CONTROL) {
            self.check_end(&header)?;
            self.header = None;
        }
        Ok(())
    }

    /// Decodes block executions until the batch is full or the chunk ends.
    fn blocks(&mut self, out: &mut Vec<TraceInst>) -> Result<(), &'static str> {
        let before = out.len();
        let mut cursor = self.cursor;
        while cursor.control < self.columns.length(CONTROL) && out.len() < BATCH {
            let control = self.columns.column(CONTROL)[cursor.control];
            cursor.control += 1;
            let id = self.next_block(control, &mut cursor)?;
            let Some(&block) = self.blocks.get(id as usize) else {
                return Err("a block follows one that never preceded it");
            };
            cursor.previous = Some(id);
            if control & (CONTROL_SHAPE | CONTROL_PARTIAL) == 0 {
                self.whole_block(block, &mut cursor, out)?;
            } else {
                self.irregular_block(id, block, control, &mut cursor, out)?;
            }
        }
        cursor.instructions += (out.len() - before) as u32;
        self.cursor = cursor;
        Ok(())
    }

    /// Returns the number of the next block.
    #[inline(always)]
    fn next_block(&mut self, control: u8, cursor: &mut Cursor) -> Result<u32, &'static str> {
        match cursor.previous {
            Some(previous) if control & CONTROL_EXPLICIT == 0 => {
                Ok(self.blocks[previous as usize].memory.successor(control))
            }
            _ => self.explicit_block(control, cursor),
        }
    }

    /// Decodes one run of a whole block with the accesses of its last run.
    #[inline(always)]
    fn whole_block(
        &mut self,
        block: Block,
        cursor: &mut Cursor,
        out: &mut Vec<TraceInst>,
    ) -> Result<(), &'static str> {
        let start = block.start as usize;
        let end = start + usize::from(block.len);
        let base = out.len();
        out.extend_from_slice(&self.template[start..end]);
        let insts = &mut out[base..];
        let predictors = &mut self.predictors[start..end];
        let addrs = self.columns.padded(ADDRS);
        let mut pos = cursor.addrs;
        let mut addr = cursor.last_addr;
        for &index in &self.shapes[start..start + usize::from(block.memory.accesses)] {
            let (delta, next) = varint_at(addrs, pos).ok_or("the addresses end early")?;
            pos = next;
            let predictor = &mut predictors[usize::from(index)];
            addr = predictor.next().wrapping_add(unzigzag(delta));
            predictor.update(addr);
            insts[usize::from(index)].addr = addr;
        }
        cursor.addrs = pos;
        cursor.last_addr = addr;
        cursor.accesses += u32::from(block.memory.accesses);
        Ok(())
    }

    /// Returns the next block from the column of explicit numbers.
    #[cold]
    fn explicit_block(&mut self, control: u8, cursor: &mut Cursor) -> Result<u32, &'static str> {
        if control & CONTROL_EXPLICIT == 0 {
            return Err("the first block of the chunk has no number");
        }
        let delta = self.integer(IDS, &mut cursor.ids).ok_or("the block numbers end early")?;
        let from = u64::from(cursor.previous.unwrap_or(0));
        let id = from.wrapping_add(unzigzag(delta));
        if id >= self.blocks.len() as u64 {
            return Err("a block number is beyond the blocks defined");
        }
        let id = id as u32;
        if let Some(previous) = cursor.previous {
            self.blocks[previous as usize].memory.remember(id);
        }
        if self.blocks[id as usize].memory.chunk != self.chunk {
            self.blocks[id as usize].memory = BlockMemory::fresh(self.chunk);
            self.set_shape(id, &[]);
        }
        Ok(id)
    }

    /// Decodes a partial run, or a run whose accesses differ from those of the last run.
    #[cold]
    fn irregular_block(
        &mut self,
        id: u32,
        block: Block,
        control: u8,
        cursor: &mut Cursor,
        out: &mut Vec<TraceInst>,
    ) -> Result<(), &'static str> {
        let start = block.start as usize;
        let mut executed = block.len;
        if control & CONTROL_PARTIAL != 0 {
            executed = self.partial_length(block, cursor)?;
        }
        let mut accesses = std::mem::take(&mut self.partial);
        self.bitmap(executed, cursor, &mut accesses)?;
        let base = out.len();
        if control & CONTROL_PARTIAL == 0 {
            self.set_shape(id, &accesses);
            out.extend_from_slice(&self.template[start..start + usize::from(executed)]);
        } else {
            let insts = (start..start + usize::from(executed)).map(|i| TraceInst {
                flags: flags_without_access(self.exclusive[i]),
                ..self.template[i]
            });
            out.extend(insts);
        }
        for &index in &accesses {
            let addr = self.irregular_address(start + usize::from(index), cursor)?;
            let inst = &mut out[base + usize::from(index)];
            inst.addr = addr;
            inst.flags = InstFlags::HAS_ADDR;
        }
        cursor.accesses += accesses.len() as u32;
        self.partial = accesses;
        Ok(())
    }

    /// Reads the number of executed instructions of a partial run.
    fn partial_length(&self, block: Block, cursor: &mut Cursor) -> Result<u16, &'static str> {
        let (executed, next) =
            varint_at(self.columns.padded(SHAPES), cursor.shapes).ok_or("the shapes end early")?;
        cursor.shapes = next;
        u16::try_from(executed)
            .ok()
            .filter(|executed| (1..block.len).contains(executed))
            .ok_or("a partial block runs none or all of its instructions")
    }

    /// Reads the indexes of those of `len` instructions that access memory.
    fn bitmap(
        &self,
        len: u16,
        cursor: &mut Cursor,
        accesses: &mut Vec<u16>,
    ) -> Result<(), &'static str> {
        let bytes = usize::from(len).div_ceil(8);
        let column = self.columns.column(SHAPES);
        let bits = column
            .get(cursor.shapes..)
            .and_then(|rest| rest.get(..bytes))
            .ok_or("the shapes end early")?;
        cursor.shapes += bytes;
        accesses.clear();
        accesses.extend((0..len).filter(|&i| bits[usize::from(i / 8)] >> (i % 8) & 1 == 1));
        Ok(())
    }

    /// Reads an address that may be the first of its instruction in the chunk.
    fn irregular_address(&mut self, slot: usize, cursor: &mut Cursor) -> Result<u64, &'static str> {
        let delta = self.integer(ADDRS, &mut cursor.addrs).ok_or("the addresses end early")?;
        let predictor = &mut self.predictors[slot];
        let known = predictor.chunk == self.chunk;
        let expected = if known { predictor.next() } else { cursor.last_addr };
        let addr = expected.wrapping_add(unzigzag(delta));
        if known {
            predictor.update(addr);
        } else {
            *predictor = AddrPredictor::first(addr, self.chunk);
        }
        cursor.last_addr = addr;
        Ok(addr)
    }

    /// Reads the integer at `pos` of a column. Returns `None` if it exceeds the column.
    fn integer(&self, column: usize, pos: &mut usize) -> Option<u64> {
        let (value, next) = varint_at(self.columns.padded(column), *pos)?;
        *pos = next;
        (next <= self.columns.length(column)).then_some(value)
    }

    /// Sets the accesses of whole runs of the block.
    fn set_shape(&mut self, id: u32, accesses: &[u16]) {
        let Block { start, len, .. } = self.blocks[id as usize];
        let range = start as usize..start as usize + usize::from(len);
        let template = &mut self.template[range.clone()];
        for (inst, &exclusive) in template.iter_mut().zip(&self.exclusive[range.clone()]) {
            inst.flags = flags_without_access(exclusive);
        }
        for &index in accesses {
            template[usize::from(index)].flags = InstFlags::HAS_ADDR;
        }
        self.shapes[range][..accesses.len()].copy_from_slice(accesses);
        self.blocks[id as usize].memory.accesses = accesses.len() as u16;
    }

    /// Reads the events up to the end of the batch and sets the flags of the instructions before
    /// them.
    fn events(
        &mut self,
        out: &mut [TraceInst],
        batch_start: u32,
        more: &mut MoreAddrs,
        events: &mut Vec<EventAt>,
    ) -> Result<(), &'static str> {
        let cursor = &mut self.cursor;
        let column = self.columns.column(EVENTS);
        while let Some(event) = cursor.events.next(column, cursor.instructions)? {
            let position = cursor.events.place.saturating_sub(batch_start);
            flag(&mut out[..position as usize], &event, more)?;
            events.push(EventAt { position, event });
        }
        Ok(())
    }

    /// Checks that the content of the chunk matches the counts of its header.
    fn check_end(&self, header: &ChunkHeader) -> Result<(), &'static str> {
        let c = &self.cursor;
        let consumed = [c.control, c.ids, c.shapes, c.addrs, c.events.at];
        if (0..STREAM_COLUMNS).any(|i| consumed[i] != self.columns.length(i)) {
            return Err("a column is longer or shorter than its use");
        }
        if (c.instructions, c.accesses, c.events.count)
            != (header.instructions, header.accesses, header.events)
        {
            return Err("the counts of the header differ from the content");
        }
        Ok(())
    }
}

fn flags_without_access(store_exclusive: bool) -> InstFlags {
    if store_exclusive { InstFlags::EXCLUSIVE_FAILED } else { InstFlags::default() }
}

/// Second and further addresses of the instructions of a batch, in instruction order.
#[derive(Debug, Default)]
pub(crate) struct MoreAddrs {
    pub(crate) addrs: Vec<u64>,
    /// Index of the first instruction that may still get further addresses.
    free: usize,
}

impl MoreAddrs {
    pub(crate) fn clear(&mut self) {
        self.addrs.clear();
        self.free = 0;
    }
}

/// Sets the flags that `event` implies for the instructions before it.
fn flag(
    before: &mut [TraceInst],
    event: &StreamEvent,
    more: &mut MoreAddrs,
) -> Result<(), &'static str> {
    match *event {
        StreamEvent::StoreExclusive { back, failed } => {
            if let Some(inst) = inst_before(before, back) {
                let bit = InstFlags::EXCLUSIVE_FAILED.0;
                inst.flags.0 = if failed { inst.flags.0 | bit } else { inst.flags.0 & !bit };
            }
        }
        StreamEvent::Elements { back, activity, active, further } => {
            let index = before.len().wrapping_sub(back.into());
            let inst = inst_before(before, back).ok_or("elements of no instruction")?;
            if index < more.free {
                return Err("elements of an instruction are out of order");
            }
            more.free = index + 1;
            inst.flags = inst.flags.with_predicate(activity, active);
            if activity == Activity::None {
                inst.flags.0 &= !InstFlags::HAS_ADDR.0;
            } else if inst.flags.has(InstFlags::HAS_ADDR) {
                inst.flags = inst.flags.with_further(further.count());
                more.addrs.extend(further.addrs(inst.addr));
            }
        }
        _ => {}
    }
    if let Some(last) = before.last_mut() {
        if event.breaks_flow() {
            last.flags = last.flags.with(InstFlags::DISCONTINUITY);
        }
        if event.abandons() {
            last.flags = last.flags.with(InstFlags::ABANDONED);
        }
    }
    Ok(())
}

/// Returns the instruction `back` places before the event.
fn inst_before(before: &mut [TraceInst], back: u16) -> Option<&mut TraceInst> {
    before.len().checked_sub(back.into()).and_then(|i| before.get_mut(i))
}
