//! One cache: tags and the policy that chooses victims. What an access to it means is decided by
//! the flows (`data_side`, `fetch_side`, `l2`), which raise the events.

use sim_core::{Cycle, LineAddr};

use crate::config::ReplacementKind;
use crate::replacement::{Insertion, Replacement};
use crate::tag_array::{LineState, Place, TagArray};

/// A line that left to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// Which line.
    pub(crate) line: LineAddr,
    /// It holds data that the next level does not have.
    pub(crate) dirty: bool,
}

/// One set-associative cache of 64-byte lines.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    tags: TagArray,
    replacement: Replacement,
}

impl Level {
    /// An empty cache; the shape was validated.
    pub(crate) fn new(size_bytes: u64, ways: u32, kind: ReplacementKind, seed: u64) -> Level {
        let sets = size_bytes / (u64::from(ways) * sim_core::LINE_BYTES);
        Level {
            tags: TagArray::new(sets, ways),
            replacement: Replacement::new(kind, sets, ways, seed),
        }
    }

    /// True when the line is here at `now` and nothing else is to be done: that is a use. False says
    /// nothing and changes nothing.
    #[inline(always)]
    pub(crate) fn plain_hit(&mut self, line: LineAddr, now: Cycle) -> bool {
        let Some(place) = self.tags.find(self.tags.set_of(line), line) else { return false };
        if !self.tags.state(place).is_plain_at(now) {
            return false;
        }
        self.replacement.used(place);
        true
    }

    /// A demand lookup: a hit is a use.
    #[inline]
    pub(crate) fn lookup(&mut self, line: LineAddr) -> Option<Place> {
        self.lookup_in(self.tags.set_of(line), line)
    }

    /// [`Level::lookup`] where the caller computes the set.
    #[inline]
    pub(crate) fn lookup_in(&mut self, set: u32, line: LineAddr) -> Option<Place> {
        let place = self.tags.find(set, line)?;
        self.replacement.used(place);
        Some(place)
    }

    /// Where the line is. Pure: no use.
    pub(crate) fn probe(&self, line: LineAddr) -> Option<Place> {
        self.probe_in(self.tags.set_of(line), line)
    }

    /// [`Level::probe`] where the caller computes the set.
    pub(crate) fn probe_in(&self, set: u32, line: LineAddr) -> Option<Place> {
        self.tags.find(set, line)
    }

    /// State of a line that was found.
    #[inline]
    pub(crate) fn state(&self, place: Place) -> LineState {
        self.tags.state(place)
    }

    /// Changes the state of a line that was found.
    #[inline]
    pub(crate) fn set_state(&mut self, place: Place, state: LineState) {
        self.tags.set_state(place, state);
    }

    /// Allocates a line that is absent, in an empty way or in place of a victim.
    pub(crate) fn allocate(
        &mut self,
        line: LineAddr,
        state: LineState,
        insertion: Insertion,
    ) -> Option<Victim> {
        self.allocate_in(self.tags.set_of(line), line, state, insertion)
    }

    /// [`Level::allocate`] where the caller computes the set.
    pub(crate) fn allocate_in(
        &mut self,
        set: u32,
        line: LineAddr,
        state: LineState,
        insertion: Insertion,
    ) -> Option<Victim> {
        debug_assert!(self.tags.find(set, line).is_none(), "line {line:?} is already present");
        let empty = self.tags.find_empty(set);
        let place = empty.unwrap_or_else(|| self.replacement.victim(set));
        let victim = self.tags.content(place);
        self.tags.put(place, line, state);
        self.replacement.inserted(place, insertion);
        victim.map(|(line, state)| Victim { line, dirty: state.is_dirty() })
    }

    /// Removes a line; its state if it was present.
    pub(crate) fn remove(&mut self, line: LineAddr) -> Option<LineState> {
        self.remove_from(self.tags.set_of(line), line)
    }

    /// [`Level::remove`] where the caller computes the set.
    pub(crate) fn remove_from(&mut self, set: u32, line: LineAddr) -> Option<LineState> {
        let place = self.tags.find(set, line)?;
        let state = self.tags.state(place);
        self.tags.clear(place);
        Some(state)
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
