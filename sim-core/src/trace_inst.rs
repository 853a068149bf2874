//! One record of the instruction stream: which static instruction ran, and what only the run knows.

/// Index of a static instruction (one word at one program location) in the program's table.
pub type InstId = u32;

/// What the run adds to the static instruction, as a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstFlags(pub u32);

impl InstFlags {
    /// `TraceInst::addr` is the data address.
    pub const HAS_ADDR: InstFlags = InstFlags(1);
    /// The store-exclusive did not store.
    pub const EXCLUSIVE_FAILED: InstFlags = InstFlags(1 << 1);
    /// The instruction was not completed (fault or signal): it does not retire here.
    pub const ABANDONED: InstFlags = InstFlags(1 << 2);
    /// The next record does not follow by the architecture (system call return elsewhere, signal, gap).
    pub const DISCONTINUITY: InstFlags = InstFlags(1 << 3);

    /// True when all bits of `other` are set.
    #[inline]
    pub fn has(self, other: InstFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub fn with(self, other: InstFlags) -> InstFlags {
        InstFlags(self.0 | other.0)
    }
}

/// One executed instruction of a thread's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TraceInst {
    /// First data address in bytes (virtual), 0 without [`InstFlags::HAS_ADDR`].
    pub addr: u64,
    /// The static instruction.
    pub id: InstId,
    /// What the run adds.
    pub flags: InstFlags,
}
