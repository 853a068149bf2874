//! Byte source of a trace: checked reads of whole chunks, and places for messages.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::column::ColumnFault;
use crate::error::{Place, TraceError};
use crate::index::IndexEntry;
use crate::layout::{ChunkHeader, HEADER_BYTES};
use crate::limits::TooLarge;

/// The bytes of a trace, shared by several readers. A chunk is one read under the lock.
pub(crate) struct Source<R> {
    bytes: Mutex<R>,
    path: PathBuf,
    length: u64,
}

impl<R: Read + Seek> Source<R> {
    /// Creates a source from bytes and finds their length.
    pub(crate) fn new(mut bytes: R, path: &Path) -> Result<Source<R>, TraceError> {
        let length = bytes.seek(SeekFrom::End(0)).map_err(TraceError::io(path, "reading"))?;
        Ok(Source { bytes: Mutex::new(bytes), path: path.to_path_buf(), length })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` from `offset`.
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), TraceError> {
        // The lock protects no state that a panicking reader could leave inconsistent.
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = |bytes: &mut R| -> io::Result<()> {
            bytes.seek(SeekFrom::Start(offset))?;
            bytes.read_exact(buffer)
        };
        read(&mut bytes).map_err(TraceError::io(&self.path, "reading the trace"))
    }

    /// Reads a chunk into the reused `buffer` and checks it. Returns its payload. The caller has
    /// checked that the chunk lies within the file.
    pub(crate) fn chunk<'b>(
        &self,
        entry: &IndexEntry,
        place: impl Fn() -> Place,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], TraceError> {
        buffer.resize(entry.header.total_bytes() as usize, 0);
        self.read_at(entry.offset, buffer)?;
        let (header, payload) = buffer.split_at(HEADER_BYTES);
        if header != entry.header.to_bytes() {
            return Err(TraceError::Checksum { place: place(), part: "header" });
        }
        if xxh3_64(payload) != entry.header.payload_hash {
            return Err(TraceError::Checksum { place: place(), part: "payload" });
        }
        Ok(payload)
    }
}

/// All chunks of a file, and the number of intact instructions before each.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkList {
    pub(crate) entries: Vec<IndexEntry>,
    /// Numbers of the chunks in the file. INDEX has a number, but no entry here.
    numbers: Vec<u32>,
    good: Vec<u64>,
    total: u64,
}

impl ChunkList {
    /// Adds chunk `number` of the file.
    pub(crate) fn push(&mut self, number: u32, offset: u64, header: ChunkHeader) {
        self.numbers.push(number);
        self.entries.push(IndexEntry { offset, header });
        self.good.push(self.total);
        if header.kind == crate::layout::ChunkKind::Stream {
            self.total += u64::from(header.instructions);
        }
    }

    /// Returns the number that the next chunk would have.
    fn next_number(&self) -> u32 {
        self.numbers.last().map_or(0, |last| last + 1)
    }

    /// Returns the place of the END chunk, which is at `offset` after `chunks` chunks.
    pub(crate) fn end_place(&self, path: &Path, offset: u64, chunks: u32) -> Place {
        Place { chunk: chunks, offset, ..self.place(path, self.entries.len()) }
    }

    /// Returns the place of the `k`-th of these chunks, or the place after the last.
    pub(crate) fn place(&self, path: &Path, k: usize) -> Place {
        let end =
            self.entries.last().map_or(HEADER_BYTES as u64, |e| e.offset + e.header.total_bytes());
        Place {
            path: path.to_path_buf(),
            chunk: self.numbers.get(k).copied().unwrap_or(self.next_number()),
            offset: self.entries.get(k).map_or(end, |e| e.offset),
            good_instructions: self.good.get(k).copied().unwrap_or(self.total),
        }
    }
}

/// Conversion of faults without a place into errors with a place.
pub(crate) trait At<T> {
    fn at(self, place: impl FnOnce() -> Place) -> Result<T, TraceError>;
}

impl<T> At<T> for Result<T, TooLarge> {
    fn at(self, place: impl FnOnce() -> Place) -> Result<T, TraceError> {
        self.map_err(|TooLarge { what, value, limit }| TraceError::TooLarge {
            place: place(),
            what,
            value,
            limit,
        })
    }
}

impl<T> At<T> for Result<T, ColumnFault> {
    fn at(self, place: impl FnOnce() -> Place) -> Result<T, TraceError> {
        self.map_err(|fault| match fault {
            ColumnFault::Inconsistent(what) => TraceError::Inconsistent { place: place(), what },
            ColumnFault::TooLarge { raw, limit } => TraceError::TooLarge {
                place: place(),
                what: "a column's unpacked length",
                value: raw,
                limit,
            },
        })
    }
}

impl<T> At<T> for Result<T, &'static str> {
    fn at(self, place: impl FnOnce() -> Place) -> Result<T, TraceError> {
        self.map_err(|what| TraceError::Inconsistent { place: place(), what })
    }
}
