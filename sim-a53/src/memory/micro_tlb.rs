//! The micro-TLBs: one of fetches, one of data accesses. TRM 5.2.1.
//!
//! Fully associative; any maintenance of the main TLB empties them. Assumed: round-robin
//! replacement, as the manual names none.

/// Page number of an empty entry.
const EMPTY: u64 = u64::MAX;

/// Fully associative TLB of a few pages.
#[derive(Clone, Debug)]
pub(crate) struct MicroTlb {
    pages: Box<[u64]>,
    /// Cycle in which each entry is filled.
    ready: Box<[u64]>,
    next: usize,
    /// Entry of the last hit, looked at first.
    last: usize,
}

impl MicroTlb {
    /// Creates an empty TLB.
    pub(crate) fn new(entries: u32) -> MicroTlb {
        let entries = entries.max(1) as usize;
        MicroTlb {
            pages: vec![EMPTY; entries].into_boxed_slice(),
            ready: vec![0; entries].into_boxed_slice(),
            next: 0,
            last: 0,
        }
    }

    /// Returns whether the page used last is this one, and present at `now`.
    #[inline(always)]
    pub(crate) fn is_last(&self, page: u64, now: u64) -> bool {
        self.pages[self.last] == page && self.ready[self.last] <= now
    }

    /// Returns the cycle in which the translation of a page is present, if an entry has it.
    #[inline]
    pub(crate) fn lookup(&mut self, page: u64) -> Option<u64> {
        let entry = self.pages.iter().position(|own| *own == page)?;
        self.last = entry;
        Some(self.ready[entry])
    }

    /// Enters a page that is not present.
    pub(crate) fn fill(&mut self, page: u64, ready: u64) {
        let entry = self.next;
        self.next = (entry + 1) % self.pages.len();
        self.pages[entry] = page;
        self.ready[entry] = ready;
        self.last = entry;
    }

    /// Removes every entry.
    pub(crate) fn clear(&mut self) {
        self.pages.fill(EMPTY);
    }
}
