//! Common mistakes with single events, one row each. Source: the sections of the PMU guide that the
//! events name, and the choices of `docs/decisions.md` where the guide is silent.

use sim_core::PmuEvent;
use sim_core::pmu_event::PmuEvent::*;

/// Pitfall of some events.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) events: &'static [PmuEvent],
    pub(super) text: &'static str,
}

const fn row(title: &'static str, events: &'static [PmuEvent], text: &'static str) -> Row {
    Row { title, events, text }
}

/// Events to count in place of an event that never counts.
pub(super) const INSTEAD: [(PmuEvent, &str); 8] = [
    (
        L2D_CACHE_ALLOCATE,
        "lines written whole without being read are in L2D_CACHE_REFILL and not in L2D_CACHE_REFILL_RD",
    ),
    (L3D_CACHE_ALLOCATE, "the core has no L3 cache: LL_CACHE_RD counts reads that leave it"),
    (
        L3D_CACHE_REFILL,
        "the core has no L3 cache: LL_CACHE_MISS_RD counts reads that the system level cache did not serve",
    ),
    (L3D_CACHE, "the core has no L3 cache: LL_CACHE_RD counts reads that leave it"),
    (
        L2D_CACHE_REFILL_WR,
        "a store that misses the L2 reads its line first and is in L2D_CACHE_REFILL_RD",
    ),
    (LDST_SPEC, "take LD_SPEC + ST_SPEC, but both count an atomic with a result"),
    (L3_CACHE_RD, "the core has no L3 cache: LL_CACHE_RD counts reads that leave it"),
    (
        L3D_CACHE_LMISS_RD,
        "the core has no L3 cache: LL_CACHE_MISS_RD counts reads that the system level cache did not serve",
    ),
];

/// Events for which profile `silicon` follows published counts or sizes and not the guide.
/// `configs/neoverse-n2-silicon.toml` has the keys and their sources.
pub(super) const SILICON: &[Row] = &[
    row(
        "",
        &[L2D_CACHE_RD, L2D_CACHE_WR],
        "published counts of an N2 count a store that misses the L1 in L2D_CACHE_RD, and only write-backs, DC ZVA and streamed writes in L2D_CACHE_WR; the guide's flow 5.8 counts the store in L2D_CACHE_WR (semantics.store-miss-l2)",
    ),
    row(
        "",
        &[BUS_ACCESS, BUS_ACCESS_RD, BUS_ACCESS_WR],
        "published counts of an N2 show two for each line of 64 bytes, one for each beat of 32 bytes; the guide counts transactions, one for each line (semantics.bus-unit)",
    ),
    row(
        "",
        &[BUS_ACCESS_RD, BUS_ACCESS_WR],
        "if a store that misses the L2 is a read of the L2, it is a read of the bus as well (semantics.store-miss-l2)",
    ),
    row(
        "",
        &[L2D_CACHE, L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD],
        "published counts of an N2 leave out requests of prefetchers; by the guide each is an access and a refill (semantics.prefetch-counts-in-l2)",
    ),
    row(
        "",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR],
        "the guide says 40 entries, quotations of the reference manual say 44 (memory.dtlb.entries)",
    ),
    row(
        "",
        &[L2D_TLB_REFILL, L2D_TLB_REFILL_RD, L2D_TLB_REFILL_WR, DTLB_WALK, ITLB_WALK],
        "the guide says 2048 entries in 4 ways, quotations of the reference manual say 1280 in 5 (memory.l2-tlb)",
    ),
];

