//! Selection of the counters that count in the present state, and their increments. Arm ARM D11.5
//! (enabling and prohibiting) and D11.6 (filtering); PMU guide 4.12.5 (CHAIN).

use sim_core::{EventSink, PmuEvent};

use crate::control::{mdcr_el2, mdcr_el3, pmcr};
use crate::counter::{CYCLE_BIT, CounterIndex};
use crate::pe_state::ExceptionLevel;
use crate::pmu::{CHAIN, Pmu};
use crate::routes::EventRoutes;

/// Number of cycles for one step of the cycle counter under PMCR.D.
const DIVISOR: u64 = 64;
/// Bit at which a counter without a long format overflows.
const SHORT_BITS: u32 = 32;

impl<R: EventRoutes> Pmu<R> {
    /// Returns the level of the interrupt request: set while an enabled counter has overflowed and
    /// may interrupt.
    pub fn interrupt(&self) -> bool {
        self.overflowed & self.interrupting & self.controls.enabled() != 0
    }

    /// Recomputes the counters that count. Required after every change of a register or of the
    /// state.
    pub(crate) fn refresh(&mut self) {
        let filtered_out = self
            .counters()
            .filter(|counter| !self.types[counter.index()].filter.passes(self.state))
            .fold(0, |mask, counter| mask | counter.bit());
        let cycles = if self.cycle_filter.passes(self.state) { 0 } else { CYCLE_BIT };
        let stopped = filtered_out | cycles | self.prohibited();
        self.active = self.running & self.controls.enabled() & !stopped;
    }

    /// Returns the counters that may not count at the program's level, independent of their
    /// filters.
    fn prohibited(&self) -> u32 {
        let is_secure = self.state.is_in_secure_state();
        let is_el2 = self.state.level == ExceptionLevel::El2;
        let el3_forbids = is_secure && !self.controls.has_mdcr_el3(mdcr_el3::SPME);
        let el2_forbids = is_el2 && self.controls.has_mdcr_el2(mdcr_el2::HPMD);
        let events = match (el3_forbids, el2_forbids) {
            (true, _) => self.controls.event_bits(),
            (false, true) => self.controls.first_range(),
            (false, false) => 0,
        };
        // The cycle counter continues at such a level unless a control bit stops it as well.
        let stops_cycles = (el3_forbids || el2_forbids) && self.controls.has_pmcr(pmcr::DP)
            || is_secure && self.controls.has_mdcr_el3(mdcr_el3::SCCD)
            || is_el2 && self.controls.has_mdcr_el2(mdcr_el2::HCCD);
        events | if stops_cycles { CYCLE_BIT } else { 0 }
    }

    /// Returns the largest number that can be added to `counters` with no overflow before the last
    /// one added. Counters without a long format count up to bit 31.
    pub(crate) fn room(&self, counters: u32) -> u64 {
        let own = self.counters().filter(|counter| counters & counter.bit() != 0);
        let room = |counter: CounterIndex| {
            (1 << SHORT_BITS) - (self.values[counter.index()] & u64::from(u32::MAX))
        };
        own.map(room).min().unwrap_or(u64::MAX)
    }

    /// Adds `n` to each counter in `counters` that counts in the present state.
    #[inline]
    pub fn increment(&mut self, counters: u32, n: u64) {
        let counters = counters & self.active;
        if counters != 0 {
            self.add(counters, n);
        }
    }

    /// Adds `n` to each counter in `counters`, all of which are active.
    #[cold]
    fn add(&mut self, counters: u32, n: u64) {
        for counter in self.counters() {
            if counters & counter.bit() != 0 {
                self.step(counter, n);
            }
        }
        if counters & CYCLE_BIT != 0 {
            self.step_cycles(n);
        }
    }

    /// Adds `n` to one counter. An even counter passes its overflows to a chained odd counter above
    /// it.
    pub(crate) fn step(&mut self, counter: CounterIndex, n: u64) {
        let value = &mut self.values[counter.index()];
        let (old, total) = (u128::from(*value), u128::from(*value) + u128::from(n));
        *value = total as u64 & self.description.counter_bits();
        let is_long = self.controls.long_counters() & counter.bit() != 0;
        let overflow_bit = if is_long { u64::BITS } else { SHORT_BITS };
        let overflows = ((total >> overflow_bit) - (old >> overflow_bit)) as u64;
        if overflows == 0 {
            return;
        }
        self.overflowed |= counter.bit();
        let chained = counter.chained().filter(|above| {
            let counts_them = self.types[above.index()].code == CHAIN;
            !is_long && counts_them && self.active & above.bit() != 0
        });
        if let Some(above) = chained {
            self.step(above, overflows);
        }
    }

    fn step_cycles(&mut self, n: u64) {
        let is_long = self.controls.has_pmcr(pmcr::LC);
        let steps = match self.controls.has_pmcr(pmcr::D) && !is_long {
            true => {
                let cycles = self.divided + n;
                self.divided = cycles % DIVISOR;
                cycles / DIVISOR
            }
            false => n,
        };
        let (total, is_past_bit_63) = self.cycles.overflowing_add(steps);
        let is_past_bit_31 = is_past_bit_63 || total >> SHORT_BITS != self.cycles >> SHORT_BITS;
        self.cycles = total;
        if if is_long { is_past_bit_63 } else { is_past_bit_31 } {
            self.overflowed |= CYCLE_BIT;
        }
    }
}

impl EventSink for Pmu {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.increment(self.routes.of(event), n);
    }
}
