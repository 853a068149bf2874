//! Latencies and rates, against published measurements of the N2 and the A710.

use sim_cache::CacheLevel;
use sim_core::{MemKind, MemRequest, MemoryPort, NullSink, PmuEvent, VirtAddr};

use super::rig::Base::{K1, K2, K3};
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;

/// Returns the mean cycles of a chain of `n` dependent loads of different lines in one level.
fn ladder(level: Option<CacheLevel>, n: u64) -> u64 {
    let lines: Vec<u64> = (0..n).map(|i| 0x100_0000 + i * 64).collect();
    let mut rig = Rig::new(K1, &lines, &[]);
    if let Some(level) = level {
        for line in &lines {
            rig.place(*line, level, false);
        }
    }
    let begin = rig.now;
    for line in &lines {
        rig.now = rig.ld(8, *line).done;
    }
    (rig.now - begin) / n
}

#[test]
fn dependent_loads_have_the_published_latencies() {
    // Cortex-A710 and N2, Chips and Cheese: 4; 13 to 14; 35.48 ns = 97.6; 141 ns = 388 cycles
    assert_eq!(ladder(Some(CacheLevel::L1d), 64), 4);
    assert!((13..=14).contains(&ladder(Some(CacheLevel::L2), 64)));
    assert!((96..=98).contains(&ladder(Some(CacheLevel::Slc), 64)));
    assert!((384..=392).contains(&ladder(None, 64)));
}

#[test]
fn translation_adds_5_cycles_from_the_l2_tlb() {
    let mut rig = Rig::new(K3, &[D], &[]);
    let begin = rig.now;
    let reply = rig.only_l2_tlb(&[D]).ld(8, D);
    assert_eq!((reply.done - begin, reply.translation_cycles), (9, 6));
}

#[test]
fn a_cold_walk_reads_four_descriptors() {
    // 5 for the L2 TLB, then 4 x (4 of the walker + 13 of the read), then the L1 hit
    let mut rig = Rig::new(K3, &[D], &[]);
    let begin = rig.now;
    let reply = rig.empty_tlbs().ld(8, D);
    assert_eq!(reply.done - begin, 5 + 4 * 17 + 4);
}

#[test]
fn a_load_over_two_lines_takes_one_cycle_more() {
    let mut rig = Rig::new(K3, &[D, D + 0x40], &[]);
    let begin = rig.now;
    assert_eq!(rig.ld(8, D).done - begin, 4);
    assert_eq!(rig.ld(8, D + 0x3C).done - begin, 5);
    assert_eq!(rig.ld(16, D + 1).done - begin, 5);
}

#[test]
fn a_seventeenth_miss_waits_for_a_register() {
    let lines: Vec<u64> = (0..17).map(|i| D + 64 * i).collect();
    let mut rig = Rig::new(K1, &lines, &[]);
    let begin = rig.now;
    let done: Vec<u64> = lines.iter().map(|line| rig.ld(8, *line).done - begin).collect();
    assert!(done[..16].iter().all(|d| *d < 500), "{done:?}");
    assert!(done[16] > 700, "{done:?}");
}

/// Returns the bytes per cycle of independent loads of consecutive lines, one issued per cycle.
fn read_rate(tables: &Tables, level: Option<CacheLevel>, lines: u64) -> f64 {
    let mut rig = Rig::with(tables, K1, &[], &[]);
    let addr = |line: u64| 0x100_0000 + line * 64;
    for line in 0..lines {
        if let Some(level) = level {
            rig.place(addr(line), level, false);
        }
        if line % 64 == 0 {
            rig.warm(addr(line), sim_cache::TlbLevel::L2);
        }
    }
    let begin = rig.now;
    let mut last = begin;
    for line in 0..lines {
        // A window of about 160 operations: load i issues after load i - 80 is done.
        let reply = rig.ld(8, addr(line));
        last = last.max(reply.done);
        rig.now = (rig.now + 1).max(last.saturating_sub(400));
    }
    (64 * lines) as f64 / (last - begin) as f64
}

#[test]
fn one_core_reads_the_l2_at_about_20_bytes_per_cycle() {
    // Cortex-A710: 45.84 GB/s
    let rate = read_rate(&Tables::quiet(), Some(CacheLevel::L2), 4000);
    assert!((17.0..=21.0).contains(&rate), "{rate}");
}

