//! Tags of a set-associative cache with pseudo-random replacement: L1I, L1D and L2.
//!
//! Sources: Cortex-A53 manual (TRM) 2.1.1 and 2.1.6: lines of 64 bytes, pseudo-random replacement.
//! A line enters when its linefill is requested, with the cycle in which it is complete.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Bits of an address within a line.
pub(crate) const LINE_SHIFT: u32 = 6;

/// Address bits without a tag in the top byte.
pub(crate) const ADDRESS_MASK: u64 = (1 << 56) - 1;

/// Tag of an empty way.
const EMPTY: u64 = u64::MAX;

/// State of a line: a set of properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineState(u8);

impl LineState {
    /// Clean, and no other cache of the cluster has the line (exclusive).
    pub(crate) const CLEAN: LineState = LineState(0);
    /// Memory has older data (modified; with `SHARED`, owned).
    pub(crate) const DIRTY: LineState = LineState(1);
    /// Another cache of the cluster may have the line.
    pub(crate) const SHARED: LineState = LineState(2);
    /// The prefetcher requested the line, and no access has used it.
    pub(crate) const PREFETCHED: LineState = LineState(4);
    /// The RAM that has the line has an error, which the next access finds.
    pub(crate) const FAULTY: LineState = LineState(8);
    /// The snoop filter's tag of a line in an L1 data cache has an error.
    pub(crate) const TAG_FAULTY: LineState = LineState(16);
    /// An access to the line has to look at more than its presence.
    const SPECIAL: LineState = LineState(4 | 8);

    /// Returns whether it has every property of `other`.
    #[inline]
    pub(crate) fn has(self, other: LineState) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether it has a property of `other`.
    #[inline]
    fn has_any(self, other: LineState) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns this state with the properties of `other`.
    #[inline]
    pub(crate) fn with(self, other: LineState) -> LineState {
        LineState(self.0 | other.0)
    }

    /// Returns this state with the properties of `other` if `holds`.
    #[inline]
    pub(crate) fn with_if(self, holds: bool, other: LineState) -> LineState {
        if holds { self.with(other) } else { self }
    }

    /// Returns this state without the properties of `other`.
    #[inline]
    pub(crate) fn without(self, other: LineState) -> LineState {
        LineState(self.0 & !other.0)
    }
}

/// Line that left a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Line number: address divided by 64.
    pub(crate) line: u64,
    /// Last state.
    pub(crate) state: LineState,
}

/// Tags, states and refill times of one cache.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    tags: Box<[u64]>,
    states: Box<[LineState]>,
    /// Cycle in which the whole line is present.
    ready: Box<[u64]>,
    set_mask: u64,
    ways: usize,
    rng: Xoshiro256PlusPlus,
    /// Line found last, looked at first, and the cycle in which it is complete.
    last_line: u64,
    last_ready: u64,
}

impl Cache {
    /// Creates an empty cache. `seed` selects the sequence of victims.
    pub(crate) fn new(size_bytes: u64, ways: u32, seed: u64) -> Cache {
        let ways = ways.clamp(1, 16);
        let sets = (size_bytes >> LINE_SHIFT) / u64::from(ways);
        // An invalid shape, which the check of the configuration reports, must not stop the
        // program.
        let sets = if sets.is_power_of_two() { sets } else { sets.next_power_of_two() };
        let entries = sets as usize * ways as usize;
        Cache {
            tags: vec![EMPTY; entries].into_boxed_slice(),
            states: vec![LineState::CLEAN; entries].into_boxed_slice(),
            ready: vec![0; entries].into_boxed_slice(),
            set_mask: sets - 1,
            ways: ways as usize,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            last_line: EMPTY,
            last_ready: 0,
        }
    }

    /// Returns the set of a line.
    #[inline]
    pub(crate) fn set_of(&self, line: u64) -> usize {
        (line & self.set_mask) as usize
    }

    /// Returns the number of sets.
    pub(crate) fn sets(&self) -> usize {
        self.set_mask as usize + 1
    }

    /// Returns whether the line found last is this one, and complete at `now`.
    #[inline(always)]
    pub(crate) fn last_hits(&self, line: u64, now: u64) -> bool {
        self.last_line == line && self.last_ready <= now
    }

    /// Returns whether a line is present and complete at `now`, without an error, and no prefetch
    /// that waits for its first use.
    #[inline]
    pub(crate) fn hits(&mut self, line: u64, now: u64) -> bool {
        self.last_hits(line, now) || (self.find(line).is_some() && self.last_hits(line, now))
    }

    /// Returns the entry of a line. Remembers it for [`Cache::last_hits`], unless it has an error
    /// or is a prefetch that waits for its first use.
    #[inline]
    pub(crate) fn find(&mut self, line: u64) -> Option<usize> {
        let entry = self.probe(line)?;
        if !self.states[entry].has_any(LineState::SPECIAL) {
            self.last_line = line;
            self.last_ready = self.ready[entry];
        }
        Some(entry)
    }

