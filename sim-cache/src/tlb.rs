//! Translation lookaside buffers: fully associative L1 (PMU guide 3.2.18), set associative L2.
//!
//! Both replace the least recently used entry. A translation on its way is an entry with its
//! arrival time: a second miss to the page waits on it (decision A13).

use sim_core::Cycle;
use sim_core::time::NEVER;

use crate::config::L2TlbConfig;
use crate::page_map::{MemoryType, PageTarget};
use crate::tag_array::Arrival;

/// One translation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Translation {
    /// Where the page goes.
    pub(crate) target: PageTarget,
    /// When it can be used.
    pub(crate) arrival: Arrival,
}

/// Slots of the table of entries used last.
const RECENT: usize = 64;

/// One entry of an L1 TLB.
#[derive(Clone, Copy, Debug, Default)]
struct L1Entry {
    /// Page number plus one, 0 for an empty entry.
    tag: u64,
    /// From when on a hit needs no further look: never for memory that is not cacheable.
    plain_from: Cycle,
    /// Time of last use.
    stamp: u64,
    translation: Translation,
}

/// A fully associative TLB with a table that finds the entries used last without a search.
#[derive(Clone, Debug)]
pub(crate) struct L1Tlb {
    entries: Box<[L1Entry]>,
    clock: u64,
    /// `recent[page % RECENT]`: the entry that held such a page last; a hint.
    recent: [u8; RECENT],
}

impl L1Tlb {
    /// All entries empty.
    pub(crate) fn new(entries: u32) -> L1Tlb {
        let entries = vec![L1Entry::default(); entries as usize].into_boxed_slice();
        L1Tlb { entries, clock: 0, recent: [0; RECENT] }
    }

    /// The physical page number, if the page was used lately, is cacheable and its translation is
    /// here at `now`; that is a use. `None` says nothing: then [`L1Tlb::lookup`] is asked.
    #[inline(always)]
    pub(crate) fn plain_hit(&mut self, page: u64, now: Cycle) -> Option<u64> {
        let hint = self.recent[page as usize % RECENT] as usize;
        let entry = &mut self.entries[hint];
        if entry.tag != page + 1 || entry.plain_from > now {
            return None;
        }
        self.clock += 1;
        entry.stamp = self.clock;
        Some(entry.translation.target.frame)
    }

    /// The page's translation; a hit is a use.
    pub(crate) fn lookup(&mut self, page: u64) -> Option<Translation> {
        let hint = self.recent[page as usize % RECENT] as usize;
        let index = if self.entries[hint].tag == page + 1 { hint } else { self.search(page)? };
        self.clock += 1;
        self.entries[index].stamp = self.clock;
        Some(self.entries[index].translation)
    }

    fn search(&mut self, page: u64) -> Option<usize> {
        let index = self.entries.iter().position(|e| e.tag == page + 1)?;
        self.recent[page as usize % RECENT] = index as u8;
        Some(index)
    }

    /// True when the page has an entry. Pure.
    pub(crate) fn holds(&self, page: u64) -> bool {
        self.entries.iter().any(|e| e.tag == page + 1)
    }

    /// Enters a translation that is absent, in place of the least recently used.
    pub(crate) fn allocate(&mut self, page: u64, translation: Translation) {
        let oldest = self.entries.iter().enumerate().min_by_key(|(_, e)| e.stamp);
        let (index, _) = oldest.expect("a TLB has at least one entry");
        // Accesses to tagged memory may have to be checked.
        let target = translation.target;
        let is_cacheable = target.memory == MemoryType::Cacheable && !target.tagged;
        let plain_from = if is_cacheable { translation.arrival.ready } else { NEVER };
        self.clock += 1;
        self.entries[index] = L1Entry { tag: page + 1, plain_from, stamp: self.clock, translation };
        self.recent[page as usize % RECENT] = index as u8;
    }
}

/// The unified L2 TLB.
#[derive(Clone, Debug)]
pub(crate) struct L2Tlb {
    /// `pages[set * ways + way]`: page number plus one, 0 for an empty entry.
    pages: Vec<u64>,
    entries: Vec<Translation>,
    stamps: Vec<u64>,
    clock: u64,
    ways: usize,
    set_mask: u64,
}

impl L2Tlb {
    /// All entries empty; the shape was validated.
    pub(crate) fn new(config: &L2TlbConfig) -> L2Tlb {
        let entries = config.entries as usize;
        L2Tlb {
            pages: vec![0; entries],
            entries: vec![Translation::default(); entries],
            stamps: vec![0; entries],
            clock: 0,
            ways: config.ways as usize,
            set_mask: u64::from(config.entries / config.ways) - 1,
        }
    }

    fn set(&self, page: u64) -> std::ops::Range<usize> {
        let first = (page & self.set_mask) as usize * self.ways;
        first..first + self.ways
    }

    fn find(&self, page: u64) -> Option<usize> {
        self.set(page).find(|entry| self.pages[*entry] == page + 1)
    }

    /// The page's translation; a hit is a use.
    pub(crate) fn lookup(&mut self, page: u64) -> Option<Translation> {
        let entry = self.find(page)?;
        self.clock += 1;
        self.stamps[entry] = self.clock;
        Some(self.entries[entry])
    }

    /// True when the page has an entry. Pure.
    pub(crate) fn holds(&self, page: u64) -> bool {
        self.find(page).is_some()
    }

    /// Enters a translation that is absent, in place of the least recently used of its set.
    pub(crate) fn allocate(&mut self, page: u64, target: PageTarget, arrival: Arrival) {
        let oldest = self.set(page).min_by_key(|entry| self.stamps[*entry]);
        let entry = oldest.expect("a set has at least one way");
        self.clock += 1;
        self.pages[entry] = page + 1;
        self.entries[entry] = Translation { target, arrival };
        self.stamps[entry] = self.clock;
    }
}

impl Translation {
    /// A translation that is there from the start.
    pub(crate) fn settled(target: PageTarget) -> Translation {
        Translation { target, arrival: Arrival::default() }
    }

    /// When a request that starts at `now` can use it.
    #[inline]
    pub(crate) fn usable_at(self, now: Cycle) -> Cycle {
        if self.arrival.ready <= now { now } else { self.arrival.at(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_l1_tlb_is_an_lru_list_whatever_the_hint_table_says(
            pages in prop::collection::vec(0u64..200, 1..400),
        ) {
            let mut tlb = L1Tlb::new(5);
            let mut list: Vec<u64> = Vec::new();
            for page in pages {
                let known = list.contains(&page);
                let plain = tlb.plain_hit(page, 0);
                prop_assert!(known || plain.is_none());
                if plain.is_none() {
                    prop_assert_eq!(tlb.lookup(page).is_some(), known);
                }
                if known {
                    list.retain(|p| *p != page);
                } else {
                    tlb.allocate(page, Translation::default());
                }
                list.push(page);
                list.drain(..list.len().saturating_sub(5));
            }
        }
    }
}