#[test]
fn one_core_streams_stores_into_the_l2_at_about_32_bytes_per_cycle() {
    let (lines, first) = (4000, 0x100_0000);
    let mut rig = Rig::new(K1, &[], &[]);
    for line in 0..lines {
        rig.place(first + 64 * line, CacheLevel::L2, false);
    }
    for line in 0..8 {
        rig.then().st(64, 0x8000 + 64 * line);
    }
    let begin = rig.then().now;
    let mut last = begin;
    for line in 0..lines {
        let reply = rig.st(64, first + 64 * line);
        last = last.max(reply.done);
        rig.now = (rig.now + 1).max(last.saturating_sub(40));
    }
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL_RD), 4, "only the lines that began the stream");
    let rate = (64 * lines) as f64 / (last - begin) as f64;
    assert!((30.0..=32.5).contains(&rate), "{rate}");
}

#[test]
fn one_core_reads_the_slc_at_about_13_bytes_per_cycle_with_prefetch() {
    // N2: 36.5 GB/s at 2.75 GHz = 13.3; 16 registers without prefetch give 10.5
    let mut tables = Tables::committed();
    tables.memory.pages.mapping = sim_cache::config::PageMapping::Identity;
    let rate = read_rate(&tables, Some(CacheLevel::Slc), 20_000);
    assert!((12.0..=13.5).contains(&rate), "{rate}");
    let quiet = read_rate(&Tables::quiet(), Some(CacheLevel::Slc), 20_000);
    assert!((9.5..=10.6).contains(&quiet), "{quiet}");
}

#[test]
fn one_core_reads_dram_at_4_to_8_bytes_per_cycle_with_prefetch() {
    // N2, eight cores together: 14 GB/s each, 5.1 bytes per cycle
    let mut tables = Tables::committed();
    tables.memory.pages.mapping = sim_cache::config::PageMapping::Identity;
    let rate = read_rate(&tables, None, 20_000);
    assert!((4.0..=8.0).contains(&rate), "{rate}");
}

#[test]
fn stores_that_leave_late_do_not_delay_loads_that_issue_early() {
    // A store drains at 1000 and misses; a younger load of another line issues at 905.
    let mut rig = Rig::new(K1, &[D, D + 0x40], &[]);
    let begin = rig.now;
    let store = MemRequest::new(VirtAddr(0), VirtAddr(D), 8, MemKind::Store);
    let alone = |line: u64| {
        let mut rig = Rig::new(K1, &[line], &[]);
        rig.ld(8, line).done - rig.now
    };
    rig.memory.port(0).access(store, begin + 95, &mut NullSink);
    assert_eq!(rig.ld(8, D + 0x40).done - begin, alone(D + 0x40));
    assert_eq!(rig.ld(8, D).done - begin, alone(D), "it would have fetched the line itself");
}

#[test]
fn cycles_with_an_l2_miss_outstanding_are_reported() {
    let mut rig = Rig::new(K1, &[D], &[]);
    let begin = rig.now;
    let done = rig.ld(8, D).done;
    let pending = rig.memory.port(0).l2_miss_pending(begin, done);
    // All cycles except 13 of lookup and 5 of the fill
    assert_eq!(pending, done - begin - 13 - 5);
    assert_eq!(rig.memory.port(0).l2_miss_pending(done, done + 100), 0);
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.ld(8, D);
    assert_eq!(rig.memory.port(0).l2_miss_pending(0, 1 << 30), 0, "an L2 hit is not a miss");
}

#[test]
fn full_line_stores_to_the_l2_reach_the_bandwidth_of_its_port() {
    let mut rig = Rig::new(K1, &[D], &[]);
    let begin = rig.now;
    for part in 0..64 * 4 {
        rig.now = rig.st(16, D + 16 * part).done.min(rig.now + 1);
    }
    assert!(rig.now - begin <= 64 * 4 + 1);
}

#[test]
fn at_most_two_lookups_of_the_l2_tlb_are_in_flight() {
    // Independent loads, each of a page that only the L2 TLB has: 5 cycles for each two of them.
    let pages: Vec<u64> = (0..16).map(|page| D + 0x1000 * page).collect();
    let mut rig = Rig::new(K3, &pages, &[]);
    rig.only_l2_tlb(&pages);
    let begin = rig.now;
    let done: Vec<u64> = pages.iter().map(|page| rig.ld(8, *page).done - begin).collect();
    assert_eq!(done[..5], [9, 9, 14, 14, 19]);
    assert_eq!(done[15], 4 + 5 * 8);
}

