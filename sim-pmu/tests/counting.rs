//! Counters wrap, chain, stop and set overflow flags according to PMU guide 4.12.5 and the
//! architecture.

use sim_core::EventSink;
use sim_core::PmuEvent::{self, *};
use sim_pmu::counter::{CYCLE_BIT, IMPLEMENTED_BITS};
use sim_pmu::{CounterIndex, Pmu};

const ALL: u32 = IMPLEMENTED_BITS;

fn counter(n: u8) -> CounterIndex {
    CounterIndex::new(n).expect("the core has six counters")
}

/// Returns a PMU whose counters all run, with the (counter, event, value) triples programmed.
fn running(programs: &[(u8, PmuEvent, u32)]) -> Pmu {
    let mut pmu = Pmu::new();
    pmu.control(true, true);
    pmu.start(ALL);
    for (n, event, value) in programs {
        pmu.program(counter(*n), *event);
        pmu.write(counter(*n), *value);
    }
    pmu
}

#[test]
fn a_counter_wraps_at_32_bits_and_flags_it() {
    let mut pmu = running(&[(0, INST_RETIRED, u32::MAX)]);
    pmu.raise(INST_RETIRED);
    assert_eq!((pmu.read(counter(0)), pmu.read(counter(1))), (0, 0));
    assert_eq!(pmu.overflowed(), 1);
    pmu.clear_overflowed(1);
    assert_eq!(pmu.overflowed(), 0);
}

#[test]
fn one_add_can_carry_across_the_boundary() {
    let mut pmu = running(&[(0, STALL_SLOT, 0xFFFF_FFFE), (1, CHAIN, 0)]);
    pmu.count(STALL_SLOT_FRONTEND, 5);
    assert_eq!((pmu.read(counter(0)), pmu.read(counter(1))), (3, 1));
    assert_eq!(pmu.overflowed(), 1);
}

#[test]
fn a_chained_pair_counts_the_event_of_the_even_counter_in_64_bits() {
    let mut pmu = running(&[(2, INST_RETIRED, 0xFFFF_FFFE), (3, CHAIN, 0)]);
    pmu.count(INST_RETIRED, 5);
    assert_eq!((pmu.read(counter(2)), pmu.read(counter(3))), (3, 1));

    let mut pmu = running(&[(4, MEM_ACCESS, 0), (5, CHAIN, 0)]);
    pmu.count(MEM_ACCESS_RD, (1 << 32) + 3);
    pmu.count(MEM_ACCESS_WR, 4);
    assert_eq!((pmu.read(counter(4)), pmu.read(counter(5))), (7, 1));
}

#[test]
fn only_odd_counters_chain() {
    let mut pmu = running(&[(1, INST_RETIRED, u32::MAX), (2, CHAIN, 9)]);
    pmu.raise(INST_RETIRED);
    assert_eq!((pmu.read(counter(1)), pmu.read(counter(2))), (0, 9));
    assert_eq!(pmu.overflowed(), 0b010);
}

#[test]
fn only_the_counter_just_below_is_chained() {
    let mut pmu = running(&[(1, INST_RETIRED, u32::MAX), (2, LD_SPEC, 0), (3, CHAIN, 0)]);
    pmu.raise(INST_RETIRED);
    assert_eq!(pmu.read(counter(3)), 0);
}

#[test]
fn both_halves_of_a_pair_can_wrap_at_once() {
    let mut pmu = running(&[(0, INST_RETIRED, u32::MAX), (1, CHAIN, u32::MAX)]);
    pmu.raise(INST_RETIRED);
    assert_eq!((pmu.read(counter(0)), pmu.read(counter(1))), (0, 0));
    assert_eq!(pmu.overflowed(), 0b11);
}

#[test]
fn a_stopped_counter_neither_counts_nor_chains() {
    let mut pmu = running(&[(4, INST_RETIRED, u32::MAX), (5, CHAIN, 0)]);
    pmu.stop(counter(4).bit());
    pmu.raise(INST_RETIRED);
    assert_eq!((pmu.read(counter(4)), pmu.read(counter(5))), (u32::MAX, 0));
    pmu.start(counter(4).bit());
    pmu.control(false, true);
    pmu.raise(INST_RETIRED);
    assert_eq!(pmu.read(counter(4)), u32::MAX, "PMCR.E stops everything");
}

#[test]
fn sums_and_aliases_count_the_events_raised_for_them() {
    let mut pmu = running(&[(0, L1D_CACHE, 0), (1, BUS_CYCLES, 0), (2, BUS_ACCESS, 0)]);
    pmu.count(L1D_CACHE_RD, 3);
    pmu.count(L1D_CACHE_WR, 2);
    pmu.count(CPU_CYCLES, 10);
    pmu.count(BUS_ACCESS, 1);
    pmu.count(BUS_ACCESS_RD, 1);
    let read = |n| pmu.read(counter(n));
    assert_eq!((read(0), read(1), read(2)), (5, 10, 2));
    pmu.program(counter(0), L1D_CACHE_WR);
    pmu.raise(L1D_CACHE_RD);
    assert_eq!(pmu.read(counter(0)), 5, "the old event no longer counts");
}

#[test]
fn software_increments_depend_on_mask_and_event() {
    let mut pmu = running(&[(0, SW_INCR, 0), (1, SW_INCR, 0), (2, LD_SPEC, 0)]);
    pmu.software_increment(0b110);
    let read = |n| pmu.read(counter(n));
    assert_eq!((read(0), read(1), read(2)), (0, 1, 0));
}

#[test]
fn the_cycle_counter_has_64_bits_and_overflows_at_the_selected_bit() {
    let mut pmu = running(&[]);
    pmu.write_cycles(u64::from(u32::MAX));
    pmu.count(CPU_CYCLES, 2);
    assert_eq!((pmu.read_cycles(), pmu.overflowed()), (0x1_0000_0001, 0));
    pmu.control(true, false);
    pmu.write_cycles(u64::from(u32::MAX));
    pmu.raise(CPU_CYCLES);
    assert_eq!((pmu.read_cycles(), pmu.overflowed()), (0x1_0000_0000, CYCLE_BIT));
    pmu.control(true, true);
    pmu.clear_overflowed(CYCLE_BIT);
    pmu.write_cycles(u64::MAX);
    pmu.raise(CPU_CYCLES);
    assert_eq!((pmu.read_cycles(), pmu.overflowed()), (0, CYCLE_BIT));
}
