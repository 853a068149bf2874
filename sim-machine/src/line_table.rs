//! Time of the last access to each line of memory: pages of 64 lines, and a small table of recent
//! pages for a fast lookup.

use rustc_hash::FxHashMap;

/// log2 of the line size in bytes.
pub(crate) const LINE_SHIFT: u32 = sim_core::LINE_SHIFT;
/// log2 of the page size in bytes.
pub(crate) const PAGE_SHIFT: u32 = 12;
/// Number of lines in a page.
pub(crate) const LINES: usize = 1 << (PAGE_SHIFT - LINE_SHIFT);
/// Entries of the table of recent pages.
const RECENT: usize = 2048;
/// Page number that no address has.
const NO_PAGE: u64 = u64::MAX;

/// Accesses to the lines of one page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Page number.
    pub(crate) number: u64,
    /// One bit for each line that was written.
    pub(crate) written: u64,
    /// Time of the last access to each line; 0 if there was none.
    pub(crate) stamps: [u32; LINES],
}

/// Accessed pages.
#[derive(Clone, Debug)]
pub(crate) struct LineTable {
    pages: Vec<Page>,
    index: FxHashMap<u64, u32>,
    recent: Vec<(u64, u32)>,
}

impl LineTable {
    /// Creates an empty table.
    pub(crate) fn new() -> LineTable {
        let recent = vec![(NO_PAGE, 0); RECENT];
        LineTable { pages: Vec::new(), index: FxHashMap::default(), recent }
    }

    /// Returns the number of accessed pages.
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns the page of an address, and adds it if it is new.
    #[inline]
    pub(crate) fn page(&mut self, addr: u64) -> &mut Page {
        let number = addr >> PAGE_SHIFT;
        let slot = number as usize % RECENT;
        let (known, mut at) = self.recent[slot];
        if known != number {
            at = self.find(number);
            self.recent[slot] = (number, at);
        }
        &mut self.pages[at as usize]
    }

    #[inline(never)]
    fn find(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let at = *self.index.entry(number).or_insert(next);
        if at == next {
            self.pages.push(Page { number, written: 0, stamps: [0; LINES] });
        }
        at
    }

    /// Removes all pages and returns them in the order of their first access.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Page> {
        self.index.clear();
        self.recent.fill((NO_PAGE, 0));
        std::mem::take(&mut self.pages).into_iter()
    }
}

/// Returns the index of an address's line in its page.
#[inline]
pub(crate) fn line_of(addr: u64) -> usize {
    (addr >> LINE_SHIFT) as usize % LINES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_found_by_its_addresses() {
        let mut table = LineTable::new();
        // More pages than the table of recent pages holds; some share an entry of it.
        let addr = |n: u64| (n * 4096 * 1024) ^ (n << 6);
        for n in 0..5000 {
            let page = table.page(addr(n));
            page.stamps[line_of(addr(n))] = n as u32 + 1;
        }
        for n in (0..5000).rev() {
            assert_eq!(table.page(addr(n)).stamps[line_of(addr(n))], n as u32 + 1);
        }
        assert_eq!(table.len(), 5000);
        assert_eq!(table.take().count(), 5000);
        assert_eq!((table.len(), table.page(addr(1)).stamps), (0, [0; LINES]));
    }
}
