//! Request and reply of one memory access, exchanged by the load/store unit and the memory system.

use crate::addr::VirtAddr;
use crate::exception::AbortCause;
use crate::maintenance::Maintenance;
use crate::time::Cycle;

/// Source of the data of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DataSource {
    /// Forwarded from an older store in the store queue.
    StoreQueue,
    /// Level 1 cache that the access looks up first.
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
    /// Returns a short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            DataSource::StoreQueue => "older store",
            DataSource::L1 => "L1",
            DataSource::L2 => "L2",
            DataSource::Slc => "system level cache",
            DataSource::Peer => "another core",
            DataSource::Remote => "another chip",
            DataSource::Dram => "DRAM",
            DataSource::Device => "device",
        }
    }

    /// Returns true when the request left the core (an L2 miss).
    #[inline]
    pub fn is_outside(self) -> bool {
        self >= DataSource::Slc
    }
}

/// Bit set of the misses, faults and errors of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessOutcome(pub u16);

impl AccessOutcome {
    /// The L1 TLB missed.
    pub const L1_TLB_MISS: AccessOutcome = AccessOutcome(1);
    /// A table walk ran for this access.
    pub const WALK: AccessOutcome = AccessOutcome(1 << 1);
    /// The L1 cache missed, or the line was still in flight.
    pub const L1_MISS: AccessOutcome = AccessOutcome(1 << 2);
    /// The access caused an L1 refill.
    pub const L1_REFILL: AccessOutcome = AccessOutcome(1 << 3);
    /// The L2 missed.
    pub const L2_MISS: AccessOutcome = AccessOutcome(1 << 4);
    /// The access ends in an abort if it retires. The cause is a translation or permission fault, a
    /// failed tag check, or an uncorrectable error in the data that it consumed.
    pub const FAULT: AccessOutcome = AccessOutcome(1 << 5);
    /// The access detected a parity or ECC error (corrected or not).
    pub const ERROR: AccessOutcome = AccessOutcome(1 << 6);
    /// The tag check failed.
    pub const TAG_MISMATCH: AccessOutcome = AccessOutcome(1 << 7);
    /// The fault is not in the first line of the access but in a following one.
    pub const FAULT_AFTER_FIRST: AccessOutcome = AccessOutcome(1 << 8);
    /// With [`AccessOutcome::FAULT`]: stage 2 of the translation refused the access.
    pub const STAGE_2: AccessOutcome = AccessOutcome(1 << 9);
    /// With [`AccessOutcome::FAULT`]: the data is lost (an uncorrectable error, poison).
    pub const EXTERNAL: AccessOutcome = AccessOutcome(1 << 10);
    /// The position of the bytes made the access slower: a load in two lines, an unaligned load of
    /// 16 bytes, or a store in two pages. `LDST_ALIGN_LAT` counts such accesses.
    pub const SPLIT: AccessOutcome = AccessOutcome(1 << 11);
    /// Maintenance was sent to all cores, and the next `DSB` has to synchronize it with
    /// [`MemKind::Synchronize`].
    pub const UNSYNCHRONIZED: AccessOutcome = AccessOutcome(1 << 12);

    /// Outcomes that arise in the caches.
    pub const CACHES: AccessOutcome =
        AccessOutcome::L1_MISS.with(AccessOutcome::L1_REFILL).with(AccessOutcome::L2_MISS);

    /// Returns the bits that are also set in `mask`.
    #[inline]
    #[must_use]
    pub const fn only(self, mask: AccessOutcome) -> AccessOutcome {
        AccessOutcome(self.0 & mask.0)
    }

    /// Returns true when all bits of `other` are set.
    #[inline]
    pub fn has(self, other: AccessOutcome) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: AccessOutcome) -> AccessOutcome {
        AccessOutcome(self.0 | other.0)
    }

    /// Returns the cause of the abort if the access ends in one.
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

    /// Removes the bits of `other`.
    #[inline]
    pub fn remove(&mut self, other: AccessOutcome) {
        self.0 &= !other.0;
    }
}

