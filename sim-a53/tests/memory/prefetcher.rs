//! The data prefetcher.

use sim_a53::A53Event::*;

use super::{Bench, defaults};

const BASE: u64 = 0x10_0000;

fn warm() -> Bench {
    let mut config = defaults();
    config.l1i.next_line_prefetch = false;
    let mut bench = Bench::new(&config, 1);
    // The page has lines 0 to 62 left; line 63 warms it. Far from it, no stride is found.
    bench.warm_pages(&[BASE]);
    bench
}

// Given: a warm page. Stimulus: two misses at a stride. Expect: five prefetches for strides within
// four lines, up or down; none beyond. Section: TRM 6.6.2; CPUACTLR.L1PCTL, STRIDE.
#[test]
fn two_misses_at_a_stride_of_up_to_four_lines_begin_a_stream() {
    for (stride, prefetches) in [(1, 5), (4, 5), (-1, 5), (-4, 5), (5, 0), (-5, 0)] {
        let mut bench = warm();
        bench.load(BASE + 30 * 64);
        bench.load(BASE.wrapping_add_signed((30 + stride) * 64));
        let counts = bench.all([PREFETCH_LINEFILL, L1D_CACHE_REFILL]);
        assert_eq!(counts, [prefetches, 2], "stride {stride}");
    }
}

// Given: a miss. Stimulus: hits of another line, then a miss of the next line. Expect: the stream
// begins. Section: TRM 6.6.2.
#[test]
fn hits_between_the_misses_do_not_matter() {
    let mut bench = warm();
    bench.load(BASE);
    (0..5).for_each(|_| _ = bench.load(BASE + 0xFC8));
    bench.load(BASE + 64);
    assert_eq!(bench.count(PREFETCH_LINEFILL), 5);
}

// Given: a stream. Stimulus: loads of one line after the other, slowly. Expect: no further refill;
// prefetches up to the end of the page. Section: TRM 6.6.2.
#[test]
fn a_stream_runs_up_to_the_end_of_its_page() {
    let mut bench = warm();
    for line in 0..63 {
        bench.load(BASE + line * 64);
        bench.now += 300;
    }
    // Line 63 is present since the page was warmed.
    assert_eq!(bench.all([PREFETCH_LINEFILL, L1D_CACHE_REFILL]), [61, 2]);
    assert_eq!(bench.count(EXT_MEM_REQ), 63);
}

// Given: store misses at a stride. Stimulus: stores to two lines, with and without store streams.
// Expect: prefetches only with them. Section: CPUACTLR.STBPFDIS.
#[test]
fn store_misses_begin_streams_unless_switched_off() {
    for (stores, prefetches) in [(true, 5), (false, 0)] {
        let mut config = defaults();
        config.prefetch.stores = stores;
        let mut bench = Bench::new(&config, 1);
        bench.warm_pages(&[BASE]);
        bench.store(BASE, 8);
        bench.store(BASE + 64, 8);
        bench.settle(0);
        assert_eq!(bench.all([PREFETCH_LINEFILL, L1D_CACHE_REFILL]), [prefetches, 2]);
    }
}

// Given: a warm page. Stimulus: a software prefetch, and a load much later. Expect: the load hits;
// neither a refill nor a prefetch is counted. Section: TRM 6.6.
#[test]
fn a_software_prefetch_fills_the_line() {
    for for_write in [false, true] {
        let mut bench = warm();
        bench.memory.prefetch(0, BASE, for_write, bench.now, &mut bench.counts[0]);
        bench.now += 1000;
        assert_eq!(bench.load(BASE), 0);
        assert_eq!(bench.all([PREFETCH_LINEFILL, L1D_CACHE_REFILL, EXT_MEM_REQ]), [0, 0, 1]);
    }
}
