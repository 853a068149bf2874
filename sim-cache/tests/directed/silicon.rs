//! The keys of `[semantics]` that differ in the silicon profile.

use sim_cache::config::{BusUnit, StoreMissDirection, WalkReads};
use sim_core::PmuEvent;

use super::rig::Base::{K0, K1};
use super::rig::{Rig, Tables, l2_set};
use super::tlbs::PRELOADED;

const D: u64 = 0x8000;

#[test]
fn a_store_miss_may_count_by_its_bus_opcode() {
    let mut tables = Tables::quiet();
    tables.semantics.store_miss_l2 = StoreMissDirection::Read;
    let mut rig = Rig::with(&tables, K1, &[D], &[]);
    rig.st(8, D);
    rig.expect("V4 + L2D_CACHE_WR -1 + L2D_CACHE_RD + BUS_ACCESS_WR -1 + BUS_ACCESS_RD");
}

#[test]
fn a_refill_and_a_write_back_may_count_two_beats_each() {
    let mut tables = Tables::quiet();
    tables.semantics.bus_unit = BusUnit::Beats;
    let lines = l2_set();
    let mut rig = Rig::with(&tables, K1, &lines, &[]);
    for line in &lines[..8] {
        rig.place(*line, sim_cache::CacheLevel::L2, true);
    }
    rig.ld(8, lines[8]);
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS_RD), 2);
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS_WR), 2);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_WB_VICTIM), 1);
}

#[test]
fn walk_reads_may_use_the_l2_silently_or_counted() {
    for (walk_reads, l2_reads) in [(WalkReads::L2Silent, 0), (WalkReads::L2Counted, 4)] {
        let mut tables = Tables::quiet();
        tables.semantics.walk_reads = walk_reads;
        let mut rig = Rig::with(&tables, K0, &[], &[]);
        rig.ld(8, D);
        // Four descriptors and the line itself; only L2 and bus count the descriptors.
        assert_eq!(rig.value(PmuEvent::L2D_CACHE_RD), 1 + l2_reads);
        assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL), 1 + l2_reads);
        assert_eq!(rig.value(PmuEvent::BUS_ACCESS_RD), 5);
        assert_eq!(rig.value(PmuEvent::L1D_CACHE), 1);
        assert_eq!(rig.memory.resident_lines(0)[2], 5);
        // The last descriptor of the next page is in the same line: an L2 hit.
        rig.then().ld(8, D + 0x1000);
        assert_eq!(rig.value(PmuEvent::BUS_ACCESS_RD), 6);
    }
}

#[test]
fn prefetches_may_count_on_the_bus_only() {
    let mut tables = Tables::quiet();
    tables.memory.prefetch.l2_stream = true;
    tables.memory.prefetch.l2_degree_lines = 1;
    tables.semantics.prefetch_counts_in_l2 = false;
    let lines = [D, D + 0x40, D + 0x80];
    let mut rig = Rig::with(&tables, K1, &lines, &[]);
    for line in lines {
        rig.then().ld(8, line);
    }
    rig.expect(&format!(
        "3 V1 + {PRELOADED} + L2D_CACHE -1 + L2D_CACHE_RD -1 + L2D_CACHE_REFILL -1 + \
         L2D_CACHE_REFILL_RD -1 + L2D_CACHE_LMISS_RD -1"
    ));
}

#[test]
fn clean_victims_may_count_as_write_backs() {
    // Decision A32, off by default
    let mut tables = Tables::quiet();
    tables.semantics.clean_victims_count = true;
    let lines = l2_set();
    let mut rig = Rig::with(&tables, K1, &lines[8..], &[]);
    for line in &lines[..8] {
        rig.place(*line, sim_cache::CacheLevel::L2, false);
    }
    rig.ld(8, lines[8]);
    rig.expect("V1 + L2D_CACHE_WB + L2D_CACHE_WB_VICTIM + BUS_ACCESS + BUS_ACCESS_WR");
}
