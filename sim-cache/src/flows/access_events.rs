//! The events that each fragment of a load or store raises, on the L1 hit path and in the flows.

use sim_core::{EventSink, FlowEdge, Notice, PmuEvent};

/// Raises the events of each fragment of a load.
#[inline(always)]
pub(crate) fn raise_load_lookup<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::MEM_ACCESS_RD);
    sink.raise(PmuEvent::L1D_TLB_RD);
}

/// Raises the remaining events of a load fragment that hits the L1 TLB and the L1 D-cache.
#[inline(always)]
pub(crate) fn raise_plain_load<S: EventSink>(sink: &mut S) {
    sink.notify(Notice::Edge(FlowEdge::LoadTlbHit));
    sink.raise(PmuEvent::L1D_CACHE_RD);
    sink.notify(Notice::Edge(FlowEdge::L1dReadHit));
}

/// Raises the events of the address of each store fragment.
#[inline(always)]
pub(crate) fn raise_store_lookup<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::MEM_ACCESS_WR);
    sink.raise(PmuEvent::L1D_TLB_WR);
}

/// Raises the event of the data of each store fragment in cacheable memory.
#[inline(always)]
pub(crate) fn raise_write<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::L1D_CACHE_WR);
}
