//! What is easily misread in single events, one row each. Source: the sections of the PMU guide that the events
//! name, and the choices of `docs/decisions.md` where the guide is silent.

use sim_core::PmuEvent;
use sim_core::pmu_event::PmuEvent::*;

/// A pitfall of some events.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) events: &'static [PmuEvent],
    pub(super) text: &'static str,
}

const fn row(title: &'static str, events: &'static [PmuEvent], text: &'static str) -> Row {
    Row { title, events, text }
}

/// What to count in place of an event that never counts.
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
    (LDST_SPEC, "take LD_SPEC + ST_SPEC, and mind that an atomic with a result is in both"),
    (L3_CACHE_RD, "the core has no L3 cache: LL_CACHE_RD counts reads that leave it"),
    (
        L3D_CACHE_LMISS_RD,
        "the core has no L3 cache: LL_CACHE_MISS_RD counts reads that the system level cache did not serve",
    ),
];

/// Where profile `silicon` follows published counts or sizes and not the guide. The keys are in
/// `configs/neoverse-n2-silicon.toml`, with their sources.
pub(super) const SILICON: &[Row] = &[
    row(
        "",
        &[L2D_CACHE_RD, L2D_CACHE_WR],
        "published counts of an N2 show a store that misses the L1 as L2D_CACHE_RD, and only write-backs, DC ZVA and streamed writes as L2D_CACHE_WR; the guide's flow 5.8 says L2D_CACHE_WR (semantics.store-miss-l2)",
    ),
    row(
        "",
        &[BUS_ACCESS, BUS_ACCESS_RD, BUS_ACCESS_WR],
        "published counts of an N2 show two for each line of 64 bytes, one for each beat of 32; the guide speaks of transactions, one for a line (semantics.bus-unit)",
    ),
    row(
        "",
        &[BUS_ACCESS_RD, BUS_ACCESS_WR],
        "where a store that misses the L2 is a read of the L2, it is a read of the bus as well (semantics.store-miss-l2)",
    ),
    row(
        "",
        &[L2D_CACHE, L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD],
        "published counts of an N2 leave out what a prefetcher asked for; by the guide it is an access and a refill like any other (semantics.prefetch-counts-in-l2)",
    ),
    row(
        "",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR],
        "the guide says 40 entries, the reference manual as it is quoted says 44 (memory.dtlb.entries)",
    ),
    row(
        "",
        &[L2D_TLB_REFILL, L2D_TLB_REFILL_RD, L2D_TLB_REFILL_WR, DTLB_WALK, ITLB_WALK],
        "the guide says 2048 entries in 4 ways, the reference manual as it is quoted says 1280 in 5 (memory.l2-tlb)",
    ),
];