/// Returns when the last of independent loads of a number of pages is done. Their lines are in the
/// L1.
fn of_pages(walked: bool, pages: u64) -> u64 {
    let addrs: Vec<u64> = (0..pages).map(|page| 0x100_0000 + page * 0x1040).collect();
    let mut rig = Rig::new(K3, &addrs, &[]);
    if walked {
        rig.empty_tlbs()
    } else {
        rig.only_l2_tlb(&addrs)
    };
    let begin = rig.now;
    addrs.iter().map(|addr| rig.ld(8, *addr).done).max().unwrap_or(begin) - begin
}

#[test]
fn l1_tlb_misses_queue_for_two_lookups_and_four_walks() {
    // 5 for a lookup of the L2 TLB, 17 for each walk level that is read, 4 for the L1.
    assert_eq!([1, 2, 3, 8].map(|pages| of_pages(false, pages)), [9, 9, 14, 24]);
    let [four, eight] = [4, 8].map(|pages| of_pages(true, pages));
    assert!(eight >= four + 17, "{eight} cycles for eight walks, {four} for four");
}

#[test]
fn full_lines_stream_into_the_l2_at_32_bytes_per_cycle_and_out_at_20() {
    let lines: Vec<u64> = (0..256).map(|i| 0x100_0000 + i * 64).collect();
    let mut rig = Rig::new(K2, &lines, &[]);
    let begin = rig.now;
    let written = lines.iter().map(|line| rig.zva(*line).done).max().unwrap_or(begin) - begin;
    assert!((480..=540).contains(&written), "{written} cycles for 16 KiB");
    let mut tables = Tables::quiet();
    tables.memory.l1d.mshrs = 64;
    let mut rig = Rig::with(&tables, K2, &lines, &[]);
    let read = lines.iter().map(|line| rig.ld(8, *line).done).max().unwrap_or(begin) - begin;
    assert!((780..=900).contains(&read), "{read} cycles for 16 KiB");
}

#[test]
fn ideal_data_does_not_change_the_time_of_fetches() {
    use sim_cache::IdealData;
    let times = |data, queue_entries| {
        let mut tables = Tables::quiet();
        tables.memory.ideal.data = data;
        tables.memory.l2.queue_entries = queue_entries;
        let mut rig = Rig::with(&tables, K1, &[0x8000], &[0x1_0000]);
        let begin = rig.now;
        let fetched = rig.fetch(0x1_0000).done - begin;
        rig.then();
        let begin = rig.now;
        [fetched, rig.ld(8, 0x8000).done - begin]
    };
    let [fetched, loaded] = times(IdealData::Nowhere, 16);
    let beyond_l2 = times(IdealData::BeyondL2, 16);
    let beyond_l1 = times(IdealData::BeyondL1, 16);
    assert_eq!([beyond_l2[0], beyond_l1[0]], [fetched, fetched]);
    assert!(loaded > 100 && beyond_l2[1] < 20 && beyond_l1[1] < 5, "{beyond_l2:?} {beyond_l1:?}");
}

#[test]
fn ideal_data_does_not_use_the_l2_port_and_a_fetch_does() {
    use sim_cache::IdealData;
    // Two fetches in the same cycle share the port; ideal data does not use it.
    let second = |data: bool| {
        let mut tables = Tables::quiet();
        tables.memory.ideal.data = IdealData::BeyondL1;
        tables.memory.l2.read_bytes_per_cycle = 4;
        let (first, fetched) = (0x8000, [0x1_0000, 0x1_0040]);
        let mut rig = Rig::with(&tables, K2, &[first], &fetched);
        let begin = rig.now;
        for n in 0..4 {
            if data {
                rig.place(first + 64 * n, CacheLevel::L2, false).ld(8, first + 64 * n);
            } else {
                rig.place(fetched[1] + 64 * n, CacheLevel::L2, false).fetch(fetched[1] + 64 * n);
            }
        }
        rig.fetch(fetched[0]).done - begin
    };
    assert!(second(false) > second(true) + 16, "{} {}", second(false), second(true));
}
