//! TLB events: guide section 4.1.

use sim_cache::TlbLevel;
use sim_core::{MemKind, PmuEvent};

use super::rig::Base::{K0, K1, K3};
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;

#[test]
fn fetches_that_wait_for_one_translation_refill_once() {
    // T.L1I_TLB_REFILL.3, decision A13
    let mut rig = Rig::new(K0, &[], &[]);
    rig.fetch(I);
    rig.fetch(I + 0x40);
    rig.expect("2 V7 + walk if");
}

#[test]
fn the_instruction_tlb_has_48_entries() {
    // T.L1I_TLB_REFILL.5
    let mut rig = Rig::new(K0, &[], &[]);
    for page in 0..49 {
        rig.then().fetch(I + 0x1000 * page);
    }
    assert_eq!([rig.value(PmuEvent::L1I_TLB_REFILL), rig.value(PmuEvent::L1I_TLB)], [49, 49]);
    rig.then().fetch(I + 0x1000 * 48);
    assert_eq!([rig.value(PmuEvent::L1I_TLB_REFILL), rig.value(PmuEvent::L1I_TLB)], [49, 50]);
    rig.then().fetch(I);
    assert_eq!(rig.value(PmuEvent::L1I_TLB_REFILL), 50, "the first page was evicted");
}

#[test]
fn the_data_tlb_has_40_entries() {
    // T.L1D_TLB_REFILL.10
    let mut rig = Rig::new(K0, &[], &[]);
    for page in (0..41).chain([40]) {
        rig.then().ld(8, D + 0x1000 * page);
    }
    assert_eq!([rig.value(PmuEvent::L1D_TLB_REFILL), rig.value(PmuEvent::L1D_TLB)], [41, 42]);
    rig.then().ld(8, D);
    assert_eq!(rig.value(PmuEvent::L1D_TLB_REFILL), 42, "the first page was evicted");
    assert_eq!(rig.value(PmuEvent::DTLB_WALK), 41, "the L2 TLB still held it");
}

#[test]
fn refills_of_loads_and_stores_add_up() {
    // T.L1D_TLB_REFILL.1 to .3, T.L2D_TLB_REFILL.1, T.L2D_TLB.1
    let mut rig = Rig::new(K0, &[], &[]);
    rig.fetch(I);
    rig.then().ld(8, D);
    rig.then().st(8, 0x9000);
    rig.expect("V7 + walk if + V1 + walk ld + V4 + walk st");
    assert_eq!(rig.value(PmuEvent::L2D_TLB_REFILL), 3);
    assert_eq!(rig.value(PmuEvent::L2D_TLB_REFILL_RD), 2);
}

#[test]
fn a_preload_refills_the_tlb_without_a_counted_lookup() {
    // T.L1D_TLB_REFILL.4, T.L1D_TLB_REFILL_WR.2, decision A12
    for (kind, translation) in
        [(MemKind::PrefetchLoad, "walk ld"), (MemKind::PrefetchStore, "walk st")]
    {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.access(kind, 8, D);
        rig.expect(&format!("{translation} + {PRELOADED}"));
    }
}

/// Counts of a line refilled for a preload: no L1D event, one read of the L2 and the bus.
pub(crate) const PRELOADED: &str = "L2D_CACHE + L2D_CACHE_RD + L2D_CACHE_REFILL + L2D_CACHE_REFILL_RD + \
    L2D_CACHE_LMISS_RD + BUS_ACCESS + BUS_ACCESS_RD + LL_CACHE_RD + LL_CACHE_MISS_RD";

#[test]
fn the_prefetcher_refills_the_tlb_before_the_demand() {
    // T.L1D_TLB_REFILL.5
    let mut rig = Rig::new(K1, &[D], &[]);
    rig.memory.set_prefetch(true);
    let mut addr = D + 0xC00;
    while rig.value(PmuEvent::L1D_TLB_REFILL) == 0 {
        assert!(addr < 0x9000, "the prefetcher did not reach the next page");
        rig.then().ld(8, addr);
        addr += 64;
    }
    let before = rig.counts.clone();
    rig.then().ld(8, 0x9000);
    let demand = rig.counts.since(&before);
    assert_eq!(demand.value(PmuEvent::L1D_TLB_REFILL), 0);
    assert_eq!(rig.value(PmuEvent::L1D_TLB_REFILL_RD), 1);
}

#[test]
fn loads_that_wait_for_one_translation_refill_once() {
    // T.L1D_TLB_REFILL.7
    let mut rig = Rig::new(K0, &[], &[]);
    for offset in [0, 0x100, 0x200] {
        rig.ld(8, D + offset);
    }
    rig.expect("3 V1 + walk ld");
}

#[test]
fn stores_that_wait_for_one_translation_refill_once_as_writes() {
    // T.L1D_TLB_REFILL_WR.1
    let mut rig = Rig::new(K0, &[], &[]);
    rig.st(8, D);
    rig.st(8, D + 0x100);
    rig.expect("2 V4 + walk st");
}

#[test]
fn a_load_over_two_lines_looks_up_the_tlb_twice() {
    // T.L1D_TLB.2, decision A11
    let mut rig = Rig::new(K3, &[D, D + 0x40], &[]);
    rig.ld(8, D + 0x3C);
    rig.expect("2 V3 + LD_ALIGN_LAT + LDST_ALIGN_LAT");
}

#[test]
fn a_walk_that_hits_the_walk_cache_counts_as_one_walk() {
    // T.DTLB_WALK.2, T.ITLB_WALK.2: with fewer reads, so in less time
    let mut rig = Rig::new(K0, &[], &[]);
    let first = rig.ld(8, D).translation_cycles;
    let second = rig.then().ld(8, D + 0x1000).translation_cycles;
    rig.expect("2 V1 + 2 walk ld");
    assert!(second < first, "{second} of {first}");
}

#[test]
fn partial_entries_count_as_l2_tlb_refills_if_they_are_kept_there() {
    // T.L2D_TLB_REFILL.3, decision A14
    let mut tables = Tables::quiet();
    tables.semantics.partial_walks_count = true;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    rig.ld(8, D);
    rig.expect("V1 + walk ld + L2D_TLB_REFILL + L2D_TLB_REFILL_RD");
}

#[test]
fn a_walk_in_flight_serves_the_other_side_without_a_second_walk() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.ld(8, D);
    let reply = rig.fetch(D + 0x800);
    rig.expect("V1 + walk ld + V7 + tlb2 if");
    assert!(reply.translation_cycles > 30, "it waits for the walk: {reply:?}");
}

#[test]
fn a_third_walk_waits_for_one_of_two_walkers() {
    let mut tables = Tables::quiet();
    (tables.memory.walker.walks, tables.memory.l2_tlb.lookups) = (2, 16);
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    let far = |i: u64| D + (i << 30);
    let waits = [0, 1, 2].map(|i| rig.ld(8, far(i)).translation_cycles);
    assert_eq!(waits[0], waits[1]);
    assert!(waits[2] > waits[0] + 50, "{waits:?}");
}

#[test]
fn an_l1_tlb_hit_looks_up_no_other_tlb() {
    // T.L2D_TLB.4
    let mut rig = Rig::new(K0, &[], &[]);
    rig.warm(D, TlbLevel::L1d);
    assert_eq!(rig.ld(8, D).translation_cycles, 1);
    rig.expect("V1");
}
