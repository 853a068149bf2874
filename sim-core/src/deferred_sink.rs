//! Sinks that only count and may get their counts late. A run can add up events for them and pass
//! on the sums, at the cost of a run without an observer.

use crate::pmu_event::PmuEvent;
use crate::sink::{EventSink, Notice};

/// Sink that needs only counts, and needs them only by a deadline.
///
/// Up to the deadline, events may arrive later than they occur, as sums and in another order. At
/// the deadline, they arrive before the cycles that reach it. Software increments, cores, levels
/// and the bounds of the counted part arrive on time: after all earlier counts of the core, except
/// that software increments may overtake counts.
pub trait DeferredSink: EventSink {
    /// Returns after how many counted cycles of the present core the sink must have all counts of
    /// the core. A value of 0 is treated as 1.
    fn cycles_to_deadline(&self) -> u64;
}

impl<A: DeferredSink, B: DeferredSink> DeferredSink for (A, B) {
    fn cycles_to_deadline(&self) -> u64 {
        self.0.cycles_to_deadline().min(self.1.cycles_to_deadline())
    }
}

impl<S: DeferredSink> DeferredSink for [S] {
    fn cycles_to_deadline(&self) -> u64 {
        self.iter().map(S::cycles_to_deadline).min().unwrap_or(u64::MAX)
    }
}

impl<S: DeferredSink + ?Sized> DeferredSink for &mut S {
    fn cycles_to_deadline(&self) -> u64 {
        (**self).cycles_to_deadline()
    }
}

/// Object-safe form of [`DeferredSink`], for virtual calls.
pub trait DynDeferredSink {
    /// Returns the value of [`DeferredSink::cycles_to_deadline`].
    fn deadline(&self) -> u64;

    /// Receives occurrences of an event of the present core.
    fn receive_count(&mut self, event: PmuEvent, n: u64);

    /// Receives any other report.
    fn receive_notice(&mut self, notice: Notice<'_>);
}

impl<S: DeferredSink> DynDeferredSink for S {
    fn deadline(&self) -> u64 {
        self.cycles_to_deadline()
    }

    fn receive_count(&mut self, event: PmuEvent, n: u64) {
        self.count(event, n);
    }

    fn receive_notice(&mut self, notice: Notice<'_>) {
        self.notify(notice);
    }
}
