//! The event counters and the cycle counter of the PMU.
//! Guide: chapter 3.1 (six counters) and 4.12.5 (CHAIN); widths and flags by the PMUv3 architecture.
//! Not modeled: 64-bit event counters (PMCR.LP), the HPMN partition, filters by exception level.

use sim_core::pmu_event::{COUNT, RelationKind};
use sim_core::{EventSink, PmuEvent};

/// Programmable event counters of the Neoverse N2.
pub const EVENT_COUNTERS: usize = 6;
/// Bit of the cycle counter in enable and overflow masks.
pub const CYCLE_BIT: u32 = 1 << 31;
/// The bits that exist in enable and overflow masks.
const IMPLEMENTED_BITS: u32 = CYCLE_BIT | ((1 << EVENT_COUNTERS) - 1);

/// The number of an event counter, 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterIndex(u8);

impl CounterIndex {
    /// Counter `n`, if the core has it.
    pub fn new(n: u8) -> Option<CounterIndex> {
        (usize::from(n) < EVENT_COUNTERS).then_some(CounterIndex(n))
    }

    /// The bit of the counter in enable and overflow masks.
    pub fn bit(self) -> u32 {
        1 << self.0
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The counters of one core. As a sink they hear every event and count those programmed.
#[derive(Clone, Debug)]
pub struct Pmu {
    values: [u32; EVENT_COUNTERS],
    events: [Option<PmuEvent>; EVENT_COUNTERS],
    cycles: u64,
    /// PMCR_EL0.E: off, nothing counts.
    is_enabled: bool,
    /// PMCR_EL0.LC: the cycle counter overflows at bit 63 instead of bit 31.
    has_long_cycles: bool,
    /// PMCNTEN: counters that run.
    running: u32,
    /// PMOVS: counters that overflowed since the flag was cleared.
    overflowed: u32,
    /// For each event that is raised, the counters it adds to: a sum hears its parts.
    routes: [u8; COUNT],
}

impl Default for Pmu {
    fn default() -> Self {
        Pmu::new()
    }
}

impl Pmu {
    /// A PMU after reset: nothing is programmed, nothing runs.
    pub fn new() -> Pmu {
        Pmu {
            values: [0; EVENT_COUNTERS],
            events: [None; EVENT_COUNTERS],
            cycles: 0,
            is_enabled: false,
            has_long_cycles: true,
            running: 0,
            overflowed: 0,
            routes: [0; COUNT],
        }
    }

    /// PMEVTYPER: lets `counter` count `event`; its value stays.
    pub fn program(&mut self, counter: CounterIndex, event: PmuEvent) {
        self.events[counter.index()] = Some(event);
        let bit = counter.bit() as u8;
        for route in &mut self.routes {
            *route &= !bit;
        }
        self.connect(event, bit);
    }

    /// Connects a counter with everything that is raised on behalf of `event`.
    fn connect(&mut self, event: PmuEvent, bit: u8) {
        if let Some([target, ..]) = event.relation(RelationKind::AliasOf) {
            return self.connect(*target, bit);
        }
        self.routes[event as usize] |= bit;
        let parts = event
            .relation(RelationKind::SumOf)
            .or_else(|| event.relation(RelationKind::ImpliedSumOf))
            .unwrap_or_default();
        for part in parts {
            self.connect(*part, bit);
        }
    }

    /// PMEVCNTR: writes the value of an event counter.
    pub fn write(&mut self, counter: CounterIndex, value: u32) {
        self.values[counter.index()] = value;
    }

    /// PMEVCNTR: reads the value of an event counter.
    pub fn read(&self, counter: CounterIndex) -> u32 {
        self.values[counter.index()]
    }

    /// PMCCNTR: writes the cycle counter.
    pub fn write_cycles(&mut self, value: u64) {
        self.cycles = value;
    }

    /// PMCCNTR: reads the cycle counter.
    pub fn read_cycles(&self) -> u64 {
        self.cycles
    }

    /// PMCR.E and PMCR.LC: whether anything counts, and where the cycle counter overflows.
    pub fn control(&mut self, is_enabled: bool, has_long_cycles: bool) {
        self.is_enabled = is_enabled;
        self.has_long_cycles = has_long_cycles;
    }

    /// PMCNTENSET: starts the counters in `mask`.
    pub fn start(&mut self, mask: u32) {
        self.running |= mask & IMPLEMENTED_BITS;
    }

    /// PMCNTENCLR: stops the counters in `mask`.
    pub fn stop(&mut self, mask: u32) {
        self.running &= !mask;
    }

    /// PMOVSCLR, read: the counters that overflowed.
    pub fn overflowed(&self) -> u32 {
        self.overflowed
    }

    /// PMOVSCLR, write: clears the flags in `mask`.
    pub fn clear_overflowed(&mut self, mask: u32) {
        self.overflowed &= !mask;
    }

    /// PMSWINC: adds one to the counters in `mask` that count `SW_INCR`.
    pub fn software_increment(&mut self, mask: u32) {
        let counters = self.routes[PmuEvent::SW_INCR as usize] & mask as u8;
        self.add(counters, 1);
    }

    fn counts(&self, bit: u32) -> bool {
        self.is_enabled && self.running & bit != 0
    }

    /// Adds `n` to each counter in `counters` that runs.
    fn add(&mut self, counters: u8, n: u64) {
        for index in 0..EVENT_COUNTERS as u8 {
            let counter = CounterIndex(index);
            if u32::from(counters) & counter.bit() != 0 && self.counts(counter.bit()) {
                self.step(counter, n);
            }
        }
    }

    /// Adds `n` to one counter; an even one hands its overflows to a chained odd one above it.
    fn step(&mut self, counter: CounterIndex, n: u64) {
        let total = u64::from(self.values[counter.index()]) + n;
        self.values[counter.index()] = total as u32;
        let overflows = total >> 32;
        if overflows == 0 {
            return;
        }
        self.overflowed |= counter.bit();
        let above = CounterIndex(counter.0 + 1);
        let is_even = counter.0.is_multiple_of(2);
        if is_even
            && self.events[above.index()] == Some(PmuEvent::CHAIN)
            && self.counts(above.bit())
        {
            self.step(above, overflows);
        }
    }

    fn step_cycles(&mut self, n: u64) {
        if !self.counts(CYCLE_BIT) {
            return;
        }
        let (total, is_past_bit_63) = self.cycles.overflowing_add(n);
        let is_past_bit_31 = total >> 32 != self.cycles >> 32;
        self.cycles = total;
        if if self.has_long_cycles { is_past_bit_63 } else { is_past_bit_31 } {
            self.overflowed |= CYCLE_BIT;
        }
    }
}

impl EventSink for Pmu {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let counters = self.routes[event as usize];
        // SW_INCR goes by the mask of the write, CHAIN by the counter below.
        let is_internal = matches!(event, PmuEvent::SW_INCR | PmuEvent::CHAIN);
        if counters != 0 && !is_internal {
            self.add(counters, n);
        }
        if event == PmuEvent::CPU_CYCLES {
            self.step_cycles(n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PmuEvent::*;

    const ALL: u32 = IMPLEMENTED_BITS;

    fn counter(n: u8) -> CounterIndex {
        CounterIndex::new(n).expect("the core has six counters")
    }

    /// A PMU with all counters running, programmed with (counter, event, value).
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
    fn sums_and_aliases_hear_what_is_raised_for_them() {
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
    fn software_increments_go_by_mask_and_event() {
        let mut pmu = running(&[(0, SW_INCR, 0), (1, SW_INCR, 0), (2, LD_SPEC, 0)]);
        pmu.software_increment(0b110);
        let read = |n| pmu.read(counter(n));
        assert_eq!((read(0), read(1), read(2)), (0, 1, 0));
    }

    #[test]
    fn the_cycle_counter_is_64_bits_and_overflows_where_software_says() {
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
}