/// Kind of a data access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemKind {
    /// A load.
    Load,
    /// The store's data is written (after retirement); its translation is already done.
    Store,
    /// A near atomic that reads, writes and returns the old value; atomic loads, compare and swap.
    AtomicLoad,
    /// An atomic without a result (`STADD` ...): counted as a memory write only.
    AtomicStore,
    /// A swap: counted as a memory read only (decision A20).
    AtomicSwap,
    /// `DC ZVA`: writes a whole line without reading it.
    ZeroLine,
    /// Preload for reading (`PRFM PLD*`).
    PrefetchLoad,
    /// Preload for writing (`PRFM PST*`).
    PrefetchStore,
    /// Preload into a cache beyond the first (`PRFM PLDL2KEEP`, `PSTL3STRM` ...).
    PrefetchOuter {
        /// Set for writing.
        for_write: bool,
    },
    /// Cache or TLB maintenance, address translation instruction, or change of translation context.
    /// Performed when it is certain to retire, never on a wrong path. `addr` is the operand, Xt.
    Maintain(Maintenance),
    /// `DSB`, `DMB` or store-release: all stores that are being merged leave for the caches now,
    /// even those of a partly written line. The address has no meaning. `done` is 0 if there were
    /// none.
    DrainStores,
    /// `DSB` after maintenance that this core sent to all others
    /// ([`AccessOutcome::UNSYNCHRONIZED`]): `done` is the cycle in which all have performed it. The
    /// address has no meaning.
    Synchronize,
    /// `CLREX`: releases the line that a load-exclusive marked. The address has no meaning.
    ClearExclusive,
}

impl MemKind {
    /// Returns true for accesses that read and write memory at once.
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, MemKind::AtomicLoad | MemKind::AtomicStore | MemKind::AtomicSwap)
    }

    /// Returns true for reads of data and preloads for reading.
    pub fn only_reads(self) -> bool {
        let outer = MemKind::PrefetchOuter { for_write: false };
        matches!(self, MemKind::Load | MemKind::PrefetchLoad) || self == outer
    }
}

/// Use of allocation tags by an access (Memory Tagging Extension).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagUse {
    /// The address tag is checked if checking is on and the memory is tagged.
    #[default]
    Checked,
    /// Never checked: the stack pointer with an immediate offset, and literals.
    Unchecked,
    /// Reads allocation tags (`LDG`); not checked.
    Reads,
    /// Writes allocation tags (`STG` ...); not checked. The new tag is the tag of the address,
    /// because compilers use one register for both.
    Writes,
}

/// One data access as the load/store unit issues it. The memory system splits it.
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
    /// Use of allocation tags.
    pub tags: TagUse,
}

impl MemRequest {
    /// Creates an ordinary access of `bytes`, with elements of at most 16 bytes.
    #[inline]
    pub fn new(pc: VirtAddr, addr: VirtAddr, bytes: u32, kind: MemKind) -> MemRequest {
        let (element_bytes, tags) = (bytes.min(16), TagUse::Checked);
        MemRequest { pc, addr, bytes, element_bytes, kind, exclusive: false, tags }
    }

    /// Returns true when the address of each register or element is a multiple of its size.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        self.addr.0.is_multiple_of(u64::from(self.element_bytes.max(1)))
    }
}

/// Reply to one access.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemReply {
    /// First cycle in which the result can be used by a dependent operation of the same pipe.
    pub done: Cycle,
    /// Cycles spent on translation, 1 for an L1 TLB hit.
    pub translation_cycles: u32,
    /// Source of the slowest part of the data.
    pub source: DataSource,
    /// Misses, faults and errors of the access.
    pub outcome: AccessOutcome,
}

/// Cycles for which a load that missed the L1 waited. The rest of its latency is service time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadWait {
    /// Wait for a free refill buffer (MSHR) of the L1 and for an entry in the L2 queue.
    pub buffer: u32,
    /// Wait for a line in flight that another access had requested.
    pub line: u32,
}

impl MemReply {
    /// Neutral reply, to which the replies of the parts are joined.
    pub const NOTHING: MemReply = MemReply {
        done: 0,
        translation_cycles: 0,
        source: DataSource::StoreQueue,
        outcome: AccessOutcome(0),
    };

    /// Adds the reply of the write to the reply of the store's translation: its cache outcome and
    /// the source of its line.
    #[inline]
    pub fn written(&mut self, write: MemReply) {
        self.outcome.add(write.outcome.only(AccessOutcome::CACHES));
        self.source = write.source;
    }

    /// Adds the reply of one more part. The slowest part decides, and the outcomes of all parts are
    /// kept.
    pub fn join(&mut self, part: MemReply) {
        self.done = self.done.max(part.done);
        self.source = self.source.max(part.source);
        self.translation_cycles = self.translation_cycles.max(part.translation_cycles);
        self.outcome.add(part.outcome);
    }
}
