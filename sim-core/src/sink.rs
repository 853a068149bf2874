//! Where units report events. The sink is a parameter of every function that reports, never a field
//! of a unit.

use crate::event_tally::EventTally;
use crate::flow::FlowEdge;
use crate::operation::Operation;
use crate::pmu_event::PmuEvent;
use crate::privilege::Privilege;
use crate::register_access::RegisterAccess;
use crate::root_cause::Lost;
use crate::time::Cycle;

/// Everything that units report beside counts. Most sinks match the few that they need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice<'a> {
    /// `PMSWINC_EL0` was written: bit n adds one to counter n if that counts `SW_INCR`. Only a PMU
    /// needs it.
    SoftwareIncrement(u32),
    /// An access took this edge of a flow of guide chapter 5.
    Edge(FlowEdge),
    /// What is raised next happens in this cycle, until another notice: an access when the cache
    /// looks it up, a refill when its data arrives, an instruction when it retires. Events that count
    /// cycles or slots have no cycle of their own.
    At(Cycle),
    /// The recorded program read or wrote a register of the PMU. It follows, in program order, what
    /// the instructions before it raised.
    RegisterAccess(RegisterAccess),
    /// What follows is reported by this core, counted from 0 in the order of the results.
    Core(usize),
    /// The counted part of the run begins (true) or ends on the present core.
    Counting(bool),
    /// From the next event on the core runs at this level. Reported at the start and when it changes.
    Privilege(Privilege),
    /// An instruction went through the core, in the order of rename: a branch comes before the wrong
    /// path that follows it. Its own events came before this, but for an exception that it generates.
    Operation(&'a Operation),
    /// This many rename slots stayed empty for one reason, because the operation reported next came
    /// late or could not be dispatched. At the end of a window or of the run there is no next one. It
    /// comes along with the events that count the slots, once for each reason.
    Lost(Lost),
    /// A path was squashed: what was raised since the last operation, such as the fetch of what never
    /// got a slot, belongs to no operation that follows.
    Squashed,
}

/// Receives every event. Only the finest event is raised; printed sums and aliases are derived.
///
/// [`EventSink::count`] knows its caller, so that a sink can distinguish the places that raise an
/// event; a sink that does not ask pays nothing for it. A sink that wraps others forwards `count`,
/// `add_tally` and `notify`, and nothing else.
pub trait EventSink {
    /// The sink observes the run: it is notified of every operation (unless it
    /// [`EventSink::counts_only`]) and of every change of level, and receives the clocks
    /// (`CPU_CYCLES`, `CNT_CYCLES`) as they advance, not only at the end of a window. Counts are the
    /// same either way; a sink that does not observe pays nothing.
    const OBSERVES_OPS: bool = false;

    /// The sink only adds up: what an instruction raises may arrive as [`EventSink::add_tally`]
    /// instead of event by event, and timelines of operations are not kept.
    const COUNTS_ONLY: bool = false;

    /// True if the sink needs only counts, software increments, cores, levels, register accesses and
    /// the bounds of the counted part. The other notices may be left out, even if it observes the run.
    #[inline]
    fn counts_only(&self) -> bool {
        Self::COUNTS_ONLY
    }

    /// Receives `n` occurrences of `event`.
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64);

    /// Receives one occurrence of `event`; short for [`EventSink::count`] of one.
    #[inline]
    #[track_caller]
    fn raise(&mut self, event: PmuEvent) {
        self.count(event, 1);
    }

    /// Receives what an instruction, or its second operation, raised when it executed. Only a sink
    /// with [`EventSink::COUNTS_ONLY`] receives it.
    #[inline]
    fn add_tally(&mut self, tally: &EventTally) {
        let _ = tally;
    }

    /// Receives anything else. Most sinks need none of it.
    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        let _ = notice;
    }
}

/// Ignores everything: for warming state and for benches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl EventSink for NullSink {
    const COUNTS_ONLY: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}
}

/// Both receive everything, in this order.
impl<A: EventSink, B: EventSink> EventSink for (A, B) {
    const OBSERVES_OPS: bool = A::OBSERVES_OPS || B::OBSERVES_OPS;
    const COUNTS_ONLY: bool = A::COUNTS_ONLY && B::COUNTS_ONLY;

    #[inline]
    fn counts_only(&self) -> bool {
        self.0.counts_only() && self.1.counts_only()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.0.count(event, n);
        self.1.count(event, n);
    }

    #[inline(always)]
    fn add_tally(&mut self, tally: &EventTally) {
        self.0.add_tally(tally);
        self.1.add_tally(tally);
    }

    #[inline(always)]
    fn notify(&mut self, notice: Notice<'_>) {
        self.0.notify(notice);
        self.1.notify(notice);
    }
}

/// All receive everything, in their order.
impl<S: EventSink> EventSink for [S] {
    const OBSERVES_OPS: bool = S::OBSERVES_OPS;
    const COUNTS_ONLY: bool = S::COUNTS_ONLY;

    #[inline]
    fn counts_only(&self) -> bool {
        self.iter().all(EventSink::counts_only)
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        for sink in self {
            sink.count(event, n);
        }
    }

    #[inline]
    fn add_tally(&mut self, tally: &EventTally) {
        for sink in self {
            sink.add_tally(tally);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        for sink in self {
            sink.notify(notice);
        }
    }
}

impl<S: EventSink + ?Sized> EventSink for &mut S {
    const OBSERVES_OPS: bool = S::OBSERVES_OPS;
    const COUNTS_ONLY: bool = S::COUNTS_ONLY;

    #[inline]
    fn counts_only(&self) -> bool {
        (**self).counts_only()
    }

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        (**self).count(event, n);
    }

    #[inline(always)]
    fn add_tally(&mut self, tally: &EventTally) {
        (**self).add_tally(tally);
    }

    #[inline(always)]
    fn notify(&mut self, notice: Notice<'_>) {
        (**self).notify(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;

    #[test]
    fn each_sink_of_a_slice_and_of_a_pair_receives_everything() {
        let mut all = (vec![Counts::default(); 2], Counts::default());
        let sinks: &mut [Counts] = &mut all.0;
        (sinks, &mut all.1).count(PmuEvent::LD_SPEC, 3);
        let counted = [&all.0[0], &all.0[1], &all.1].map(|one| one.value(PmuEvent::LD_SPEC));
        assert_eq!(counted, [3; 3]);
    }
}
