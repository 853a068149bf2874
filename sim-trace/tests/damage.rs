//! Tests of damaged files: for any bytes, a reader returns instructions, or an error with a place.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;
use std::path::Path;

use crate::common::*;
use proptest::prelude::*;
use sim_core::MemoryBudget;
use sim_trace::{ChunkKind, TraceError, TraceFile, TraceWriter, verify_file};

type Streams = Vec<(u32, Played)>;

/// Recovers a damaged file. Returns the intact part of all streams, and the damage.
fn recovered(bytes: &[u8]) -> Result<(Streams, Option<TraceError>), TraceError> {
    let (file, damage) = TraceFile::recover_from_reader(Cursor::new(bytes.to_vec()), path())?;
    let streams = file.streams().iter().map(|s| s.stream);
    let played = streams.map(|s| Ok((s, play(&file, file.reader(s)?)?)));
    Ok((played.collect::<Result<_, TraceError>>()?, damage))
}

/// Returns true if each stream of `part` is a prefix of the same stream of `whole`.
fn is_prefix(part: &[(u32, Played)], whole: &[(u32, Played)]) -> bool {
    part.iter().all(|(stream, part)| {
        let whole = &whole.iter().find(|(s, _)| s == stream).unwrap().1;
        whole.insts.starts_with(&part.insts) && whole.events.starts_with(&part.events)
    })
}

#[test]
fn every_flipped_byte_is_found_or_harmless() {
    let bytes = sample().write();
    let whole = play_all(bytes.clone()).unwrap();
    let mut found = 0;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            match play_all(damaged.clone()) {
                Ok(played) => assert_eq!(played, whole, "byte {at} changed the content undetected"),
                Err(error) => {
                    found += 1;
                    let good = error.good_instructions();
                    let total: usize = whole.iter().map(|(_, p)| p.insts.len()).sum();
                    assert!(good.is_none_or(|good| good <= total as u64), "byte {at}: {error}");
                }
            }
            if at >= 64 {
                let (part, _) = recovered(&damaged).unwrap();
                assert!(is_prefix(&part, &whole), "byte {at}");
            }
        }
    }
    // INDEX can be rebuilt; all other damage must be detected.
    let index: usize = 64 + 72 * (count_chunks(&bytes));
    assert!(found >= 3 * (bytes.len() - index), "{found} of {}", 3 * bytes.len());
}

fn count_chunks(bytes: &[u8]) -> usize {
    open(bytes.to_vec()).unwrap().chunks().len()
}

#[test]
fn every_truncation_is_refused_with_the_number_of_recoverable_instructions() {
    let bytes = sample().write();
    let whole = play_all(bytes.clone()).unwrap();
    for length in 1..bytes.len() {
        let cut = &bytes[..length];
        let error = open(cut.to_vec()).err().unwrap_or_else(|| panic!("{length} bytes opened"));
        if length < 64 {
            assert!(matches!(error, TraceError::FileHeader { .. }), "{length}: {error}");
            continue;
        }
        assert!(matches!(error, TraceError::Truncated { .. }), "{length}: {error}");
        assert!(error.to_string().contains("memory.n2t: chunk "), "{error}");
        let good = error.good_instructions().unwrap();
        let (part, damage) = recovered(cut).unwrap();
        assert!(matches!(damage, Some(TraceError::Truncated { .. })), "{length}");
        assert!(is_prefix(&part, &whole), "{length}");
        let usable: usize = part.iter().map(|(_, p)| p.insts.len()).sum();
        assert_eq!(good, usable as u64, "{length}");
    }
}

#[test]
fn only_files_are_read_and_only_files_are_replaced() {
    let error_of = |path: &str| TraceFile::open(Path::new(path)).err().unwrap().to_string();
    assert!(error_of("/").contains("this is a directory"), "{}", error_of("/"));
    assert!(error_of("/dev/zero").contains("a device or a pipe"), "{}", error_of("/dev/zero"));

    let error_of = |path: &Path| match TraceWriter::create(path, sim_trace::Meta::default()) {
        Ok(_) => panic!("{} must be refused", path.display()),
        Err(error) => error.to_string(),
    };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    assert!(error_of(directory).contains("this is a directory"));
    assert!(error_of(Path::new("/dev/null")).contains("a device or a pipe"));
    assert!(error_of(&directory.join("no/a.n2t")).contains("there is no directory"));
}

