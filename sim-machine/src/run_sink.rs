//! Receivers of what a run reports: a sink that observes the run, or none. A run without observer
//! can still serve a sink that accepts sums ([`DeferredSink`](sim_core::DeferredSink)).

use sim_core::{BatchingSink, DynDeferredSink, EventSink, Notice, PmuEvent, Privilege};

/// Receiver of what a run reports. The additional methods serve a deferred sink,
/// and an observer that can do without some operations.
pub(crate) trait RunSink: EventSink {
    /// Returns whether a deferred sink waits for sums.
    fn is_deferred(&self) -> bool {
        false
    }

    /// Returns after how many counted cycles of the present core its sums are due.
    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }

    /// Passes a sum to the deferred sink.
    fn pass(&mut self, event: PmuEvent, n: u64) {
        let _ = (event, n);
    }

    /// Returns whether the observer can do without some operations.
    fn skips_ops(&self) -> bool {
        false
    }

    /// Returns how many of the next MOPs the observer does not need.
    fn next_unneeded_mops(&mut self) -> u64 {
        0
    }

    /// Passes a change of level to the deferred sink.
    fn pass_privilege(&mut self, privilege: Privilege) {
        let _ = privilege;
    }
}

impl RunSink for BatchingSink<'_> {
    fn skips_ops(&self) -> bool {
        BatchingSink::skips_ops(self)
    }

    fn next_unneeded_mops(&mut self) -> u64 {
        BatchingSink::next_unneeded_mops(self)
    }
}

/// Receiver of a run without observer, with a deferred sink or without one.
#[derive(Default)]
pub(crate) struct Unobserved<'a>(pub(crate) Option<&'a mut dyn DynDeferredSink>);

impl EventSink for Unobserved<'_> {
    const COUNTS_ONLY: bool = true;

    #[inline(always)]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline(always)]
    fn notify(&mut self, notice: Notice<'_>) {
        let is_on_time =
            matches!(notice, Notice::Core(_) | Notice::Counting(_) | Notice::SoftwareIncrement(_));
        if is_on_time && let Some(sink) = &mut self.0 {
            sink.receive_notice(notice);
        }
    }
}

impl RunSink for Unobserved<'_> {
    fn is_deferred(&self) -> bool {
        self.0.is_some()
    }

    fn cycles_to_deadline(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |sink| sink.deadline().max(1))
    }

    fn pass(&mut self, event: PmuEvent, n: u64) {
        if let Some(sink) = &mut self.0 {
            sink.receive_count(event, n);
        }
    }

    fn pass_privilege(&mut self, privilege: Privilege) {
        if let Some(sink) = &mut self.0 {
            sink.receive_notice(Notice::Privilege(privilege));
        }
    }
}
