//! Open traces. All data but the streams is in memory; streams are read chunk by chunk.

mod shared;

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sim_core::MemoryBudget;
use sim_files::File;
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::{Place, TraceError, recognize};
use crate::image::CodeImage;
use crate::index::IndexEntry;
use crate::layout::{
    ChunkKind, FILE_MAGIC, FileHeaderFault, HEADER_BYTES, MAJOR, MINOR, MINOR_WITH_TICKETS,
    parse_file_header,
};
use crate::limits::stream_columns;
use crate::load::{Code, load_code, load_meta, load_page_map};
use crate::meta::{MachineInfo, Meta};
use crate::page_map::PageMap;
use crate::reader::{StreamReader, TicketReader};
use crate::scan::{Found, Walked, end_offset, find_chunks, walk};
use crate::source::{At, ChunkList, Source};
use crate::statics::StaticTable;

pub(crate) use shared::Shared;
pub use shared::StreamInfo;

/// An open trace file. Its memory does not depend on the length of the streams.
pub struct TraceFile<R: Read + Seek = File> {
    shared: Arc<Shared<R>>,
}

impl TraceFile {
    /// Opens the intact part of a damaged or unfinished trace: all chunks before the first damage.
    /// Returns the damage, too. Reads the whole file.
    ///
    /// # Errors
    /// The file header is damaged, or the intact part lacks code or META.
    pub fn recover(path: &Path) -> Result<(TraceFile, Option<TraceError>), TraceError> {
        TraceFile::recover_within(path, &MemoryBudget::default())
    }

    /// Opens the intact part of a trace like [`TraceFile::recover`], and reserves memory in
    /// `budget`.
    ///
    /// # Errors
    /// The same as for [`TraceFile::recover`], or the code of the trace exceeds the budget.
    pub fn recover_within(
        path: &Path,
        budget: &MemoryBudget,
    ) -> Result<(TraceFile, Option<TraceError>), TraceError> {
        recover(open_file(path)?, path, budget)
    }
}

/// Opens a regular file. Refuses directories, devices and pipes.
pub(crate) fn open_file(path: &Path) -> Result<File, TraceError> {
    let refuse = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => TraceError::NotFound(path.to_path_buf()),
        _ => TraceError::Io { path: path.to_path_buf(), doing: "opening", source },
    };
    // Check before opening: opening a pipe waits for a writer.
    let kind = path.metadata().map_err(refuse)?.file_type();
    if !kind.is_file() {
        let found = if kind.is_dir() { "a directory" } else { "a device or a pipe" };
        return Err(TraceError::NotAFile { path: path.to_path_buf(), found });
    }
    File::open(path).map_err(refuse)
}

impl<R: Read + Seek> TraceFile<R> {
    /// Opens a complete trace from any bytes. `path` is used in messages.
    ///
    /// # Errors
    /// The same as for [`TraceFile::open`].
    pub fn from_reader(bytes: R, path: &Path) -> Result<TraceFile<R>, TraceError> {
        TraceFile::from_reader_within(bytes, path, &MemoryBudget::default())
    }

    /// Opens a complete trace from any bytes, and reserves memory in `budget`. `path` is used in
    /// messages.
    ///
    /// # Errors
    /// The same as for [`TraceFile::open_within`].
    pub fn from_reader_within(
        bytes: R,
        path: &Path,
        budget: &MemoryBudget,
    ) -> Result<TraceFile<R>, TraceError> {
        let source = Source::new(bytes, path)?;
        let (machine, minor) = read_file_header(&source)?;
        let Found { chunks, index_rebuilt, totals } = find_chunks(&source)?;
        let file = TraceFile::load(source, (machine, minor), chunks, index_rebuilt, budget)?;
        if file.instructions() != totals.instructions {
            let what = "the instruction count of END differs from that of the chunks";
            let Shared { chunks, source, .. } = &*file.shared;
            return Err(what)
                .at(|| chunks.end_place(source.path(), end_offset(source), totals.chunks));
        }
        Ok(file)
    }

    /// Opens the intact part of a trace from any bytes. `path` is used in messages.
    ///
    /// # Errors
    /// The same as for [`TraceFile::recover`].
    pub fn recover_from_reader(
        bytes: R,
        path: &Path,
    ) -> Result<(TraceFile<R>, Option<TraceError>), TraceError> {
        recover(bytes, path, &MemoryBudget::default())
    }

    fn load(
        source: Source<R>,
        (machine, minor): (MachineInfo, u16),
        chunks: ChunkList,
        index_rebuilt: bool,
        budget: &MemoryBudget,
    ) -> Result<TraceFile<R>, TraceError> {
        let streams = find_streams(&source, &chunks)?;
        let meta = load_meta(&source, &chunks, machine)?;
        let page_map = load_page_map(&source, &chunks)?;
        let Code { image, statics, reserved } =
            load_code(&source, &chunks, machine.page_bytes, budget)?;
        let hash = content_hash(&machine, &chunks.entries);
        let shared = Shared {
            source,
            chunks,
            statics,
            minor,
            meta,
            page_map,
            image,
            streams,
            hash,
            index_rebuilt,
            budget: budget.clone(),
            _code: reserved,
        };
        Ok(TraceFile { shared: Arc::new(shared) })
    }

