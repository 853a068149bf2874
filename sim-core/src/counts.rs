//! A total per event, and the value that a counter would show.

use crate::packed::{Numbers, Packed};
use crate::pmu_event::{COUNT, PmuEvent, RelationKind};
use crate::sink::EventSink;

/// A total per event, as raised. [`Counts::value`] returns the value that a counter would show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    raised: [u64; COUNT],
}

impl Default for Counts {
    fn default() -> Self {
        Counts { raised: [0; COUNT] }
    }
}

impl EventSink for Counts {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.raised[event as usize] += n;
    }
}

impl Numbers for Counts {
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.raised.into_iter()
    }

    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.raised.iter_mut()
    }
}

impl Packed<Counts> {
    /// Returns the value of the event as [`Counts::value`] does. Unpacks the whole table.
    pub fn value(&self, event: PmuEvent) -> u64 {
        self.unpack().value(event)
    }

    /// Returns the raised total as [`Counts::raised`] does. Unpacks the whole table.
    pub fn raised(&self, event: PmuEvent) -> u64 {
        self.unpack().raised(event)
    }
}

impl Counts {
    /// Returns the total raised under `event` itself. For a sum, that is the residue outside its
    /// parts.
    pub fn raised(&self, event: PmuEvent) -> u64 {
        self.raised[event as usize]
    }

    /// Returns the value of a counter programmed with `event`. Resolves aliases and sums from the
    /// table.
    pub fn value(&self, event: PmuEvent) -> u64 {
        if let Some([target, ..]) = event.relation(RelationKind::AliasOf) {
            return self.value(*target);
        }
        let parts = event
            .relation(RelationKind::SumOf)
            .or_else(|| event.relation(RelationKind::ImpliedSumOf))
            .unwrap_or_default();
        self.raised(event) + parts.iter().map(|part| self.value(*part)).sum::<u64>()
    }

    /// Returns the totals raised after the snapshot `earlier`. A window is the difference of two
    /// snapshots.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let mut window = Counts::default();
        for (i, total) in window.raised.iter_mut().enumerate() {
            *total = self.raised[i] - earlier.raised[i];
        }
        window
    }

    /// Returns the counts with `change` applied to each total.
    #[must_use]
    pub fn map(&self, change: impl Fn(u64) -> u64) -> Counts {
        Counts { raised: self.raised.map(change) }
    }

    /// Returns the counts with `change` applied to each event and its total.
    #[must_use]
    pub fn map_events(&self, change: impl Fn(PmuEvent, u64) -> u64) -> Counts {
        let mut counts = Counts::default();
        for event in PmuEvent::ALL {
            counts.raised[event as usize] = change(event, self.raised[event as usize]);
        }
        counts
    }

    /// Adds the totals of another core or thread.
    pub fn add(&mut self, other: &Counts) {
        for (total, more) in self.raised.iter_mut().zip(&other.raised) {
            *total += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_aliases_are_derived_from_the_finest_events() {
        let mut counts = Counts::default();
        counts.count(PmuEvent::L1D_CACHE_REFILL_RD, 3);
        counts.count(PmuEvent::L1D_CACHE_REFILL_WR, 2);
        counts.raise(PmuEvent::BUS_ACCESS);
        counts.count(PmuEvent::BUS_ACCESS_RD, 4);
        assert_eq!(counts.value(PmuEvent::L1D_CACHE_REFILL), 5);
        assert_eq!(counts.value(PmuEvent::L1D_CACHE_LMISS_RD), 3);
        assert_eq!(counts.value(PmuEvent::BUS_ACCESS), 5, "the snoop residue is kept");
    }
}
