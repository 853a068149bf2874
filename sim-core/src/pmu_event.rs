//! The one list of PMU events: number, mnemonic, meaning, guide section, unit, relations.
//!
//! Source of every row: Arm Neoverse N2 PMU Guide, issue 2.0, chapter 4 (the section is named in
//! the row). Slots per cycle and the `Implied*` relations are inferred, see `docs/decisions.md`.
//! Everything that lists events (help, config, reports, checks) is derived from this table.

use crate::event_meaning::{Nearest, hint, meant};
use crate::spelling::edit_distance;

/// Declares the enum [`PmuEvent`] and the table of [`PmuEvent::info`] from one list.
macro_rules! pmu_events {
    ($($code:literal $name:ident {
        group: $group:ident, section: $section:literal, unit: $unit:ident,
        title: $title:literal,
        counts: $counts:literal,
        excludes: $excludes:literal,
        other_names: [$($alt:literal),*],
        $($relation:ident: [$($other:ident),*],)*
    })*) => {
        /// An architected PMU event of the Neoverse N2, by Arm's mnemonic.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "Arm's mnemonics are the identifiers")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum PmuEvent {
            $(#[doc = $title] $name,)*
        }

        impl PmuEvent {
            /// Every event, in the order of the event numbers.
            pub const ALL: [PmuEvent; COUNT] = [$(PmuEvent::$name),*];
        }

        /// Number of events in the table.
        pub const COUNT: usize = [$($code),*].len();

        static TABLE: [EventInfo; COUNT] = [$(EventInfo {
            event: PmuEvent::$name,
            code: $code,
            mnemonic: stringify!($name),
            group: Group::$group,
            section: $section,
            unit: Unit::$unit,
            title: $title,
            counts: $counts,
            excludes: $excludes,
            relations: &[$(Relation { kind: RelationKind::$relation, others: &[$(PmuEvent::$other),*] }),*],
            other_names: &[$($alt),*],
        }),*];
    };
}

/// Part of the core to which an event belongs: the sections 4.1 to 4.14 of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Translation lookaside buffers and table walks, 4.1.
    Tlb,
    /// Level 1 data cache, 4.2.
    L1d,
    /// Level 1 instruction cache, 4.3.
    L1i,
    /// Level 2 cache, 4.4.
    L2,
    /// Last level cache, 4.5.
    Llc,
    /// Memory accesses and bus, 4.6.
    Memory,
    /// Pipeline stalls, 4.7.
    Pipeline,
    /// Load and store instructions, 4.8.
    LoadStore,
    /// Instructions and operations, 4.9.
    Instruction,
    /// Branches, 4.10.
    Branch,
    /// Exceptions, 4.11.
    Exception,
    /// Clocks and software events, 4.12.
    Cpu,
    /// Advanced SIMD, floating point, SVE, 4.13.
    Simd,
    /// Statistical profiling, 4.14.
    Spe,
}

impl Group {
    /// Every group, in the order of the guide.
    pub const ALL: [Group; 14] = [
        Group::Tlb,
        Group::L1d,
        Group::L1i,
        Group::L2,
        Group::Llc,
        Group::Memory,
        Group::Pipeline,
        Group::LoadStore,
        Group::Instruction,
        Group::Branch,
        Group::Exception,
        Group::Cpu,
        Group::Simd,
        Group::Spe,
    ];

    /// Returns a heading for reports.
    pub fn title(self) -> &'static str {
        match self {
            Group::Tlb => "TLBs and table walks",
            Group::L1d => "L1 data cache",
            Group::L1i => "L1 instruction cache",
            Group::L2 => "L2 cache",
            Group::Llc => "last level cache",
            Group::Memory => "memory accesses and bus",
            Group::Pipeline => "pipeline stalls",
            Group::LoadStore => "load and store instructions",
            Group::Instruction => "instructions and operations",
            Group::Branch => "branches",
            Group::Exception => "exceptions",
            Group::Cpu => "clocks and software events",
            Group::Simd => "Advanced SIMD, floating point, SVE",
            Group::Spe => "statistical profiling",
        }
    }

    /// Returns the section of the PMU guide, such as `4.1`.
    pub fn section(self) -> String {
        format!("4.{}", self as u8 + 1)
    }
}

/// Quantity of one count of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One occurrence.
    Event,
    /// One core clock cycle.
    Cycle,
    /// One of the five rename slots of a cycle.
    Slot,
}

/// Relation between the counts of two or more events over one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// Printed sum: the event equals the sum of the others (plus its own residue, as in
    /// `BUS_ACCESS`).
    SumOf,
    /// Printed alias: both count the same thing.
    AliasOf,
    /// Printed: not more than any of the others.
    SubsetOf,
    /// Printed: not less than any of the others.
    SupersetOf,
    /// Sum that follows from the definitions but is not printed.
    ImpliedSumOf,
    /// Subset that follows from the definitions.
    ImpliedSubsetOf,
    /// Superset that follows from the definitions.
    ImpliedSupersetOf,
    /// The counter stays 0 on this core.
    Never,
    /// Counts only while `CPUECTLR.EXTLLC` is 1.
    RequiresExtllc,
    /// Counts only tag-checked accesses (MTE).
    RequiresMte,
    /// Counts only while statistical profiling is enabled.
    RequiresSpe,
    /// Only an odd-numbered counter can count it.
    RequiresOddCounter,
}

/// One relation of an event to others.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The kind of relation.
    pub kind: RelationKind,
    /// The other side; empty for `Never` and `Requires*`.
    pub others: &'static [PmuEvent],
}

/// A row of the event table.
#[derive(Clone, Copy, Debug)]
pub struct EventInfo {
    /// The event itself.
    pub event: PmuEvent,
    /// Event number as programmed into PMEVTYPER.
    pub code: u16,
    /// Arm's mnemonic.
    pub mnemonic: &'static str,
    /// Part of the core.
    pub group: Group,
    /// Section of the PMU guide.
    pub section: &'static str,
    /// Quantity of one count.
    pub unit: Unit,
    /// Short title.
    pub title: &'static str,
    /// Occurrences that count.
    pub counts: &'static str,
    /// Occurrences that do not count.
    pub excludes: &'static str,
    /// Relations to other events.
    pub relations: &'static [Relation],
    /// Names of the same event in other published lists.
    pub other_names: &'static [&'static str],
}

/// An event that other Arm lists give for this core but the guide does not define.
#[derive(Clone, Copy, Debug)]
pub struct UnmodeledEvent {
    /// Event number.
    pub code: u16,
    /// Arm's mnemonic.
    pub mnemonic: &'static str,
}

/// The nine trace and trigger events of other published lists. Their names are known, but they are
/// not modeled.
pub const NOT_MODELED: [UnmodeledEvent; 9] = [
    UnmodeledEvent { code: 0x400C, mnemonic: "TRB_WRAP" },
    UnmodeledEvent { code: 0x4010, mnemonic: "TRCEXTOUT0" },
    UnmodeledEvent { code: 0x4011, mnemonic: "TRCEXTOUT1" },
    UnmodeledEvent { code: 0x4012, mnemonic: "TRCEXTOUT2" },
    UnmodeledEvent { code: 0x4013, mnemonic: "TRCEXTOUT3" },
    UnmodeledEvent { code: 0x4018, mnemonic: "CTI_TRIGOUT4" },
    UnmodeledEvent { code: 0x4019, mnemonic: "CTI_TRIGOUT5" },
    UnmodeledEvent { code: 0x401A, mnemonic: "CTI_TRIGOUT6" },
    UnmodeledEvent { code: 0x401B, mnemonic: "CTI_TRIGOUT7" },
];

/// Reason why a name or number is not an event that can be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventNameError {
    /// Known from other Arm lists, but not part of the model.
    #[error("event {0} (0x{1:04X}) is a trace or trigger event that n2sim does not model")]
    NotModeled(&'static str, u16),
    /// In no list. Carries the events that the name may mean.
    #[error("unknown event '{0}'{hint} (all names: n2sim list events)", hint = hint(.1))]
    Unknown(String, Nearest),
    /// A number that the core does not have.
    #[error("no event has the number 0x{0:X} on Neoverse N2 (all numbers: n2sim list events)")]
    UnknownCode(u32),
}

