//! A line as an access to an L1 cache names it: the virtual address selects the set, the physical
//! address is the tag.
//!
//! Index bits above the page offset (13:12 with 256 sets) may differ from those of the physical
//! address, and between virtual addresses of one line. Snoops, L2 evictions and maintenance name a
//! line by its physical address alone, so they search every set that may hold it.

use sim_core::{LineAddr, VirtAddr};

/// Lines of the smallest page: the index bits within it are the same in virtual and physical
/// addresses.
pub(crate) const PAGE_LINES: u64 = 4096 / sim_core::LINE_BYTES;

/// Physical line and the index that selects its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// Tag: the physical line.
    pub(crate) physical: LineAddr,
    /// Index, whose low bits are the set: the number of the virtual line, or of the physical one.
    pub(crate) index: u64,
}

impl Indexed {
    /// Returns the line as an access to `addr` names it in an L1 cache.
    #[inline(always)]
    pub(crate) fn virtually(addr: VirtAddr, physical: LineAddr) -> Indexed {
        Indexed { physical, index: addr.line() }
    }

    /// Returns the line for a cache that is indexed by physical addresses.
    #[inline(always)]
    pub(crate) fn physically(line: LineAddr) -> Indexed {
        Indexed { physical: line, index: line.0 }
    }

    /// Returns the following line in the same page.
    pub(crate) fn next(self) -> Indexed {
        Indexed { physical: LineAddr(self.physical.0 + 1), index: self.index.wrapping_add(1) }
    }
}
