//! Sinks that only count and may get their counts late. A run can add up events for them and pass
//! on the sums, at the cost of a run without an observer.

use crate::counts::Counts;
use crate::pmu_event::PmuEvent;
use crate::sink::{EventSink, Notice};
use crate::trace_inst::InstId;

/// Sink that needs only counts, and needs them only by a deadline.
///
/// Up to the deadline, events may arrive later than they occur, as sums and in another order. At
/// the deadline, they arrive before the cycles that reach it. Software increments, cores, levels
/// and the bounds of the counted part arrive on time: after all earlier counts of the core, except
/// that software increments may overtake counts.
///
/// A sink with [`DeferredSink::ATTRIBUTES`] divides the program into parts. It has all counts of an
/// operation before the next operation of another part begins.
pub trait DeferredSink: EventSink {
    /// Whether the sink attributes counts to parts of the program. A combination of sinks does not.
    const ATTRIBUTES: bool = false;

    /// Returns the number of the part that this static instruction belongs to. Only a sink with
    /// [`DeferredSink::ATTRIBUTES`] is asked.
    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        let _ = (inst, pc);
        0
    }

    /// Receives occurrences of several events of the present core.
    fn count_all(&mut self, sum: &Counts) {
        for event in PmuEvent::ALL {
            if sum.raised(event) > 0 {
                self.count(event, sum.raised(event));
            }
        }
    }

    /// Returns after how many counted cycles of the present core the sink must have all counts of
    /// the core. A value of 0 is treated as 1.
    fn cycles_to_deadline(&self) -> u64;
}

impl<A: DeferredSink, B: DeferredSink> DeferredSink for (A, B) {
    fn cycles_to_deadline(&self) -> u64 {
        const { assert!(!A::ATTRIBUTES && !B::ATTRIBUTES, "a combination has no parts") };
        self.0.cycles_to_deadline().min(self.1.cycles_to_deadline())
    }
}

impl<S: DeferredSink> DeferredSink for [S] {
    fn cycles_to_deadline(&self) -> u64 {
        const { assert!(!S::ATTRIBUTES, "a combination has no parts") };
        self.iter().map(S::cycles_to_deadline).min().unwrap_or(u64::MAX)
    }
}

impl<S: DeferredSink + ?Sized> DeferredSink for &mut S {
    const ATTRIBUTES: bool = S::ATTRIBUTES;

    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        (**self).part_of(inst, pc)
    }

    fn count_all(&mut self, sum: &Counts) {
        (**self).count_all(sum);
    }

    fn cycles_to_deadline(&self) -> u64 {
        (**self).cycles_to_deadline()
    }
}

/// Object-safe form of [`DeferredSink`], for virtual calls.
pub trait DynDeferredSink {
    /// Returns the value of [`DeferredSink::cycles_to_deadline`].
    fn deadline(&self) -> u64;

    /// Returns the value of [`DeferredSink::ATTRIBUTES`].
    fn attributes(&self) -> bool;

    /// Returns the value of [`DeferredSink::part_of`].
    fn find_part(&mut self, inst: InstId, pc: u64) -> u32;

    /// Receives occurrences of an event of the present core.
    fn receive_count(&mut self, event: PmuEvent, n: u64);

    /// Receives occurrences of several events of the present core.
    fn receive_sum(&mut self, sum: &Counts);

    /// Receives any other report.
    fn receive_notice(&mut self, notice: Notice<'_>);
}

impl<S: DeferredSink> DynDeferredSink for S {
    fn deadline(&self) -> u64 {
        self.cycles_to_deadline()
    }

    fn attributes(&self) -> bool {
        S::ATTRIBUTES
    }

    fn find_part(&mut self, inst: InstId, pc: u64) -> u32 {
        self.part_of(inst, pc)
    }

    fn receive_count(&mut self, event: PmuEvent, n: u64) {
        self.count(event, n);
    }

    fn receive_sum(&mut self, sum: &Counts) {
        self.count_all(sum);
    }

    fn receive_notice(&mut self, notice: Notice<'_>) {
        self.notify(notice);
    }
}
