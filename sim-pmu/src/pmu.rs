//! Performance monitoring unit of one core: its state, and its interface for a test bench. PMU
//! guide: chapters 3.1 and 4.12. The register interface is in `register_file`.

use sim_core::PmuEvent;

use crate::control::{Controls, pmcr};
use crate::counter::{ARCHITECTED_COUNTERS, CYCLE_BIT, CounterIndex};
use crate::description::PmuDescription;
use crate::filter::Filter;
use crate::pe_state::PeState;
use crate::routes::{EventRoutes, N2Routes};
use crate::version::PmuVersion;

/// Storage for event counters; a core implements the first of them.
const STORED: usize = ARCHITECTED_COUNTERS as usize;
/// Number of the event that `PMSWINC` raises, on every core.
const SW_INCR: u16 = 0x00;
/// Number of the event by which an odd counter counts the overflows of the even one below it, on
/// every core.
pub(crate) const CHAIN: u16 = 0x1E;
/// Number of the event that the cycle counter counts, on every core.
pub(crate) const CPU_CYCLES: u16 = 0x11;

/// Event and filter of an event counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventType {
    /// `evtCount` as written. A number without an event on this core counts nothing.
    pub(crate) code: u16,
    pub(crate) filter: Filter,
}

/// Counters of one core. As a sink the unit receives every event and counts those programmed.
///
/// The core is a [`PmuDescription`]; `R` are its events, those of the Neoverse N2 unless said
/// otherwise.
///
/// A program accesses the counters with [`Pmu::mrs`] and [`Pmu::msr`]. The other methods do the
/// same without regard to the exception level.
#[derive(Clone, Debug)]
pub struct Pmu<R = N2Routes> {
    pub(crate) description: PmuDescription,
    pub(crate) state: PeState,
    pub(crate) controls: Controls,
    pub(crate) values: [u64; STORED],
    pub(crate) types: [EventType; STORED],
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
    /// Counters that each raised event increments.
    pub(crate) routes: R,
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
        Pmu::of_core(PmuDescription::neoverse_n2(version))
    }

    /// Makes `counter` count `event` wherever its filter allows (PMEVTYPER). The counter keeps its
    /// value.
    pub fn program(&mut self, counter: CounterIndex, event: PmuEvent) {
        self.program_code(counter, event.code());
    }
}

impl<R: EventRoutes> Pmu<R> {
    /// Creates the PMU of a core after reset, at non-secure EL0. Nothing is enabled.
    pub fn of_core(description: PmuDescription) -> Pmu<R> {
        let mut routes = R::default();
        routes.connect(CPU_CYCLES, CYCLE_BIT);
        Pmu {
            state: PeState::default(),
            controls: Controls::new(description.event_counters, description.controls),
            description,
            values: [0; STORED],
            types: [EventType::default(); STORED],
            cycles: 0,
            divided: 0,
            cycle_filter: Filter::default(),
            selected: 0,
            running: 0,
            overflowed: 0,
            interrupting: 0,
            routes,
            active: 0,
        }
    }

    /// Returns the description of the core.
    pub fn description(&self) -> &PmuDescription {
        &self.description
    }

    /// Returns the counters that each raised event increments.
    #[inline]
    pub fn routes(&self) -> &R {
        &self.routes
    }

    /// Returns every event counter of the core.
    pub fn counters(&self) -> impl Iterator<Item = CounterIndex> + use<R> {
        CounterIndex::first(self.description.event_counters)
    }

    /// Returns the implemented bits of enable and overflow masks.
    pub fn implemented_bits(&self) -> u32 {
        CYCLE_BIT | self.controls.event_bits()
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

    /// Makes `counter` count the event with this number wherever its filter allows (PMEVTYPER). The
    /// counter keeps its value.
    pub fn program_code(&mut self, counter: CounterIndex, code: u16) {
        let filter = self.types[counter.index()].filter;
        self.set_type(counter, EventType { code, filter });
        self.refresh();
    }

    pub(crate) fn set_type(&mut self, counter: CounterIndex, event_type: EventType) {
        self.types[counter.index()] = event_type;
        self.routes.disconnect(counter.bit());
        if event_type.code != SW_INCR && event_type.code != CHAIN {
            self.routes.connect(event_type.code, counter.bit());
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
        self.running |= mask & self.implemented_bits();
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
        self.raise_software_increment(mask & self.visible(self.state.is_guest()));
    }

    /// Adds one to the counters in `mask` that count `SW_INCR`.
    pub(crate) fn raise_software_increment(&mut self, mask: u32) {
        for counter in self.counters().filter(|counter| mask & counter.bit() != 0) {
            let counts_it = self.types[counter.index()].code == SW_INCR;
            if counts_it && self.active & counter.bit() != 0 {
                self.step(counter, 1);
            }
        }
    }
}
