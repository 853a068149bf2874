//! Static description of one instruction: the properties of its word that the pipeline needs.

use sim_core::{EventTally, Maintenance, PmuEvent, TagUse};

use crate::fusion::Fusion;
use crate::micro_op::UopGroup;
use crate::path_class::PathClass;
use crate::rename_resources::RenameResources;
use crate::system::ContextWrite;
use crate::uop_counts::UopCounts;

/// One architectural register as a dependency name. General 0..=30, SP 31, NZCV 32, vector 33..=64
/// (a Z register is its V register), predicates 65..=80, FFR 81. The zero register has no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

impl Reg {
    /// Number of register names.
    pub const COUNT: usize = 82;
    /// Stack pointer.
    pub const SP: Reg = Reg(31);
    /// Condition flags.
    pub const NZCV: Reg = Reg(32);
    /// First-fault register.
    pub const FFR: Reg = Reg(81);

    /// Placeholder for a missing source: not a register, always ready.
    pub const READY: Reg = Reg(82);
    /// Placeholder for a missing destination.
    pub const NOWHERE: Reg = Reg(83);

    /// Returns general register `n`, 0 to 30.
    pub const fn x(n: u32) -> Reg {
        Reg(n as u8)
    }

    /// Returns vector register `n`, 0 to 31.
    pub const fn v(n: u32) -> Reg {
        Reg(33 + n as u8)
    }

    /// Returns predicate register `n`, 0 to 15.
    pub const fn p(n: u32) -> Reg {
        Reg(65 + n as u8)
    }

    /// Returns true for a predicate register.
    #[inline]
    pub fn is_predicate(self) -> bool {
        (Reg::p(0).0..=Reg::p(15).0).contains(&self.0)
    }

    /// Returns the physical register file that holds the register.
    #[inline]
    pub fn file(self) -> RegFile {
        match self.0 {
            0..=31 => RegFile::General,
            32 => RegFile::Flags,
            _ => RegFile::Vector,
        }
    }
}

/// A physical register file of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegFile {
    /// 64-bit general registers and SP.
    General,
    /// NZCV.
    Flags,
    /// Vector, predicate and first-fault registers.
    Vector,
}

/// Kind of change of the program counter by an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BranchKind {
    /// Not a branch.
    #[default]
    None,
    /// `B`.
    Direct,
    /// `B.cond`, `CBZ`, `TBZ` and related instructions.
    Conditional,
    /// `BL`.
    Call,
    /// `BR` and authenticated forms.
    Indirect,
    /// `BLR` and authenticated forms.
    IndirectCall,
    /// `RET` and authenticated forms.
    Return,
    /// `ERET` and authenticated forms.
    ExceptionReturn,
}

/// Operation of an instruction on data memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemOp {
    /// No access.
    #[default]
    None,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Atomic read-modify-write that returns the old value (`LDADD`, `CAS` ...).
    AtomicLoad,
    /// Atomic read-modify-write without a result (`STADD` ...).
    AtomicStore,
    /// `SWP`.
    AtomicSwap,
    /// Preload for load (`PRFM PLD`), SVE prefetch for load.
    PrefetchLoad,
    /// Preload for store (`PRFM PST`).
    PrefetchStore,
    /// Preload of instructions (`PRFM PLI`).
    PrefetchInst,
    /// `DC ZVA`.
    ZeroLine,
    /// Cache maintenance by address: `DC CVAC`, `DC CIVAC`, `DC IVAC`, `IC IVAU` ...;
    /// [`Inst::maintenance`] holds the operation.
    Maintenance,
}

impl MemOp {
    /// Returns true if the operation leaves the core through the store queue.
    pub(crate) fn stores(self) -> bool {
        matches!(
            self,
            MemOp::Store
                | MemOp::ZeroLine
                | MemOp::AtomicStore
                | MemOp::AtomicLoad
                | MemOp::AtomicSwap
                | MemOp::Maintenance
        )
    }
}

/// Elements of an SVE load that may fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faulting {
    /// Every element.
    #[default]
    Every,
    /// The first active element. A fault of another element ends the load and clears bits of the
    /// FFR.
    First,
    /// No element. Any fault ends the load and clears bits of the FFR.
    Never,
}

/// Memory access of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemShape {
    /// Operation on memory.
    pub op: MemOp,
    /// Bytes from the first to the last of all registers together (0 without an access).
    pub bytes: u16,
    /// Alignment in bytes at which the access counts as aligned.
    pub align: u8,
    /// Bytes of one register of the access: 8 for `LDP X`, 16 for `LDR Q`.
    pub register_bytes: u8,
    /// Use of allocation tags.
    pub tags: TagUse,
    /// Load-acquire or store-release ordering (`LDAR`, `LDAPR`, `STLR`, acquire atomics).
    pub ordered: bool,
    /// Load-exclusive or store-exclusive.
    pub exclusive: bool,
    /// More than one independent address (SVE gather or scatter).
    pub scattered: bool,
    /// Number of elements that a governing predicate controls (SVE), 0 without such a predicate.
    pub elements: u8,
    /// Elements of a load that may fault.
    pub faulting: Faulting,
}

