//! The static description of one instruction: what the pipeline needs to know about a word.

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

    /// In place of a source that is not there: no register, always ready.
    pub const READY: Reg = Reg(82);
    /// In place of a destination that is not there.
    pub const NOWHERE: Reg = Reg(83);

    /// General register `n`, 0 to 30.
    pub const fn x(n: u32) -> Reg {
        Reg(n as u8)
    }

    /// Vector register `n`, 0 to 31.
    pub const fn v(n: u32) -> Reg {
        Reg(33 + n as u8)
    }

    /// Predicate register `n`, 0 to 15.
    pub const fn p(n: u32) -> Reg {
        Reg(65 + n as u8)
    }

    /// True for a predicate register.
    #[inline]
    pub fn is_predicate(self) -> bool {
        (Reg::p(0).0..=Reg::p(15).0).contains(&self.0)
    }

    /// The physical register file that holds it.
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

/// How an instruction may change the program counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BranchKind {
    /// It does not.
    #[default]
    None,
    /// `B`.
    Direct,
    /// `B.cond`, `CBZ`, `TBZ` and kin.
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

/// What an instruction does to data memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemOp {
    /// Nothing.
    #[default]
    None,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Atomic read-modify-write that returns the old value (`LDADD`, `CAS` ...).
    AtomicLoad,
    /// Atomic read-modify-write without result (`STADD` ...).
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
    /// Cache maintenance by address, `DC CVAC`, `DC CIVAC`, `DC IVAC`, `IC IVAU` ...; which one is in
    /// [`Inst::maintenance`].
    Maintenance,
}

impl MemOp {
    /// It leaves the core by the store queue.
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

/// Which elements of an SVE load may fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faulting {
    /// Each.
    #[default]
    Every,
    /// The first active one; a fault of another ends the load and clears bits of the FFR.
    First,
    /// None: any fault ends the load and clears bits of the FFR.
    Never,
}

/// The memory shape of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemShape {
    /// What it does.
    pub op: MemOp,
    /// Bytes from the first to the last of all registers together (0 without access).
    pub bytes: u16,
    /// Natural alignment in bytes by which the access is judged unaligned.
    pub align: u8,
    /// Bytes of one register of the access: 8 for `LDP X`, 16 for `LDR Q`.
    pub register_bytes: u8,
    /// What it has to do with allocation tags.
    pub tags: TagUse,
    /// Load-acquire or store-release ordering (`LDAR`, `LDAPR`, `STLR`, acquire atomics).
    pub ordered: bool,
    /// Load-exclusive or store-exclusive.
    pub exclusive: bool,
    /// More than one independent address (SVE gather or scatter).
    pub scattered: bool,
    /// Elements that a governing predicate switches on and off (SVE), 0 without such a predicate.
    pub elements: u8,
    /// Which elements of a load may fault.
    pub faulting: Faulting,
}

impl MemShape {
    /// True for an address at which the access is judged aligned.
    #[inline]
    pub fn is_aligned(&self, addr: u64) -> bool {
        addr & (u64::from(self.align.max(1)) - 1) == 0
    }
}

/// An instruction that stops the flow of the pipeline in its own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Special {
    /// Nothing special.
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
    /// `CLREX`: gives up the line that a load-exclusive marked.
    ClearExclusive,
    /// `WFI`, `WFE`, `WFIT`, `WFET`.
    Wait,
    /// A word that the decoder does not know: one cycle, counted and reported.
    Unknown,
}

/// What rename does with the instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rename {
    /// Goes to the issue queues.
    #[default]
    Normal,
    /// Register move done by renaming; takes a slot, no pipe.
    Move,
    /// Result known zero; takes a slot, no pipe, no source.
    Zero,
    /// `NOP` and other hints: takes a slot, no pipe.
    Nop,
}

/// A family of operations that forward their result late into an accumulator operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accumulate {
    /// Family number, equal for producers and consumers that forward to each other; 0 for none.
    pub family: u8,
    /// Index in the source list of the accumulator operand.
    pub src: u8,
    /// Latency seen by an accumulator operand of the same family, cycles.
    pub latency: u8,
}

impl Accumulate {
    /// In place of the index: every source takes what its family forwards.
    pub const EVERY: u8 = u8::MAX - 1;

    /// Source `i` takes what its family forwards.
    #[inline]
    pub fn takes(self, i: usize) -> bool {
        i == usize::from(self.src) || self.src == Accumulate::EVERY
    }
}

/// Most sources of one instruction.
pub const MAX_SRCS: usize = 8;
/// Most destinations of one instruction.
pub const MAX_DSTS: usize = 6;
/// Most micro-operation groups of one instruction.
pub const MAX_UOP_GROUPS: usize = 4;

/// Events that one execution raises by itself, whatever happens to it later; a set over
/// [`StaticEvents::LIST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticEvents(pub u32);

impl StaticEvents {
    /// The events of the set, by bit number. The first [`StaticEvents::PER_INST`] are counted once
    /// an instruction, the others once an operation (MOP).
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
    /// How many events at the head of the list are counted per instruction.
    pub const PER_INST: usize = 16;

