//! The metrics that people take first on this core, with what each says in truth. Figures are measured.

/// A metric of the page.
pub(super) struct Known {
    /// The name under which Linux and Arm publish it.
    pub(super) name: &'static str,
    /// Its formula, in perf's syntax.
    pub(super) formula: &'static str,
    /// perf's ScaleUnit.
    pub(super) scale: &'static str,
    /// The truth that readers take it for.
    pub(super) claims: &'static str,
    /// What it measures.
    pub(super) measures: &'static str,
    /// When that misleads.
    pub(super) misleads: &'static str,
}

const fn known(
    [name, formula, scale, claims]: [&'static str; 4],
    measures: &'static str,
    misleads: &'static str,
) -> Known {
    Known { name, formula, scale, claims, measures, misleads }
}

/// The twenty.
pub(super) const KNOWN: [Known; 20] = [
    known(
        [
            "frontend_bound",
            "100 * (STALL_SLOT_FRONTEND / (CPU_CYCLES * 5) - BR_MIS_PRED / CPU_CYCLES)",
            "1percent of slots",
            "share.frontend",
        ],
        "Empty slots for which the front end had nothing, less one whole cycle for each mispredicted branch.",
        "The refill behind a misprediction is as long as the front end needs: where it costs more than the \
         one cycle that is taken off, the rest stays here and hides in what looks like slow fetch. On r0p0 \
         to r0p2 it is 20 points too high unless CPU_CYCLES is taken off first.",
    ),
    known(
        [
            "backend_bound",
            "100 * (STALL_SLOT_BACKEND / (CPU_CYCLES * 5) - BR_MIS_PRED * 3 / CPU_CYCLES)",
            "1percent of slots",
            "share.backend",
        ],
        "Slots that the back end refused, less three whole cycles for each mispredicted branch.",
        "Where many branches are mispredicted and the back end is not full, it falls below the real share, \
         and below zero.",
    ),
    known(
        [
            "bad_speculation",
            "100 * ((1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (CPU_CYCLES * 5)) + BR_MIS_PRED * 4 / CPU_CYCLES)",
            "1percent of slots",
            "share.bad_speculation",
        ],
        "Slots of operations that were squashed, and four whole cycles for each mispredicted branch.",
        "Four cycles are a guess of what a refill costs. BR_MIS_PRED counts branches on wrong paths too, and \
         branches that decode found in time: they cost less.",
    ),
    known(
        [
            "retiring",
            "(1 - STALL_SLOT / (CPU_CYCLES * 5)) * (OP_RETIRED / OP_SPEC) * 100",
            "1percent of slots",
            "share.retiring",
        ],
        "Slots of operations that retired. Exact: STALL_SLOT and OP_SPEC make up all slots.",
        "Not on this core's r0p3. On r0p0 to r0p2 STALL_SLOT has a surplus slot per cycle: uncorrected, \
         up to 20 points are missing. With one of the events from another run it can be anything.",
    ),
    known(
        ["ipc", "INST_RETIRED / CPU_CYCLES", "1per cycle", "ipc"],
        "Retired instructions per cycle. Exact.",
        "A fused pair is two instructions in one slot, a cracked one takes several: five is not the ceiling \
         for every code. While the core sleeps in WFI the cycles go on.",
    ),
    known(
        ["branch_mpki", "BR_MIS_PRED_RETIRED / INST_RETIRED * 1000", "1MPKI", "branch.mpki"],
        "Retired branches after which the pipeline was flushed. Exact.",
        "It says nothing of what each costs: from ten cycles to as long as the load that decides the branch.",
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
        "An access that waits for a line on its way refills nothing: streams and fields of one line look \
         better than they run. A wide vector access counts several times below the line.",
    ),
    known(
        ["l1d_cache_mpki", "L1D_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l1d.mpki"],
        "Refills that loads and stores caused, for each thousand retired instructions.",
        "The same: who waits for a line on its way is not counted, and what a wrong path brought is.",
    ),
    known(
        ["l1i_cache_mpki", "L1I_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l1i.mpki"],
        "Lines that came into the L1 I-cache, those of the next-line prefetcher included.",
        "Prefetched lines count as refills, so straight code looks worse than it runs; lines that fetch \
         waits for on their way do not count a second time.",
    ),
    known(
        [
            "l2_cache_miss_ratio",
            "L2D_CACHE_REFILL / L2D_CACHE",
            "100percent of cache accesses",
            "l2.miss_ratio",
        ],
        "Refills of the L2 for each access of any kind.",
        "Write-backs of the L1 D-cache are accesses that always hit. By the guide prefetches count on both \
         sides; on silicon on neither, and then a stream shows almost no misses while it moves every line.",
    ),
    known(
        ["l2_cache_mpki", "L2D_CACHE_REFILL / INST_RETIRED * 1000", "1MPKI", "l2.mpki"],
        "Lines that came into the L2, by the guide with those of prefetchers.",
        "A prefetched line is counted whether anything uses it or not; a demand access that meets it on \
         its way is not. On silicon the prefetched ones are missing: take BUS_ACCESS_RD for the traffic.",
    ),
    known(
        [
            "ll_cache_read_miss_ratio",
            "LL_CACHE_MISS_RD / LL_CACHE_RD",
            "100percent of cache accesses",
            "slc.miss_ratio",
        ],
        "Of all lines read from outside of the core, those that the system level cache did not supply.",
        "With CPUECTLR_EL1.EXTLLC clear both events stay 0, and the ratio has no value. Prefetches are in \
         it. It is no level 3 of the core: lines of other cores are misses.",
    ),
    known(
        ["ll_cache_read_mpki", "LL_CACHE_MISS_RD / INST_RETIRED * 1000", "1MPKI", "slc.mpki"],
        "Lines that came from memory, other cores or another chip, prefetched ones included.",
        "The same condition on EXTLLC: 0 then means not counted, not perfect.",
    ),
    known(
        ["dtlb_mpki", "DTLB_WALK / INST_RETIRED * 1000", "1MPKI", "dtlb.walk_pki"],
        "Walks for data, those of prefetches and wrong paths included.",
        "A walk that another access waits for counts once. The walks of prefetchers cost no instruction \
         anything.",
    ),
    known(
        [
            "l1d_tlb_miss_ratio",
            "L1D_TLB_REFILL / L1D_TLB",
            "100percent of TLB accesses",
            "dtlb.miss_ratio",
        ],
        "Refills of the L1 data TLB, prefetches included, for each part of an access.",
        "Prefetches refill without an access of their own: the ratio can pass 1. Accesses that wait for a \
         translation on its way are not counted.",
    ),
    known(
        [
            "l2_tlb_miss_ratio",
            "L2D_TLB_REFILL / L2D_TLB",
            "100percent of TLB accesses",
            "l2tlb.data_miss_ratio",
        ],
        "Refills of the L2 TLB for data and code together.",
        "Despite the D in its name the event is not of data alone: a program with large code and small data \
         shows misses that no load has.",
    ),
    known(
        ["load_percentage", "LD_SPEC / INST_SPEC * 100", "1percent of operations", "mix.loads"],
        "Loads among all executed instructions, those that were thrown away included.",
        "Wrong paths have another mix than the program. Divided by INST_RETIRED the shares add up to more \
         than all; LDST_SPEC never counts on this core.",
    ),
    known(
        [
            "branch_percentage",
            "(BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC * 100",
            "1percent of operations",
            "mix.branches",
        ],
        "Branches among all executed instructions.",
        "The same: behind a mispredicted branch other branches run in vain, and are counted.",
    ),
    known(
        [
            "backend_stalled_cycles",
            "STALL_BACKEND / CPU_CYCLES * 100",
            "1percent of cycles",
            "share.backend",
        ],
        "Cycles in which an operation was there and none was sent on.",
        "It is taken for the share of lost slots, and is not: a cycle that sends one operation of five is no \
         stalled cycle and has lost four slots.",
    ),
];
