//! L1 and L2 cache events and the last level: guide sections 4.2 to 4.5.

use sim_cache::CacheLevel;
use sim_cache::config::PageMapping;
use sim_core::{AccessOutcome, DataSource, MemKind, PmuEvent, VirtAddr};

use super::rig::Base::{K1, K2, K3};
use super::rig::{Rig, Tables};
use super::tlbs::PRELOADED;

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;

fn d(base: super::rig::Base) -> Rig {
    Rig::new(base, &[D, 0x9000], &[I])
}

/// Counts of a load of a line that is present or already in flight.
const LOAD_ONLY: &str = "V3";

#[test]
fn a_second_load_of_a_line_refills_nothing() {
    // T.L1D_CACHE_REFILL.1 and .2
    for waits in [false, true] {
        let mut rig = d(K1);
        let first = rig.ld(4, D + 0xC);
        if !waits {
            rig.then();
        }
        let second = rig.ld(4, D);
        rig.expect(&format!("V1 + {LOAD_ONLY}"));
        assert_eq!(second.outcome.has(AccessOutcome::L1_MISS), waits);
        assert!(!second.outcome.has(AccessOutcome::L1_REFILL));
        if waits {
            assert_eq!((second.done, second.source), (first.done, DataSource::Dram));
        }
    }
}

#[test]
fn a_load_over_two_missing_lines_refills_two() {
    // T.L1D_CACHE_REFILL.3 and .4
    let mut rig = d(K1);
    rig.ld(8, D + 0x3C);
    rig.expect("2 V1 + LD_ALIGN_LAT + LDST_ALIGN_LAT");
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.ld(8, D + 0x3C);
    rig.expect("V3 + V1 + LD_ALIGN_LAT + LDST_ALIGN_LAT");
}

#[test]
fn a_preload_fills_the_l1_without_any_l1_event() {
    // T.L1D_CACHE_REFILL.5, .6; T.L1D_CACHE_RD.3; T.L1D_CACHE_REFILL_WR.2
    for kind in [MemKind::PrefetchLoad, MemKind::PrefetchStore] {
        for waits in [false, true] {
            let mut rig = d(K1);
            rig.access(kind, 8, D);
            if !waits {
                rig.then();
            }
            rig.ld(4, D);
            rig.expect(&format!("{PRELOADED} + {LOAD_ONLY}"));
        }
    }
    let mut rig = d(K2);
    rig.access(MemKind::PrefetchLoad, 8, D);
    rig.expect("L2D_CACHE + L2D_CACHE_RD");
}

#[test]
fn a_prefetched_line_adds_no_refill_but_l2_and_bus_traffic() {
    // T.L1D_CACHE_REFILL.7, T.MEM_ACCESS.8, T.BUS_ACCESS_RD.2
    let mut tables = Tables::quiet();
    tables.memory.prefetch.l1d = true;
    tables.memory.prefetch.l1d_degree_lines = 1;
    let mut rig = Rig::with(&tables, K1, &[D], &[]);
    for line in 0..3 {
        rig.then().ld(8, D + 64 * line);
    }
    rig.expect(&format!("3 V1 + {PRELOADED}"));
    let there = rig.memory.line_is_dirty(0, VirtAddr(D + 0xC0), CacheLevel::L1d);
    assert_eq!(there, Some(false));
    let before = rig.counts.clone();
    rig.then().ld(8, D + 0xC0);
    let demand = rig.counts.since(&before);
    assert_eq!(demand.value(PmuEvent::L1D_CACHE_REFILL), 0);
    assert_eq!(demand.value(PmuEvent::L1D_CACHE), 1);
}

#[test]
fn a_store_to_a_line_in_flight_refills_nothing() {
    // T.L1D_CACHE_REFILL.11, decision A04
    let mut rig = d(K1);
    rig.ld(4, D);
    rig.st(4, D + 4);
    rig.expect("V1 + V6");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), CacheLevel::L1d), Some(true));
}

