//! Direction prediction: a TAGE-class predictor (bimodal base, tagged tables of geometric history).
//!
//! The core's predictor is only known to be TAGE-class (HC33). The structure follows the published
//! TAGE design, and the sizes come from the configuration. Not modeled: statistical corrector, loop
//! predictor.

use super::history::HistoryState;
use super::limits::{MAX_TABLES, MAX_TAGGED_BITS};
use crate::config::BranchConfig;
use sim_core::{StateVisitor, Stored, WarmState};

/// Entries of all tagged tables.
const PLACES: usize = MAX_TABLES << MAX_TAGGED_BITS;

const _: () = assert!(PLACES == 1 << u16::BITS, "a u16 indexes every entry");

/// Updates between two agings of the usefulness bits.
const AGING_PERIOD: u32 = 1 << 18;
/// Mask of the tag bits; the next bit marks an entry that is not empty.
const TAG_MASK: u16 = 0xFFF;
const TAG_PRESENT: u16 = 0x1000;
/// Bit position of the counter in an entry.
const COUNTER_SHIFT: u32 = 13;

/// Tag, and above it a signed 3-bit counter: taken if not negative. Entries are small because a
/// prediction reads all tables, which should fit the host's L1 cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry(u16);

impl Entry {
    fn new(tag: u16, counter: i16) -> Entry {
        Entry(tag | (counter << COUNTER_SHIFT).cast_unsigned())
    }

    #[inline]
    fn tag(self) -> u16 {
        self.0 & (TAG_MASK | TAG_PRESENT)
    }

    #[inline]
    fn counter(self) -> i16 {
        self.0.cast_signed() >> COUNTER_SHIFT
    }

    #[inline]
    fn is_taken(self) -> bool {
        self.0.cast_signed() >= 0
    }

    /// Returns whether the counter is weak.
    #[inline]
    fn is_weak(self) -> bool {
        matches!(self.counter(), 0 | -1)
    }

    #[must_use]
    fn trained(self, taken: bool) -> Entry {
        Entry::new(self.tag(), (self.counter() + if taken { 1 } else { -1 }).clamp(-4, 3))
    }
}

/// Result of one look-up, kept for training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionLookup {
    /// Predicted direction.
    taken: bool,
    /// Direction of the next shorter match.
    alternate: bool,
    /// Table of the longest match plus one; 0 for the bimodal table.
    provider: u8,
    /// Set if the provider's counter is weak.
    weak: bool,
    /// Entry of the branch in each table, and its tag there.
    places: [u16; MAX_TABLES],
    tags: [u16; MAX_TABLES],
}

/// Tables of the predictor.
#[derive(Clone, Debug)]
pub struct Tage {
    /// 2-bit counters; a value of 2 or more means taken.
    bimodal: Box<[u8]>,
    /// All tagged tables, one after the other. Absent tables stay empty.
    entries: Box<[Entry; PLACES]>,
    /// 2-bit usefulness of each entry.
    useful: Box<[u8; PLACES]>,
    tables: usize,
    /// First entry of each table.
    starts: [u16; MAX_TABLES],
    slot_mask: u16,
    /// Confidence in a newly allocated entry against its alternate, -8 to 7.
    new_entry_confidence: i8,
    updates: u32,
    /// State of a pseudorandom generator that selects allocation candidates; it is deterministic,
    /// so that runs are repeatable.
    random: u32,
}

impl Tage {
    /// Returns empty tables, in which all counters are weakly not taken.
    pub fn new(config: &BranchConfig) -> Tage {
        let tables = config.history_lengths.len().min(MAX_TABLES);
        Tage {
            bimodal: vec![1; 1 << config.bimodal_bits].into_boxed_slice(),
            entries: Box::new([Entry::default(); PLACES]),
            useful: Box::new([0; PLACES]),
            tables,
            starts: std::array::from_fn(|i| (i as u16) << config.tagged_bits),
            slot_mask: (1 << config.tagged_bits) - 1,
            new_entry_confidence: 0,
            updates: 0,
            random: 1,
        }
    }

    /// Predicts the branch at `pc`. Returns the direction, and its inputs in `found`.
    #[inline]
    pub fn look_up(&self, pc: u64, history: &HistoryState, found: &mut DirectionLookup) -> bool {
        let base = self.bimodal[self.bimodal_index(pc)] >= 2;
        (found.taken, found.alternate, found.provider, found.weak) = (base, base, 0, false);
        self.locate(pc, history, found);
        let entries = found.places.map(|at| self.entries[usize::from(at)]);
        // Branch-free, because the tables that hit are hard for the host to predict. One bit per
        // table.
        let hits = |i: usize| u16::from(entries[i].tag() == found.tags[i]).wrapping_neg() & 1 << i;
        let hits: [u16; MAX_TABLES] = std::array::from_fn(hits);
        let matches = hits.into_iter().fold(0, |matches, table| matches | table);
        if matches == 0 {
            return base;
        }
        let longest = matches.ilog2();
        let entry = entries[longest as usize];
        found.provider = longest as u8 + 1;
        found.taken = entry.is_taken();
        found.weak = entry.is_weak();
        let shorter = matches ^ 1 << longest;
        if shorter != 0 {
            found.alternate = entries[shorter.ilog2() as usize].is_taken();
        }
        if found.weak && self.new_entry_confidence < 0 {
            found.taken = found.alternate;
        }
        found.taken
    }

