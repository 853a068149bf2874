//! One cache: tags and replacement policy. The flows (`l1d_load`, `l1i_fetch`, `l2`) decide what an
//! access does and raise the events.

use sim_core::{Cycle, LineAddr, StateVisitor, WarmState};

use crate::config::ReplacementKind;
use crate::units::indexed::Indexed;
use crate::units::prefetch_stats::PrefetchCounts;
use crate::units::replacement::{Insertion, Replacement};
use crate::units::tag_array::{Defect, EntryIndex, LineState, TagArray};

/// Line that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Address of the line.
    pub(crate) line: LineAddr,
    /// The line holds data that the next level does not have.
    pub(crate) dirty: bool,
    /// Error of its data.
    pub(crate) defect: Defect,
}

/// Tag with a wrong bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenTag {
    /// Entry of the tag.
    pub(crate) entry: EntryIndex,
    /// Error of the tag: correctable by ECC or not.
    pub(crate) defect: Defect,
}

/// Number of lines whose entries [`Cache::plain_hit_again`] remembers; loops have few.
const LAST: usize = 8;

/// Set-associative cache of 64-byte lines.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    tags: TagArray,
    replacement: Replacement,
    /// Broken tags; nearly always empty. The lines of such a set are marked.
    broken_tags: Vec<BrokenTag>,
    prefetches: PrefetchCounts,
    /// Entries that [`Cache::plain_hit_again`] found last, by the low bits of their lines.
    last: [EntryIndex; LAST],
}

impl Cache {
    /// Creates an empty cache. The shape was validated.
    pub(crate) fn new(size_bytes: u64, ways: u32, kind: ReplacementKind, seed: u64) -> Cache {
        let sets = size_bytes / (u64::from(ways) * sim_core::LINE_BYTES);
        Cache {
            tags: TagArray::new(sets, ways),
            replacement: Replacement::new(kind, sets, ways, seed),
            broken_tags: Vec::new(),
            prefetches: PrefetchCounts::default(),
            last: [EntryIndex { set: 0, way: 0 }; LAST],
        }
    }

    /// Converts the cache to virtual indexing, which L1 caches use.
    pub(crate) fn indexed_virtually(self) -> Cache {
        Cache { tags: self.tags.indexed_virtually(), ..self }
    }

    /// Returns the ways that the next lines of these sets replace if none is empty. Has no side
    /// effects.
    pub(crate) fn next_victims(&self, sets: &[u32]) -> Vec<u32> {
        // A choice may change the state of a policy: a copy chooses.
        let mut policy = self.replacement.clone();
        sets.iter().map(|set| policy.victim(*set).way).collect()
    }

    /// Returns whether the line is present at `now` and needs no further action; that counts as a
    /// use. `false` does not imply a miss and changes nothing.
    #[inline(always)]
    pub(crate) fn plain_hit(&mut self, line: Indexed, now: Cycle) -> bool {
        let Some(entry) = self.find(line) else { return false };
        if !self.tags.state(entry).is_plain_at(now) {
            return false;
        }
        self.replacement.used(entry);
        true
    }

    /// Does the same as [`Cache::plain_hit`], faster for accesses that mostly repeat a recent line,
    /// such as fetches.
    #[inline(always)]
    pub(crate) fn plain_hit_again(&mut self, line: Indexed, now: Cycle) -> bool {
        let (slot, set) = (line.index as usize % LAST, self.tags.set_of(line));
        let mut entry = self.last[slot];
        if entry.set != set || !self.tags.is_at(entry, line.physical) {
            let Some(found) = self.tags.find(set, line.physical) else { return false };
            self.last[slot] = found;
            entry = found;
        }
        let is_plain = self.tags.state(entry).is_plain_at(now);
        if is_plain {
            self.replacement.used(entry);
        }
        is_plain
    }

    /// Does the same as [`Cache::plain_hit`] for a write, which makes the line dirty.
    #[inline(always)]
    pub(crate) fn plain_write(&mut self, line: Indexed, now: Cycle) -> bool {
        let Some(entry) = self.find(line) else { return false };
        let state = self.tags.state(entry);
        if !state.is_plain_for_write_at(now) {
            return false;
        }
        self.replacement.used(entry);
        self.tags.set_state(entry, state.with_dirty(true));
        true
    }

    /// Looks up a line for a demand access. A hit counts as a use.
    #[inline]
    pub(crate) fn lookup(&mut self, line: Indexed) -> Option<EntryIndex> {
        let entry = self.find(line)?;
        if self.tags.state(entry).is_prefetched() {
            self.replacement.first_used(entry);
        } else {
            self.replacement.used(entry);
        }
        Some(entry)
    }

    /// Returns the entry of a line in the set of its index. Does not count as a use.
    #[inline(always)]
    pub(crate) fn find(&self, line: Indexed) -> Option<EntryIndex> {
        self.tags.find(self.tags.set_of(line), line.physical)
    }

    /// Returns the entry of a line in any set. Does not count as a use.
    #[inline]
    pub(crate) fn probe(&self, line: LineAddr) -> Option<EntryIndex> {
        self.tags.find_anywhere(line)
    }

    /// Returns the state of a line that was found.
    #[inline]
    pub(crate) fn state(&self, entry: EntryIndex) -> LineState {
        self.tags.state(entry)
    }

    /// Changes the state of a line that was found. [`Cache::first_use`] records the use of a
    /// prefetched line.
    #[inline]
    pub(crate) fn set_state(&mut self, entry: EntryIndex, state: LineState) {
        debug_assert!(
            self.tags.state(entry).is_prefetched() == state.is_prefetched(),
            "a prefetched line lost its mark without a use"
        );
        self.tags.set_state(entry, state);
    }

