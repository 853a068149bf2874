//! The most used metrics on this core, each with its true meaning. Figures are measured.

/// A metric of the page.
pub(super) struct Known {
    /// Name under which Linux and Arm publish it.
    pub(super) name: &'static str,
    /// Formula, in perf's syntax.
    pub(super) formula: &'static str,
    /// Scale and unit (perf's ScaleUnit).
    pub(super) scale: &'static str,
    /// Ground-truth value that readers take it for.
    pub(super) claims: &'static str,
    /// Quantity that it measures.
    pub(super) measures: &'static str,
    /// Conditions under which it misleads.
    pub(super) misleads: &'static str,
}

const fn known(
    [name, formula, scale, claims]: [&'static str; 4],
    measures: &'static str,
    misleads: &'static str,
) -> Known {
    Known { name, formula, scale, claims, measures, misleads }
}

/// The twenty metrics.
pub(super) const KNOWN: [Known; 20] = [
    known(
        [
            "frontend_bound",
            "100 * (STALL_SLOT_FRONTEND / (CPU_CYCLES * 5) - BR_MIS_PRED / CPU_CYCLES)",
            "1percent of slots",
            "share.frontend",
        ],
        "Empty slots for which the front end had no operation, minus one whole cycle for each mispredicted \
         branch.",
        "The length of the refill after a misprediction varies: if it costs more than the one subtracted \
         cycle, the rest stays here and looks like slow fetch. On r0p0 to r0p2 the value is 20 points too \
         high unless CPU_CYCLES is subtracted first.",
    ),
    known(
        [
            "backend_bound",
            "100 * (STALL_SLOT_BACKEND / (CPU_CYCLES * 5) - BR_MIS_PRED * 3 / CPU_CYCLES)",
            "1percent of slots",
            "share.backend",
        ],
        "Slots that the back end refused, minus three whole cycles for each mispredicted branch.",
        "If many branches are mispredicted and the back end is not full, the value falls below the real \
         share, even below zero.",
    ),
    known(
        [
            "bad_speculation",
            "100 * ((1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (CPU_CYCLES * 5)) + BR_MIS_PRED * 4 / CPU_CYCLES)",
            "1percent of slots",
            "share.bad_speculation",
        ],
        "Slots of squashed operations, and four whole cycles for each mispredicted branch.",
        "Four cycles are an estimate of the cost of a refill. BR_MIS_PRED counts branches on wrong paths too, \
         and branches that decode found in time: they cost less.",
    ),
    known(
        [
            "retiring",
            "(1 - STALL_SLOT / (CPU_CYCLES * 5)) * (OP_RETIRED / OP_SPEC) * 100",
            "1percent of slots",
            "share.retiring",
        ],
        "Slots of operations that retired. Exact: STALL_SLOT and OP_SPEC make up all slots.",
        "Not on this core's r0p3. On r0p0 to r0p2 STALL_SLOT has a surplus slot per cycle: uncorrected, up \
         to 20 points are missing. If one of the events is from another run, it can have any value.",
    ),
    known(
        ["ipc", "INST_RETIRED / CPU_CYCLES", "1per cycle", "ipc"],
        "Retired instructions per cycle. Exact.",
        "A fused pair is two instructions in one slot, and a cracked instruction takes several slots: the \
         limit is not five for all code. While the core sleeps in WFI the cycles continue.",
    ),
    known(
        ["branch_mpki", "BR_MIS_PRED_RETIRED / INST_RETIRED * 1000", "1MPKI", "branch.mpki"],
        "Retired branches after which the pipeline was flushed. Exact.",
        "It does not show the cost of each: from ten cycles to the latency of the load that decides the \
         branch.",
    ),
    known(
        [
            "branch_misprediction_ratio",
            "BR_MIS_PRED_RETIRED / BR_RETIRED",
            "100percent of branches",
            "branch.miss_ratio",
        ],
        "Flushes for each retired branch. Exact.",
        "With BR_MIS_PRED over BR_PRED instead, wrong paths are in both, and branches found by decode \
         count as mispredicted.",
    ),
    known(
        [
            "l1d_cache_miss_ratio",
            "L1D_CACHE_REFILL / L1D_CACHE",
            "100percent of cache accesses",
            "l1d.miss_ratio",
        ],
        "Refills for each part of 16 bytes of an access, wrong paths included.",
        "An access that waits for a pending fill refills nothing: streams and fields of one line look better \
         than they perform. A wide vector access counts several times in the denominator.",
    ),
    known(
        ["l1d_cache_mpki", "L1D_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l1d.mpki"],
        "Refills that loads and stores caused, for each thousand retired instructions.",
        "Accesses that wait for a pending fill are not counted, but lines that a wrong path brought are \
         counted.",
    ),
    known(
        ["l1i_cache_mpki", "L1I_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l1i.mpki"],
        "Lines that came into the L1 I-cache, including those of the next-line prefetcher.",
        "Prefetched lines count as refills, so straight code looks worse than it performs; pending lines \
         that fetch waits for do not count a second time.",
    ),
    known(
        [
            "l2_cache_miss_ratio",
            "L2D_CACHE_REFILL / L2D_CACHE",
            "100percent of cache accesses",
            "l2.miss_ratio",
        ],
        "Refills of the L2 for each access of any kind.",
        "Write-backs of the L1 D-cache are accesses that always hit. By the guide, prefetches count on both \
         sides. On silicon they count on neither, so a stream shows almost no misses although it moves every \
         line.",
    ),
    known(
        ["l2_cache_mpki", "L2D_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l2.mpki"],
        "Lines that came into the L2, by the guide with those of prefetchers.",
        "A prefetched line is counted whether it is used or not; a demand access that waits for it is not. \
         On silicon, prefetched lines are missing: use BUS_ACCESS_RD for the traffic.",
    ),
    known(
        [
            "ll_cache_read_miss_ratio",
            "LL_CACHE_MISS_RD / LL_CACHE_RD",
            "100percent of cache accesses",
            "slc.miss_ratio",
        ],
        "Share of the lines read from outside of the core that the system level cache did not supply.",
        "With CPUECTLR_EL1.EXTLLC clear both events stay 0, and the ratio has no value. It includes \
         prefetches. The cache is not a level 3 of the core: lines of other cores are misses.",
    ),
    known(
        ["ll_cache_read_mpki", "LL_CACHE_MISS_RD / INST_RETIRED * 1000", "1MPKI", "slc.mpki"],
        "Lines that came from memory, other cores or another chip, prefetched ones included.",
        "With EXTLLC clear, 0 means that nothing was counted, not that nothing missed.",
    ),
    known(
        ["dtlb_mpki", "DTLB_WALK / INST_RETIRED * 1000", "1MPKI", "dtlb.walk_pki"],
        "Walks for data, including those of prefetches and wrong paths.",
        "A walk that another access waits for counts once. The walks of prefetchers delay no instruction.",
    ),
    known(
        [
            "l1d_tlb_miss_ratio",
            "L1D_TLB_REFILL / L1D_TLB",
            "100percent of TLB accesses",
            "dtlb.miss_ratio",
        ],
        "Refills of the L1 data TLB, prefetches included, for each part of an access.",
        "Prefetches refill without an access of their own: the ratio can exceed 1. Accesses that wait for a \
         pending translation are not counted.",
    ),
    known(
        [
            "l2_tlb_miss_ratio",
            "L2D_TLB_REFILL / L2D_TLB",
            "100percent of TLB accesses",
            "l2tlb.data_miss_ratio",
        ],
        "Refills of the L2 TLB for data and code together.",
        "Despite the D in its name the event also counts code: a program with large code and small data shows \
         misses that no load has.",
    ),
    known(
        ["load_percentage", "LD_SPEC / INST_SPEC * 100", "1percent of operations", "mix.loads"],
        "Loads among all executed instructions, including squashed ones.",
        "Wrong paths have another mix than the program. Divided by INST_RETIRED the shares add up to more \
         than 100 %; LDST_SPEC never counts on this core.",
    ),
    known(
        [
            "branch_percentage",
            "(BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC * 100",
            "1percent of operations",
            "mix.branches",
        ],
        "Branches among all executed instructions.",
        "Branches on the wrong path after a mispredicted branch are counted too.",
    ),
    known(
        [
            "backend_stalled_cycles",
            "STALL_BACKEND / CPU_CYCLES * 100",
            "1percent of cycles",
            "share.backend",
        ],
        "Cycles in which an operation was there and none was sent on.",
        "It is not the share of lost slots: a cycle that sends one operation of five is not a stalled cycle \
         and has lost four slots.",
    ),
];
