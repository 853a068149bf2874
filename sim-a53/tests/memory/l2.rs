//! The L2 cache: the ways into it, and its write-backs.

use sim_a53::A53Event::*;
use sim_a53::memory::DataAccess;
use sim_core::{CacheOp, Maintenance};

use super::{Bench, plain, quiet};

/// Removes all lines of an L1 data set of core 0, without write-back.
fn invalidate_set(bench: &mut Bench, addr: u64) {
    let what = Maintenance::DataBySetWay(CacheOp::Invalidate);
    for way in 0..4 {
        let operand = way << 30 | (addr & 0x1FC0);
        bench.memory.maintain(0, what, operand, bench.now, &mut bench.counts[0]);
    }
}

// Given: a loaded line that the L1 then drops without eviction. Stimulus: a second load. Expect: it
// comes from memory again, as a load does not enter the L2. Section: TRM 7.6.
#[test]
fn a_load_does_not_enter_the_l2() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[0x10000]);
    bench.load(0x10000);
    invalidate_set(&mut bench, 0x10000);
    bench.load(0x10000);
    assert_eq!(bench.all([EXT_MEM_REQ, L2D_CACHE_REFILL]), [2, 2]);
}

// Given: a fetched line that the L1 I-cache drops. Stimulus: a second fetch. Expect: the L2 has it.
// Section: TRM 7.6.
#[test]
fn a_fetch_enters_the_l2() {
    let config = quiet();
    let mut bench = Bench::new(&config, 1);
    bench.fetch(0x8000);
    bench.fetch(0x8FC0);
    let what = Maintenance::InstAll { broadcast: false };
    bench.now = bench.memory.maintain(0, what, 0, bench.now, &mut bench.counts[0]) + 100;
    bench.forget();
    let now = bench.now;
    assert_eq!(bench.fetch(0x8000).ready - now, u64::from(config.l2.hit_cycles));
    assert_eq!(bench.all([EXT_MEM_REQ, L1I_CACHE_REFILL]), [0, 1]);
}

// Given: a warm page. Stimulus: non-temporal loads of one line, then a plain one. Expect: each
// misses the L1; only the first goes to memory; the plain one moves the line into the L1. Section:
// TRM 6.6.
#[test]
fn a_non_temporal_load_enters_only_the_l2() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[0x10000]);
    let access = DataAccess { non_temporal: true, ..plain(0x10000, 16) };
    for _ in 0..3 {
        assert!(bench.load_of(0, access).missed);
    }
    assert_eq!(bench.all([L1D_CACHE_REFILL, EXT_MEM_REQ]), [3, 1]);
    bench.load(0x10000);
    assert_eq!(bench.load(0x10000), 0);
    assert_eq!(bench.all([L1D_CACHE_REFILL, EXT_MEM_REQ]), [4, 1]);
}

// Given: 40 dirty lines of one set of both caches. Stimulus: stores. Expect: 4 stay in the L1, 16
// in the L2, and 20 are written back to memory. Section: TRM 7.6, 12.9.
#[test]
fn dirty_lines_beyond_both_caches_are_written_back() {
    let mut bench = Bench::new(&quiet(), 1);
    let lines: Vec<u64> = (0..40).map(|line| (1 << 30) + 0x1900 + line * 32_768).collect();
    bench.warm_pages(&lines);
    for line in &lines {
        bench.store(*line, 8);
        bench.settle(0);
    }
    assert_eq!(bench.all([L1D_CACHE_REFILL, L1D_CACHE_WB, L2D_CACHE_WB]), [40, 36, 20]);
    assert_eq!(bench.all([L2D_CACHE, EXT_MEM_REQ]), [76, 40]);
}

// Given: a cluster without L2. Stimulus: five lines of one set, the first dirty or all clean.
// Expect: no L2 event; a clean victim makes no bus access. Section: TRM 2.1.7, 12.4.2.
#[test]
fn a_cluster_without_l2_raises_no_l2_event() {
    let mut config = quiet();
    config.l2.size_bytes = 0;
    let mut bench = Bench::new(&config, 1);
    let lines: Vec<u64> = (0..5).map(|line| 0x10_0000 + line * 8192).collect();
    bench.warm_pages(&lines);
    lines.iter().for_each(|line| assert!(bench.load(*line) > 0));
    assert_eq!(bench.all([L2D_CACHE, L2D_CACHE_REFILL, L2D_CACHE_WB]), [0, 0, 0]);
    assert_eq!(bench.all([BUS_ACCESS_ST, EXT_MEM_REQ]), [0, 5]);
}
