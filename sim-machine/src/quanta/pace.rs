//! Length of quanta, and how long a run goes on in exact order after a quantum that was taken back.
//! Both follow from the modeled run alone, so they are the same on every host.

use sim_core::Cycle;

/// Shortest and longest quantum, in cycles of a core. A shorter one costs the host more than it
/// saves; a longer one is taken back too often.
const QUANTUM: (Cycle, Cycle) = (1 << 11, 1 << 16);
/// Shortest and longest stretch in exact order after a quantum that was taken back, in cycles.
const EXACT: (Cycle, Cycle) = (1 << 11, 1 << 18);
/// Turns in exact order before the next look for threads that can run at the same time.
const TURNS: u32 = 64;

/// Pace of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    quantum: Cycle,
    /// Clock up to which the run goes on in exact order.
    exact_until: Cycle,
    /// Length of the next stretch in exact order.
    exact: Cycle,
    turns: u32,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { quantum: QUANTUM.0, exact_until: 0, exact: EXACT.0, turns: 0 }
    }

    /// Returns whether to look for threads that can run at the same time. Every turn asks this.
    pub(super) fn looks(&mut self) -> bool {
        let looks = self.turns == 0;
        self.turns = self.turns.saturating_sub(1);
        looks
    }

    /// Returns the length of the next quantum; `None` while the run goes on in exact order. `clock`
    /// is the lowest clock of a thread.
    pub(super) fn quantum(&self, clock: Cycle) -> Option<Cycle> {
        (clock >= self.exact_until).then_some(self.quantum)
    }

    /// Returns whether a quantum of these cycles is worth its beginning.
    pub(super) fn is_worth(cycles: Cycle) -> bool {
        cycles >= QUANTUM.0
    }

    /// Notes that no threads could run at the same time.
    pub(super) fn found_none(&mut self) {
        self.turns = TURNS;
    }

    /// Notes a quantum of `cycles` that is done. `shared` says whether some
    /// cores used one line.
    pub(super) fn done(&mut self, shared: bool, cycles: Cycle) {
        if !Pace::is_worth(cycles) {
            return self.found_none();
        }
        let next = if shared { self.quantum / 2 } else { self.quantum * 2 };
        self.quantum = next.clamp(QUANTUM.0, QUANTUM.1);
        self.exact = EXACT.0;
    }

    /// Notes a quantum up to `until` that was taken back.
    pub(super) fn taken_back(&mut self, from: Cycle, until: Cycle) {
        self.exact_until = until.max(from + self.exact);
        self.exact = (self.exact * 2).min(EXACT.1);
        self.quantum = (self.quantum / 2).max(QUANTUM.0);
    }
}