impl MemShape {
    /// Returns true for an address at which the access counts as aligned.
    #[inline]
    pub fn is_aligned(&self, addr: u64) -> bool {
        addr & (u64::from(self.align.max(1)) - 1) == 0
    }
}

/// Instruction with a special effect on the flow of the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Special {
    /// No special effect.
    #[default]
    None,
    /// `DMB`: younger memory operations wait for older ones.
    DataMemoryBarrier,
    /// `DSB`, `TSB`, `ESB`: everything younger waits until older memory operations are done.
    DataSyncBarrier,
    /// `ISB`, `SB`: the front end restarts after it.
    InstSyncBarrier,
    /// `SVC`.
    SupervisorCall,
    /// `HVC`.
    HypervisorCall,
    /// `SMC`.
    SecureMonitorCall,
    /// `BRK`.
    Breakpoint,
    /// `UDF` and permanently undefined words; `HLT` and `DCPS`, which a running program cannot use.
    Undefined,
    /// `MSR` and `SYS` forms that serialize rename.
    SystemWrite,
    /// `MRS` of a register outside the renamed set.
    SystemRead,
    /// `CLREX`: releases the line that a load-exclusive marked.
    ClearExclusive,
    /// `WFI`, `WFE`, `WFIT`, `WFET`.
    Wait,
    /// A word that the decoder does not know: takes one cycle, counted and reported.
    Unknown,
}

/// Treatment of the instruction at rename.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rename {
    /// Goes to the issue queues.
    #[default]
    Normal,
    /// Register move completed by rename; takes a slot, no pipe.
    Move,
    /// Result known zero; takes a slot, no pipe, no source.
    Zero,
    /// `NOP` and other hints: takes a slot, no pipe.
    Nop,
}

/// A family of operations that forward their result late into an accumulator operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accumulate {
    /// Family number, equal for producers and consumers that forward to each other; 0 for no
    /// family.
    pub family: u8,
    /// Index of the accumulator operand in the source list.
    pub src: u8,
    /// Latency in cycles to an accumulator operand of the same family.
    pub latency: u8,
}

impl Accumulate {
    /// Value of the index that makes every source an accumulator operand.
    pub const EVERY: u8 = u8::MAX - 1;

    /// Returns true if source `i` receives a result that its family forwards.
    #[inline]
    pub fn takes(self, i: usize) -> bool {
        i == usize::from(self.src) || self.src == Accumulate::EVERY
    }
}

/// Largest number of sources of one instruction.
pub const MAX_SRCS: usize = 8;
/// Largest number of destinations of one instruction.
pub const MAX_DSTS: usize = 6;
/// Largest number of micro-operation groups of one instruction.
pub const MAX_UOP_GROUPS: usize = 4;

/// Set of the events that one execution raises by itself, whatever happens to it later. Bits refer
/// to [`StaticEvents::LIST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticEvents(pub u32);

impl StaticEvents {
    /// Events of the set, by bit number. The first [`StaticEvents::PER_INST`] count once per
    /// instruction, the others once per operation (MOP).
    pub const LIST: [PmuEvent; 27] = [
        PmuEvent::LD_SPEC,
        PmuEvent::ST_SPEC,
        PmuEvent::DP_SPEC,
        PmuEvent::ASE_SPEC,
        PmuEvent::VFP_SPEC,
        PmuEvent::CRYPTO_SPEC,
        PmuEvent::BR_IMMED_SPEC,
        PmuEvent::BR_RETURN_SPEC,
        PmuEvent::BR_INDIRECT_SPEC,
        PmuEvent::ISB_SPEC,
        PmuEvent::DSB_SPEC,
        PmuEvent::DMB_SPEC,
        PmuEvent::LDREX_SPEC,
        PmuEvent::RC_LD_SPEC,
        PmuEvent::RC_ST_SPEC,
        PmuEvent::PC_WRITE_SPEC,
        PmuEvent::ASE_INST_SPEC,
        PmuEvent::SVE_INST_SPEC,
        PmuEvent::FP_HP_SPEC,
        PmuEvent::FP_SP_SPEC,
        PmuEvent::FP_DP_SPEC,
        PmuEvent::SVE_PRED_FULL_SPEC,
        PmuEvent::SVE_LDFF_SPEC,
        PmuEvent::ASE_SVE_INT8_SPEC,
        PmuEvent::ASE_SVE_INT16_SPEC,
        PmuEvent::ASE_SVE_INT32_SPEC,
        PmuEvent::ASE_SVE_INT64_SPEC,
    ];
    /// Number of events at the head of the list that count per instruction.
    pub const PER_INST: usize = 16;

    /// Events that count an instruction when its first micro-operation issues, not when it is
    /// renamed. An instruction squashed before issue raises none of them (decision A50).
    pub const AT_ISSUE: StaticEvents = StaticEvents(
        StaticEvents::bit(PmuEvent::BR_IMMED_SPEC).0
            | StaticEvents::bit(PmuEvent::BR_RETURN_SPEC).0
            | StaticEvents::bit(PmuEvent::BR_INDIRECT_SPEC).0
            | StaticEvents::bit(PmuEvent::PC_WRITE_SPEC).0
            | StaticEvents::bit(PmuEvent::DSB_SPEC).0
            | StaticEvents::bit(PmuEvent::DMB_SPEC).0,
    );