/// The rows, by group.
pub(super) const PITFALLS: &[Row] = &[
    // Translation.
    row(
        "more refills than accesses",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR],
        "preloads and prefetches refill the TLB and are no accesses of L1D_TLB, so the ratio is not a miss ratio of loads and stores, and may pass 100 %",
    ),
    row(
        "no walk",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR, L1I_TLB_REFILL],
        "most refills come from the L2 TLB in a few cycles; what costs is DTLB_WALK and ITLB_WALK",
    ),
    row(
        "fewer than misses",
        &[L1D_TLB_REFILL, L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR, L1I_TLB_REFILL],
        "several accesses to one missing page wait for one refill, and a walk that ends in a fault refills nothing",
    ),
    row(
        "both sides",
        &[L2D_TLB, L2D_TLB_RD, L2D_TLB_REFILL, L2D_TLB_REFILL_RD],
        "the L2 TLB is one for data and fetches, whatever the D in the name says; a fetch counts as a read",
    ),
    row(
        "faults walk",
        &[DTLB_WALK, ITLB_WALK],
        "a walk that finds no translation counts here, but refills nothing",
    ),
    row(
        "stage 2",
        &[DTLB_WALK],
        "with two stages the address of a descriptor may need a walk of its own: that counts here even if a fetch began it",
    ),
    row(
        "one walk for many",
        &[DTLB_WALK, ITLB_WALK],
        "accesses that miss the same page while it is looked for wait, and add no walk",
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
        "counts lines brought, not accesses that had to wait: of several accesses to a line in flight the first one counts, and a line that a prefetch or preload brought counts for nobody",
    ),
    row(
        "not the long ones",
        &[L1D_CACHE_LMISS_RD],
        "the architecture means misses of long latency; on this core it is every read refill, also one that the L2 serves in ten cycles",
    ),
    row(
        "not the long ones",
        &[L1I_CACHE_LMISS],
        "the architecture means misses of long latency; on this core it is every refill",
    ),
    row(
        "not the long ones",
        &[L2D_CACHE_LMISS_RD],
        "the architecture means misses of long latency; on this core it is every read refill",
    ),
    row(
        "accesses, not instructions",
        &[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR, L1D_TLB, L1D_TLB_RD, L1D_TLB_WR],
        "an instruction over two lines counts twice, a pair or structure once for each 16 bytes",
    ),
    row(
        "an atomic is two",
        &[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR, L1D_TLB],
        "an atomic done in the caches reads and writes: one in each half",
    ),
    row(
        "stores write late",
        &[L1D_CACHE_WR, L1D_CACHE_REFILL_WR],
        "a store looks up the cache after it has retired, so stores of wrong paths are not in it, although ST_SPEC has them",
    ),
    row(
        "forwarded loads",
        &[L1D_CACHE_RD, L1D_CACHE],
        "a load that takes its data from an older store in the store queue still looks up the cache and counts",
    ),
    row(
        "clean is a verb",
        &[L1D_CACHE_WB_CLEAN, L2D_CACHE_WB_CLEAN],
        "these are write-backs because somebody cleaned or snooped the line; clean lines are never written back",
    ),
    row(
        "clean victims",
        &[L1D_CACHE_WB, L1D_CACHE_WB_VICTIM],
        "the eviction of a line that was never written moves nothing and counts nowhere",
    ),
    row(
        "explicit ones only",
        &[L1D_CACHE_INVAL, L2D_CACHE_INVAL],
        "a line that leaves because another one needs its place is no invalidation, nor is one by set and way",
    ),
    // L1 I-cache.
    row(
        "not instructions",
        &[L1I_CACHE, L1I_TLB],
        "counts fetches of up to a line, not instructions: straight code of four-byte instructions gives one for sixteen",
    ),
    row(
        "prefetches count",
        &[L1I_CACHE, L1I_CACHE_REFILL, L1I_TLB],
        "on this side prefetched lines are accesses and refills like any other, unlike in L1D_CACHE_REFILL",
    ),
    // L2.
    row(
        "unified",
        &[L2D_CACHE, L2D_CACHE_RD, L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD],
        "the L2 is one for data and code: fetches that miss the L1 I-cache are in it",
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
        "a stash and a line written whole are allocated without being read, so REFILL can exceed REFILL_RD",
    ),
    row(
        "no clean victims",
        &[L2D_CACHE_WB, L2D_CACHE_WB_VICTIM],
        "clean lines move to the system level cache without being counted (semantics.clean-victims-count)",
    ),
    // Last level, bus, memory.
    row(
        "not memory",
        &[LL_CACHE_MISS_RD],
        "data from a core of another cluster or another chip is a miss here as well: it is not the number of reads of memory",
    ),
    row(
        "stores count",
        &[LL_CACHE_RD, LL_CACHE_MISS_RD],
        "a store that misses the L2 reads its line and counts as a read; prefetches count too",
    ),
    row(
        "other chips only",
        &[REMOTE_ACCESS],
        "counts data of another chip, not of another core on the same one",
    ),
    row(
        "more than its halves",
        &[BUS_ACCESS],
        "snoops that come in and their answers are neither reads nor writes: they are in the sum only",
    ),
    row(
        "stores are writes",
        &[BUS_ACCESS_RD, BUS_ACCESS_WR],
        "by flow 5.8 a store that misses the L2 is a write of the bus, although it reads its line; bytes read are therefore more than BUS_ACCESS_RD lines",
    ),
    row(
        "not the L2",
        &[MEMORY_ERROR],
        "errors of the RAMs of the L2 are reported elsewhere and never counted here",
    ),
    row(
        "accesses, not instructions",
        &[MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR],
        "an access over two lines counts twice, a pair or structure once for each 16 bytes",
    ),
    row(
        "not main memory",
        &[MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR],
        "every load and store is in it, those that hit the L1 too; reads of memory are near LL_CACHE_MISS_RD",
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
        "revisions r0p0 to r0p2 count one slot too many in every cycle: take CPU_CYCLES off there (core.revision)",
    ),
    row(
        "five in a cycle",
        &[STALL_SLOT, STALL_SLOT_FRONTEND, STALL_SLOT_BACKEND],
        "divide by 5 x CPU_CYCLES, not by CPU_CYCLES; OP_SPEC + STALL_SLOT is all slots",
    ),
    row(
        "whole cycles only",
        &[STALL, STALL_FRONTEND, STALL_BACKEND],
        "a cycle that sends one operation of five is no stall here; its four empty slots are in STALL_SLOT",
    ),
    row(
        "mispredictions are in it",
        &[STALL_FRONTEND, STALL_SLOT_FRONTEND],
        "the refill behind a mispredicted branch leaves the front end empty: the cost of bad speculation is counted here",
    ),
    row(
        "empty comes first",
        &[STALL_FRONTEND, STALL_BACKEND, STALL_SLOT_BACKEND],
        "a slot without an operation is the front end's even if the back end could not have taken one",
    ),
    row(
        "only the L2's misses",
        &[STALL_BACKEND_MEM],
        "needs a miss of the L2 outside the core: waiting for data from the L2 is not in it",
    ),
    // Instructions.
    row(
        "instructions or operations",
        &[INST_RETIRED, INST_SPEC, OP_RETIRED, OP_SPEC],
        "an operation takes a rename slot: a complex instruction is several, and a fused pair of instructions is one",
    ),
    row(
        "taken ones only",
        &[PC_WRITE_SPEC],
        "a branch that is not taken changes no PC and is not in it; exception-generating instructions are",
    ),
    row(
        "not PMULL",
        &[CRYPTO_SPEC],
        "the polynomial multiply that GCM uses counts as Advanced SIMD",
    ),
    row(
        "integer only",
        &[DP_SPEC],
        "address arithmetic inside loads and stores is not in it, nor is anything in vector registers",
    ),
    row(
        "speculative counts of barriers",
        &[ISB_SPEC, DSB_SPEC, DMB_SPEC],
        "acquire and release instructions imply an order and are counted in RC_LD_SPEC and RC_ST_SPEC",
    ),
    row(
        "atomics",
        &[LD_SPEC, ST_SPEC],
        "every atomic is in ST_SPEC, one that returns a result in LD_SPEC as well",
    ),
    row(
        "split or not",
        &[UNALIGNED_LD_SPEC, UNALIGNED_ST_SPEC, UNALIGNED_LDST_SPEC],
        "judged by the address alone: most unaligned accesses cost nothing, those that do are in LD_ALIGN_LAT and ST_ALIGN_LAT",
    ),
    row(
        "what costs",
        &[LD_ALIGN_LAT, LDST_ALIGN_LAT],
        "a load pays at the end of a line (16-byte registers also at addresses that are no multiple of four)",
    ),
    row(
        "what costs",
        &[ST_ALIGN_LAT, LDST_ALIGN_LAT],
        "a store pays at the end of a page only, whatever it does to lines",
    ),
    row(
        "fail is not a fault",
        &[STREX_FAIL_SPEC, STREX_SPEC],
        "a store-exclusive fails when it has lost its reservation: many of them mean contention for a lock",
    ),
    // Branches.
    row(
        "not the predicted ones",
        &[BR_PRED],
        "counts every branch, well predicted or not; the good ones are BR_PRED - BR_MIS_PRED",
    ),
    row(
        "more than flushes",
        &[BR_MIS_PRED],
        "branches of wrong paths are in it, and branches that decode found because no BTB knew them; pipeline flushes are BR_MIS_PRED_RETIRED",
    ),
    row(
        "returns of exceptions",
        &[BR_RETIRED],
        "ERET and instructions that generate exceptions are no branches here, though BR_INDIRECT_SPEC has ERET",
    ),
    row(
        "returns are in it",
        &[BR_INDIRECT_SPEC],
        "RET is an indirect branch: take BR_RETURN_SPEC off for calls and jumps through registers",
    ),
    // Exceptions.
    row(
        "local or not",
        &[EXC_UNDEF, EXC_SVC, EXC_PABORT, EXC_DABORT, EXC_IRQ, EXC_FIQ],
        "counts what is taken at EL1, or at an EL2 that is host of its programs; what goes to another level is in EXC_TRAP_* or in EXC_TAKEN alone",
    ),
    row(
        "local or not",
        &[EXC_TRAP_PABORT, EXC_TRAP_DABORT, EXC_TRAP_OTHER, EXC_TRAP_IRQ, EXC_TRAP_FIQ],
        "counts what is taken at a level that is not local; the same condition taken at EL1 is in the event without TRAP",
    ),
    row(
        "more than its kinds",
        &[EXC_TAKEN],
        "an SVC or HVC that is not taken locally and a trapped SMC are in no other event",
    ),
    row(
        "not only undefined",
        &[EXC_UNDEF, EXC_TRAP_OTHER],
        "every synchronous exception without an event of its own: traps of system registers, breakpoints, alignment of PC and SP",
    ),
    row(
        "calls do not pair",
        &[EXC_RETURN],
        "a trace of a program has no kernel in it: exceptions are taken and no return is seen",
    ),
    row(
        "taken at their level",
        &[EXC_SMC, EXC_HVC],
        "one that a higher level traps is in EXC_TAKEN alone",
    ),
    // Clocks and software.
    row(
        "goes on asleep",
        &[CPU_CYCLES, BUS_CYCLES],
        "counts in WFI and WFE as well; CNT_CYCLES stops there",
    ),
    row(
        "not the bus",
        &[BUS_CYCLES],
        "the interface runs at the clock of the core: it says nothing about how busy the interconnect is",
    ),
    row(
        "slow clock",
        &[CNT_CYCLES],
        "ticks of the system counter, not of the core; a short window sees a tick more or less",
    ),
    row(
        "which counter",
        &[SW_INCR],
        "a write of PMSWINC_EL0 names counters by bits: only those count, if they are programmed to this event",
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
        "loads, stores and plain moves of vector registers are in none of these: they are not the share of vector instructions",
    ),
    row(
        "not flops",
        &[FP_HP_SPEC, FP_SP_SPEC, FP_DP_SPEC],
        "counts operations, whatever the number of elements; elements are in FP_FIXED_OPS_SPEC and FP_SCALE_OPS_SPEC",
    ),
    row(
        "predicates are ignored",
        &[FP_SCALE_OPS_SPEC],
        "counts every element of the vector, also those that the predicate switches off",
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
        "an SVE instruction without a governing predicate is in none of them",
    ),
    row(
        "first faults are no aborts",
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
        "single-instruction atomics (LSE) are not in it: code built for them shows none",
    ),
    // Profiling.
    row(
        "records are fewer",
        &[SAMPLE_FEED, SAMPLE_FILTRATE],
        "a sample may be filtered, thrown away with its path, or lost to a full buffer: records in the buffer are what counts",
    ),
    row(
        "collisions bias",
        &[SAMPLE_COLLISION],
        "a sample that falls due while the last one is in flight is lost: short intervals lose the neighbors of slow operations",
    ),
    row(
        "the whole population",
        &[SAMPLE_POP],
        "operations, wrong paths included: divide records by it to learn the real sampling rate",
    ),
];
