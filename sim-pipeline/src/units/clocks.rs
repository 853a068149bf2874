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
    /// Cycles slept before the last two sleeps.
    slept: Cycle,
    /// Sleep before the last one.
    earlier_sleep: (Cycle, Cycle),
    /// Last sleep: its first cycle, and the first cycle after it.
    sleep: (Cycle, Cycle),
    /// Ticks in the windows closed so far.
    ticks: u64,
}

impl Clocks {
    /// Returns clocks at cycle 0, without a system counter.
    pub(crate) fn new() -> Clocks {
        Clocks {
            window_start: 0,
            core_hz: 1,
            counter_hz: 0,
            slept: 0,
            earlier_sleep: (0, 0),
            sleep: (0, 0),
            ticks: 0,
        }
    }

    /// Sets the rates of the system counter and of the core, in Hz.
    pub(crate) fn set_rates(&mut self, counter_hz: u64, core_hz: u64) {
        (self.counter_hz, self.core_hz) = (counter_hz, core_hz.max(1));
    }

    /// Lets the core sleep from cycle `from` until before `to`. Sleeps must come in order.
    pub(crate) fn sleeps(&mut self, from: Cycle, to: Cycle) {
        self.slept += self.earlier_sleep.1 - self.earlier_sleep.0;
        self.earlier_sleep = self.sleep;
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

    /// Closes a counting window at `end` and counts both clocks. The window may end before the last
    /// sleep, and before the sleep that it followed, although both are already known.
    #[inline]
    pub(crate) fn close<S: EventSink>(&mut self, end: Cycle, sink: &mut S) {
        let cycles = end - self.window_start;
        if cycles > 0 {
            sink.count(PmuEvent::CPU_CYCLES, cycles);
            self.window_start = end;
        }
        self.count_ticks(end, sink);
    }

    /// Closes a counting window at `end`, unless a later one was closed already.
    pub(crate) fn close_by<S: EventSink>(&mut self, end: Cycle, sink: &mut S) {
        self.close(end.max(self.window_start), sink);
    }

    /// Returns the ticks of the system counter in this many cycles, rounded down.
    pub(crate) fn ticks_in(&self, cycles: Cycle) -> u64 {
        (u128::from(cycles) * u128::from(self.counter_hz) / u128::from(self.core_hz)) as u64
    }

    /// Counts the ticks of the system counter up to cycle `end`.
    fn count_ticks<S: EventSink>(&mut self, end: Cycle, sink: &mut S) {
        let by_end = |(from, to): (Cycle, Cycle)| to.min(end).saturating_sub(from);
        let asleep = self.slept + by_end(self.earlier_sleep) + by_end(self.sleep);
        let awake = u128::from(end - asleep) * u128::from(self.counter_hz);
        let next_tick = u128::from(self.ticks + 1) * u128::from(self.core_hz);
        // Two products cost less than the quotient, and most calls find no tick.
        if awake < next_tick {
            return;
        }
        let ticks = (awake / u128::from(self.core_hz)) as u64;
        sink.count(PmuEvent::CNT_CYCLES, ticks - self.ticks);
        self.ticks = ticks;
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
        let both_known = [(100, 200), (300, 400)];
        assert_eq!(
            counted((1, 1), &both_known, &[90, 150, 310, 500]),
            [(90, 90), (60, 10), (160, 100), (190, 100)]
        );
    }
}
