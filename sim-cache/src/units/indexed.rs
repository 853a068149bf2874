//! A line as an L1 cache is asked for it: the virtual address chooses the set, the physical one is the tag.
//!
//! Bits of the index above the page offset (13:12 with 256 sets) may differ from those of the physical
//! address, and from one virtual address of a line to another. What knows a line by its physical address
//! alone (snoops, evictions of the L2, maintenance) looks into every set in which the line may be.

use sim_core::{LineAddr, VirtAddr};

/// Lines of the smallest page: so much of an index is the same in virtual and physical addresses.
pub(crate) const PAGE_LINES: u64 = 4096 / sim_core::LINE_BYTES;

/// A physical line, and what its set is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// The tag.
    pub(crate) physical: LineAddr,
    /// The set in its low bits: the number of the virtual line, or of the physical one.
    pub(crate) index: u64,
}

impl Indexed {
    /// As an access to `addr` asks an L1 cache.
    #[inline(always)]
    pub(crate) fn virtually(addr: VirtAddr, physical: LineAddr) -> Indexed {
        Indexed { physical, index: addr.line() }
    }

    /// As a cache is asked that knows physical addresses alone.
    #[inline(always)]
    pub(crate) fn physically(line: LineAddr) -> Indexed {
        Indexed { physical: line, index: line.0 }
    }

    /// The line behind this one, in the same page.
    pub(crate) fn next(self) -> Indexed {
        Indexed { physical: LineAddr(self.physical.0 + 1), index: self.index.wrapping_add(1) }
    }
}
