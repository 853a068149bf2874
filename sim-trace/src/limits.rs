//! How large the parts of a file may be, for writer and reader, and how much memory its code takes. Every length is
//! compared with these before it is believed, so that a few hostile bytes cannot ask for gigabytes.

use sim_core::{InstId, MemoryBudget, OverBudget, Reserved};

use crate::event::MAX_EVENT_BYTES;
use crate::layout::{
    ChunkHeader, MAX_BLOCK_INSTS, MAX_CHUNK_BLOCKS, MAX_CHUNK_EVENTS, MAX_CHUNK_INSTS,
    MAX_IMAGE_BYTES, MAX_MAP_ENTRIES,
};
use crate::statics::CodeWord;
use crate::varint::MAX_VARINT;

/// A count or length that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) what: &'static str,
    pub(crate) value: u64,
    pub(crate) limit: u64,
}

/// Refuses `value` over `limit`.
pub(crate) fn at_most(what: &'static str, value: u64, limit: u64) -> Result<(), TooLarge> {
    if value > limit { Err(TooLarge { what, value, limit }) } else { Ok(()) }
}

const VARINT: u64 = MAX_VARINT as u64;

/// Raw bytes that the columns of a STREAM chunk may have by its counts.
pub(crate) fn stream_columns(header: &ChunkHeader) -> Result<[u64; 5], TooLarge> {
    let instructions = u64::from(header.instructions);
    let (blocks, accesses) = (u64::from(header.blocks), u64::from(header.accesses));
    let events = u64::from(header.events);
    at_most("the instruction count", instructions, MAX_CHUNK_INSTS.into())?;
    at_most("the block count", blocks, instructions)?;
    at_most("the access count", accesses, instructions)?;
    at_most("the event count", events, MAX_CHUNK_EVENTS.into())?;
    // A shape is at most three bytes (executed count, rounding) and one bit per instruction.
    let shapes = 4 * blocks + instructions / 8;
    Ok([blocks, VARINT * blocks, shapes, VARINT * accesses, MAX_EVENT_BYTES as u64 * events])
}

/// Raw bytes that the columns of an IMAGE chunk may have.
pub(crate) fn image_columns(header: &ChunkHeader, page_bytes: u32) -> Result<[u64; 2], TooLarge> {
    let pages = u64::from(header.blocks);
    let bytes = pages * u64::from(page_bytes);
    at_most("the length of all pages", bytes, MAX_IMAGE_BYTES)?;
    Ok([VARINT * pages, bytes])
}

/// Raw bytes that the columns of a BLOCKS chunk may have.
pub(crate) fn blocks_columns(header: &ChunkHeader) -> Result<[u64; 2], TooLarge> {
    let (blocks, instructions) = (u64::from(header.blocks), u64::from(header.instructions));
    at_most("the block count", blocks, MAX_CHUNK_BLOCKS.into())?;
    at_most("the instruction count", instructions, blocks * MAX_BLOCK_INSTS as u64)?;
    Ok([2 * VARINT * blocks, 4 * instructions])
}

/// Raw bytes that the column of a MAP chunk may have: the granule, and four integers an entry.
pub(crate) fn map_columns(header: &ChunkHeader) -> Result<[u64; 1], TooLarge> {
    at_most("the number of entries", header.blocks.into(), MAX_MAP_ENTRIES.into())?;
    Ok([VARINT * (1 + 4 * u64::from(header.blocks))])
}

/// Places of instructions in blocks, all blocks together: a place is a 32-bit number.
pub(crate) const MAX_PLACES: u64 = u32::MAX as u64 - 1;

/// Refuses blocks with more instructions together than places can be numbered. Writer and reader ask the same.
pub(crate) fn places(before: u64, more: u64) -> Result<(), TooLarge> {
    at_most("the number of instructions of all blocks", before.saturating_add(more), MAX_PLACES)
}

/// Memory of one page besides its bytes.
const PAGE_COST: u64 = 64;
/// Memory of an instruction of a block while the table is built: vectors may have twice the room that is used.
const PLACE_COST: u64 = 2 * size_of::<InstId>() as u64;
/// Memory of a distinct instruction while the table is built: its word, and an entry of a hash map.
const DISTINCT_COST: u64 =
    2 * size_of::<CodeWord>() as u64 + 2 * (size_of::<CodeWord>() as u64 + 9);
