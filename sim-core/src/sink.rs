//! Where units report events. The sink is a parameter of every verb, never a field of a unit.

use crate::flow::FlowEdge;
use crate::operation::Operation;
use crate::packed::{Numbers, Packed};
use crate::pmu_event::{COUNT, PmuEvent, RelationKind};
use crate::privilege::Privilege;
use crate::register_access::RegisterAccess;
use crate::root_cause::Lost;
use crate::time::Cycle;

/// Hears every event. Only the finest event is raised; printed sums and aliases are derived.
///
/// The verbs know their caller, so that a sink can tell one place that raises an event from
/// another; a sink that does not ask pays nothing for it.
pub trait EventSink {
    /// It follows the run: it is told every operation (unless it [`EventSink::hears_counts_alone`]) and every change of level, and hears the clocks
    /// (`CPU_CYCLES`, `CNT_CYCLES`) as they go on, not only at the end of a window. Counts are the same
    /// either way; one that does not follow pays nothing.
    const FOLLOWS_RUN: bool = false;

    /// It only adds up: what instructions raise by being executed it may be told as [`EventSink::executed`]
    /// instead of event by event, and nobody reads the lives of their operations.
    const ADDS_UP: bool = false;

    /// Only counts, software increments, cores, levels, register accesses and the ends of windows matter to it: the
    /// rest need not be told, even if it follows the run.
    #[inline]
    fn hears_counts_alone(&self) -> bool {
        Self::ADDS_UP
    }

    /// `n` occurrences of `event`.
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64);

    /// One occurrence of `event`.
    #[inline]
    #[track_caller]
    fn raise(&mut self, event: PmuEvent) {
        self.count(event, 1);
    }

    /// An instruction, or its second operation, was executed and raised these. Told only to a sink that [`EventSink::ADDS_UP`].
    #[inline]
    fn executed(&mut self, tally: &EventTally) {
        let _ = tally;
    }

    /// `PMSWINC_EL0` was written: bit n adds one to counter n if that counts `SW_INCR`. Only a PMU
    /// listens.
    #[inline]
    fn software_increment(&mut self, counters: u32) {
        let _ = counters;
    }

    /// An access took this edge of a flow of guide chapter 5. Most sinks do not listen.
    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        let _ = edge;
    }

    /// What is raised next happens in this cycle, until another one is told: an access when the cache looks it
    /// up, a refill when its data is there, an instruction when it retires. Events that count cycles or slots
    /// have no cycle of their own. Most sinks do not listen.
    #[inline]
    fn at(&mut self, cycle: Cycle) {
        let _ = cycle;
    }

    /// The recorded program read or wrote a register of the PMU. Told in program order: what the
    /// instructions before it raised came before this.
    #[inline]
    fn register_access(&mut self, access: RegisterAccess) {
        let _ = access;
    }

    /// What follows is heard of this core, counted from 0 in the order of the results.
    #[inline]
    fn core(&mut self, core: usize) {
        let _ = core;
    }

    /// The part of the run that is counted begins or ends on the present core.
    #[inline]
    fn counting(&mut self, is_counted: bool) {
        let _ = is_counted;
    }

    /// From the next event on the core runs at this level. Told when it changes, and at the start.
    #[inline]
    fn privilege(&mut self, privilege: Privilege) {
        let _ = privilege;
    }

    /// An instruction went through the core, in the order of rename: a branch comes before what ran behind
    /// it in vain. Its own events came before this, but for an exception that it generates.
    #[inline]
    fn operation(&mut self, operation: &Operation) {
        let _ = operation;
    }

    /// So many rename slots stayed empty for this reason, because the operation told next came late or could
    /// not be sent on. At the end of a window or of the run there is no next one. Told along with the events
    /// that count them, for each reason.
    #[inline]
    fn lost(&mut self, lost: Lost) {
        let _ = lost;
    }

    /// A path was thrown away: what was raised since the last operation, such as the fetch of what never
    /// got a slot, belongs to none that comes.
    #[inline]
    fn squashed(&mut self) {}
}

/// Small counts of events, all of which are added at once. Which event has which place, the one who fills
/// it in says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTally(pub [u8; EventTally::PLACES]);

impl EventTally {
    /// Number of counts.
    pub const PLACES: usize = 32;

    /// Adds another one; no count may come to more than 255.
    #[inline(always)]
    pub fn add(&mut self, more: &EventTally) {
        for (count, more) in self.0.iter_mut().zip(more.0) {
            *count += more;
        }
    }

    /// The first `places` counts, and 0 for the others.
    #[inline]
    #[must_use]
    pub fn first(&self, places: usize) -> EventTally {
        let mut first = *self;
        first.0[places..].fill(0);
        first
    }

