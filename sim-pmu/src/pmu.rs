//! Performance monitoring unit of one core: its state, and its interface for a test bench. PMU
//! guide: chapters 3.1 and 4.12. The register interface is in `register_file`.

use sim_core::PmuEvent;
use sim_core::pmu_event::{COUNT, RelationKind};

use crate::control::{Controls, pmcr};
use crate::counter::{CYCLE_BIT, CounterIndex, EVENT_COUNTERS, IMPLEMENTED_BITS};
use crate::filter::Filter;
use crate::pe_state::PeState;
use crate::version::PmuVersion;

/// Event and filter of an event counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventType {
    /// `evtCount` as written. A number without an event on this core counts nothing.
    pub(crate) code: u16,
    pub(crate) filter: Filter,
}

/// Counters of one core. As a sink the unit receives every event and counts those programmed.
///
/// A program accesses the counters with [`Pmu::mrs`] and [`Pmu::msr`]. The other methods do the
/// same without regard to the exception level.
#[derive(Clone, Debug)]
pub struct Pmu {
    pub(crate) version: PmuVersion,
    pub(crate) state: PeState,
    pub(crate) controls: Controls,
    pub(crate) values: [u64; EVENT_COUNTERS],
    pub(crate) types: [EventType; EVENT_COUNTERS],
    pub(crate) cycles: u64,
    /// Cycles since the last step under PMCR.D.
    pub(crate) divided: u64,
    pub(crate) cycle_filter: Filter,
    /// `PMSELR_EL0.SEL`.
    pub(crate) selected: u8,
    /// PMCNTEN: enabled counters.
    pub(crate) running: u32,
    /// PMOVS: counters that overflowed since the flag was cleared.
    pub(crate) overflowed: u32,
    /// PMINTEN: counters with an enabled interrupt.
    pub(crate) interrupting: u32,
    /// Counters that each raised event increments. A sum event is incremented by its parts.
    pub(crate) routes: [u32; COUNT],
    /// Counters that count in the present state, kept so that an event costs one test.
    pub(crate) active: u32,
}

impl Default for Pmu {
    fn default() -> Self {
        Pmu::new()
    }
}

impl Pmu {
    /// Creates the PMU of the guide after reset, at non-secure EL0. Nothing is enabled.
    pub fn new() -> Pmu {
        Pmu::with_version(PmuVersion::default())
    }

    /// Creates the PMU of another architecture version after reset, at non-secure EL0.
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

    /// Sets the program's exception level and security state.
    pub fn set_state(&mut self, state: PeState) {
        self.state = state;
        self.refresh();
    }

    /// Returns the program's exception level and security state.
    pub fn state(&self) -> PeState {
        self.state
    }

    /// Makes `counter` count `event` wherever its filter allows (PMEVTYPER). The counter keeps its
    /// value.
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

    /// Writes the value of an event counter (PMEVCNTR).
    pub fn write(&mut self, counter: CounterIndex, value: u32) {
        self.values[counter.index()] = u64::from(value);
    }

    /// Reads the low 32 bits of an event counter (PMEVCNTR).
    pub fn read(&self, counter: CounterIndex) -> u32 {
        self.values[counter.index()] as u32
    }

    /// Reads all bits of an event counter (PMEVCNTR).
    pub fn value(&self, counter: CounterIndex) -> u64 {
        self.values[counter.index()]
    }

    /// Returns the event number of a counter that runs or holds a value, or `None` for an untouched
    /// counter (PMEVTYPER).
    pub fn event_code(&self, counter: CounterIndex) -> Option<u16> {
        let code = self.types[counter.index()].code;
        let is_used = code != 0 || self.running & counter.bit() != 0 || self.value(counter) != 0;
        is_used.then_some(code)
    }

    /// Writes the cycle counter (PMCCNTR).
    pub fn write_cycles(&mut self, value: u64) {
        self.cycles = value;
    }

    /// Reads the cycle counter (PMCCNTR).
    pub fn read_cycles(&self) -> u64 {
        self.cycles
    }

    /// Enables counting (PMCR.E), and selects where the cycle counter overflows (PMCR.LC).
    pub fn control(&mut self, is_enabled: bool, has_long_cycles: bool) {
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let others = self.controls.pmcr() & !(pmcr::E | pmcr::LC);
        self.controls.set_pmcr(others | bit(is_enabled, pmcr::E) | bit(has_long_cycles, pmcr::LC));
        self.refresh();
    }

    /// Starts the counters in `mask` (PMCNTENSET).
    pub fn start(&mut self, mask: u32) {
        self.running |= mask & IMPLEMENTED_BITS;
        self.refresh();
    }

    /// Stops the counters in `mask` (PMCNTENCLR).
    pub fn stop(&mut self, mask: u32) {
        self.running &= !mask;
        self.refresh();
    }

    /// Returns the counters that overflowed (read of PMOVSCLR).
    pub fn overflowed(&self) -> u32 {
        self.overflowed
    }

    /// Clears the overflow flags in `mask` (write of PMOVSCLR).
    pub fn clear_overflowed(&mut self, mask: u32) {
        self.overflowed &= !mask;
    }

    /// Adds one to the counters in `mask` that count `SW_INCR` and are visible to the program
    /// (PMSWINC).
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

/// Visits every raised event that contributes to `event`. `SW_INCR` depends on the written mask and
/// `CHAIN` on the counter below. Eight events are never raised.
pub(crate) fn for_each_raised(event: PmuEvent, visit: &mut impl FnMut(PmuEvent)) {
    let is_internal = matches!(event, PmuEvent::SW_INCR | PmuEvent::CHAIN);
    if is_internal || event.never_counts() {
        return;
    }
    if let Some([target, ..]) = event.relation(RelationKind::AliasOf) {
        return for_each_raised(*target, visit);
    }
    visit(event);
    let parts = event
        .relation(RelationKind::SumOf)
        .or_else(|| event.relation(RelationKind::ImpliedSumOf))
        .unwrap_or_default();
    for part in parts {
        for_each_raised(*part, visit);
    }
}