    /// Returns origin and limits of the trace.
    pub fn meta(&self) -> &Meta {
        &self.shared.meta
    }

    /// Returns the physical pages of the program, if the trace contains them.
    pub fn page_map(&self) -> Option<&PageMap> {
        self.shared.page_map.as_ref()
    }

    /// Returns the memory budget of this file and its readers.
    pub fn budget(&self) -> &MemoryBudget {
        &self.shared.budget
    }

    /// Returns the path by which the file was opened.
    pub fn path(&self) -> &Path {
        self.shared.source.path()
    }

    /// Returns the size of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.shared.source.length()
    }

    /// Returns major and minor version of the format.
    pub fn version(&self) -> (u16, u16) {
        (MAJOR, self.shared.minor)
    }

    /// Returns the content hash of the file: the xxh3 of the checksums of all chunks.
    pub fn hash(&self) -> u64 {
        self.shared.hash
    }

    /// Returns true if the index was lost and was rebuilt from the chunk headers.
    pub fn index_rebuilt(&self) -> bool {
        self.shared.index_rebuilt
    }

    /// Returns the static instructions and blocks.
    pub fn statics(&self) -> &StaticTable {
        &self.shared.statics
    }

    /// Returns the code pages, which wrong paths fetch from.
    pub fn image(&self) -> &CodeImage {
        &self.shared.image
    }

    /// Returns the streams of all threads, in order of number.
    pub fn streams(&self) -> &[StreamInfo] {
        &self.shared.streams
    }

    /// Returns the number of executed instructions of all streams.
    pub fn instructions(&self) -> u64 {
        self.streams().iter().map(|s| s.instructions).sum()
    }

    /// Returns all chunks but INDEX and END, in file order.
    pub fn chunks(&self) -> &[IndexEntry] {
        &self.shared.chunks.entries
    }

    /// Returns a reader of all instructions of `stream`.
    ///
    /// # Errors
    /// The file has no such stream.
    pub fn reader(&self, stream: u32) -> Result<StreamReader<R>, TraceError> {
        let chunks = self.stream(stream)?.chunks.len();
        self.range_reader(stream, 0..chunks)
    }

    /// Returns a reader of the `k`-th chunk of `stream` only.
    ///
    /// # Errors
    /// The file has no such stream or chunk.
    pub fn chunk_reader(&self, stream: u32, k: usize) -> Result<StreamReader<R>, TraceError> {
        self.range_reader(stream, k..k.saturating_add(1))
    }

    /// Returns a reader of `stream` from the start of the chunk that contains instruction
    /// `position` (or of the last chunk) to the end.
    ///
    /// # Errors
    /// The file has no such stream.
    pub fn reader_at(&self, stream: u32, position: u64) -> Result<StreamReader<R>, TraceError> {
        let info = self.stream(stream)?;
        let first = |&k: &u32| self.chunks()[k as usize].header.first;
        let k = info.chunks.partition_point(|chunk| first(chunk) <= position).saturating_sub(1);
        self.range_reader(stream, k..info.chunks.len())
    }

    /// Returns a reader of the chunks `range` of `stream`.
    ///
    /// # Errors
    /// The file has no such stream or chunks.
    pub fn range_reader(
        &self,
        stream: u32,
        range: Range<usize>,
    ) -> Result<StreamReader<R>, TraceError> {
        let info = self.stream(stream)?;
        let chunks = info.chunks.get(range.clone()).ok_or_else(|| TraceError::Absent {
            path: self.path().to_path_buf(),
            what: format!("chunk {range:?} in stream {stream}, which has {}", info.chunks.len()),
        })?;
        StreamReader::new(self.shared.clone(), chunks.to_vec())
    }

    /// Returns true if the file contains the order in which threads synchronized.
    pub fn has_tickets(&self) -> bool {
        self.shared.minor >= MINOR_WITH_TICKETS
    }

    /// Returns a reader of the tickets of `stream`, independent of its instructions.
    ///
    /// # Errors
    /// The file has no such stream.
    pub fn tickets(&self, stream: u32) -> Result<TicketReader<R>, TraceError> {
        Ok(TicketReader::new(self.shared.clone(), self.stream(stream)?.chunks.clone()))
    }

    /// Returns a reader of the tickets of `stream` that begins before those of instruction
    /// `position`, with the system call before it.
    ///
    /// # Errors
    /// The file has no such stream.
    pub fn tickets_at(&self, stream: u32, position: u64) -> Result<TicketReader<R>, TraceError> {
        let chunks = &self.stream(stream)?.chunks;
        let first = |&k: &u32| self.chunks()[k as usize].header.first;
        // A call that ends a chunk returns in the next one.
        let k = chunks.partition_point(|chunk| first(chunk) <= position).saturating_sub(2);
        Ok(TicketReader::new(self.shared.clone(), chunks[k..].to_vec()))
    }

    fn stream(&self, stream: u32) -> Result<&StreamInfo, TraceError> {
        let found = self.streams().binary_search_by_key(&stream, |info| info.stream);
        found.map(|at| &self.streams()[at]).map_err(|_| TraceError::Absent {
            path: self.path().to_path_buf(),
            what: format!("stream {stream}"),
        })
    }

    pub(crate) fn source(&self) -> &Source<R> {
        &self.shared.source
    }

    /// Returns the place of chunk `k`, for messages.
    pub(crate) fn place(&self, k: usize) -> Place {
        self.shared.chunks.place(self.path(), k)
    }

    /// Checks the chunks that are not streams. Appends damage to `faults`.
    pub(crate) fn check_other_chunks(
        &self,
        faults: &mut Vec<TraceError>,
    ) -> Result<(), TraceError> {
        let mut buffer = Vec::new();
        for (k, entry) in self.chunks().iter().enumerate() {
            if entry.header.kind == ChunkKind::Stream {
                continue;
            }
            match self.source().chunk(entry, || self.place(k), &mut buffer) {
                Ok(_) => {}
                Err(error @ TraceError::Io { .. }) => return Err(error),
                Err(fault) => faults.push(fault),
            }
        }
        Ok(())
    }
}

