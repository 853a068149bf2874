//! Sizes of pages, memory types, and the limits of what no cache keeps.

use sim_a53::A53Event::*;
use sim_a53::memory::AddressRange;
use sim_trace::{PageEntry, PageMap, PageMemory};

use super::{Bench, plain, quiet};

const BLOCK: u64 = 2 << 20;

fn entry(virt: u64, bytes: u64) -> PageEntry {
    PageEntry { virt, bytes, phys: virt, ..PageEntry::default() }
}

/// Returns a cluster with one entry in the micro-TLB and a recorded map: a block, a page, and a
/// device.
fn mapped() -> Bench {
    let device = PageEntry { memory: PageMemory::Device, ..entry(0x9000, 4096) };
    let entries = vec![entry(BLOCK, BLOCK), entry(0x8000, 4096), device];
    let mut config = quiet();
    config.micro_tlb.data_entries = 1;
    let mut bench = Bench::new(&config, 1);
    bench.memory.map_pages(&PageMap::new(4096, entries).expect("a map"));
    bench
}

// Given: a recorded block of 2 MB. Stimulus: loads from all its pages. Expect: one walk of three
// levels, and one refill. Section: TRM 5.2.2, 5.2.4.
#[test]
fn a_recorded_block_is_one_entry() {
    let mut bench = mapped();
    for page in 0..512 {
        bench.load(BLOCK + page * 4096);
    }
    assert_eq!(bench.all([L1D_TLB_REFILL, MEM_ACCESS, L1D_CACHE]), [1, 512, 512 + 3]);
}

// Given: pages of 4 KB in the main TLB, then also a block. Stimulus: loads that refill the micro-
// TLB. Expect: the block, and a walk, wait for the lookup of the other size. Section: TRM 5.2.2.
#[test]
fn a_second_size_of_page_takes_longer() {
    let mut bench = mapped();
    bench.warm_pages(&[0x8000]);
    let once = u64::from(quiet().micro_tlb.refill_cycles);
    bench.warm_pages(&[0xA000]);
    assert_eq!(bench.load(0x8FC0), once);
    bench.warm_pages(&[BLOCK]);
    assert_eq!(bench.load(0x8FC0), once);
    let more = u64::from(quiet().micro_tlb.size_cycles);
    assert_eq!(bench.load(BLOCK + 0xFC0), once + more);
}

// Given: a device in a recorded map. Stimulus: loads. Expect: requests, and no access of a cache.
#[test]
fn a_recorded_device_is_no_memory_of_a_cache() {
    let mut bench = mapped();
    bench.warm_pages(&[0x9000]);
    bench.load(0x9000);
    bench.load(0x9000);
    assert_eq!(bench.all([EXT_MEM_REQ_NC, EXT_MEM_REQ, MEM_ACCESS, L1D_CACHE]), [2, 2, 2, 0]);
}

// Given: non-cacheable memory. Stimulus: six loads of it in the same cycle. Expect: four overlap,
// the fifth waits for the first. Section: TRM 7.3.1.
#[test]
fn four_reads_past_the_caches_are_outstanding() {
    let mut config = quiet();
    config.pages.non_cacheable = vec![AddressRange { first: 0x10000, end: 0x11000 }];
    let mut bench = Bench::new(&config, 1);
    bench.warm_pages(&[0x10000]);
    let now = bench.now;
    let ready = [0, 1, 2, 3, 4, 5].map(|line| {
        let access = plain(0x10000 + line * 64, 8);
        bench.memory.load(0, access, now, &mut bench.counts[0]).ready - now
    });
    let read = u64::from(config.l2.miss_cycles + config.bus.latency_cycles);
    let line = u64::from(config.bus.line_cycles);
    assert!((read..read + line).contains(&ready[0]), "{ready:?}");
    assert!(ready[3] < read + 4 * line, "{ready:?}");
    assert!(ready[4] >= 2 * read - line && ready[5] > ready[4], "{ready:?}");
}

// Given: ranges as the file writes them. Expect: two multiples of a page are read, others refused.
#[test]
fn a_range_is_two_multiples_of_a_page() {
    let parse = |text: &str| AddressRange::try_from(text.to_owned());
    assert_eq!(
        parse("0x3f000000..0x40000000"),
        Ok(AddressRange { first: 0x3F00_0000, end: 1 << 30 })
    );
    for wrong in ["0x1000", "0x1000..0x1000", "0x1800..0x3000", "x..0x1000"] {
        let message = parse(wrong).expect_err("no range");
        assert!(message.contains(wrong) && message.contains("0x8000..0x9000"), "{message}");
    }
}

// Given: sizes that no table has. Expect: one problem with its key.
#[test]
fn sizes_that_no_table_has_are_refused() {
    let refused = |page: u64, block: u64, stage2: u64| {
        let mut config = quiet();
        let pages = &mut config.pages;
        (pages.page_bytes, pages.block_bytes, pages.stage2_page_bytes) = (page, block, stage2);
        config.problems().into_iter().map(|found| found.key).collect::<Vec<_>>()
    };
    assert_eq!(refused(16_384, 0, 0), ["memory.pages.page-bytes"]);
    assert_eq!(refused(4096, 512 << 20, 0), ["memory.pages.block-bytes"]);
    assert_eq!(refused(65_536, 2 << 20, 0), ["memory.pages.block-bytes"]);
    assert_eq!(refused(4096, 0, 1), ["memory.pages.stage2-page-bytes"]);
    assert_eq!(refused(65_536, 512 << 20, 4096), [""; 0]);
}
