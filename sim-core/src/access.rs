//! One access to memory: what the load/store unit asks for, and what the memory system answers.

use crate::addr::VirtAddr;
use crate::exception::AbortCause;
use crate::maintenance::Maintenance;
use crate::time::Cycle;

/// Where the data of an access came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DataSource {
    /// Forwarded from an older store of the store queue.
    StoreQueue,
    /// Level 1 cache of the side that asked.
    #[default]
    L1,
    /// Private level 2 cache.
    L2,
    /// System level cache of the mesh.
    Slc,
    /// Cache of another core on this chip.
    Peer,
    /// Another chip.
    Remote,
    /// Local memory.
    Dram,
    /// A device or non-cacheable memory.
    Device,
}

impl DataSource {
    /// A short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            DataSource::StoreQueue => "older store",
            DataSource::L1 => "L1",
            DataSource::L2 => "L2",
            DataSource::Slc => "system level cache",
            DataSource::Peer => "another core",
            DataSource::Remote => "another chip",
            DataSource::Dram => "memory",
            DataSource::Device => "device",
        }
    }

    /// True when the request left the core (an L2 miss).
    #[inline]
    pub fn is_outside(self) -> bool {
        self >= DataSource::Slc
    }
}

/// What an access met on its way, as a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessOutcome(pub u16);

impl AccessOutcome {
    /// The L1 TLB missed.
    pub const L1_TLB_MISS: AccessOutcome = AccessOutcome(1);
    /// A table walk ran for this access.
    pub const WALK: AccessOutcome = AccessOutcome(1 << 1);
    /// The L1 cache missed (or waited for a line in flight).
    pub const L1_MISS: AccessOutcome = AccessOutcome(1 << 2);
    /// This access caused an L1 refill.
    pub const L1_REFILL: AccessOutcome = AccessOutcome(1 << 3);
    /// The L2 missed.
    pub const L2_MISS: AccessOutcome = AccessOutcome(1 << 4);
    /// The access ends in an abort if it retires: translation or permission fault, tag check that
    /// failed, uncorrectable error in the data it consumed.
    pub const FAULT: AccessOutcome = AccessOutcome(1 << 5);
    /// A parity or ECC error was detected by this access (corrected or not).
    pub const ERROR: AccessOutcome = AccessOutcome(1 << 6);
    /// The tag check failed.
    pub const TAG_MISMATCH: AccessOutcome = AccessOutcome(1 << 7);
    /// The fault was not met in the first line of the access but behind it.
    pub const FAULT_AFTER_FIRST: AccessOutcome = AccessOutcome(1 << 8);
    /// With [`AccessOutcome::FAULT`]: stage 2 of the translation refused the access.
    pub const STAGE_2: AccessOutcome = AccessOutcome(1 << 9);
    /// With [`AccessOutcome::FAULT`]: the data is lost (an uncorrectable error, poison).
    pub const EXTERNAL: AccessOutcome = AccessOutcome(1 << 10);
    /// It took more time because of where its bytes lie: a load in two lines or, of 16 bytes, not aligned; a store
    /// in two pages. What `LDST_ALIGN_LAT` counts.
    pub const SPLIT: AccessOutcome = AccessOutcome(1 << 11);

    /// What an access may meet in the caches.
    pub const CACHES: AccessOutcome =
        AccessOutcome::L1_MISS.with(AccessOutcome::L1_REFILL).with(AccessOutcome::L2_MISS);

    /// Those bits that are in `mask` too.
    #[inline]
    #[must_use]
    pub const fn only(self, mask: AccessOutcome) -> AccessOutcome {
        AccessOutcome(self.0 & mask.0)
    }

    /// True when all bits of `other` are set.
    #[inline]
    pub fn has(self, other: AccessOutcome) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub const fn with(self, other: AccessOutcome) -> AccessOutcome {
        AccessOutcome(self.0 | other.0)
    }

    /// What an abort of the access is caused by, if it ends in one.
    pub fn abort(self) -> Option<AbortCause> {
        let cause = match self {
            _ if !self.has(AccessOutcome::FAULT) => return None,
            _ if self.has(AccessOutcome::STAGE_2) => AbortCause::Stage2,
            _ if self.has(AccessOutcome::EXTERNAL) => AbortCause::External,
            _ => AbortCause::Stage1,
        };
        Some(cause)
    }

    /// Adds the bits of `other`.
    #[inline]
    pub fn add(&mut self, other: AccessOutcome) {
        self.0 |= other.0;
    }

    /// Takes the bits of `other` away.
    #[inline]
    pub fn remove(&mut self, other: AccessOutcome) {
        self.0 &= !other.0;
    }
}

