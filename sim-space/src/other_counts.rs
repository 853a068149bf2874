//! Counts of the model besides those of the boxes of the flows.
//!
//! Every row holds for all settings of the configuration's `[semantics]`, so that counts of each
//! reading of the guide are inside the space.

use sim_core::flow::{Flow, FlowEdge};
use sim_core::pmu_event::PmuEvent::{self, *};

/// Events that a box raises and the guide's list does not print there.
pub(crate) const ALSO: [(Flow, &str, PmuEvent); 4] = [
    // The other half of the refills (4.2.8).
    (Flow::L1dRead, "data from the L2", L1D_CACHE_REFILL_INNER),
    (Flow::L1dWrite, "data from the L2", L1D_CACHE_REFILL_INNER),
    // The victim leaves by the bus (4.6.6, decision A48).
    (Flow::L2Read, "victim sent out", BUS_ACCESS_WR),
    (Flow::L2Write, "victim sent out", BUS_ACCESS_WR),
];

/// Events that a box may raise in addition, and how often at most. A kept address of the last table
/// and one of stage 2 count too, if partial walks count (A14).
pub(crate) const UP_TO: [(Flow, &str, PmuEvent, u64); 5] = [
    (Flow::LoadTlb, "walk", L2D_TLB_REFILL_RD, 2),
    (Flow::LoadTlb, "walk by AT", L2D_TLB_REFILL_RD, 2),
    (Flow::StoreTlb, "walk", L2D_TLB_REFILL_WR, 2),
    (Flow::StoreTlb, "walk by AT", L2D_TLB_REFILL_WR, 2),
    (Flow::FetchTlb, "walk", L2D_TLB_REFILL_RD, 2),
];

/// Edges that may enter another flow than the one of their label.
pub(crate) const OTHER_ENTRIES: [(FlowEdge, Flow, &str); 1] =
    [(FlowEdge::L1dWriteMiss, Flow::L2Read, "a store miss may read the L2 (A07)")];

/// Events that count together outside of the flows, with the reason.
pub(crate) const OUTSIDE: [(&[PmuEvent], &str); 4] = [
    (&[MEM_ACCESS_RD, BUS_ACCESS_RD], "a further part of an uncached read (4.6.7)"),
    (&[MEM_ACCESS_WR, BUS_ACCESS_WR], "a further part of an uncached write (4.6.8)"),
    (
        &[L2D_CACHE_WB_VICTIM, BUS_ACCESS_WR],
        "victim of a line that a prefetch or a walk brought without a count (4.4.1, A06)",
    ),
    (&[BUS_ACCESS], "a snoop, which is neither a read nor a write (4.6.2)"),
];
