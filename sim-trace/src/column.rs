//! Payload of a chunk: a table of column lengths, then the columns, each compressed separately.
//!
//! A table entry holds the raw length and the stored length in bytes, both u32. If they are equal,
//! the column is stored plain.

use crate::frame::{self, Unpacker};
use crate::layout::{CODEC_PLAIN, CODEC_ZSTD, u32_at};
use crate::varint::PADDING;

/// Size of one entry of the column table, in bytes.
pub(crate) const COLUMN_ENTRY_BYTES: usize = 8;

/// Compressor of columns. Reuses its payload buffer from chunk to chunk.
#[cfg(unix)]
pub(crate) struct ColumnPacker {
    zstd: zstd::bulk::Compressor<'static>,
    frame: Vec<u8>,
    payload: Vec<u8>,
}

#[cfg(unix)]
impl ColumnPacker {
    /// Creates a packer with this zstd level.
    pub(crate) fn new(level: i32) -> std::io::Result<ColumnPacker> {
        let zstd = zstd::bulk::Compressor::new(level)?;
        Ok(ColumnPacker { zstd, frame: Vec::new(), payload: Vec::new() })
    }

    /// Returns the payload of `columns`, and its codec.
    pub(crate) fn pack(&mut self, columns: &[&[u8]]) -> std::io::Result<(&[u8], u8)> {
        self.payload.clear();
        self.payload.resize(columns.len() * COLUMN_ENTRY_BYTES, 0);
        let mut codec = CODEC_PLAIN;
        for (i, raw) in columns.iter().enumerate() {
            self.frame.clear();
            self.frame.reserve(zstd::zstd_safe::compress_bound(raw.len()));
            self.zstd.compress_to_buffer(raw, &mut self.frame)?;
            let stored = if self.frame.len() < raw.len() {
                codec = CODEC_ZSTD;
                &self.frame[..]
            } else {
                raw
            };
            let at = i * COLUMN_ENTRY_BYTES;
            self.payload[at..at + 4].copy_from_slice(&length(raw)?.to_le_bytes());
            self.payload[at + 4..at + 8].copy_from_slice(&length(stored)?.to_le_bytes());
            self.payload.extend_from_slice(stored);
        }
        length(&self.payload)?;
        Ok((&self.payload, codec))
    }
}

#[cfg(unix)]
fn length(bytes: &[u8]) -> std::io::Result<u32> {
    u32::try_from(bytes.len()).map_err(|_| std::io::Error::other("a column is over 4 GiB"))
}

/// Fault of a payload, found before its content is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnFault {
    /// Two lengths contradict each other, or a frame does not unpack to its length.
    Inconsistent(&'static str),
    /// A raw length exceeds the limit that the counts of the chunk imply.
    TooLarge { raw: u64, limit: u64 },
}

const WRONG_LENGTH: ColumnFault =
    ColumnFault::Inconsistent("a column does not unpack to its length");

/// Largest raw length, in bytes, that is allocated at once. The buffer of a longer column grows as
/// data is unpacked.
const LONG: usize = 16 << 20;

fn make_room(buffer: &mut Vec<u8>, raw: usize) {
    if buffer.len() < raw + PADDING {
        buffer.resize(raw + PADDING, 0);
    }
}

/// Unpacks a column with a large raw length. Memory grows with the data, not with the claimed
/// length.
fn unpack_long(buffer: &mut Vec<u8>, stored: &[u8], raw: usize) -> Result<(), ColumnFault> {
    buffer.clear();
    let read = frame::unpack_long(stored, buffer, raw as u64 + 1);
    if read.ok() != Some(raw) {
        return Err(WRONG_LENGTH);
    }
    buffer.resize(raw + PADDING, 0);
    Ok(())
}

/// Buffers for the columns of one chunk, reused from chunk to chunk. [`PADDING`] zero bytes follow
/// each column.
pub(crate) struct Columns<const N: usize> {
    /// Decompressor, created on demand and dropped by readers that pause between chunks.
    unpacker: Option<Unpacker>,
    buffers: [Vec<u8>; N],
    lengths: [usize; N],
}

impl<const N: usize> Columns<N> {
    pub(crate) fn new() -> std::io::Result<Columns<N>> {
        Ok(Columns {
            unpacker: Some(Unpacker::new()?),
            buffers: std::array::from_fn(|_| Vec::new()),
            lengths: [0; N],
        })
    }

