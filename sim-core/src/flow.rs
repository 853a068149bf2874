//! The flows of PMU guide chapter 5, declared once: boxes with their numbered events, and the edges
//! that an access takes from one box to the next.
//!
//! The memory model reports an edge at each decision ([`crate::Notice::Edge`]). It does not report
//! implied edges, which leave a box with a single way out; the graph adds them. Sections 5.2 and
//! 5.3 print no list; they mirror 5.1 with the events of chapter 4.

mod account;
mod counts;
mod graph;
mod next;

pub use account::{Account, TIES, Tie, account};
pub use counts::FlowCounts;
pub use graph::{FlowGraph, Link, Path, Stop};
pub use next::{NEXT, Next};

use crate::pmu_event::PmuEvent;
use crate::pmu_event::PmuEvent::*;

/// One flow of the chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Flow {
    /// 5.1: translation of a load.
    LoadTlb,
    /// 5.2: translation of a store.
    StoreTlb,
    /// 5.3: translation of a fetch.
    FetchTlb,
    /// 5.4: read of the L1 D-cache.
    L1dRead,
    /// 5.5: write of the L1 D-cache.
    L1dWrite,
    /// 5.6: read of the L1 I-cache.
    L1i,
    /// 5.7: read of the L2.
    L2Read,
    /// 5.8: write of the L2.
    L2Write,
}

/// One box of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowBox {
    /// Name, unique in its flow.
    pub name: &'static str,
    /// Number in the guide's event list, or 0 for a box that the list does not have.
    pub step: u8,
    /// Events of the box, the finest ones only.
    pub events: &'static [PmuEvent],
}

/// A flow with its boxes.
#[derive(Clone, Copy, Debug)]
pub struct FlowInfo {
    /// Section of the guide.
    pub section: &'static str,
    /// Structure and access that the flow describes.
    pub title: &'static str,
    /// Boxes. A box without incoming edges is an entry.
    pub boxes: &'static [FlowBox],
}

/// An edge as declared.
#[derive(Clone, Copy, Debug)]
pub struct EdgeInfo {
    /// Flow that contains the edge.
    pub flow: Flow,
    /// Name of the source box.
    pub from: &'static str,
    /// Name of the destination box.
    pub to: &'static str,
    /// Outcome of the decision.
    pub label: &'static str,
}

const fn step(name: &'static str, step: u8, events: &'static [PmuEvent]) -> FlowBox {
    FlowBox { name, step, events }
}

const fn plain(name: &'static str) -> FlowBox {
    FlowBox { name, step: 0, events: &[] }
}

const fn beside(name: &'static str, events: &'static [PmuEvent]) -> FlowBox {
    FlowBox { name, step: 0, events }
}

