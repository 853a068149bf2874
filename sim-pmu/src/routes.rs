//! Counters that each raised event increments. Every core has its own events, so that every core
//! has its own table.

use std::fmt::Debug;
use std::hash::Hash;

use sim_core::PmuEvent;
use sim_core::a53_event::{self, A53Event};
use sim_core::pmu_event::{COUNT, RelationKind};

use crate::description::PmuDescription;
use crate::version::PmuVersion;

/// Table of the counters that each raised event of a core increments.
pub trait EventRoutes: Default {
    /// Makes `counters` count the event with number `code`. A number without an event counts
    /// nothing.
    fn connect(&mut self, code: u16, counters: u32);

    /// Makes no event increment `counters`.
    fn disconnect(&mut self, counters: u32);
}

/// Events that the counters of one kind of core count.
pub trait CoreEvent: Copy + Debug + Eq + Hash + 'static {
    /// Table of the counters that each of them increments.
    type Routes: EventRoutes + Clone + Debug;
    /// The cycles, for which the cycle counter is.
    const CYCLES: Self;
    /// The overflows of the counter below.
    const CHAIN: Self;
    /// All events, in the order of their numbers.
    const EVENTS: &'static [Self];

    /// Returns the PMU of the core.
    fn pmu() -> PmuDescription;

    /// Returns the number by which counters select the event.
    fn code(self) -> u16;

    /// Returns its place in [`CoreEvent::EVENTS`].
    fn place(self) -> usize;

    /// Returns the counters that count an occurrence.
    fn counters(self, routes: &Self::Routes) -> u32;
}

impl CoreEvent for PmuEvent {
    type Routes = N2Routes;
    const CYCLES: PmuEvent = PmuEvent::CPU_CYCLES;
    const CHAIN: PmuEvent = PmuEvent::CHAIN;
    const EVENTS: &'static [PmuEvent] = &PmuEvent::ALL;

    fn pmu() -> PmuDescription {
        PmuDescription::neoverse_n2(PmuVersion::default())
    }

    fn code(self) -> u16 {
        PmuEvent::code(self)
    }

    #[inline]
    fn place(self) -> usize {
        self as usize
    }

    #[inline]
    fn counters(self, routes: &N2Routes) -> u32 {
        routes.of(self)
    }
}

/// Routes of the Neoverse N2. A sum event is incremented by its parts.
#[derive(Clone, Debug)]
pub struct N2Routes([u32; COUNT]);

impl Default for N2Routes {
    fn default() -> N2Routes {
        N2Routes([0; COUNT])
    }
}

impl N2Routes {
    /// Returns the counters that `event` increments when it is raised.
    #[inline]
    pub fn of(&self, event: PmuEvent) -> u32 {
        self.0[event as usize]
    }
}

impl EventRoutes for N2Routes {
    fn connect(&mut self, code: u16, counters: u32) {
        if let Ok(event) = PmuEvent::from_code(u32::from(code)) {
            for_each_raised(event, &mut |raised| self.0[raised as usize] |= counters);
        }
    }

    fn disconnect(&mut self, counters: u32) {
        for route in &mut self.0 {
            *route &= !counters;
        }
    }
}

/// Routes of the Cortex-A53.
#[derive(Clone, Debug)]
pub struct A53Routes([u32; a53_event::COUNT]);

impl Default for A53Routes {
    fn default() -> A53Routes {
        A53Routes([0; a53_event::COUNT])
    }
}

impl A53Routes {
    /// Returns the counters that `event` increments.
    #[inline]
    pub fn of(&self, event: A53Event) -> u32 {
        self.0[event as usize]
    }
}

impl EventRoutes for A53Routes {
    fn connect(&mut self, code: u16, counters: u32) {
        if let Some(event) = A53Event::from_code(code) {
            self.0[event as usize] |= counters;
        }
    }

    fn disconnect(&mut self, counters: u32) {
        self.0.iter_mut().for_each(|route| *route &= !counters);
    }
}

impl CoreEvent for A53Event {
    type Routes = A53Routes;
    const CYCLES: A53Event = A53Event::CPU_CYCLES;
    const CHAIN: A53Event = A53Event::CHAIN;
    const EVENTS: &'static [A53Event] = &A53Event::ALL;

    fn pmu() -> PmuDescription {
        PmuDescription::cortex_a53()
    }

    fn code(self) -> u16 {
        A53Event::code(self)
    }

    #[inline]
    fn place(self) -> usize {
        self as usize
    }

    #[inline]
    fn counters(self, routes: &A53Routes) -> u32 {
        routes.of(self)
    }
}

/// Visits every raised event that contributes to `event`. `SW_INCR` depends on the written mask and
/// `CHAIN` on the counter below. Eight events are never raised.
pub(crate) fn for_each_raised(event: PmuEvent, visit: &mut impl FnMut(PmuEvent)) {
    let is_internal = matches!(event, PmuEvent::SW_INCR | PmuEvent::CHAIN);
    if is_internal || event.never_counts() {
        return;
    }
    if let Some([target, ..]) = event.relation(RelationKind::AliasOf) {
        return for_each_raised(*target, visit);
    }
    visit(event);
    let parts = event
        .relation(RelationKind::SumOf)
        .or_else(|| event.relation(RelationKind::ImpliedSumOf))
        .unwrap_or_default();
    for part in parts {
        for_each_raised(*part, visit);
    }
}
