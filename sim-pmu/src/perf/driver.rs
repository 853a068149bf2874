//! Kernel driver for the counters of one core. The driver accesses the counters only by `MRS` and
//! `MSR` at the kernel's level. Every counter starts half its range below its overflow. Every
//! overflow interrupt adds the occurrences to a total, so that no count is lost at 32 bits.

use super::event::PerfEvent;
use super::slots::{Place, Slots};
use crate::control::pmcr;
use crate::counter::{CounterCount, CounterIndex};
use crate::description::PmuDescription;
use crate::pe_state::{ExceptionLevel, PeState};
use crate::pmu::Pmu;
use crate::register::Register;
use crate::routes::CoreEvent;

/// Range of a counter without a long format.
const SHORT_RANGE: u64 = u32::MAX as u64;
/// Upper bits of the cycle counter for a short event. The counter overflows at bit 63; with these
/// bits set it overflows at bit 31 of the event's value.
const CYCLE_BIAS: u64 = !SHORT_RANGE;

/// Driver state of an event.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Occurrences up to the last reading of the counter.
    total: u64,
    /// Counter value at the last reading.
    last: u64,
    /// Assigned counters; `None` while the event is not counted.
    place: Option<Place>,
}

/// Counters of one core, and the events that share them, by number.
#[derive(Clone, Debug)]
pub(crate) struct Driver<E: CoreEvent> {
    pmu: Pmu<E::Routes>,
    kernel: ExceptionLevel,
    events: Vec<PerfEvent<E>>,
    counted: Vec<Counted>,
    slots: Slots,
}

fn counter_register(counter: CounterIndex) -> Register {
    Register::PMEVCNTR_EL0(counter.index() as u8)
}

fn type_register(counter: CounterIndex) -> Register {
    Register::PMEVTYPER_EL0(counter.index() as u8)
}

impl<E> PerfEvent<E> {
    /// Returns the largest value of the event's counter.
    fn range(&self) -> u64 {
        if self.is_long { u64::MAX } else { SHORT_RANGE }
    }
}

impl<E: CoreEvent> Driver<E> {
    /// Creates the driver of a core whose counters are idle and whose kernel runs at EL1.
    pub(crate) fn new(events: Vec<PerfEvent<E>>, counters: CounterCount) -> Driver<E> {
        let counted = vec![Counted::default(); events.len()];
        let kernel = ExceptionLevel::El1;
        let mut driver = Driver {
            pmu: Pmu::of_core(PmuDescription { event_counters: counters.get(), ..E::pmu() }),
            kernel,
            events,
            counted,
            slots: Slots::of(counters),
        };
        driver.write(&[(Register::PMCR_EL0, pmcr::E | pmcr::LC)]);
        driver
    }

    /// Sets the program's exception level and security state.
    pub(crate) fn set_state(&mut self, state: PeState) {
        self.pmu.set_state(state);
    }

    /// Sets the kernel's exception level. No event may be counted at this time.
    pub(crate) fn set_kernel(&mut self, level: ExceptionLevel) {
        self.kernel = level;
    }

    /// Returns the kernel's exception level.
    pub(crate) fn kernel(&self) -> ExceptionLevel {
        self.kernel
    }

    /// Starts counting all of these events, or none if they do not all fit. Returns whether they
    /// started.
    pub(crate) fn start(&mut self, events: std::ops::Range<usize>) -> bool {
        let mut slots = self.slots;
        let places: Option<Vec<_>> =
            self.events[events.clone()].iter().map(|event| slots.take(event)).collect();
        let Some(places) = places else { return false };
        self.slots = slots;
        for (number, place) in events.zip(places) {
            self.counted[number].place = Some(place);
            self.set_up(number, place);
        }
        true
    }

    /// Stops counting these events and frees their counters.
    pub(crate) fn stop(&mut self, events: std::ops::Range<usize>) {
        for number in events {
            self.update(number);
            let Some(place) = self.counted[number].place.take() else { continue };
            let bits = u64::from(place.bits());
            self.write(&[(Register::PMCNTENCLR_EL0, bits), (Register::PMINTENCLR_EL1, bits)]);
            self.write(&[(Register::PMOVSCLR_EL0, bits)]);
            self.slots.free(place);
        }
    }

