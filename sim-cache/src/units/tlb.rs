//! The L1 translation lookaside buffers: fully associative (PMU guide 3.2.18).
//!
//! The least recently used entry is replaced. A translation in flight is an entry with its refill
//! time, and a second miss to the page waits for it (decision A13). One entry holds a whole block
//! or contiguous range.

use sim_core::time::NEVER;
use sim_core::{Cycle, StateVisitor, Stored, WarmState};

use crate::units::address_space::{EntryTag, Key};
use crate::units::mapping::{FRAME_BITS, Leaf, MemoryType, Permissions};
use crate::units::page_map::PageTarget;
use crate::units::replacement::LATEST_STAMP;
use crate::units::tag_array::RefillTime;

/// Translation of any size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Translation {
    /// Requests that it serves.
    pub(crate) tag: EntryTag,
    /// Difference of the physical page number to the virtual one.
    delta: u64,
    memory: MemoryType,
    tagged: bool,
    /// Restrictions of the page.
    pub(crate) permissions: Permissions,
    refill: RefillTime,
}

impl Translation {
    /// Creates the translation of the page of `key` by a leaf of the tables.
    pub(crate) fn new(key: Key, leaf: &Leaf, refill: RefillTime) -> Translation {
        Translation {
            tag: EntryTag::new(key, leaf.shift, leaf.global),
            delta: leaf.frame.wrapping_sub(key.page()),
            memory: leaf.memory,
            tagged: leaf.tagged,
            permissions: leaf.permissions,
            refill,
        }
    }

    /// Creates an entry without content, for a step of a walk.
    pub(crate) fn step(tag: EntryTag, refill: RefillTime) -> Translation {
        Translation { tag, refill, ..Translation::default() }
    }

    /// Returns this translation with another refill time.
    #[must_use]
    pub(crate) fn with_refill_time(self, refill: RefillTime) -> Translation {
        Translation { refill, ..self }
    }

    /// Returns the target of the page of a key that it serves.
    #[inline]
    pub(crate) fn target(&self, key: Key) -> PageTarget {
        PageTarget { frame: frame_of(key, self.delta), memory: self.memory, tagged: self.tagged }
    }

    /// Returns when a request that starts at `now` can use it.
    #[inline]
    pub(crate) fn usable_at(&self, now: Cycle) -> Cycle {
        if self.refill.ready <= now { now } else { self.refill.at(now) }
    }

    /// Returns the refill time.
    pub(crate) fn refill_time(&self) -> RefillTime {
        self.refill
    }

    /// Returns whether a hit needs no further check: cacheable, untagged, unrestricted memory.
    fn is_plain(&self) -> bool {
        let is_restricted = self.permissions != Permissions::default();
        self.memory == MemoryType::Cacheable && !self.tagged && !is_restricted
    }
}

#[inline(always)]
fn frame_of(key: Key, delta: u64) -> u64 {
    key.0.wrapping_add(delta) & ((1 << FRAME_BITS) - 1)
}

/// Slots of the table of recently used entries.
const RECENT: usize = 64;

/// Entry of an L1 TLB.
#[derive(Clone, Copy, Debug, Default)]
struct L1Entry {
    translation: Translation,
    /// First cycle in which a hit needs no further check; never for memory that is not plain.
    plain_from: Cycle,
    /// Time of last use, 0 for an empty entry.
    stamp: u64,
}

/// Fully associative TLB with a table that finds recently used entries without a search.
#[derive(Clone, Debug)]
pub(crate) struct L1Tlb {
    entries: Box<[L1Entry]>,
    clock: u64,
    /// `recent[page % RECENT]`: the entry that last held such a page; a hint.
    recent: [u8; RECENT],
}

impl L1Tlb {
    /// Creates an empty TLB.
    pub(crate) fn new(entries: u32) -> L1Tlb {
        let entries = vec![L1Entry::default(); entries as usize].into_boxed_slice();
        L1Tlb { entries, clock: 0, recent: [0; RECENT] }
    }

    /// Returns the physical page number if the page was used recently, is plain and its translation
    /// is present at `now`; that counts as a use. After `None`, call [`L1Tlb::lookup`].
    #[inline(always)]
    pub(crate) fn plain_hit(&mut self, key: Key, now: Cycle) -> Option<u64> {
        let hint = self.recent[key.0 as usize % RECENT] as usize;
        let entry = &mut self.entries[hint];
        if !entry.translation.tag.matches(key) || entry.plain_from > now {
            return None;
        }
        self.clock += 1;
        entry.stamp = self.clock;
        Some(frame_of(key, entry.translation.delta))
    }

    /// Returns the translation for a key. A hit counts as a use.
    pub(crate) fn lookup(&mut self, key: Key) -> Option<Translation> {
        let hint = self.recent[key.0 as usize % RECENT] as usize;
        let is_hint = self.entries[hint].translation.tag.matches(key);
        let index = if is_hint { hint } else { self.search(key)? };
        self.clock += 1;
        self.entries[index].stamp = self.clock;
        Some(self.entries[index].translation)
    }

    fn search(&mut self, key: Key) -> Option<usize> {
        let index = self.entries.iter().position(|e| e.translation.tag.matches(key))?;
        self.recent[key.0 as usize % RECENT] = index as u8;
        Some(index)
    }

    /// Returns whether an entry serves the key. Has no side effects.
    pub(crate) fn holds(&self, key: Key) -> bool {
        self.entries.iter().any(|e| e.translation.tag.matches(key))
    }