#[test]
fn a_damaged_stream_chunk_stops_only_its_stream() {
    let bytes = sample().write();
    let file = open(bytes.clone()).unwrap();
    let last = *file.streams()[1].chunks.last().unwrap() as usize;
    let entry = file.chunks()[last];
    let before: u64 = file.chunks()[..last]
        .iter()
        .filter(|c| c.header.kind == ChunkKind::Stream)
        .map(|c| u64::from(c.header.instructions))
        .sum();
    for (at, part) in [(entry.offset + 40, "header"), (entry.offset + 70, "payload")] {
        let mut damaged = bytes.clone();
        damaged[at as usize] ^= 4;
        let file = open(damaged).unwrap();
        assert!(play(&file, file.reader(0).unwrap()).is_ok());
        let mut reader = file.reader(1).unwrap();
        let mut batch = Vec::new();
        let error = loop {
            match reader.next_batch(&mut batch) {
                Ok(more) => assert!(more, "the damage was not noticed"),
                Err(error) => break error,
            }
        };
        assert!(batch.is_empty() && !reader.next_batch(&mut batch).unwrap(), "an error is the end");
        let text = error.to_string();
        assert!(text.contains(&format!("chunk {last} at byte {}", entry.offset)), "{text}");
        assert!(text.contains(&format!("{part} checksum")), "{text}");
        assert_eq!(error.good_instructions(), Some(before));
    }
}

#[test]
fn a_lost_index_is_rebuilt() {
    let bytes = sample().write();
    let whole = play_all(bytes.clone()).unwrap();
    let file = open(bytes.clone()).unwrap();
    assert!(!file.index_rebuilt());
    let last = file.chunks().last().unwrap();
    let index = (last.offset + 64 + u64::from(last.header.payload_bytes)) as usize;
    for at in [index, index + 20, index + 64, index + 80] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let rebuilt = open(damaged.clone()).unwrap();
        assert!(rebuilt.index_rebuilt());
        assert_eq!(rebuilt.hash(), file.hash());
        assert_eq!(play_all(damaged).unwrap(), whole);
    }
}

#[test]
fn unknown_kinds_are_skipped_and_unknown_majors_refused() {
    let bytes = sample().write();
    let whole = play_all(bytes.clone()).unwrap();
    let file = open(bytes.clone()).unwrap();
    let mut longer = Forged::new();
    for (k, entry) in file.chunks().iter().enumerate() {
        if k % 2 == 0 {
            longer = longer.chunk(99, [7; 4], &[(9, vec![1, 2, 3])]);
        }
        let start = entry.offset as usize;
        let end = start + 64 + entry.header.payload_bytes as usize;
        longer.0.extend_from_slice(&bytes[start..end]);
    }
    let longer = longer.finish();
    assert!(!open(longer.clone()).unwrap().index_rebuilt());
    assert_eq!(play_all(longer).unwrap(), whole);

    let mut later = bytes;
    later[8] = 2;
    let error = open(later).err().unwrap();
    assert!(matches!(error, TraceError::Version { found: 2, supported: 1, .. }), "{error}");
}

#[test]
fn errors_of_other_files_name_their_kind() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "the file is empty"),
        (b"\x7fELF\x02\x01\x01", "an ELF header"),
        (b"\x1f\x8b\x08", "a gzip header"),
        (b"\x28\xb5\x2f\xfd\0\0", "a zstd frame"),
        (b"PERFILE2h\0\0\0", "a perf.data header"),
        (b"0 clk cpu0 IT (0) 00001000 d503201f", "begins with text"),
        (b"\x89N2T\n\x1a\n\0", "text-mode transfer"),
        (b"\0\0\0\0\0\0\0\0\0\0", "zeros"),
        (b"\x93\x01\x02\x03\x04\x05\x06\x07\x08\x09", "unknown bytes"),
    ];
    for (bytes, expected) in cases {
        let text = open(bytes.to_vec()).err().unwrap().to_string();
        assert!(text.starts_with("memory.n2t: "), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(bytes.is_empty() || text.contains("89 4e 32 54"), "{text}");
    }
    let absent = TraceFile::open(Path::new("no/such.n2t")).err().unwrap();
    assert!(matches!(absent, TraceError::NotFound(_)), "{absent}");
}

