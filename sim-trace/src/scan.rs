//! Search for the chunks of a file: through the index at its end, or from header to header if the
//! end is damaged or missing.

use std::io::{Read, Seek};

use crate::column::Columns;
use crate::error::{Place, TraceError};
use crate::index::{END_BYTES, EndRecord, INDEX_ENTRY_BYTES, IndexEntry, index_entries};
use crate::layout::{ChunkHeader, ChunkKind, HEADER_BYTES, HeaderFault};
use crate::source::{ChunkList, Source};

/// Size of the END chunk, in bytes.
const END_CHUNK_BYTES: u64 = (HEADER_BYTES + END_BYTES) as u64;

/// The chunks of a complete file.
pub(crate) struct Found {
    pub(crate) chunks: ChunkList,
    /// True if the index was damaged and the chunks were found by their headers.
    pub(crate) index_rebuilt: bool,
    /// Totals in END.
    pub(crate) totals: EndRecord,
}

/// Returns the chunks of a complete file.
///
/// # Errors
/// The file ends early, or neither index nor headers give as many chunks as END counts.
pub(crate) fn find_chunks<R: Read + Seek>(source: &Source<R>) -> Result<Found, TraceError> {
    let end = read_end(source)?;
    if let Some(totals) = end
        && let Some(chunks) = read_index(source, &totals)?
    {
        return Ok(Found { chunks, index_rebuilt: false, totals });
    }
    let Walked { chunks, number, damage } = walk(source, false)?;
    let place = chunks.place(source.path(), chunks.entries.len());
    match (damage, end) {
        // Damage to INDEX loses no data.
        (damage, Some(totals))
            if (damage.is_none() || totals.index_offset == place.offset)
                && chunks.entries.len() + 1 == totals.chunks as usize =>
        {
            Ok(Found { chunks, index_rebuilt: true, totals })
        }
        (Some(damage), _) => Err(damage),
        (None, _) => Err(TraceError::Inconsistent {
            place: chunks.end_place(source.path(), end_offset(source), number),
            what: "the chunk count of END differs from the number of chunks",
        }),
    }
}

/// Returns the offset of END in a complete file.
pub(crate) fn end_offset<R: Read + Seek>(source: &Source<R>) -> u64 {
    source.length().saturating_sub(END_CHUNK_BYTES)
}

/// Returns the totals at the end of the file, if they are intact.
fn read_end<R: Read + Seek>(source: &Source<R>) -> Result<Option<EndRecord>, TraceError> {
    let least = HEADER_BYTES as u64 + END_CHUNK_BYTES;
    let Some(offset) = source.length().checked_sub(END_CHUNK_BYTES) else {
        return Ok(None);
    };
    if source.length() < least {
        return Ok(None);
    }
    let mut header = [0; HEADER_BYTES];
    let mut payload = [0; END_BYTES];
    source.read_at(offset, &mut header)?;
    source.read_at(offset + HEADER_BYTES as u64, &mut payload)?;
    let intact = ChunkHeader::from_bytes(&header).is_ok_and(|h| is_end(&h, &payload));
    Ok(intact.then(|| EndRecord::from_bytes(&payload)))
}

fn is_end(header: &ChunkHeader, payload: &[u8; END_BYTES]) -> bool {
    header.kind == ChunkKind::End
        && header.payload_bytes as usize == END_BYTES
        && header.payload_hash == xxhash_rust::xxh3::xxh3_64(payload)
}

/// Returns the chunks in the index, if it is intact and its entries cover the file without gaps.
fn read_index<R: Read + Seek>(
    source: &Source<R>,
    end: &EndRecord,
) -> Result<Option<ChunkList>, TraceError> {
    let Some((entry, payload)) = read_index_payload(source, end)? else {
        return Ok(None);
    };
    // Each chunk has a header of 64 bytes, so the size of the file bounds the number of entries.
    let limit = source.length() / HEADER_BYTES as u64 * INDEX_ENTRY_BYTES as u64;
    let mut columns =
        Columns::<1>::new().map_err(TraceError::io(source.path(), "starting zstd"))?;
    if entry.header.columns != 1 || columns.unpack(&payload, entry.header.codec, [limit]).is_err() {
        return Ok(None);
    }
    let mut chunks = ChunkList::default();
    let mut expected = HEADER_BYTES as u64;
    for (number, found) in (0..).zip(index_entries(columns.column(0))) {
        match found {
            Ok(found) if found.offset == expected => {
                expected += found.header.total_bytes();
                chunks.push(number, found.offset, found.header);
            }
            _ => return Ok(None),
        }
    }
    let whole = columns.length(0).is_multiple_of(INDEX_ENTRY_BYTES)
        && expected == entry.offset
        && chunks.entries.len() + 1 == end.chunks as usize;
    Ok(whole.then_some(chunks))
}

