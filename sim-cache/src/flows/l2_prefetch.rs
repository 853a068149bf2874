//! The L2's stream prefetcher. PMU guide 4.4.1: its refills count as accesses of the L2.
//!
//! The prefetcher trains on loads, preloads, prefetches and fetches that miss the L2 or use a
//! prefetched line for the first time. It works on physical addresses and follows lines inside a
//! page. It leaves a page only for one that the L1 D prefetcher names (`l2-page-cross`), because
//! that prefetcher works on virtual addresses. Stores have prefetchers of their own
//! (`store_prefetch`). Not modeled: the region and the temporal engine of the N2.

use sim_core::{Cycle, EventSink, LINE_SHIFT, LineAddr};

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;
use crate::units::request::L2Request;

impl CoreMemory {
    /// Trains the prefetcher with a request that missed or that first uses a prefetched line, and
    /// issues prefetches for a limited number of absent lines.
    pub(crate) fn train_l2_prefetcher<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let page_lines_shift = uncore.page_map.page_shift() - LINE_SHIFT;
        if !self.prefetch.l2 || !self.l2_streams.observe(line.0, page_lines_shift) {
            return;
        }
        let mut issued = 0;
        // A prefetch never waits for a slot of the queue.
        while issued < self.prefetch.l2_degree && self.l2_queue.is_free(at) {
            let Some(next) = self.l2_streams.next_line(page_lines_shift) else { return };
            if self.l2.probe(next).is_none() {
                self.read_l2(L2Request::L2Prefetch, next, at, uncore, sink);
                issued += 1;
            }
        }
    }
}
