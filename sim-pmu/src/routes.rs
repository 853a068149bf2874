//! Counters that each raised event increments. Every core has its own events, so that every core
//! has its own table.

use sim_core::PmuEvent;
use sim_core::pmu_event::{COUNT, RelationKind};

/// Table of the counters that each raised event of a core increments.
pub trait EventRoutes: Default {
    /// Makes `counters` count the event with number `code`. A number without an event counts
    /// nothing.
    fn connect(&mut self, code: u16, counters: u32);

    /// Makes no event increment `counters`.
    fn disconnect(&mut self, counters: u32);
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
