//! The table walker: descriptor reads through the L1 data cache.

use sim_a53::A53Event::*;

use super::{Bench, quiet};

/// Loads, and returns the descriptor reads and the refills that this took.
fn reads(bench: &mut Bench, addr: u64) -> [u64; 2] {
    bench.now += 1000;
    bench.forget();
    bench.load(addr);
    assert_eq!(bench.all([MEM_ACCESS, L1D_TLB_REFILL]), [1, 1]);
    [bench.count(L1D_CACHE) - 1, bench.count(L1D_CACHE_REFILL)]
}

// Given: empty TLBs and caches. Stimulus: loads from new pages. Expect: four descriptors for the
// first page, each with a refill; one within the same 2 MB, which misses only every eighth page;
// four in the next 2 MB, of which three hit. Section: TRM 5.2.3, 5.2.4.
#[test]
fn a_walk_reads_one_descriptor_for_each_level_that_is_not_cached() {
    let mut bench = Bench::new(&quiet(), 1);
    let base = 1 << 30;
    assert_eq!(reads(&mut bench, base), [4, 5]);
    assert_eq!(reads(&mut bench, base + 4096 + 64), [1, 1]);
    assert_eq!(reads(&mut bench, base + 8 * 4096 + 128), [1, 2]);
    assert_eq!(reads(&mut bench, base + (2 << 20) + 192), [4, 2]);
    assert_eq!(reads(&mut bench, base + 2 * 4096 + 256), [1, 1]);
}

// Given: a walk of the fetch side. Stimulus: a load of another page in the next cycle. Expect: its
// walk begins when the first one ends. Section: TRM 7.3.1.
#[test]
fn one_walk_runs_at_a_time() {
    let config = quiet();
    let mut bench = Bench::new(&config, 1);
    let now = bench.now;
    let fetched = bench.memory.fetch(0, 0x8000, now, &mut bench.counts[0]);
    bench.now = now + 1;
    let level = u64::from(config.walker.read_cycles);
    assert!(bench.load(1 << 30) > fetched.micro_tlb_ready - now + 4 * level);
}
