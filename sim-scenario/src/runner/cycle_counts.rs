//! Counts of single cycles.

use std::collections::BTreeMap;

use sim_core::{Counts, Cycle, EventSink, PmuEvent};

/// Counts of each cycle, for cases that expect something of single cycles.
#[derive(Clone, Debug, Default)]
pub struct CycleCounts {
    now: Cycle,
    added: BTreeMap<(Cycle, u16), u64>,
}

impl CycleCounts {
    /// Sets the cycle of the following counts.
    pub(super) fn at(&mut self, cycle: Cycle) {
        self.now = cycle;
    }

    pub(super) fn count(&mut self, event: PmuEvent, n: u64) {
        *self.added.entry((self.now, event as u16)).or_default() += n;
    }

    /// Returns the counts of every cycle with any.
    pub(super) fn cycles(&self) -> impl Iterator<Item = Counts> {
        let mut by_cycle: BTreeMap<Cycle, Counts> = BTreeMap::new();
        for ((cycle, event), n) in &self.added {
            let event = PmuEvent::ALL[usize::from(*event)];
            by_cycle.entry(*cycle).or_default().count(event, *n);
        }
        by_cycle.into_values()
    }
}
