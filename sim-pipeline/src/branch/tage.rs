//! Direction prediction: a TAGE-class predictor (bimodal base, tagged tables of geometric history).
//!
//! The core's predictor is only known to be TAGE-class (HC33); the structure follows the published
//! TAGE idea, the sizes are configuration. Not modeled: statistical corrector, loop predictor.

use super::history::{HistoryState, index_fold, tag_fold};
use crate::config::BranchConfig;
use sim_core::{StateVisitor, Stored, WarmState};

/// Most tagged tables.
pub const MAX_TABLES: usize = 8;
/// Longest history, branches.
pub const MAX_HISTORY: u32 = 1024;

/// Updates between two agings of the usefulness bits.
const AGING_PERIOD: u32 = 1 << 18;
/// Bits of a tag; one more marks an entry that is not empty.
const TAG_MASK: u32 = 0xFFF;
const TAG_PRESENT: u32 = 0x1000;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    /// Signed 3-bit counter, taken when not negative.
    counter: i8,
    /// 2-bit usefulness.
    useful: u8,
}

/// What one look-up found, kept for training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionLookup {
    /// The predicted direction.
    taken: bool,
    /// Direction of the next shorter match.
    alternate: bool,
    /// Table of the longest match plus one, 0 for the bimodal table.
    provider: u8,
    /// The provider's counter is at its weakest.
    weak: bool,
    /// Where the branch stands in each table, and its tag there.
    slots: [u32; MAX_TABLES],
    tags: [u32; MAX_TABLES],
}

/// The predictor's tables.
#[derive(Clone, Debug)]
pub struct Tage {
    /// 2-bit counters, taken from 2 on.
    bimodal: Box<[u8]>,
    /// All tagged tables, one after the other; those that are not there stay empty.
    entries: Box<[Entry]>,
    tables: usize,
    /// Where each table begins.
    starts: [u32; MAX_TABLES],
    slot_mask: u32,
    /// Trust in a freshly allocated entry against its alternate, -8 to 7.
    trust_new: i8,
    updates: u32,
    /// Chooses among allocation candidates; a plain counter keeps runs repeatable.
    dice: u32,
}

impl Tage {
    /// Empty tables: everything weakly not taken.
    pub fn new(config: &BranchConfig) -> Tage {
        let tables = config.history_lengths.len().min(MAX_TABLES);
        Tage {
            bimodal: vec![1; 1 << config.bimodal_bits].into_boxed_slice(),
            entries: vec![Entry::default(); MAX_TABLES << config.tagged_bits].into_boxed_slice(),
            tables,
            starts: std::array::from_fn(|i| (i as u32) << config.tagged_bits),
            slot_mask: (1 << config.tagged_bits) - 1,
            trust_new: 0,
            updates: 0,
            dice: 1,
        }
    }

    /// Predicts the branch at `pc`: the direction, with what it was found from in `found`.
    #[inline]
    pub fn look_up(&self, pc: u64, history: &HistoryState, found: &mut DirectionLookup) -> bool {
        let base = self.bimodal[self.bimodal_index(pc)] >= 2;
        (found.taken, found.alternate, found.provider, found.weak) = (base, base, 0, false);
        self.locate(pc, history, found);
        let matches = self.matches(found);
        if matches == 0 {
            return base;
        }
        let longest = matches.ilog2();
        let entry = &self.entries[self.at(found, longest as usize)];
        found.provider = longest as u8 + 1;
        found.taken = entry.counter >= 0;
        found.weak = entry.counter == 0 || entry.counter == -1;
        let shorter = matches ^ 1 << longest;
        if shorter != 0 {
            let entry = &self.entries[self.at(found, shorter.ilog2() as usize)];
            found.alternate = entry.counter >= 0;
        }
        if found.weak && self.trust_new < 0 {
            found.taken = found.alternate;
        }
        found.taken
    }

    /// The tables that have an entry of the branch, one bit each.
    #[inline]
    fn matches(&self, found: &DirectionLookup) -> u32 {
        // The length is a power of two: a slot is never cut, and never asked whether it is one.
        let last = self.entries.len() - 1;
        let same = |i: usize| {
            let tag: u32 = self.entries[found.slots[i] as usize & last].tag.into();
            u32::from(tag == found.tags[i]) << i
        };
        (0..MAX_TABLES).fold(0, |matches, i| matches | same(i))
    }

