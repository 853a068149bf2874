//! The micro-TLBs: one of fetches, one of data accesses. TRM 5.2.1.
//!
//! Fully associative; any maintenance of the main TLB empties them. Assumed: round-robin
//! replacement, as the manual names none, and entries of all sizes of the main TLB. A write of a
//! table base register empties them, too (assumed), so that entries need no ASID or VMID.

use super::page_map::PageSize;

/// Bits of an address within a page of 4 KB.
pub(crate) const PAGE_SHIFT: u32 = 12;

/// Page number of an empty entry.
const EMPTY: u64 = u64::MAX;

/// Fully associative TLB of a few pages.
#[derive(Clone, Debug)]
pub(crate) struct MicroTlb {
    /// Pages of 4 KB; empty in entries of larger ones.
    pages: Box<[u64]>,
    /// Larger pages and blocks: number in pages of their size, and size.
    large: Box<[(u64, PageSize)]>,
    has_large: bool,
    /// Cycle in which each entry is filled.
    ready: Box<[u64]>,
    next: usize,
    /// Page used last, looked at first, and the cycle in which it is present.
    last_page: u64,
    last_ready: u64,
}

impl MicroTlb {
    /// Creates an empty TLB.
    pub(crate) fn new(entries: u32) -> MicroTlb {
        let entries = entries.max(1) as usize;
        MicroTlb {
            pages: vec![EMPTY; entries].into_boxed_slice(),
            large: vec![(EMPTY, PageSize::K4); entries].into_boxed_slice(),
            has_large: false,
            ready: vec![0; entries].into_boxed_slice(),
            next: 0,
            last_page: EMPTY,
            last_ready: 0,
        }
    }

    /// Returns whether the page used last is this one, and present at `now`.
    #[inline(always)]
    pub(crate) fn last_hits(&self, page: u64, now: u64) -> bool {
        self.last_page == page && self.last_ready <= now
    }

    /// Returns whether an entry has the page at `now`.
    #[inline]
    pub(crate) fn hits(&mut self, page: u64, now: u64) -> bool {
        self.last_hits(page, now) || self.lookup(page).is_some_and(|ready| ready <= now)
    }

    /// Returns the cycle in which the translation of a page is present, if an entry has it.
    #[inline]
    pub(crate) fn lookup(&mut self, page: u64) -> Option<u64> {
        let small = self.pages.iter().position(|own| *own == page);
        let entry = small.or_else(|| self.find_large(page))?;
        self.last_page = page;
        self.last_ready = self.ready[entry];
        Some(self.last_ready)
    }

    fn find_large(&self, page: u64) -> Option<usize> {
        if !self.has_large {
            return None;
        }
        self.large.iter().position(|(own, size)| *own == page >> size.bits())
    }

    /// Enters the page or block of this size around a page of 4 KB, if it is not present.
    pub(crate) fn fill(&mut self, page: u64, size: PageSize, ready: u64) {
        let entry = self.next;
        self.next = (entry + 1) % self.pages.len();
        self.pages[entry] = page;
        if size != PageSize::K4 || self.has_large {
            self.fill_large(entry, page, size);
        }
        self.ready[entry] = ready;
        self.last_page = page;
        self.last_ready = ready;
    }

    #[cold]
    fn fill_large(&mut self, entry: usize, page: u64, size: PageSize) {
        let is_large = size != PageSize::K4;
        self.pages[entry] = if is_large { EMPTY } else { page };
        self.large[entry] = (if is_large { page >> size.bits() } else { EMPTY }, size);
        self.has_large |= is_large;
    }

    /// Removes every entry.
    pub(crate) fn clear(&mut self) {
        self.pages.fill(EMPTY);
        if self.has_large {
            self.large.fill((EMPTY, PageSize::K4));
            self.has_large = false;
        }
        self.last_page = EMPTY;
    }
}