/// What kind of data access is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemKind {
    /// A load.
    Load,
    /// The store's data is written (after retirement); its translation is already done.
    Store,
    /// A near atomic that reads and writes and returns the old value; atomic loads, compare and swap.
    AtomicLoad,
    /// An atomic without result (`STADD` ...): counted as a memory write only.
    AtomicStore,
    /// A swap: counted as a memory read only (decision A20).
    AtomicSwap,
    /// `DC ZVA`: writes a whole line without reading it.
    ZeroLine,
    /// Preload for reading (`PRFM PLD*`).
    PrefetchLoad,
    /// Preload for writing (`PRFM PST*`).
    PrefetchStore,
    /// As these, for a cache beyond the first (`PRFM PLDL2KEEP`, `PSTL3STRM` ...).
    PrefetchOuter {
        /// For writing.
        for_write: bool,
    },
    /// Cache or TLB maintenance, address translation instructions, change of translation context.
    /// Performed when it is certain to retire, never on a wrong path. `addr` is the operand, Xt.
    Maintain(Maintenance),
    /// Stores that are being merged leave for the caches now, those of a line that is not full too: `DSB`,
    /// `DMB`, a store-release. The address says nothing; `done` is 0 if there were none.
    DrainStores,
    /// `CLREX`: gives up the line that a load-exclusive marked. The address says nothing.
    ClearExclusive,
}

impl MemKind {
    /// True for accesses that read and write memory at once.
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, MemKind::AtomicLoad | MemKind::AtomicStore | MemKind::AtomicSwap)
    }
}

/// What an access has to do with allocation tags (Memory Tagging Extension).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagUse {
    /// Its address tag is checked, if checking is on and the memory is tagged.
    #[default]
    Checked,
    /// Never checked: the stack pointer with an immediate offset, and literals.
    Unchecked,
    /// Reads allocation tags (`LDG`); not checked.
    Reads,
    /// Writes allocation tags (`STG` ...); not checked. The new tag is that of the address: compilers
    /// use one register for both.
    Writes,
}

/// One data access as the load/store unit issues it; splitting it is the memory system's work.
#[derive(Clone, Copy, Debug)]
pub struct MemRequest {
    /// Program counter, for prefetchers.
    pub pc: VirtAddr,
    /// First byte.
    pub addr: VirtAddr,
    /// Bytes from the first to the last, 1 to 64 (more for structure accesses).
    pub bytes: u32,
    /// Bytes of one register or element: 8 for `LDP X`, 16 for `LDR Q`, 1 for a preload.
    pub element_bytes: u32,
    /// Kind of access.
    pub kind: MemKind,
    /// A load-exclusive or store-exclusive.
    pub exclusive: bool,
    /// What it has to do with allocation tags.
    pub tags: TagUse,
}

impl MemRequest {
    /// An ordinary access of one register (or of as many as 16 bytes do not hold).
    #[inline]
    pub fn new(pc: VirtAddr, addr: VirtAddr, bytes: u32, kind: MemKind) -> MemRequest {
        let (element_bytes, tags) = (bytes.min(16), TagUse::Checked);
        MemRequest { pc, addr, bytes, element_bytes, kind, exclusive: false, tags }
    }

    /// True when each register or element is at a multiple of its size.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        self.addr.0.is_multiple_of(u64::from(self.element_bytes.max(1)))
    }
}

/// The answer to one access.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemReply {
    /// First cycle in which the result can be used by a dependent operation of the same pipe.
    pub done: Cycle,
    /// Cycles spent on translation, 1 for an L1 TLB hit.
    pub translation_cycles: u32,
    /// Where the (slowest part of the) data came from.
    pub source: DataSource,
    /// What the access met.
    pub outcome: AccessOutcome,
}

/// What a load that missed the L1 waited for, in cycles; the rest of its time is service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadWait {
    /// A free refill buffer (MSHR) of the L1, and a place in the queue of the L2.
    pub buffer: u32,
    /// A line that was on its way already, asked for by another access.
    pub line: u32,
}

impl MemReply {
    /// The reply of nothing yet, to be joined by those of the parts.
    pub const NOTHING: MemReply = MemReply {
        done: 0,
        translation_cycles: 0,
        source: DataSource::StoreQueue,
        outcome: AccessOutcome(0),
    };

    /// The store of this translation was written: what it met in the caches, and where its line was.
    #[inline]
    pub fn written(&mut self, write: MemReply) {
        self.outcome.add(write.outcome.only(AccessOutcome::CACHES));
        self.source = write.source;
    }

    /// Adds the reply of one more part: the slowest decides, and all that happened is kept.
    pub fn join(&mut self, part: MemReply) {
        self.done = self.done.max(part.done);
        self.source = self.source.max(part.source);
        self.translation_cycles = self.translation_cycles.max(part.translation_cycles);
        self.outcome.add(part.outcome);
    }
}
