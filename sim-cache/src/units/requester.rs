//! Requesters of translations, and the events and edges that the requests of each raise.

use sim_core::{FlowEdge, PmuEvent};

use crate::units::mapping::Permissions;

/// Requester of a translation, which determines the TLB and the half of the sums that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// Instruction fetch.
    Fetch,
    /// Data read.
    Read,
    /// Data read whose location is then written without a second lookup: a swap. It counts as a
    /// read and needs write permission.
    Swap,
    /// Data write.
    Write,
}

/// Edges of the decisions of one of the flows 5.1 to 5.3.
pub(crate) struct TlbEdges {
    pub(crate) hit: FlowEdge,
    pub(crate) miss: FlowEdge,
    /// Miss of the L1 TLB by a lookup that is not counted.
    pub(crate) uncounted_miss: FlowEdge,
    pub(crate) l2_hit: FlowEdge,
    pub(crate) l2_miss: FlowEdge,
    pub(crate) walk_done: FlowEdge,
    pub(crate) walk_fault: FlowEdge,
    /// Translation of a descriptor address through stage 2.
    pub(crate) descriptor_known: FlowEdge,
    pub(crate) descriptor_walk: FlowEdge,
}

const LOAD_EDGES: TlbEdges = TlbEdges {
    hit: FlowEdge::LoadTlbHit,
    miss: FlowEdge::LoadTlbMiss,
    uncounted_miss: FlowEdge::LoadTlbPreloadMiss,
    l2_hit: FlowEdge::LoadL2TlbHit,
    l2_miss: FlowEdge::LoadL2TlbMiss,
    walk_done: FlowEdge::LoadWalkDone,
    walk_fault: FlowEdge::LoadWalkFault,
    descriptor_known: FlowEdge::LoadDescriptorKnown,
    descriptor_walk: FlowEdge::LoadDescriptorWalk,
};

const STORE_EDGES: TlbEdges = TlbEdges {
    hit: FlowEdge::StoreTlbHit,
    miss: FlowEdge::StoreTlbMiss,
    uncounted_miss: FlowEdge::StoreTlbPreloadMiss,
    l2_hit: FlowEdge::StoreL2TlbHit,
    l2_miss: FlowEdge::StoreL2TlbMiss,
    walk_done: FlowEdge::StoreWalkDone,
    walk_fault: FlowEdge::StoreWalkFault,
    descriptor_known: FlowEdge::StoreDescriptorKnown,
    descriptor_walk: FlowEdge::StoreDescriptorWalk,
};

const FETCH_EDGES: TlbEdges = TlbEdges {
    hit: FlowEdge::FetchTlbHit,
    miss: FlowEdge::FetchTlbMiss,
    uncounted_miss: FlowEdge::FetchTlbMiss, // every fetch is counted, prefetches too (decision A35)
    l2_hit: FlowEdge::FetchL2TlbHit,
    l2_miss: FlowEdge::FetchL2TlbMiss,
    walk_done: FlowEdge::FetchWalkDone,
    walk_fault: FlowEdge::FetchWalkFault,
    descriptor_known: FlowEdge::FetchDescriptorKnown,
    descriptor_walk: FlowEdge::FetchDescriptorWalk,
};

impl Requester {
    pub(crate) fn edges(self) -> &'static TlbEdges {
        match self {
            Requester::Fetch => &FETCH_EDGES,
            Requester::Read | Requester::Swap => &LOAD_EDGES,
            Requester::Write => &STORE_EDGES,
        }
    }

    pub(crate) fn l2_lookup(self) -> PmuEvent {
        if self == Requester::Write { PmuEvent::L2D_TLB_WR } else { PmuEvent::L2D_TLB_RD }
    }

    pub(crate) fn l2_refill(self) -> PmuEvent {
        if self == Requester::Write {
            PmuEvent::L2D_TLB_REFILL_WR
        } else {
            PmuEvent::L2D_TLB_REFILL_RD
        }
    }

    pub(crate) fn l1_refill(self) -> PmuEvent {
        match self {
            Requester::Fetch => PmuEvent::L1I_TLB_REFILL,
            Requester::Read | Requester::Swap => PmuEvent::L1D_TLB_REFILL_RD,
            Requester::Write => PmuEvent::L1D_TLB_REFILL_WR,
        }
    }

    pub(crate) fn walk(self) -> PmuEvent {
        if self == Requester::Fetch { PmuEvent::ITLB_WALK } else { PmuEvent::DTLB_WALK }
    }

    /// Returns whether the page's permissions refuse the access.
    pub(crate) fn is_refused(self, permissions: Permissions) -> bool {
        match self {
            Requester::Fetch => permissions.no_exec,
            Requester::Read => false,
            Requester::Write | Requester::Swap => permissions.read_only,
        }
    }
}