    /// Returns the events of the set that are also in `other`.
    #[inline]
    #[must_use]
    pub const fn and(self, other: StaticEvents) -> StaticEvents {
        StaticEvents(self.0 & other.0)
    }

    /// Returns the events of the set that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: StaticEvents) -> StaticEvents {
        StaticEvents(self.0 & !other.0)
    }

    /// Returns the events of one execution as one operation: one count for each event of the set.
    pub(crate) fn tally(self) -> EventTally {
        let mut tally = EventTally::default();
        for (i, count) in tally.0.iter_mut().take(StaticEvents::LIST.len()).enumerate() {
            *count = (self.0 >> i & 1) as u8;
        }
        tally
    }

    /// Returns the set with only `event`, which must be in the list.
    pub const fn bit(event: PmuEvent) -> StaticEvents {
        let mut i = 0;
        while i < StaticEvents::LIST.len() {
            if StaticEvents::LIST[i] as u8 == event as u8 {
                return StaticEvents(1 << i);
            }
            i += 1;
        }
        panic!("the event is not in StaticEvents::LIST")
    }

    /// Returns true when `event` is in the set.
    pub fn contains(self, event: PmuEvent) -> bool {
        self.0 & StaticEvents::bit(event).0 != 0
    }
}

/// Static description of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inst {
    /// The A64 word.
    pub word: u32,
    /// Distance in bytes from the instruction to the target of a direct branch, or to the address
    /// of a literal load.
    pub offset: i32,
    /// Events that its execution raises.
    pub events: StaticEvents,
    /// Sources. The first `n_addr_srcs` form the address.
    pub srcs: [Reg; MAX_SRCS],
    /// Destinations. With a `BaseUpdate` micro-operation, the last one is the base.
    pub dsts: [Reg; MAX_DSTS],
    /// Number of sources.
    pub n_srcs: u8,
    /// Number of leading sources that form the address.
    pub n_addr_srcs: u8,
    /// Number of destinations.
    pub n_dsts: u8,
    /// Operations (MOPs, rename slots): half the micro-operations, rounded up, at least 1.
    pub n_mops: u8,
    /// Number of micro-operation groups used.
    pub n_uop_groups: u8,
    /// Floating-point element operations of one execution (a fused multiply-add counts two per
    /// lane).
    pub fp_element_ops: u8,
    /// True when `fp_element_ops` count as FP_SCALE_OPS_SPEC (SVE) instead of FP_FIXED_OPS_SPEC.
    pub is_sve: bool,
    /// Kind of change of the program counter.
    pub branch: BranchKind,
    /// Memory access.
    pub mem: MemShape,
    /// Caches or translations that it maintains.
    pub maintenance: Option<Maintenance>,
    /// Context register that it writes, if the PMU counts such writes.
    pub context_write: Option<ContextWrite>,
    /// Special effect on the flow of the pipeline.
    pub special: Special,
    /// Treatment at rename.
    pub rename: Rename,
    /// Late accumulator forwarding.
    pub accumulate: Accumulate,
    /// Micro-operations.
    pub uops: [UopGroup; MAX_UOP_GROUPS],
    /// Class that selects its path through the pipeline.
    pub path_class: PathClass,
    /// Resources that it takes in program order and holds until it retires, except its reorder
    /// buffer entries.
    pub entries: RenameResources,
    /// True if it takes a store queue entry.
    pub stores: bool,
    /// Kinds of pairs in which it may fuse; see [`crate::fuses`].
    pub fusion: Fusion,
    /// True if it needs no micro-operation of its own as the second half of a fused pair: `AESMC`
    /// after `AESE`, `ADD` after `ADRP`. Compare and branch or select pairs keep theirs.
    pub needs_no_uop: bool,
    /// `events` as a tally, which can be added to other tallies.
    pub tally: EventTally,
    /// Micro-operations by the types for which dispatch has limits.
    pub by_type: UopCounts,
    /// Micro-operations by the issue queues in which they wait.
    pub by_queue: UopCounts,
    /// Issue queue entries of one micro-operation of each group.
    pub queue_entries: [UopCounts; MAX_UOP_GROUPS],
}

impl Inst {
    /// Returns true for a preload into a cache beyond the first (the target field of `PRFM` and
    /// `PRFB` ... `PRFD`).
    pub fn preloads_outer(&self) -> bool {
        self.word >> 1 & 0b11 != 0
    }

    /// Returns the registers read.
    #[inline]
    pub fn srcs(&self) -> &[Reg] {
        &self.srcs[..self.n_srcs as usize]
    }

    /// Returns the registers written.
    #[inline]
    pub fn dsts(&self) -> &[Reg] {
        &self.dsts[..self.n_dsts as usize]
    }

    /// Returns the micro-operation groups.
    #[inline]
    pub fn uops(&self) -> &[UopGroup] {
        &self.uops[..self.n_uop_groups as usize]
    }
}
