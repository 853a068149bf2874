//! L1 hit path: an access whose translation and line are present takes only hit edges (PMU guide
//! flows 5.1, 5.2, 5.4 and 5.5). If any condition fails, nothing is counted and the full flow
//! starts over.
//!
//! This path serves callers with so many accesses that passing a request would cost more than the
//! lookup.

use sim_core::{Cycle, EventSink, FlowEdge, Notice, VirtAddr};

use crate::core_memory::CoreMemory;
use crate::flows::access_events::{
    raise_load_lookup, raise_plain_load, raise_store_lookup, raise_write,
};
use crate::flows::fragment::{Fragment, is_misaligned_128, is_one_fragment};
use crate::uncore::Uncore;
use crate::units::indexed::Indexed;

impl CoreMemory {
    /// Returns the line of an address whose translation is a plain hit of the L1 data TLB at `now`.
    /// A hit counts as a use.
    #[inline(always)]
    fn data_line(&mut self, addr: VirtAddr, now: Cycle, uncore: &Uncore) -> Option<Indexed> {
        let key = self.space.key(uncore.page_map.page_of(addr));
        let frame = self.dtlb.plain_hit(key, now)?;
        Some(Indexed::virtually(addr, uncore.page_map.line_in(addr, frame)))
    }

    /// Returns whether a read of one fragment is a plain hit of L1 TLB and L1 D-cache. A hit counts
    /// as a use.
    #[inline(always)]
    pub(crate) fn read_is_plain(&mut self, addr: VirtAddr, now: Cycle, uncore: &Uncore) -> bool {
        self.data_line(addr, now, uncore).is_some_and(|line| self.l1d.plain_hit(line, now))
    }

    /// Performs a load that hits the L1 TLB and L1 D-cache. Returns `false`, with no event raised,
    /// if any condition fails.
    #[inline(always)]
    pub(crate) fn load_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        (bytes, element_bytes): (u32, u32),
        now: Cycle,
        uncore: &Uncore,
        sink: &mut S,
    ) -> bool {
        let is_whole = is_one_fragment(addr, bytes) && !is_misaligned_128(addr, element_bytes);
        if !is_whole || !self.read_is_plain(addr, now, uncore) {
            return false;
        }
        sink.notify(Notice::At(now));
        raise_load_lookup(sink);
        raise_plain_load(sink);
        true
    }

    /// Performs both halves of a store that hits the L1 TLB and L1 D-cache. Returns `false`, with
    /// no event raised, if any condition fails.
    #[inline(always)]
    pub(crate) fn store_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        bytes: u32,
        now: Cycle,
        uncore: &mut Uncore,
        sink: &mut S,
    ) -> bool {
        if !is_one_fragment(addr, bytes) {
            return false;
        }
        let Some(line) = self.data_line(addr, now, uncore) else { return false };
        if !self.l1d.plain_write(line, now) {
            return false;
        }
        sink.notify(Notice::At(now));
        raise_store_lookup(sink);
        sink.notify(Notice::Edge(FlowEdge::StoreTlbHit));
        raise_write(sink);
        sink.notify(Notice::Edge(FlowEdge::L1dWriteHit));
        // The line is present, so nothing is prefetched for it.
        let _ = self.begins_store_run(line.physical);
        let mask = Fragment { addr, bytes: bytes.max(1) }.line_mask();
        let drains = self.write_streams.write(line.physical, mask, false);
        if drains != [None, None] {
            self.drain(drains, now, uncore, sink);
        }
        true
    }
}
