//! What loads and stores find in the store queue, and which addresses are refused.

use super::*;
use crate::config::{CarryPipes, Divide, OnM0};

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
fn a_store_is_unknown_to_loads_of_its_bytes_until_its_address_is_there() {
    let mut lsu = unit();
    lsu.stored(0x1004, 4, TIMES);
    assert!(lsu.some_address_unknown(11));
    assert_eq!(lsu.unknown_store(0x1000, 8, 11), Some(12));
    assert_eq!(lsu.unknown_store(0x1000, 8, 12), None, "it can be compared with");
    assert_eq!(lsu.unknown_store(0x1000, 4, 11), None, "it writes other bytes");
}

#[test]
fn a_load_inside_a_store_in_flight_gets_its_data_from_there() {
    let mut lsu = unit();
    lsu.stored(0x1000, 8, TIMES);
    assert_eq!(lsu.forward(0x1004, 4, 30), Forward::Hit { done: 34, data: DATA });
    let waits = Forward::Hit { done: 24, data: DATA };
    assert_eq!(lsu.forward(0x1000, 8, 10), waits, "waits for the store's data");
}

#[test]
fn a_load_that_a_store_covers_in_part_waits_until_it_has_drained() {
    let mut lsu = unit();
    lsu.stored(0x1000, 4, TIMES);
    assert_eq!(lsu.forward(0x1000, 8, 30), Forward::Wait(94));
    assert_eq!(lsu.forward(0x1004, 4, 30), Forward::None);
}

#[test]
fn a_load_right_behind_a_store_of_late_address_is_independent() {
    let mut lsu = unit();
    lsu.stored(0x1000, 4, TIMES);
    assert_eq!(lsu.unknown_store(0x1004, 4, 11), None);
    assert_eq!(lsu.unknown_store(0x1003, 1, 11), Some(12));
}

#[test]
fn halves_are_forwarded_to_loads_of_eight_bytes_and_more_of_a_power_of_two_alone() {
    let mut lsu = unit();
    lsu.stored(0x1006, 2, TIMES);
    lsu.stored(0x1008, 2, TIMES);
    assert_eq!(lsu.forward(0x1006, 4, 30), Forward::Wait(94), "4 bytes");
    lsu.stored(0x2000, 24, TIMES);
    lsu.stored(0x2018, 24, TIMES);
    assert_eq!(lsu.forward(0x2000, 48, 30), Forward::Wait(94), "LD3 of 48 bytes");
}

#[test]
fn an_access_over_the_end_of_the_address_space_ends() {
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
    assert_eq!(lsu.forward(0x1002, 8, 30), Forward::Wait(94), "its halves are in no store");
    lsu.stored(0x100c, 4, TIMES);
    assert_eq!(lsu.forward(0x1000, 16, 30), Forward::Wait(94), "three stores");
}

#[test]
fn a_store_that_has_left_the_queue_forwards_nothing() {
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
fn a_store_takes_a_slot_of_the_drain_for_each_32_bytes_that_it_touches() {
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

/// Whether the instruction is refused at each of these offsets from an aligned 16 bytes.
fn refused<const N: usize>(word: u32, offsets: [u64; N]) -> [bool; N] {
    let inst = sim_isa::decode(word);
    offsets.map(|offset| is_misaligned(&inst, 0x1000 + offset))
}

/// Arm ARM B2.5.2, FEAT_LSE2.
#[test]
fn ordered_exclusive_and_atomic_accesses_stay_inside_16_aligned_bytes() {
    let offsets = [0, 3, 8, 9, 15];
    let of_eight_bytes = [false, false, false, true, true];
    for (word, name) in [
        (0xc8df_fc41, "ldar x1, [x2]"),
        (0xc89f_fc41, "stlr x1, [x2]"),
        (0xc85f_7c41, "ldxr x1, [x2]"),
        (0xf821_0040, "ldadd x1, x0, [x2]"),
        (0xf821_005f, "stadd x1, [x2]"),
        (0xf821_8040, "swp x1, x0, [x2]"),
    ] {
        assert_eq!(refused(word, offsets), of_eight_bytes, "{name}");
    }
    assert_eq!(refused(0xc87f_0440, [0, 1, 8]), [false, true, true], "ldxp x0, x1, [x2]");
    assert_eq!(refused(0xf940_0041, offsets), [false; 5], "ldr x1, [x2]");
    assert_eq!(refused(0xf900_0041, offsets), [false; 5], "str x1, [x2]");
}

#[test]
fn stores_of_tags_begin_at_a_granule_unless_they_align_themselves() {
    let offsets = [0, 8, 16];
    for (word, name) in [
        (0xd920_0820, "stg x0, [x1]"),
        (0xd9a0_0820, "st2g x0, [x1]"),
        (0xd960_0820, "stzg x0, [x1]"),
        (0x6900_0440, "stgp x0, x1, [x2]"),
    ] {
        assert_eq!(refused(word, offsets), [false, true, false], "{name}");
    }
    for (word, name) in [
        (0xd9a0_0020, "stgm x0, [x1]"),
        (0xd920_0020, "stzgm x0, [x1]"),
        (0xd960_0020, "ldg x0, [x1]"),
        (0xd50b_7480, "dc gzva, x0"),
        (0xd50b_7420, "dc zva, x0"),
    ] {
        assert_eq!(refused(word, offsets), [false; 3], "{name}");
    }
}
