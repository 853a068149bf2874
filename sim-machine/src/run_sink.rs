//! Receivers of what a run reports: a sink that observes the run, or none. A run without observer
//! can still serve a sink that accepts sums ([`DeferredSink`](sim_core::DeferredSink)).

use sim_core::{
    BatchingSink, Counts, DynDeferredSink, EventSink, InstId, Notice, PmuEvent, Privilege,
};

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

    /// Passes sums of several events, the clocks excepted, to the deferred sink.
    fn pass_all(&mut self, sum: &Counts) {
        let _ = sum;
    }

    /// Returns whether the deferred sink attributes counts to parts of the program.
    fn attributes(&self) -> bool {
        false
    }

    /// Returns the part that the deferred sink attributes this static instruction to.
    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        let _ = (inst, pc);
        0
    }

    /// Passes a change of the part to the deferred sink.
    fn pass_part(&mut self, part: u32, on_wrong_path: bool) {
        let _ = (part, on_wrong_path);
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

    fn pass_all(&mut self, sum: &Counts) {
        if let Some(sink) = &mut self.0 {
            sink.receive_sum(sum);
        }
    }

    fn attributes(&self) -> bool {
        self.0.as_ref().is_some_and(|sink| sink.attributes())
    }

    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        self.0.as_mut().map_or(0, |sink| sink.find_part(inst, pc))
    }

    fn pass_part(&mut self, part: u32, on_wrong_path: bool) {
        if let Some(sink) = &mut self.0 {
            sink.receive_notice(Notice::Part { part, on_wrong_path });
        }
    }

    fn pass_privilege(&mut self, privilege: Privilege) {
        if let Some(sink) = &mut self.0 {
            sink.receive_notice(Notice::Privilege(privilege));
        }
    }
}
