//! The snoop control unit: transfers between cores.

use sim_a53::A53Event::{self, *};

use super::{Bench, plain, quiet};

const LINE: u64 = 0x10_0000;

/// Three cores with warm pages.
fn warm() -> Bench {
    let mut bench = Bench::new(&quiet(), 3);
    for core in 0..3 {
        // Each core warms the page with a line of its own.
        bench.load_of(core, plain(LINE + 0xF00 + core as u64 * 64, 8));
    }
    bench.now += 1000;
    bench.forget();
    bench
}

fn each(bench: &Bench, event: A53Event) -> [u64; 3] {
    [0, 1, 2].map(|core| bench.counts[core].value(event))
}

// Given: a line that core 0 has stored. Stimulus: a load on core 1. Expect: a direct transfer,
// without memory and without write-back. Section: TRM 7.2.
#[test]
fn a_dirty_line_moves_without_write_back() {
    let mut bench = warm();
    bench.store_on(0, LINE, 8);
    bench.settle(0);
    let start = bench.now;
    let reply = bench.load_of(1, plain(LINE, 8));
    let config = quiet();
    let transfer = u64::from(config.l2.hit_cycles + config.snoop.transfer_cycles);
    assert_eq!((reply.ready - start, reply.missed), (transfer, true));
    assert_eq!(each(&bench, EXT_SNOOP), [0, 1, 0]);
    assert_eq!(each(&bench, EXT_MEM_REQ), [1, 0, 0]);
    assert_eq!((each(&bench, L1D_CACHE_WB), each(&bench, L2D_CACHE_WB)), ([0; 3], [0; 3]));
}

// Given: a line that two cores share. Stimulus: a store on core 0, then a load on core 1. Expect:
// the store removes the copy, so that the load is a transfer again. Section: TRM 2.1.6, 7.2.
#[test]
fn a_store_to_a_shared_line_removes_the_other_copies() {
    let mut bench = warm();
    bench.load_of(0, plain(LINE, 8));
    bench.load_of(1, plain(LINE, 8));
    bench.now += 100;
    assert!(!bench.load_of(1, plain(LINE, 8)).missed);
    bench.store_on(0, LINE, 8);
    bench.settle(0);
    assert!(bench.load_of(1, plain(LINE, 8)).missed);
    assert_eq!(each(&bench, EXT_SNOOP), [0, 2, 0]);
    assert_eq!(each(&bench, L1D_CACHE_REFILL), [1, 2, 0]);
}

// Given: a line in the L1 of core 1 and, by eviction from core 0, in the L2. Stimulus: a load on
// core 2. Expect: the L2 supplies it. Section: TRM 7.2.
#[test]
fn the_l2_supplies_if_both_have_the_line() {
    let mut bench = warm();
    bench.load_of(0, plain(LINE, 8));
    bench.load_of(1, plain(LINE, 8));
    // Lines of the same set move the line of core 0 out.
    for way in 1..60 {
        bench.load_of(0, plain(LINE + way * 8192, 8));
    }
    bench.now += 1000;
    bench.forget();
    let start = bench.now;
    let reply = bench.load_of(2, plain(LINE, 8));
    assert_eq!(reply.ready - start, u64::from(quiet().l2.hit_cycles));
    assert_eq!((each(&bench, EXT_SNOOP), each(&bench, EXT_MEM_REQ)), ([0; 3], [0; 3]));
}