/// Returns a chunk header with correct checksums.
fn header(kind: u8, columns: u8, counts: [u32; 4], payload: &[u8]) -> [u8; 64] {
    let mut header = [0; 64];
    header[0..4].copy_from_slice(b"N2CK");
    header[4] = kind;
    header[6] = 1;
    header[7] = columns;
    header[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    for (i, count) in counts.iter().enumerate() {
        header[20 + 4 * i..24 + 4 * i].copy_from_slice(&count.to_le_bytes());
    }
    header[48..56].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(payload).to_le_bytes());
    let hash = xxhash_rust::xxh3::xxh3_64(&header[..56]);
    header[56..64].copy_from_slice(&hash.to_le_bytes());
    header
}

/// A forged file: a file header, and chunks of any content with correct checksums.
struct Forged(Vec<u8>);

impl Forged {
    fn new() -> Forged {
        Forged(sample().write()[..64].to_vec())
    }

    /// Appends a chunk. `counts` are blocks, instructions, accesses, events. `columns` are pairs of
    /// a claimed raw length and bytes.
    fn chunk(mut self, kind: u8, counts: [u32; 4], columns: &[(u32, Vec<u8>)]) -> Forged {
        let mut payload = Vec::new();
        for (raw, stored) in columns {
            payload.extend_from_slice(&raw.to_le_bytes());
            payload.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        }
        columns.iter().for_each(|(_, stored)| payload.extend_from_slice(stored));
        let header = header(kind, columns.len() as u8, counts, &payload);
        self.0.extend_from_slice(&header);
        self.0.extend_from_slice(&payload);
        self
    }

    /// Adds INDEX and END, so that the file is complete.
    fn finish(self) -> Vec<u8> {
        let mut index = Vec::new();
        let (mut offset, mut chunks, mut instructions) = (64, 1u32, 0u64);
        while offset < self.0.len() {
            let header = &self.0[offset..offset + 64];
            index.extend_from_slice(&(offset as u64).to_le_bytes());
            index.extend_from_slice(header);
            if header[4] == 4 {
                instructions += u64::from(u32::from_le_bytes(header[24..28].try_into().unwrap()));
            }
            offset += 64 + u32::from_le_bytes(header[16..20].try_into().unwrap()) as usize;
            chunks += 1;
        }
        let mut whole = self.chunk(6, [0; 4], &[(index.len() as u32, index)]);
        let mut end = (offset as u64).to_le_bytes().to_vec();
        end.extend_from_slice(&chunks.to_le_bytes());
        end.extend_from_slice(&[0; 4]);
        end.extend_from_slice(&instructions.to_le_bytes());
        end.resize(64, 0);
        whole.0.extend_from_slice(&header(7, 0, [0; 4], &end));
        whole.0.extend_from_slice(&end);
        whole.0
    }

    fn error(self) -> TraceError {
        recovered(&self.0).expect_err("a forged chunk must be refused")
    }
}

fn zeros(n: usize) -> Vec<u8> {
    zstd::bulk::compress(&vec![0; n], 19).unwrap()
}

