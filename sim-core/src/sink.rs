//! Interface through which units report events. The sink is a parameter of every function that
//! reports, never a field of a unit.

use crate::event_tally::EventTally;
use crate::flow::FlowEdge;
use crate::operation::Operation;
use crate::pmu_event::PmuEvent;
use crate::privilege::Privilege;
use crate::register_access::RegisterAccess;
use crate::root_cause::Lost;
use crate::time::Cycle;
use crate::trace_inst::InstId;

/// A report of a unit other than a count. Most sinks match the few notices that they need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice<'a> {
    /// A write to `PMSWINC_EL0`: bit n adds one to counter n if that counts `SW_INCR`. Only a PMU
    /// needs it.
    SoftwareIncrement(u32),
    /// An access took this edge of a flow of guide chapter 5.
    Edge(FlowEdge),
    /// Cycle of the events that follow, until the next notice of this kind. It is that of the
    /// lookup of an access, of the data arrival of a refill, or of the retirement of an
    /// instruction. Events that count cycles or slots have no cycle of their own.
    At(Cycle),
    /// The recorded program read or wrote a PMU register. In program order, this notice follows the
    /// events of older instructions.
    RegisterAccess(RegisterAccess),
    /// Core of the reports that follow, counted from 0 in the order of the results. If threads
    /// share cores, the number of the thread.
    Core(usize),
    /// The counted part of the run begins (true) or ends (false) on the present core.
    Counting(bool),
    /// Privilege of the core from the next event on. Reported at the start and at each change.
    Privilege(Privilege),
    /// An instruction went through the core. Operations arrive in rename order: a branch comes
    /// before its wrong path. Its own events precede this notice, except those of an exception that
    /// it generates.
    Operation(&'a Operation),
    /// Operations with this number of MOPs in all went through the core without a report. Only a
    /// sink with [`EventSink::SKIPS_OPS`] receives it.
    Skipped(u64),
    /// A wrong-path operation of this static instruction begins. Only a sink with
    /// [`EventSink::COUNTS_ONLY`] receives it.
    BeginsOnWrongPath {
        /// Number of the static instruction.
        inst: InstId,
        /// Address of the instruction.
        pc: u64,
    },
    /// Counts of the present core that follow belong to operations of this part of the program.
    /// Only a deferred sink that attributes counts receives it.
    Part {
        /// Number of the part.
        part: u32,
        /// The operations are on a wrong path.
        on_wrong_path: bool,
    },
    /// Rename slots that stayed empty for one reason, because the operation reported next was late
    /// or could not be dispatched. At the end of a window or of the run there is no next operation.
    /// Reported once per reason, with the events that count the slots.
    Lost(Lost),
    /// A path was squashed. Events since the last operation, such as fetches without a rename slot,
    /// belong to no later operation.
    Squashed,
}

/// Receives every event. Only the finest event is raised; printed sums and aliases are derived.
///
/// [`EventSink::count`] records its caller, so that a sink can distinguish the code that raises an
/// event. This is free for sinks that do not use it. A sink that wraps others has their constants
/// and forwards `counts_only`, `count`, `add_tally` and `notify`. One without
/// [`EventSink::SKIPS_OPS`] receives all operations, which a skipping sink accepts.
pub trait EventSink {
    /// Whether the sink observes the run. An observer receives every operation (unless it has
    /// [`EventSink::counts_only`]) and every change of level. It receives the clocks (`CPU_CYCLES`,
    /// `CNT_CYCLES`) as they advance, not only at the end of a window. Counts are the same either
    /// way; other sinks pay nothing.
    const OBSERVES_OPS: bool = false;

    /// Whether the sink only adds up. The events of an instruction may then arrive as one
    /// [`EventSink::add_tally`], and timelines of operations are not kept.
    const COUNTS_ONLY: bool = false;

    /// Whether the sink needs no counts, and only the operations that
    /// [`EventSink::unneeded_mops`] leaves over.
    const SKIPS_OPS: bool = false;

    /// Returns how many of the next MOPs the sink does not need. The run may leave out all reports
    /// of operations with so many MOPs at most, unless the level changes, and then sends
    /// [`Notice::Skipped`].
    #[inline]
    fn unneeded_mops(&self) -> u64 {
        0
    }

    /// Returns true if the sink needs only counts, software increments, cores, levels, register
    /// accesses and the bounds of the counted part. The model may omit the other notices, even if
    /// the sink observes the run.
    #[inline]
    fn counts_only(&self) -> bool {
        Self::COUNTS_ONLY
    }

    /// Receives `n` occurrences of `event`.
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64);

    /// Receives one occurrence of `event`; shorthand for [`EventSink::count`] with 1.
    #[inline]
    #[track_caller]
    fn raise(&mut self, event: PmuEvent) {
        self.count(event, 1);
    }

    /// Receives the events that an instruction, or its second operation, raised when it executed.
    /// Only a sink with [`EventSink::COUNTS_ONLY`] receives it.
    #[inline]
    fn add_tally(&mut self, tally: &EventTally) {
        let _ = tally;
    }

    /// Receives any other report. Most sinks need none of them.
    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        let _ = notice;
    }
}

/// Ignores everything. Used for functional warming and benchmarks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl EventSink for NullSink {
    const COUNTS_ONLY: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}
}

/// Passes every report to both sinks, in this order.
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

/// Passes every report to all sinks, in their order.
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
    const SKIPS_OPS: bool = S::SKIPS_OPS;

    #[inline]
    fn unneeded_mops(&self) -> u64 {
        (**self).unneeded_mops()
    }

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
