//! The totals of one core: what instructions raise by being executed is added up for many of them at once.

use sim_core::{Counts, EventSink, EventTally, PmuEvent};
use sim_isa::StaticEvents;

/// A total per event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    counts: Counts,
    /// What is not in `counts` yet, by place in [`StaticEvents::LIST`], and of how many tallies.
    executed: EventTally,
    tallies: u8,
}

impl Totals {
    /// Everything so far.
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
    const ADDS_UP: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
    }

    #[inline(always)]
    fn executed(&mut self, tally: &EventTally) {
        // Each raises an event once at most.
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
    fn many_instructions_count_what_each_of_them_raises() {
        let words = [0xf940_0020_u32, 0x8b02_0020, 0x4ea2_9c20, 0x5400_0040];
        let (mut totals, mut expected) = (Totals::default(), Counts::default());
        for i in 0..10_000_usize {
            let inst = decode(words[i * i % 7 % words.len()]);
            totals.executed(&inst.tally);
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