/// Boxes and sections, in the order of [`Flow`].
#[rustfmt::skip]
pub const FLOWS: [FlowInfo; 8] = [
    FlowInfo { section: "5.1", title: "D-side TLB, load", boxes: &[
        step("load", 1, &[LD_SPEC, MEM_ACCESS_RD]),
        step("L1 TLB lookup", 2, &[L1D_TLB_RD]),
        plain("preload or prefetch"),
        step("L2 TLB lookup", 3, &[L2D_TLB_RD]),
        step("walk", 5, &[DTLB_WALK]),
        step("L2 TLB refill", 6, &[L2D_TLB_REFILL_RD]),
        step("L1 TLB refill", 4, &[L1D_TLB_REFILL_RD]),
        plain("fault"),
        plain("translated"),
        // Not in the guide's list: an AT instruction does not access the L1 TLB (decision A16).
        // With stage 2, a walk also translates the addresses of its descriptors (decision A14).
        beside("L2 TLB lookup by AT", &[L2D_TLB_RD]),
        beside("walk by AT", &[DTLB_WALK]),
        beside("L2 TLB refill by AT", &[L2D_TLB_REFILL_RD]),
        plain("address of a descriptor"),
        beside("stage 2 walk for a descriptor", &[DTLB_WALK, L2D_TLB_REFILL_RD]),
    ] },
    FlowInfo { section: "5.2", title: "D-side TLB, store", boxes: &[
        step("store", 1, &[ST_SPEC, MEM_ACCESS_WR]),
        step("L1 TLB lookup", 2, &[L1D_TLB_WR]),
        plain("preload or prefetch"),
        step("L2 TLB lookup", 3, &[L2D_TLB_WR]),
        step("walk", 5, &[DTLB_WALK]),
        step("L2 TLB refill", 6, &[L2D_TLB_REFILL_WR]),
        step("L1 TLB refill", 4, &[L1D_TLB_REFILL_WR]),
        plain("fault"),
        plain("translated"),
        // Not in the guide's list: an AT instruction does not access the L1 TLB (decision A16).
        // With stage 2, a walk also translates the addresses of its descriptors (decision A14).
        beside("L2 TLB lookup by AT", &[L2D_TLB_WR]),
        beside("walk by AT", &[DTLB_WALK]),
        beside("L2 TLB refill by AT", &[L2D_TLB_REFILL_WR]),
        plain("address of a descriptor"),
        beside("stage 2 walk for a descriptor", &[DTLB_WALK, L2D_TLB_REFILL_WR]),
    ] },
    FlowInfo { section: "5.3", title: "I-side TLB, fetch", boxes: &[
        step("L1 TLB lookup", 1, &[L1I_TLB]),
        step("L2 TLB lookup", 3, &[L2D_TLB_RD]),
        step("walk", 5, &[ITLB_WALK]),
        step("L2 TLB refill", 6, &[L2D_TLB_REFILL_RD]),
        step("L1 TLB refill", 4, &[L1I_TLB_REFILL]),
        plain("fault"),
        plain("translated"),
        // Not in the guide's list: stage 2 translation of descriptor addresses (decision A14).
        plain("address of a descriptor"),
        beside("stage 2 walk for a descriptor", &[DTLB_WALK, L2D_TLB_REFILL_RD]),
    ] },
    FlowInfo { section: "5.4", title: "L1 D-cache, read", boxes: &[
        step("L1D lookup", 1, &[L1D_CACHE_RD, MEM_ACCESS_RD]),
        step("refill", 2, &[L1D_CACHE_REFILL_RD]),
        step("data from outside", 3, &[L1D_CACHE_REFILL_OUTER]),
        plain("data from the L2"),
        plain("allocated"),
        // Not in the guide's list: lines that other causes allocate or evict (4.2.1, decision A43).
        plain("preload or prefetch"),
        plain("line leaves the L2"),
        // A copy under another virtual address: the L2 takes it back for the refill.
        plain("copy in another set"),
        step("victim written back", 4, &[L1D_CACHE_WB_VICTIM]),
        plain("done"),
    ] },
    FlowInfo { section: "5.5", title: "L1 D-cache, write", boxes: &[
        step("L1D lookup", 1, &[L1D_CACHE_WR, MEM_ACCESS_WR]),
        step("refill", 2, &[L1D_CACHE_REFILL_WR]),
        step("data from outside", 3, &[L1D_CACHE_REFILL_OUTER]),
        plain("data from the L2"),
        plain("allocated"),
        step("victim written back", 4, &[L1D_CACHE_WB_VICTIM]),
        plain("write to the L2"),
        plain("done"),
    ] },
    FlowInfo { section: "5.6", title: "L1 I-cache", boxes: &[
        step("L1I lookup", 1, &[L1I_CACHE]),
        step("refill", 2, &[L1I_CACHE_REFILL]),
        plain("done"),
    ] },
    FlowInfo { section: "5.7", title: "L2, read", boxes: &[
        step("L2 lookup", 1, &[L2D_CACHE_RD]),
        step("bus read", 2, &[BUS_ACCESS_RD]),
        step("data from another chip", 3, &[REMOTE_ACCESS]),
        step("refill", 4, &[L2D_CACHE_REFILL_RD, L2D_CACHE_REFILL]),
        plain("allocated"),
        // Not in the guide's list: an I/O agent stashes a line (3.2.9, decision A05).
        FlowBox { name: "stash", step: 0, events: &[L2D_CACHE_REFILL] },
        step("victim sent out", 5, &[L2D_CACHE_WB_VICTIM]),
        plain("done"),
    ] },
    FlowInfo { section: "5.8", title: "L2, write", boxes: &[
        step("L2 lookup", 1, &[L2D_CACHE_WR]),
        step("bus access", 2, &[BUS_ACCESS_WR]),
        step("data from another chip", 3, &[REMOTE_ACCESS]),
        step("refill", 4, &[L2D_CACHE_REFILL_RD, L2D_CACHE_REFILL]),
        // Not in the guide's list: the L2 allocates a whole line without a read (decision A36).
        beside("line claimed without a read", &[L2D_CACHE_REFILL]),
        plain("allocated"),
        step("victim sent out", 5, &[L2D_CACHE_WB_VICTIM]),
        plain("done"),
    ] },
];

