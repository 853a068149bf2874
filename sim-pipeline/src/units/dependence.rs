//! Memory dependence predictor: loads that are expected to read data of an older store.
//!
//! On the N2 it has 32 entries (SSBleed; jiegec's notes on store predictors). Each entry has a tag
//! of 15 bits of the program counter and a counter of 4 bits. A load that has passed a store to its
//! address gets an entry, whose counter begins at 1. The counter goes up if the load is found to be
//! independent and down if not; at 15 the entry is removed. A load without an entry passes stores
//! whose addresses are not known.

/// Bits of the program counter in the tag.
const TAG_BITS: u32 = 15;
const TAGS: usize = 1 << TAG_BITS;
/// Counter of a new entry, and the value at which an entry is removed.
const FIRST: u8 = 1;
const LAST: u8 = 15;

/// Entry of one load.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u16,
    independent: u8,
}

/// Loads that wait for older stores.
#[derive(Clone, Debug)]
pub(crate) struct DependencePredictor {
    /// Entries, oldest first. A new entry replaces the oldest one [assumed].
    entries: Vec<Entry>,
    size: usize,
    /// One bit for each tag that has an entry, for the check that every load makes.
    has_entry: Box<[u64; TAGS / 64]>,
}

impl DependencePredictor {
    /// Returns an empty predictor with this number of entries.
    pub(crate) fn new(size: usize) -> DependencePredictor {
        let entries = Vec::with_capacity(size);
        DependencePredictor { entries, size, has_entry: Box::new([0; TAGS / 64]) }
    }

    fn tag(pc: u64) -> usize {
        (pc >> 2) as usize & (TAGS - 1)
    }

    /// Returns whether the load at `pc` waits for the store that it reads from.
    #[inline]
    pub(crate) fn expects_store(&self, pc: u64) -> bool {
        let tag = DependencePredictor::tag(pc);
        self.has_entry[tag / 64] >> (tag % 64) & 1 != 0
    }

    /// Records that the load at `pc` has passed a store that wrote its data.
    pub(crate) fn passed_store(&mut self, pc: u64) {
        let tag = DependencePredictor::tag(pc);
        if self.expects_store(pc) {
            return;
        }
        if self.entries.len() == self.size {
            let oldest = self.entries.remove(0);
            self.clear_tag(oldest);
        }
        self.entries.push(Entry { tag: tag as u16, independent: FIRST });
        self.has_entry[tag / 64] |= 1 << (tag % 64);
    }

    /// Trains the entry of the load at `pc`, which must have one.
    #[inline(never)]
    pub(crate) fn learn(&mut self, pc: u64, is_dependent: bool) {
        let tag = DependencePredictor::tag(pc) as u16;
        let Some(at) = self.entries.iter().position(|entry| entry.tag == tag) else { return };
        let entry = &mut self.entries[at];
        if is_dependent {
            entry.independent = entry.independent.saturating_sub(1);
            return;
        }
        entry.independent += 1;
        if entry.independent == LAST {
            let entry = self.entries.remove(at);
            self.clear_tag(entry);
        }
    }

    fn clear_tag(&mut self, entry: Entry) {
        let tag = usize::from(entry.tag);
        self.has_entry[tag / 64] &= !(1 << (tag % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_is_independent_fourteen_times_loses_its_entry() {
        let mut predictor = DependencePredictor::new(32);
        predictor.passed_store(0x4004);
        assert!(predictor.expects_store(0x4004) && !predictor.expects_store(0x4008));
        (0..13).for_each(|_| predictor.learn(0x4004, false));
        assert!(predictor.expects_store(0x4004));
        predictor.learn(0x4004, false);
        assert!(!predictor.expects_store(0x4004));
    }

    #[test]
    fn a_dependent_load_keeps_its_entry() {
        let mut predictor = DependencePredictor::new(32);
        predictor.passed_store(0x4004);
        (0..40).for_each(|i| predictor.learn(0x4004, i % 2 == 0));
        assert!(predictor.expects_store(0x4004));
    }

    #[test]
    fn each_load_has_its_own_counter() {
        let mut predictor = DependencePredictor::new(32);
        [0x4004, 0x5008].into_iter().for_each(|pc| predictor.passed_store(pc));
        (0..40).for_each(|_| predictor.learn(0x5008, false));
        assert!(predictor.expects_store(0x4004) && !predictor.expects_store(0x5008));
    }

    #[test]
    fn a_new_load_replaces_the_oldest_of_32() {
        let mut predictor = DependencePredictor::new(32);
        let pcs = (0..33).map(|load| 0x4000 + 4 * load);
        pcs.clone().for_each(|pc| predictor.passed_store(pc));
        let known: Vec<u64> = pcs.filter(|pc| predictor.expects_store(*pc)).collect();
        assert_eq!((known.len(), known[0]), (32, 0x4004));
    }

    #[test]
    fn loads_whose_tags_are_equal_share_an_entry() {
        let mut predictor = DependencePredictor::new(32);
        predictor.passed_store(0x4004);
        assert!(predictor.expects_store(0x4004 + (4 << TAG_BITS)));
    }
}