    /// Returns the first usable cycle of the entry that serves the key, and the number of entries
    /// that were used after it. Has no side effects.
    pub(crate) fn entry(&self, key: Key) -> Option<(Cycle, u32)> {
        let entry = self.entries.iter().find(|e| e.translation.tag.matches(key))?;
        let later = self.entries.iter().filter(|e| e.stamp > entry.stamp).count();
        Some((entry.translation.refill.ready, later as u32))
    }

    /// Enters a translation for a key that missed, replacing the least recently used one.
    pub(crate) fn allocate(&mut self, key: Key, translation: Translation) {
        let index = self.oldest();
        let plain_from = if translation.is_plain() { translation.refill.ready } else { NEVER };
        self.clock += 1;
        self.entries[index] = L1Entry { translation, plain_from, stamp: self.clock };
        self.recent[key.0 as usize % RECENT] = index as u8;
    }

    /// Returns the first of the entries with the oldest use. A plain loop, because programs with
    /// many misses spend their time here: `min_by_key` moves each entry's key through memory.
    fn oldest(&self) -> usize {
        let (mut oldest, mut least) = (0, u64::MAX);
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.stamp < least {
                (oldest, least) = (index, entry.stamp);
            }
        }
        oldest
    }

    /// Empties every entry for which `removes` holds.
    pub(crate) fn remove(&mut self, removes: impl Fn(EntryTag) -> bool) {
        for entry in &mut self.entries {
            if removes(entry.translation.tag) {
                *entry = L1Entry::default();
            }
        }
    }
}

impl Stored for Translation {
    const WORDS: usize = 6;

    fn store(self, words: &mut [u64]) {
        self.tag.store(words);
        let Permissions { read_only, no_exec } = self.permissions;
        let flags = [self.tagged, read_only, no_exec].map(u64::from);
        words[2] = self.delta;
        words[3] = self.memory as u64 | flags[0] << 2 | flags[1] << 3 | flags[2] << 4;
        words[4] = self.refill.ready;
        words[5] = self.refill.latency.into();
    }

    fn load(words: &[u64]) -> Translation {
        let flag = |bit: u32| words[3] >> bit & 1 == 1;
        let memory = match words[3] & 3 {
            0 => MemoryType::Cacheable,
            1 => MemoryType::NonCacheable,
            _ => MemoryType::Device,
        };
        Translation {
            tag: EntryTag::load(words),
            delta: words[2],
            memory,
            tagged: flag(2),
            permissions: Permissions { read_only: flag(3), no_exec: flag(4) },
            refill: RefillTime { ready: words[4], latency: words[5] as u32 },
        }
    }
}

impl Stored for L1Entry {
    const WORDS: usize = Translation::WORDS + 2;

    fn store(self, words: &mut [u64]) {
        self.translation.store(words);
        words[Translation::WORDS] = self.plain_from;
        words[Translation::WORDS + 1] = self.stamp;
    }

    fn load(words: &[u64]) -> L1Entry {
        L1Entry {
            translation: Translation::load(words),
            plain_from: words[Translation::WORDS],
            stamp: words[Translation::WORDS + 1],
        }
    }
}

/// The hints are not saved; they only speed up the search.
impl WarmState for L1Tlb {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.entries);
        visitor.one(&mut self.clock);
        self.clock = self.clock.min(LATEST_STAMP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page_of_shift(shift: u32, page: u64) -> Translation {
        let leaf = Leaf {
            shift,
            level: 3,
            frame: page ^ 0xF000,
            memory: MemoryType::Cacheable,
            tagged: false,
            global: false,
            permissions: Permissions::default(),
        };
        Translation::new(Key(page), &leaf, RefillTime::default())
    }

    proptest! {
        #[test]
        fn the_l1_tlb_is_an_lru_list_for_any_hints(
            pages in prop::collection::vec(0u64..200, 1..400),
        ) {
            let mut tlb = L1Tlb::new(5);
            let mut list: Vec<u64> = Vec::new();
            for page in pages {
                // Pages from 128 on come in blocks of 16.
                let shift = if page < 128 { 12 } else { 16 };
                let unit = page >> (shift - 12) << (shift - 12);
                let known = list.contains(&unit);
                let plain = tlb.plain_hit(Key(page), 0);
                prop_assert!(plain.is_none_or(|frame| known && frame == page ^ 0xF000));
                if plain.is_none() {
                    let found = tlb.lookup(Key(page)).map(|t| t.target(Key(page)).frame);
                    prop_assert_eq!(found, known.then_some(page ^ 0xF000));
                }
                if known {
                    list.retain(|p| *p != unit);
                } else {
                    tlb.allocate(Key(page), page_of_shift(shift, page));
                }
                list.push(unit);
                list.drain(..list.len().saturating_sub(5));
            }
        }
    }

    #[test]
    fn a_saved_translation_keeps_each_of_its_flags() {
        for flags in 0..8 {
            let [tagged, read_only, no_exec] = [1, 2, 4].map(|bit| flags & bit != 0);
            let permissions = Permissions { read_only, no_exec };
            let saved = Translation { tagged, permissions, ..page_of_shift(12, 5) };
            let mut words = [0; Translation::WORDS];
            saved.store(&mut words);
            let loaded = Translation::load(&words);
            assert_eq!((loaded.tagged, loaded.permissions), (tagged, permissions));
        }
    }
}
