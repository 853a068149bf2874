//! Counters of any core that are preset, so that each overflows after a period.

use crate::counter::{CYCLE_BIT, CounterIndex, EVENT_COUNTERS};
use crate::pe_state::{ExceptionLevel, PeState};
use crate::perf::Levels;
use crate::pmu::{CPU_CYCLES, Pmu};
use crate::register::Register;
use crate::routes::{EventRoutes, N2Routes};

/// Largest number of events from the preset value to the overflow: half the counter's range. A late
/// service can then still read how far the counter went.
const PRESET_MAX: u64 = 1 << 31;

/// Event to sample, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Number of the event on the core.
    pub code: u16,
    /// Levels at which it counts.
    pub levels: Levels,
    /// Events from one sample to the next, at least 1.
    pub period: u64,
}

/// Samples that an increment of a counter completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Index of the request.
    pub request: usize,
    /// Number of samples, at least 1.
    pub samples: u64,
    /// Events counted after the last of them.
    pub after: u64,
    /// Events from one sample to the next.
    pub period: u64,
}

/// Error: the requests need more than the six event counters and the cycle counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{asked} events need a counter each, and the core has {EVENT_COUNTERS} besides the cycle counter"
)]
pub struct TooManyEvents {
    /// Number of requested events other than `CPU_CYCLES`.
    pub asked: usize,
}

/// Request assigned to a counter.
#[derive(Clone, Copy, Debug)]
struct Slot {
    code: u16,
    levels: Levels,
    /// Assigned event counter; `None` for the cycle counter.
    counter: Option<CounterIndex>,
    period: u64,
    /// Events until the next sample, at the time when the counter was preset.
    left: u64,
    /// Events from the preset value to the overflow.
    preset: u64,
}

impl Slot {
    fn bit(&self) -> u32 {
        self.counter.map_or(CYCLE_BIT, CounterIndex::bit)
    }

    /// Presets the counter for the next sample.
    fn arm<R: EventRoutes>(&mut self, pmu: &mut Pmu<R>) {
        self.preset = self.left.min(PRESET_MAX);
        let value = (1 << 32) - self.preset;
        match self.counter {
            Some(counter) => pmu.write(counter, value as u32),
            None => pmu.write_cycles(value),
        }
    }

    /// Serves an overflow. The counter may be far past it. Returns the number of samples, and the
    /// events after the last one.
    fn serve<R: EventRoutes>(&mut self, pmu: &mut Pmu<R>) -> (u64, u64) {
        let value = match self.counter {
            Some(counter) => pmu.read(counter),
            None => pmu.read_cycles() as u32,
        };
        let passed = self.preset + u64::from(value);
        let mut samples = (0, 0);
        if passed < self.left {
            self.left -= passed;
        } else {
            let beyond = passed - self.left;
            samples = (1 + beyond / self.period, beyond % self.period);
            self.left = self.period - samples.1;
        }
        pmu.clear_overflowed(self.bit());
        self.arm(pmu);
        samples
    }
}

/// PMU of a core whose counters overflow after each period.
#[derive(Clone, Debug)]
pub struct OverflowCounters<R = N2Routes> {
    pmu: Pmu<R>,
    slots: Vec<Slot>,
    /// Exception level of the kernel.
    kernel: ExceptionLevel,
}

impl<R: EventRoutes> OverflowCounters<R> {
    /// Assigns a counter of a PMU after reset to every request. They count once [`Pmu::control`]
    /// enables the unit.
    ///
    /// # Errors
    /// If there are more requests than counters.
    pub fn new(pmu: Pmu<R>, requests: &[Sampled]) -> Result<OverflowCounters<R>, TooManyEvents> {
        let mut free = CounterIndex::all();
        let mut slots: Vec<Slot> = Vec::new();
        for Sampled { code, levels, period } in requests {
            let is_cycles = *code == CPU_CYCLES;
            let takes_cycle_counter = is_cycles && slots.iter().all(|slot| slot.counter.is_some());
            let counter = if takes_cycle_counter { None } else { free.next() };
            if !takes_cycle_counter && counter.is_none() {
                let is_other = |other: &&Sampled| other.code != CPU_CYCLES;
                return Err(TooManyEvents { asked: requests.iter().filter(is_other).count() });
            }
            let (code, levels, period) = (*code, *levels, (*period).max(1));
            slots.push(Slot { code, levels, counter, period, left: period, preset: 0 });
        }
        let mut counters = OverflowCounters { pmu, slots, kernel: ExceptionLevel::El1 };
        counters.program();
        for slot in &mut counters.slots {
            slot.arm(&mut counters.pmu);
        }
        Ok(counters)
    }

    /// Programs the events and filters of the counters, starts them and enables their interrupts.
    fn program(&mut self) {
        let state = self.pmu.state();
        self.pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
        for slot in &self.slots {
            let filter = slot.levels.filter(self.kernel).bits();
            let code = u64::from(slot.code);
            match slot.counter {
                Some(counter) => {
                    let register = Register::PMEVTYPER_EL0(counter.index() as u8);
                    write(&mut self.pmu, register, filter | code);
                }
                None => write(&mut self.pmu, Register::PMCCFILTR_EL0, filter),
            }
        }
        let all = self.slots.iter().fold(0, |mask, slot| mask | slot.bit());
        write(&mut self.pmu, Register::PMINTENSET_EL1, all.into());
        write(&mut self.pmu, Register::PMCNTENSET_EL0, all.into());
        self.pmu.set_state(state);
    }

    /// Returns the unit.
    #[inline]
    pub fn pmu(&self) -> &Pmu<R> {
        &self.pmu
    }

    /// Returns the unit, to count events in it. [`Self::serve`] follows an overflow.
    #[inline]
    pub fn pmu_mut(&mut self) -> &mut Pmu<R> {
        &mut self.pmu
    }

    /// Programs the filters again for a kernel at EL2.
    pub fn kernel_is_host(&mut self) {
        if self.kernel != ExceptionLevel::El2 {
            self.kernel = ExceptionLevel::El2;
            self.program();
        }
    }

    /// Serves the counters that overflowed, and gives their samples.
    #[cold]
    pub fn serve(&mut self, mut give: impl FnMut(Completed)) {
        let overflowed = self.pmu.overflowed();
        for (request, slot) in self.slots.iter_mut().enumerate() {
            if overflowed & slot.bit() != 0 {
                let (samples, after) = slot.serve(&mut self.pmu);
                if samples > 0 {
                    give(Completed { request, samples, after, period: slot.period });
                }
            }
        }
    }
}

/// Writes a register as the driver does, at EL1 and without traps.
fn write<R: EventRoutes>(pmu: &mut Pmu<R>, register: Register, value: u64) {
    pmu.msr(register, value)
        .expect("EL1 may write every register of the PMU but those of EL2 and EL3");
}
