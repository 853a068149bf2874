//! The unified L2 TLB: set associative. Pages, blocks, contiguous ranges, partial walk entries and
//! results of stage 2 compete for its entries (PMU guide 3.2.18, decision A14).
//!
//! Each kind and size has its own index bits, so a lookup probes one set for each size in use. The
//! least recently used entry of a set is replaced.

use sim_core::{Cycle, StateVisitor, Stored, WarmState};

use crate::config::L2TlbConfig;
use crate::units::address_space::{EntryTag, Key};
use crate::units::mapping::{ADDRESS_BITS, FRAME_SHIFT, LAST_LEVEL};
use crate::units::replacement::LATEST_STAMP;
use crate::units::tag_array::RefillTime;
use crate::units::tlb::Translation;

/// Kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A translation from virtual to physical address.
    #[default]
    Final,
    /// Address of the table of this level, where a walk can begin.
    Partial(u32),
    /// Stage 2 of an intermediate page.
    Stage2,
}

/// Unified L2 TLB. Tag, time of last use (0 if empty) and content of an entry `[set * ways + way]`
/// are in separate arrays. A search of a set thus reads one line of the host.
#[derive(Clone, Debug)]
pub(crate) struct L2Tlb {
    tags: Vec<EntryTag>,
    stamps: Vec<u64>,
    entries: Vec<(EntryKind, Translation)>,
    clock: u64,
    ways: usize,
    set_mask: u64,
    /// Sizes of the final entries so far, as bits by log2 of their bytes.
    final_shifts: u64,
    /// Levels of the partial entries so far, as bits.
    partial_levels: u32,
}

impl L2Tlb {
    /// Creates an empty TLB. The shape was validated.
    pub(crate) fn new(config: &L2TlbConfig) -> L2Tlb {
        let entries = config.entries as usize;
        L2Tlb {
            tags: vec![EntryTag::EMPTY; entries],
            stamps: vec![0; entries],
            entries: vec![Default::default(); entries],
            clock: 0,
            ways: config.ways as usize,
            set_mask: u64::from(config.entries / config.ways) - 1,
            final_shifts: 0,
            partial_levels: 0,
        }
    }

    /// Returns the set of an entry of `1 << shift` bytes.
    fn set(&self, key: Key, shift: u32) -> std::ops::Range<usize> {
        let first = (key.0 >> (shift - FRAME_SHIFT) & self.set_mask) as usize * self.ways;
        first..first + self.ways
    }

    fn find_sized(&self, kind: EntryKind, key: Key, shift: u32) -> Option<usize> {
        self.set(key, shift)
            .find(|index| self.tags[*index].matches(key) && self.entries[*index].0 == kind)
    }

    fn find(&self, key: Key) -> Option<usize> {
        let mut shifts = self.final_shifts;
        while shifts != 0 {
            let shift = shifts.trailing_zeros();
            if let Some(index) = self.find_sized(EntryKind::Final, key, shift) {
                return Some(index);
            }
            shifts &= shifts - 1;
        }
        None
    }

    fn touch(&mut self, index: usize) {
        self.clock += 1;
        self.stamps[index] = self.clock;
    }

    /// Returns the translation for a key. A hit counts as a use.
    pub(crate) fn lookup(&mut self, key: Key) -> Option<Translation> {
        let index = self.find(key)?;
        self.touch(index);
        Some(self.entries[index].1)
    }

    /// Returns whether a translation serves the key. Has no side effects.
    pub(crate) fn holds(&self, key: Key) -> bool {
        self.find(key).is_some()
    }

    /// Returns the first usable cycle of the entry that serves the key, and the number of entries
    /// of its set that were used after it. Has no side effects.
    pub(crate) fn entry(&self, key: Key) -> Option<(Cycle, u32)> {
        let index = self.find(key)?;
        let first = index - index % self.ways;
        let later =
            self.stamps[first..first + self.ways].iter().filter(|s| **s > self.stamps[index]);
        Some((self.entries[index].1.refill_time().ready, later.count() as u32))
    }

    /// Returns the refill time of a partial entry or a result of stage 2 that covers `1 << shift`
    /// bytes. A hit counts as a use.
    pub(crate) fn lookup_step(
        &mut self,
        kind: EntryKind,
        key: Key,
        shift: u32,
    ) -> Option<RefillTime> {
        if let EntryKind::Partial(level) = kind
            && self.partial_levels & 1 << level == 0
        {
            return None;
        }
        let index = self.find_sized(kind, key, shift)?;
        self.touch(index);
        Some(self.entries[index].1.refill_time())
    }

    /// Enters a translation for a key that missed.
    pub(crate) fn allocate(&mut self, key: Key, shift: u32, translation: Translation) {
        self.final_shifts |= 1 << shift;
        self.replace(EntryKind::Final, key, shift, translation);
    }

    /// Enters a partial entry or a result of stage 2 that is absent.
    pub(crate) fn allocate_step(
        &mut self,
        kind: EntryKind,
        key: Key,
        shift: u32,
        refill: RefillTime,
    ) {
        if let EntryKind::Partial(level) = kind {
            self.partial_levels |= 1 << level;
        }
        let tag = EntryTag::new(key, shift, false);
        self.replace(kind, key, shift, Translation::step(tag, refill));
    }

    /// Replaces the least recently used entry of the set.
    fn replace(&mut self, kind: EntryKind, key: Key, shift: u32, translation: Translation) {
        let oldest = self.set(key, shift).min_by_key(|index| self.stamps[*index]);
        let index = oldest.expect("a set has at least one way");
        self.tags[index] = translation.tag;
        self.entries[index] = (kind, translation);
        self.touch(index);
    }

    /// Empties every entry for which `removes` holds.
    pub(crate) fn remove(&mut self, removes: impl Fn(EntryKind, EntryTag) -> bool) {
        for (index, tag) in self.tags.iter_mut().enumerate() {
            if removes(self.entries[index].0, *tag) {
                *tag = EntryTag::EMPTY;
                self.stamps[index] = 0;
            }
        }
    }
}

impl Stored for EntryKind {
    const WORDS: usize = 1;

    fn store(self, words: &mut [u64]) {
        words[0] = match self {
            EntryKind::Final => 0,
            EntryKind::Stage2 => 1,
            EntryKind::Partial(level) => 2 + u64::from(level),
        };
    }

    fn load(words: &[u64]) -> EntryKind {
        match words[0] {
            0 => EntryKind::Final,
            1 => EntryKind::Stage2,
            level => EntryKind::Partial((level - 2) as u32 & LAST_LEVEL),
        }
    }
}

impl WarmState for L2Tlb {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.tags);
        visitor.words(&mut self.stamps);
        visitor.words(&mut self.entries);
        visitor.one(&mut self.clock);
        visitor.one(&mut self.final_shifts);
        visitor.one(&mut self.partial_levels);
        self.clock = self.clock.min(LATEST_STAMP);
        // Sizes that a mapping can have.
        self.final_shifts &= (1 << ADDRESS_BITS) - (1 << FRAME_SHIFT);
    }
}