#[test]
fn two_stores_to_one_missing_line_refill_once_as_writes() {
    // T.L1D_CACHE_REFILL_WR.1
    let mut rig = d(K1);
    rig.st(4, D);
    rig.st(4, D + 0x20);
    rig.expect("V4 + V6");
}

#[test]
fn refills_from_the_l2_are_inner_those_from_outside_outer() {
    // T.L1D_CACHE_REFILL_INNER.1, T.L1D_CACHE_REFILL_OUTER.1
    for (base, expected) in [(K2, "V2 + V5"), (K1, "V1 + V4")] {
        let mut rig = d(base);
        rig.ld(4, D);
        rig.then().st(4, 0x9000);
        rig.expect(expected);
    }
}

#[test]
fn a_refill_that_joins_an_l2_miss_of_the_other_side_is_outer() {
    // Decision A03: the data comes from outside, although the L2 lookup finds the line.
    let mut rig = Rig::new(K1, &[D], &[D]);
    rig.fetch(D);
    let reply = rig.ld(8, D);
    rig.expect("V7 + V2 + L1D_CACHE_REFILL_INNER -1 + L1D_CACHE_REFILL_OUTER");
    assert_eq!(reply.source, DataSource::Dram);
    assert!(!reply.outcome.has(AccessOutcome::L2_MISS));
}

#[test]
fn a_near_atomic_reads_and_writes_the_l1() {
    // T.L1D_CACHE.2, T.L1D_CACHE_RD.4, T.MEM_ACCESS_WR.1 and .2, decision A20
    let cache = "L1D_CACHE 2 + L1D_CACHE_RD + L1D_CACHE_WR";
    let read = "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD";
    let write = "MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR";
    for (kind, expected) in [
        (MemKind::AtomicLoad, format!("{cache} + {read} + {write}")),
        (MemKind::AtomicStore, format!("{cache} + {write}")),
        (MemKind::AtomicSwap, format!("{cache} + {read}")),
    ] {
        let mut rig = d(K3);
        rig.access(kind, 8, D);
        rig.expect(&expected);
        assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), CacheLevel::L1d), Some(true));
    }
}

#[test]
fn a_missing_atomic_refills_once_as_a_read() {
    let mut rig = d(K1);
    rig.access(MemKind::AtomicLoad, 8, D);
    rig.expect("V1 + MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR + L1D_CACHE + L1D_CACHE_WR");
}

#[test]
fn an_atomic_to_non_cacheable_memory_is_one_bus_write() {
    let mut rig = Rig::new(K1, &[], &[]);
    rig.non_cacheable(D).warm(D, sim_cache::TlbLevel::L1d);
    rig.access(MemKind::AtomicSwap, 8, D);
    rig.expect("MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + BUS_ACCESS + BUS_ACCESS_WR");
}

#[test]
fn dc_zva_writes_the_l1_on_a_hit_and_the_l2_on_a_miss_and_never_reads() {
    // T.L1D_CACHE_WR.2, T.L2D_CACHE_WR.3, T.L2D_CACHE_ALLOCATE.1, decision A36
    let mut rig = d(K3);
    rig.zva(D + 0x13);
    rig.expect("V6");
    let mut rig = d(K2);
    rig.zva(D);
    rig.expect("V6 + L2D_CACHE + L2D_CACHE_WR");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), CacheLevel::L2), Some(true));
    let mut rig = d(K1);
    rig.zva(D);
    rig.expect("V6 + L2D_CACHE + L2D_CACHE_WR + L2D_CACHE_REFILL + BUS_ACCESS + BUS_ACCESS_WR");
}

