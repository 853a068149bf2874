//! Counting in several passes, so that no event is multiplexed. The counts are exact, at the cost
//! of additional runs. A replay is bit-identical, so the counters of all passes can count in a
//! single run.

use sim_core::{DeferredSink, EventSink, Notice, PmuEvent};

use super::event::{Group, PerfEvent};
use super::plan::{Plan, plan};
use super::reading::Reading;
use super::session::{PerfSession, PerfSetup};
use super::slots::Slots;
use crate::counter::CounterCount;
use crate::routes::CoreEvent;

/// One counting session for each pass. As a sink, it receives the events of the run.
#[derive(Clone, Debug)]
pub struct Passes<E: CoreEvent = PmuEvent> {
    sessions: Vec<PerfSession<E>>,
    /// Pass of each requested event, and its index there.
    asked: Vec<(usize, usize)>,
}

impl<E: CoreEvent> Passes<E> {
    /// Creates the fewest passes of `counters` event counters that hold all groups. A group that
    /// never fits is split.
    pub fn new(groups: &[Group<E>], counters: CounterCount) -> Passes<E> {
        let plan = Passes::plan(groups, counters);
        let place = |event: &PerfEvent<E>| {
            let places = plan.passes.iter().map(|pass| pass.iter().position(|own| own == event));
            let mut found = places.enumerate().filter_map(|(pass, at)| Some((pass, at?)));
            found.next().expect("a plan has all events")
        };
        let asked = groups.iter().flat_map(|group| &group.events).map(place).collect();
        let session = |events: &Vec<PerfEvent<E>>| {
            let group = Group { events: events.clone(), ..Group::default() };
            PerfSession::new(PerfSetup::new(&[group], counters), u64::MAX)
        };
        Passes { sessions: plan.passes.iter().map(session).collect(), asked }
    }

    /// Returns the assignment of events to passes.
    pub fn plan(groups: &[Group<E>], counters: CounterCount) -> Plan<E> {
        let mut together: Vec<Vec<PerfEvent<E>>> = Vec::new();
        for group in groups {
            if Slots::hold(counters, &group.events) {
                together.push(group.events.clone());
            } else {
                together.extend(group.events.iter().map(|event| vec![*event]));
            }
        }
        plan(&together, counters).expect("an event on its own always fits")
    }

    /// Returns the number of passes.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns whether there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Returns the readings of each core, for the events of all groups in the requested order.
    pub fn readings_by_core(&mut self) -> Vec<Vec<Reading>> {
        let passes: Vec<Vec<Vec<Reading>>> =
            self.sessions.iter_mut().map(PerfSession::<E>::readings_by_core).collect();
        let cores = passes.first().map_or(0, Vec::len);
        let of_core = |core: usize| {
            self.asked.iter().map(|&(pass, place)| passes[pass][core][place]).collect()
        };
        (0..cores).map(of_core).collect()
    }
}

impl EventSink for Passes {
    const OBSERVES_OPS: bool = true;

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.sessions.as_mut_slice().count(event, n);
    }

    #[inline]
    fn counts_only(&self) -> bool {
        true
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        self.sessions.as_mut_slice().notify(notice);
    }
}

impl DeferredSink for Passes {
    fn cycles_to_deadline(&self) -> u64 {
        self.sessions.as_slice().cycles_to_deadline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PmuEvent::*;

    #[test]
    fn every_event_is_read_from_its_own_pass() {
        let events =
            [LD_SPEC, ST_SPEC, DP_SPEC, ASE_SPEC, VFP_SPEC, CRYPTO_SPEC, ISB_SPEC, DSB_SPEC];
        let asked = [events.as_slice(), &[DP_SPEC]].concat();
        let groups: Vec<Group> = asked.into_iter().map(Group::single).collect();
        let mut passes = Passes::new(&groups, CounterCount::default());
        assert_eq!((passes.len(), passes.is_empty()), (2, false));
        passes.notify(Notice::Core(1));
        passes.notify(Notice::Counting(true));
        for (event, n) in events.into_iter().zip(1..) {
            passes.count(event, n);
        }
        let readings = passes.readings_by_core();
        let values: Vec<u64> = readings[1].iter().map(|reading| reading.value).collect();
        assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8, 3]);
        assert!(readings[0].iter().all(|reading| reading.value == 0), "the other core");
    }

    #[test]
    fn a_group_that_fits_is_counted_in_one_pass() {
        let event = PerfEvent::new;
        let group = |events: &[PmuEvent]| Group {
            events: events.iter().copied().map(event).collect(),
            ..Group::default()
        };
        let pair = [LD_SPEC, ST_SPEC];
        let groups = [group(&[DP_SPEC, ASE_SPEC, VFP_SPEC, ISB_SPEC, DSB_SPEC]), group(&pair)];
        let plan = Passes::plan(&groups, CounterCount::default());
        assert_eq!(plan.passes.len(), 2);
        assert!(pair.iter().all(|one| plan.passes[1].contains(&event(*one))));
        let large = group(&[LD_SPEC, ST_SPEC, DP_SPEC, ASE_SPEC, VFP_SPEC, ISB_SPEC, DSB_SPEC]);
        assert_eq!(
            Passes::plan(&[large], CounterCount::default()).passes.len(),
            2,
            "the group does not fit"
        );
    }
}
