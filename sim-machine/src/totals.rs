//! Totals of one core. The static events of executed instructions are accumulated and added in
//! batches.

use sim_core::{Counts, EventSink, EventTally, PmuEvent};
use sim_isa::StaticEvents;

/// One total for each event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    counts: Counts,
    /// Accumulated tallies that are not in `counts` yet, in the order of [`StaticEvents::LIST`].
    executed: EventTally,
    tallies: u8,
}

impl Totals {
    /// Returns all totals so far.
    pub(crate) fn counts(&mut self) -> &Counts {
        self.settle();
        &self.counts
    }

    #[inline(never)]
    fn settle(&mut self) {
        let executed = std::mem::take(&mut self.executed);
        self.tallies = 0;
        for (event, n) in StaticEvents::LIST.into_iter().zip(executed.0) {
            self.counts.count(event, n.into());
        }
    }
}

impl EventSink for Totals {
    const COUNTS_ONLY: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
    }

    #[inline(always)]
    fn add_tally(&mut self, tally: &EventTally) {
        // A tally raises each event once at most.
        if self.tallies == u8::MAX {
            self.settle();
        }
        self.executed.add(tally);
        self.tallies += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::decode;

    #[test]
    fn accumulated_tallies_equal_the_sum_of_their_events() {
        let words = [0xf940_0020_u32, 0x8b02_0020, 0x4ea2_9c20, 0x5400_0040];
        let (mut totals, mut expected) = (Totals::default(), Counts::default());
        for i in 0..10_000_usize {
            let inst = decode(words[i * i % 7 % words.len()]);
            totals.add_tally(&inst.tally);
            for (bit, event) in StaticEvents::LIST.into_iter().enumerate() {
                expected.count(event, (inst.events.0 >> bit & 1).into());
            }
            if i % 777 == 0 {
                totals.raise(PmuEvent::INST_RETIRED);
                expected.raise(PmuEvent::INST_RETIRED);
                assert_eq!(*totals.counts(), expected);
            }
        }
        assert_eq!(*totals.counts(), expected);
        assert!(expected.value(PmuEvent::LD_SPEC) > 1000);
    }
}