    /// Returns the entry of a line. Has no side effects.
    #[inline]
    pub(crate) fn probe(&self, line: u64) -> Option<usize> {
        let first = self.set_of(line) * self.ways;
        let set = &self.tags[first..first + self.ways];
        set.iter().position(|tag| *tag == line).map(|way| first + way)
    }

    /// Returns the line of a set and way, for maintenance.
    pub(crate) fn line_at(&self, set: u64, way: u64) -> Option<u64> {
        let entry = (set & self.set_mask) as usize * self.ways + way as usize % self.ways;
        Some(self.tags[entry]).filter(|tag| *tag != EMPTY)
    }

    /// Returns the state of an entry.
    #[inline]
    pub(crate) fn state(&self, entry: usize) -> LineState {
        self.states[entry]
    }

    /// Replaces the state of an entry.
    #[inline]
    pub(crate) fn set_state(&mut self, entry: usize, state: LineState) {
        self.states[entry] = state;
    }

    /// Returns the cycle in which the line of an entry is complete.
    #[inline]
    pub(crate) fn ready(&self, entry: usize) -> u64 {
        self.ready[entry]
    }

    /// Enters a line that is not present. Returns the line that it replaces. A line whose linefill
    /// is not complete at `at` is replaced only if the whole set is such lines.
    pub(crate) fn insert(
        &mut self,
        line: u64,
        state: LineState,
        at: u64,
        ready: u64,
    ) -> Option<Victim> {
        let first = self.set_of(line) * self.ways;
        let set = &self.tags[first..first + self.ways];
        let empty = set.iter().position(|tag| *tag == EMPTY);
        let way = empty.unwrap_or_else(|| self.random_way(first, at));
        let entry = first + way;
        let old = Victim { line: self.tags[entry], state: self.states[entry] };
        self.forget_last(old.line);
        self.tags[entry] = line;
        self.states[entry] = state;
        self.ready[entry] = ready;
        Some(old).filter(|old| old.line != EMPTY)
    }

    fn random_way(&mut self, first: usize, at: u64) -> usize {
        // The high half of a product is uniform over the ways to within 2^-32.
        let start = ((u64::from(self.rng.next_u32()) * self.ways as u64) >> 32) as usize;
        let from_start = (start..self.ways).chain(0..start);
        let mut complete = from_start.filter(|way| self.ready[first + way] <= at);
        complete.next().unwrap_or(start)
    }

    /// Removes a line. Returns its state.
    pub(crate) fn remove(&mut self, line: u64) -> Option<LineState> {
        let entry = self.probe(line)?;
        self.tags[entry] = EMPTY;
        self.forget_last(line);
        Some(self.states[entry])
    }

    fn forget_last(&mut self, line: u64) {
        if self.last_line == line {
            self.last_line = EMPTY;
        }
    }

    /// Gives a line an error, if it is present. Returns whether it is.
    pub(crate) fn spoil(&mut self, line: u64, error: LineState) -> bool {
        let Some(entry) = self.probe(line) else { return false };
        self.states[entry] = self.states[entry].with(error);
        self.forget_last(line);
        true
    }

    /// Removes every line.
    pub(crate) fn clear(&mut self) {
        self.tags.fill(EMPTY);
        self.last_line = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, LineState};

    #[test]
    fn a_full_set_replaces_a_complete_line_and_an_empty_way_comes_first() {
        let mut cache = Cache::new(4096, 4, 7);
        let sets = cache.sets() as u64;
        for way in 0..4 {
            let ready = if way == 2 { 10 } else { 1000 };
            assert_eq!(cache.insert(way * sets, LineState::DIRTY, 0, ready), None);
        }
        let victim = cache.insert(4 * sets, LineState::CLEAN, 10, 20).map(|victim| victim.line);
        assert_eq!(victim, Some(2 * sets));
        assert_eq!(cache.remove(4 * sets), Some(LineState::CLEAN));
        assert_eq!(cache.insert(5 * sets, LineState::CLEAN, 10, 20), None);
    }

    #[test]
    fn victims_follow_the_seed() {
        let victims = |seed| -> Vec<Option<u64>> {
            let mut cache = Cache::new(4096, 4, seed);
            let lines = (0..40).map(|line| line * 16);
            lines.map(|line| cache.insert(line, LineState::CLEAN, 1, 1).map(|v| v.line)).collect()
        };
        assert_eq!(victims(3), victims(3));
        assert_ne!(victims(3), victims(4));
    }

    #[test]
    fn a_line_hits_unless_absent_late_or_prefetched() {
        let mut cache = Cache::new(4096, 4, 7);
        cache.insert(5, LineState::CLEAN, 0, 30);
        cache.find(5);
        assert!(!cache.hits(5, 29) && cache.hits(5, 30) && !cache.hits(6, 30));
        cache.insert(6, LineState::PREFETCHED, 0, 30);
        assert!(!cache.hits(6, 30) && cache.hits(5, 30));
        cache.remove(5);
        assert!(!cache.hits(5, 30));
    }
}