#[test]
fn full_lines_of_stores_stop_allocating_in_the_l1() {
    // T.L1D_CACHE_WB.5, decision A36: after four full lines each line is one L2 write
    let mut rig = Rig::new(K1, &[D], &[]);
    // The stores of one line start in the same cycle, so no byte waits long for the rest.
    let fill = |rig: &mut Rig, line: u64| {
        rig.then();
        (0..4).for_each(|part| {
            rig.st(16, D + 64 * line + 16 * part);
        })
    };
    (0..4).for_each(|line| fill(&mut rig, line));
    rig.expect("4 V4 + 12 V6");
    (4..8).for_each(|line| fill(&mut rig, line));
    let streamed = "L2D_CACHE + L2D_CACHE_WR + L2D_CACHE_REFILL + BUS_ACCESS + BUS_ACCESS_WR";
    rig.expect(&format!("4 V4 + 28 V6 + {}", [streamed; 4].join(" + ")));
    let streamed_line = VirtAddr(D + 64 * 5);
    assert_eq!(rig.memory.line_is_dirty(0, streamed_line, CacheLevel::L1d), None);
    assert_eq!(rig.memory.line_is_dirty(0, streamed_line, CacheLevel::L2), Some(true));
}

#[test]
fn slow_stores_do_not_form_full_lines() {
    // 4.2.3 exempts full-line writes alone: bytes that waited too long for the rest of their line
    // are written as a part
    let mut rig = Rig::new(K1, &[D], &[]);
    for part in 0..16 {
        rig.st(16, D + 16 * part);
    }
    for part in 16..20 {
        rig.then().st(16, D + 16 * part);
    }
    // The partial line ends the run of full lines, so the next store refills the L1.
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL_WR), 5);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_WR), 6);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL_RD), 5);
}

#[test]
fn a_load_of_a_line_whose_stores_are_still_merged_finds_it_in_the_l2() {
    let mut rig = Rig::new(K1, &[D], &[]);
    for part in 0..17 {
        rig.then().st(16, D + 16 * part);
    }
    rig.expect("4 V4 + 13 V6");
    rig.then().ld(8, D + 64 * 4);
    // The L2 reads the partial line for its merge, as a store miss; then the load hits.
    rig.expect(
        "4 V4 + 13 V6 + L2D_CACHE + L2D_CACHE_WR + L2D_CACHE_REFILL + L2D_CACHE_REFILL_RD + \
         L2D_CACHE_LMISS_RD + BUS_ACCESS + BUS_ACCESS_WR + LL_CACHE_RD + LL_CACHE_MISS_RD + V1 + \
         L2D_CACHE_REFILL -1 + L2D_CACHE_REFILL_RD -1 + L2D_CACHE_LMISS_RD -1 + BUS_ACCESS -1 + \
         BUS_ACCESS_RD -1 + LL_CACHE_RD -1 + LL_CACHE_MISS_RD -1",
    );
}

#[test]
fn two_fetches_of_one_missing_line_refill_once() {
    // T.L1I_CACHE_REFILL.2, T.L1I_CACHE.3
    for waits in [false, true] {
        let mut rig = d(K1);
        rig.fetch(I);
        if !waits {
            rig.then();
        }
        rig.fetch(I + 0x20);
        rig.expect("V7 + V9");
    }
}

#[test]
fn a_prefetch_of_the_instruction_side_counts_as_a_fetch() {
    // Decision A35: REFILL <= ACCESS holds on the I-side.
    let mut tables = Tables::quiet();
    tables.memory.prefetch.l1i_next_line = true;
    let mut rig = Rig::with(&tables, K1, &[], &[I]);
    rig.fetch(I);
    rig.expect("2 V7");
    rig.then().fetch(I + 0x40);
    rig.expect("3 V7 + V9");
}

#[test]
fn the_l2_prefetcher_counts_in_l2_and_bus_and_stays_in_its_page() {
    let mut tables = Tables::quiet();
    tables.memory.prefetch.l2_stream = true;
    tables.memory.prefetch.l2_degree_lines = 2;
    let three_lines_from = |first: u64, step: i64| {
        let addrs = [0, 1, 2].map(|i| first.wrapping_add_signed(i * step));
        let mut rig = Rig::with(&tables, K1, &addrs, &[]);
        for addr in addrs {
            rig.then().ld(8, addr);
        }
        rig
    };
    let started = format!("3 V1 + {PRELOADED} + {PRELOADED}");
    three_lines_from(D, 64).expect(&started);
    three_lines_from(D + 0xF00, -64).expect(&started);
    three_lines_from(D + 0xF00, 64).expect(&format!("3 V1 + {PRELOADED}"));
    three_lines_from(D + 0xF40, 64).expect("3 V1");
    three_lines_from(D, 0x140).expect("3 V1");
}

