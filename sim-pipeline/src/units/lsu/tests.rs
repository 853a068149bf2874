//! Tests of store-to-load forwarding and of the store queue drain.

use super::*;
use crate::config::{CarryPipes, Divide, OnM0};
use sim_core::VirtAddr;

fn unit() -> LoadStoreUnit {
    LoadStoreUnit::new(&ExecuteConfig {
        single_cycle_on_m0: OnM0::All,
        carry: CarryPipes::All,
        divide: Divide::Worst,
        hash_forward_cycles: 0,
        forward_cycles: 5,
        forward_fail_cycles: 4,
        dependence_entries: 32,
        load_banks: 0,
        barrier_cycles: 8,
        store_drain_width: 2,
        store_drain_bytes: 32,
        system_write_cycles: 10,
        system_read_cycles: 4,
        exception_cycles: 40,
    })
}

const DATA: Stamp = Stamp::new(20, OpRef::NONE);
const TIMES: StoreTimes = StoreTimes { known: 12, data: DATA, drained: 90 };

#[test]
fn a_store_is_unknown_to_loads_of_its_bytes_until_its_address_issues() {
    let mut lsu = unit();
    lsu.stored(0x1004, 4, TIMES);
    assert!(lsu.some_address_unknown(11));
    assert_eq!(lsu.unknown_store(0x1000, 8, 11), Some(12));
    assert_eq!(lsu.unknown_store(0x1000, 8, 12), None, "it can be compared with");
    assert_eq!(lsu.unknown_store(0x1000, 4, 11), None, "it writes other bytes");
}

#[test]
fn a_store_in_flight_forwards_to_a_load_inside_it() {
    let mut lsu = unit();
    lsu.stored(0x1000, 8, TIMES);
    assert_eq!(lsu.forward(0x1004, 4, 30), Forward::Hit { done: 34, data: DATA });
    let waits = Forward::Hit { done: 24, data: DATA };
    assert_eq!(lsu.forward(0x1000, 8, 10), waits, "waits for the store's data");
}

#[test]
fn a_load_that_a_store_covers_partly_waits_until_the_store_has_drained() {
    let mut lsu = unit();
    lsu.stored(0x1000, 4, TIMES);
    assert_eq!(lsu.forward(0x1000, 8, 30), Forward::Wait(94));
    assert_eq!(lsu.forward(0x1004, 4, 30), Forward::None);
}

#[test]
fn a_load_of_the_bytes_after_a_store_with_a_late_address_is_independent() {
    let mut lsu = unit();
    lsu.stored(0x1000, 4, TIMES);
    assert_eq!(lsu.unknown_store(0x1004, 4, 11), None);
    assert_eq!(lsu.unknown_store(0x1003, 1, 11), Some(12));
}

#[test]
fn halves_are_forwarded_only_to_loads_of_a_power_of_two_from_eight_bytes() {
    let mut lsu = unit();
    lsu.stored(0x1006, 2, TIMES);
    lsu.stored(0x1008, 2, TIMES);
    assert_eq!(lsu.forward(0x1006, 4, 30), Forward::Wait(94), "4 bytes");
    lsu.stored(0x2000, 24, TIMES);
    lsu.stored(0x2018, 24, TIMES);
    assert_eq!(lsu.forward(0x2000, 48, 30), Forward::Wait(94), "LD3 of 48 bytes");
}

#[test]
fn an_access_across_the_end_of_the_address_space_terminates() {
    let (mut lsu, last) = (unit(), u64::MAX - 3);
    lsu.stored(last, 8, TIMES);
    assert_eq!(lsu.forward(last, 8, 95), Forward::None);
    assert_eq!(lsu.unknown_store(last, 8, 95), None);
}

#[test]
fn two_stores_forward_one_half_each() {
    let mut lsu = unit();
    let later = Stamp::new(40, OpRef(8));
    lsu.stored(0x1000, 8, TIMES);
    assert_eq!(lsu.forward(0x1000, 16, 30), Forward::Wait(94), "half of it is in the cache");
    lsu.stored(0x1008, 8, StoreTimes { data: later, ..TIMES });
    assert_eq!(lsu.forward(0x1000, 16, 30), Forward::Hit { done: 44, data: later });
    assert_eq!(lsu.forward(0x1004, 8, 30), Forward::Hit { done: 44, data: later });
    assert_eq!(lsu.forward(0x1002, 8, 30), Forward::Wait(94), "no store covers a half");
    lsu.stored(0x100c, 4, TIMES);
    assert_eq!(lsu.forward(0x1000, 16, 30), Forward::Wait(94), "three stores");
}

#[test]
fn a_store_that_has_left_the_queue_does_not_forward() {
    let mut lsu = unit();
    lsu.stored(0x1000, 8, TIMES);
    assert_eq!(lsu.forward(0x1000, 8, 90), Forward::None);
}

#[test]
fn two_stores_drain_per_cycle() {
    let mut lsu = unit();
    let cycles: Vec<Cycle> =
        [9, 9, 9].into_iter().map(|retired| lsu.drain(retired, false)).collect();
    assert_eq!(cycles, [10, 10, 11]);
}

#[test]
fn a_store_takes_one_drain_slot_for_each_32_bytes_that_it_touches() {
    let mut lsu = unit();
    let mut drain = |addr, bytes, kind| {
        let store = MemRequest::new(VirtAddr(0x4000), VirtAddr(addr), bytes, kind);
        lsu.drain_pieces(&store, 9, false)
    };
    assert_eq!(drain(0x1010, 16, MemKind::Store), 10);
    assert_eq!(drain(0x1018, 16, MemKind::Store), 11, "one slot of either cycle");
    assert_eq!(drain(0x1000, 32, MemKind::Store), 11);
    assert_eq!(drain(0x1008, 64, MemKind::Store), 13, "three pieces");
    assert_eq!(drain(0x1000, 64, MemKind::ZeroLine), 13, "the whole line at once");
}