    /// Returns the occurrences of an event so far, while it was counted.
    pub(crate) fn total(&mut self, number: usize) -> u64 {
        self.update(number);
        self.counted[number].total
    }

    /// Serves the interrupt: adds up and restarts every counter that overflowed.
    #[cold]
    pub(crate) fn serve_interrupt(&mut self) {
        let flags = self.read(Register::PMOVSCLR_EL0);
        self.write(&[(Register::PMOVSCLR_EL0, flags)]);
        for number in 0..self.events.len() {
            let Some(place) = self.counted[number].place else { continue };
            if flags & u64::from(place.overflow_bit()) != 0 {
                self.update(number);
                self.preset(number, place);
            }
        }
    }

    /// Returns whether a counter requests service.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.pmu.interrupt()
    }

    /// Returns how many occurrences of an event can be counted until one of its counters overflows,
    /// that occurrence included.
    pub(crate) fn room(&self, event: E) -> u64 {
        self.pmu.room(event.counters(self.pmu.routes()))
    }

    /// Counts occurrences of an event.
    #[inline]
    pub(crate) fn count(&mut self, event: E, n: u64) {
        self.pmu.increment(event.counters(self.pmu.routes()), n);
    }

    /// Passes on a write of a mask of counters to the software increment register.
    pub(crate) fn software_increment(&mut self, counters: u32) {
        self.pmu.software_increment(counters);
    }

    /// Programs and starts the counters of an event.
    fn set_up(&mut self, number: usize, place: Place) {
        let PerfEvent { event, levels, .. } = self.events[number];
        let filter = levels.filter(self.kernel).bits();
        let code = |event: E| filter | u64::from(event.code());
        match place {
            Place::Cycles => self.write(&[(Register::PMCCFILTR_EL0, filter)]),
            Place::Single(counter) => self.write(&[(type_register(counter), code(event))]),
            Place::Pair(low, high) => self
                .write(&[(type_register(low), code(event)), (type_register(high), code(E::CHAIN))]),
        }
        self.preset(number, place);
        self.write(&[
            (Register::PMINTENSET_EL1, u64::from(place.overflow_bit())),
            (Register::PMCNTENSET_EL0, u64::from(place.bits())),
        ]);
    }

    /// Presets the counter to half its range before its overflow.
    fn preset(&mut self, number: usize, place: Place) {
        let range = self.events[number].range();
        let value = (range >> 1).wrapping_neg() & range;
        match place {
            Place::Cycles => {
                let bias = if range == SHORT_RANGE { CYCLE_BIAS } else { 0 };
                self.write(&[(Register::PMCCNTR_EL0, bias | value)]);
            }
            Place::Single(counter) => self.write(&[(counter_register(counter), value)]),
            Place::Pair(low, high) => self.write(&[
                (counter_register(high), value >> 32),
                (counter_register(low), value & SHORT_RANGE),
            ]),
        }
        self.counted[number].last = value;
    }

    /// Adds the increments since the last reading of the counter.
    fn update(&mut self, number: usize) {
        let Some(place) = self.counted[number].place else { return };
        let value = match place {
            Place::Cycles => self.read(Register::PMCCNTR_EL0),
            Place::Single(counter) => self.read(counter_register(counter)),
            Place::Pair(low, high) => {
                self.read(counter_register(high)) << 32 | self.read(counter_register(low))
            }
        };
        let range = self.events[number].range();
        let counted = &mut self.counted[number];
        counted.total += value.wrapping_sub(counted.last) & range;
        counted.last = value & range;
    }

    /// Writes registers at the kernel's level. The program does not run meanwhile, so nothing is
    /// counted.
    fn write(&mut self, writes: &[(Register, u64)]) {
        let state = self.enter_kernel();
        for (register, value) in writes {
            let done = self.pmu.msr(*register, *value);
            done.expect("a kernel without traps may write its counters");
        }
        self.pmu.set_state(state);
    }

    /// Reads a register at the kernel's level.
    fn read(&mut self, register: Register) -> u64 {
        let state = self.enter_kernel();
        let value = self.pmu.mrs(register);
        self.pmu.set_state(state);
        value.expect("a kernel without traps may read its counters")
    }

    /// Switches to the kernel's level. Returns the state to restore.
    fn enter_kernel(&mut self) -> PeState {
        let state = self.pmu.state();
        self.pmu.set_state(PeState::non_secure(self.kernel));
        state
    }
}
