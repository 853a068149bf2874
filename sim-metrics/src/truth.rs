//! Ground truth of a run: the quantities that metrics claim to measure, taken from the machine's
//! internal accounting and not from its events. Each has a name, a definition and a unit, and a
//! metric names the one that it claims. The machine fills in the quantities; ratios of them are
//! derived.

use std::fmt;

/// Unit of a ground-truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthUnit {
    /// Core clock cycles.
    Cycles,
    /// Rename slots, five per cycle.
    Slots,
    /// Instructions.
    Instructions,
    /// Operations, each of which takes a rename slot.
    Operations,
    /// Branches.
    Branches,
    /// Accesses to a cache or a TLB.
    Accesses,
    /// Cache lines.
    Lines,
    /// Bytes of data.
    Bytes,
    /// Table walks.
    Walks,
    /// Fraction of a whole, 0 to 1.
    Share,
    /// Occurrences per thousand retired instructions.
    PerKiloInstruction,
    /// Occurrences per cycle.
    PerCycle,
    /// Cycles per occurrence.
    CyclesEach,
    /// Slots per occurrence.
    SlotsEach,
    /// Messages of the mesh.
    Messages,
    /// Cycles of the clock of the mesh.
    MeshCycles,
    /// Occurrences per thousand cycles of the mesh.
    PerKiloMeshCycle,
    /// Occurrences per request.
    PerRequest,
    /// Seconds.
    Seconds,
    /// Bytes per second.
    BytesPerSecond,
}

impl fmt::Display for TruthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TruthUnit::Cycles => "cycles",
            TruthUnit::Slots => "slots",
            TruthUnit::Instructions => "instructions",
            TruthUnit::Operations => "operations",
            TruthUnit::Branches => "branches",
            TruthUnit::Accesses => "accesses",
            TruthUnit::Lines => "lines",
            TruthUnit::Bytes => "bytes",
            TruthUnit::Walks => "walks",
            TruthUnit::Share => "share",
            TruthUnit::PerKiloInstruction => "per 1000 instructions",
            TruthUnit::PerCycle => "per cycle",
            TruthUnit::CyclesEach => "cycles each",
            TruthUnit::SlotsEach => "slots each",
            TruthUnit::Messages => "messages",
            TruthUnit::MeshCycles => "mesh cycles",
            TruthUnit::PerKiloMeshCycle => "per 1000 mesh cycles",
            TruthUnit::PerRequest => "per request",
            TruthUnit::Seconds => "seconds",
            TruthUnit::BytesPerSecond => "bytes per second",
        })
    }
}

/// Ground-truth value that is the quotient of two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quotient {
    /// Dividend.
    pub part: Truth,
    /// Divisor.
    pub whole: Truth,
    /// Number of units of the whole that the quotient relates to: 1, or 1000 for "per thousand
    /// instructions".
    pub per: f64,
}

