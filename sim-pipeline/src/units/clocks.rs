//! Clocks of the core: its cycles, which never stop, and the ticks of the system counter. Ticks are
//! not counted during sleep (PMU guide 4.12.3, 4.12.6; decision A30).

use sim_core::{Cycle, EventSink, PmuEvent};

/// Rates of both clocks in Hz, and the cycles that the core has slept.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// First cycle of the current counting window.
    window_start: Cycle,
    core_hz: u64,
    counter_hz: u64,
    /// Cycles slept before the last sleep.
    slept: Cycle,
    /// Last sleep: its first cycle, and the first cycle after it.
    sleep: (Cycle, Cycle),
    /// Ticks in the windows closed so far.
    ticks: u64,
}

impl Clocks {
    /// Returns clocks at cycle 0, without a system counter.
    pub(crate) fn new() -> Clocks {
        Clocks { window_start: 0, core_hz: 1, counter_hz: 0, slept: 0, sleep: (0, 0), ticks: 0 }
    }

    /// Sets the rates of the system counter and of the core, in Hz.
    pub(crate) fn set_rates(&mut self, counter_hz: u64, core_hz: u64) {
        (self.counter_hz, self.core_hz) = (counter_hz, core_hz.max(1));
    }

    /// Lets the core sleep from cycle `from` until before `to`. Sleeps must come in order.
    pub(crate) fn sleeps(&mut self, from: Cycle, to: Cycle) {
        self.slept += self.sleep.1 - self.sleep.0;
        self.sleep = (from, to);
    }

    /// Ends the last sleep in `cycle` if that is earlier than its end. A cycle before its start
    /// removes it.
    pub(crate) fn wakes_by(&mut self, cycle: Cycle) {
        self.sleep.1 = self.sleep.1.min(cycle.max(self.sleep.0));
    }

    /// Returns the first cycle after the last sleep.
    pub(crate) fn awake_from(&self) -> Cycle {
        self.sleep.1
    }

    /// Closes a counting window at `end` and counts both clocks. The window may end before a sleep
    /// that is already known.
    pub(crate) fn close<S: EventSink>(&mut self, end: Cycle, sink: &mut S) {
        sink.count(PmuEvent::CPU_CYCLES, end - self.window_start);
        self.window_start = end;
        let asleep = self.slept + self.sleep.1.min(end).saturating_sub(self.sleep.0);
        let awake = u128::from(end - asleep);
        let ticks = (awake * u128::from(self.counter_hz) / u128::from(self.core_hz)) as u64;
        sink.count(PmuEvent::CNT_CYCLES, ticks.saturating_sub(self.ticks));
        self.ticks = ticks.max(self.ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Counts;

    /// Returns both clocks of windows that end at `ends`, with sleeps `(from, to)` known from the
    /// start.
    fn counted(rates: (u64, u64), sleeps: &[(Cycle, Cycle)], ends: &[Cycle]) -> Vec<(u64, u64)> {
        let mut clocks = Clocks::new();
        clocks.set_rates(rates.0, rates.1);
        for (from, to) in sleeps {
            clocks.sleeps(*from, *to);
        }
        let window = |end: &Cycle| {
            let mut counts = Counts::default();
            clocks.close(*end, &mut counts);
            (counts.value(PmuEvent::CPU_CYCLES), counts.value(PmuEvent::CNT_CYCLES))
        };
        ends.iter().map(window).collect()
    }

    #[test]
    fn ticks_of_all_windows_add_up_without_rounding_loss() {
        assert_eq!(counted((1, 4), &[], &[3, 6, 401]), [(3, 0), (3, 1), (395, 99)]);
    }

    #[test]
    fn a_sleep_ends_when_the_core_is_woken() {
        let awake = |cycle| {
            let mut clocks = Clocks::new();
            clocks.sleeps(100, 500);
            clocks.wakes_by(cycle);
            clocks.awake_from()
        };
        assert_eq!([90, 100, 300, 500, 900].map(awake), [100, 100, 300, 500, 500]);
    }

    #[test]
    fn the_system_counter_is_not_counted_during_sleep() {
        assert_eq!(counted((1, 4), &[(100, 500)], &[800]), [(800, 100)]);
        assert_eq!(
            counted((1, 1), &[(100, 500)], &[60, 300, 600]),
            [(60, 60), (240, 40), (300, 100)]
        );
        assert_eq!(counted((1, 1), &[(100, 200), (300, 400)], &[350]), [(350, 200)]);
    }
}