/// Opens the intact part of a file.
fn recover<R: Read + Seek>(
    bytes: R,
    path: &Path,
    budget: &MemoryBudget,
) -> Result<(TraceFile<R>, Option<TraceError>), TraceError> {
    let source = Source::new(bytes, path)?;
    let header = read_file_header(&source)?;
    let Walked { chunks, damage, .. } = walk(&source, true)?;
    Ok((TraceFile::load(source, header, chunks, true, budget)?, damage))
}

/// Checks signature, version and checksum of the file header.
fn read_file_header<R: Read + Seek>(source: &Source<R>) -> Result<(MachineInfo, u16), TraceError> {
    let path = source.path();
    let mut bytes = [0; HEADER_BYTES];
    let length = source.length().min(HEADER_BYTES as u64) as usize;
    source.read_at(0, &mut bytes[..length])?;
    let magic = length.min(FILE_MAGIC.len());
    if length == 0 {
        return Err(TraceError::Empty(path.to_path_buf()));
    }
    if bytes[..magic] != FILE_MAGIC[..magic] {
        let (found, remedy) = recognize(&bytes[..length]);
        return Err(TraceError::Foreign { path: path.to_path_buf(), found, remedy });
    }
    if length < HEADER_BYTES {
        let what = "the file ends inside it";
        return Err(TraceError::FileHeader { path: path.to_path_buf(), what });
    }
    parse_file_header(&bytes).map_err(|fault| match fault {
        FileHeaderFault::Major(found) => {
            TraceError::Version { path: path.to_path_buf(), found, supported: MAJOR }
        }
        FileHeaderFault::Other(what) => TraceError::FileHeader { path: path.to_path_buf(), what },
    })
}

/// Returns the streams of the file. The chunks of a stream must be consecutive.
fn find_streams<R: Read + Seek>(
    source: &Source<R>,
    chunks: &ChunkList,
) -> Result<Vec<StreamInfo>, TraceError> {
    let mut streams: BTreeMap<u32, StreamInfo> = BTreeMap::new();
    for (k, IndexEntry { header, .. }) in chunks.entries.iter().enumerate() {
        if header.kind != ChunkKind::Stream {
            continue;
        }
        let place = || chunks.place(source.path(), k);
        stream_columns(header).at(place)?;
        let info = streams
            .entry(header.stream)
            .or_insert_with(|| StreamInfo { stream: header.stream, ..StreamInfo::default() });
        if header.sequence as usize != info.chunks.len() || header.first != info.instructions {
            return Err("a chunk of this stream is missing or out of order").at(place);
        }
        info.chunks.push(k as u32);
        info.instructions += u64::from(header.instructions);
        info.blocks += u64::from(header.blocks);
        info.accesses += u64::from(header.accesses);
        info.events += u64::from(header.events);
    }
    Ok(streams.into_values().collect())
}

/// Returns the hash of the content: machine, and the checksums of all chunks in order.
fn content_hash(machine: &MachineInfo, entries: &[IndexEntry]) -> u64 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&crate::layout::file_header_bytes(machine, MINOR));
    for entry in entries {
        hasher.update(&entry.header.hash().to_le_bytes());
    }
    hasher.digest()
}