    /// Computes entries and tags in all tables at once. Those of absent tables are not used.
    #[inline]
    fn locate(&self, pc: u64, history: &HistoryState, found: &mut DirectionLookup) {
        // A product spreads addresses over all slots, for any spacing of branches.
        let mixed_pc = ((pc >> 2) as u32).wrapping_mul(0x9e37_79b1);
        let (by_index, by_tag) = ((mixed_pc >> 16) as u16, (mixed_pc >> 8) as u16);
        for ((place, index), start) in
            found.places.iter_mut().zip(history.index()).zip(&self.starts)
        {
            *place = (by_index ^ index) & self.slot_mask | start;
        }
        for ((tag, index), fold) in found.tags.iter_mut().zip(history.index()).zip(history.tag()) {
            let mixed = by_tag ^ fold << 1 ^ index << 3;
            *tag = mixed & TAG_MASK | TAG_PRESENT;
        }
    }

    /// Returns the index of the branch's entry in table `i`.
    #[inline]
    fn at(&self, found: &DirectionLookup, i: usize) -> usize {
        usize::from(found.places[i])
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
            let used = self.used();
            self.useful[..used].iter_mut().for_each(|useful| *useful >>= 1);
        }
    }

    fn train_bimodal(&mut self, pc: u64, taken: bool) {
        let index = self.bimodal_index(pc);
        let counter = &mut self.bimodal[index];
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    }

    fn train_provider(&mut self, pc: u64, lookup: &DirectionLookup, taken: bool) {
        let at = self.at(lookup, lookup.provider as usize - 1);
        let (entry, useful) = (self.entries[at], &mut self.useful[at]);
        let provider_taken = entry.is_taken();
        if lookup.weak && provider_taken != lookup.alternate {
            let step = if provider_taken == taken { 1 } else { -1 };
            self.new_entry_confidence = (self.new_entry_confidence + step).clamp(-8, 7);
        }
        if provider_taken != lookup.alternate {
            let was_right = provider_taken == taken;
            *useful = if was_right { (*useful + 1).min(3) } else { useful.saturating_sub(1) };
        }
        self.entries[at] = entry.trained(taken);
        let starved = *useful == 0;
        if starved && lookup.weak {
            self.train_bimodal(pc, taken);
        }
    }

    /// Allocates an entry for the branch in a table of longer history, in place of one that is not
    /// useful.
    fn allocate(&mut self, lookup: &DirectionLookup, provider: usize, taken: bool) {
        self.random = self.random.wrapping_mul(1_103_515_245).wrapping_add(12345);
        // Half of the time, one table is skipped, so that neighboring branches do not compete for
        // the same length.
        let first = (provider + (self.random >> 16 & 1) as usize).min(self.tables - 1);
        for i in first..self.tables {
            let at = self.at(lookup, i);
            if self.useful[at] == 0 {
                self.entries[at] = Entry::new(lookup.tags[i], if taken { 0 } else { -1 });
                return;
            }
        }
        for i in first..self.tables {
            let at = self.at(lookup, i);
            let useful = &mut self.useful[at];
            *useful = useful.saturating_sub(1);
        }
    }

    /// Returns the number of entries of the configured size.
    fn used(&self) -> usize {
        MAX_TABLES * (usize::from(self.slot_mask) + 1)
    }

    fn bimodal_index(&self, pc: u64) -> usize {
        (pc >> 2) as usize & (self.bimodal.len() - 1)
    }
}

impl Stored for Entry {
    const WORDS: usize = 1;

    fn store(self, words: &mut [u64]) {
        words[0] = self.0.into();
    }

    fn load(words: &[u64]) -> Entry {
        Entry(words[0] as u16)
    }
}

impl WarmState for Tage {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.bytes(&mut self.bimodal);
        self.bimodal.iter_mut().for_each(|counter| *counter &= 3);
        let used = self.used();
        visitor.words(&mut self.entries[..used]);
        visitor.bytes(&mut self.useful[..used]);
        self.useful.iter_mut().for_each(|useful| *useful &= 3);
        let mut confidence = u32::from(self.new_entry_confidence.cast_unsigned());
        visitor.one(&mut confidence);
        self.new_entry_confidence = (confidence as u8).cast_signed().clamp(-8, 7);
        visitor.one(&mut self.updates);
        self.updates %= AGING_PERIOD;
        visitor.one(&mut self.random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usefulness_is_halved_every_262_144_updates() {
        // Given: entries of every usefulness, and two updates until the next aging.
        let mut tage = Tage {
            bimodal: vec![1].into_boxed_slice(),
            entries: Box::new([Entry::default(); PLACES]),
            useful: Box::new([0; PLACES]),
            tables: 1,
            starts: [0; MAX_TABLES],
            slot_mask: 0,
            new_entry_confidence: 0,
            updates: 262_142,
            random: 1,
        };
        tage.useful[..4].copy_from_slice(&[0, 1, 2, 3]);
        let right = DirectionLookup { taken: true, ..DirectionLookup::default() };
        // Stimulus and expectation: the second update halves the usefulness; the first update of
        // the next period does not.
        let useful = [(); 3].map(|()| {
            tage.train(0, &right, true);
            tage.useful[..4].to_vec()
        });
        assert_eq!(useful, [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 1, 1]]);
    }
}
