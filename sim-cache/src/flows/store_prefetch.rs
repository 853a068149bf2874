//! The prefetch that a store is: once its address is known it asks for its line, long before it is written.
//!
//! Neoverse N2 TRM: what stores train fills the L2 alone, what loads train the L1 D-cache too; the TRM of the Neoverse N1
//! names an ownership request of each store at its issue. A store brings its translation with it, so that this prefetch
//! follows stores over the ends of pages, and runs ahead of the writes by as many stores as the store queue holds. A second
//! engine follows streams of such stores a few lines further, in physical addresses and so not beyond a page. The refill of
//! the L1 D-cache stays the store's own.

use sim_core::{Cycle, EventSink, LineAddr, MemKind};

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::request::L2Request;

/// log2 of the lines of the smallest page.
const PAGE_LINES_SHIFT: u32 = 6;

impl CoreMemory {
    /// A store to `line` has its translation.
    #[inline(always)]
    pub(crate) fn prefetch_for_store<S: EventSink>(
        &mut self,
        kind: MemKind,
        line: Indexed,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        // `DC ZVA` needs no line.
        if kind != MemKind::ZeroLine && self.begins_store_run(line.physical) {
            self.prefetch_store_line(line, now, uncore, sink);
        }
    }

    /// Records a store to `line`. Returns whether it begins a run of stores to one line, of which only the first is looked at;
    /// false if stores do not prefetch (`memory.prefetch.stores`).
    #[inline(always)]
    pub(crate) fn begins_store_run(&mut self, line: LineAddr) -> bool {
        let is_first = self.prefetch.stores && line != self.last_store_line;
        if is_first {
            self.last_store_line = line;
        }
        is_first
    }

    /// Asks for the line if no cache has it, unless the store is to stream past the L1, or nothing is free to ask with.
    #[inline(never)]
    fn prefetch_store_line<S: EventSink>(
        &mut self,
        line: Indexed,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        let physical = line.physical;
        if self.l1d.find(line).is_some() || self.write_streams.can_hold(physical) {
            return;
        }
        let at = now + self.latencies.l1d_hit;
        self.prefetch_if_absent(physical, at, uncore, sink);
        let Some(run) = self.store_streams.train(physical.0) else { return };
        for step in 0..run.count {
            let ahead = run.first.wrapping_add_signed(run.stride * i64::from(step));
            // Physical addresses say nothing of what lies behind the end of the page.
            if (ahead ^ physical.0) >> PAGE_LINES_SHIFT == 0 {
                self.prefetch_if_absent(LineAddr(ahead), at, uncore, sink);
            }
        }
    }

    /// A prefetch never waits for a place in the queue.
    fn prefetch_if_absent<S: EventSink>(
        &mut self,
        line: LineAddr,
        at: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) {
        if self.l2.probe(line).is_none() && self.l2_queue.is_free(at) {
            self.read_l2(L2Request::StorePrefetch, line, at, uncore, sink);
        }
    }
}
