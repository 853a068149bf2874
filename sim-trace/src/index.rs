//! End of the file: the index of all chunks, and the record of totals.

use crate::layout::{ChunkHeader, HEADER_BYTES, HeaderFault, u32_at, u64_at};

/// Size of one index entry, in bytes: the offset of a chunk and a copy of its header.
pub(crate) const INDEX_ENTRY_BYTES: usize = 8 + HEADER_BYTES;
/// Size of the payload of the END chunk, in bytes.
pub(crate) const END_BYTES: usize = 64;

/// Index entry of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Byte offset of the header of the chunk in the file.
    pub offset: u64,
    /// Header of the chunk.
    pub header: ChunkHeader,
}

/// Appends the index entry of a chunk at `offset`.
pub(crate) fn put_index_entry(index: &mut Vec<u8>, offset: u64, header: &ChunkHeader) {
    index.extend_from_slice(&offset.to_le_bytes());
    index.extend_from_slice(&header.to_bytes());
}

/// Returns the entries of an index column. Its length must be a multiple of [`INDEX_ENTRY_BYTES`].
pub(crate) fn index_entries(
    column: &[u8],
) -> impl Iterator<Item = Result<IndexEntry, HeaderFault>> {
    column.as_chunks::<INDEX_ENTRY_BYTES>().0.iter().map(|entry| {
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&entry[8..]);
        let header = ChunkHeader::from_bytes(&header)?;
        Ok(IndexEntry { offset: u64_at(entry, 0), header })
    })
}

/// Totals of the file, stored in the END chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndRecord {
    pub(crate) index_offset: u64,
    /// Number of chunks before END.
    pub(crate) chunks: u32,
    pub(crate) streams: u32,
    pub(crate) instructions: u64,
    pub(crate) accesses: u64,
    pub(crate) blocks: u64,
    pub(crate) events: u64,
}

impl EndRecord {
    pub(crate) fn to_bytes(self) -> [u8; END_BYTES] {
        let mut b = [0; END_BYTES];
        b[0..8].copy_from_slice(&self.index_offset.to_le_bytes());
        b[8..12].copy_from_slice(&self.chunks.to_le_bytes());
        b[12..16].copy_from_slice(&self.streams.to_le_bytes());
        b[16..24].copy_from_slice(&self.instructions.to_le_bytes());
        b[24..32].copy_from_slice(&self.accesses.to_le_bytes());
        b[32..40].copy_from_slice(&self.blocks.to_le_bytes());
        b[40..48].copy_from_slice(&self.events.to_le_bytes());
        // Bytes 48..64 are zero.
        b
    }

    pub(crate) fn from_bytes(b: &[u8; END_BYTES]) -> EndRecord {
        EndRecord {
            index_offset: u64_at(b, 0),
            chunks: u32_at(b, 8),
            streams: u32_at(b, 12),
            instructions: u64_at(b, 16),
            accesses: u64_at(b, 24),
            blocks: u64_at(b, 32),
            events: u64_at(b, 40),
        }
    }
}