impl PmuEvent {
    /// Returns the row of the table.
    pub fn info(self) -> &'static EventInfo {
        &TABLE[self as usize]
    }

    /// Returns the event number as programmed into PMEVTYPER.
    pub fn code(self) -> u16 {
        self.info().code
    }

    /// Returns Arm's mnemonic.
    pub fn mnemonic(self) -> &'static str {
        self.info().mnemonic
    }

    /// Returns the name that Linux perf uses: the mnemonic in lower case.
    pub fn perf_name(self) -> String {
        self.mnemonic().to_ascii_lowercase()
    }

    /// Returns true when the counter always stays 0.
    pub fn never_counts(self) -> bool {
        self.relation(RelationKind::Never).is_some()
    }

    /// Returns the other side of a relation, if the event has one of this kind.
    pub fn relation(self, kind: RelationKind) -> Option<&'static [PmuEvent]> {
        self.info().relations.iter().find(|r| r.kind == kind).map(|r| r.others)
    }

    /// Returns the event with this number.
    pub fn from_code(code: u32) -> Result<PmuEvent, EventNameError> {
        if let Some(row) = TABLE.iter().find(|row| u32::from(row.code) == code) {
            return Ok(row.event);
        }
        match NOT_MODELED.iter().find(|row| u32::from(row.code) == code) {
            Some(row) => Err(EventNameError::NotModeled(row.mnemonic, row.code)),
            None => Err(EventNameError::UnknownCode(code)),
        }
    }

    /// Returns the event with this name: mnemonic or alternative name in any case, or `rNN` /
    /// `0xNN`.
    pub fn from_name(name: &str) -> Result<PmuEvent, EventNameError> {
        let upper = name.to_ascii_uppercase();
        let is_name = |row: &&EventInfo| {
            row.mnemonic == upper || row.other_names.iter().any(|other| *other == upper)
        };
        if let Some(row) = TABLE.iter().find(is_name) {
            return Ok(row.event);
        }
        if let Some(row) = NOT_MODELED.iter().find(|row| row.mnemonic == upper) {
            return Err(EventNameError::NotModeled(row.mnemonic, row.code));
        }
        let digits = upper.strip_prefix("0X").or_else(|| upper.strip_prefix('R'));
        if let Some(code) = digits.and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
            return PmuEvent::from_code(code);
        }
        Err(EventNameError::Unknown(name.to_owned(), nearest(&upper)))
    }
}

/// Returns the mnemonic with the smallest edit distance to `name`, if most of the name agrees.
fn closest(name: &str) -> Option<&'static str> {
    let distance = |mnemonic: &&str| edit_distance(mnemonic, name);
    let nearest = TABLE.iter().map(|row| row.mnemonic).min_by_key(distance)?;
    (2 * distance(&nearest) <= name.len()).then_some(nearest)
}

/// Returns the events that `name` may mean: by its words, or else by its letters.
fn nearest(name: &str) -> Nearest {
    match meant(name) {
        meant if meant.is_empty() => closest(name).map_or(Nearest::Nothing, Nearest::Name),
        meant => Nearest::Meaning(meant),
    }
}