/// Pitfalls, by group of events.
pub(super) const PITFALLS: &[Row] = &[
    // Translation.
    row(
        "more refills than accesses",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR],
        "preloads and prefetches refill the TLB and are not accesses of L1D_TLB, so the ratio is not a miss ratio of loads and stores, and can exceed 100 %",
    ),
    row(
        "no walk",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR, L1I_TLB_REFILL],
        "most refills come from the L2 TLB in a few cycles; the expensive ones are in DTLB_WALK and ITLB_WALK",
    ),
    row(
        "fewer than misses",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR, L1I_TLB_REFILL],
        "several accesses to one missing page share one refill, and a walk that ends in a fault refills nothing",
    ),
    row(
        "data and code",
        &[L2D_TLB, L2D_TLB_RD, L2D_TLB_REFILL, L2D_TLB_REFILL_RD],
        "the L2 TLB serves both data and fetches, in spite of the D in the name; a fetch counts as a read",
    ),
    row(
        "faults walk",
        &[DTLB_WALK, ITLB_WALK],
        "a walk that finds no translation counts here, but refills nothing",
    ),
    row(
        "stage 2",
        &[DTLB_WALK],
        "with two stages the address of a descriptor may need its own walk: that counts here even if a fetch began it",
    ),
    row(
        "one walk for many",
        &[DTLB_WALK, ITLB_WALK],
        "accesses to a page whose walk is pending wait, and add no walk",
    ),
    row(
        "which registers",
        &[TTBR_WRITE_RETIRED],
        "a write to TTBR0_EL2 or TTBR1_EL2 by that name does not count",
    ),
    row(
        "which registers",
        &[CID_WRITE_RETIRED],
        "a write to CONTEXTIDR_EL2 by that name does not count",
    ),
    // L1 D-cache.
    row(
        "lower than misses",
        &[
            L1D_CACHE_REFILL,
            L1D_CACHE_REFILL_RD,
            L1D_CACHE_REFILL_WR,
            L1D_CACHE_REFILL_INNER,
            L1D_CACHE_REFILL_OUTER,
        ],
        "counts lines brought in, not accesses that wait: of several accesses to a pending line only the first counts, and none counts for a line that a prefetch or preload brought in",
    ),
    row(
        "not only long misses",
        &[L1D_CACHE_LMISS_RD],
        "the architecture defines misses of long latency; on this core every read refill counts, even one that the L2 serves in ten cycles",
    ),
    row(
        "not only long misses",
        &[L1I_CACHE_LMISS],
        "the architecture defines misses of long latency; on this core every refill counts",
    ),
    row(
        "not only long misses",
        &[L2D_CACHE_LMISS_RD],
        "the architecture defines misses of long latency; on this core every read refill counts",
    ),
    row(
        "accesses, not instructions",
        &[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR, L1D_TLB, L1D_TLB_RD, L1D_TLB_WR],
        "an instruction that crosses two lines counts twice, a pair or structure once for each 16 bytes",
    ),
    row(
        "atomics count twice",
        &[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR, L1D_TLB],
        "an atomic performed in the caches counts once as a read and once as a write",
    ),
    row(
        "stores write late",
        &[L1D_CACHE_WR, L1D_CACHE_REFILL_WR],
        "a store looks up the cache after it retires, so stores on wrong paths do not count here, although ST_SPEC counts them",
    ),
    row(
        "forwarded loads",
        &[L1D_CACHE_RD, L1D_CACHE],
        "a load that takes its data from an older store in the store queue still looks up the cache and counts",
    ),
    row(
        "\"clean\" is a verb",
        &[L1D_CACHE_WB_CLEAN, L2D_CACHE_WB_CLEAN],
        "these are write-backs caused by a clean operation or a snoop; clean lines are never written back",
    ),
    row(
        "clean victims",
        &[L1D_CACHE_WB, L1D_CACHE_WB_VICTIM],
        "the eviction of a clean line moves no data and counts nowhere",
    ),
    row(
        "explicit ones only",
        &[L1D_CACHE_INVAL, L2D_CACHE_INVAL],
        "an eviction that makes room for another line is not an invalidation, nor is an invalidation by set and way",
    ),
    // L1 I-cache.
    row(
        "not instructions",
        &[L1I_CACHE, L1I_TLB],
        "counts fetches of up to a line, not instructions: straight-line code of four-byte instructions counts one for sixteen",
    ),
    row(
        "prefetches count",
        &[L1I_CACHE, L1I_CACHE_REFILL, L1I_TLB],
        "prefetched lines count as accesses and refills here, unlike in L1D_CACHE_REFILL",
    ),
    // L2.
    row(
        "unified",
        &[L2D_CACHE, L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD],
        "the L2 holds both data and code: fetches that miss the L1 I-cache count here",
    ),
    row(
        "write-backs count",
        &[L2D_CACHE, L2D_CACHE_WR],
        "a modified line that leaves the L1 is written to the L2 and counts, so L2D_CACHE is not the number of L1 misses",
    ),
    row(
        "stores are read",
        &[L2D_CACHE_REFILL_RD, L2D_CACHE_REFILL],
        "a store that misses reads its line: it counts in the read refills",
    ),
    row(
        "more than its read half",
        &[L2D_CACHE_REFILL],
        "a stash and a fully written line are allocated without a read, so REFILL can exceed REFILL_RD",
    ),
    row(
        "no clean victims",
        &[L2D_CACHE_WB, L2D_CACHE_WB_VICTIM],
        "clean lines move to the system level cache uncounted (semantics.clean-victims-count)",
    ),
    // Last level, bus, memory.
    row(
        "not memory",
        &[LL_CACHE_MISS_RD],
        "data from a core of another cluster or another chip is a miss here as well: this is not the number of memory reads",
    ),
    row(
        "stores count",
        &[LL_CACHE_RD, LL_CACHE_MISS_RD],
        "a store that misses the L2 reads its line and counts as a read; prefetches count too",
    ),
    row(
        "other chips only",
        &[REMOTE_ACCESS],
        "counts data from another chip, not from another core on the same chip",
    ),
    row(
        "more than its halves",
        &[BUS_ACCESS],
        "incoming snoops and their responses are neither reads nor writes: only the sum counts them",
    ),
    row(
        "stores are writes",
        &[BUS_ACCESS_RD, BUS_ACCESS_WR],
        "by flow 5.8 a store that misses the L2 is a write of the bus, although it reads its line; more bytes are read than BUS_ACCESS_RD lines",
    ),
    row(
        "not the L2",
        &[MEMORY_ERROR],
        "errors of the L2 RAMs are reported elsewhere and never counted here",
    ),
    row(
        "accesses, not instructions",
        &[MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR],
        "an access that crosses two lines counts twice, a pair or structure once for each 16 bytes",
    ),
    row(
        "not main memory",
        &[MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR],
        "every load and store counts, even if it hits the L1; LL_CACHE_MISS_RD is close to the number of memory reads",
    ),
    row(
        "other name",
        &[MEM_ACCESS_RD_CHECKED, MEM_ACCESS_WR_CHECKED],
        "other lists put the direction last: MEM_ACCESS_CHECKED_RD and MEM_ACCESS_CHECKED_WR",
    ),
    // Pipeline.
    row(
        "erratum",
        &[STALL_SLOT, STALL_SLOT_FRONTEND],
        "revisions r0p0 to r0p2 count one slot too many in every cycle: subtract CPU_CYCLES there (core.revision)",
    ),
    row(
        "five in a cycle",
        &[STALL_SLOT, STALL_SLOT_FRONTEND, STALL_SLOT_BACKEND],
        "divide by 5 x CPU_CYCLES, not by CPU_CYCLES; OP_SPEC + STALL_SLOT equals all slots",
    ),
    row(
        "whole cycles only",
        &[STALL, STALL_FRONTEND, STALL_BACKEND],
        "a cycle that dispatches one operation of five is not a stall here; its four empty slots are in STALL_SLOT",
    ),
    row(
        "includes mispredictions",
        &[STALL_FRONTEND, STALL_SLOT_FRONTEND],
        "the refill after a mispredicted branch leaves the front end empty: the cost of bad speculation is counted here",
    ),
    row(
        "front end first",
        &[STALL_FRONTEND, STALL_BACKEND, STALL_SLOT_BACKEND],
        "a slot without an operation counts for the front end even if the back end could not have accepted one",
    ),
    row(
        "L2 misses only",
        &[STALL_BACKEND_MEM],
        "requires a pending L2 miss outside the core: waiting for data from the L2 does not count",
    ),
    // Instructions.
    row(
        "instructions or operations",
        &[INST_RETIRED, INST_SPEC, OP_RETIRED, OP_SPEC],
        "an operation takes a rename slot: a complex instruction becomes several, and a fused pair of instructions one",
    ),
    row(
        "taken ones only",
        &[PC_WRITE_SPEC],
        "a branch that is not taken does not change the PC and does not count; exception-generating instructions count",
    ),
    row(
        "not PMULL",
        &[CRYPTO_SPEC],
        "the polynomial multiply that GCM uses counts as Advanced SIMD",
    ),
    row(
        "integer only",
        &[DP_SPEC],
        "address arithmetic inside loads and stores does not count, nor does work in vector registers",
    ),
    row(
        "speculative counts of barriers",
        &[ISB_SPEC, DSB_SPEC, DMB_SPEC],
        "acquire and release instructions imply an order and count in RC_LD_SPEC and RC_ST_SPEC",
    ),
    row(
        "atomics",
        &[LD_SPEC, ST_SPEC],
        "every atomic counts in ST_SPEC, and an atomic that returns a result in LD_SPEC as well",
    ),
    row(
        "split or not",
        &[UNALIGNED_LD_SPEC, UNALIGNED_ST_SPEC, UNALIGNED_LDST_SPEC],
        "depends only on the address: most unaligned accesses cost nothing; those with a cost are in LD_ALIGN_LAT and ST_ALIGN_LAT",
    ),
    row(
        "which accesses cost",
        &[LD_ALIGN_LAT, LDST_ALIGN_LAT],
        "a load costs a cycle at the end of a line (with 16-byte registers also at addresses that are not a multiple of four)",
    ),
    row(
        "which accesses cost",
        &[ST_ALIGN_LAT, LDST_ALIGN_LAT],
        "a store costs a cycle only at the end of a page, even if it crosses lines",
    ),
    row(
        "fail is not a fault",
        &[STREX_FAIL_SPEC, STREX_SPEC],
        "a store-exclusive fails after it has lost its reservation: many failures mean contention for a lock",
    ),
    // Branches.
    row(
        "not the predicted ones",
        &[BR_PRED],
        "counts every branch, well predicted or not; the correctly predicted ones are BR_PRED - BR_MIS_PRED",
    ),
    row(
        "more than flushes",
        &[BR_MIS_PRED],
        "counts branches on wrong paths, and branches that decode found because no BTB knew them; pipeline flushes are BR_MIS_PRED_RETIRED",
    ),
    row(
        "exception returns",
        &[BR_RETIRED],
        "ERET and instructions that generate exceptions are not branches here, though BR_INDIRECT_SPEC counts ERET",
    ),
    row(
        "includes returns",
        &[BR_INDIRECT_SPEC],
        "RET is an indirect branch: subtract BR_RETURN_SPEC for calls and jumps through registers",
    ),
    // Exceptions.
    row(
        "local or not",
        &[EXC_UNDEF, EXC_SVC, EXC_PABORT, EXC_DABORT, EXC_IRQ, EXC_FIQ],
        "counts exceptions taken at EL1, or at EL2 if it hosts the programs; others are in EXC_TRAP_* or in EXC_TAKEN alone",
    ),
    row(
        "local or not",
        &[EXC_TRAP_PABORT, EXC_TRAP_DABORT, EXC_TRAP_OTHER, EXC_TRAP_IRQ, EXC_TRAP_FIQ],
        "counts exceptions taken at a level that is not local; the same condition taken at EL1 is in the event without TRAP",
    ),
    row(
        "more than its kinds",
        &[EXC_TAKEN],
        "no other event counts an SVC or HVC that is not taken locally, nor a trapped SMC",
    ),
    row(
        "not only undefined",
        &[EXC_UNDEF, EXC_TRAP_OTHER],
        "counts every synchronous exception without its own event: traps of system registers, breakpoints, alignment of PC and SP",
    ),
    row(
        "calls do not pair",
        &[EXC_RETURN],
        "a trace of a program does not contain the kernel: exceptions are taken and no return is seen",
    ),
    row(
        "taken at their level",
        &[EXC_SMC, EXC_HVC],
        "a call that a higher level traps is in EXC_TAKEN alone",
    ),
    // Clocks and software.
    row(
        "counts during sleep",
        &[CPU_CYCLES, BUS_CYCLES],
        "counts in WFI and WFE as well; CNT_CYCLES stops there",
    ),
    row(
        "not the bus",
        &[BUS_CYCLES],
        "the interface runs at the core clock: the count does not show how busy the interconnect is",
    ),
    row(
        "slow clock",
        &[CNT_CYCLES],
        "counts ticks of the system counter, not of the core; a short window may see one tick more or less",
    ),
    row(
        "which counter",
        &[SW_INCR],
        "a write of PMSWINC_EL0 selects counters by bits: only those count, if they are programmed to this event",
    ),
    // Vectors.
    row(
        "instructions or operations",
        &[ASE_SPEC, ASE_INST_SPEC],
        "ASE_SPEC counts instructions, ASE_INST_SPEC the operations that they became",
    ),
    row(
        "no loads and moves",
        &[ASE_SPEC, VFP_SPEC, SVE_INST_SPEC, ASE_INST_SPEC],
        "loads, stores and plain moves of vector registers are in none of these: together these events are not the share of vector instructions",
    ),
    row(
        "not flops",
        &[FP_HP_SPEC, FP_SP_SPEC, FP_DP_SPEC],
        "counts operations, whatever the number of elements; elements are in FP_FIXED_OPS_SPEC and FP_SCALE_OPS_SPEC",
    ),
    row(
        "predicates are ignored",
        &[FP_SCALE_OPS_SPEC],
        "counts every element of the vector, including those that the predicate disables",
    ),
    row(
        "two for a multiply-add",
        &[FP_SCALE_OPS_SPEC, FP_FIXED_OPS_SPEC],
        "a fused multiply-add counts two for each element",
    ),
    row(
        "governed ones only",
        &[
            SVE_PRED_SPEC,
            SVE_PRED_EMPTY_SPEC,
            SVE_PRED_FULL_SPEC,
            SVE_PRED_PARTIAL_SPEC,
            SVE_PRED_NOT_FULL_SPEC,
        ],
        "an SVE instruction without a governing predicate counts in none of them",
    ),
    row(
        "first faults are not aborts",
        &[SVE_LDFF_FAULT_SPEC, SVE_LDFF_SPEC],
        "a load that loses elements clears bits of FFR and raises no exception",
    ),
    row(
        "largest type",
        &[ASE_SVE_INT8_SPEC, ASE_SVE_INT16_SPEC, ASE_SVE_INT32_SPEC, ASE_SVE_INT64_SPEC],
        "a widening operation counts by its wider type",
    ),
    row(
        "one kind of lock",
        &[LDREX_SPEC, STREX_SPEC],
        "single-instruction atomics (LSE) do not count: code built for them shows none",
    ),
    // Profiling.
    row(
        "records are fewer",
        &[SAMPLE_FEED, SAMPLE_FILTRATE],
        "a sample may be filtered, squashed with its path, or lost to a full buffer: use the records in the buffer",
    ),
    row(
        "collision bias",
        &[SAMPLE_COLLISION],
        "a sample that is due while the previous one is in flight is lost: short intervals lose the neighbors of slow operations",
    ),
    row(
        "the whole population",
        &[SAMPLE_POP],
        "counts operations, including wrong paths: divide records by it for the real sampling rate",
    ),
];