    /// Events that count an instruction when its first micro-operation issues, not when it is renamed: an instruction that
    /// is squashed before that raises none of them (decision A50).
    pub const AT_ISSUE: StaticEvents = StaticEvents(
        StaticEvents::bit(PmuEvent::BR_IMMED_SPEC).0
            | StaticEvents::bit(PmuEvent::BR_RETURN_SPEC).0
            | StaticEvents::bit(PmuEvent::BR_INDIRECT_SPEC).0
            | StaticEvents::bit(PmuEvent::PC_WRITE_SPEC).0
            | StaticEvents::bit(PmuEvent::DSB_SPEC).0
            | StaticEvents::bit(PmuEvent::DMB_SPEC).0,
    );

    /// Events of the set that are also in `other`.
    #[inline]
    #[must_use]
    pub const fn and(self, other: StaticEvents) -> StaticEvents {
        StaticEvents(self.0 & other.0)
    }

    /// Events of the set that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: StaticEvents) -> StaticEvents {
        StaticEvents(self.0 & !other.0)
    }

    /// One execution as one operation, to be added up: each event of the set in its place.
    pub(crate) fn tally(self) -> EventTally {
        let mut tally = EventTally::default();
        for (i, count) in tally.0.iter_mut().take(StaticEvents::LIST.len()).enumerate() {
            *count = (self.0 >> i & 1) as u8;
        }
        tally
    }

    /// The bit of `event`, which must be in the list.
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

    /// True when `event` is in the set.
    pub fn contains(self, event: PmuEvent) -> bool {
        self.0 & StaticEvents::bit(event).0 != 0
    }
}

/// Everything static about one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inst {
    /// The A64 word.
    pub word: u32,
    /// Distance in bytes from the instruction to the target of a direct branch, or to the address
    /// of a literal load.
    pub offset: i32,
    /// Events raised by executing it.
    pub events: StaticEvents,
    /// Sources; the first `n_addr_srcs` form the address.
    pub srcs: [Reg; MAX_SRCS],
    /// Destinations; with a `BaseUpdate` micro-operation the last one is the base.
    pub dsts: [Reg; MAX_DSTS],
    /// Number of sources.
    pub n_srcs: u8,
    /// How many leading sources form the address.
    pub n_addr_srcs: u8,
    /// Number of destinations.
    pub n_dsts: u8,
    /// Operations (MOPs, rename slots): half the micro-operations, rounded up, at least 1.
    pub n_mops: u8,
    /// Number of micro-operation groups used.
    pub n_uop_groups: u8,
    /// Floating-point element operations of one execution (a fused multiply-add is two a lane).
    pub fp_element_ops: u8,
    /// True when `fp_element_ops` count as FP_SCALE_OPS_SPEC (SVE) instead of FP_FIXED_OPS_SPEC.
    pub is_sve: bool,
    /// How it may change the program counter.
    pub branch: BranchKind,
    /// Memory shape.
    pub mem: MemShape,
    /// Caches or translations that it maintains.
    pub maintenance: Option<Maintenance>,
    /// The context register that it writes, if it is one that the PMU counts.
    pub context_write: Option<ContextWrite>,
    /// What stops the flow.
    pub special: Special,
    /// What rename does.
    pub rename: Rename,
    /// Late accumulator forwarding.
    pub accumulate: Accumulate,
    /// Micro-operations.
    pub uops: [UopGroup; MAX_UOP_GROUPS],
    /// Which short way through the core it may take.
    pub path_class: PathClass,
    /// What it takes in program order and holds until it retires, its reorder buffer entries apart.
    pub entries: RenameResources,
    /// It takes an entry of the store queue.
    pub stores: bool,
    /// What it may fuse with; see [`crate::fuses`].
    pub fusion: Fusion,
    /// As the second half of a fused pair it costs no micro-operation of its own: `AESMC` behind `AESE`,
    /// `ADD` behind `ADRP`. Compare and branch or select pairs keep theirs.
    pub needs_no_uop: bool,
    /// Its `events`, to be added up with those of others.
    pub tally: EventTally,
    /// The micro-operations by the types that dispatch has limits for.
    pub by_type: UopCounts,
    /// The micro-operations by the issue queues in which they wait.
    pub by_queue: UopCounts,
    /// What one micro-operation of each group takes of them.
    pub queue_entries: [UopCounts; MAX_UOP_GROUPS],
}

impl Inst {
    /// Of a preload: it names a cache beyond the first (the target field of `PRFM` and `PRFB` ... `PRFD`).
    pub fn preloads_outer(&self) -> bool {
        self.word >> 1 & 0b11 != 0
    }

    /// The registers read.
    #[inline]
    pub fn srcs(&self) -> &[Reg] {
        &self.srcs[..self.n_srcs as usize]
    }

    /// The registers written.
    #[inline]
    pub fn dsts(&self) -> &[Reg] {
        &self.dsts[..self.n_dsts as usize]
    }

    /// The micro-operation groups.
    #[inline]
    pub fn uops(&self) -> &[UopGroup] {
        &self.uops[..self.n_uop_groups as usize]
    }
}
