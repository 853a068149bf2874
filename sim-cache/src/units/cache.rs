//! One cache: tags and the policy that chooses victims. What an access to it means is decided by
//! the flows (`data_side`, `fetch_side`, `l2`), which raise the events.

use sim_core::{Cycle, LineAddr, StateVisitor, WarmState};

use crate::config::ReplacementKind;
use crate::units::indexed::Indexed;
use crate::units::prefetch_stats::PrefetchCounts;
use crate::units::replacement::{Insertion, Replacement};
use crate::units::tag_array::{Defect, EntryIndex, LineState, TagArray};

/// A line that left to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Which line.
    pub(crate) line: LineAddr,
    /// It holds data that the next level does not have.
    pub(crate) dirty: bool,
    /// What is wrong with its data.
    pub(crate) defect: Defect,
}

/// A tag that holds a wrong bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenTag {
    /// Where.
    pub(crate) entry: EntryIndex,
    /// Whether ECC can correct it.
    pub(crate) defect: Defect,
}

/// Lines whose places [`Cache::plain_hit_again`] remembers: a loop has few.
const LAST: usize = 8;

/// One set-associative cache of 64-byte lines.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    tags: TagArray,
    replacement: Replacement,
    /// Nearly always empty; the lines of such a set say that it is in here.
    broken_tags: Vec<BrokenTag>,
    prefetches: PrefetchCounts,
    /// Where [`Cache::plain_hit_again`] found its lines last, by their low bits.
    last: [EntryIndex; LAST],
}

impl Cache {
    /// An empty cache; the shape was validated.
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

    /// The same with sets that virtual addresses choose: an L1 cache.
    pub(crate) fn indexed_virtually(self) -> Cache {
        Cache { tags: self.tags.indexed_virtually(), ..self }
    }

    /// True when the line is here at `now` and nothing else is to be done: that is a use. False says
    /// nothing and changes nothing.
    #[inline(always)]
    pub(crate) fn plain_hit(&mut self, line: Indexed, now: Cycle) -> bool {
        let Some(entry) = self.find(line) else { return false };
        if !self.tags.state(entry).is_plain_at(now) {
            return false;
        }
        self.replacement.used(entry);
        true
    }

    /// [`Cache::plain_hit`] for accesses that mostly go where others went just before: fetches.
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

    /// [`Cache::plain_hit`] for a write, which makes the line dirty.
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

    /// A demand lookup: a hit is a use.
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

    /// Where the line is in the set of the index. Pure: no use.
    #[inline(always)]
    pub(crate) fn find(&self, line: Indexed) -> Option<EntryIndex> {
        self.tags.find(self.tags.set_of(line), line.physical)
    }

    /// Where the line is, in whatever set. Pure: no use.
    #[inline]
    pub(crate) fn probe(&self, line: LineAddr) -> Option<EntryIndex> {
        self.tags.find_anywhere(line)
    }

    /// State of a line that was found.
    #[inline]
    pub(crate) fn state(&self, entry: EntryIndex) -> LineState {
        self.tags.state(entry)
    }

    /// Changes the state of a line that was found. That a prefetched line was used is told to
    /// [`Cache::first_use`].
    #[inline]
    pub(crate) fn set_state(&mut self, entry: EntryIndex, state: LineState) {
        debug_assert!(
            self.tags.state(entry).is_prefetched() == state.is_prefetched(),
            "a prefetched line lost its mark without a use"
        );
        self.tags.set_state(entry, state);
    }

    /// Changes the state of a line because of another agent, which may have written it anew: then what
    /// was prefetched is lost.
    pub(crate) fn rewrite(&mut self, entry: EntryIndex, state: LineState) {
        let is_lost = self.tags.state(entry).is_prefetched() && !state.is_prefetched();
        self.prefetches.useless += u64::from(is_lost);
        self.tags.set_state(entry, state);
    }

    /// A prefetched line is used for the first time; `late` if it is not here yet.
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

    /// What became of the prefetched lines so far.
    pub(crate) fn prefetches(&self) -> PrefetchCounts {
        self.prefetches
    }

    /// Allocates a line that is absent from its set, in an empty way or in place of a victim.
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

    /// Removes every copy of a line; the state of one if it was present.
    #[inline]
    pub(crate) fn remove(&mut self, line: LineAddr) -> Option<LineState> {
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

    /// Drops lines that cannot be here ([`TagArray::retain`]), without a word: a state from a file may have any.
    pub(crate) fn retain(&mut self, stays: impl Fn(LineAddr) -> bool) {
        self.tags.retain(stays);
    }

    /// Of copies in several sets, drops all but one, also without a word.
    pub(crate) fn retain_one_copy(&mut self) {
        self.tags.retain_one_copy();
    }

    /// Removes every line.
    pub(crate) fn clear(&mut self) {
        let unused = self.tags.lines().filter(|(_, state)| state.is_prefetched()).count();
        self.prefetches.useless += unused as u64;
        self.tags.clear_all();
    }

    /// Sets and ways.
    pub(crate) fn shape(&self) -> (u32, u32) {
        self.tags.shape()
    }

    /// Line and state in a place, if there is one.
    pub(crate) fn content(&self, entry: EntryIndex) -> Option<(LineAddr, LineState)> {
        self.tags.content(entry)
    }

    /// Breaks the tag of a place.
    pub(crate) fn break_tag(&mut self, entry: EntryIndex, defect: Defect) {
        self.broken_tags.push(BrokenTag { entry, defect });
        self.mark_set(entry.set, true);
    }

    /// True when some tag is broken.
    #[inline]
    pub(crate) fn has_broken_tags(&self) -> bool {
        !self.broken_tags.is_empty()
    }

    /// Every set in which a line may be.
    pub(crate) fn sets_of(&self, line: LineAddr) -> impl Iterator<Item = u32> + use<> {
        self.tags.sets_of(line)
    }

    /// The set that an access looks into.
    pub(crate) fn set_of(&self, line: Indexed) -> u32 {
        self.tags.set_of(line)
    }

    /// A broken tag of a set, which is sound from now on.
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

    /// Number of lines present.
    pub(crate) fn occupied(&self) -> u64 {
        self.tags.occupied()
    }

    /// Every line present, with its state.
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
