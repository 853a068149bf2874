//! Events that formulas for other cores name, and the closest alternative on this core.
//!
//! Source of the names: the common event numbers of the Arm architecture that the N2 does not have
//! (its PMU guide, chapter 4).

/// Event that this core does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Name on other cores.
    pub name: &'static str,
    /// Alternative on this core.
    pub remedy: &'static str,
}

const fn foreign(name: &'static str, remedy: &'static str) -> Foreign {
    Foreign { name, remedy }
}

const NO_L3: &str = "LL_CACHE_RD counts reads of the system level cache";
const ONLY_MEM: &str = "only STALL_BACKEND_MEM splits back-end stalls here";
const NO_SPLIT: &str = "nothing splits front-end stalls here";
const NO_LATENCY: &str = "no event adds up latencies here; SPE samples them";
const NO_PREFETCH: &str = "prefetches are not counted separately here";
const NO_HITS: &str = "subtract the refills from the accesses";

const FOREIGN: &[Foreign] = &[
    foreign("LD_RETIRED", "LD_SPEC counts loads, including those on wrong paths"),
    foreign("ST_RETIRED", "ST_SPEC counts stores, including those on wrong paths"),
    foreign("PC_WRITE_RETIRED", "BR_RETIRED counts branches"),
    foreign("BR_IMMED_RETIRED", "BR_IMMED_SPEC counts them, including those on wrong paths"),
    foreign("BR_IND_RETIRED", "BR_INDIRECT_SPEC counts them, including those on wrong paths"),
    foreign("BR_RETURN_RETIRED", "BR_RETURN_SPEC counts them, including those on wrong paths"),
    foreign("BR_PRED_RETIRED", "subtract BR_MIS_PRED_RETIRED from BR_RETIRED"),
    foreign(
        "UNALIGNED_LDST_RETIRED",
        "UNALIGNED_LDST_SPEC counts them, including those on wrong paths",
    ),
    foreign("L1D_CACHE_ALLOCATE", "L1D_CACHE_REFILL counts lines that accesses refilled"),
    foreign("L1D_CACHE_MISS", "L1D_CACHE_REFILL counts lines that accesses refilled"),
    foreign("L2D_CACHE_MISS", "L2D_CACHE_REFILL counts refilled lines"),
    foreign("L2I_CACHE", "the L2 is unified: L2D_CACHE"),
    foreign("L2I_CACHE_REFILL", "the L2 is unified: L2D_CACHE_REFILL"),
    foreign("L2I_TLB", "the L2 TLB is unified: L2D_TLB"),
    foreign("L2I_TLB_REFILL", "the L2 TLB is unified: L2D_TLB_REFILL"),
    foreign("LL_CACHE", NO_L3),
    foreign(
        "LL_CACHE_MISS",
        "LL_CACHE_MISS_RD counts reads that the system level cache did not serve",
    ),
    foreign("LL_CACHE_REFILL", NO_L3),
    foreign("REMOTE_ACCESS_RD", "REMOTE_ACCESS counts reads and writes"),
    foreign("UOP_SPEC", "OP_SPEC counts operations at rename"),
    foreign("UOP_RETIRED", "OP_RETIRED counts operations at rename"),
    foreign("FP_SPEC", "VFP_SPEC, ASE_SPEC and SVE_INST_SPEC count by instruction set"),
    foreign("INT_SPEC", "DP_SPEC counts integer instructions"),
    foreign("BR_SPEC", "BR_IMMED_SPEC + BR_INDIRECT_SPEC are all branches"),
    foreign("MEM_ACCESS_RD_PERCYC", NO_LATENCY),
    foreign("INST_FETCH_PERCYC", NO_LATENCY),
    foreign("DTLB_WALK_PERCYC", NO_LATENCY),
    foreign("ITLB_WALK_PERCYC", NO_LATENCY),
    foreign("L1D_CACHE_REFILL_PERCYC", NO_LATENCY),
    foreign("L2D_CACHE_REFILL_PERCYC", NO_LATENCY),
    foreign("INST_FETCH", "L1I_CACHE counts fetches from the L1 I-cache"),
    foreign("DTLB_STEP", "DTLB_WALK counts walks, not their steps"),
    foreign("ITLB_STEP", "ITLB_WALK counts walks, not their steps"),
    foreign("L1D_CACHE_RW", "L1D_CACHE counts reads and writes"),
    foreign("L1D_TLB_RW", "L1D_TLB counts reads and writes"),
    foreign("L2D_CACHE_RW", "L2D_CACHE counts reads and writes"),
    foreign("L1D_CACHE_PRFM", NO_PREFETCH),
    foreign("L1D_CACHE_HWPRF", NO_PREFETCH),
    foreign("L2D_CACHE_HWPRF", NO_PREFETCH),
    foreign("L1D_CACHE_REFILL_HWPRF", NO_PREFETCH),
    foreign("L2D_CACHE_REFILL_HWPRF", NO_PREFETCH),
    foreign("L1D_CACHE_HIT", NO_HITS),
    foreign("L2D_CACHE_HIT", NO_HITS),
    foreign("L1D_CACHE_HIT_RD", NO_HITS),
    foreign("L2D_CACHE_HIT_RD", NO_HITS),
    foreign("STALL_FRONTEND_MEMBOUND", NO_SPLIT),
    foreign("STALL_FRONTEND_L1I", NO_SPLIT),
    foreign("STALL_FRONTEND_MEM", NO_SPLIT),
    foreign("STALL_FRONTEND_TLB", NO_SPLIT),
    foreign("STALL_FRONTEND_CPUBOUND", NO_SPLIT),
    foreign("STALL_FRONTEND_FLOW", NO_SPLIT),
    foreign("STALL_FRONTEND_FLUSH", NO_SPLIT),
    foreign("STALL_BACKEND_MEMBOUND", ONLY_MEM),
    foreign("STALL_BACKEND_L1D", ONLY_MEM),
    foreign("STALL_BACKEND_L2D", ONLY_MEM),
    foreign("STALL_BACKEND_TLB", ONLY_MEM),
    foreign("STALL_BACKEND_ST", ONLY_MEM),
    foreign("STALL_BACKEND_CPUBOUND", ONLY_MEM),
    foreign("STALL_BACKEND_BUSY", ONLY_MEM),
    foreign("STALL_BACKEND_ILOCK", ONLY_MEM),
    foreign("STALL_BACKEND_RENAME", ONLY_MEM),
    foreign("BUS_ACCESS_LD", "here it is called BUS_ACCESS_RD"),
    foreign("BUS_ACCESS_ST", "here it is called BUS_ACCESS_WR"),
];

