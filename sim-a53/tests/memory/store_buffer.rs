//! The store buffer.

use sim_a53::A53Event::*;

use super::{Bench, quiet};

const BASE: u64 = 0x10_0000;

fn warm() -> Bench {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[BASE]);
    bench
}

// Given: five entries and three linefill buffers. Stimulus: stores to lines in memory, one in a
// cycle. Expect: eight are taken at once, the ninth waits. Section: TRM 2.1.6, 6.1.
#[test]
fn a_full_buffer_delays_the_store() {
    let mut bench = warm();
    let waits: Vec<bool> = (0..9)
        .map(|line| {
            let now = bench.now;
            bench.store(BASE + line * 192, 8).accepted > now
        })
        .collect();
    assert_eq!(waits, [[false; 8].as_slice(), &[true]].concat());
}

// Given: the same. Stimulus: two stores to each aligned 128 bits of eight lines. Expect: they
// merge, so that none waits; each looks up the cache. Section: TRM 2.1.6.
#[test]
fn stores_merge_within_an_aligned_128_bits() {
    let mut bench = warm();
    for line in 0..8 {
        for addr in [BASE + line * 192 + 8, BASE + line * 192] {
            let now = bench.now;
            assert_eq!(bench.store(addr, 8).accepted, now);
        }
    }
    bench.settle(0);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS, L1D_CACHE_REFILL]), [16, 16, 8]);
}

// Given: a store to a line in memory. Stimulus: loads of the same bytes, at once and later, and of
// other bytes. Expect: the buffer forwards; the other bytes wait for the line. Section: TRM 2.1.6.
#[test]
fn a_load_of_stored_bytes_does_not_wait_for_the_line() {
    let mut bench = warm();
    bench.store(BASE, 8);
    assert_eq!(bench.load(BASE), 0);
    bench.now += 20;
    assert_eq!(bench.load(BASE), 0);
    assert!(bench.load(BASE + 8) > 0);
    assert_eq!(bench.count(L1D_CACHE_REFILL), 1);
}

// Given: an empty buffer, then one with a store miss, then one with a hit. Stimulus: a barrier.
// Expect: no wait; the wait for the linefill; a few cycles. Section: TRM 2.1.6.
#[test]
fn a_barrier_waits_until_the_buffer_is_empty() {
    let config = quiet();
    let mut bench = warm();
    let drain = |bench: &mut Bench| {
        let now = bench.now;
        bench.memory.drain(0, now, &mut bench.counts[0]) - now
    };
    assert_eq!(drain(&mut bench), 0);
    bench.store(BASE, 8);
    assert!(drain(&mut bench) > u64::from(config.bus.latency_cycles));
    bench.now += 1000;
    bench.store(BASE, 8);
    assert!(drain(&mut bench) < 10);
}

// Given: a store to a page that no TLB has. Stimulus: the store. Expect: it is taken at once, and
// translated later. Section: TRM 5.2.
#[test]
fn a_store_reports_its_translation() {
    let mut bench = warm();
    let now = bench.now;
    let reply = bench.store(1 << 32, 8);
    assert_eq!(reply.accepted, now);
    assert!(reply.translated > now + 100);
}