/// Returns header and payload of the INDEX chunk, if it is at the offset in END and ends at END.
fn read_index_payload<R: Read + Seek>(
    source: &Source<R>,
    end: &EndRecord,
) -> Result<Option<(IndexEntry, Vec<u8>)>, TraceError> {
    let offset = end.index_offset;
    let end_of_index = source.length() - END_CHUNK_BYTES;
    if offset < HEADER_BYTES as u64 || end_of_index.saturating_sub(offset) < HEADER_BYTES as u64 {
        return Ok(None);
    }
    let mut header = [0; HEADER_BYTES];
    source.read_at(offset, &mut header)?;
    let Ok(header) = ChunkHeader::from_bytes(&header) else {
        return Ok(None);
    };
    if header.kind != ChunkKind::Index || offset + header.total_bytes() != end_of_index {
        return Ok(None);
    }
    let entry = IndexEntry { offset, header };
    let mut buffer = Vec::new();
    let place = || ChunkList::default().place(source.path(), 0);
    let payload = source.chunk(&entry, place, &mut buffer).map(<[u8]>::to_vec);
    Ok(payload.ok().map(|payload| (entry, payload)))
}

/// Chunks found by their headers.
pub(crate) struct Walked {
    pub(crate) chunks: ChunkList,
    /// Number of the chunk at which the walk ended.
    number: u32,
    /// Damage at that chunk, if it is not END.
    pub(crate) damage: Option<TraceError>,
}

/// Walks from header to header up to END or the first damage. Returns the chunks before it without
/// INDEX, and the damage. With `payloads`, checks the payloads, too.
pub(crate) fn walk<R: Read + Seek>(
    source: &Source<R>,
    payloads: bool,
) -> Result<Walked, TraceError> {
    let mut chunks = ChunkList::default();
    let mut offset = HEADER_BYTES as u64;
    let mut buffer = Vec::new();
    // INDEX has a number, although it is not kept.
    let mut number = 0u32;
    loop {
        let place = || {
            let place = chunks.place(source.path(), chunks.entries.len());
            Place { offset, chunk: number, ..place }
        };
        let header = match next_header(source, offset)? {
            Ok(header) => header,
            Err(stop) => {
                let damage = stop.into_error(place());
                return Ok(Walked { chunks, number, damage: Some(damage) });
            }
        };
        let check = payloads || header.kind == ChunkKind::End;
        let entry = IndexEntry { offset, header };
        if check && let Err(damage) = source.chunk(&entry, place, &mut buffer) {
            return Ok(Walked { chunks, number, damage: Some(damage) });
        }
        match header.kind {
            ChunkKind::End if offset + header.total_bytes() < source.length() => {
                let what = "bytes follow this END chunk";
                let damage = TraceError::Inconsistent { place: place(), what };
                return Ok(Walked { chunks, number, damage: Some(damage) });
            }
            ChunkKind::End => return Ok(Walked { chunks, number, damage: None }),
            ChunkKind::Index => {}
            _ => chunks.push(number, offset, header),
        }
        offset += header.total_bytes();
        number = number.saturating_add(1);
    }
}

/// Reason why no header follows.
enum Stop {
    Cut(&'static str),
    Damaged,
}

impl Stop {
    fn into_error(self, place: Place) -> TraceError {
        match self {
            Stop::Cut(what) => TraceError::Truncated { place, what },
            Stop::Damaged => TraceError::Checksum { place, part: "header" },
        }
    }
}

fn next_header<R: Read + Seek>(
    source: &Source<R>,
    offset: u64,
) -> Result<Result<ChunkHeader, Stop>, TraceError> {
    let left = source.length() - offset;
    if left == 0 {
        return Ok(Err(Stop::Cut("the END chunk is missing")));
    }
    if left < HEADER_BYTES as u64 {
        return Ok(Err(Stop::Cut("its header is truncated")));
    }
    let mut bytes = [0; HEADER_BYTES];
    source.read_at(offset, &mut bytes)?;
    Ok(match ChunkHeader::from_bytes(&bytes) {
        Err(HeaderFault::Magic | HeaderFault::Checksum) => Err(Stop::Damaged),
        Ok(header) if header.total_bytes() > left => Err(Stop::Cut("its payload is truncated")),
        Ok(header) => Ok(header),
    })
}
