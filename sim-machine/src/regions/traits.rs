//! What can be seen of an interval without a machine, beside its blocks: how old the lines, pages and blocks are
//! that it touches, and how often code goes on elsewhere than the last time.
//!
//! Misses of caches and TLBs follow the ages, mispredictions follow the changes. Their means over the whole
//! trace are known exactly, so that windows can be weighted to have the same ([`super::calibrate`]).

use crate::line_table::{LineTable, line_of};

/// Ages of lines, in accesses, as log2: misses of the L1, of the L2, of what is behind it.
const LINE_AGES: [u32; 6] = [9, 11, 13, 15, 17, 20];
/// Ages of pages, in accesses, as log2.
const PAGE_AGES: [u32; 3] = [9, 12, 15];
/// Ages of blocks, in executed blocks, as log2.
const BLOCK_AGES: [u32; 3] = [8, 12, 16];
/// Traits of an interval: accesses, new lines, changes of flow, and the ages.
pub(crate) const TRAITS: usize = 3 + LINE_AGES.len() + PAGE_AGES.len() + BLOCK_AGES.len();
/// Pages after which all are forgotten: 4 GB of touched memory, 300 MB of table.
const MOST_PAGES: usize = 1 << 20;

/// How often each trait was met.
pub(crate) type Traits = [f64; TRAITS];

/// Counts traits while a trace is read.
pub(crate) struct TraitReader {
    lines: LineTable,
    accesses: u32,
    blocks: u32,
    /// When each block ran last, and what ran behind it.
    ran: Vec<(u32, u32)>,
    previous: u32,
    counts: [u32; TRAITS],
}

impl TraitReader {
    /// A reader of a trace with so many blocks.
    pub(crate) fn new(blocks: usize) -> TraitReader {
        TraitReader {
            lines: LineTable::new(),
            accesses: 0,
            blocks: 0,
            ran: vec![(0, 0); blocks],
            previous: 0,
            counts: [0; TRAITS],
        }
    }

    /// What was counted since the last time.
    pub(crate) fn take(&mut self) -> Traits {
        std::mem::replace(&mut self.counts, [0; TRAITS]).map(f64::from)
    }

    #[inline]
    pub(crate) fn block(&mut self, block: u32) {
        // Around the end of the clock some ages are wrong, once in four billion blocks.
        self.blocks = self.blocks.wrapping_add(1);
        let (ran, _) = &mut self.ran[block as usize];
        let age = self.blocks.wrapping_sub(std::mem::replace(ran, self.blocks));
        count_ages(&BLOCK_AGES, age, &mut self.counts[3 + LINE_AGES.len() + PAGE_AGES.len()..]);
        let (_, next) = &mut self.ran[self.previous as usize];
        self.counts[2] += u32::from(*next != block);
        *next = block;
        self.previous = block;
    }

    #[inline]
    pub(crate) fn access(&mut self, addr: u64) {
        if self.lines.len() >= MOST_PAGES {
            drop(self.lines.take());
        }
        self.accesses = self.accesses.wrapping_add(1).max(1);
        let page = self.lines.page(addr);
        let page_age =
            self.accesses.wrapping_sub(std::mem::replace(&mut page.stamp, self.accesses));
        let stamp = std::mem::replace(&mut page.stamps[line_of(addr)], self.accesses);
        self.counts[0] += 1;
        if page_age >> PAGE_AGES[0] > 0 {
            count_ages(&PAGE_AGES, page_age, &mut self.counts[3 + LINE_AGES.len()..]);
        }
        let age = self.accesses.wrapping_sub(stamp);
        if stamp == 0 {
            self.counts[1] += 1;
        } else if age >> LINE_AGES[0] > 0 {
            count_ages(&LINE_AGES, age, &mut self.counts[3..]);
        }
    }
}

#[inline]
fn count_ages(limits: &[u32], age: u32, counts: &mut [u32]) {
    for (limit, count) in limits.iter().zip(counts) {
        *count += u32::from(age >> limit > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_by_their_size() {
        let mut reader = TraitReader::new(2);
        reader.access(0x1000);
        for n in 0..4096 {
            reader.access(0x10_0000 + 8 * (n % 4));
        }
        reader.access(0x1000);
        let traits = reader.take();
        assert_eq!(traits[..3], [4098.0, 2.0, 0.0], "accesses, new lines");
        // One line was 4097 accesses old: older than 2^9 and 2^11, not than 2^13.
        assert_eq!(traits[3..6], [1.0, 1.0, 0.0]);
        assert_eq!(reader.take(), [0.0; TRAITS]);
    }

    #[test]
    fn code_that_goes_on_elsewhere_is_counted() {
        let mut reader = TraitReader::new(3);
        [0, 1, 0, 1, 0, 2, 0, 2].iter().for_each(|block| reader.block(*block));
        // 0 -> 1 for the first time, 0 -> 2 for the first time; the others repeat or are block 0's default.
        assert_eq!(reader.take()[2], 2.0);
    }
}
