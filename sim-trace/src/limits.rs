//! How much memory a file may claim. Every length is compared with these before it is believed, so
//! that a few hostile bytes cannot ask for gigabytes.

use crate::event::MAX_EVENT_BYTES;
use crate::layout::{
    ChunkHeader, MAX_BLOCK_INSTS, MAX_CHUNK_BLOCKS, MAX_CHUNK_EVENTS, MAX_CHUNK_INSTS,
    MAX_IMAGE_BYTES, MAX_MAP_ENTRIES,
};
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

/// Memory that code pages and blocks may take, by the size of the file: far more than any recorded
/// program needs, far less than what a well-compressed lie could ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: u64,
}

/// Bytes that every file may use for code, whatever its size.
const BUDGET_BASE: u64 = 32 << 20;
/// Further bytes for each byte of the file.
const BUDGET_PER_BYTE: u64 = 64;
/// Bytes that no file may exceed.
const BUDGET_MAX: u64 = 2 << 30;
/// Memory of one page besides its bytes.
const PAGE_COST: u64 = 64;
/// Memory of one block besides its instructions.
const BLOCK_COST: u64 = 64;
/// Memory of one instruction of a block, in the table and in a reader.
const INST_COST: u64 = 80;

impl Budget {
    /// The budget of a file of `file_bytes`.
    pub(crate) fn new(file_bytes: u64) -> Budget {
        let limit = BUDGET_BASE.saturating_add(file_bytes.saturating_mul(BUDGET_PER_BYTE));
        Budget { limit: limit.min(BUDGET_MAX), used: 0 }
    }

    /// Takes the memory of an IMAGE chunk.
    pub(crate) fn pages(&mut self, pages: u32, page_bytes: u32) -> Result<(), TooLarge> {
        self.take(u64::from(pages) * (u64::from(page_bytes) + PAGE_COST))
    }

    /// Takes the memory of a BLOCKS chunk.
    pub(crate) fn blocks(&mut self, blocks: u32, instructions: u32) -> Result<(), TooLarge> {
        self.take(u64::from(blocks) * BLOCK_COST + u64::from(instructions) * INST_COST)
    }

    fn take(&mut self, bytes: u64) -> Result<(), TooLarge> {
        self.used = self.used.saturating_add(bytes);
        at_most("the memory for code of this and earlier chunks", self.used, self.limit)
    }
}

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
    fn a_budget_grows_with_the_file_up_to_a_cap() {
        let limit = |bytes| Budget::new(bytes).limit;
        assert_eq!(limit(0), 32 << 20);
        assert_eq!(limit(1 << 20), 96 << 20);
        assert_eq!(limit(u64::MAX), 2 << 30);
    }
}
