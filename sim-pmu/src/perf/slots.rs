//! Assignment of counters to events. Cycles prefer the cycle counter. A 64-bit event takes an even
//! counter and the odd counter above it. Every other event takes the lowest free counter.

use super::event::PerfEvent;
use crate::counter::{CYCLE_BIT, CounterCount, CounterIndex};
use crate::routes::CoreEvent;

/// Counter or counters of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The cycle counter.
    Cycles,
    /// One event counter.
    Single(CounterIndex),
    /// Even counter, with the odd counter above it that counts its overflows.
    Pair(CounterIndex, CounterIndex),
}

impl Place {
    /// Returns the bits of the counters in enable masks.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Place::Cycles => CYCLE_BIT,
            Place::Single(counter) => counter.bit(),
            Place::Pair(low, high) => low.bit() | high.bit(),
        }
    }

    /// Returns the bit of the counter whose overflow is the event's overflow.
    pub(crate) fn overflow_bit(self) -> u32 {
        match self {
            Place::Pair(_, high) => high.bit(),
            place => place.bits(),
        }
    }
}

/// Set of counters in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slots {
    used: u32,
    counters: CounterCount,
}

impl Slots {
    /// Returns a set of `counters` event counters and the cycle counter, all free.
    pub(crate) fn of(counters: CounterCount) -> Slots {
        Slots { used: 0, counters }
    }

    /// Returns whether all of these events fit, in this order, when nothing else is counted.
    pub(crate) fn hold<'a, E: CoreEvent>(
        counters: CounterCount,
        events: impl IntoIterator<Item = &'a PerfEvent<E>>,
    ) -> bool {
        let mut slots = Slots::of(counters);
        events.into_iter().all(|event| slots.take(event).is_some())
    }

    /// Takes the counter that the driver assigns to `event`. Returns `None` if none is free.
    pub(crate) fn take<E: CoreEvent>(&mut self, event: &PerfEvent<E>) -> Option<Place> {
        let place = self.choose(event)?;
        self.used |= place.bits();
        Some(place)
    }

    /// Frees a counter.
    pub(crate) fn free(&mut self, place: Place) {
        self.used &= !place.bits();
    }

    fn choose<E: CoreEvent>(self, event: &PerfEvent<E>) -> Option<Place> {
        let is_free = |place: &Place| self.used & place.bits() == 0;
        if event.event == E::CYCLES && is_free(&Place::Cycles) {
            return Some(Place::Cycles);
        }
        if event.is_long {
            let last = self.counters.get();
            let pair = |low: CounterIndex| {
                let high = low.chained()?;
                (high.index() < usize::from(last)).then_some((low, high))
            };
            let mut pairs = CounterIndex::first(last).filter_map(pair);
            return pairs.find_map(|(low, high)| Some(Place::Pair(low, high)).filter(is_free));
        }
        CounterIndex::first(self.counters.get()).map(Place::Single).find(is_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::PmuEvent;

    fn event(event: PmuEvent) -> PerfEvent {
        PerfEvent::new(event)
    }

    #[test]
    fn six_events_and_cycles_fit_and_a_seventh_does_not() {
        let mut events = vec![event(PmuEvent::L1D_CACHE); 6];
        let six = CounterCount::default();
        assert!(Slots::hold(six, &events));
        events.push(event(PmuEvent::CPU_CYCLES));
        assert!(Slots::hold(six, &events), "cycles have their own counter");
        events.push(event(PmuEvent::BUS_CYCLES));
        assert!(!Slots::hold(six, &events), "which counts nothing else");
        assert!(!Slots::hold(six, &[event(PmuEvent::CPU_CYCLES); 8]));
        assert!(Slots::hold(six, &[event(PmuEvent::CPU_CYCLES); 7]));
    }

    #[test]
    fn a_machine_with_other_counters_holds_other_events() {
        for n in [2, 5, 31] {
            let counters = CounterCount::new(n).expect("machines have it");
            let mut events = vec![event(PmuEvent::L1D_CACHE); usize::from(n)];
            assert!(Slots::hold(counters, &events));
            events.push(event(PmuEvent::LD_SPEC));
            assert!(!Slots::hold(counters, &events), "{n} counters");
            let long = PerfEvent { is_long: true, ..event(PmuEvent::L1D_CACHE) };
            assert!(Slots::hold(counters, &vec![long; usize::from(n / 2)]));
            assert!(!Slots::hold(counters, &vec![long; usize::from(n / 2) + 1]));
        }
        assert_eq!((CounterCount::new(1), CounterCount::new(32)), (None, None));
    }

    #[test]
    fn long_events_take_pairs_that_start_even() {
        let long = PerfEvent { is_long: true, ..event(PmuEvent::L1D_CACHE) };
        let mut slots = Slots::default();
        let bits = |slots: &mut Slots, event: &PerfEvent| slots.take(event).map(Place::bits);
        assert_eq!(bits(&mut slots, &event(PmuEvent::LD_SPEC)), Some(0b1));
        assert_eq!(bits(&mut slots, &long), Some(0b1100));
        assert_eq!(bits(&mut slots, &event(PmuEvent::LD_SPEC)), Some(0b10));
        assert_eq!(bits(&mut slots, &long), Some(0b11_0000));
        assert_eq!(bits(&mut slots, &long), None);
        let cycles = PerfEvent { is_long: true, ..event(PmuEvent::CPU_CYCLES) };
        assert_eq!(bits(&mut slots, &cycles), Some(CYCLE_BIT), "it has 64 bits");
    }
}