/// Declares [`Truth`] from one list: measured quantities, then quotients of them; then those that
/// only a Cortex-A53 has; then those of the mesh.
macro_rules! truths {
    (
        measured { $($(#[$doc:meta])* $name:ident = $text:literal, $unit:ident, $definition:literal;)* }
        quotients { $($ratio:ident = $ratio_text:literal, $ratio_unit:ident, $part:ident / $whole:ident,
            $ratio_definition:literal;)* }
        of_a53 { $($a53:ident = $a53_text:literal, $a53_unit:ident, $a53_definition:literal;)* }
        a53_quotients { $($a53_ratio:ident = $a53_ratio_text:literal, $a53_ratio_unit:ident,
            $a53_part:ident / $a53_whole:ident, $a53_ratio_definition:literal;)* }
        of_mesh { $($mesh:ident = $mesh_text:literal, $mesh_unit:ident, $mesh_definition:literal;)* }
        mesh_quotients { $($mesh_ratio:ident = $mesh_ratio_text:literal, $mesh_ratio_unit:ident,
            $mesh_part:ident / $mesh_whole:ident, $mesh_ratio_definition:literal;)* }
    ) => {
        /// Quantity whose true value the machine knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Truth {
            $(#[doc = $definition] $name,)*
            $(#[doc = $ratio_definition] $ratio,)*
            $(#[doc = $a53_definition] $a53,)*
            $(#[doc = $a53_ratio_definition] $a53_ratio,)*
            $(#[doc = $mesh_definition] $mesh,)*
            $(#[doc = $mesh_ratio_definition] $mesh_ratio,)*
        }

        /// Number of ground-truth values of all cores and of the mesh.
        const COUNT: usize =
            [$(Truth::$name,)* $(Truth::$ratio,)* $(Truth::$a53,)* $(Truth::$a53_ratio,)*
            $(Truth::$mesh,)* $(Truth::$mesh_ratio,)*].len();

        impl Truth {
            /// Every ground-truth value of a Neoverse N2, quantities before quotients.
            pub const ALL: &'static [Truth] = &[$(Truth::$name,)* $(Truth::$ratio,)*];

            /// The ground-truth values that only a Cortex-A53 has.
            pub const OF_A53_ONLY: &'static [Truth] =
                &[$(Truth::$a53,)* $(Truth::$a53_ratio,)*];

            /// The ground-truth values of the mesh.
            pub const OF_MESH: &'static [Truth] = &[$(Truth::$mesh,)* $(Truth::$mesh_ratio,)*];

            /// Returns the name, as `claims = "..."` gives it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Truth::$name => $text,)* $(Truth::$ratio => $ratio_text,)*
                    $(Truth::$a53 => $a53_text,)* $(Truth::$a53_ratio => $a53_ratio_text,)*
                    $(Truth::$mesh => $mesh_text,)* $(Truth::$mesh_ratio => $mesh_ratio_text,)*
                }
            }

            /// Returns the definition as a sentence.
            pub fn definition(self) -> &'static str {
                match self {
                    $(Truth::$name => $definition,)* $(Truth::$ratio => $ratio_definition,)*
                    $(Truth::$a53 => $a53_definition,)*
                    $(Truth::$a53_ratio => $a53_ratio_definition,)*
                    $(Truth::$mesh => $mesh_definition,)*
                    $(Truth::$mesh_ratio => $mesh_ratio_definition,)*
                }
            }

            /// Returns the unit.
            pub fn unit(self) -> TruthUnit {
                match self {
                    $(Truth::$name => TruthUnit::$unit,)* $(Truth::$ratio => TruthUnit::$ratio_unit,)*
                    $(Truth::$a53 => TruthUnit::$a53_unit,)*
                    $(Truth::$a53_ratio => TruthUnit::$a53_ratio_unit,)*
                    $(Truth::$mesh => TruthUnit::$mesh_unit,)*
                    $(Truth::$mesh_ratio => TruthUnit::$mesh_ratio_unit,)*
                }
            }

            /// Returns the quotient, or `None` for a quantity that the machine measures itself.
            pub fn quotient(self) -> Option<Quotient> {
                match self {
                    $(Truth::$ratio => Some(Quotient {
                        part: Truth::$part,
                        whole: Truth::$whole,
                        per: per(TruthUnit::$ratio_unit),
                    }),)*
                    $(Truth::$a53_ratio => Some(Quotient {
                        part: Truth::$a53_part,
                        whole: Truth::$a53_whole,
                        per: per(TruthUnit::$a53_ratio_unit),
                    }),)*
                    $(Truth::$mesh_ratio => Some(Quotient {
                        part: Truth::$mesh_part,
                        whole: Truth::$mesh_whole,
                        per: per(TruthUnit::$mesh_ratio_unit),
                    }),)*
                    _ => None,
                }
            }
        }
    };
}

truths! {
    measured {
        Cycles = "cycles", Cycles, "Cycles of the core clock.";
        FrontendIdle = "cycles.frontend_idle", Cycles, "Cycles in which rename had no operation to dispatch.";
        BackendIdle = "cycles.backend_idle", Cycles, "Cycles in which rename dispatched no operation although it had one.";
        Slots = "slots", Slots, "Rename slots of all cycles: five per cycle.";
        RetiredSlots = "slots.retired", Slots, "Slots of operations that retired.";
        SquashedSlots = "slots.squashed", Slots, "Slots of operations that were squashed.";
        RecoverySlots = "slots.recovery", Slots, "Empty slots while the front end refills after a misprediction or a memory-order violation.";
        BadSlots = "slots.bad_speculation", Slots, "Slots of squashed operations, and empty slots while the front end refills afterward.";
        FrontendSlots = "slots.frontend", Slots, "Slots empty because the front end delivered nothing, without recovery.";
        EmptyFrontendSlots = "slots.frontend_all", Slots, "Slots empty because the front end delivered nothing, including recovery.";
        BackendSlots = "slots.backend", Slots, "Slots in which the back end could not accept a waiting operation.";
        FetchLatencySlots = "slots.fetch_latency", Slots, "Front-end slots lost to misses of L1I, ITLB and BTB, late branches, switches from the MOP cache to decode, restarts.";
        FetchBandwidthSlots = "slots.fetch_bandwidth", Slots, "Front-end slots lost to the widths of prediction, fetch and decode.";
        MemorySlots = "slots.memory_bound", Slots, "Back-end slots whose root cause is memory: data beyond the L1 D-cache, a translation, or a draining store, whichever structure was full.";
        CoreSlots = "slots.core_bound", Slots, "All other back-end slots: latency of operations and of L1 hits, busy pipes, dispatch, barriers.";
        Retired = "inst.retired", Instructions, "Instructions that retired.";
        Executed = "inst.executed", Instructions, "Instructions that got a slot, including wrong paths.";
        RetiredOps = "ops.retired", Operations, "Operations that retired.";
        ExecutedOps = "ops.executed", Operations, "Operations that got a slot, including wrong paths.";
        SquashedOps = "ops.squashed", Operations, "Operations that were squashed.";
        Loads = "inst.loads", Instructions, "Retired instructions that load, including preloads and atomics.";
        Stores = "inst.stores", Instructions, "Retired instructions that store, including atomics.";
        Integer = "inst.integer", Instructions, "Retired instructions that compute with integers.";
        Simd = "inst.simd", Instructions, "Retired Advanced SIMD instructions that compute.";
        Float = "inst.fp", Instructions, "Retired scalar floating-point instructions.";
        Crypto = "inst.crypto", Instructions, "Retired cryptographic instructions.";
        Sve = "inst.sve", Instructions, "Retired SVE instructions, including loads and stores.";
        Branches = "branch.retired", Branches, "Retired branches, without exception returns.";
        ImmediateBranches = "branch.immediate", Branches, "Retired branches to a fixed target.";
        IndirectBranches = "branch.indirect", Branches, "Retired branches to a target in a register, including returns.";
        Returns = "branch.returns", Branches, "Retired function returns.";
        Mispredicted = "branch.mispredicted", Branches, "Retired branches after which the pipeline was flushed.";
        MispredictSlots = "branch.cost", Slots, "Slots that mispredicted branches cost: those of the squashed younger operations and of the refill.";
        L1dAccesses = "l1d.accesses", Accesses, "Retired loads, stores and atomics; a pair or a vector counts once.";
        L1dMisses = "l1d.misses", Accesses, "Retired loads, stores and atomics whose line was not in the L1 D-cache in time.";
        L1dRefills = "l1d.refills", Accesses, "Retired accesses that refilled the L1 D-cache themselves, without those that waited for a pending refill.";
        L1iAccesses = "l1i.accesses", Accesses, "Lookups of the L1 I-cache by the fetch stage, without those of its prefetcher.";
        L1iMisses = "l1i.misses", Accesses, "Lines that the fetch stage had to wait for, including wrong paths.";
        L2Accesses = "l2.accesses", Accesses, "Retired data accesses and fetches that an L1 cache could not serve.";
        L2Misses = "l2.misses", Accesses, "Retired data accesses and fetches that an L1 cache could not serve and whose line came from outside the core.";
        L2DataAccesses = "l2.data_accesses", Accesses, "Retired loads, stores and atomics that the L1 D-cache could not serve.";
        L2DataMisses = "l2.data_misses", Accesses, "Retired loads, stores and atomics whose line came from outside the core.";
        OutsideLines = "slc.reads", Lines, "Lines that the core read from outside, including prefetched ones.";
        SlcMisses = "slc.misses", Lines, "Lines that the core read from outside and the system level cache did not supply.";
        SlcHits = "slc.hits", Lines, "Lines that the core read from outside and the system level cache supplied.";
        PrefetchedLines = "lines.prefetched", Lines, "Lines that hardware prefetchers read from outside the core.";
        RemoteLines = "lines.remote", Lines, "Lines that another chip supplied.";
        DtlbAccesses = "dtlb.accesses", Accesses, "Retired instructions whose address was translated for data.";
        DtlbMisses = "dtlb.misses", Accesses, "Retired accesses that missed in the L1 data TLB.";
        DtlbWalks = "dtlb.walks", Walks, "Retired accesses that needed a table walk.";
        ItlbAccesses = "itlb.accesses", Accesses, "Lookups of the L1 instruction TLB by the fetch stage, without those of its prefetcher.";
        ItlbMisses = "itlb.misses", Accesses, "Lookups of the fetch stage that missed in the L1 instruction TLB.";
        ItlbWalks = "itlb.walks", Walks, "Table walks for fetches.";
        L2TlbAccesses = "l2tlb.accesses", Accesses, "Lookups of the L2 TLB for retired instructions, for data and fetches.";
        L2TlbMisses = "l2tlb.misses", Accesses, "Lookups of the L2 TLB for retired instructions that needed a table walk.";
        L2TlbDataAccesses = "l2tlb.data_accesses", Accesses, "Lookups of the L2 TLB for retired loads and stores.";
        L2TlbDataMisses = "l2tlb.data_misses", Accesses, "Lookups of the L2 TLB for retired loads and stores that needed a table walk.";
        WalkCycles = "walk.cycles", Cycles, "Cycles of all table walks; concurrent walks are added.";
        Walks = "walk.count", Walks, "Table walks for data and fetches.";
        BytesRead = "bytes.read", Bytes, "Data that came over the bus into the core.";
        BytesWritten = "bytes.written", Bytes, "Data that left the core over the bus.";
        BytesMoved = "bytes.moved", Bytes, "Data that went over the bus, both ways.";
        LoadCycles = "latency.load_cycles", Cycles, "Cycles from issue to the result of all retired loads.";
        MissCycles = "latency.miss_cycles", Cycles, "Cycles from issue to the result of the retired loads that missed the L1 D-cache.";
        TimedLoads = "latency.loads", Accesses, "Retired loads.";
        TimedMisses = "latency.misses", Accesses, "Retired loads that missed the L1 D-cache.";
        FloatOps = "fp.operations", Operations, "Floating-point operations of retired instructions, by element; an SVE element of 128 bits counts as the architecture scales it.";
    }
    quotients {
        Retiring = "share.retiring", Share, RetiredSlots / Slots, "Fraction of the slots whose operations retired.";
        BadSpeculation = "share.bad_speculation", Share, BadSlots / Slots, "Fraction of the slots lost to bad speculation: squashed operations and the refill after them.";
        Squashed = "share.squashed", Share, SquashedSlots / Slots, "Fraction of the slots whose operations were squashed.";
        FrontendBound = "share.frontend", Share, FrontendSlots / Slots, "Fraction of the slots that the front end left empty, without recovery.";
        FrontendEmpty = "share.frontend_all", Share, EmptyFrontendSlots / Slots, "Fraction of the slots that the front end left empty, including recovery.";
        BackendBound = "share.backend", Share, BackendSlots / Slots, "Fraction of the slots that the back end did not accept.";
        FetchLatency = "share.fetch_latency", Share, FetchLatencySlots / Slots, "Fraction of the slots lost to the latency of fetch.";
        FetchBandwidth = "share.fetch_bandwidth", Share, FetchBandwidthSlots / Slots, "Fraction of the slots lost to the width of fetch.";
        MemoryBound = "share.memory_bound", Share, MemorySlots / Slots, "Fraction of the slots lost waiting for memory.";
        CoreBound = "share.core_bound", Share, CoreSlots / Slots, "Fraction of the slots lost to the back end for reasons other than memory.";
        FrontendCycles = "share.frontend_idle_cycles", Share, FrontendIdle / Cycles, "Fraction of the cycles in which the front end delivered nothing.";
        BackendCycles = "share.backend_idle_cycles", Share, BackendIdle / Cycles, "Fraction of the cycles in which the back end accepted nothing.";
        Ipc = "ipc", PerCycle, Retired / Cycles, "Instructions retired in each cycle.";
        ExecutedIpc = "ipc.executed", PerCycle, Executed / Cycles, "Instructions executed in each cycle, including wrong paths.";
        RetiredPerSlot = "ipc.share_of_slots", Share, Retired / Slots, "Retired instructions for each slot.";
        OpsKept = "ops.kept", Share, RetiredOps / ExecutedOps, "Fraction of the operations that retired.";
        OpsWasted = "ops.wasted", Share, SquashedOps / ExecutedOps, "Fraction of the operations that were squashed.";
        LoadMix = "mix.loads", Share, Loads / Retired, "Fraction of the retired instructions that load.";
        StoreMix = "mix.stores", Share, Stores / Retired, "Fraction of the retired instructions that store.";
        IntegerMix = "mix.integer", Share, Integer / Retired, "Fraction of the retired instructions that compute with integers.";
        SimdMix = "mix.simd", Share, Simd / Retired, "Fraction of the retired instructions that are Advanced SIMD computations.";
        FloatMix = "mix.fp", Share, Float / Retired, "Fraction of the retired instructions that are scalar floating point.";
        CryptoMix = "mix.crypto", Share, Crypto / Retired, "Fraction of the retired instructions that are cryptographic.";
        SveMix = "mix.sve", Share, Sve / Retired, "Fraction of the retired instructions that are SVE.";
        BranchMix = "mix.branches", Share, Branches / Retired, "Fraction of the retired instructions that branch.";
        ImmediateMix = "mix.immediate_branches", Share, ImmediateBranches / Retired, "Fraction of the retired instructions that branch to a fixed target.";
        IndirectMix = "mix.indirect_branches", Share, IndirectBranches / Retired, "Fraction of the retired instructions that branch to a register.";
        ReturnMix = "mix.returns", Share, Returns / Retired, "Fraction of the retired instructions that return from a function.";
        BranchMissRatio = "branch.miss_ratio", Share, Mispredicted / Branches, "Fraction of the retired branches after which the pipeline was flushed.";
        BranchMpki = "branch.mpki", PerKiloInstruction, Mispredicted / Retired, "Flushes by branches for each 1000 retired instructions.";
        BranchPki = "branch.pki", PerKiloInstruction, Branches / Retired, "Branches for each 1000 retired instructions.";
        MispredictCost = "branch.cost_each", SlotsEach, MispredictSlots / Mispredicted, "Slots that one mispredicted branch costs.";
        L1dMissRatio = "l1d.miss_ratio", Share, L1dMisses / L1dAccesses, "Fraction of the retired accesses whose line was not in the L1 D-cache in time.";
        L1dMpki = "l1d.mpki", PerKiloInstruction, L1dMisses / Retired, "Retired accesses that missed the L1 D-cache, for each 1000 retired instructions.";
        L1iMissRatio = "l1i.miss_ratio", Share, L1iMisses / L1iAccesses, "Fraction of the fetches whose line was not in the L1 I-cache in time.";
        L1iMpki = "l1i.mpki", PerKiloInstruction, L1iMisses / Retired, "Fetches that missed the L1 I-cache, for each 1000 retired instructions.";
        L2MissRatio = "l2.miss_ratio", Share, L2Misses / L2Accesses, "Fraction of the L1 misses that were served from outside the core.";
        L2Mpki = "l2.mpki", PerKiloInstruction, L2Misses / Retired, "Accesses served from outside the core for each 1000 retired instructions.";
        L2DataMissRatio = "l2.data_miss_ratio", Share, L2DataMisses / L2DataAccesses, "Fraction of the retired accesses that missed the L1 D-cache and were served from outside.";
        L2DataMpki = "l2.data_mpki", PerKiloInstruction, L2DataMisses / Retired, "Retired data accesses served from outside for each 1000 retired instructions.";
        SlcMissRatio = "slc.miss_ratio", Share, SlcMisses / OutsideLines, "Fraction of the lines read from outside that the system level cache did not have.";
        SlcHitRatio = "slc.hit_ratio", Share, SlcHits / OutsideLines, "Fraction of the lines read from outside that the system level cache had.";
        SlcMpki = "slc.mpki", PerKiloInstruction, SlcMisses / Retired, "Lines that the system level cache did not have, for each 1000 retired instructions.";
        DtlbMissRatio = "dtlb.miss_ratio", Share, DtlbMisses / DtlbAccesses, "Fraction of the retired accesses that missed the L1 data TLB.";
        DtlbMpki = "dtlb.mpki", PerKiloInstruction, DtlbMisses / Retired, "Retired accesses that missed the L1 data TLB, for each 1000 retired instructions.";
        DtlbWalkRatio = "dtlb.walk_ratio", Share, DtlbWalks / DtlbAccesses, "Fraction of the retired accesses that needed a table walk.";
        DtlbWalkPki = "dtlb.walk_pki", PerKiloInstruction, DtlbWalks / Retired, "Retired accesses that needed a table walk, for each 1000 retired instructions.";
        ItlbMissRatio = "itlb.miss_ratio", Share, ItlbMisses / ItlbAccesses, "Fraction of the fetches that missed the L1 instruction TLB.";
        ItlbMpki = "itlb.mpki", PerKiloInstruction, ItlbMisses / Retired, "Fetches that missed the L1 instruction TLB, for each 1000 retired instructions.";
        ItlbWalkRatio = "itlb.walk_ratio", Share, ItlbWalks / ItlbAccesses, "Fraction of the fetches that needed a table walk.";
        ItlbWalkPki = "itlb.walk_pki", PerKiloInstruction, ItlbWalks / Retired, "Fetches that needed a table walk, for each 1000 retired instructions.";
        L2TlbMissRatio = "l2tlb.miss_ratio", Share, L2TlbMisses / L2TlbAccesses, "Fraction of the lookups of the L2 TLB that needed a table walk.";
        L2TlbMpki = "l2tlb.mpki", PerKiloInstruction, L2TlbMisses / Retired, "Lookups of the L2 TLB that needed a table walk, for each 1000 retired instructions.";
        L2TlbDataMissRatio = "l2tlb.data_miss_ratio", Share, L2TlbDataMisses / L2TlbDataAccesses, "Fraction of the lookups of the L2 TLB for data that needed a table walk.";
        L2TlbDataMpki = "l2tlb.data_mpki", PerKiloInstruction, L2TlbDataMisses / Retired, "Lookups of the L2 TLB for data that needed a table walk, for each 1000 retired instructions.";
        WalkLatency = "walk.cycles_each", CyclesEach, WalkCycles / Walks, "Cycles of one table walk.";
        ReadBandwidth = "bytes.read_per_cycle", PerCycle, BytesRead / Cycles, "Bytes that came over the bus in each cycle.";
        WriteBandwidth = "bytes.written_per_cycle", PerCycle, BytesWritten / Cycles, "Bytes that left over the bus in each cycle.";
        Bandwidth = "bytes.moved_per_cycle", PerCycle, BytesMoved / Cycles, "Bytes that went over the bus in each cycle, both ways.";
        LoadLatency = "latency.load", CyclesEach, LoadCycles / TimedLoads, "Cycles from issue to the result of a retired load.";
        MissLatency = "latency.l1d_miss", CyclesEach, MissCycles / TimedMisses, "Cycles from issue to the result of a retired load that missed the L1 D-cache.";
        FloatPerCycle = "fp.per_cycle", PerCycle, FloatOps / Cycles, "Floating-point operations of retired instructions in each cycle.";
    }
    of_a53 {
        IssuedSlots = "slots.issued", Slots, "Issue slots that issued an instruction.";
        IdleLoadMiss = "cycles.idle.load_miss", Cycles, "Cycles without an issue because a load miss held write-back.";
        IdleStore = "cycles.idle.store", Cycles, "Cycles without an issue because a store or a barrier held write-back.";
        IdleSimd = "cycles.idle.simd", Cycles, "Cycles without an issue because vector or floating-point work was not ready.";
        IdleAddress = "cycles.idle.address", Cycles, "Cycles without an issue because an address was not ready.";
        IdleInterlock = "cycles.idle.interlock", Cycles, "Cycles without an issue because another operand or unit was not ready.";
        IdleL1i = "cycles.idle.l1i", Cycles, "Cycles without an issue because of a miss of the L1 I-cache, decode included.";
        IdleItlb = "cycles.idle.itlb", Cycles, "Cycles without an issue because of a miss of the micro-TLB for fetches, decode included.";
        IdleFrontEnd = "cycles.idle.front_end", Cycles, "Cycles without an issue after a misprediction, a taken branch or a restart.";
        IdleOther = "cycles.idle.other", Cycles, "Cycles without an issue for another reason: further cycles of wide accesses, the end of the program.";
        MemoryRequests = "memory.requests", Accesses, "Lines read from and writes sent to external memory for the core.";
        SnoopedLines = "lines.snooped", Lines, "Lines that another core supplied.";
        StreamedLines = "lines.streamed", Lines, "Writes of whole lines or parts past the L1 D-cache in read-allocate mode.";
    }
    a53_quotients {
        CyclesPerInstruction = "cpi", CyclesEach, Cycles / Retired, "Cycles for each retired instruction.";
        Issued = "share.issued", Share, IssuedSlots / Slots, "Fraction of the issue slots that issued an instruction.";
        LoadMissCycles = "share.idle.load_miss", Share, IdleLoadMiss / Cycles, "Fraction of the cycles without an issue because a load miss held write-back.";
        StoreCycles = "share.idle.store", Share, IdleStore / Cycles, "Fraction of the cycles without an issue because a store or a barrier held write-back.";
        SimdCycles = "share.idle.simd", Share, IdleSimd / Cycles, "Fraction of the cycles without an issue because vector or floating-point work was not ready.";
        AddressCycles = "share.idle.address", Share, IdleAddress / Cycles, "Fraction of the cycles without an issue because an address was not ready.";
        InterlockCycles = "share.idle.interlock", Share, IdleInterlock / Cycles, "Fraction of the cycles without an issue because another operand or unit was not ready.";
        L1iCycles = "share.idle.l1i", Share, IdleL1i / Cycles, "Fraction of the cycles without an issue because of a miss of the L1 I-cache, decode included.";
        ItlbCycles = "share.idle.itlb", Share, IdleItlb / Cycles, "Fraction of the cycles without an issue because of a miss of the micro-TLB for fetches, decode included.";
        IdleFetchCycles = "share.idle.front_end", Share, IdleFrontEnd / Cycles, "Fraction of the cycles without an issue after a misprediction, a taken branch or a restart.";
        MemoryRequestPki = "memory.requests_pki", PerKiloInstruction, MemoryRequests / Retired, "Lines read from and writes sent to external memory for each 1000 retired instructions.";
        SnoopPki = "lines.snooped_pki", PerKiloInstruction, SnoopedLines / Retired, "Lines that another core supplied, for each 1000 retired instructions.";
    }
    of_mesh {
        MeshSeconds = "mesh.seconds", Seconds, "Time in which any core was counted.";
        MeshCycles = "mesh.cycles", MeshCycles, "Cycles of the mesh in that time.";
        MeshCoreRequests = "mesh.requests.cores", Messages, "Requests that cores sent.";
        MeshIoRequests = "mesh.requests.io", Messages, "Requests that I/O agents sent.";
        MeshRemoteRequests = "mesh.requests.remote", Messages, "Requests that came from another chip.";
        MeshRequests = "mesh.requests", Messages, "Requests that cores, I/O agents and other chips sent.";
        MeshArrivals = "mesh.home.arrivals", Messages, "Requests that arrived at home nodes, including those sent back.";
        MeshSentBack = "mesh.home.sent_back", Messages, "Requests that home nodes sent back.";
        MeshAccepted = "mesh.home.accepted", Messages, "Requests that home nodes accepted; each looks up the system level cache and the snoop filter once.";
        MeshHazards = "mesh.home.hazards", Messages, "Accepted requests whose line an older unfinished request used.";
        MeshSlcMisses = "mesh.slc.misses", Accesses, "Look-ups that did not find their line in the system level cache.";
        MeshSlcHits = "mesh.slc.hits", Accesses, "Look-ups that found their line in the system level cache.";
        MeshFilterMisses = "mesh.filter.misses", Accesses, "Look-ups that did not find their line in the snoop filter.";
        MeshFilterHits = "mesh.filter.hits", Accesses, "Look-ups that found their line in the snoop filter.";
        MeshSnooping = "mesh.snoops.occasions", Messages, "Requests and evictions from the snoop filter that made a home node snoop one or several cores.";
        MeshSnoops = "mesh.snoops", Messages, "Snoops that home nodes sent, one for each core.";
        MeshForwards = "mesh.snoops.forwarding", Messages, "Snoops that made a core send its line to the requester.";
        MeshMemoryReads = "mesh.memory.reads", Messages, "Requests to read a line that memory controllers received.";
        MeshMemoryRequests = "mesh.memory.requests", Messages, "Requests that memory controllers received, reads and writes, including those sent back.";
        MeshMemorySentBack = "mesh.memory.sent_back", Messages, "Writes that memory controllers sent back.";
        MeshDeviceRequests = "mesh.devices.requests", Messages, "Requests that the home node of devices received.";
        MeshGatewayRequests = "mesh.gateway.requests", Messages, "Requests that left for another chip.";
        MeshReads = "mesh.home.reads", Messages, "ReadNotSharedDirty requests at home nodes.";
        MeshReadUniques = "mesh.home.read_uniques", Messages, "ReadUnique requests at home nodes.";
        MeshMakeReadUniques = "mesh.home.make_read_uniques", Messages, "MakeReadUnique requests at home nodes.";
        MeshMakeUniques = "mesh.home.make_uniques", Messages, "MakeUnique requests at home nodes.";
        MeshWriteBacks = "mesh.home.write_backs", Messages, "WriteBackFull requests at home nodes.";
        MeshWriteEvicts = "mesh.home.write_evicts", Messages, "WriteEvictOrEvict requests at home nodes.";
        MeshEvicts = "mesh.home.evicts", Messages, "Evict requests at home nodes.";
        MeshLines = "mesh.lines", Lines, "Lines that cores read from outside.";
        MeshSlcLines = "mesh.lines.slc", Lines, "Lines that cores read and the system level cache supplied.";
        MeshPeerLines = "mesh.lines.peer", Lines, "Lines that cores read and another core supplied.";
        MeshMemoryLines = "mesh.lines.memory", Lines, "Lines that cores read and memory supplied.";
        MeshRemoteLines = "mesh.lines.remote", Lines, "Lines that cores read and another chip supplied.";
        MeshOtherAccepted = "mesh.home.served_by_slc", Messages, "Accepted requests without those that memory or another core supplied with a line.";
        MeshWrittenLines = "mesh.lines.written", Lines, "Lines that cores sent to home nodes as copy-backs.";
        MeshMovedLines = "mesh.lines.moved", Lines, "Lines that cores read, and lines that they sent as copy-backs.";
        MeshAskedLines = "mesh.lines.asked", Messages, "Requests of cores that may move a line: reads, ownership with data, WriteBackFull. Left out: atomics, accesses to devices, WriteEvictOrEvict, WriteCleanFull.";
        MeshAskedMostLines = "mesh.lines.asked_most", Messages, "The same with WriteEvictOrEvict and WriteCleanFull. Left out: atomics, accesses to devices.";
        MeshAskedBytes = "mesh.bytes.asked", Bytes, "A line for each request of mesh.lines.asked.";
        MeshAskedMostBytes = "mesh.bytes.asked_most", Bytes, "A line for each request of mesh.lines.asked_most.";
        MeshCoreBytes = "mesh.bytes.cores", Bytes, "Bytes that cores read, and bytes that they sent as copy-backs.";
        MeshSlcBytes = "mesh.bytes.slc", Bytes, "Bytes that cores read and the system level cache supplied.";
        MeshSlcBothBytes = "mesh.bytes.slc_both", Bytes, "Bytes that cores read and the system level cache supplied, and bytes that cores sent as copy-backs.";
        MeshPeerBytes = "mesh.bytes.peer", Bytes, "Bytes that cores read and another core supplied.";
        MeshMemoryReadBytes = "mesh.bytes.memory_read", Bytes, "Bytes that memory controllers sent.";
        MeshMemoryBytes = "mesh.bytes.memory", Bytes, "Bytes that memory controllers sent and received.";
        MeshIoReadBytes = "mesh.bytes.io_read", Bytes, "Bytes of data flits that I/O agents received.";
        MeshIoWrittenBytes = "mesh.bytes.io_written", Bytes, "Bytes of data flits that I/O agents sent.";
    }
    mesh_quotients {
        MeshSlcMissRatio = "mesh.slc.miss_ratio", Share, MeshSlcMisses / MeshAccepted, "Fraction of the look-ups that did not find their line in the system level cache.";
        MeshSlcHitRatio = "mesh.slc.hit_ratio", Share, MeshSlcHits / MeshAccepted, "Fraction of the look-ups that found their line in the system level cache.";
        MeshFilterHitRatio = "mesh.filter.hit_ratio", Share, MeshFilterHits / MeshAccepted, "Fraction of the look-ups that found their line in the snoop filter.";
        MeshFilterMissRatio = "mesh.filter.miss_ratio", Share, MeshFilterMisses / MeshAccepted, "Fraction of the look-ups that did not find their line in the snoop filter.";
        MeshSentBackRatio = "mesh.home.sent_back_ratio", Share, MeshSentBack / MeshArrivals, "Fraction of the requests that arrived at home nodes and were sent back.";
        MeshRetriesEach = "mesh.home.retries_each", PerRequest, MeshSentBack / MeshAccepted, "Times that an accepted request was sent back before.";
        MeshHazardRatio = "mesh.home.hazard_ratio", Share, MeshHazards / MeshAccepted, "Fraction of the accepted requests whose line an older unfinished request used.";
        MeshMemoryEach = "mesh.memory.requests_each", PerRequest, MeshMemoryRequests / MeshAccepted, "Requests to memory for each accepted request at home nodes.";
        MeshMemoryReadsEach = "mesh.memory.reads_each", PerRequest, MeshMemoryReads / MeshAccepted, "Requests to read memory for each accepted request at home nodes.";
        MeshMemorySentBackRatio = "mesh.memory.sent_back_ratio", Share, MeshMemorySentBack / MeshMemoryRequests, "Fraction of the requests that arrived at memory controllers and were sent back.";
        MeshOfCores = "mesh.requests.share_cores", Share, MeshCoreRequests / MeshRequests, "Fraction of the requests that cores sent.";
        MeshOfIo = "mesh.requests.share_io", Share, MeshIoRequests / MeshRequests, "Fraction of the requests that I/O agents sent.";
        MeshOfRemote = "mesh.requests.share_remote", Share, MeshRemoteRequests / MeshRequests, "Fraction of the requests that came from another chip.";
        MeshBySlc = "mesh.supply.slc", Share, MeshSlcLines / MeshLines, "Fraction of the lines that cores read and the system level cache supplied.";
        MeshByPeers = "mesh.supply.peer", Share, MeshPeerLines / MeshLines, "Fraction of the lines that cores read and another core supplied.";
        MeshByMemory = "mesh.supply.memory", Share, MeshMemoryLines / MeshLines, "Fraction of the lines that cores read and memory supplied.";
        MeshByRemote = "mesh.supply.remote", Share, MeshRemoteLines / MeshLines, "Fraction of the lines that cores read and another chip supplied.";
        MeshServedBySlc = "mesh.served.slc", Share, MeshOtherAccepted / MeshAccepted, "Fraction of the accepted requests without those that memory or another core supplied with a line: 1 less mesh.served.peer and mesh.served.memory.";
        MeshServedByPeers = "mesh.served.peer", Share, MeshPeerLines / MeshAccepted, "Fraction of the accepted requests that another core supplied with a line.";
        MeshServedByMemory = "mesh.served.memory", Share, MeshMemoryLines / MeshAccepted, "Fraction of the accepted requests that memory supplied with a line.";
        MeshCoreBandwidth = "mesh.bandwidth.cores", BytesPerSecond, MeshCoreBytes / MeshSeconds, "Bytes that cores read or sent as copy-backs in a second.";
        MeshAskedBandwidth = "mesh.bandwidth.asked", BytesPerSecond, MeshAskedBytes / MeshSeconds, "A line for each request of mesh.lines.asked, in a second.";
        MeshAskedMostBandwidth = "mesh.bandwidth.asked_most", BytesPerSecond, MeshAskedMostBytes / MeshSeconds, "A line for each request of mesh.lines.asked_most, in a second.";
        MeshSlcBandwidth = "mesh.bandwidth.slc", BytesPerSecond, MeshSlcBytes / MeshSeconds, "Bytes that the system level cache supplied to cores in a second.";
        MeshSlcBothBandwidth = "mesh.bandwidth.slc_both", BytesPerSecond, MeshSlcBothBytes / MeshSeconds, "Bytes that the system level cache supplied to cores, and copy-backs of cores, in a second.";
        MeshPeerBandwidth = "mesh.bandwidth.peer", BytesPerSecond, MeshPeerBytes / MeshSeconds, "Bytes that cores supplied to other cores in a second.";
        MeshMemoryReadBandwidth = "mesh.bandwidth.memory_read", BytesPerSecond, MeshMemoryReadBytes / MeshSeconds, "Bytes that memory controllers sent in a second.";
        MeshMemoryBandwidth = "mesh.bandwidth.memory", BytesPerSecond, MeshMemoryBytes / MeshSeconds, "Bytes that memory controllers sent and received in a second.";
        MeshIoReadBandwidth = "mesh.bandwidth.io_read", BytesPerSecond, MeshIoReadBytes / MeshSeconds, "Bytes of data flits that I/O agents received in a second.";
        MeshIoWriteBandwidth = "mesh.bandwidth.io_written", BytesPerSecond, MeshIoWrittenBytes / MeshSeconds, "Bytes of data flits that I/O agents sent in a second.";
        MeshCoreRequestRate = "mesh.rate.requests.cores", PerKiloMeshCycle, MeshCoreRequests / MeshCycles, "Requests that cores sent for each 1000 cycles of the mesh.";
        MeshIoRequestRate = "mesh.rate.requests.io", PerKiloMeshCycle, MeshIoRequests / MeshCycles, "Requests that I/O agents sent for each 1000 cycles of the mesh.";
        MeshArrivalRate = "mesh.rate.home.arrivals", PerKiloMeshCycle, MeshArrivals / MeshCycles, "Requests that arrived at home nodes, including those sent back, for each 1000 cycles of the mesh.";
        MeshSentBackRate = "mesh.rate.home.sent_back", PerKiloMeshCycle, MeshSentBack / MeshCycles, "Requests that home nodes sent back for each 1000 cycles of the mesh.";
        MeshHazardRate = "mesh.rate.home.hazards", PerKiloMeshCycle, MeshHazards / MeshCycles, "Accepted requests whose line an older unfinished request used for each 1000 cycles of the mesh.";
        MeshLookUpRate = "mesh.rate.look_ups", PerKiloMeshCycle, MeshAccepted / MeshCycles, "Look-ups of requests for each 1000 cycles of the mesh.";
        MeshSlcMissRate = "mesh.rate.slc.misses", PerKiloMeshCycle, MeshSlcMisses / MeshCycles, "Look-ups that missed the system level cache for each 1000 cycles of the mesh.";
        MeshSlcHitRate = "mesh.rate.slc.hits", PerKiloMeshCycle, MeshSlcHits / MeshCycles, "Look-ups that hit the system level cache for each 1000 cycles of the mesh.";
        MeshFilterMissRate = "mesh.rate.filter.misses", PerKiloMeshCycle, MeshFilterMisses / MeshCycles, "Look-ups that missed the snoop filter for each 1000 cycles of the mesh.";
        MeshFilterHitRate = "mesh.rate.filter.hits", PerKiloMeshCycle, MeshFilterHits / MeshCycles, "Look-ups that hit the snoop filter for each 1000 cycles of the mesh.";
        MeshSnoopingRate = "mesh.rate.snoops.occasions", PerKiloMeshCycle, MeshSnooping / MeshCycles, "Requests and evictions that made a home node snoop for each 1000 cycles of the mesh.";
        MeshSnoopRate = "mesh.rate.snoops", PerKiloMeshCycle, MeshSnoops / MeshCycles, "Snoops that home nodes sent for each 1000 cycles of the mesh.";
        MeshForwardRate = "mesh.rate.snoops.forwarding", PerKiloMeshCycle, MeshForwards / MeshCycles, "Snoops that made a core send its line to the requester for each 1000 cycles of the mesh.";
        MeshMemoryRate = "mesh.rate.memory.requests", PerKiloMeshCycle, MeshMemoryRequests / MeshCycles, "Requests at memory controllers for each 1000 cycles of the mesh.";
        MeshMemorySentBackRate = "mesh.rate.memory.sent_back", PerKiloMeshCycle, MeshMemorySentBack / MeshCycles, "Writes that memory controllers sent back for each 1000 cycles of the mesh.";
        MeshDeviceRate = "mesh.rate.devices.requests", PerKiloMeshCycle, MeshDeviceRequests / MeshCycles, "Requests at the home node of devices for each 1000 cycles of the mesh.";
        MeshMovedRate = "mesh.rate.lines.moved", PerKiloMeshCycle, MeshMovedLines / MeshCycles, "Lines that cores read or sent as copy-backs for each 1000 cycles of the mesh.";
        MeshAskedRate = "mesh.rate.lines.asked", PerKiloMeshCycle, MeshAskedLines / MeshCycles, "Requests of mesh.lines.asked for each 1000 cycles of the mesh.";
        MeshAskedMostRate = "mesh.rate.lines.asked_most", PerKiloMeshCycle, MeshAskedMostLines / MeshCycles, "Requests of mesh.lines.asked_most for each 1000 cycles of the mesh.";
        MeshReadRate = "mesh.rate.home.reads", PerKiloMeshCycle, MeshReads / MeshCycles, "ReadNotSharedDirty requests at home nodes for each 1000 cycles of the mesh.";
        MeshReadUniqueRate = "mesh.rate.home.read_uniques", PerKiloMeshCycle, MeshReadUniques / MeshCycles, "ReadUnique requests at home nodes for each 1000 cycles of the mesh.";
        MeshMakeReadUniqueRate = "mesh.rate.home.make_read_uniques", PerKiloMeshCycle, MeshMakeReadUniques / MeshCycles, "MakeReadUnique requests at home nodes for each 1000 cycles of the mesh.";
        MeshMakeUniqueRate = "mesh.rate.home.make_uniques", PerKiloMeshCycle, MeshMakeUniques / MeshCycles, "MakeUnique requests at home nodes for each 1000 cycles of the mesh.";
        MeshWriteBackRate = "mesh.rate.home.write_backs", PerKiloMeshCycle, MeshWriteBacks / MeshCycles, "WriteBackFull requests at home nodes for each 1000 cycles of the mesh.";
        MeshWriteEvictRate = "mesh.rate.home.write_evicts", PerKiloMeshCycle, MeshWriteEvicts / MeshCycles, "WriteEvictOrEvict requests at home nodes for each 1000 cycles of the mesh.";
        MeshEvictRate = "mesh.rate.home.evicts", PerKiloMeshCycle, MeshEvicts / MeshCycles, "Evict requests at home nodes for each 1000 cycles of the mesh.";
    }
}

/// Returns the number of units of the whole that a quotient of this unit relates to.
const fn per(unit: TruthUnit) -> f64 {
    match unit {
        TruthUnit::PerKiloInstruction | TruthUnit::PerKiloMeshCycle => 1000.0,
        _ => 1.0,
    }
}

impl Truth {
    /// Returns the ground-truth value of a Neoverse N2 of this name.
    pub fn from_name(name: &str) -> Option<Truth> {
        Truth::ALL.iter().copied().find(|truth| truth.name() == name)
    }

    /// Returns the ground-truth value of the mesh of this name.
    pub fn of_mesh(name: &str) -> Option<Truth> {
        Truth::OF_MESH.iter().copied().find(|truth| truth.name() == name)
    }
}

/// Ground-truth values of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truths {
    values: Vec<f64>,
}

impl Truths {
    /// Sets a measured quantity. Quotients are derived.
    pub fn set(&mut self, truth: Truth, value: f64) {
        debug_assert!(truth.quotient().is_none(), "{truth:?} is derived");
        self.values.resize(COUNT, 0.0);
        self.values[truth as usize] = value;
    }

    /// Returns the value, or `None` for a quotient whose whole is 0.
    pub fn value(&self, truth: Truth) -> Option<f64> {
        let measured = |truth: Truth| self.values.get(truth as usize).copied().unwrap_or(0.0);
        match truth.quotient() {
            None => Some(measured(truth)),
            Some(Quotient { part, whole, per }) => {
                let whole = measured(whole);
                (whole > 0.0).then(|| per * measured(part) / whole)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_resolve_to_their_value() {
        let names: BTreeSet<_> = Truth::ALL.iter().map(|truth| truth.name()).collect();
        assert_eq!(names.len(), Truth::ALL.len());
        for truth in Truth::ALL {
            assert_eq!(Truth::from_name(truth.name()), Some(*truth));
            assert!(truth.definition().ends_with('.'), "{truth:?}");
        }
        assert_eq!(Truth::from_name("share.luck"), None);
    }

    #[test]
    fn quotients_are_made_of_measured_quantities() {
        for truth in Truth::ALL {
            if let Some(Quotient { part, whole, .. }) = truth.quotient() {
                assert!(part.quotient().is_none() && whole.quotient().is_none(), "{truth:?}");
            }
        }
        let mut truths = Truths::default();
        truths.set(Truth::Mispredicted, 3.0);
        assert_eq!(truths.value(Truth::BranchMpki), None, "nothing retired");
        truths.set(Truth::Retired, 1500.0);
        assert_eq!(truths.value(Truth::BranchMpki), Some(2.0));
        assert_eq!(truths.value(Truth::Mispredicted), Some(3.0));
    }
}
