//! Store prefetches, and L2 victims that wait for a queue slot.

use sim_cache::CacheLevel;
use sim_core::{MemKind, MemoryPort, PmuEvent};

use super::rig::Base::K1;
use super::rig::{Rig, Tables, l2_set};

const D: u64 = 0x8000;

fn tables() -> Tables {
    let mut tables = Tables::quiet();
    tables.memory.prefetch.stores = true;
    tables.memory.prefetch.store_distance_lines = 0;
    tables
}

/// Performs the address half of a store.
fn address(rig: &mut Rig, kind: MemKind, addr: u64) {
    let request = Rig::request(kind, 8, addr);
    rig.memory.port(0).translate_store(request, rig.now, &mut rig.counts);
}

/// Returns the numbers of lines in the L1 D-cache and in the L2.
fn resident(rig: &Rig) -> [u64; 2] {
    let [_, l1d, l2] = rig.memory.resident_lines(0);
    [l1d, l2]
}

#[test]
fn the_address_of_a_store_brings_its_line_into_the_l2_and_its_write_into_the_l1() {
    let mut rig = Rig::with(&tables(), K1, &[D], &[]);
    address(&mut rig, MemKind::Store, D);
    address(&mut rig, MemKind::Store, D + 8);
    assert_eq!(resident(&rig), [0, 1]);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL), 0);
    rig.then().access(MemKind::Store, 8, D);
    assert_eq!(resident(&rig), [1, 1]);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL_WR), 1);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL_INNER), 1, "it is in the L2 by then");
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS), 1);
}

#[test]
fn a_zeroed_or_present_line_is_not_prefetched() {
    let mut rig = Rig::with(&tables(), K1, &[D], &[]);
    address(&mut rig, MemKind::ZeroLine, D);
    assert_eq!(resident(&rig), [0, 0]);
    rig.place(D, CacheLevel::L2, false).place(D, CacheLevel::L1d, false);
    address(&mut rig, MemKind::Store, D);
    assert_eq!(rig.value(PmuEvent::BUS_ACCESS), 0);
}

#[test]
fn a_stream_of_stores_refills_the_l1_by_itself_with_any_prefetcher_on() {
    // The stores write parts of lines, so nothing is merged: every line is refilled by its store.
    let mut tables = tables();
    tables.memory.prefetch.l1d = true;
    tables.memory.prefetch.l2_stream = true;
    tables.memory.prefetch.store_distance_lines = 4;
    let lines: Vec<u64> = (0..96).map(|i| D + 64 * i).collect();
    let mut rig = Rig::with(&tables, K1, &lines, &[]);
    for line in &lines {
        rig.then().st(8, *line);
    }
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_REFILL_WR), 96);
    assert_eq!(rig.memory.prefetch_stats(0).l1d.issued, 0);
}

#[test]
fn a_stream_of_stores_is_followed_into_the_l2_and_not_beyond_its_page() {
    let mut tables = tables();
    tables.memory.prefetch.store_distance_lines = 4;
    let first = D + 0x1000 - 6 * 64;
    let mut rig = Rig::with(&tables, K1, &[first], &[]);
    let mut seen = Vec::new();
    for line in (first..D + 0x1000).step_by(64) {
        rig.now += 10_000;
        address(&mut rig, MemKind::Store, line);
        seen.push(resident(&rig)[1]);
    }
    assert_eq!(seen, [1, 2, 5, 6, 6, 6], "the third store runs ahead, inside the page");
}

#[test]
fn a_victim_holds_a_queue_slot_until_the_home_node_has_it() {
    let misses = |entries: u32| {
        let mut tables = Tables::quiet();
        tables.memory.l2.queue_entries = entries;
        let lines = l2_set();
        let mut rig = Rig::with(&tables, K1, &[&lines[..], &[D]].concat(), &[]);
        for line in &lines[..8] {
            rig.place(*line, CacheLevel::L2, true);
        }
        let begin = rig.now;
        rig.ld(8, lines[8]);
        rig.ld(8, D).done - begin
    };
    let (alone, crowded) = (misses(3), misses(2));
    assert!(crowded >= alone + 30, "{crowded} cycles with two places, {alone} with three");
}

#[test]
fn refills_of_stores_do_not_train_the_prefetcher_of_the_l2() {
    let issued = |kind| {
        let mut tables = Tables::quiet();
        tables.memory.prefetch.l2_stream = true;
        let mut rig = Rig::with(&tables, K1, &[D], &[]);
        for line in 0..6 {
            if kind == MemKind::Store {
                rig.then().st(8, D + 64 * line);
            } else {
                rig.then().ld(8, D + 64 * line);
            }
        }
        rig.memory.prefetch_stats(0).l2.issued
    };
    assert!(issued(MemKind::Load) > 0);
    assert_eq!(issued(MemKind::Store), 0);
}
