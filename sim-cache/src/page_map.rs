//! The translation tables' content: which physical page and memory type a virtual page has.
//!
//! A trace has no page tables, so pages get a synthetic, deterministic physical page; scenarios map
//! pages explicitly. One page size for all (PMU guide 3.2.18 lists the granules). Not modeled:
//! contiguous hints, mixed page sizes, a second address space.

use rustc_hash::FxHashMap;
use sim_core::{LINE_SHIFT, LineAddr, PhysAddr, VirtAddr};

use crate::config::{PageMapping, PagesConfig};

/// What a page's attributes say about caching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryType {
    /// Normal memory, write-back cacheable.
    #[default]
    Cacheable,
    /// Normal memory that no cache keeps.
    NonCacheable,
    /// A device.
    Device,
}

/// Where a virtual page goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageTarget {
    /// Physical page number.
    pub frame: u64,
    /// Its attributes.
    pub memory: MemoryType,
    /// Normal Tagged memory: accesses are checked against allocation tags when checking is on.
    pub tagged: bool,
}

/// Virtual and physical addresses have 48 bits.
const ADDRESS_BITS: u32 = 48;

/// Virtual page to target; a pure function of the page number and of explicit entries.
#[derive(Clone, Debug)]
pub(crate) struct PageMap {
    page_shift: u32,
    mapping: PageMapping,
    seed: u64,
    /// Pages mapped explicitly; `None` is a page without a valid descriptor.
    explicit: FxHashMap<u64, Option<PageTarget>>,
}

impl PageMap {
    /// A map without explicit entries.
    pub(crate) fn new(config: &PagesConfig, seed: u64) -> PageMap {
        PageMap {
            page_shift: config.page_bytes.trailing_zeros(),
            mapping: config.mapping,
            seed,
            explicit: FxHashMap::default(),
        }
    }

    /// log2 of the page size.
    #[inline]
    pub(crate) fn page_shift(&self) -> u32 {
        self.page_shift
    }

    /// log2 of the translation granule: pages of 2 MiB are blocks of the 4 KiB granule.
    pub(crate) fn granule_shift(&self) -> u32 {
        if self.page_shift > 16 { 12 } else { self.page_shift }
    }

    /// Page number of an address, without the sign bits above the address range.
    #[inline]
    pub(crate) fn page_of(&self, addr: VirtAddr) -> u64 {
        (addr.0 & ((1 << ADDRESS_BITS) - 1)) >> self.page_shift
    }

    /// The physical address that `addr` has in a page with this target.
    #[inline]
    pub(crate) fn physical(&self, addr: VirtAddr, target: PageTarget) -> PhysAddr {
        let offset = addr.0 & ((1 << self.page_shift) - 1);
        PhysAddr(target.frame << self.page_shift | offset)
    }

    /// The line of `addr` in a page with this physical page number.
    #[inline(always)]
    pub(crate) fn line_in(&self, addr: VirtAddr, frame: u64) -> LineAddr {
        let offset = addr.0 & ((1 << self.page_shift) - 1);
        LineAddr(frame << (self.page_shift - LINE_SHIFT) | offset >> LINE_SHIFT)
    }

    /// What the tables say about a page; `None` is a translation fault.
    #[inline]
    pub(crate) fn lookup(&self, page: u64) -> Option<PageTarget> {
        if !self.explicit.is_empty()
            && let Some(target) = self.explicit.get(&page)
        {
            return *target;
        }
        let frame = match self.mapping {
            PageMapping::Identity => page,
            PageMapping::Mixed => self.mix(page),
        };
        Some(PageTarget { frame, ..PageTarget::default() })
    }

    /// Maps a page, or with `None` makes it fault.
    pub(crate) fn map(&mut self, page: u64, target: Option<PageTarget>) {
        self.explicit.insert(page, target);
    }

    /// A bijection of page numbers: odd factors and shifted exclusive-ors can be undone.
    fn mix(&self, page: u64) -> u64 {
        let mask = (1 << (ADDRESS_BITS - self.page_shift)) - 1;
        let mut mixed = page ^ self.seed & mask;
        mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
        mixed ^= mixed >> 17;
        mixed = mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) & mask;
        mixed ^ mixed >> 15
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(mapping: PageMapping) -> PageMap {
        PageMap::new(&PagesConfig { page_bytes: 4096, mapping }, 42)
    }

    #[test]
    fn mixed_pages_never_share_a_frame() {
        let map = map(PageMapping::Mixed);
        let pages = (0..20_000).chain((1 << 36) - 20_000..1 << 36);
        let mut frames: Vec<u64> =
            pages.map(|page| map.lookup(page).expect("no page is unmapped").frame).collect();
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames.len(), 40_000);
        assert!(frames.iter().all(|frame| *frame < 1 << 36));
    }

    #[test]
    fn an_explicit_entry_wins_and_may_be_a_fault() {
        let mut map = map(PageMapping::Identity);
        map.map(8, None);
        map.map(9, Some(PageTarget { frame: 3, memory: MemoryType::Device, tagged: false }));
        assert_eq!(map.lookup(8), None);
        let target = map.lookup(9).expect("page 9 is mapped");
        assert_eq!(map.physical(VirtAddr(0x9123), target), PhysAddr(0x3123));
        assert_eq!(map.lookup(7).map(|t| t.frame), Some(7));
    }
}
