//! Test of a thousand random corruptions of a real trace: each is refused, or read to the last
//! intact chunk, with a message that names the place.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;
use std::path::Path;

use crate::common::*;
use sim_trace::{ChunkKind, Slice, TraceError, TraceFile, WriterOptions, slice, verify_file};

const CORRUPTIONS: u64 = 1000;
const FILE_HEADER: usize = 64;

/// SplitMix64 generator (Steele, Lea and Flood): the same corruptions on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Returns a part of a committed trace in many small chunks.
fn trace() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.n2t");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/lz.n2t");
    let source = TraceFile::open(&source).unwrap();
    let what = Slice { streams: Vec::new(), range: 1_000_000..1_060_000, without_order: false };
    let options = WriterOptions { chunk_instructions: 2000, ..WriterOptions::default() };
    slice(&source, &what, &path, options).unwrap();
    std::fs::read(&path).unwrap()
}

/// Applies one corruption: changed, removed, added, moved or duplicated bytes.
fn corrupt(bytes: &[u8], chunks: &[(usize, usize)], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = random.below(bytes.len());
    let span = at..(at + 1 + random.below(300)).min(bytes.len());
    let chunk = |random: &mut Random| chunks[random.below(chunks.len())];
    match random.below(9) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes[span].iter_mut().for_each(|byte| *byte = random.next() as u8),
        3 => bytes[span].fill(0),
        4 => bytes.truncate(at),
        5 => drop(bytes.drain(span)),
        6 => {
            let more: Vec<u8> = (0..span.len()).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, more);
        }
        7 => {
            let (one, other) = (chunk(random), chunk(random));
            let doubled = bytes[one.0..one.1].to_vec();
            bytes.splice(other.0..other.0, doubled);
        }
        _ => {
            let (one, other) = (chunk(random), chunk(random));
            let moved = bytes[one.0..one.1].to_vec();
            bytes.splice(other.0..other.1, moved);
        }
    }
    bytes
}

/// The intact trace, for comparison.
struct Original {
    bytes: Vec<u8>,
    whole: Played,
    /// Offset and end of each chunk, including INDEX and END.
    chunks: Vec<(usize, usize)>,
    /// Number of instructions before each chunk.
    before: Vec<u64>,
}

impl Original {
    fn new() -> Original {
        let bytes = trace();
        let file = open(bytes.clone()).unwrap();
        let whole = play(&file, file.reader(0).unwrap()).unwrap();
        let (mut chunks, mut before, mut instructions) = (Vec::new(), Vec::new(), 0);
        for entry in file.chunks() {
            let end = entry.offset + 64 + u64::from(entry.header.payload_bytes);
            chunks.push((entry.offset as usize, end as usize));
            before.push(instructions);
            if entry.header.kind == ChunkKind::Stream {
                instructions += u64::from(entry.header.instructions);
            }
        }
        let index = chunks.last().unwrap().1;
        chunks.extend([(index, bytes.len() - 128), (bytes.len() - 128, bytes.len())]);
        before.extend([instructions; 2]);
        Original { bytes, whole, chunks, before }
    }

    /// Returns the chunk with the first changed byte.
    fn first_damaged(&self, corrupted: &[u8]) -> Option<usize> {
        let same = self.bytes.iter().zip(corrupted).take_while(|(a, b)| a == b).count();
        let is_equal = same == self.bytes.len() && same == corrupted.len();
        if is_equal || same < FILE_HEADER {
            return None;
        }
        let last = self.chunks.len() - 1;
        Some(self.chunks.iter().position(|(_, end)| same < *end).unwrap_or(last))
    }

    fn is_prefix(&self, part: &Played) -> bool {
        self.whole.insts.starts_with(&part.insts) && self.whole.events.starts_with(&part.events)
    }

    /// Reads the trace normally. The result must be complete and correct, or an error with a place
    /// that is not before the damage.
    fn check_reading(&self, corrupted: &[u8], damaged: usize) -> Option<TraceError> {
        let read = || -> Result<Played, TraceError> {
            let file = open(corrupted.to_vec())?;
            let report = verify_file(&file)?;
            let played = play(&file, file.reader(0)?)?;
            assert!(report.is_good() || file.index_rebuilt() || !report.faults.is_empty());
            Ok(played)
        };
        match read() {
            Ok(played) => {
                assert_eq!(played, self.whole, "a change of chunk {damaged} was not noticed");
                None
            }
            Err(error) => {
                let place = error.place().unwrap_or_else(|| panic!("{error}: it has no place"));
                assert!(place.offset >= self.chunks[damaged].0 as u64, "chunk {damaged}: {error}");
                let text = error.to_string();
                assert!(text.contains(&format!("chunk {} at byte", place.chunk)), "{text}");
                assert!(
                    text.contains("copy the file again") || text.contains("report it"),
                    "{text}"
                );
                Some(error)
            }
        }
    }

    /// Recovers the trace. The result must have every chunk before the damage, and recorded data
    /// only.
    fn check_recovery(&self, corrupted: &[u8], damaged: usize) {
        let recover = || {
            let bytes = Cursor::new(corrupted.to_vec());
            let (file, damage) = TraceFile::recover_from_reader(bytes, path())?;
            let part = match file.streams().first() {
                Some(info) => play(&file, file.reader(info.stream)?)?,
                None => Played::default(),
            };
            Ok((part, damage))
        };
        let (part, damage) = match recover() {
            Ok(recovered) => recovered,
            // An intact chunk at a wrong place contradicts the others.
            Err(error @ TraceError::Inconsistent { .. }) => {
                let place = error.place().unwrap();
                assert!(place.offset >= self.chunks[damaged].0 as u64, "chunk {damaged}: {error}");
                assert!(
                    place.good_instructions >= self.before[damaged],
                    "chunk {damaged}: {error}"
                );
                return;
            }
            Err(error) => panic!("chunk {damaged}: {error}"),
        };
        assert!(
            self.is_prefix(&part),
            "chunk {damaged}: recovery returned data that was not recorded"
        );
        assert!(
            part.insts.len() as u64 >= self.before[damaged],
            "chunk {damaged}: good chunks are lost"
        );
        if let Some(damage) = damage {
            assert_eq!(damage.good_instructions(), Some(part.insts.len() as u64), "{damage}");
        }
    }
}

#[test]
fn a_thousand_corruptions_are_refused_or_read_to_the_last_good_chunk() {
    let original = Original::new();
    assert!(original.chunks.len() > 30, "{} chunks", original.chunks.len());
    let mut random = Random(2026);
    let (mut refused, mut intact) = (0, 0);
    for number in 0..CORRUPTIONS {
        let corrupted = corrupt(&original.bytes, &original.chunks, &mut random);
        let Some(damaged) = original.first_damaged(&corrupted) else {
            // The bytes are equal, or the file header is damaged.
            match open(corrupted.clone()) {
                Ok(_) => assert_eq!(corrupted, original.bytes, "corruption {number}"),
                Err(error) => assert!(error.place().is_none(), "corruption {number}: {error}"),
            }
            continue;
        };
        match original.check_reading(&corrupted, damaged) {
            Some(_) => refused += 1,
            None => intact += 1,
        }
        original.check_recovery(&corrupted, damaged);
    }
    // Only INDEX can be lost without losing data.
    assert!(refused > 800, "{refused} refused, {intact} read completely");
}