/// Returns the event of other Arm cores with this name.
pub fn from_name(name: &str) -> Option<Foreign> {
    FOREIGN.iter().find(|foreign| foreign.name.eq_ignore_ascii_case(name)).copied()
}

/// Returns whether the name has the form of Intel's and AMD's event lists: a unit mask after a dot,
/// or a leading topic.
pub fn is_of_x86(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let has_mask = upper.split_once('.').is_some_and(|(head, mask)| {
        head.starts_with(|c: char| c.is_ascii_alphabetic()) && !mask.is_empty()
    });
    let heads = ["UOPS_", "IDQ_", "CPU_CLK_UNHALTED", "EX_RET_", "LS_", "TOPDOWN-", "OFFCORE_"];
    has_mask || heads.iter().any(|head| upper.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::PmuEvent;

    #[test]
    fn no_event_of_this_core_is_foreign() {
        for foreign in FOREIGN {
            assert!(PmuEvent::from_name(foreign.name).is_err(), "{}", foreign.name);
        }
        assert!(PmuEvent::ALL.iter().all(|event| !is_of_x86(event.mnemonic())));
        assert!(is_of_x86("INST_RETIRED.ANY") && is_of_x86("topdown-retiring"));
        assert!(!is_of_x86("l1d_cach") && !is_of_x86("1.5"));
    }
}