/// What remains of [`DISTINCT_COST`] once the table is built.
const DISTINCT_KEPT: u64 = size_of::<CodeWord>() as u64;

/// Memory of the code of a trace: it grows with what is really unpacked, not with what headers promise.
pub(crate) struct CodeMemory {
    reserved: Reserved,
    places: u64,
    distinct: u64,
}

impl CodeMemory {
    /// Nothing yet.
    pub(crate) fn new(budget: &MemoryBudget) -> Result<CodeMemory, OverBudget> {
        Ok(CodeMemory { reserved: budget.reserve(0, CODE)?, places: 0, distinct: 0 })
    }

    /// A page comes in; `replaces` an earlier one at its address.
    pub(crate) fn page(&mut self, page_bytes: u32, replaces: bool) -> Result<(), OverBudget> {
        let bytes = if replaces { 0 } else { u64::from(page_bytes) + PAGE_COST };
        self.reserved.grow(bytes)
    }

    /// A block comes in, whose instructions may all be new.
    pub(crate) fn block(&mut self, instructions: usize) -> Result<(), OverBudget> {
        self.places += instructions as u64;
        self.distinct += instructions as u64;
        self.reserved.grow(instructions as u64 * (PLACE_COST + DISTINCT_COST) + PLACE_COST)
    }

    /// So many instructions of the last block were known already.
    pub(crate) fn known(&mut self, instructions: usize) {
        self.distinct -= instructions as u64;
        self.reserved.shrink(instructions as u64 * DISTINCT_COST);
    }

    /// The table is built, and its vectors have no spare room.
    pub(crate) fn finish(mut self) -> Reserved {
        self.reserved.shrink(self.places * PLACE_COST / 2);
        self.reserved.shrink(self.distinct * (DISTINCT_COST - DISTINCT_KEPT));
        self.reserved
    }
}

/// Use of the memory for code, in messages.
pub(crate) const CODE: &str = "the code pages and blocks of the trace";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ChunkKind, MAX_META_BYTES};

    #[test]
    fn the_document_names_the_limits() {
        let doc = include_str!("../../docs/trace-format.md");
        for (what, value) in [
            ("instructions in a block", MAX_BLOCK_INSTS as u64),
            ("instructions in a STREAM chunk", MAX_CHUNK_INSTS.into()),
            ("events in a STREAM chunk", MAX_CHUNK_EVENTS.into()),
            ("blocks in a BLOCKS chunk", MAX_CHUNK_BLOCKS.into()),
            ("page bytes in an IMAGE chunk", MAX_IMAGE_BYTES),
            ("bytes of META text", MAX_META_BYTES),
            ("entries of a page map", MAX_MAP_ENTRIES.into()),
            ("instructions of all blocks", MAX_PLACES),
        ] {
            assert!(doc.contains(&format!("| {what} | {value} |")), "{what} is not {value}");
        }
    }

    #[test]
    fn a_full_chunk_stays_within_bounded_memory() {
        let full = ChunkHeader {
            blocks: MAX_CHUNK_INSTS,
            instructions: MAX_CHUNK_INSTS,
            accesses: MAX_CHUNK_INSTS,
            events: MAX_CHUNK_EVENTS,
            ..ChunkHeader::new(ChunkKind::Stream, 0)
        };
        let bytes: u64 = stream_columns(&full).expect("a legal header").iter().sum();
        assert!(bytes < 96 << 20, "{bytes}");
    }

    #[test]
    fn code_is_charged_once_and_replaced_pages_are_not_charged_again() {
        let budget = MemoryBudget::new(1 << 20);
        let mut code = CodeMemory::new(&budget).expect("nothing is taken");
        for n in 0..1000 {
            code.page(4096, n > 0).expect("one page");
            code.block(3).expect("three instructions");
            code.known(3);
        }
        let kept = code.finish();
        let used = budget.used();
        assert!((4096..=4096 + 64 + 1000 * 20).contains(&used), "{used}");
        drop(kept);
        assert_eq!(budget.used(), 0);
    }
}
