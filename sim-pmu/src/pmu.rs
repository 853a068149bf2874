//! The performance monitoring unit of one core: its state, and its use by a test bench.
//! Guide: chapters 3.1 and 4.12; the register interface is in `register_file`.

use sim_core::PmuEvent;
use sim_core::pmu_event::{COUNT, RelationKind};

use crate::control::{Controls, pmcr};
use crate::counter::{CYCLE_BIT, CounterIndex, EVENT_COUNTERS, IMPLEMENTED_BITS};
use crate::filter::Filter;
use crate::pe_state::PeState;
use crate::version::PmuVersion;

/// What an event counter counts, and where.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventType {
    /// `evtCount` as written; a number that is no event of the core counts nothing.
    pub(crate) code: u16,
    pub(crate) filter: Filter,
}

/// The counters of one core. As a sink they hear every event and count those programmed.
///
/// A program uses them by [`Pmu::mrs`] and [`Pmu::msr`]. The verbs beside those do the same without
/// regard to the exception level.
#[derive(Clone, Debug)]
pub struct Pmu {
    pub(crate) version: PmuVersion,
    pub(crate) state: PeState,
    pub(crate) controls: Controls,
    pub(crate) values: [u64; EVENT_COUNTERS],
    pub(crate) types: [EventType; EVENT_COUNTERS],
    pub(crate) cycles: u64,
    /// Cycles since the last one that PMCR.D let through.
    pub(crate) divided: u64,
    pub(crate) cycle_filter: Filter,
    /// `PMSELR_EL0.SEL`.
    pub(crate) selected: u8,
    /// PMCNTEN: counters that run.
    pub(crate) running: u32,
    /// PMOVS: counters that overflowed since the flag was cleared.
    pub(crate) overflowed: u32,
    /// PMINTEN: counters that interrupt.
    pub(crate) interrupting: u32,
    /// For each event that is raised, the counters it adds to: a sum hears its parts.
    pub(crate) routes: [u32; COUNT],
    /// The counters that count in the present state. Kept, so that an event costs one test.
    pub(crate) active: u32,
}

impl Default for Pmu {
    fn default() -> Self {
        Pmu::new()
    }
}

impl Pmu {
    /// The PMU of the guide after reset, at non-secure EL0: nothing is enabled.
    pub fn new() -> Pmu {
        Pmu::with_version(PmuVersion::default())
    }

    /// The same, of another version of the architecture.
    pub fn with_version(version: PmuVersion) -> Pmu {
        let mut pmu = Pmu {
            version,
            state: PeState::default(),
            controls: Controls::new(version),
            values: [0; EVENT_COUNTERS],
            types: [EventType::default(); EVENT_COUNTERS],
            cycles: 0,
            divided: 0,
            cycle_filter: Filter::default(),
            selected: 0,
            running: 0,
            overflowed: 0,
            interrupting: 0,
            routes: [0; COUNT],
            active: 0,
        };
        pmu.routes[PmuEvent::CPU_CYCLES as usize] = CYCLE_BIT;
        pmu
    }

    /// Where the program runs from now on.
    pub fn set_state(&mut self, state: PeState) {
        self.state = state;
        self.refresh();
    }

    /// Where the program runs.
    pub fn state(&self) -> PeState {
        self.state
    }

    /// PMEVTYPER: lets `counter` count `event` wherever its filter allows; its value stays.
    pub fn program(&mut self, counter: CounterIndex, event: PmuEvent) {
        let filter = self.types[counter.index()].filter;
        self.set_type(counter, EventType { code: event.code(), filter });
        self.refresh();
    }

    pub(crate) fn set_type(&mut self, counter: CounterIndex, event_type: EventType) {
        self.types[counter.index()] = event_type;
        for route in &mut self.routes {
            *route &= !counter.bit();
        }
        if let Ok(event) = PmuEvent::from_code(u32::from(event_type.code)) {
            for_each_raised(event, &mut |raised| self.routes[raised as usize] |= counter.bit());
        }
    }

    /// PMEVCNTR: writes the value of an event counter.
    pub fn write(&mut self, counter: CounterIndex, value: u32) {
        self.values[counter.index()] = u64::from(value);
    }

    /// PMEVCNTR: reads the low 32 bits of an event counter.
    pub fn read(&self, counter: CounterIndex) -> u32 {
        self.values[counter.index()] as u32
    }

    /// PMEVCNTR: all bits that an event counter has.
    pub fn value(&self, counter: CounterIndex) -> u64 {
        self.values[counter.index()]
    }

    /// PMEVTYPER: the event number of a counter that runs or holds something; `None` of one left alone.
    pub fn event_code(&self, counter: CounterIndex) -> Option<u16> {
        let code = self.types[counter.index()].code;
        let is_used = code != 0 || self.running & counter.bit() != 0 || self.value(counter) != 0;
        is_used.then_some(code)
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
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let others = self.controls.pmcr() & !(pmcr::E | pmcr::LC);
        self.controls.set_pmcr(others | bit(is_enabled, pmcr::E) | bit(has_long_cycles, pmcr::LC));
        self.refresh();
    }

    /// PMCNTENSET: starts the counters in `mask`.
    pub fn start(&mut self, mask: u32) {
        self.running |= mask & IMPLEMENTED_BITS;
        self.refresh();
    }

    /// PMCNTENCLR: stops the counters in `mask`.
    pub fn stop(&mut self, mask: u32) {
        self.running &= !mask;
        self.refresh();
    }

    /// PMOVSCLR, read: the counters that overflowed.
    pub fn overflowed(&self) -> u32 {
        self.overflowed
    }

    /// PMOVSCLR, write: clears the flags in `mask`.
    pub fn clear_overflowed(&mut self, mask: u32) {
        self.overflowed &= !mask;
    }

    /// PMSWINC: adds one to the counters in `mask` that count `SW_INCR` and that exist for the program.
    pub fn software_increment(&mut self, mask: u32) {
        let mask = mask & self.visible();
        for counter in CounterIndex::all().filter(|counter| mask & counter.bit() != 0) {
            let counts_it = self.types[counter.index()].code == PmuEvent::SW_INCR.code();
            if counts_it && self.active & counter.bit() != 0 {
                self.step(counter, 1);
            }
        }
    }
}

/// Tells everything that is raised on behalf of `event`. `SW_INCR` goes by the mask of the write, `CHAIN` by
/// the counter below; eight events have no wire at all.
pub(crate) fn for_each_raised(event: PmuEvent, tell: &mut impl FnMut(PmuEvent)) {
    let is_internal = matches!(event, PmuEvent::SW_INCR | PmuEvent::CHAIN);
    if is_internal || event.never_counts() {
        return;
    }
    if let Some([target, ..]) = event.relation(RelationKind::AliasOf) {
        return for_each_raised(*target, tell);
    }
    tell(event);
    let parts = event
        .relation(RelationKind::SumOf)
        .or_else(|| event.relation(RelationKind::ImpliedSumOf))
        .unwrap_or_default();
    for part in parts {
        for_each_raised(*part, tell);
    }
}
