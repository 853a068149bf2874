//! Reference vectors: the events of one access, by its kind and by the location of its data.
//!
//! Each follows from the numbered steps of the guide's flows 5.1 to 5.8. A load, store or fetch
//! misses every cache (`V1`, `V4`, `V7`), hits the L2 (`V2`, `V5`, `V8`) or hits its L1 (`V3`,
//! `V6`, `V9`), always with an L1 TLB hit. Add-ons hold the events of a TLB miss: served by the L2
//! TLB (`tlb2`) or by a walk (`walk`), for loads (`ld`), stores (`st`) and fetches (`if`). Only
//! events from which others are derived are listed; printed sums and aliases follow from the event
//! table.
//!
//! Published counts of an N2 differ for some of them; [`Reading::Silicon`] has these rows.

use sim_core::PmuEvent;
use sim_core::PmuEvent::*;

/// Reference for the expected counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The PMU guide, to the letter.
    #[default]
    Guide,
    /// Published counts and measurements of an N2 where they contradict the guide.
    Silicon,
}

/// Named list of events; an event counts once for each of its entries.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// Name in an expectation.
    pub name: &'static str,
    /// Counted events.
    pub events: &'static [PmuEvent],
}

/// All vectors and add-ons.
#[rustfmt::skip]
pub const VECTORS: [Vector; 15] = [
    Vector {
        name: "V1",
        events: &[
            LD_SPEC, MEM_ACCESS_RD, L1D_TLB_RD,
            L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_OUTER,
            L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
    Vector {
        name: "V2",
        events: &[
            LD_SPEC, MEM_ACCESS_RD, L1D_TLB_RD,
            L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_INNER,
            L2D_CACHE_RD,
        ],
    },
    Vector { name: "V3", events: &[LD_SPEC, MEM_ACCESS_RD, L1D_TLB_RD, L1D_CACHE_RD] },
    Vector {
        name: "V4",
        events: &[
            ST_SPEC, MEM_ACCESS_WR, L1D_TLB_WR,
            L1D_CACHE_WR, L1D_CACHE_REFILL_WR, L1D_CACHE_REFILL_OUTER,
            L2D_CACHE_WR, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            // The flow counts the transaction by the direction of the access (decision A07).
            BUS_ACCESS_WR, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
    Vector {
        name: "V5",
        events: &[
            ST_SPEC, MEM_ACCESS_WR, L1D_TLB_WR,
            L1D_CACHE_WR, L1D_CACHE_REFILL_WR, L1D_CACHE_REFILL_INNER,
            L2D_CACHE_WR,
        ],
    },
    Vector { name: "V6", events: &[ST_SPEC, MEM_ACCESS_WR, L1D_TLB_WR, L1D_CACHE_WR] },
    Vector {
        name: "V7",
        events: &[
            L1I_TLB, L1I_CACHE, L1I_CACHE_REFILL,
            L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
    Vector { name: "V8", events: &[L1I_TLB, L1I_CACHE, L1I_CACHE_REFILL, L2D_CACHE_RD] },
    Vector { name: "V9", events: &[L1I_TLB, L1I_CACHE] },
    Vector { name: "tlb2 ld", events: &[L2D_TLB_RD, L1D_TLB_REFILL_RD] },
    Vector {
        name: "walk ld",
        events: &[L2D_TLB_RD, DTLB_WALK, L2D_TLB_REFILL_RD, L1D_TLB_REFILL_RD],
    },
    Vector { name: "tlb2 st", events: &[L2D_TLB_WR, L1D_TLB_REFILL_WR] },
    Vector {
        name: "walk st",
        events: &[L2D_TLB_WR, DTLB_WALK, L2D_TLB_REFILL_WR, L1D_TLB_REFILL_WR],
    },
    Vector { name: "tlb2 if", events: &[L2D_TLB_RD, L1I_TLB_REFILL] },
    Vector {
        name: "walk if",
        events: &[L2D_TLB_RD, ITLB_WALK, L2D_TLB_REFILL_RD, L1I_TLB_REFILL],
    },
];

/// Reason why the rows of [`SILICON`] differ, for tables that show both.
pub const SILICON_SOURCE: &str = "Arm Learning Path, PMU events: a refill of the L2 shows as two \
    bus accesses (beats of 32 bytes), a store miss as a read of the L2";

/// Vectors that differ in published counts.
#[rustfmt::skip]
pub const SILICON: [Vector; 4] = [
    Vector {
        name: "V1",
        events: &[
            LD_SPEC, MEM_ACCESS_RD, L1D_TLB_RD,
            L1D_CACHE_RD, L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_OUTER,
            L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD, BUS_ACCESS_RD, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
    Vector {
        name: "V4",
        events: &[
            ST_SPEC, MEM_ACCESS_WR, L1D_TLB_WR,
            L1D_CACHE_WR, L1D_CACHE_REFILL_WR, L1D_CACHE_REFILL_OUTER,
            L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD, BUS_ACCESS_RD, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
    Vector {
        name: "V5",
        events: &[
            ST_SPEC, MEM_ACCESS_WR, L1D_TLB_WR,
            L1D_CACHE_WR, L1D_CACHE_REFILL_WR, L1D_CACHE_REFILL_INNER,
            L2D_CACHE_RD,
        ],
    },
    Vector {
        name: "V7",
        events: &[
            L1I_TLB, L1I_CACHE, L1I_CACHE_REFILL,
            L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD,
            BUS_ACCESS_RD, BUS_ACCESS_RD, LL_CACHE_RD, LL_CACHE_MISS_RD,
        ],
    },
];

/// Returns the vector or add-on called `name`.
pub fn find(name: &str, reading: Reading) -> Option<&'static Vector> {
    let own = match reading {
        Reading::Guide => None,
        Reading::Silicon => SILICON.iter().find(|vector| vector.name == name),
    };
    own.or_else(|| VECTORS.iter().find(|vector| vector.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Counts, EventSink};

    fn counts(name: &str) -> Counts {
        let mut counts = Counts::default();
        for event in find(name, Reading::Guide).expect("the vector is in the table").events {
            counts.raise(*event);
        }
        counts
    }

    #[test]
    fn derived_events_follow_from_the_vectors() {
        let v1 = counts("V1");
        for event in [MEM_ACCESS, L1D_TLB, L1D_CACHE, L1D_CACHE_REFILL, L1D_CACHE_LMISS_RD] {
            assert_eq!(v1.value(event), 1, "{}", event.mnemonic());
        }
        for event in [L2D_CACHE, L2D_CACHE_LMISS_RD, BUS_ACCESS] {
            assert_eq!(v1.value(event), 1, "{}", event.mnemonic());
        }
        assert_eq!(counts("V4").value(BUS_ACCESS), 1);
        assert_eq!(counts("V7").value(L1I_CACHE_LMISS), 1);
        assert_eq!(counts("walk st").value(L1D_TLB_REFILL), 1);
        assert_eq!(counts("walk if").value(L2D_TLB_REFILL), 1);
    }

    #[test]
    fn no_vector_lists_an_event_that_never_counts() {
        for vector in VECTORS.iter().chain(&SILICON) {
            assert!(vector.events.iter().all(|event| !event.never_counts()), "{}", vector.name);
        }
    }
}
