//! When each line of memory was touched last, found in a few steps: pages of 64 lines, and a small table of
//! the pages used last.

use rustc_hash::FxHashMap;

/// log2 of the bytes of a line.
pub(crate) const LINE_SHIFT: u32 = sim_core::LINE_SHIFT;
/// log2 of the bytes of a page.
pub(crate) const PAGE_SHIFT: u32 = 12;
/// Lines of a page.
pub(crate) const LINES: usize = 1 << (PAGE_SHIFT - LINE_SHIFT);
/// Entries of the table of pages used last.
const RECENT: usize = 2048;
/// No page has this number.
const NO_PAGE: u64 = u64::MAX;

/// The lines of one page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Its number.
    pub(crate) number: u64,
    /// Lines that were written, as bits.
    pub(crate) written: u64,
    /// When each line was touched last, 0 for never.
    pub(crate) stamps: [u32; LINES],
}

/// Pages that were touched.
#[derive(Clone, Debug)]
pub(crate) struct LineTable {
    pages: Vec<Page>,
    index: FxHashMap<u64, u32>,
    recent: Vec<(u64, u32)>,
}

impl LineTable {
    /// No page was touched.
    pub(crate) fn new() -> LineTable {
        let recent = vec![(NO_PAGE, 0); RECENT];
        LineTable { pages: Vec::new(), index: FxHashMap::default(), recent }
    }

    /// Number of pages.
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The page of an address.
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

    /// Takes all pages out, in the order in which they were touched first.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Page> {
        self.index.clear();
        self.recent.fill((NO_PAGE, 0));
        std::mem::take(&mut self.pages).into_iter()
    }
}

/// The place of an address' line in its page.
#[inline]
pub(crate) fn line_of(addr: u64) -> usize {
    (addr >> LINE_SHIFT) as usize % LINES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_found_again() {
        let mut table = LineTable::new();
        // Far more pages than the small table has, and pairs that share its entries.
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