/// Returns the lines in the L2 after loads of the first `loads` lines of a stream over scattered
/// pages.
fn l2_lines_of_a_stream(page_cross: bool, loads: u64) -> u64 {
    let mut tables = Tables::quiet();
    tables.memory.pages.mapping = PageMapping::Mixed;
    let prefetch = &mut tables.memory.prefetch;
    (prefetch.l1d, prefetch.l2_stream) = (true, true);
    prefetch.l2_page_cross = page_cross;
    let mut rig = Rig::with(&tables, K1, &[], &[]);
    for line in 0..loads {
        rig.then().ld(8, D + 64 * line);
    }
    let [_, _, l2] = rig.memory.resident_lines(0);
    l2
}

#[test]
fn the_l2_prefetcher_continues_into_the_page_that_the_l1_prefetcher_names() {
    // The L1 prefetcher runs ahead of the loads, and the L2's ahead of the L1's.
    let prefetch = Tables::committed().memory.prefetch;
    let distance = u64::from(prefetch.l1d_distance_lines + prefetch.l2_distance_lines);
    assert_eq!(l2_lines_of_a_stream(false, 40), 64, "to the end of the page");
    assert_eq!(l2_lines_of_a_stream(true, 40), 40 + distance);
    // Each line of three pages is present once, and no line outside the stream.
    assert_eq!(l2_lines_of_a_stream(true, 140), 140 + distance);
}

#[test]
fn l2_lookups_and_refills_of_all_sides_add_up() {
    // T.L2D_CACHE_REFILL.1, T.L2D_CACHE_RD.1
    let mut rig = d(K1);
    rig.fetch(I);
    rig.then().ld(8, D);
    rig.then().st(8, 0x9000);
    rig.expect("V7 + V1 + V4");
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL), 3);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL_WR), 0);
}

#[test]
fn the_source_of_the_data_decides_whether_a_last_level_read_missed() {
    // T.LL_CACHE_RD.1 to .4 and .10, T.LL_CACHE_MISS_RD.1, decision A33
    let lines: Vec<u64> = (0..4).map(|i| D + 0x40 * i).collect();
    let mut rig = Rig::new(K1, &lines, &[]);
    rig.place(lines[0], CacheLevel::Slc, false);
    for (line, source) in lines[1..3].iter().zip([DataSource::Peer, DataSource::Remote]) {
        rig.memory.set_data_source(VirtAddr(*line), Some(source)).expect("mapped");
    }
    let sources = [0, 1, 2, 3].map(|i| rig.then().ld(8, lines[i]).source);
    let right = [DataSource::Slc, DataSource::Peer, DataSource::Remote, DataSource::Dram];
    assert_eq!(sources, right);
    rig.expect("4 V1 + LL_CACHE_MISS_RD -1 + REMOTE_ACCESS");
}

#[test]
fn without_extllc_the_last_level_events_stay_zero() {
    // T.LL_CACHE_RD.5, T.LL_CACHE_MISS_RD.3, invariant I04
    let mut tables = Tables::quiet();
    tables.semantics.extllc = false;
    let mut rig = Rig::with(&tables, K1, &[D], &[]);
    rig.ld(8, D);
    rig.expect("V1 + LL_CACHE_RD -1 + LL_CACHE_MISS_RD -1");
}

#[test]
fn a_read_removes_a_data_line_from_the_slc_and_keeps_a_code_line() {
    let mut rig = Rig::new(K1, &[D], &[I]);
    rig.place(D, CacheLevel::Slc, true).place(I, CacheLevel::Slc, false);
    rig.ld(8, D);
    rig.then().fetch(I);
    let state = |addr, level| rig.memory.line_is_dirty(0, VirtAddr(addr), level);
    assert_eq!([state(D, CacheLevel::Slc), state(I, CacheLevel::Slc)], [None, Some(false)]);
    assert_eq!(state(D, CacheLevel::L2), Some(true), "the duty to write back moved with the line");
}
