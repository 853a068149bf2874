//! One line under two virtual addresses that choose different sets of the L1 D-cache.
//!
//! The L1 D-cache has one copy of a line at most, and the L2 knows in which set: a Neoverse N1 keeps the
//! virtual index of the copy beside its L2 tag (TRM of the N1, L2 tag RAM). An access that misses in its own
//! set asks the L2, which takes the other copy back before it answers. The copy makes room for the line that
//! this core allocates, so modified data counts as that of a victim (PMU guide 4.2.11), and the copy that
//! goes in no event (4.2.13). Copies in the L1 I-cache are never modified: several may stay.

use sim_core::{Cycle, EventSink, FlowEdge, LineAddr, PmuEvent};

use crate::core_memory::CoreMemory;
use crate::flows::l2::L2Reply;

impl CoreMemory {
    /// The L2 found a line that an access to the L1 D-cache missed: a copy in another set comes back first.
    #[inline]
    pub(crate) fn recall_alias<S: EventSink>(
        &mut self,
        line: LineAddr,
        reply: &mut L2Reply,
        sink: &mut S,
    ) {
        if self.l1d.probe(line).is_some() {
            sink.at(reply.ready);
            let (here, poisoned) = self.recall_copy(line, reply.ready, sink);
            reply.ready = here + self.latencies.alias;
            reply.poisoned |= poisoned;
        }
    }

    /// A store is merged on its way to the L2: no copy of its line stays in any set.
    #[inline]
    pub(crate) fn recall_for_stream<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        sink: &mut S,
    ) {
        if self.l1d.probe(line).is_some() {
            sink.at(at);
            self.recall_copy(line, at, sink);
        }
    }

    /// Takes the copy out of the L1 D-cache, its data into the L2. When it was there, and whether its data is lost.
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
            sink.edge(FlowEdge::L1dAliasClean);
            return (here, false);
        }
        sink.edge(FlowEdge::L1dAliasDirty);
        sink.raise(PmuEvent::L1D_CACHE_WB_VICTIM);
        let poisoned = self.check_written_back(state.defect(), sink);
        self.write_back_to_l2(line, poisoned, sink);
        (here, poisoned)
    }
}