macro_rules! edges {
    ($($(#[$doc:meta])* $name:ident = $flow:ident, $from:literal => $to:literal, $label:literal;)*) => {
        /// A decision of the model, as an edge of a flow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum FlowEdge {
            $($(#[$doc])* #[doc = $label] $name,)*
        }

        impl FlowEdge {
            /// Every reported edge.
            pub const ALL: &'static [FlowEdge] = &[$(FlowEdge::$name),*];
            /// Number of reported edges.
            pub const COUNT: usize = FlowEdge::ALL.len();

            /// Returns the boxes that the edge connects, and its label.
            pub fn info(self) -> EdgeInfo {
                match self {
                    $(FlowEdge::$name => EdgeInfo {
                        flow: Flow::$flow, from: $from, to: $to, label: $label,
                    },)*
                }
            }
        }
    };
}

edges! {
    LoadTlbHit = LoadTlb, "L1 TLB lookup" => "translated", "hit";
    LoadTlbMiss = LoadTlb, "L1 TLB lookup" => "L2 TLB lookup", "miss";
    LoadTlbPreloadMiss = LoadTlb, "preload or prefetch" => "L2 TLB lookup", "misses the L1 TLB uncounted";
    LoadL2TlbHit = LoadTlb, "L2 TLB lookup" => "L1 TLB refill", "hit";
    LoadL2TlbMiss = LoadTlb, "L2 TLB lookup" => "walk", "miss";
    LoadWalkDone = LoadTlb, "walk" => "L2 TLB refill", "translation found";
    LoadWalkFault = LoadTlb, "walk" => "fault", "no translation";
    LoadAtHit = LoadTlb, "L2 TLB lookup by AT" => "translated", "hit";
    LoadAtMiss = LoadTlb, "L2 TLB lookup by AT" => "walk by AT", "miss";
    LoadAtWalkDone = LoadTlb, "walk by AT" => "L2 TLB refill by AT", "translation found";
    LoadAtWalkFault = LoadTlb, "walk by AT" => "fault", "no translation";
    LoadDescriptorKnown = LoadTlb, "address of a descriptor" => "translated", "stage 2 known to the L2 TLB";
    LoadDescriptorWalk = LoadTlb, "address of a descriptor" => "stage 2 walk for a descriptor", "stage 2 not known";
    StoreTlbHit = StoreTlb, "L1 TLB lookup" => "translated", "hit";
    StoreTlbMiss = StoreTlb, "L1 TLB lookup" => "L2 TLB lookup", "miss";
    StoreTlbPreloadMiss = StoreTlb, "preload or prefetch" => "L2 TLB lookup", "misses the L1 TLB uncounted";
    StoreL2TlbHit = StoreTlb, "L2 TLB lookup" => "L1 TLB refill", "hit";
    StoreL2TlbMiss = StoreTlb, "L2 TLB lookup" => "walk", "miss";
    StoreWalkDone = StoreTlb, "walk" => "L2 TLB refill", "translation found";
    StoreWalkFault = StoreTlb, "walk" => "fault", "no translation";
    StoreAtHit = StoreTlb, "L2 TLB lookup by AT" => "translated", "hit";
    StoreAtMiss = StoreTlb, "L2 TLB lookup by AT" => "walk by AT", "miss";
    StoreAtWalkDone = StoreTlb, "walk by AT" => "L2 TLB refill by AT", "translation found";
    StoreAtWalkFault = StoreTlb, "walk by AT" => "fault", "no translation";
    StoreDescriptorKnown = StoreTlb, "address of a descriptor" => "translated", "stage 2 known to the L2 TLB";
    StoreDescriptorWalk = StoreTlb, "address of a descriptor" => "stage 2 walk for a descriptor", "stage 2 not known";
    FetchTlbHit = FetchTlb, "L1 TLB lookup" => "translated", "hit";
    FetchTlbMiss = FetchTlb, "L1 TLB lookup" => "L2 TLB lookup", "miss";
    FetchL2TlbHit = FetchTlb, "L2 TLB lookup" => "L1 TLB refill", "hit";
    FetchL2TlbMiss = FetchTlb, "L2 TLB lookup" => "walk", "miss";
    FetchWalkDone = FetchTlb, "walk" => "L2 TLB refill", "translation found";
    FetchWalkFault = FetchTlb, "walk" => "fault", "no translation";
    FetchDescriptorKnown = FetchTlb, "address of a descriptor" => "translated", "stage 2 known to the L2 TLB";
    FetchDescriptorWalk = FetchTlb, "address of a descriptor" => "stage 2 walk for a descriptor", "stage 2 not known";
    L1dReadHit = L1dRead, "L1D lookup" => "done", "hit, or line in flight";
    L1dReadMiss = L1dRead, "L1D lookup" => "refill", "miss: flow 5.7";
    L1dReadOuter = L1dRead, "refill" => "data from outside", "L2 missed";
    L1dReadInner = L1dRead, "refill" => "data from the L2", "L2 hit";
    L1dReadVictim = L1dRead, "allocated" => "victim written back", "victim dirty: flow 5.8";
    L1dReadNoVictim = L1dRead, "allocated" => "done", "set not full, or victim clean";
    L1dFillVictim = L1dRead, "preload or prefetch" => "victim written back", "victim dirty: flow 5.8";
    L1dFillNoVictim = L1dRead, "preload or prefetch" => "done", "set not full, or victim clean";
    L1dRecalled = L1dRead, "line leaves the L2" => "victim written back", "copy here, dirty: flow 5.8";
    L1dNotRecalled = L1dRead, "line leaves the L2" => "done", "no copy here, or clean";
    L1dAliasDirty = L1dRead, "copy in another set" => "victim written back", "dirty: flow 5.8";
    L1dAliasClean = L1dRead, "copy in another set" => "done", "clean";
    L1dWriteHit = L1dWrite, "L1D lookup" => "done", "hit, or line in flight";
    L1dWriteMiss = L1dWrite, "L1D lookup" => "refill", "miss: flow 5.8";
    L1dWriteStream = L1dWrite, "L1D lookup" => "write to the L2", "miss, whole line: flow 5.8";
    L1dWriteOuter = L1dWrite, "refill" => "data from outside", "L2 missed";
    L1dWriteInner = L1dWrite, "refill" => "data from the L2", "L2 hit";
    L1dWriteVictim = L1dWrite, "allocated" => "victim written back", "victim dirty: flow 5.8";
    L1dWriteNoVictim = L1dWrite, "allocated" => "done", "set not full, or victim clean";
    L1iHit = L1i, "L1I lookup" => "done", "hit, or line in flight";
    L1iMiss = L1i, "L1I lookup" => "refill", "miss: flow 5.7";
    L2ReadHit = L2Read, "L2 lookup" => "done", "hit, or line in flight";
    L2ReadMiss = L2Read, "L2 lookup" => "bus read", "miss";
    L2ReadRemote = L2Read, "bus read" => "data from another chip", "data from another chip";
    L2ReadLocal = L2Read, "bus read" => "refill", "data from this chip";
    L2ReadVictim = L2Read, "allocated" => "victim sent out", "victim written out";
    L2ReadNoVictim = L2Read, "allocated" => "done", "set not full, or nothing to send";
    L2StashVictim = L2Read, "stash" => "victim sent out", "victim written out";
    L2StashNoVictim = L2Read, "stash" => "done", "set not full, or nothing to send";
    L2WriteHit = L2Write, "L2 lookup" => "done", "hit, or line in flight";
    L2WriteMiss = L2Write, "L2 lookup" => "bus access", "miss";
    L2WriteRemote = L2Write, "bus access" => "data from another chip", "data from another chip";
    L2WriteLocal = L2Write, "bus access" => "refill", "data from this chip";
    L2WriteClaim = L2Write, "bus access" => "line claimed without a read", "whole line written";
    L2WriteVictim = L2Write, "allocated" => "victim sent out", "victim written out";
    L2WriteNoVictim = L2Write, "allocated" => "done", "set not full, or nothing to send";
}

/// Edges that the model does not report, because their box has no other way out.
#[rustfmt::skip]
const IMPLIED: [(Flow, &str, &str); 28] = [
    (Flow::LoadTlb, "load", "L1 TLB lookup"),
    (Flow::LoadTlb, "L2 TLB refill", "L1 TLB refill"),
    (Flow::LoadTlb, "L1 TLB refill", "translated"),
    (Flow::StoreTlb, "store", "L1 TLB lookup"),
    (Flow::StoreTlb, "L2 TLB refill", "L1 TLB refill"),
    (Flow::StoreTlb, "L1 TLB refill", "translated"),
    (Flow::FetchTlb, "L2 TLB refill", "L1 TLB refill"),
    (Flow::FetchTlb, "L1 TLB refill", "translated"),
    (Flow::LoadTlb, "L2 TLB refill by AT", "translated"),
    (Flow::LoadTlb, "stage 2 walk for a descriptor", "translated"),
    (Flow::StoreTlb, "L2 TLB refill by AT", "translated"),
    (Flow::StoreTlb, "stage 2 walk for a descriptor", "translated"),
    (Flow::FetchTlb, "stage 2 walk for a descriptor", "translated"),
    (Flow::L1dRead, "data from outside", "allocated"),
    (Flow::L1dRead, "data from the L2", "allocated"),
    (Flow::L1dRead, "victim written back", "done"),
    (Flow::L1dWrite, "data from outside", "allocated"),
    (Flow::L1dWrite, "data from the L2", "allocated"),
    (Flow::L1dWrite, "victim written back", "done"),
    (Flow::L1dWrite, "write to the L2", "done"),
    (Flow::L1i, "refill", "done"),
    (Flow::L2Read, "data from another chip", "refill"),
    (Flow::L2Read, "refill", "allocated"),
    (Flow::L2Read, "victim sent out", "done"),
    (Flow::L2Write, "data from another chip", "refill"),
    (Flow::L2Write, "refill", "allocated"),
    (Flow::L2Write, "line claimed without a read", "allocated"),
    (Flow::L2Write, "victim sent out", "done"),
];

impl Flow {
    /// Every flow, in the order of the guide.
    pub const ALL: [Flow; 8] = [
        Flow::LoadTlb,
        Flow::StoreTlb,
        Flow::FetchTlb,
        Flow::L1dRead,
        Flow::L1dWrite,
        Flow::L1i,
        Flow::L2Read,
        Flow::L2Write,
    ];

    /// Returns the flow of a section, `"5.1"` to `"5.8"`.
    pub fn of_section(section: &str) -> Option<Flow> {
        Flow::ALL.into_iter().find(|flow| flow.info().section == section)
    }

    /// Returns the section and the boxes of the flow.
    pub fn info(self) -> &'static FlowInfo {
        &FLOWS[self as usize]
    }
}
