//! Store prefetch: a store requests its line once its address is known, long before the write.
//!
//! Neoverse N2 TRM: prefetches trained by stores fill the L2 alone; prefetches trained by loads
//! also fill the L1 D-cache. The TRM of the Neoverse N1 describes an ownership request of each
//! store at issue. A store brings its own translation, so this prefetch crosses page ends. It runs
//! ahead of the writes by as many stores as the store queue holds. A second engine follows streams
//! of such stores a few lines further. It uses physical addresses, so it stops at the end of a
//! page. The store itself still refills the L1 D-cache.

use sim_core::{Cycle, EventSink, LineAddr, MemKind};

use crate::core_memory::CoreMemory;
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;
use crate::units::request::L2Request;

/// log2 of the lines of the smallest page.
const PAGE_LINES_SHIFT: u32 = 6;

impl CoreMemory {
    /// Prefetches the line of a store whose translation is known.
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

    /// Records a store to `line`. Returns whether it begins a run of stores to one line, of which
    /// only the first prefetches. Returns `false` if stores do not prefetch
    /// (`memory.prefetch.stores`).
    #[inline(always)]
    pub(crate) fn begins_store_run(&mut self, line: LineAddr) -> bool {
        let is_first = self.prefetch.stores && line != self.last_store_line;
        if is_first {
            self.last_store_line = line;
        }
        is_first
    }

    /// Requests the line if no cache holds it, the store will not stream past the L1, and a slot is
    /// free.
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
            // The page that follows in physical addresses need not belong to the stream.
            if (ahead ^ physical.0) >> PAGE_LINES_SHIFT == 0 {
                self.prefetch_if_absent(LineAddr(ahead), at, uncore, sink);
            }
        }
    }

    /// Requests a line that the L2 lacks. A prefetch never waits for a slot of the queue.
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
