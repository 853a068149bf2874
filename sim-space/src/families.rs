//! Events that belong together, for lists of half-spaces.

use sim_core::pmu_event::PmuEvent::{self, *};

/// A flow or several, with the events whose half-spaces are listed together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Sections of the guide.
    pub sections: &'static str,
    /// Short title.
    pub title: &'static str,
    /// Events.
    pub events: &'static [PmuEvent],
}

/// The flows of the guide, then the places at which one flow enters another.
pub const FAMILIES: [Family; 11] = [
    Family {
        sections: "5.1",
        title: "D-side TLB, load",
        events: &[MEM_ACCESS_RD, L1D_TLB_RD, L1D_TLB_REFILL_RD, L2D_TLB_RD, DTLB_WALK],
    },
    Family {
        sections: "5.2",
        title: "D-side TLB, store",
        events: &[MEM_ACCESS_WR, L1D_TLB_WR, L1D_TLB_REFILL_WR, L2D_TLB_WR, DTLB_WALK],
    },
    Family {
        sections: "5.3",
        title: "I-side TLB, fetch",
        events: &[L1I_TLB, L1I_TLB_REFILL, L2D_TLB_RD, ITLB_WALK],
    },
    Family {
        sections: "5.1, 5.2, 5.3",
        title: "the shared L2 TLB and walker",
        events: &[
            L1D_TLB_REFILL_RD,
            L1D_TLB_REFILL_WR,
            L1I_TLB_REFILL,
            L2D_TLB_RD,
            L2D_TLB_WR,
            L2D_TLB_REFILL_RD,
            L2D_TLB_REFILL_WR,
            DTLB_WALK,
            ITLB_WALK,
        ],
    },
    Family {
        sections: "5.4",
        title: "L1 D-cache, read",
        events: &[L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_OUTER],
    },
    Family {
        sections: "5.5",
        title: "L1 D-cache, write",
        events: &[L1D_CACHE_WR, L1D_CACHE_REFILL_WR, L1D_CACHE_REFILL_OUTER],
    },
    Family {
        sections: "5.1 to 5.5",
        title: "translations and lookups",
        events: &[MEM_ACCESS_RD, MEM_ACCESS_WR, L1D_TLB_RD, L1D_TLB_WR, L1D_CACHE_RD, L1D_CACHE_WR],
    },
    Family {
        sections: "5.4, 5.5",
        title: "refills of the L1 D-cache",
        events: &[
            L1D_CACHE_RD,
            L1D_CACHE_WR,
            L1D_CACHE_REFILL_RD,
            L1D_CACHE_REFILL_WR,
            L1D_CACHE_REFILL_INNER,
            L1D_CACHE_REFILL_OUTER,
        ],
    },
    Family {
        sections: "5.3, 5.6",
        title: "L1 I-cache",
        events: &[L1I_TLB, L1I_CACHE, L1I_CACHE_REFILL, L2D_CACHE_RD],
    },
    Family {
        sections: "5.7, 5.8",
        title: "L2",
        events: &[
            L2D_CACHE_RD,
            L2D_CACHE_WR,
            L2D_CACHE_REFILL,
            L2D_CACHE_REFILL_RD,
            L2D_CACHE_WB_VICTIM,
            BUS_ACCESS_RD,
            BUS_ACCESS_WR,
        ],
    },
    Family {
        sections: "5.4 to 5.8",
        title: "from the L1 caches to the L2 and the bus",
        events: &[
            L1D_CACHE_REFILL_RD,
            L1D_CACHE_REFILL_WR,
            L1D_CACHE_WB_VICTIM,
            L1I_CACHE_REFILL,
            L2D_CACHE_RD,
            L2D_CACHE_WR,
            L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD,
            BUS_ACCESS_WR,
        ],
    },
];