    /// Without the first `places` counts: 0 for these.
    #[inline]
    #[must_use]
    pub fn behind(&self, places: usize) -> EventTally {
        let mut behind = *self;
        behind.0[..places].fill(0);
        behind
    }
}

/// Hears nothing: for warming state and for benches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl EventSink for NullSink {
    const ADDS_UP: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}
}

/// Both hear everything, in this order.
impl<A: EventSink, B: EventSink> EventSink for (A, B) {
    const FOLLOWS_RUN: bool = A::FOLLOWS_RUN || B::FOLLOWS_RUN;
    const ADDS_UP: bool = A::ADDS_UP && B::ADDS_UP;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        self.0.hears_counts_alone() && self.1.hears_counts_alone()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.0.count(event, n);
        self.1.count(event, n);
    }

    #[inline(always)]
    fn executed(&mut self, tally: &EventTally) {
        self.0.executed(tally);
        self.1.executed(tally);
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        self.0.edge(edge);
        self.1.edge(edge);
    }

    #[inline]
    fn software_increment(&mut self, counters: u32) {
        self.0.software_increment(counters);
        self.1.software_increment(counters);
    }

    #[inline]
    fn at(&mut self, cycle: Cycle) {
        self.0.at(cycle);
        self.1.at(cycle);
    }

    #[inline]
    fn register_access(&mut self, access: RegisterAccess) {
        self.0.register_access(access);
        self.1.register_access(access);
    }

    #[inline]
    fn core(&mut self, core: usize) {
        self.0.core(core);
        self.1.core(core);
    }

    #[inline]
    fn counting(&mut self, is_counted: bool) {
        self.0.counting(is_counted);
        self.1.counting(is_counted);
    }

    #[inline]
    fn privilege(&mut self, privilege: Privilege) {
        self.0.privilege(privilege);
        self.1.privilege(privilege);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        self.0.operation(operation);
        self.1.operation(operation);
    }

    #[inline]
    fn lost(&mut self, lost: Lost) {
        self.0.lost(lost);
        self.1.lost(lost);
    }

    #[inline]
    fn squashed(&mut self) {
        self.0.squashed();
        self.1.squashed();
    }
}

impl<S: EventSink> EventSink for &mut S {
    const FOLLOWS_RUN: bool = S::FOLLOWS_RUN;
    const ADDS_UP: bool = S::ADDS_UP;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        (**self).hears_counts_alone()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        (**self).count(event, n);
    }

    #[inline(always)]
    fn executed(&mut self, tally: &EventTally) {
        (**self).executed(tally);
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        (**self).edge(edge);
    }

    #[inline]
    fn software_increment(&mut self, counters: u32) {
        (**self).software_increment(counters);
    }

    #[inline]
    fn at(&mut self, cycle: Cycle) {
        (**self).at(cycle);
    }

    #[inline]
    fn register_access(&mut self, access: RegisterAccess) {
        (**self).register_access(access);
    }

    #[inline]
    fn core(&mut self, core: usize) {
        (**self).core(core);
    }

    #[inline]
    fn counting(&mut self, is_counted: bool) {
        (**self).counting(is_counted);
    }

    #[inline]
    fn privilege(&mut self, privilege: Privilege) {
        (**self).privilege(privilege);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        (**self).operation(operation);
    }

    #[inline]
    fn lost(&mut self, lost: Lost) {
        (**self).lost(lost);
    }

    #[inline]
    fn squashed(&mut self) {
        (**self).squashed();
    }
}

/// A total per event, as raised. [`Counts::value`] gives what a counter would show.
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
    /// Returns the event's value as [`Counts::value`] does; unpacks the whole table.
    pub fn value(&self, event: PmuEvent) -> u64 {
        self.unpack().value(event)
    }

    /// Returns what was raised as [`Counts::raised`] does; unpacks the whole table.
    pub fn raised(&self, event: PmuEvent) -> u64 {
        self.unpack().raised(event)
    }
}

impl Counts {
    /// What was raised under this very event; for a sum this is the residue outside its parts.
    pub fn raised(&self, event: PmuEvent) -> u64 {
        self.raised[event as usize]
    }

    /// What a counter programmed with `event` shows: aliases and sums resolved from the table.
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

    /// What was raised after `earlier` was taken: a window as the difference of two snapshots.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let mut window = Counts::default();
        for (i, total) in window.raised.iter_mut().enumerate() {
            *total = self.raised[i] - earlier.raised[i];
        }
        window
    }

    /// Each total, changed alike.
    #[must_use]
    pub fn map(&self, change: impl Fn(u64) -> u64) -> Counts {
        Counts { raised: self.raised.map(change) }
    }

    /// Each total, changed by its event.
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
