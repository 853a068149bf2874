//! The L1 caches: lookups, linefills, victims.

use sim_a53::A53Event::*;
use sim_a53::memory::FetchWait;

use super::{Bench, defaults, quiet};

/// Distance of two lines in the same set of the L1 data cache.
const SET_STRIDE: u64 = 8192;

/// Returns lines of a set that has no descriptors.
fn same_set() -> [u64; 5] {
    [0, 1, 2, 3, 4].map(|way| 0x10_0900 + way * SET_STRIDE)
}

// Given: a warm page. Stimulus: two loads of one line. Expect: one linefill from memory, then a hit
// without delay. Section: TRM 2.1.6, 12.9.
#[test]
fn the_first_touch_misses_and_the_second_hits() {
    let config = quiet();
    let mut bench = Bench::new(&config, 1);
    bench.warm_pages(&[0x10000]);
    assert_eq!(bench.load(0x10008), u64::from(config.l2.miss_cycles + config.bus.latency_cycles));
    assert_eq!(bench.load(0x10000), 0);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS, L1D_CACHE_REFILL]), [2, 2, 1]);
    assert_eq!(bench.all([L2D_CACHE, L2D_CACHE_REFILL, EXT_MEM_REQ]), [1, 1, 1]);
    assert_eq!(bench.all([BUS_ACCESS, BUS_ACCESS_LD, BUS_ACCESS_ST]), [4, 4, 0]);
}

// Given: warm pages. Stimulus: loads of five lines of one set. Expect: a clean victim moves to the
// L2 and counts as no write-back; memory is never read again. Section: TRM 7.6, 12.9.
#[test]
fn a_clean_victim_enters_the_l2_and_is_no_write_back() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&same_set());
    same_set().iter().for_each(|addr| _ = bench.load(*addr));
    assert_eq!(bench.all([L1D_CACHE_REFILL, L1D_CACHE_WB, L2D_CACHE]), [5, 0, 6]);
    assert_eq!(bench.all([BUS_ACCESS_LD, BUS_ACCESS_ST]), [20, 4]);
    for _ in 0..10 {
        bench.now += 100;
        same_set().iter().for_each(|addr| _ = bench.load(*addr));
    }
    assert_eq!(bench.all([EXT_MEM_REQ, L2D_CACHE_REFILL, L1D_CACHE_WB]), [5, 5, 0]);
}

// Given: four dirty lines of one set. Stimulus: a load of a fifth. Expect: one write-back into the
// L2, none to memory. Section: TRM 2.1.6, 12.9.
#[test]
fn a_dirty_victim_is_a_write_back() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&same_set());
    for addr in &same_set()[..4] {
        bench.store(*addr, 8);
        bench.settle(0);
    }
    assert_eq!(bench.all([L1D_CACHE_REFILL, L1D_CACHE_WB]), [4, 0]);
    bench.load(same_set()[4]);
    assert_eq!(bench.all([L1D_CACHE_REFILL, L1D_CACHE_WB, L2D_CACHE_WB]), [5, 1, 0]);
}

// Given: a warm page. Stimulus: a load and a store of 8 bytes, 4 in each of two lines. Expect: two
// lookups each; no delay once both lines are present. Section: TRM 12.9.
#[test]
fn an_access_across_lines_looks_up_twice() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[0x10000]);
    assert!(bench.load(0x1003C) > 0);
    bench.now += 100;
    assert_eq!(bench.load(0x1003C), 0);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS, L1D_CACHE_REFILL]), [4, 4, 2]);
    bench.store(0x1003C, 8);
    bench.settle(0);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS, L1D_CACHE_REFILL]), [6, 6, 2]);
}

// Given: empty caches. Stimulus: fetches. Expect: the first waits for the walk, the next line for
// the line, the same line for nothing. Section: TRM 2.1.1, 12.9.
#[test]
fn a_fetch_names_what_it_waits_for() {
    let mut bench = Bench::new(&quiet(), 1);
    assert_eq!(bench.fetch(0x8000).waits_for, Some(FetchWait::MicroTlb));
    let next = bench.fetch(0x8040);
    assert_eq!(next.waits_for, Some(FetchWait::Line));
    assert!(next.micro_tlb_ready < next.ready);
    bench.now += 10;
    let now = bench.now;
    let hit = bench.fetch(0x8044);
    assert_eq!((hit.ready, hit.waits_for, hit.micro_tlb_ready), (now, None, now));
    assert_eq!(bench.all([L1I_CACHE, L1I_CACHE_REFILL, L1I_TLB_REFILL]), [3, 2, 1]);
}

// Given: fetches with next-line prefetch. Stimulus: a line, much later the next one; then a jump
// right after a miss. Expect: the next line is no refill; the prefetch after the jump is dropped.
// Section: TRM 2.1.1; CPUACTLR.IFUTHDIS.
#[test]
fn the_next_line_is_prefetched_and_a_second_prefetch_is_dropped() {
    let mut bench = Bench::new(&defaults(), 1);
    bench.fetch(0x8000);
    bench.now += 1000;
    bench.fetch(0x8040);
    assert_eq!(bench.all([L1I_CACHE_REFILL, PREFETCH_LINEFILL_DROP]), [1, 0]);
    bench.now += 1000;
    bench.fetch(0x8400);
    bench.fetch(0x8800);
    assert_eq!(bench.all([L1I_CACHE_REFILL, PREFETCH_LINEFILL_DROP]), [3, 1]);
    assert_eq!(bench.count(PREFETCH_LINEFILL), 0);
}

// Given: a run with pseudo-random victims. Stimulus: the same accesses twice. Expect: the same
// counts. Section: TRM 2.1.6.
#[test]
fn a_run_repeats_bit_for_bit() {
    let run = || {
        let mut bench = Bench::new(&defaults(), 1);
        for step in 0_u64..20_000 {
            bench.load(step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 43);
            bench.store(step.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) >> 43, 8);
        }
        (bench.now, bench.counts)
    };
    assert_eq!(run(), run());
}
