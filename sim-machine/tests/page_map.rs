//! The page map of a trace determines its counts.

use std::path::{Path, PathBuf};

use sim_core::{Counts, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, MachineError, RunHeader, RunOptions, Session};
use sim_trace::{Access, Meta, PageEntry, PageMap, PageMemory, TraceWriter};

const CODE: u64 = 0x40_0000;
const LDR: u32 = 0xf940_0041;
const STR: u32 = 0xf900_0041;
/// `b .-4`
const B_BACK: u32 = 0x17ff_ffff;

/// Base of two blocks of 2 MiB, a device page and a read-only page.
const BLOCK: u64 = 0x4000_0000;
const DEVICE: u64 = 0x5000_0000;
const CONSTANT: u64 = 0x5000_1000;

fn page(virt: u64, bytes: u64, phys: u64) -> PageEntry {
    PageEntry { virt, bytes, phys, write: true, ..PageEntry::default() }
}

fn map() -> PageMap {
    let entries = vec![
        page(BLOCK, 2 << 20, 0x8000_0000),
        page(BLOCK + (2 << 20), 2 << 20, 0x9000_0000),
        PageEntry { memory: PageMemory::Device, ..page(DEVICE, 4096, 0x900_0000) },
        PageEntry { write: false, ..page(CONSTANT, 4096, 0xa000_0000) },
    ];
    PageMap::new(4096, entries).expect("a map")
}

/// Records a loop of one access to each of the addresses.
fn record(folder: &Path, access: u32, addrs: &[u64], map: Option<&PageMap>) -> PathBuf {
    let path = folder.join("mapped.n2t");
    let mut writer = TraceWriter::create(&path, Meta::default()).expect("a new file");
    if let Some(map) = map {
        writer.page_map(map).expect("its first map");
    }
    let block = writer.define_block(CODE, &[access, B_BACK]).expect("a block");
    for &addr in addrs {
        let access = Access { index: 0, addr };
        writer.push_block(0, block, 2, &[access], None).expect("a known block");
    }
    writer.finish().expect("a whole trace");
    path
}

fn machine(overrides: &[&str]) -> MachineConfig {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profiles are embedded");
    MachineConfig::from_document(&document).expect("a machine")
}

fn open(path: &Path, overrides: &[&str]) -> Result<Session, MachineError> {
    let header = RunHeader { trace: "mapped.n2t".to_owned(), ..RunHeader::default() };
    Session::open(path, machine(overrides), header)
}

/// Returns the counts of `access` at `addrs`, without prefetches, which refill TLBs too.
fn counts(access: u32, addrs: &[u64], map: Option<&PageMap>) -> Counts {
    let folder = tempfile::tempdir().expect("a folder");
    let path = record(folder.path(), access, addrs, map);
    let session = open(&path, &["memory.prefetch.l1d=false"]).expect("the granules are equal");
    let outcome = session.run(&RunOptions::default(), &mut |_| ()).expect("a run");
    outcome.cores[0].counts.unpack()
}

/// Returns one address in each of `pages` pages of 4 KiB, in lines of different sets.
fn pages(base: u64, pages: u64) -> Vec<u64> {
    (0..pages).map(|page| base + page * 4096 + page % 64 * 64).collect()
}

#[test]
fn a_block_takes_one_tlb_entry_for_all_its_pages() {
    let addrs = pages(BLOCK, 1024);
    let refills = |map: Option<&PageMap>| counts(LDR, &addrs, map).value(PmuEvent::L1D_TLB_REFILL);
    assert_eq!(refills(Some(&map())), 2, "two blocks of 512 pages");
    assert_eq!(refills(None), 1024, "the synthetic map has pages of 4 KiB");
    let unnamed = pages(BLOCK + (4 << 20), 64);
    let after = counts(LDR, &unnamed, Some(&map())).value(PmuEvent::L1D_TLB_REFILL);
    assert_eq!(after, 64, "pages outside the map keep the synthetic map");
}

#[test]
fn a_contiguous_range_takes_one_tlb_entry() {
    let range = PageEntry { contiguous: true, ..page(BLOCK, 64 << 10, 0x8000_0000) };
    let map = PageMap::new(4096, vec![range]).expect("a map");
    let refills = counts(LDR, &pages(BLOCK, 32), Some(&map)).value(PmuEvent::L1D_TLB_REFILL);
    assert_eq!(refills, 1 + 16, "16 pages of the range, 16 after it");
}

#[test]
fn a_device_page_is_never_cached() {
    let map = map();
    let at = |addr| counts(LDR, &[addr; 100], Some(&map));
    let (device, cached) = (at(DEVICE + 8), at(CONSTANT + 8));
    let read = |counts: &Counts| counts.value(PmuEvent::MEM_ACCESS_RD);
    assert_eq!((read(&device), read(&cached)), (100, 100));
    let refills = |counts: &Counts| counts.value(PmuEvent::L1D_CACHE_REFILL);
    assert_eq!((refills(&device), refills(&cached)), (0, 1));
    let bus = |counts: &Counts| counts.value(PmuEvent::BUS_ACCESS_RD);
    assert!(bus(&device) >= 100 && bus(&cached) < 30, "{} {}", bus(&device), bus(&cached));
}

#[test]
fn permissions_of_the_map_are_enforced() {
    let mut map = map();
    let aborts =
        |counts: &Counts| (counts.value(PmuEvent::EXC_DABORT), counts.value(PmuEvent::EXC_PABORT));
    let (read, write) = ([CONSTANT; 3], [CONSTANT, DEVICE, BLOCK, CONSTANT]);
    assert_eq!(aborts(&counts(LDR, &read, Some(&map))), (0, 0));
    assert_eq!(aborts(&counts(STR, &write, Some(&map))), (2, 0));

    let mut entries = map.entries().to_vec();
    entries.push(page(CODE, 4096, 0xb000_0000));
    map = PageMap::new(4096, entries).expect("a map");
    assert!(aborts(&counts(LDR, &read, Some(&map))).1 >= 3, "its code may not be executed");
}

#[test]
fn another_granule_is_refused_with_the_key_to_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let map = PageMap::new(16_384, vec![page(BLOCK, 32 << 20, 0x8000_0000)]).expect("a map");
    let path = record(folder.path(), LDR, &pages(BLOCK, 64), Some(&map));
    let message = open(&path, &[]).err().expect("4 KiB are configured").to_string();
    assert_eq!(
        message,
        "mapped.n2t: the page map of the trace has a granule of 16384 bytes, memory.pages.page-bytes \
         is 4096; run it with --set memory.pages.page-bytes=16384"
    );
    let session = open(&path, &["memory.pages.page-bytes=16384", "memory.prefetch.l1d=false"]);
    let outcome = session.expect("equal").run(&RunOptions::default(), &mut |_| ()).expect("a run");
    assert_eq!(outcome.cores[0].counts.value(PmuEvent::L1D_TLB_REFILL), 1);
}