#[test]
fn a_decompression_bomb_is_refused_before_it_is_unpacked() {
    let too_large = |error: TraceError| {
        assert!(matches!(error, TraceError::TooLarge { .. }), "{error}");
    };
    // A column that claims more than the counts of its chunk allow.
    let column = |raw| vec![(raw, zeros(1 << 20)), (0, vec![])];
    too_large(Forged::new().chunk(3, [1, 1, 0, 0], &column(1 << 30)).error());
    too_large(Forged::new().chunk(1, [0; 4], &[(u32::MAX, zeros(1 << 20))]).error());
    // Counts that no chunk may have.
    too_large(Forged::new().chunk(2, [u32::MAX, 0, 0, 0], &column(8)).error());
    too_large(Forged::new().chunk(3, [1, u32::MAX, 0, 0], &column(8)).error());
    too_large(Forged::new().chunk(3, [u32::MAX, u32::MAX, 0, 0], &column(8)).error());
    let five: Vec<(u32, Vec<u8>)> = vec![(0, vec![]); 5];
    too_large(Forged::new().chunk(4, [1, u32::MAX, 0, 0], &five).error());
    too_large(Forged::new().chunk(4, [2, 1, 0, 0], &five).error());
    too_large(Forged::new().chunk(4, [1, 1, 2, 0], &five).error());
    too_large(Forged::new().chunk(4, [1, 1, 0, u32::MAX], &five).error());
    // Many valid chunks: pages of zeros take almost no room in the file.
    let mut many = Forged::new();
    for n in 0..20_u32 {
        // The first integer has three bytes and skips the pages of the previous chunks. The byte 1
        // is the integer 0: each further page follows the previous one.
        let first = ((n * 2048) << 3 | 4).to_le_bytes();
        let places = zstd::bulk::compress(&[&first[..3], &[1; 1023]].concat(), 19).unwrap();
        many = many.chunk(2, [1024, 0, 0, 0], &[(1026, places), (4 << 20, zeros(4 << 20))]);
    }
    let small = MemoryBudget::new(32 << 20);
    let path = Path::new("memory.n2t");
    let refused = TraceFile::from_reader_within(Cursor::new(many.finish()), path, &small).err();
    assert!(matches!(refused, Some(TraceError::Memory { .. })), "{refused:?}");
    assert_eq!(small.used(), 0, "memory of the pages read so far is released");
}

#[test]
fn verify_finds_control_flow_that_no_event_explains() {
    // One block of one NOP, which cannot follow itself, twice.
    let definition = [(2, vec![0x01, 0x07]), (4, NOP.to_le_bytes().to_vec())];
    let columns = [vec![4, 4], vec![1, 1], vec![], vec![], vec![]];
    let columns: Vec<_> = columns.into_iter().map(|c| (c.len() as u32, c)).collect();
    let bytes = Forged::new().chunk(3, [1, 1, 0, 0], &definition).chunk(4, [2, 2, 0, 0], &columns);
    let report = verify_file(&open(bytes.finish()).unwrap()).unwrap();
    assert_eq!((report.unexplained, report.first_unexplained), (1, Some((0, 1))));
    assert!(report.faults.is_empty() && !report.is_good());
}

