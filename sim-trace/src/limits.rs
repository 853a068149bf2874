//! Limits on the parts of a file, for writer and reader, and the memory of its code. Every length
//! is checked before it is used, so that a few hostile bytes cannot request gigabytes.

use sim_core::{InstId, MemoryBudget, OverBudget, Reserved};

use crate::event::MAX_EVENT_BYTES;
use crate::layout::{
    ChunkHeader, MAX_BLOCK_INSTS, MAX_CHUNK_BLOCKS, MAX_CHUNK_EVENTS, MAX_CHUNK_INSTS,
    MAX_IMAGE_BYTES, MAX_MAP_ENTRIES,
};
use crate::statics::CodeWord;
use crate::varint::MAX_VARINT;

/// Fault of a count or length that exceeds its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) what: &'static str,
    pub(crate) value: u64,
    pub(crate) limit: u64,
}

/// Refuses a `value` above `limit`.
pub(crate) fn at_most(what: &'static str, value: u64, limit: u64) -> Result<(), TooLarge> {
    if value > limit { Err(TooLarge { what, value, limit }) } else { Ok(()) }
}

const VARINT: u64 = MAX_VARINT as u64;

/// Returns the largest raw lengths of the columns of a STREAM chunk, from its counts.
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

/// Returns the largest raw lengths of the columns of an IMAGE chunk.
pub(crate) fn image_columns(header: &ChunkHeader, page_bytes: u32) -> Result<[u64; 2], TooLarge> {
    let pages = u64::from(header.blocks);
    let bytes = pages * u64::from(page_bytes);
    at_most("the length of all pages", bytes, MAX_IMAGE_BYTES)?;
    Ok([VARINT * pages, bytes])
}

/// Returns the largest raw lengths of the columns of a BLOCKS chunk.
pub(crate) fn blocks_columns(header: &ChunkHeader) -> Result<[u64; 2], TooLarge> {
    let (blocks, instructions) = (u64::from(header.blocks), u64::from(header.instructions));
    at_most("the block count", blocks, MAX_CHUNK_BLOCKS.into())?;
    at_most("the instruction count", instructions, blocks * MAX_BLOCK_INSTS as u64)?;
    Ok([2 * VARINT * blocks, 4 * instructions])
}

/// Returns the largest raw length of the column of a MAP chunk: the granule, and four integers for
/// each entry.
pub(crate) fn map_columns(header: &ChunkHeader) -> Result<[u64; 1], TooLarge> {
    at_most("the number of entries", header.blocks.into(), MAX_MAP_ENTRIES.into())?;
    Ok([VARINT * (1 + 4 * u64::from(header.blocks))])
}

/// Largest number of instructions of all blocks. A place is a 32-bit index of one of them.
pub(crate) const MAX_PLACES: u64 = u32::MAX as u64 - 1;

/// Refuses `more` instructions of blocks after `before` if their places exceed 32 bits.
pub(crate) fn places(before: u64, more: u64) -> Result<(), TooLarge> {
    at_most("the number of instructions of all blocks", before.saturating_add(more), MAX_PLACES)
}

/// Overhead of one page, in bytes.
const PAGE_COST: u64 = 64;
/// Memory of an instruction of a block during construction, in bytes. Vectors may have twice the
/// capacity that they use.
const PLACE_COST: u64 = 2 * size_of::<InstId>() as u64;
/// Memory of a distinct instruction during construction, in bytes: its word, and an entry of a hash
/// map.
const DISTINCT_COST: u64 =
    2 * size_of::<CodeWord>() as u64 + 2 * (size_of::<CodeWord>() as u64 + 9);
/// Part of [`DISTINCT_COST`] that remains after construction.
const DISTINCT_KEPT: u64 = size_of::<CodeWord>() as u64;

/// Memory reserved for the code of a trace. It grows with the unpacked data, not with the counts of
/// headers.
pub(crate) struct CodeMemory {
    reserved: Reserved,
    places: u64,
    distinct: u64,
}

impl CodeMemory {
    /// Creates an empty reservation.
    pub(crate) fn new(budget: &MemoryBudget) -> Result<CodeMemory, OverBudget> {
        Ok(CodeMemory { reserved: budget.reserve(0, CODE)?, places: 0, distinct: 0 })
    }

    /// Reserves memory for a page. `replaces` is true if it replaces an earlier one at its address.
    pub(crate) fn page(&mut self, page_bytes: u32, replaces: bool) -> Result<(), OverBudget> {
        let bytes = if replaces { 0 } else { u64::from(page_bytes) + PAGE_COST };
        self.reserved.grow(bytes)
    }

    /// Reserves memory for a block whose instructions may all be new.
    pub(crate) fn block(&mut self, instructions: usize) -> Result<(), OverBudget> {
        self.places += instructions as u64;
        self.distinct += instructions as u64;
        self.reserved.grow(instructions as u64 * (PLACE_COST + DISTINCT_COST) + PLACE_COST)
    }

    /// Releases the memory of those instructions of the last block that were known already.
    pub(crate) fn known(&mut self, instructions: usize) {
        self.distinct -= instructions as u64;
        self.reserved.shrink(instructions as u64 * DISTINCT_COST);
    }

    /// Releases the memory of construction. The vectors of the table have no spare capacity.
    pub(crate) fn finish(mut self) -> Reserved {
        self.reserved.shrink(self.places * PLACE_COST / 2);
        self.reserved.shrink(self.distinct * (DISTINCT_COST - DISTINCT_KEPT));
        self.reserved
    }
}

/// Name of the memory for code in messages.
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
    fn the_memory_of_a_full_chunk_is_bounded() {
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