    /// Returns the total raw length of the columns of `payload`, from its column table.
    pub(crate) fn raw_bytes(&self, payload: &[u8]) -> u64 {
        let table = payload.get(..N * COLUMN_ENTRY_BYTES).unwrap_or_default();
        let raw = table.chunks_exact(COLUMN_ENTRY_BYTES).map(|entry| u64::from(u32_at(entry, 0)));
        raw.sum()
    }

    /// Unpacks all columns. A column longer than its limit is an error, which bounds the memory
    /// used.
    pub(crate) fn unpack(
        &mut self,
        payload: &[u8],
        codec: u8,
        limits: [u64; N],
    ) -> Result<(), ColumnFault> {
        self.unpack_some(payload, codec, limits, |_| true)
    }

    /// Unpacks the columns that `is_wanted` selects and leaves the others empty.
    pub(crate) fn unpack_some(
        &mut self,
        payload: &[u8],
        codec: u8,
        limits: [u64; N],
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<(), ColumnFault> {
        self.clear();
        if codec > CODEC_ZSTD {
            return Err(ColumnFault::Inconsistent("unknown codec"));
        }
        let (table, mut rest) = payload
            .split_at_checked(N * COLUMN_ENTRY_BYTES)
            .ok_or(ColumnFault::Inconsistent("the payload is shorter than its column table"))?;
        for (i, limit) in limits.into_iter().enumerate() {
            let raw = u32_at(table, i * COLUMN_ENTRY_BYTES);
            let stored = u32_at(table, i * COLUMN_ENTRY_BYTES + 4);
            if u64::from(raw) > limit {
                return Err(ColumnFault::TooLarge { raw: raw.into(), limit });
            }
            let bytes;
            (bytes, rest) = rest
                .split_at_checked(stored as usize)
                .ok_or(ColumnFault::Inconsistent("a column is longer than the payload"))?;
            if is_wanted(i) {
                self.unpack_one(i, bytes, raw as usize, codec)?;
            }
        }
        if !rest.is_empty() {
            return Err(ColumnFault::Inconsistent("bytes follow the last column"));
        }
        Ok(())
    }

    /// Creates columns for a reader that pauses between chunks and then keeps no decompressor.
    pub(crate) fn paused() -> Columns<N> {
        Columns { unpacker: None, buffers: std::array::from_fn(|_| Vec::new()), lengths: [0; N] }
    }

    /// Drops the decompressor until the next chunk.
    pub(crate) fn pause(&mut self) {
        self.unpacker = None;
    }

    /// Makes all columns empty.
    pub(crate) fn clear(&mut self) {
        self.lengths = [0; N];
    }

    fn unpack_one(
        &mut self,
        i: usize,
        stored: &[u8],
        raw: usize,
        codec: u8,
    ) -> Result<(), ColumnFault> {
        let buffer = &mut self.buffers[i];
        if stored.len() == raw {
            make_room(buffer, raw);
            buffer[..raw].copy_from_slice(stored);
        } else if codec != CODEC_ZSTD {
            return Err(ColumnFault::Inconsistent("a plain column has two lengths"));
        } else if raw <= LONG || raw + PADDING <= buffer.len() {
            make_room(buffer, raw);
            let unpacker = match &mut self.unpacker {
                Some(unpacker) => unpacker,
                none => none.insert(Unpacker::new().map_err(|_| WRONG_LENGTH)?),
            };
            let n = unpacker.unpack(stored, &mut buffer[..raw]);
            if n.ok() != Some(raw) {
                return Err(WRONG_LENGTH);
            }
        } else {
            unpack_long(buffer, stored, raw)?;
        }
        buffer[raw..raw + PADDING].fill(0);
        self.lengths[i] = raw;
        Ok(())
    }

    /// Returns the content of column `i`.
    pub(crate) fn column(&self, i: usize) -> &[u8] {
        &self.buffers[i][..self.lengths[i]]
    }

    /// Returns the content of all columns.
    pub(crate) fn all(&self) -> [&[u8]; N] {
        std::array::from_fn(|i| self.column(i))
    }

    /// Returns the content of column `i` and the zeros that follow it.
    #[inline]
    pub(crate) fn padded(&self, i: usize) -> &[u8] {
        &self.buffers[i][..self.lengths[i] + PADDING]
    }

    /// Returns the length of column `i` in bytes.
    #[inline]
    pub(crate) fn length(&self, i: usize) -> usize {
        self.lengths[i]
    }
}
