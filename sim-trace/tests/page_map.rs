//! Tests of the page map of a trace: writing, reading, rewriting, and damage.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::Cursor;

use crate::common::*;
use proptest::prelude::*;
use sim_trace::{
    Access, BadPageMap, ChunkKind, Meta, PageEntry, PageMap, PageMemory, TraceError, TraceFile,
    TraceWriter, WriterOptions, info, repack, repack_with_map, verify,
};
use xxhash_rust::xxh3::xxh3_64;

/// Returns a trace of a few loads with `map`.
fn written(map: &PageMap) -> Vec<u8> {
    let sink = Cursor::new(Vec::new());
    let options = WriterOptions { level: 3, chunk_instructions: 1 };
    let mut writer = TraceWriter::new(sink, path(), Meta::default(), options).unwrap();
    writer.page_map(map).unwrap();
    let error = writer.page_map(map).unwrap_err().to_string();
    assert_eq!(error, "trace writer: a trace has one page map");
    let block = writer.define_block(0x1000, &[LDR, RET]).unwrap();
    for addr in [0x8000, 0x9000, 0xa000] {
        writer.push_block(0, block, 2, &[Access { index: 0, addr }], None).unwrap();
    }
    writer.finish_into().unwrap().1.into_inner()
}

fn page(virt: u64, bytes: u64, phys: u64) -> PageEntry {
    PageEntry { virt, bytes, phys, write: true, ..PageEntry::default() }
}

fn small() -> PageMap {
    let device = PageEntry { memory: PageMemory::Device, ..page(0x9000, 4096, 0x900_0000) };
    PageMap::new(4096, vec![page(0x20_0000, 2 << 20, 0x4000_0000), device]).unwrap()
}

/// Returns the sizes of a granule in bytes, each with true for a contiguous range.
fn sizes(granule: u64) -> Vec<(u64, bool)> {
    let all: [&[u64]; 2] = match granule {
        4096 => [&[1 << 12, 1 << 21, 1 << 30], &[1 << 16, 1 << 25, 1 << 34]],
        16_384 => [&[1 << 14, 1 << 25], &[1 << 21, 1 << 30]],
        _ => [&[1 << 16, 1 << 29], &[1 << 21, 1 << 34]],
    };
    let range =
        |contiguous: bool| all[usize::from(contiguous)].iter().map(move |&b| (b, contiguous));
    range(false).chain(range(true)).collect()
}

