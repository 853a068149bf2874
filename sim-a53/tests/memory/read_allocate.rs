//! Read-allocate mode.

use sim_a53::A53Event::*;

use super::{Bench, defaults, quiet};

const BASE: u64 = 0x10_0000;

/// Stores `bytes` bytes of some lines from the base on, 16 bytes at a time.
fn write_lines(bench: &mut Bench, lines: std::ops::Range<u64>, bytes: u64) {
    for line in lines {
        for part in (0..bytes).step_by(16) {
            bench.store(BASE + line * 64 + part, 16);
        }
    }
}

fn warm() -> Bench {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[BASE]);
    bench
}

// Given: a warm page. Stimulus: stores to eight whole lines. Expect: three linefills; the fourth
// line begins the mode, and five lines go out in four beats each. Section: TRM 6.2.5;
// CPUACTLR.L1RADIS.
#[test]
fn the_fourth_whole_line_is_not_filled() {
    let mut bench = warm();
    write_lines(&mut bench, 0..8, 64);
    bench.settle(0);
    assert_eq!(bench.all([READ_ALLOC_ENTER, L1D_CACHE_REFILL, BUS_ACCESS_ST]), [1, 3, 20]);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS, READ_ALLOC]), [32, 32, 0]);
    bench.memory.finish(0, bench.now, &mut bench.counts[0]);
    let cycles = bench.count(READ_ALLOC);
    assert!(cycles > 1000 && cycles < bench.now, "{cycles}");
}

// Given: the mode. Stimulus: half a line, then stores elsewhere. Expect: the mode ends, the half
// goes out in two beats, and the next store is filled. Section: TRM 6.2.5.
#[test]
fn a_part_of_a_line_ends_the_mode() {
    let mut bench = warm();
    write_lines(&mut bench, 0..8, 64);
    write_lines(&mut bench, 8..9, 32);
    write_lines(&mut bench, 20..21, 16);
    bench.settle(0);
    assert_eq!(bench.all([READ_ALLOC_ENTER, L1D_CACHE_REFILL, BUS_ACCESS_ST]), [1, 4, 22]);
    assert!(bench.count(READ_ALLOC) > 0);
}

// Given: the mode with half a line written. Stimulus: a load of that line. Expect: the mode ends,
// and the load is filled. Section: TRM 6.2.5.
#[test]
fn a_load_of_the_line_being_written_ends_the_mode() {
    let mut bench = warm();
    write_lines(&mut bench, 0..8, 64);
    write_lines(&mut bench, 8..9, 32);
    bench.now += 100;
    bench.load(BASE + 30 * 64);
    assert_eq!(bench.count(READ_ALLOC), 0);
    bench.load(BASE + 8 * 64 + 40);
    assert!(bench.count(READ_ALLOC) > 0);
    assert_eq!(bench.count(L1D_CACHE_REFILL), 5);
}

// Given: a warm page. Stimulus: stores to three quarters of many lines. Expect: the mode never
// begins. Section: TRM 6.2.5.
#[test]
fn lines_that_are_not_whole_are_filled() {
    let mut bench = warm();
    write_lines(&mut bench, 0..40, 48);
    bench.settle(0);
    assert_eq!(bench.all([READ_ALLOC_ENTER, L1D_CACHE_REFILL]), [0, 40]);
}

// Given: the L2 limit at line 8. Stimulus: stores to twelve lines, then loads of all. Expect: lines
// 4 to 7 enter the L2, lines 8 to 12 go to memory. Section: CPUACTLR.RADIS.
#[test]
fn a_long_stream_passes_the_l2_by() {
    let mut config = quiet();
    config.read_allocate.l2_lines = 8;
    let mut bench = Bench::new(&config, 1);
    bench.warm_pages(&[BASE]);
    write_lines(&mut bench, 0..12, 64);
    bench.settle(0);
    assert_eq!(bench.all([EXT_MEM_REQ, L2D_CACHE_REFILL]), [3 + 5, 3]);
    (0..12).for_each(|line| _ = bench.load(BASE + line * 64));
    assert_eq!(bench.count(EXT_MEM_REQ), 3 + 5 + 5);
}

// Given: a warm page. Stimulus: DC ZVA of eight lines. Expect: the same as whole lines of stores.
// Section: TRM 6.2.5.
#[test]
fn zeroed_lines_count_as_whole_lines() {
    let mut bench = warm();
    for line in 0..8 {
        let addr = BASE + line * 64;
        let reply = bench.memory.zero_line(0, addr, bench.now, &mut bench.counts[0]);
        bench.now = reply.accepted + 4;
    }
    bench.settle(0);
    assert_eq!(bench.all([READ_ALLOC_ENTER, L1D_CACHE_REFILL, BUS_ACCESS_ST]), [1, 3, 20]);
    assert_eq!(bench.all([L1D_CACHE, MEM_ACCESS]), [8, 8]);
}

// Given: the defaults, in which store misses begin prefetch streams, too. Stimulus: a fill of 4 MB.
// Expect: the mode begins once and lasts; few lines are filled. Section: TRM 6.2.5.
#[test]
fn a_long_fill_stays_in_the_mode() {
    let mut bench = Bench::new(&defaults(), 1);
    write_lines(&mut bench, 0..65_536, 64);
    bench.settle(0);
    let before = bench.now;
    bench.memory.finish(0, before, &mut bench.counts[0]);
    assert_eq!(bench.count(READ_ALLOC_ENTER), 1);
    assert!(bench.count(READ_ALLOC) > before * 9 / 10);
    assert!(bench.count(PREFETCH_LINEFILL) <= 10);
}

// Given: the mode. Stimulus: a barrier within a line, and one between lines. Expect: the first ends
// the mode, the second does not. Section: TRM 6.2.5.
#[test]
fn a_barrier_within_a_line_ends_the_mode() {
    for (bytes, ends) in [(32, true), (64, false)] {
        let mut bench = warm();
        write_lines(&mut bench, 0..8, 64);
        write_lines(&mut bench, 8..9, bytes);
        bench.settle(0);
        assert_eq!(bench.count(READ_ALLOC) > 0, ends);
    }
}
