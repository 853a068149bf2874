//! Output of chunks to the sink, with an index of them.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sim_files::{File, NewFile, Unfinished};
use xxhash_rust::xxh3::xxh3_64;

use super::summary::Summary;
use crate::column::ColumnPacker;
use crate::error::TraceError;
use crate::image::CodeImage;
use crate::index::{EndRecord, IndexEntry, put_index_entry};
use crate::layout::{
    ChunkHeader, ChunkKind, HEADER_BYTES, MAX_CHUNK_BLOCKS, MAX_CHUNK_INSTS, MAX_IMAGE_BYTES,
    MAX_META_BYTES, MINOR, MINOR_WITH_MAP, file_header_bytes,
};
use crate::meta::{MachineInfo, Meta};
use crate::page_map::PageMap;
use crate::varint::{put_varint, zigzag};
use sim_core::Shown;

/// The file under construction.
pub(crate) struct Output<W> {
    sink: W,
    path: PathBuf,
    offset: u64,
    machine: MachineInfo,
    minor: u16,
    has_map: bool,
    packer: ColumnPacker,
    /// Index entries of the written chunks.
    index: Vec<u8>,
    chunks: u32,
    written_meta: Option<Meta>,
    /// Number of written chunks by kind: META, IMAGE, BLOCKS.
    sequences: [u32; 3],
}

impl<W: Write + Seek> Output<W> {
    /// Writes the file header.
    pub(crate) fn begin(
        sink: W,
        path: PathBuf,
        meta: &Meta,
        level: i32,
    ) -> Result<Output<W>, TraceError> {
        let mut output = Output::resume(sink, path, (meta.machine, MINOR), level, &[])?;
        let header: [u8; HEADER_BYTES] = file_header_bytes(&meta.machine, MINOR);
        let doing = TraceError::io(&output.path, "writing the trace");
        output.sink.write_all(&header).map_err(doing)?;
        Ok(output)
    }

    /// Continues in a sink that contains the file header and the chunks of `entries`.
    pub(crate) fn resume(
        sink: W,
        path: PathBuf,
        (machine, minor): (MachineInfo, u16),
        level: i32,
        entries: &[IndexEntry],
    ) -> Result<Output<W>, TraceError> {
        let packer = ColumnPacker::new(level).map_err(TraceError::io(&path, "starting zstd"))?;
        let mut output = Output {
            sink,
            path,
            offset: HEADER_BYTES as u64,
            machine,
            minor,
            has_map: false,
            packer,
            index: Vec::new(),
            chunks: 0,
            written_meta: None,
            sequences: [0; 3],
        };
        for entry in entries {
            output.count(&entry.header);
            output.has_map |= entry.header.kind == ChunkKind::Map;
            if let ChunkKind::Meta | ChunkKind::Image | ChunkKind::Blocks = entry.header.kind {
                output.next_sequence(entry.header.kind);
            }
        }
        Ok(output)
    }

    /// Returns the machine and the minor version for the file header.
    pub(crate) fn machine(&self) -> (MachineInfo, u16) {
        (self.machine, self.minor)
    }

    fn next_sequence(&mut self, kind: ChunkKind) -> u32 {
        let counter = &mut self.sequences[usize::from(kind.number()) - 1];
        *counter += 1;
        *counter - 1
    }

    /// Packs and writes one chunk.
    pub(crate) fn chunk(
        &mut self,
        mut header: ChunkHeader,
        columns: &[&[u8]],
    ) -> Result<(), TraceError> {
        let (payload, codec) =
            self.packer.pack(columns).map_err(TraceError::io(&self.path, "compressing"))?;
        header.codec = codec;
        header.columns = columns.len() as u8;
        header.payload_bytes = payload.len() as u32;
        header.payload_hash = xxh3_64(payload);
        self.sink
            .write_all(&header.to_bytes())
            .and_then(|()| self.sink.write_all(payload))
            .map_err(TraceError::io(&self.path, "writing the trace"))?;
        self.count(&header);
        Ok(())
    }

    /// Writes a chunk whose payload is packed already.
    pub(crate) fn packed_chunk(
        &mut self,
        header: ChunkHeader,
        payload: &[u8],
    ) -> Result<(), TraceError> {
        self.sink
            .write_all(&header.to_bytes())
            .and_then(|()| self.sink.write_all(payload))
            .map_err(TraceError::io(&self.path, "writing the trace"))?;
        self.count(&header);
        Ok(())
    }

