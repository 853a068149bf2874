//! One line under two virtual addresses that select different sets of the L1 D-cache.
//!
//! The L1 D-cache holds at most one copy of a line, and the L2 records the set of the copy. A
//! Neoverse N1 keeps the virtual index of the copy next to the L2 tag (TRM of the N1, L2 tag RAM).
//! An access that misses in its own set reads the L2, which recalls the other copy before it
//! answers. The copy makes room for the line that this core allocates. Modified data therefore
//! counts as a victim's (PMU guide 4.2.11), and the removed copy counts in no event (4.2.13).
//! Copies in the L1 I-cache are never modified, so several may stay.

use sim_core::{Cycle, EventSink, FlowEdge, LineAddr, Notice, PmuEvent};

use crate::core_memory::CoreMemory;
use crate::flows::l2::L2Reply;

impl CoreMemory {
    /// Recalls a copy from another set of the L1 D-cache, after the L2 found the line of an L1
    /// miss. Delays `reply` accordingly.
    #[inline]
    pub(crate) fn recall_alias<S: EventSink>(
        &mut self,
        line: LineAddr,
        reply: &mut L2Reply,
        sink: &mut S,
    ) {
        if self.l1d.probe(line).is_some() {
            sink.notify(Notice::At(reply.ready));
            let (here, poisoned) = self.recall_copy(line, reply.ready, sink);
            reply.ready = here + self.latencies.alias;
            reply.poisoned |= poisoned;
        }
    }

    /// Removes the copy of a line from every set, because a store to the line is merged on its way
    /// to the L2.
    #[inline]
    pub(crate) fn recall_for_stream<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        sink: &mut S,
    ) {
        if self.l1d.probe(line).is_some() {
            sink.notify(Notice::At(at));
            self.recall_copy(line, at, sink);
        }
    }

    /// Moves the copy from the L1 D-cache into the L2. Returns the cycle at which the copy was
    /// present, and whether its data is lost.
    #[cold]
    fn recall_copy<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        sink: &mut S,
    ) -> (Cycle, bool) {
        if self.l1d.has_broken_tags() {
            self.repair_l1d_tags(line, sink);
        }
        let Some(state) = self.l1d.remove(line) else { return (at, false) };
        let here = state.refill_time().at(at);
        if !state.is_dirty() {
            sink.notify(Notice::Edge(FlowEdge::L1dAliasClean));
            return (here, false);
        }
        sink.notify(Notice::Edge(FlowEdge::L1dAliasDirty));
        sink.raise(PmuEvent::L1D_CACHE_WB_VICTIM);
        let poisoned = self.check_written_back(state.defect(), sink);
        self.write_back_to_l2(line, poisoned, sink);
        (here, poisoned)
    }
}