#[test]
fn errors_name_contradictions() {
    let inconsistent = |forged: Forged, part: &str| {
        let error = forged.error();
        assert!(matches!(error, TraceError::Inconsistent { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    // One block of one inline NOP at address 0.
    let block = || {
        let heads = vec![0x01, 0x07];
        let words = NOP.to_le_bytes().to_vec();
        Forged::new().chunk(3, [1, 1, 0, 0], &[(2, heads), (4, words)])
    };
    let stream = |counts, columns: [&[u8]; 5]| {
        let columns: Vec<_> = columns.iter().map(|c| (c.len() as u32, c.to_vec())).collect();
        block().chunk(4, counts, &columns)
    };
    let one = [1, 1, 0, 0];
    assert!(recovered(&stream(one, [&[4], &[1], &[], &[], &[]]).0).is_ok());
    inconsistent(stream(one, [&[], &[1], &[], &[], &[]]), "not the number of blocks");
    inconsistent(stream(one, [&[0], &[], &[], &[], &[]]), "no number");
    inconsistent(stream(one, [&[4], &[], &[], &[], &[]]), "block numbers end early");
    inconsistent(stream(one, [&[4], &[5], &[], &[], &[]]), "beyond the blocks");
    inconsistent(stream([2, 2, 0, 0], [&[4, 1], &[1], &[], &[], &[]]), "never preceded");
    inconsistent(stream(one, [&[4 | 8], &[1], &[], &[], &[]]), "shapes end early");
    inconsistent(stream([1, 1, 1, 0], [&[4 | 8], &[1], &[1], &[], &[]]), "addresses end early");
    inconsistent(stream([1, 1, 1, 0], [&[4 | 16], &[1], &[3], &[], &[]]), "partial block");
    inconsistent(stream([1, 2, 0, 0], [&[4], &[1], &[], &[], &[]]), "counts");
    inconsistent(stream([1, 1, 0, 1], [&[4], &[1], &[], &[], &[]]), "counts");
    inconsistent(stream([1, 1, 1, 0], [&[4], &[1], &[], &[1], &[]]), "longer or shorter");
    inconsistent(stream([1, 1, 0, 1], [&[4], &[1], &[], &[], &[7, 9, 1]]), "longer or shorter");
    inconsistent(
        stream([1, 1, 0, 1], [&[4], &[1], &[], &[], &[1, 9, 255]]),
        "truncated or too long",
    );
    let wrong_table = |columns: &[(u32, Vec<u8>)]| Forged::new().chunk(3, [1, 1, 0, 0], columns);
    inconsistent(wrong_table(&[(2, vec![1, 7])]), "number of columns");
    inconsistent(wrong_table(&[(2, vec![9, 9, 9]), (4, vec![0; 4])]), "unpack");
    inconsistent(wrong_table(&[(2, vec![1, 5]), (0, vec![])]), "neither here nor in the image");
    inconsistent(wrong_table(&[(2, vec![1, 1]), (0, vec![])]), "empty, too long");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_damage_never_panics(
        recording in recordings(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = recording.write();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = play_all(bytes.clone());
        let _ = recovered(&bytes);
    }

    #[test]
    fn forged_streams_never_panic(
        counts in prop::array::uniform4(0u32..40),
        columns in prop::array::uniform5(prop::collection::vec(any::<u8>(), 0..40)),
        seed in recordings(),
    ) {
        // Use definitions of a real recording, then a stream chunk of random columns that fit them.
        let bytes = seed.write();
        let file = open(bytes.clone()).unwrap();
        let first_stream = file.chunks().iter().find(|c| c.header.kind == ChunkKind::Stream);
        let end = first_stream.map_or(64, |c| c.offset as usize);
        let columns: Vec<_> = columns.into_iter().map(|c| (c.len() as u32, c)).collect();
        let control = columns[0].0;
        let counts = [control, counts[1].max(control), counts[2], counts[3]];
        let forged = Forged(bytes[..end].to_vec()).chunk(4, counts, &columns);
        let _ = recovered(&forged.0);
    }
}

/// Returns the offsets of all chunks, including INDEX and END.
fn offsets(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![64];
    while let Some(&at) = offsets.last().filter(|at| **at < bytes.len()) {
        let length = u32::from_le_bytes(bytes[at + 16..at + 20].try_into().unwrap());
        offsets.push(at + 64 + length as usize);
    }
    offsets.pop();
    offsets
}

#[test]
fn chunks_after_the_index_keep_their_numbers() {
    let bytes = sample().write();
    let at = offsets(&bytes);
    // Swap the last chunk and INDEX, so that the index is lost.
    let [last, index, end] = at[at.len() - 3..] else { panic!("three chunks") };
    let mut swapped = bytes[..last].to_vec();
    swapped.extend_from_slice(&bytes[index..end]);
    let moved = swapped.len();
    swapped.extend_from_slice(&bytes[last..index]);
    swapped.extend_from_slice(&bytes[end..]);
    assert!(open(swapped.clone()).unwrap().index_rebuilt());
    swapped[moved + 70] ^= 1;
    let report = verify_file(&open(swapped).unwrap()).unwrap();
    let [damage] = &report.faults[..] else { panic!("one fault: {report:?}") };
    let place = damage.place().unwrap();
    assert_eq!((place.chunk as usize, place.offset as usize), (at.len() - 2, moved), "{damage}");
}

#[test]
fn an_error_of_wrong_totals_has_the_place_of_the_end_chunk() {
    let mut bytes = sample().write();
    let at = offsets(&bytes);
    let end = *at.last().unwrap();
    bytes[end + 64 + 16] ^= 1;
    let hash = xxhash_rust::xxh3::xxh3_64(&bytes[end + 64..]);
    bytes[end + 48..end + 56].copy_from_slice(&hash.to_le_bytes());
    let hash = xxhash_rust::xxh3::xxh3_64(&bytes[end..end + 56]);
    bytes[end + 56..end + 64].copy_from_slice(&hash.to_le_bytes());
    let damage = open(bytes).err().unwrap();
    assert!(damage.to_string().contains("the instruction count of END differs"), "{damage}");
    let place = damage.place().unwrap();
    assert_eq!((place.chunk as usize, place.offset as usize), (at.len() - 1, end), "{damage}");
}