    /// Slots and tags in all tables at once, those of tables that are not there for nothing. Apart from what looks at
    /// them one by one: together the compiler takes neither all at once nor one by one.
    #[inline(never)]
    fn locate(&self, pc: u64, history: &HistoryState, found: &mut DirectionLookup) {
        // A product spreads addresses over all slots, however far apart branches stand.
        let mixed_pc = ((pc >> 2) as u32).wrapping_mul(0x9e37_79b1);
        let (by_index, by_tag) = (mixed_pc >> 16, mixed_pc >> 8);
        for ((slot, fold), start) in found.slots.iter_mut().zip(history.folds()).zip(&self.starts) {
            *slot = (by_index ^ index_fold(*fold)) & self.slot_mask | start;
        }
        for (tag, fold) in found.tags.iter_mut().zip(history.folds()) {
            let mixed = by_tag ^ tag_fold(*fold) << 1 ^ fold << 3;
            *tag = mixed & TAG_MASK | TAG_PRESENT;
        }
    }

    /// Place of the branch's entry in table `i`.
    #[inline]
    fn at(&self, found: &DirectionLookup, i: usize) -> usize {
        found.slots[i] as usize
    }

    /// Trains with the outcome of the branch that was looked up.
    #[inline]
    pub fn train(&mut self, pc: u64, lookup: &DirectionLookup, taken: bool) {
        let provider = lookup.provider as usize;
        if provider == 0 {
            self.train_bimodal(pc, taken);
        } else {
            self.train_provider(pc, lookup, taken);
        }
        if lookup.taken != taken && provider < self.tables {
            self.allocate(lookup, provider, taken);
        }
        self.updates += 1;
        if self.updates >= AGING_PERIOD {
            self.updates = 0;
            for entry in &mut self.entries {
                entry.useful >>= 1;
            }
        }
    }

    fn train_bimodal(&mut self, pc: u64, taken: bool) {
        let index = self.bimodal_index(pc);
        let counter = &mut self.bimodal[index];
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    }

    fn train_provider(&mut self, pc: u64, lookup: &DirectionLookup, taken: bool) {
        let at = self.at(lookup, lookup.provider as usize - 1);
        let entry = &mut self.entries[at];
        let provider_taken = entry.counter >= 0;
        if lookup.weak && provider_taken != lookup.alternate {
            let step = if provider_taken == taken { 1 } else { -1 };
            self.trust_new = (self.trust_new + step).clamp(-8, 7);
        }
        if provider_taken != lookup.alternate {
            entry.useful = if provider_taken == taken {
                (entry.useful + 1).min(3)
            } else {
                entry.useful.saturating_sub(1)
            };
        }
        entry.counter = (entry.counter + if taken { 1 } else { -1 }).clamp(-4, 3);
        let starved = entry.useful == 0;
        if starved && lookup.weak {
            self.train_bimodal(pc, taken);
        }
    }

    /// Gives the branch an entry in a table of longer history, where one is not useful.
    fn allocate(&mut self, lookup: &DirectionLookup, provider: usize, taken: bool) {
        self.dice = self.dice.wrapping_mul(1_103_515_245).wrapping_add(12345);
        // Half of the time skip one table, so that neighbors do not fight for the same length.
        let first = (provider + (self.dice >> 16 & 1) as usize).min(self.tables - 1);
        for i in first..self.tables {
            let at = self.at(lookup, i);
            let entry = &mut self.entries[at];
            if entry.useful == 0 {
                let counter = if taken { 0 } else { -1 };
                *entry = Entry { tag: lookup.tags[i] as u16, counter, useful: 0 };
                return;
            }
        }
        for i in first..self.tables {
            let at = self.at(lookup, i);
            let useful = &mut self.entries[at].useful;
            *useful = useful.saturating_sub(1);
        }
    }

    fn bimodal_index(&self, pc: u64) -> usize {
        (pc >> 2) as usize & (self.bimodal.len() - 1)
    }
}

impl Stored for Entry {
    const WORDS: usize = 1;

    fn store(self, words: &mut [u64]) {
        let counter = self.counter.cast_unsigned();
        words[0] = u64::from(self.tag) | u64::from(counter) << 16 | u64::from(self.useful) << 24;
    }

    fn load(words: &[u64]) -> Entry {
        let counter = ((words[0] >> 16) as u8).cast_signed().clamp(-4, 3);
        Entry { tag: words[0] as u16, counter, useful: (words[0] >> 24) as u8 & 3 }
    }
}

impl WarmState for Tage {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.bytes(&mut self.bimodal);
        self.bimodal.iter_mut().for_each(|counter| *counter &= 3);
        visitor.words(&mut self.entries);
        let mut trust = u32::from(self.trust_new.cast_unsigned());
        visitor.one(&mut trust);
        self.trust_new = (trust as u8).cast_signed().clamp(-8, 7);
        visitor.one(&mut self.updates);
        self.updates %= AGING_PERIOD;
        visitor.one(&mut self.dice);
    }
}