    /// Changes the state of a line for another agent, which may have overwritten it. A lost
    /// prefetch mark counts as useless.
    pub(crate) fn rewrite(&mut self, entry: EntryIndex, state: LineState) {
        let is_lost = self.tags.state(entry).is_prefetched() && !state.is_prefetched();
        self.prefetches.useless += u64::from(is_lost);
        self.tags.set_state(entry, state);
    }

    /// Records the first use of a prefetched line; `late` if it has not arrived yet.
    pub(crate) fn first_use(&mut self, entry: EntryIndex, late: bool) {
        let state = self.tags.state(entry);
        debug_assert!(state.is_prefetched(), "the line was used before");
        self.tags.set_state(entry, state.with_prefetched(false));
        if late {
            self.prefetches.late += 1;
        } else {
            self.prefetches.useful += 1;
        }
    }

    /// Returns the outcomes of the prefetched lines so far.
    pub(crate) fn prefetches(&self) -> PrefetchCounts {
        self.prefetches
    }

    /// Allocates a line that is absent from its set, in an empty way or in place of a victim.
    /// Returns the victim.
    pub(crate) fn allocate(
        &mut self,
        line: Indexed,
        state: LineState,
        insertion: Insertion,
    ) -> Option<Victim> {
        let set = self.tags.set_of(line);
        debug_assert!(self.find(line).is_none(), "line {line:?} is already present");
        let empty = self.tags.find_empty(set);
        let entry = empty.unwrap_or_else(|| self.replacement.victim(set));
        let victim = self.tags.content(entry);
        if state.is_prefetched() {
            self.prefetches.issued += 1;
        } else {
            self.prefetches.missed += 1;
        }
        self.prefetches.useless += u64::from(victim.is_some_and(|(_, old)| old.is_prefetched()));
        self.tags.put(entry, line.physical, state);
        self.replacement.inserted(entry, insertion);
        victim.map(|(line, state)| Victim { line, dirty: state.is_dirty(), defect: state.defect() })
    }

    /// Removes every copy of a line. Returns the state of one copy if any was present.
    #[inline]
    pub(crate) fn remove(&mut self, line: LineAddr) -> Option<LineState> {
        if !self.tags.may_have(line) {
            return None;
        }
        let mut left = None;
        for set in self.tags.sets_of(line) {
            if let Some(entry) = self.tags.find(set, line) {
                let state = self.tags.state(entry);
                self.tags.clear(entry);
                self.prefetches.useless += u64::from(state.is_prefetched());
                left = Some(state);
            }
        }
        left
    }

    /// Drops lines that cannot be here ([`TagArray::retain`]), without counting; a state from a
    /// file may contain them.
    pub(crate) fn retain(&mut self, stays: impl Fn(LineAddr) -> bool) {
        self.tags.retain(stays);
    }

    /// Drops all but one of the copies of a line in several sets, without counting.
    pub(crate) fn retain_one_copy(&mut self) {
        self.tags.retain_one_copy();
    }

    /// Removes every line.
    pub(crate) fn clear(&mut self) {
        let unused = self.tags.lines().filter(|(_, state)| state.is_prefetched()).count();
        self.prefetches.useless += unused as u64;
        self.tags.clear_all();
    }

    /// Returns the numbers of sets and ways.
    pub(crate) fn shape(&self) -> (u32, u32) {
        self.tags.shape()
    }

    /// Returns line and state of an entry, if it is not empty.
    pub(crate) fn content(&self, entry: EntryIndex) -> Option<(LineAddr, LineState)> {
        self.tags.content(entry)
    }

    /// Breaks the tag of an entry.
    pub(crate) fn break_tag(&mut self, entry: EntryIndex, defect: Defect) {
        self.broken_tags.push(BrokenTag { entry, defect });
        self.mark_set(entry.set, true);
    }

    /// Returns whether any tag is broken.
    #[inline]
    pub(crate) fn has_broken_tags(&self) -> bool {
        !self.broken_tags.is_empty()
    }

    /// Returns every set that may hold a line.
    pub(crate) fn sets_of(&self, line: LineAddr) -> impl Iterator<Item = u32> + use<> {
        self.tags.sets_of(line)
    }

    /// Returns the set that an access reads.
    pub(crate) fn set_of(&self, line: Indexed) -> u32 {
        self.tags.set_of(line)
    }

    /// Repairs a broken tag of a set. Returns the tag, or `None` if no tag of the set is broken.
    pub(crate) fn repair_tag(&mut self, set: u32) -> Option<BrokenTag> {
        let index = self.broken_tags.iter().position(|broken| broken.entry.set == set)?;
        let broken = self.broken_tags.swap_remove(index);
        let left = self.broken_tags.iter().any(|broken| broken.entry.set == set);
        self.mark_set(set, left);
        Some(broken)
    }

    fn mark_set(&mut self, set: u32, defect: bool) {
        for way in 0..self.tags.shape().1 {
            let entry = EntryIndex { set, way };
            if let Some((_, state)) = self.tags.content(entry) {
                self.tags.set_state(entry, state.with_tag_defect(defect));
            }
        }
    }

    /// Returns the number of lines present.
    pub(crate) fn occupied(&self) -> u64 {
        self.tags.occupied()
    }

    /// Returns every line present, with its state.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (LineAddr, LineState)> + '_ {
        self.tags.lines()
    }
}

impl WarmState for Cache {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.tags.visit(visitor);
        self.replacement.visit(visitor);
    }
}