/// Strategy for maps of consecutive entries with gaps, in one half of the address space.
fn maps() -> impl Strategy<Value = PageMap> {
    let granules = prop::sample::select(vec![4096u64, 16_384, 65_536]);
    granules.prop_flat_map(|granule| {
        let entry = (
            prop::sample::select(sizes(granule)),
            0..9u64,
            0..1u64 << 14,
            prop::sample::select(vec![
                PageMemory::Cacheable,
                PageMemory::NonCacheable,
                PageMemory::Device,
            ]),
            any::<[bool; 4]>(),
        );
        let entries = prop::collection::vec(entry, 0..40);
        (Just(granule), entries, any::<bool>()).prop_map(|(granule, entries, upper)| {
            let mut next = if upper { 0xffff << 48 } else { 0u64 };
            let entries = entries.into_iter().map(|((bytes, contiguous), gap, phys, memory, b)| {
                let virt = next.next_multiple_of(bytes) + gap * bytes;
                next = virt + bytes;
                let [tagged, write, execute, global] = b;
                let tagged = tagged && memory == PageMemory::Cacheable;
                let phys = phys * bytes;
                PageEntry { virt, bytes, phys, memory, tagged, write, execute, global, contiguous }
            });
            PageMap::new(granule, entries.collect()).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn reading_returns_every_written_map(map in maps()) {
        let file = open(written(&map)).unwrap();
        prop_assert_eq!(file.page_map(), Some(&map));
        prop_assert_eq!(file.version(), (1, 1));
        prop_assert_eq!(file.instructions(), 6);
    }

    #[test]
    fn the_order_of_entries_does_not_matter(map in maps()) {
        let mut entries = map.entries().to_vec();
        entries.reverse();
        prop_assert_eq!(PageMap::new(map.granule(), entries).unwrap(), map);
    }
}

#[test]
fn info_shows_the_map_and_a_trace_without_one_has_version_1_0() {
    let file = open(written(&small())).unwrap();
    let text = info(&file).to_string();
    assert!(text.contains("page map      2 entries, 2101248 bytes mapped, granule 4096"), "{text}");
    let without = open(sample().write()).unwrap();
    assert_eq!((without.version(), without.page_map()), ((1, 0), None));
    assert!(!info(&without).to_string().contains("page map"));
    assert_ne!(file.hash(), without.hash());
}

#[test]
fn repack_and_recover_keep_the_map_and_another_map_can_replace_it() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("again.n2t");
    let map = small();
    let bytes = written(&map);
    let map_of = |path| TraceFile::open(path).unwrap().page_map().cloned();

    let file = open(bytes.clone()).unwrap();
    repack(&file, &to, 19).unwrap();
    assert_eq!(map_of(&to), Some(map.clone()));
    assert_eq!(play_all(fs::read(&to).unwrap()).unwrap(), play_all(bytes.clone()).unwrap());

    // Truncate the file in its last stream chunk.
    let stream = file.chunks().iter().rfind(|c| c.header.kind == ChunkKind::Stream).unwrap();
    let cut = bytes[..stream.offset as usize + 70].to_vec();
    let (file, damage) = TraceFile::recover_from_reader(Cursor::new(cut), path()).unwrap();
    assert!(matches!(damage, Some(TraceError::Truncated { .. })));
    repack(&file, &to, 9).unwrap();
    assert_eq!(map_of(&to), Some(map));

    let other = PageMap::new(65_536, vec![page(0, 65_536, 0)]).unwrap();
    for bytes in [bytes, sample().write()] {
        let before = open(bytes.clone()).unwrap();
        repack_with_map(&before, &to, 3, &other).unwrap();
        assert!(verify(&to).unwrap().is_good());
        assert_eq!(map_of(&to), Some(other.clone()));
        assert_eq!(play_all(fs::read(&to).unwrap()).unwrap(), play_all(bytes).unwrap());
    }
}

/// Returns the offset of the MAP chunk.
fn map_at(bytes: &[u8]) -> usize {
    let file = open(bytes.to_vec()).unwrap();
    let map = file.chunks().iter().find(|c| c.header.kind == ChunkKind::Map).unwrap();
    map.offset as usize
}

/// Corrects the checksums of the chunk at `at` and damages INDEX, so that readers walk the chunks.
fn reseal(bytes: &mut [u8], at: usize) {
    let length = u32::from_le_bytes(bytes[at + 16..at + 20].try_into().unwrap()) as usize;
    let payload = xxh3_64(&bytes[at + 64..at + 64 + length]);
    bytes[at + 48..at + 56].copy_from_slice(&payload.to_le_bytes());
    let header = xxh3_64(&bytes[at..at + 56]);
    bytes[at + 56..at + 64].copy_from_slice(&header.to_le_bytes());
    let index = bytes.len() - 128 - 1;
    bytes[index] ^= 0xff;
}

fn opening(bytes: Vec<u8>) -> TraceError {
    open(bytes).err().expect("the map is not valid")
}

#[test]
fn a_damaged_map_is_refused_with_file_place_and_reason() {
    let map = PageMap::new(4096, vec![page(0x2000, 4096, 0x3000)]).unwrap();
    let bytes = written(&map);
    let at = map_at(&bytes);
    let length = u32::from_le_bytes(bytes[at + 16..at + 20].try_into().unwrap()) as usize;

    let mut flipped = bytes.clone();
    flipped[at + 64 + length - 1] ^= 2;
    assert!(matches!(opening(flipped), TraceError::Checksum { part: "payload", .. }));

    // The attributes are the last byte. Memory type 3 does not exist.
    let mut unknown = bytes.clone();
    unknown.splice(at + 64 + length - 1..at + 64 + length, [(3 << 1) | 1]);
    reseal(&mut unknown, at);
    let error = opening(unknown);
    let text = error.to_string();
    let expected = format!("memory.n2t: chunk 0 at byte {at}: page map: entry 0x2000: unknown");
    assert!(text.starts_with(&expected), "{text}");
    let TraceError::PageMap { source, .. } = error else { panic!("{text}") };
    assert_eq!(source, BadPageMap::Attributes { virt: 0x2000, attributes: 3 });

    let mut miscounted = bytes.clone();
    miscounted[at + 20] = 2;
    reseal(&mut miscounted, at);
    let error = opening(miscounted).to_string();
    assert!(error.contains("page map: the entries end early"), "{error}");

    let mut huge = bytes.clone();
    huge[at + 20..at + 24].copy_from_slice(&((1u32 << 20) + 1).to_le_bytes());
    reseal(&mut huge, at);
    let error = opening(huge).to_string();
    assert!(error.contains("the number of entries is 1048577, the limit is 1048576"), "{error}");

    // The same chunk twice.
    let mut doubled = bytes;
    let chunk = doubled[at..at + 64 + length].to_vec();
    doubled.splice(at..at, chunk);
    let doubled = TraceFile::recover_from_reader(Cursor::new(doubled), path());
    let error = doubled.err().unwrap().to_string();
    assert!(error.contains("the file has more than one page map"), "{error}");
}