pmu_events! {
    0x0000 SW_INCR {
        group: Cpu, section: "4.12.1", unit: Event,
        title: "Software increment",
        counts: "each software write to PMSWINC_EL0",
        excludes: "",
        other_names: [],
    }
    0x0001 L1I_CACHE_REFILL {
        group: L1i, section: "4.3.1", unit: Event,
        title: "L1 instruction cache refill",
        counts: "a line allocated in the L1 I-cache because an instruction fetch missed; once per line, however many instructions the fetch covers",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [L1I_CACHE],
    }
    0x0002 L1I_TLB_REFILL {
        group: Tlb, section: "4.1.1", unit: Event,
        title: "L1 instruction TLB refill",
        counts: "a new translation is installed in the L1 I-side TLB because of an I-side access; several outstanding misses satisfied by one refill count once",
        excludes: "a table walk that ends in a fault (translation, access flag, ...): no entry is created",
        other_names: [],
        SubsetOf: [L1I_TLB],
    }
    0x0003 L1D_CACHE_REFILL {
        group: L1d, section: "4.2.1", unit: Event,
        title: "L1 data cache refill",
        counts: "a line allocated in the L1 D-cache because a speculatively executed load or store missed; once per line: a later access that only waits for the rest of the same line adds nothing (0x800C then 0x8000 is one); a read that spans two missing lines counts two, one for each line",
        excludes: "lines allocated by preload instructions; lines allocated by the hardware prefetcher",
        other_names: [],
        SumOf: [L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_WR],
        SupersetOf: [L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER],
        ImpliedSumOf: [L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER],
        ImpliedSubsetOf: [L1D_CACHE],
    }
    0x0004 L1D_CACHE {
        group: L1d, section: "4.2.2", unit: Event,
        title: "L1 data cache access",
        counts: "each L1 D-cache access by a load or store operation, hit or miss; a near atomic (resolved in the caches of this CPU) counts two: one read and one write",
        excludes: "",
        other_names: [],
        SumOf: [L1D_CACHE_RD, L1D_CACHE_WR],
        ImpliedSupersetOf: [L1D_CACHE_REFILL],
    }
    0x0005 L1D_TLB_REFILL {
        group: Tlb, section: "4.1.2", unit: Event,
        title: "L1 data TLB refill",
        counts: "a new translation is installed in the L1 D-side TLB because of a D-side access; refills caused by preload instructions; refills caused by the hardware prefetcher; the miss is served by the L2 TLB (no walk needed); the miss is served by a table walk; several outstanding misses satisfied by one refill count once",
        excludes: "a table walk that ends in a fault; an access made by an address translation (AT) instruction",
        other_names: [],
        SumOf: [L1D_TLB_REFILL_RD, L1D_TLB_REFILL_WR],
    }
    0x0008 INST_RETIRED {
        group: Instruction, section: "4.9.1", unit: Event,
        title: "Instruction retired",
        counts: "each instruction architecturally executed (instructions, not operations: the same on any implementation)",
        excludes: "instructions abandoned, for example after a branch mispredict",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0009 EXC_TAKEN {
        group: Exception, section: "4.11.1", unit: Event,
        title: "Exception taken",
        counts: "every exception taken (IRQ, FIQ, SError, synchronous), locally or not",
        excludes: "an exception condition of an instruction or access that is never architecturally executed",
        other_names: [],
        ImpliedSupersetOf: [EXC_UNDEF, EXC_SVC, EXC_PABORT, EXC_DABORT, EXC_IRQ, EXC_FIQ, EXC_SMC, EXC_HVC, EXC_TRAP_PABORT, EXC_TRAP_DABORT, EXC_TRAP_OTHER, EXC_TRAP_IRQ, EXC_TRAP_FIQ],
    }
    0x000A EXC_RETURN {
        group: Exception, section: "4.11.2", unit: Event,
        title: "Exception return",
        counts: "an architecturally executed exception return: ERET in AArch64, SUBS PC, LR, #4 and the like in AArch32",
        excludes: "",
        other_names: [],
    }
    0x000B CID_WRITE_RETIRED {
        group: Cpu, section: "4.12.2", unit: Event,
        title: "Retired write to CONTEXTIDR",
        counts: "each architecturally executed write to CONTEXTIDR",
        excludes: "a write on an abandoned path (only architectural writes count)",
        other_names: [],
    }
    0x0010 BR_MIS_PRED {
        group: Branch, section: "4.10.1", unit: Event,
        title: "Branch mispredicted or not predicted",
        counts: "a speculatively executed branch that resolves and was mispredicted; a speculatively executed branch that resolves and had no prediction; the branch counts whether or not it retires",
        excludes: "a branch abandoned before it resolves",
        other_names: [],
        SubsetOf: [BR_PRED],
        ImpliedSupersetOf: [BR_MIS_PRED_RETIRED],
    }
    0x0011 CPU_CYCLES {
        group: Cpu, section: "4.12.3", unit: Cycle,
        title: "Core clock cycle",
        counts: "each cycle of the physical clock that drives the CPU logic; cycles spent in WFI or WFE",
        excludes: "timer cycles",
        other_names: [],
        ImpliedSupersetOf: [STALL_FRONTEND, STALL_BACKEND, STALL],
    }
    0x0012 BR_PRED {
        group: Branch, section: "4.10.2", unit: Event,
        title: "Predictable branch",
        counts: "each branch instruction speculatively executed, taken or not, retired or not, plain B included; branches that may have been mispredicted",
        excludes: "",
        other_names: [],
        SupersetOf: [BR_MIS_PRED],
    }
    0x0013 MEM_ACCESS {
        group: Memory, section: "4.6.1", unit: Event,
        title: "Data memory access",
        counts: "each memory access the load/store unit issues for a load or store, wherever the data is found; an access broken into smaller transactions counts each of them",
        excludes: "instruction fetches; cache maintenance instructions; table walks and translation prefetches; memory prefetch operations",
        other_names: [],
        SumOf: [MEM_ACCESS_RD, MEM_ACCESS_WR],
        SupersetOf: [MEM_ACCESS_CHECKED, MEM_ACCESS_RD_CHECKED, MEM_ACCESS_WR_CHECKED],
    }
    0x0014 L1I_CACHE {
        group: L1i, section: "4.3.2", unit: Event,
        title: "L1 instruction cache access",
        counts: "each instruction fetch that accesses the L1 I-cache; one fetch may cover several instructions and counts once",
        excludes: "accesses made by cache maintenance operations",
        other_names: [],
        ImpliedSupersetOf: [L1I_CACHE_REFILL],
    }
    0x0015 L1D_CACHE_WB {
        group: L1d, section: "4.2.3", unit: Event,
        title: "L1 data cache write-back",
        counts: "dirty data leaves the L1 D-cache for the L2 because its line is evicted to make room; dirty data leaves the L1 D-cache because of a snoop; dirty data leaves the L1 D-cache because of a cache maintenance operation; dirty data written to the L2 and further on to the next level",
        excludes: "an invalidation that moves no data out of the L1, such as the eviction of a clean line; full-line writes that go to the L2 without writing the L1 (write streaming)",
        other_names: [],
        SumOf: [L1D_CACHE_WB_CLEAN, L1D_CACHE_WB_VICTIM],
    }
    0x0016 L2D_CACHE {
        group: L2, section: "4.4.1", unit: Event,
        title: "L2 cache access",
        counts: "an L1 I-cache miss that looks up the L2; an L1 D-cache miss that looks up the L2; dirty data moved down from the L1 D-cache into the L2; hit or miss alike",
        excludes: "",
        other_names: [],
        SumOf: [L2D_CACHE_RD, L2D_CACHE_WR],
    }
    0x0017 L2D_CACHE_REFILL {
        group: L2, section: "4.4.2", unit: Event,
        title: "L2 cache refill",
        counts: "any line allocated in the L2 cache",
        excludes: "",
        other_names: [],
        SupersetOf: [L2D_CACHE_REFILL_RD],
    }
    0x0018 L2D_CACHE_WB {
        group: L2, section: "4.4.3", unit: Event,
        title: "L2 cache write-back",
        counts: "the L2 writes data out of the CPU; a snoop from another CPU for which the L2 returns data, whether or not it also invalidates the line",
        excludes: "an L2 invalidation that writes no data outside the CPU (a clean line); a snoop for which an L1 cache returns the data",
        other_names: [],
        SumOf: [L2D_CACHE_WB_VICTIM, L2D_CACHE_WB_CLEAN],
    }
    0x0019 BUS_ACCESS {
        group: Memory, section: "4.6.2", unit: Event,
        title: "Bus access",
        counts: "each transaction sent between the L2 memory system and the interconnect through the DSU, I-side or D-side; snoop requests; snoop responses; an access broken into smaller transactions counts each of them",
        excludes: "",
        other_names: [],
        SumOf: [BUS_ACCESS_RD, BUS_ACCESS_WR],
        ImpliedSupersetOf: [REMOTE_ACCESS, LL_CACHE_RD],
    }
    0x001A MEMORY_ERROR {
        group: Memory, section: "4.6.3", unit: Event,
        title: "Local memory error",
        counts: "each detected correctable error in a protected RAM of the core; each detected uncorrectable error in a protected RAM of the core; cache data and tag RAMs alike, parity or ECC; an access that is later abandoned counts too",
        excludes: "L2 cache memory errors; an error in a location that no operation accesses (it is not detected)",
        other_names: [],
    }
    0x001B INST_SPEC {
        group: Instruction, section: "4.9.2", unit: Event,
        title: "Instruction speculatively executed",
        counts: "each instruction speculatively executed, retired or abandoned",
        excludes: "",
        other_names: [],
        ImpliedSupersetOf: [INST_RETIRED, LD_SPEC, ST_SPEC, DP_SPEC, ASE_SPEC, VFP_SPEC, PC_WRITE_SPEC, CRYPTO_SPEC, BR_IMMED_SPEC, BR_INDIRECT_SPEC, ISB_SPEC],
    }
    0x001C TTBR_WRITE_RETIRED {
        group: Tlb, section: "4.1.3", unit: Event,
        title: "Retired write to a translation table base",
        counts: "architecturally executed write to TTBR0_EL1 or TTBR1_EL1; with HCR_EL2.E2H=1: write named TTBR0/1_EL1 that is redirected to TTBR0/1_EL2; with HCR_EL2.E2H=1: write named TTBR0/1_EL12",
        excludes: "a write on an abandoned path (only architectural writes count); reads of the registers (only writes count)",
        other_names: [],
    }
    0x001D BUS_CYCLES {
        group: Cpu, section: "4.12.4", unit: Cycle,
        title: "Bus clock cycle",
        counts: "each cycle in which a message could cross the CPU to DSU interface, which runs at the CPU clock",
        excludes: "",
        other_names: [],
        AliasOf: [CPU_CYCLES],
    }
    0x001E CHAIN {
        group: Cpu, section: "4.12.5", unit: Event,
        title: "Carry from the even counter",
        counts: "each overflow of the even-numbered counter just below; programmed on the odd counter of a pair it makes the pair one 64-bit counter",
        excludes: "",
        other_names: [],
        RequiresOddCounter: [],
    }
    0x0020 L2D_CACHE_ALLOCATE {
        group: L2, section: "4.4.4", unit: Event,
        title: "L2 cache allocation without refill",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x0021 BR_RETIRED {
        group: Branch, section: "4.10.3", unit: Event,
        title: "Branch retired",
        counts: "each architecturally executed branch, taken or not; each architecturally executed instruction that explicitly writes the PC",
        excludes: "",
        other_names: [],
        SupersetOf: [BR_MIS_PRED_RETIRED],
    }
    0x0022 BR_MIS_PRED_RETIRED {
        group: Branch, section: "4.10.4", unit: Event,
        title: "Mispredicted branch retired",
        counts: "a branch counted by BR_RETIRED that was not correctly predicted and flushed the pipeline",
        excludes: "",
        other_names: [],
        SubsetOf: [BR_RETIRED],
        ImpliedSubsetOf: [BR_MIS_PRED],
    }
    0x0023 STALL_FRONTEND {
        group: Pipeline, section: "4.7.1", unit: Cycle,
        title: "Cycle stalled by the front end",
        counts: "a cycle in which the fetch stages have no operation for the rename stage; in some cases a cycle lost to certain back end resource problems",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [STALL, CPU_CYCLES],
    }
    0x0024 STALL_BACKEND {
        group: Pipeline, section: "4.7.2", unit: Cycle,
        title: "Cycle stalled by the back end",
        counts: "a cycle in which decode/rename/dispatch cannot send operations on because a back end resource is short (issue stage, execute stage or other pipeline resource full)",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [STALL, CPU_CYCLES],
        ImpliedSupersetOf: [STALL_BACKEND_MEM],
    }
    0x0025 L1D_TLB {
        group: Tlb, section: "4.1.4", unit: Event,
        title: "L1 data TLB access",
        counts: "each L1 D-side TLB lookup made for a load or store memory operation, hit or miss; an instruction split into several memory operations counts one per operation",
        excludes: "TLB maintenance operations",
        other_names: [],
        SumOf: [L1D_TLB_RD, L1D_TLB_WR],
    }
    0x0026 L1I_TLB {
        group: Tlb, section: "4.1.5", unit: Event,
        title: "L1 instruction TLB access",
        counts: "each L1 I-side TLB lookup, hit or miss",
        excludes: "",
        other_names: [],
        SupersetOf: [L1I_TLB_REFILL],
    }
    0x0029 L3D_CACHE_ALLOCATE {
        group: Llc, section: "4.5.1", unit: Event,
        title: "L3 cache allocation without refill",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x002A L3D_CACHE_REFILL {
        group: Llc, section: "4.5.2", unit: Event,
        title: "L3 cache refill",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x002B L3D_CACHE {
        group: Llc, section: "4.5.3", unit: Event,
        title: "L3 cache access",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x002D L2D_TLB_REFILL {
        group: Tlb, section: "4.1.6", unit: Event,
        title: "L2 unified TLB refill",
        counts: "any entry allocated in the L2 TLB, for an I-side or a D-side access",
        excludes: "",
        other_names: ["L2TLB_REFILL"],
        SumOf: [L2D_TLB_REFILL_RD, L2D_TLB_REFILL_WR],
    }
    0x002F L2D_TLB {
        group: Tlb, section: "4.1.7", unit: Event,
        title: "L2 unified TLB access",
        counts: "any lookup in the L2 TLB, for an I-side or a D-side access, hit or miss",
        excludes: "lookups made by TLB maintenance operations",
        other_names: ["L2TLB_REQ"],
        SumOf: [L2D_TLB_RD, L2D_TLB_WR],
    }
    0x0031 REMOTE_ACCESS {
        group: Memory, section: "4.6.4", unit: Event,
        title: "Access to another socket",
        counts: "the bus response says that the data came from another chip (mesh)",
        excludes: "another chip was snooped but returned no data",
        other_names: [],
        ImpliedSubsetOf: [BUS_ACCESS],
    }
    0x0034 DTLB_WALK {
        group: Tlb, section: "4.1.8", unit: Event,
        title: "Table walk for a data access",
        counts: "each table walk driven by a D-side access that missed the L1 D-side TLB and the L2 TLB; a walk that starts from a cached partial translation; translations of the descriptor addresses themselves (these are D-side even when an instruction fetch started the walk)",
        excludes: "walks caused by TLB maintenance operations",
        other_names: [],
    }
    0x0035 ITLB_WALK {
        group: Tlb, section: "4.1.9", unit: Event,
        title: "Table walk for an instruction access",
        counts: "each table walk driven by an I-side access that missed the L1 I-side TLB and the L2 TLB; a walk that starts from a cached partial translation",
        excludes: "walks made to translate the addresses of page table descriptors (D-side, even under an instruction fetch); walks caused by TLB maintenance operations",
        other_names: [],
    }
    0x0036 LL_CACHE_RD {
        group: Llc, section: "4.5.4", unit: Event,
        title: "Last level cache read",
        counts: "cacheable read transaction whose data source is the system level cache of the interconnect; cacheable read transaction whose data source is a cache of a CPU in another cluster; cacheable read transaction whose data source is external memory (DRAM); cacheable read transaction whose data source is a remote device; a read transaction that a store caused by missing the L1 D-cache counts too",
        excludes: "anything at all while CPUECTLR.EXTLLC is clear; reads made by cache maintenance operations",
        other_names: [],
        SupersetOf: [LL_CACHE_MISS_RD],
        ImpliedSubsetOf: [BUS_ACCESS],
        RequiresExtllc: [],
    }
    0x0037 LL_CACHE_MISS_RD {
        group: Llc, section: "4.5.5", unit: Event,
        title: "Last level cache read miss",
        counts: "cacheable read transaction whose data source is a cache of a CPU in another cluster; cacheable read transaction whose data source is external memory (DRAM); cacheable read transaction whose data source is a remote device; a read transaction that a store caused counts too",
        excludes: "anything at all while CPUECTLR.EXTLLC is clear; data returned by the system level cache of the interconnect; reads made by cache maintenance operations",
        other_names: [],
        SubsetOf: [LL_CACHE_RD],
        RequiresExtllc: [],
    }
    0x0039 L1D_CACHE_LMISS_RD {
        group: L1d, section: "4.2.4", unit: Event,
        title: "L1 data cache long-latency read miss",
        counts: "exactly what L1D_CACHE_REFILL_RD counts",
        excludes: "",
        other_names: [],
        AliasOf: [L1D_CACHE_REFILL_RD],
    }
    0x003A OP_RETIRED {
        group: Instruction, section: "4.9.7", unit: Event,
        title: "Micro-operation retired",
        counts: "each operation (not instruction) architecturally executed",
        excludes: "operations abandoned, for example after a branch mispredict",
        other_names: [],
        SubsetOf: [OP_SPEC],
    }
    0x003B OP_SPEC {
        group: Instruction, section: "4.9.8", unit: Event,
        title: "Micro-operation speculatively executed",
        counts: "each operation (not instruction) speculatively executed, retired or abandoned",
        excludes: "",
        other_names: [],
        SupersetOf: [OP_RETIRED],
        ImpliedSupersetOf: [ASE_INST_SPEC, SVE_INST_SPEC, FP_HP_SPEC, FP_SP_SPEC, FP_DP_SPEC, SVE_PRED_SPEC, SVE_LDFF_SPEC, ASE_SVE_INT8_SPEC, ASE_SVE_INT16_SPEC, ASE_SVE_INT32_SPEC, ASE_SVE_INT64_SPEC],
    }
    0x003C STALL {
        group: Pipeline, section: "4.7.3", unit: Cycle,
        title: "Cycle in which no operation is sent",
        counts: "a cycle in which the CPU sends no operation for execution, whatever the reason",
        excludes: "",
        other_names: [],
        ImpliedSumOf: [STALL_FRONTEND, STALL_BACKEND],
        ImpliedSubsetOf: [CPU_CYCLES],
    }
    0x003D STALL_SLOT_BACKEND {
        group: Pipeline, section: "4.7.4", unit: Slot,
        title: "Slot lost to the back end",
        counts: "each rename slot whose operation cannot be sent on because a back end resource is short; several slots in one cycle count several",
        excludes: "",
        other_names: [],
        SubsetOf: [STALL_SLOT],
        SupersetOf: [STALL_BACKEND_MEM],
    }
    0x003E STALL_SLOT_FRONTEND {
        group: Pipeline, section: "4.7.5", unit: Slot,
        title: "Slot lost to the front end",
        counts: "each rename slot that was given no operation by the fetch stages; several slots in one cycle count several",
        excludes: "",
        other_names: [],
        SubsetOf: [STALL_SLOT],
    }
    0x003F STALL_SLOT {
        group: Pipeline, section: "4.7.6", unit: Slot,
        title: "Slot in which no operation is sent",
        counts: "each rename slot that sends no operation to the back end, for a back end or a front end reason; several slots in one cycle count several",
        excludes: "",
        other_names: [],
        SupersetOf: [STALL_SLOT_BACKEND, STALL_SLOT_FRONTEND],
        ImpliedSumOf: [STALL_SLOT_BACKEND, STALL_SLOT_FRONTEND],
    }
    0x0040 L1D_CACHE_RD {
        group: L1d, section: "4.2.5", unit: Event,
        title: "L1 data cache access, read",
        counts: "each load operation that looks up the L1 D-cache, hit or miss; the read half of a near atomic",
        excludes: "reads made by cache maintenance operations; prefetch operations",
        other_names: [],
        SubsetOf: [L1D_CACHE],
        ImpliedSupersetOf: [L1D_CACHE_REFILL_RD],
    }
    0x0041 L1D_CACHE_WR {
        group: L1d, section: "4.2.6", unit: Event,
        title: "L1 data cache access, write",
        counts: "each store operation that looks up the L1 D-cache; accesses made by DC ZVA; the write half of a near atomic",
        excludes: "",
        other_names: [],
        SubsetOf: [L1D_CACHE],
        ImpliedSupersetOf: [L1D_CACHE_REFILL_WR],
    }
    0x0042 L1D_CACHE_REFILL_RD {
        group: L1d, section: "4.2.7", unit: Event,
        title: "L1 data cache refill, read",
        counts: "a line allocated in the L1 D-cache because a speculatively executed load missed",
        excludes: "reads made by cache maintenance operations; preload instructions",
        other_names: [],
        SubsetOf: [L1D_CACHE_REFILL],
        ImpliedSubsetOf: [L1D_CACHE_RD],
    }
    0x0043 L1D_CACHE_REFILL_WR {
        group: L1d, section: "4.2.8", unit: Event,
        title: "L1 data cache refill, write",
        counts: "a line allocated in the L1 D-cache because a speculatively executed store missed",
        excludes: "lines allocated by preload instructions or by the hardware prefetcher (through L1D_CACHE_REFILL)",
        other_names: [],
        SubsetOf: [L1D_CACHE_REFILL],
        ImpliedSubsetOf: [L1D_CACHE_WR],
    }
    0x0044 L1D_CACHE_REFILL_INNER {
        group: L1d, section: "4.2.9", unit: Event,
        title: "L1 data cache refill served by the L2",
        counts: "an L1D_CACHE_REFILL allocation that an L2 hit supplied",
        excludes: "",
        other_names: [],
        SubsetOf: [L1D_CACHE_REFILL],
    }
    0x0045 L1D_CACHE_REFILL_OUTER {
        group: L1d, section: "4.2.10", unit: Event,
        title: "L1 data cache refill served from outside the cluster",
        counts: "an allocation counted by L1D_CACHE_REFILL whose data came from outside the cluster",
        excludes: "the data came from the L2 cache",
        other_names: [],
        SubsetOf: [L1D_CACHE_REFILL],
    }
    0x0046 L1D_CACHE_WB_VICTIM {
        group: L1d, section: "4.2.11", unit: Event,
        title: "L1 data cache write-back, victim",
        counts: "a dirty line evicted from the L1 D-cache because a new line is allocated for an access by this CPU",
        excludes: "evictions caused by cache maintenance operations",
        other_names: [],
        SubsetOf: [L1D_CACHE_WB],
    }
    0x0047 L1D_CACHE_WB_CLEAN {
        group: L1d, section: "4.2.12", unit: Event,
        title: "L1 data cache write-back for cleaning or coherency",
        counts: "a write-back out of the L1 D-cache caused by a coherency operation of another CPU, including its cache maintenance operations",
        excludes: "",
        other_names: [],
        SubsetOf: [L1D_CACHE_WB],
    }
    0x0048 L1D_CACHE_INVAL {
        group: L1d, section: "4.2.13", unit: Event,
        title: "L1 data cache line invalidation",
        counts: "a line of the L1 D-cache explicitly invalidated by a cache maintenance operation by virtual address; a line of the L1 D-cache explicitly invalidated by a broadcast coherency operation from another CPU",
        excludes: "a line that goes away because of a refill; a set/way cache maintenance operation executed on this CPU (set/way operations are never broadcast)",
        other_names: [],
    }
    0x004C L1D_TLB_REFILL_RD {
        group: Tlb, section: "4.1.10", unit: Event,
        title: "L1 data TLB refill, read",
        counts: "a new translation is installed in the L1 D-side TLB because of a data read; refills caused by preload instructions; refills caused by the hardware prefetcher; the miss is served by the L2 TLB (no walk needed); the miss is served by a table walk; several outstanding misses satisfied by one refill count once",
        excludes: "a table walk that ends in a fault; an access made by an address translation (AT) instruction",
        other_names: [],
        SubsetOf: [L1D_TLB_REFILL],
    }
    0x004D L1D_TLB_REFILL_WR {
        group: Tlb, section: "4.1.11", unit: Event,
        title: "L1 data TLB refill, write",
        counts: "a new translation is installed in the L1 D-side TLB because of a data write; refills caused by preload instructions; refills caused by the hardware prefetcher; the miss is served by the L2 TLB (no walk needed); the miss is served by a table walk; several outstanding misses satisfied by one refill count once",
        excludes: "a table walk that ends in a fault; an access made by an address translation (AT) instruction",
        other_names: [],
        SubsetOf: [L1D_TLB_REFILL],
    }
    0x004E L1D_TLB_RD {
        group: Tlb, section: "4.1.12", unit: Event,
        title: "L1 data TLB access, read",
        counts: "each L1 D-side TLB lookup made for a memory read, hit or miss",
        excludes: "TLB maintenance operations",
        other_names: [],
        SubsetOf: [L1D_TLB],
    }
    0x004F L1D_TLB_WR {
        group: Tlb, section: "4.1.13", unit: Event,
        title: "L1 data TLB access, write",
        counts: "each L1 D-side TLB lookup made for a memory write, hit or miss",
        excludes: "TLB maintenance operations",
        other_names: [],
        SubsetOf: [L1D_TLB],
    }
    0x0050 L2D_CACHE_RD {
        group: L2, section: "4.4.5", unit: Event,
        title: "L2 cache access, read",
        counts: "each read operation of this CPU that looks up the L2, hit or miss",
        excludes: "snoops from outside the CPU",
        other_names: [],
        SubsetOf: [L2D_CACHE],
    }
    0x0051 L2D_CACHE_WR {
        group: L2, section: "4.4.6", unit: Event,
        title: "L2 cache access, write",
        counts: "each memory write operation of this CPU that looks up the L2, hit or miss; a write-back from the L1 D-cache that goes into the L2; DC ZVA accesses, which are treated as stores",
        excludes: "snoops from outside the CPU",
        other_names: [],
        SubsetOf: [L2D_CACHE],
    }
    0x0052 L2D_CACHE_REFILL_RD {
        group: L2, section: "4.4.7", unit: Event,
        title: "L2 cache refill, read",
        counts: "a cacheable read of this CPU that makes data be read from outside the CPU; a store that misses in the L2, since the line is read in and allocated",
        excludes: "L2 refills caused by stashes into the L2",
        other_names: [],
        SubsetOf: [L2D_CACHE_REFILL],
    }
    0x0053 L2D_CACHE_REFILL_WR {
        group: L2, section: "4.4.8", unit: Event,
        title: "L2 cache refill, write",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x0056 L2D_CACHE_WB_VICTIM {
        group: L2, section: "4.4.9", unit: Event,
        title: "L2 cache write-back, victim",
        counts: "an eviction from the L2 because a line is allocated in the L2",
        excludes: "evictions caused by cache maintenance operations",
        other_names: [],
        SubsetOf: [L2D_CACHE_WB],
    }
    0x0057 L2D_CACHE_WB_CLEAN {
        group: L2, section: "4.4.10", unit: Event,
        title: "L2 cache write-back, cleaning and coherency",
        counts: "a write-back from the L2 caused by a cache maintenance operation; a write-back from the L2 that answers a snoop; a direct transfer to another CPU after a forwarding snoop",
        excludes: "",
        other_names: [],
        SubsetOf: [L2D_CACHE_WB],
    }
    0x0058 L2D_CACHE_INVAL {
        group: L2, section: "4.4.11", unit: Event,
        title: "L2 cache line invalidation",
        counts: "a line of the L2 explicitly invalidated by a cache maintenance operation by virtual address; a line of the L2 explicitly invalidated by an external coherency operation",
        excludes: "a line that goes away because of a refill; a set/way cache maintenance operation executed on this CPU",
        other_names: [],
    }
    0x005C L2D_TLB_REFILL_RD {
        group: Tlb, section: "4.1.14", unit: Event,
        title: "L2 unified TLB refill, read",
        counts: "any entry allocated in the L2 TLB for an I-side access or a D-side read",
        excludes: "",
        other_names: ["L2TLB_RD_REFILL"],
        SubsetOf: [L2D_TLB_REFILL],
    }
    0x005D L2D_TLB_REFILL_WR {
        group: Tlb, section: "4.1.15", unit: Event,
        title: "L2 unified TLB refill, write",
        counts: "any entry allocated in the L2 TLB for a D-side write",
        excludes: "",
        other_names: ["L2TLB_WR_REFILL"],
        SubsetOf: [L2D_TLB_REFILL],
    }
    0x005E L2D_TLB_RD {
        group: Tlb, section: "4.1.16", unit: Event,
        title: "L2 unified TLB access, read",
        counts: "any lookup in the L2 TLB for an I-side access or a D-side read",
        excludes: "lookups made by TLB maintenance operations",
        other_names: ["L2TLB_RD_REQ"],
        SubsetOf: [L2D_TLB],
    }
    0x005F L2D_TLB_WR {
        group: Tlb, section: "4.1.17", unit: Event,
        title: "L2 unified TLB access, write",
        counts: "any lookup in the L2 TLB for a D-side write",
        excludes: "lookups made by TLB maintenance operations",
        other_names: ["L2TLB_WR_REQ"],
        SubsetOf: [L2D_TLB],
    }
    0x0060 BUS_ACCESS_RD {
        group: Memory, section: "4.6.5", unit: Event,
        title: "Bus access, read",
        counts: "each memory read transaction the CPU issues to the interconnect; explicit reads; reads by cache prefetching; an access broken into smaller transactions counts each of them",
        excludes: "accesses issued from outside the CPU, such as coherent snoops",
        other_names: [],
        SubsetOf: [BUS_ACCESS],
    }
    0x0061 BUS_ACCESS_WR {
        group: Memory, section: "4.6.6", unit: Event,
        title: "Bus access, write",
        counts: "each memory write transaction the CPU issues to the interconnect; explicit writes; writes the caches issue for evictions; an access broken into smaller transactions counts each of them",
        excludes: "accesses issued from outside the CPU, such as coherent snoops",
        other_names: [],
        SubsetOf: [BUS_ACCESS],
    }
    0x0066 MEM_ACCESS_RD {
        group: Memory, section: "4.6.7", unit: Event,
        title: "Data memory access, read",
        counts: "each memory access issued for a load, wherever the data is found; atomic loads; an access broken into smaller transactions counts each of them",
        excludes: "instruction fetches; cache maintenance instructions; table walks and translation prefetches; memory prefetch operations",
        other_names: [],
        SubsetOf: [MEM_ACCESS],
        SupersetOf: [MEM_ACCESS_RD_CHECKED],
    }
    0x0067 MEM_ACCESS_WR {
        group: Memory, section: "4.6.8", unit: Event,
        title: "Data memory access, write",
        counts: "each memory access issued for a store, wherever the data is found; atomic loads and atomic stores; an access broken into smaller transactions counts each of them",
        excludes: "cache maintenance instructions; ordinary cache activity such as evictions; barriers (DSB, ESB, DMB, SSBB); CLREX; address translation (AT) instructions; atomic swaps",
        other_names: [],
        SubsetOf: [MEM_ACCESS],
        SupersetOf: [MEM_ACCESS_WR_CHECKED],
    }
    0x0068 UNALIGNED_LD_SPEC {
        group: LoadStore, section: "4.8.1", unit: Event,
        title: "Unaligned load instruction",
        counts: "an unaligned read instruction, judged on the instruction itself even if it is issued as several aligned accesses",
        excludes: "preload instructions (PLD, PLI)",
        other_names: [],
        SubsetOf: [UNALIGNED_LDST_SPEC],
        ImpliedSubsetOf: [LD_SPEC],
    }
    0x0069 UNALIGNED_ST_SPEC {
        group: LoadStore, section: "4.8.2", unit: Event,
        title: "Unaligned store instruction",
        counts: "an unaligned write instruction, judged on the instruction itself even if it is issued as several aligned accesses",
        excludes: "",
        other_names: [],
        SubsetOf: [UNALIGNED_LDST_SPEC],
        ImpliedSubsetOf: [ST_SPEC],
    }
    0x006A UNALIGNED_LDST_SPEC {
        group: LoadStore, section: "4.8.3", unit: Event,
        title: "Unaligned load or store instruction",
        counts: "an unaligned memory instruction, judged on the instruction itself even if it is issued as several aligned accesses",
        excludes: "",
        other_names: [],
        SumOf: [UNALIGNED_ST_SPEC, UNALIGNED_LD_SPEC],
    }
    0x006C LDREX_SPEC {
        group: LoadStore, section: "4.8.4", unit: Event,
        title: "Load-exclusive instruction",
        counts: "a load-exclusive instruction speculatively executed",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [LD_SPEC],
    }
    0x006D STREX_PASS_SPEC {
        group: LoadStore, section: "4.8.5", unit: Event,
        title: "Store-exclusive that succeeds",
        counts: "a store-exclusive instruction speculatively executed that did perform its store",
        excludes: "",
        other_names: [],
        SubsetOf: [STREX_SPEC],
    }
    0x006E STREX_FAIL_SPEC {
        group: LoadStore, section: "4.8.6", unit: Event,
        title: "Store-exclusive that fails",
        counts: "a store-exclusive instruction speculatively executed that did not perform its store",
        excludes: "",
        other_names: [],
        SubsetOf: [STREX_SPEC],
    }
    0x006F STREX_SPEC {
        group: LoadStore, section: "4.8.7", unit: Event,
        title: "Store-exclusive instruction",
        counts: "a store-exclusive instruction speculatively executed, pass or fail",
        excludes: "",
        other_names: [],
        SumOf: [STREX_PASS_SPEC, STREX_FAIL_SPEC],
        ImpliedSubsetOf: [ST_SPEC],
    }
    0x0070 LD_SPEC {
        group: LoadStore, section: "4.8.8", unit: Event,
        title: "Load instruction",
        counts: "a load instruction speculatively executed, SIMD loads included",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
        ImpliedSupersetOf: [UNALIGNED_LD_SPEC, LDREX_SPEC, RC_LD_SPEC],
    }
    0x0071 ST_SPEC {
        group: LoadStore, section: "4.8.9", unit: Event,
        title: "Store instruction",
        counts: "a store instruction speculatively executed, SIMD stores included",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
        ImpliedSupersetOf: [UNALIGNED_ST_SPEC, STREX_SPEC, RC_ST_SPEC],
    }
    0x0072 LDST_SPEC {
        group: LoadStore, section: "4.8.10", unit: Event,
        title: "Load or store instruction",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x0073 DP_SPEC {
        group: Instruction, section: "4.9.3", unit: Event,
        title: "Integer data-processing instruction",
        counts: "a logical or arithmetic instruction speculatively executed, MOV and MVN included",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0074 ASE_SPEC {
        group: Simd, section: "4.13.1", unit: Event,
        title: "Advanced SIMD instruction",
        counts: "an Advanced SIMD instruction speculatively executed",
        excludes: "plain data moves into or out of SIMD (vector) registers",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0075 VFP_SPEC {
        group: Simd, section: "4.13.2", unit: Event,
        title: "Floating-point instruction",
        counts: "a floating-point instruction speculatively executed",
        excludes: "plain data moves into or out of floating-point (vector) registers",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0076 PC_WRITE_SPEC {
        group: Instruction, section: "4.9.4", unit: Event,
        title: "Instruction that changes the PC",
        counts: "branch instructions; loads whose destination is the PC; exception-generating instructions such as SMC and HVC; BKPT",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0077 CRYPTO_SPEC {
        group: Instruction, section: "4.9.5", unit: Event,
        title: "Cryptographic instruction",
        counts: "a cryptographic instruction speculatively executed",
        excludes: "PMULL and VMULL",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0078 BR_IMMED_SPEC {
        group: Branch, section: "4.10.5", unit: Event,
        title: "Immediate branch",
        counts: "B; B.cond; BL; CBZ and CBNZ; TBZ and TBNZ",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x0079 BR_RETURN_SPEC {
        group: Branch, section: "4.10.6", unit: Event,
        title: "Procedure return",
        counts: "RET speculatively executed",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [BR_INDIRECT_SPEC],
    }
    0x007A BR_INDIRECT_SPEC {
        group: Branch, section: "4.10.7", unit: Event,
        title: "Indirect branch",
        counts: "an indirect branch such as BR Xn or RET; any other instruction that forces a software change of the PC",
        excludes: "exception-generating instructions; immediate branches",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
        ImpliedSupersetOf: [BR_RETURN_SPEC],
    }
    0x007C ISB_SPEC {
        group: Instruction, section: "4.9.6", unit: Event,
        title: "ISB",
        counts: "an ISB instruction speculatively executed",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [INST_SPEC],
    }
    0x007D DSB_SPEC {
        group: LoadStore, section: "4.8.11", unit: Event,
        title: "DSB",
        counts: "a DSB instruction issued to the load/store unit, on the right or on an abandoned path",
        excludes: "",
        other_names: [],
    }
    0x007E DMB_SPEC {
        group: LoadStore, section: "4.8.12", unit: Event,
        title: "DMB",
        counts: "a DMB instruction issued to the load/store unit, on the right or on an abandoned path",
        excludes: "the implied barriers of load-acquire and store-release instructions",
        other_names: [],
    }
    0x0081 EXC_UNDEF {
        group: Exception, section: "4.11.3", unit: Event,
        title: "Other synchronous exception taken locally",
        counts: "a synchronous exception taken locally that is none of the kinds excluded",
        excludes: "SVC; SMC; HVC; data aborts; instruction aborts; interrupts",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0082 EXC_SVC {
        group: Exception, section: "4.11.4", unit: Event,
        title: "SVC taken locally",
        counts: "an SVC exception taken locally",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0083 EXC_PABORT {
        group: Exception, section: "4.11.5", unit: Event,
        title: "Instruction abort taken locally",
        counts: "a synchronous exception taken locally and caused by an instruction abort",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0084 EXC_DABORT {
        group: Exception, section: "4.11.6", unit: Event,
        title: "Data abort or SError taken locally",
        counts: "a read or write for which the MMU generates a fault, taken locally; a read or write with a misaligned address that faults, taken locally; an interrupt from the nREI or nSEI input, taken locally; an internally generated SError, taken locally",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0086 EXC_IRQ {
        group: Exception, section: "4.11.7", unit: Event,
        title: "IRQ taken locally",
        counts: "an IRQ taken locally; an IRQ that the hypervisor delivers to a guest OS",
        excludes: "a virtual IRQ that the hypervisor takes itself",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0087 EXC_FIQ {
        group: Exception, section: "4.11.8", unit: Event,
        title: "FIQ taken locally",
        counts: "an FIQ taken to EL3 from EL3; an FIQ taken to EL1 (not a usual case)",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0088 EXC_SMC {
        group: Exception, section: "4.11.9", unit: Event,
        title: "SMC taken to EL3",
        counts: "an SMC exception taken to EL3",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008A EXC_HVC {
        group: Exception, section: "4.11.10", unit: Event,
        title: "HVC taken to EL2",
        counts: "an HVC exception taken to EL2",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008B EXC_TRAP_PABORT {
        group: Exception, section: "4.11.11", unit: Event,
        title: "Instruction abort not taken locally",
        counts: "a synchronous exception not taken locally and caused by an instruction abort",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008C EXC_TRAP_DABORT {
        group: Exception, section: "4.11.12", unit: Event,
        title: "Data abort or SError not taken locally",
        counts: "a read or write for which the MMU generates a fault, not taken locally; a read or write with a misaligned address that faults, not taken locally; an interrupt from the nREI or nSEI input (rarely wired on this core), not taken locally; an internally generated SError, not taken locally",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008D EXC_TRAP_OTHER {
        group: Exception, section: "4.11.13", unit: Event,
        title: "Other synchronous exception not taken locally",
        counts: "a synchronous exception not taken locally that is none of the kinds excluded",
        excludes: "SVC; SMC; HVC; data aborts; instruction aborts; interrupts",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008E EXC_TRAP_IRQ {
        group: Exception, section: "4.11.14", unit: Event,
        title: "IRQ not taken locally",
        counts: "an IRQ taken to EL2; an IRQ taken to EL3",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x008F EXC_TRAP_FIQ {
        group: Exception, section: "4.11.15", unit: Event,
        title: "FIQ not taken locally",
        counts: "an FIQ that leaves EL0, EL1 or EL2 for EL3",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [EXC_TAKEN],
    }
    0x0090 RC_LD_SPEC {
        group: LoadStore, section: "4.8.13", unit: Event,
        title: "Load-acquire instruction",
        counts: "a load-acquire instruction (LDAR, LDARH, LDARB and the like) speculatively executed",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [LD_SPEC],
    }
    0x0091 RC_ST_SPEC {
        group: LoadStore, section: "4.8.14", unit: Event,
        title: "Store-release instruction",
        counts: "a store-release instruction (STLR, STLRH, STLRB and the like) speculatively executed",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [ST_SPEC],
    }
    0x00A0 L3_CACHE_RD {
        group: Llc, section: "4.5.6", unit: Event,
        title: "L3 cache read",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: ["L3D_CACHE_RD"],
        Never: [],
    }
    0x4000 SAMPLE_POP {
        group: Spe, section: "4.14.1", unit: Event,
        title: "Operation that might be sampled",
        counts: "each operation that might be sampled while SPE is enabled, sampled or not",
        excludes: "operations at an Exception level or in a Security state where SPE is not enabled",
        other_names: [],
        ImpliedSupersetOf: [SAMPLE_FEED, SAMPLE_COLLISION],
        RequiresSpe: [],
    }
    0x4001 SAMPLE_FEED {
        group: Spe, section: "4.14.2", unit: Event,
        title: "Sample taken",
        counts: "the interval counter reaches zero and is reloaded, without a collision with the previous sample; a sample that filtering later removes; a sample that is later discarded; a sample that is never written to the buffer",
        excludes: "a sample that collides with the previous one",
        other_names: [],
        SupersetOf: [SAMPLE_FILTRATE],
        ImpliedSubsetOf: [SAMPLE_POP],
        RequiresSpe: [],
    }
    0x4002 SAMPLE_FILTRATE {
        group: Spe, section: "4.14.3", unit: Event,
        title: "Sample not removed by filtering",
        counts: "each sample that the filters let through; one let through but then discarded because of a buffer management event",
        excludes: "a sample removed by a filter; a sample of a misspeculated operation that the implementation does not record",
        other_names: [],
        SubsetOf: [SAMPLE_FEED],
        RequiresSpe: [],
    }
    0x4003 SAMPLE_COLLISION {
        group: Spe, section: "4.14.4", unit: Event,
        title: "Sample collided with the previous one",
        counts: "a sample falls due while the previously sampled operation has not finished its record",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [SAMPLE_POP],
        RequiresSpe: [],
    }
    0x4004 CNT_CYCLES {
        group: Cpu, section: "4.12.6", unit: Cycle,
        title: "Constant frequency cycle",
        counts: "each tick of the external system clock as CNTPCT_EL0 measures it",
        excludes: "ticks while the CPU is in WFI or WFE",
        other_names: [],
    }
    0x4005 STALL_BACKEND_MEM {
        group: Pipeline, section: "4.7.7", unit: Cycle,
        title: "Cycle stalled by the back end on memory",
        counts: "a cycle in which no back end slot (issue or execute) is open and, at the same time, a miss of the L2 is pending outside the CPU",
        excludes: "",
        other_names: [],
        SubsetOf: [STALL_SLOT_BACKEND],
        ImpliedSubsetOf: [STALL_BACKEND],
    }
    0x4006 L1I_CACHE_LMISS {
        group: L1i, section: "4.3.3", unit: Event,
        title: "L1 instruction cache long-latency miss",
        counts: "exactly what L1I_CACHE_REFILL counts",
        excludes: "",
        other_names: [],
        AliasOf: [L1I_CACHE_REFILL],
    }
    0x4009 L2D_CACHE_LMISS_RD {
        group: L2, section: "4.4.12", unit: Event,
        title: "L2 cache long-latency read miss",
        counts: "exactly what L2D_CACHE_REFILL_RD counts",
        excludes: "",
        other_names: [],
        AliasOf: [L2D_CACHE_REFILL_RD],
    }
    0x400B L3D_CACHE_LMISS_RD {
        group: Llc, section: "4.5.7", unit: Event,
        title: "L3 cache long-latency read miss",
        counts: "",
        excludes: "everything: this core never raises the event",
        other_names: [],
        Never: [],
    }
    0x4020 LDST_ALIGN_LAT {
        group: Memory, section: "4.6.9", unit: Event,
        title: "Access delayed by its alignment",
        counts: "a memory access that has to be split over two cycles for a micro-architectural reason",
        excludes: "",
        other_names: [],
        SupersetOf: [LD_ALIGN_LAT, ST_ALIGN_LAT],
        ImpliedSumOf: [LD_ALIGN_LAT, ST_ALIGN_LAT],
    }
    0x4021 LD_ALIGN_LAT {
        group: Memory, section: "4.6.10", unit: Event,
        title: "Load delayed by its alignment",
        counts: "a read split over two cycles because it spans two cache lines; a 128-bit read split over two cycles because its address is not word aligned",
        excludes: "",
        other_names: [],
        SubsetOf: [LDST_ALIGN_LAT],
    }
    0x4022 ST_ALIGN_LAT {
        group: Memory, section: "4.6.11", unit: Event,
        title: "Store delayed by its alignment",
        counts: "a store split over two cycles because it spans a page boundary",
        excludes: "",
        other_names: [],
        SubsetOf: [LDST_ALIGN_LAT],
    }
    0x4024 MEM_ACCESS_CHECKED {
        group: Memory, section: "4.6.12", unit: Event,
        title: "Tag-checked data memory access",
        counts: "a memory access whose tag is checked by MTE, whether the check passes or fails",
        excludes: "",
        other_names: [],
        SubsetOf: [MEM_ACCESS],
        SupersetOf: [MEM_ACCESS_RD_CHECKED, MEM_ACCESS_WR_CHECKED],
        ImpliedSumOf: [MEM_ACCESS_RD_CHECKED, MEM_ACCESS_WR_CHECKED],
        RequiresMte: [],
    }
    0x4025 MEM_ACCESS_RD_CHECKED {
        group: Memory, section: "4.6.13", unit: Event,
        title: "Tag-checked data memory access, read",
        counts: "a memory read whose tag is checked by MTE, whether the check passes or fails",
        excludes: "",
        other_names: ["MEM_ACCESS_CHECKED_RD"],
        SubsetOf: [MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_CHECKED],
        RequiresMte: [],
    }
    0x4026 MEM_ACCESS_WR_CHECKED {
        group: Memory, section: "4.6.14", unit: Event,
        title: "Tag-checked data memory access, write",
        counts: "a memory write whose tag is checked by MTE, whether the check passes or fails",
        excludes: "",
        other_names: ["MEM_ACCESS_CHECKED_WR"],
        SubsetOf: [MEM_ACCESS, MEM_ACCESS_WR, MEM_ACCESS_CHECKED],
        RequiresMte: [],
    }
    0x8005 ASE_INST_SPEC {
        group: Simd, section: "4.13.3", unit: Event,
        title: "Operation of an Advanced SIMD instruction",
        counts: "an operation generated by an Advanced SIMD instruction, speculatively executed",
        excludes: "plain data moves into or out of SIMD (vector) registers",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x8006 SVE_INST_SPEC {
        group: Simd, section: "4.13.4", unit: Event,
        title: "Operation of an SVE instruction",
        counts: "an operation generated by an SVE instruction, speculatively executed",
        excludes: "plain data moves into or out of SVE (vector) registers",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x8014 FP_HP_SPEC {
        group: Simd, section: "4.13.5", unit: Event,
        title: "Half-precision floating-point operation",
        counts: "an operation of a scalar floating-point, Advanced SIMD floating-point or SVE floating-point instruction whose largest type is half precision",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x8018 FP_SP_SPEC {
        group: Simd, section: "4.13.6", unit: Event,
        title: "Single-precision floating-point operation",
        counts: "an operation of a scalar floating-point, Advanced SIMD floating-point or SVE floating-point instruction whose largest type is single precision",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x801C FP_DP_SPEC {
        group: Simd, section: "4.13.7", unit: Event,
        title: "Double-precision floating-point operation",
        counts: "an operation of a scalar floating-point, Advanced SIMD floating-point or SVE floating-point instruction whose largest type is double precision",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x8074 SVE_PRED_SPEC {
        group: Simd, section: "4.13.8", unit: Event,
        title: "Predicated SVE operation",
        counts: "a SIMD data-processing, load or store operation of an SVE instruction that has a governing predicate",
        excludes: "",
        other_names: [],
        SupersetOf: [SVE_PRED_EMPTY_SPEC, SVE_PRED_FULL_SPEC, SVE_PRED_PARTIAL_SPEC, SVE_PRED_NOT_FULL_SPEC],
        ImpliedSumOf: [SVE_PRED_EMPTY_SPEC, SVE_PRED_FULL_SPEC, SVE_PRED_PARTIAL_SPEC],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x8075 SVE_PRED_EMPTY_SPEC {
        group: Simd, section: "4.13.9", unit: Event,
        title: "Predicated SVE operation, all elements inactive",
        counts: "as SVE_PRED_SPEC, every element of the governing predicate FALSE",
        excludes: "",
        other_names: [],
        SubsetOf: [SVE_PRED_SPEC],
        ImpliedSubsetOf: [SVE_PRED_NOT_FULL_SPEC],
    }
    0x8076 SVE_PRED_FULL_SPEC {
        group: Simd, section: "4.13.10", unit: Event,
        title: "Predicated SVE operation, all elements active",
        counts: "as SVE_PRED_SPEC, every element of the governing predicate TRUE",
        excludes: "",
        other_names: [],
        SubsetOf: [SVE_PRED_SPEC],
    }
    0x8077 SVE_PRED_PARTIAL_SPEC {
        group: Simd, section: "4.13.11", unit: Event,
        title: "Predicated SVE operation, some elements active",
        counts: "as SVE_PRED_SPEC, the elements of the governing predicate neither all TRUE nor all FALSE",
        excludes: "",
        other_names: [],
        SubsetOf: [SVE_PRED_SPEC],
        ImpliedSubsetOf: [SVE_PRED_NOT_FULL_SPEC],
    }
    0x8079 SVE_PRED_NOT_FULL_SPEC {
        group: Simd, section: "4.13.12", unit: Event,
        title: "Predicated SVE operation, an element inactive",
        counts: "as SVE_PRED_SPEC, at least one element of the governing predicate FALSE",
        excludes: "",
        other_names: [],
        SubsetOf: [SVE_PRED_SPEC],
        ImpliedSumOf: [SVE_PRED_EMPTY_SPEC, SVE_PRED_PARTIAL_SPEC],
        ImpliedSupersetOf: [SVE_PRED_EMPTY_SPEC, SVE_PRED_PARTIAL_SPEC],
    }
    0x80BC SVE_LDFF_SPEC {
        group: Simd, section: "4.13.13", unit: Event,
        title: "SVE first-fault or non-fault load operation",
        counts: "a memory read operation of an SVE first-fault load; a memory read operation of an SVE non-fault load",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
        ImpliedSupersetOf: [SVE_LDFF_FAULT_SPEC],
    }
    0x80BD SVE_LDFF_FAULT_SPEC {
        group: Simd, section: "4.13.14", unit: Event,
        title: "SVE first-fault or non-fault load that clears FFR bits",
        counts: "as SVE_LDFF_SPEC, when the load clears one or more bits of the first fault register (FFR)",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [SVE_LDFF_SPEC],
    }
    0x80C0 FP_SCALE_OPS_SPEC {
        group: Simd, section: "4.13.15", unit: Event,
        title: "Scalable floating-point element operation",
        counts: "floating-point operations generated by SVE instructions",
        excludes: "the work of scalar floating-point and Advanced SIMD instructions",
        other_names: [],
    }
    0x80C1 FP_FIXED_OPS_SPEC {
        group: Simd, section: "4.13.16", unit: Event,
        title: "Non-scalable floating-point element operation",
        counts: "floating-point operations generated by scalar floating-point or Advanced SIMD instructions",
        excludes: "operations generated by SVE instructions",
        other_names: [],
    }
    0x80E3 ASE_SVE_INT8_SPEC {
        group: Simd, section: "4.13.17", unit: Event,
        title: "SIMD integer operation, largest type 8-bit",
        counts: "an integer arithmetic operation of an Advanced SIMD or SVE data-processing instruction whose largest type is 8-bit integer",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x80E7 ASE_SVE_INT16_SPEC {
        group: Simd, section: "4.13.18", unit: Event,
        title: "SIMD integer operation, largest type 16-bit",
        counts: "an integer arithmetic operation of an Advanced SIMD or SVE data-processing instruction whose largest type is 16-bit integer",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x80EB ASE_SVE_INT32_SPEC {
        group: Simd, section: "4.13.19", unit: Event,
        title: "SIMD integer operation, largest type 32-bit",
        counts: "an integer arithmetic operation of an Advanced SIMD or SVE data-processing instruction whose largest type is 32-bit integer",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
    0x80EF ASE_SVE_INT64_SPEC {
        group: Simd, section: "4.13.20", unit: Event,
        title: "SIMD integer operation, largest type 64-bit",
        counts: "an integer arithmetic operation of an Advanced SIMD or SVE data-processing instruction whose largest type is 64-bit integer",
        excludes: "",
        other_names: [],
        ImpliedSubsetOf: [OP_SPEC],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_defines_147_events_with_ascending_numbers() {
        assert_eq!(COUNT, 147);
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn every_event_is_in_the_section_of_its_group() {
        for (i, group) in Group::ALL.iter().enumerate() {
            assert_eq!(*group as usize, i);
        }
        for event in PmuEvent::ALL {
            let section = format!("{}.", event.info().group.section());
            assert!(event.info().section.starts_with(&section), "{}", event.mnemonic());
        }
    }

    #[test]
    fn eight_events_never_count_and_thirteen_sums_are_printed() {
        let never = PmuEvent::ALL.iter().filter(|e| e.never_counts()).count();
        let sums =
            PmuEvent::ALL.iter().filter(|e| e.relation(RelationKind::SumOf).is_some()).count();
        assert_eq!((never, sums), (8, 13));
    }

    #[test]
    fn every_printed_subset_has_its_superset_written_at_the_other_end() {
        for event in PmuEvent::ALL {
            for parent in event.relation(RelationKind::SubsetOf).unwrap_or_default() {
                let back = [RelationKind::SupersetOf, RelationKind::SumOf]
                    .iter()
                    .any(|k| parent.relation(*k).is_some_and(|others| others.contains(&event)));
                assert!(back, "{} is a subset of {}", event.mnemonic(), parent.mnemonic());
            }
        }
    }

    #[test]
    fn names_are_accepted_in_every_spelling() {
        let event = PmuEvent::L1D_CACHE_REFILL;
        for name in ["L1D_CACHE_REFILL", "l1d_cache_refill", "r03", "r3", "0x3"] {
            assert_eq!(PmuEvent::from_name(name), Ok(event), "{name}");
        }
        assert_eq!(
            PmuEvent::from_name("MEM_ACCESS_CHECKED_RD"),
            Ok(PmuEvent::MEM_ACCESS_RD_CHECKED)
        );
        assert_eq!(
            PmuEvent::from_name("trb_wrap"),
            Err(EventNameError::NotModeled("TRB_WRAP", 0x400C))
        );
        let unknown = PmuEvent::from_name("L1D_CACHE_REFIL");
        assert_eq!(
            unknown,
            Err(EventNameError::Unknown(
                "L1D_CACHE_REFIL".to_owned(),
                Nearest::Name("L1D_CACHE_REFILL")
            ))
        );
        let far = PmuEvent::from_name("task-clock").expect_err("no event of the PMU").to_string();
        assert_eq!(far, "unknown event 'task-clock' (all names: n2sim list events)");
    }
}
