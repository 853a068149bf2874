//! The events that each fragment of a load or store raises, on the L1 hit path and in the flows.

use sim_core::{EventSink, FlowEdge, PmuEvent};

/// What each fragment of a load counts.
#[inline(always)]
pub(crate) fn raise_load_lookup<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::MEM_ACCESS_RD);
    sink.raise(PmuEvent::L1D_TLB_RD);
}

/// What it counts behind that if it hits L1 TLB and L1 cache.
#[inline(always)]
pub(crate) fn raise_plain_load<S: EventSink>(sink: &mut S) {
    sink.edge(FlowEdge::LoadTlbHit);
    sink.raise(PmuEvent::L1D_CACHE_RD);
    sink.edge(FlowEdge::L1dReadHit);
}

/// What the address of each fragment of a store counts.
#[inline(always)]
pub(crate) fn raise_store_lookup<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::MEM_ACCESS_WR);
    sink.raise(PmuEvent::L1D_TLB_WR);
}

/// What the data of each fragment counts in cacheable memory.
#[inline(always)]
pub(crate) fn raise_write<S: EventSink>(sink: &mut S) {
    sink.raise(PmuEvent::L1D_CACHE_WR);
}
