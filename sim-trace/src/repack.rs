//! Rewriting of a trace at another compression level, or of the intact part of a damaged trace.

use std::io::{BufWriter, Read, Seek, Write};
use std::path::Path;

use sim_files::NewFile;

use crate::column::Columns;
use crate::error::TraceError;
use crate::file::TraceFile;
use crate::index::IndexEntry;
use crate::layout::{ChunkKind, MAX_META_BYTES};
use crate::limits::{blocks_columns, image_columns, stream_columns};
use crate::load::{check_columns, new_columns};
use crate::page_map::PageMap;
use crate::source::At;
use crate::writer::Summary;
use crate::writer::output::{Output, begin_file, end_file};

/// Writes the content of `file` to `destination` at zstd `level` (3 to keep, 19 to archive), with a
/// new index and totals. Copies chunks of unknown kinds unchanged.
///
/// # Errors
/// A chunk is damaged, or a system call fails. `destination` does not change then.
pub fn repack<R: Read + Seek>(
    file: &TraceFile<R>,
    destination: &Path,
    level: i32,
) -> Result<Summary, TraceError> {
    repack_with(file, destination, level, file.page_map())
}

/// Rewrites a trace like [`repack`], with `map` instead of the page map of `file`.
///
/// # Errors
/// The same as for [`repack`].
pub fn repack_with_map<R: Read + Seek>(
    file: &TraceFile<R>,
    destination: &Path,
    level: i32,
    map: &PageMap,
) -> Result<Summary, TraceError> {
    repack_with(file, destination, level, Some(map))
}

fn repack_with<R: Read + Seek>(
    file: &TraceFile<R>,
    destination: &Path,
    level: i32,
    map: Option<&PageMap>,
) -> Result<Summary, TraceError> {
    let (temp, sink) = begin_file(destination, NewFile::beside)?;
    let sink = BufWriter::with_capacity(1 << 18, sink);
    let mut output = Output::begin(sink, destination.to_path_buf(), file.meta(), level)?;
    // Write the map first, so that a truncated file has it, too.
    map.map_or(Ok(()), |map| output.page_map(map))?;
    output.needs(file.version().1);
    let mut repacker = Repacker {
        file,
        output,
        one: new_columns(file.path())?,
        two: new_columns(file.path())?,
        five: new_columns(file.path())?,
    };
    let mut buffer = Vec::new();
    for k in 0..file.chunks().len() {
        repacker.chunk(k, &mut buffer)?;
    }
    let mut summary = Summary {
        instructions: file.instructions(),
        streams: file.streams().len() as u32,
        distinct_blocks: file.statics().blocks() as u32,
        ..Summary::default()
    };
    for info in file.streams() {
        summary.blocks += info.blocks;
        summary.accesses += info.accesses;
        summary.events += info.events;
    }
    let (file_bytes, sink) = repacker.output.end(file.meta(), &summary)?;
    end_file(temp, sink)?;
    Ok(Summary { file_bytes, ..summary })
}

struct Repacker<'a, R: Read + Seek, W> {
    file: &'a TraceFile<R>,
    output: Output<W>,
    one: Columns<1>,
    two: Columns<2>,
    five: Columns<5>,
}

impl<R: Read + Seek, W: Write + Seek> Repacker<'_, R, W> {
    fn chunk(&mut self, k: usize, buffer: &mut Vec<u8>) -> Result<(), TraceError> {
        let entry @ IndexEntry { header, .. } = &self.file.chunks()[k];
        let place = || self.file.place(k);
        let payload = self.file.source().chunk(entry, place, buffer)?;
        match header.kind {
            ChunkKind::Meta => {
                check_columns::<1>(header).at(place)?;
                self.one.unpack(payload, header.codec, [MAX_META_BYTES]).at(place)?;
                self.output.chunk(*header, &self.one.all())
            }
            ChunkKind::Image | ChunkKind::Blocks => {
                check_columns::<2>(header).at(place)?;
                let limits = match header.kind {
                    ChunkKind::Image => image_columns(header, self.file.image().page_bytes()),
                    _ => blocks_columns(header),
                };
                self.two.unpack(payload, header.codec, limits.at(place)?).at(place)?;
                self.output.chunk(*header, &self.two.all())
            }
            ChunkKind::Stream => {
                check_columns::<5>(header).at(place)?;
                self.five
                    .unpack(payload, header.codec, stream_columns(header).at(place)?)
                    .at(place)?;
                self.output.chunk(*header, &self.five.all())
            }
            // The map was written first.
            ChunkKind::Map => Ok(()),
            _ => self.output.packed_chunk(*header, payload),
        }
    }
}