    /// Adds a written chunk to the index.
    fn count(&mut self, header: &ChunkHeader) {
        put_index_entry(&mut self.index, self.offset, header);
        self.chunks += 1;
        self.offset += header.total_bytes();
    }

    /// Writes META unless it was written before, so that an unfinished file has META, too.
    pub(crate) fn meta_once(&mut self, meta: &Meta) -> Result<(), TraceError> {
        if self.written_meta.is_none() { self.meta(meta) } else { Ok(()) }
    }

    /// Writes META unless it equals the last one.
    pub(crate) fn meta(&mut self, meta: &Meta) -> Result<(), TraceError> {
        if self.written_meta.as_ref() == Some(meta) {
            return Ok(());
        }
        let text = serde_json::to_vec(meta)
            .map_err(|_| TraceError::Rejected("META cannot be written as JSON"))?;
        if text.len() as u64 > MAX_META_BYTES {
            return Err(TraceError::Rejected("META is over 64 MiB; leave symbols out"));
        }
        let header = ChunkHeader::new(ChunkKind::Meta, self.next_sequence(ChunkKind::Meta));
        self.written_meta = Some(meta.clone());
        self.chunk(header, &[&text])
    }

    /// Flushes all chunks to the operating system.
    pub(crate) fn flush(&mut self) -> Result<(), TraceError> {
        self.sink.flush().map_err(TraceError::io(&self.path, "writing the trace"))
    }

    /// Raises the minor version to at least `minor`, which the content needs.
    pub(crate) fn needs(&mut self, minor: u16) {
        self.minor = self.minor.max(minor);
    }

    /// Writes the page map. A file has at most one.
    pub(crate) fn page_map(&mut self, map: &PageMap) -> Result<(), TraceError> {
        if self.has_map {
            return Err(TraceError::Rejected("a trace has one page map"));
        }
        self.has_map = true;
        self.needs(MINOR_WITH_MAP);
        let header = ChunkHeader {
            blocks: map.entries().len() as u32,
            ..ChunkHeader::new(ChunkKind::Map, 0)
        };
        self.chunk(header, &[&map.encode()])
    }

    /// Writes the pages at the addresses `vas`.
    pub(crate) fn image(&mut self, image: &CodeImage, vas: &[u64]) -> Result<(), TraceError> {
        // Use a quarter of the limit of readers.
        let pages_per_chunk = (MAX_IMAGE_BYTES / 4 / u64::from(image.page_bytes())) as usize;
        let page_bytes = u64::from(image.page_bytes());
        for vas in vas.chunks(pages_per_chunk.max(1)) {
            let (mut places, mut bytes, mut expected) = (Vec::new(), Vec::new(), 0u64);
            for &va in vas {
                put_varint(&mut places, zigzag((va / page_bytes).wrapping_sub(expected)));
                expected = va / page_bytes + 1;
                bytes.extend_from_slice(image.page(va).expect("a pending page is in the image"));
            }
            let sequence = self.next_sequence(ChunkKind::Image);
            let header = ChunkHeader {
                blocks: vas.len() as u32,
                ..ChunkHeader::new(ChunkKind::Image, sequence)
            };
            self.chunk(header, &[&places, &bytes])?;
        }
        Ok(())
    }

    /// Writes block definitions, numbered from `first`.
    pub(crate) fn blocks<'a>(
        &mut self,
        mut first: u64,
        blocks: impl Iterator<Item = (u64, &'a [u32])>,
        image: &CodeImage,
    ) -> Result<(), TraceError> {
        let mut open = BlockColumns::default();
        for (pc, words) in blocks {
            open.push(pc, words, image);
            if open.blocks == MAX_CHUNK_BLOCKS / 16 || open.instructions >= MAX_CHUNK_INSTS / 2 {
                self.block_chunk(first, &open)?;
                first += u64::from(open.blocks);
                open = BlockColumns::default();
            }
        }
        if open.blocks > 0 { self.block_chunk(first, &open) } else { Ok(()) }
    }

