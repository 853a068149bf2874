//! The two forms of a projection, and the linear program, agree on random tables.

use proptest::prelude::*;
use sim_core::pmu_event::PmuEvent;
use sim_metrics::Count;
use sim_metrics::identities::Assumptions;
use sim_space::{FAMILIES, Membership, Space, Table};

fn space() -> Space {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    Space::new(&assumptions, |_| None)
}

fn test(space: &Space, counts: &[(PmuEvent, u64)]) -> Membership {
    space.test(&Table::new(counts.iter().map(|(event, n)| (*event, Count::from(*n))), 0.0))
}

proptest! {
    /// A sum of generators that keep every rule is inside.
    #[test]
    fn sums_of_generators_are_inside(picked in prop::collection::vec((0usize..1000, 0u64..50), 1..6)) {
        let space = space();
        let keeps = |own: &&sim_space::Generator| {
            space.rule_half_spaces().all(|rule| rule.holds(|event| Some(own.count(event))))
        };
        let usable: Vec<_> = space.generators().iter().filter(keeps).collect();
        let sum = |event: PmuEvent| -> u64 {
            picked.iter().map(|(place, times)| times * usable[place % usable.len()].count(event)).sum()
        };
        let counts: Vec<_> = PmuEvent::ALL.into_iter().map(|event| (event, sum(event))).collect();
        prop_assert_eq!(test(&space, &counts), Membership::Inside);
    }

    /// A table of a family is inside exactly if every half-space of its projection holds.
    #[test]
    fn half_spaces_and_generators_agree(
        family in 0..FAMILIES.len(),
        numbers in prop::collection::vec(0u64..12, 9),
    ) {
        let space = space();
        let events = FAMILIES[family].events;
        let projection = space.project(events).expect("few events");
        let counts: Vec<_> = events.iter().copied().zip(numbers).collect();
        let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
        let holds = projection.half_spaces().iter().all(|own| own.holds(value));
        let membership = test(&space, &counts);
        prop_assert_eq!(membership == Membership::Inside, holds, "{:?}", membership);
        if let Membership::Outside(inequality) = membership {
            prop_assert!(!inequality.holds(value));
        }
    }

    /// The same for any few events, over rules and flows.
    #[test]
    fn any_events_agree(
        places in prop::collection::btree_set(0..PmuEvent::ALL.len(), 2..5),
        numbers in prop::collection::vec(0u64..9, 5),
    ) {
        let space = space();
        let events: Vec<PmuEvent> = places.into_iter().map(|place| PmuEvent::ALL[place]).collect();
        let projection = space.project(&events).expect("few events");
        let counts: Vec<_> = events.iter().copied().zip(numbers).collect();
        let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
        let holds = projection.half_spaces().iter().all(|own| own.holds(value));
        let membership = test(&space, &counts);
        prop_assert_eq!(membership == Membership::Inside, holds, "{:?}", membership);
    }
}