    fn block_chunk(&mut self, first: u64, open: &BlockColumns) -> Result<(), TraceError> {
        let header = ChunkHeader {
            blocks: open.blocks,
            instructions: open.instructions,
            first,
            ..ChunkHeader::new(ChunkKind::Blocks, self.next_sequence(ChunkKind::Blocks))
        };
        self.chunk(header, &[&open.heads, &open.words])
    }

    /// Writes INDEX and END, and the file header again if its content has changed.
    pub(crate) fn end(mut self, meta: &Meta, totals: &Summary) -> Result<(u64, W), TraceError> {
        let index_offset = self.offset;
        let index = std::mem::take(&mut self.index);
        self.chunk(ChunkHeader::new(ChunkKind::Index, 0), &[&index])?;
        let record = EndRecord {
            index_offset,
            chunks: self.chunks,
            streams: totals.streams,
            instructions: totals.instructions,
            accesses: totals.accesses,
            blocks: totals.blocks,
            events: totals.events,
        };
        let payload = record.to_bytes();
        let header = ChunkHeader {
            payload_bytes: payload.len() as u32,
            payload_hash: xxh3_64(&payload),
            ..ChunkHeader::new(ChunkKind::End, 0)
        };
        self.packed_chunk(header, &payload)?;
        if meta.machine != self.machine || self.minor != MINOR {
            self.rewrite_file_header(meta)?;
        }
        self.flush()?;
        Ok((self.offset, self.sink))
    }

    fn rewrite_file_header(&mut self, meta: &Meta) -> Result<(), TraceError> {
        if meta.machine.page_bytes != self.machine.page_bytes {
            return Err(TraceError::Rejected("the page size changed while the trace was written"));
        }
        crate::layout::check_machine(&meta.machine).map_err(TraceError::Rejected)?;
        let header: [u8; HEADER_BYTES] = file_header_bytes(&meta.machine, self.minor);
        self.sink
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.sink.write_all(&header))
            .and_then(|()| self.sink.seek(SeekFrom::End(0)))
            .map_err(TraceError::io(&self.path, "writing the file header"))?;
        Ok(())
    }
}

/// Columns of a BLOCKS chunk under construction.
#[derive(Default)]
struct BlockColumns {
    heads: Vec<u8>,
    words: Vec<u8>,
    blocks: u32,
    instructions: u32,
    expected_pc: u64,
}

impl BlockColumns {
    fn push(&mut self, pc: u64, words: &[u32], image: &CodeImage) {
        let inline = !image.holds(pc, words);
        let distance = pc.wrapping_sub(self.expected_pc).cast_signed() / 4;
        put_varint(&mut self.heads, zigzag(distance.cast_unsigned()));
        put_varint(&mut self.heads, (words.len() as u64) << 1 | u64::from(inline));
        if inline {
            self.words.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        self.expected_pc = pc + 4 * words.len() as u64;
        self.blocks += 1;
        self.instructions += words.len() as u32;
    }
}

/// Creates the temporary file of a trace at `destination` by `make`.
pub(crate) fn begin_file(
    destination: &Path,
    make: fn(&Path) -> io::Result<NewFile>,
) -> Result<(Unfinished, File), TraceError> {
    check_destination(destination)?;
    let made = make(destination).map_err(TraceError::io(destination, "making the trace file"))?;
    Ok(made.split())
}

/// Gives the finished trace its name. The sink has no buffered data.
pub(crate) fn end_file(temp: Unfinished, sink: BufWriter<File>) -> Result<(), TraceError> {
    let destination = temp.destination().to_path_buf();
    let finish = || {
        let file = sink.into_inner().map_err(io::IntoInnerError::into_error)?;
        temp.finish(&file)
    };
    finish().map_err(TraceError::io(&destination, "naming the finished trace"))
}

/// Checks that `path` names a regular file or nothing. Renaming over a device would replace the
/// device.
fn check_destination(path: &Path) -> Result<(), TraceError> {
    let refuse = |what: String| Err(TraceError::Destination { path: path.to_path_buf(), what });
    match path.metadata() {
        Ok(found) if found.is_dir() => return refuse(String::from("this is a directory")),
        Ok(found) if !found.is_file() => return refuse(String::from("this is a device or a pipe")),
        _ => {}
    }
    match path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        Some(directory) if !directory.is_dir() => {
            refuse(format!("there is no directory {}", directory.shown()))
        }
        _ => Ok(()),
    }
}
