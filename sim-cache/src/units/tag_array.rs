//! Tags and line states of one cache: set, way, tag, and the refill time of a line in flight.
//!
//! The tag array has no policy and raises no event. PMU guide 3.2.6 (lines of 64 bytes).

use sim_core::{Cycle, DataSource, LineAddr, StateVisitor, WarmState};

use crate::units::host_aligned::Aligned;
use crate::units::indexed::{Indexed, PAGE_LINES};
use crate::units::presence::Presence;

/// Refill time of a line or a translation in flight.
///
/// Requests come in program order, so a request may find a line that a request with a later start
/// fetched. It would have fetched the line itself, so it waits at most for the same latency from
/// its own start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RefillTime {
    /// Cycle of arrival.
    pub(crate) ready: Cycle,
    /// Cycles from the request to the arrival.
    pub(crate) latency: u32,
}

impl RefillTime {
    /// Creates the refill time of a request at `start` whose data arrives at `ready`.
    pub(crate) fn between(start: Cycle, ready: Cycle) -> RefillTime {
        let latency = u32::try_from(ready.saturating_sub(start)).unwrap_or(u32::MAX);
        RefillTime { ready, latency }
    }

    /// Returns when a request that starts at `now` has the data.
    #[inline]
    pub(crate) fn at(self, now: Cycle) -> Cycle {
        self.ready.min(now + Cycle::from(self.latency)).max(now)
    }
}

/// State of a line in one word: refill time, dirty, prefetched, shared, errors, source of its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineState(u64);

const DIRTY: u64 = 1;
const PREFETCHED: u64 = 1 << 1;
const SOURCE_SHIFT: u32 = 2;
/// Another core may have a copy: a write has to request ownership first.
const SHARED: u64 = 1 << 5;
const DEFECT_SHIFT: u32 = 6;
const DEFECT: u64 = 0b11 << DEFECT_SHIFT;
/// A tag of the set is broken: an access to the set repairs it first.
const TAG_DEFECT: u64 = 1 << 8;
/// The L1 I-cache has, or had, a copy too: a write removes it.
const IN_L1I: u64 = 1 << 9;
const LATENCY_SHIFT: u32 = 10;
const LATENCY_MAX: u32 = (1 << 12) - 1;
const READY_SHIFT: u32 = 22;
/// All bits except the ready cycle and the latency.
const FLAGS: u64 = (1 << LATENCY_SHIFT) - 1;

/// Error of the stored data of a line (PMU guide 3.2.20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defect {
    /// No error.
    #[default]
    None,
    /// One wrong bit: ECC corrects it on a read; parity of the L1 I-cache only detects it.
    Correctable,
    /// Two wrong bits: detected, not corrected.
    Uncorrectable,
    /// Marked as poisoned: consuming it aborts; the error was counted before.
    Poisoned,
}

/// Returns the error with which a line arrives.
pub(crate) fn arriving_defect(poisoned: bool) -> Defect {
    if poisoned { Defect::Poisoned } else { Defect::None }
}

/// Sources by the three source bits of a state.
const SOURCES: [DataSource; 8] = [
    DataSource::L1,
    DataSource::L2,
    DataSource::Slc,
    DataSource::Peer,
    DataSource::Remote,
    DataSource::Dram,
    DataSource::Device,
    DataSource::StoreQueue,
];

impl LineState {
    /// Returns the state of a clean line with this refill time, supplied by `source`.
    pub(crate) fn refilled(refill: RefillTime, source: DataSource) -> LineState {
        let code = SOURCES.iter().position(|s| *s == source).unwrap_or_default() as u64;
        LineState(code << SOURCE_SHIFT).with_refill_time(refill)
    }

    fn with_refill_time(self, refill: RefillTime) -> LineState {
        let latency = u64::from(refill.latency.min(LATENCY_MAX));
        LineState(self.0 & FLAGS | latency << LATENCY_SHIFT | refill.ready << READY_SHIFT)
    }

    #[must_use]
    pub(crate) fn with_dirty(self, dirty: bool) -> LineState {
        LineState(self.0 & !DIRTY | u64::from(dirty))
    }

    #[must_use]
    pub(crate) fn with_prefetched(self, prefetched: bool) -> LineState {
        LineState(self.0 & !PREFETCHED | u64::from(prefetched) << 1)
    }

    #[must_use]
    pub(crate) fn with_shared(self, shared: bool) -> LineState {
        LineState(self.0 & !SHARED | u64::from(shared) << 5)
    }

    #[must_use]
    pub(crate) fn with_in_l1i(self, in_l1i: bool) -> LineState {
        LineState(self.0 & !IN_L1I | u64::from(in_l1i) << 9)
    }

    #[must_use]
    pub(crate) fn with_defect(self, defect: Defect) -> LineState {
        LineState(self.0 & !DEFECT | (defect as u64) << DEFECT_SHIFT)
    }

    #[must_use]
    pub(crate) fn with_tag_defect(self, defect: bool) -> LineState {
        LineState(self.0 & !TAG_DEFECT | u64::from(defect) << 8)
    }

    /// Returns whether a tag of its set is broken.
    pub(crate) fn has_tag_defect(self) -> bool {
        self.0 & TAG_DEFECT != 0
    }

    /// Returns whether its data or a tag of its set has an error.
    #[inline]
    pub(crate) fn is_defective(self) -> bool {
        self.0 & (DEFECT | TAG_DEFECT) != 0
    }

    /// Returns the error of its data.
    pub(crate) fn defect(self) -> Defect {
        match (self.0 & DEFECT) >> DEFECT_SHIFT {
            0 => Defect::None,
            1 => Defect::Correctable,
            2 => Defect::Uncorrectable,
            _ => Defect::Poisoned,
        }
    }

    /// Returns whether the L1 I-cache may have a copy.
    #[inline]
    pub(crate) fn is_in_l1i(self) -> bool {
        self.0 & IN_L1I != 0
    }

    /// Returns whether another core may have a copy.
    #[inline]
    pub(crate) fn is_shared(self) -> bool {
        self.0 & SHARED != 0
    }

    #[inline]
    pub(crate) fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    /// Returns whether a prefetch brought the line in and no demand access has used it yet.
    #[inline]
    pub(crate) fn is_prefetched(self) -> bool {
        self.0 & PREFETCHED != 0
    }

    /// Returns the supplier of the line.
    pub(crate) fn source(self) -> DataSource {
        SOURCES[(self.0 >> SOURCE_SHIFT) as usize & 7]
    }

    /// Returns whether the line is present at `now`, without error, and not an unused prefetch.
    #[inline]
    pub(crate) fn is_plain_at(self, now: Cycle) -> bool {
        self.0 >> READY_SHIFT <= now && self.0 & (PREFETCHED | DEFECT | TAG_DEFECT) == 0
    }

    /// Returns the same as [`LineState::is_plain_at`], but for a write. A write also requires that
    /// no other copy exists.
    #[inline]
    pub(crate) fn is_plain_for_write_at(self, now: Cycle) -> bool {
        let other_copies = SHARED | IN_L1I;
        let special = PREFETCHED | DEFECT | TAG_DEFECT | other_copies;
        self.0 >> READY_SHIFT <= now && self.0 & special == 0
    }

    /// Returns the refill time of the line.
    pub(crate) fn refill_time(self) -> RefillTime {
        let latency = (self.0 >> LATENCY_SHIFT) as u32 & LATENCY_MAX;
        // A latency too long for its field does not shorten any wait.
        let latency = if latency == LATENCY_MAX { u32::MAX } else { latency };
        RefillTime { ready: self.0 >> READY_SHIFT, latency }
    }
}

/// Entry of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryIndex {
    /// Number of the set.
    pub(crate) set: u32,
    /// Number of the way in the set.
    pub(crate) way: u32,
}

/// Returns the first way of a set whose word matches.
#[inline(always)]
pub(crate) fn find_way(words: &[u64], matches: impl Fn(u64) -> bool) -> Option<u32> {
    let (fours, rest) = words.as_chunks::<4>();
    let mut before = 0;
    for four in fours {
        // The matching way is unpredictable, so four ways are compared before a branch.
        let found = (0..4).fold(0, |found, way| found | u32::from(matches(four[way])) << way);
        if found != 0 {
            return Some(before + found.trailing_zeros());
        }
        before += 4;
    }
    let way = rest.iter().position(|word| matches(*word))?;
    Some(before + way as u32)
}

/// Tags and states of a cache. `tags[set * ways + way]` is the line address plus one, 0 for an
/// empty entry.
#[derive(Clone, Debug)]
pub(crate) struct TagArray {
    tags: Aligned<u64>,
    /// [`LineState`]s, as numbers.
    states: Aligned<u64>,
    ways: u32,
    set_mask: u64,
    /// Distance between the sets that may hold a line; the number of sets with a physical index.
    alias_step: u64,
    /// Number of sets that may hold a line.
    aliases: u32,
    /// Lines present, counted if several sets may hold a line.
    presence: Presence,
}

impl TagArray {
    /// Creates an empty array indexed by physical addresses. `sets` is a power of two.
    pub(crate) fn new(sets: u64, ways: u32) -> TagArray {
        let entries = sets as usize * ways as usize;
        TagArray {
            tags: Aligned::new(entries),
            states: Aligned::new(entries),
            ways,
            set_mask: sets - 1,
            alias_step: sets,
            aliases: 1,
            presence: Presence::default(),
        }
    }

    /// Converts the array to virtual indexing, where a physical address determines only the index
    /// bits inside a page.
    pub(crate) fn indexed_virtually(self) -> TagArray {
        let alias_step = self.alias_step.min(PAGE_LINES);
        let aliases = ((self.set_mask + 1) / alias_step) as u32;
        let presence = if aliases > 1 { Presence::counting() } else { Presence::default() };
        TagArray { alias_step, aliases, presence, ..self }
    }

    /// Returns the set that the low bits of the index select.
    #[inline(always)]
    pub(crate) fn set_of(&self, line: Indexed) -> u32 {
        (line.index & self.set_mask) as u32
    }

    /// Returns every set that may hold a line.
    #[inline]
    pub(crate) fn sets_of(&self, line: LineAddr) -> impl Iterator<Item = u32> + use<> {
        let (first, step) = ((line.0 & (self.alias_step - 1)) as u32, self.alias_step as u32);
        (0..self.aliases).map(move |alias| first + alias * step)
    }

    /// Returns false if no set holds the line. True says nothing.
    #[inline(always)]
    pub(crate) fn may_have(&self, line: LineAddr) -> bool {
        self.presence.may_have(line)
    }

    /// Returns the entry of a line in any set.
    #[inline]
    pub(crate) fn find_anywhere(&self, line: LineAddr) -> Option<EntryIndex> {
        if !self.may_have(line) {
            return None;
        }
        let (tags, ways, step) = (&*self.tags, self.ways as usize, self.alias_step as usize);
        let (mut set, tag) = (line.0 as usize & (step - 1), line.0 + 1);
        // Slices of the array end the loop, which costs the host less than an iterator over sets.
        while let Some(words) = tags.get(set * ways..(set + 1) * ways) {
            if let Some(way) = find_way(words, |other| other == tag) {
                return Some(EntryIndex { set: set as u32, way });
            }
            set += step;
        }
        None
    }

    #[inline]
    fn index(&self, entry: EntryIndex) -> usize {
        (entry.set * self.ways + entry.way) as usize
    }

    /// Returns whether the line is in this entry.
    #[inline(always)]
    pub(crate) fn is_at(&self, entry: EntryIndex, line: LineAddr) -> bool {
        self.tags[self.index(entry)] == line.0 + 1
    }

    /// Returns the entry of a line in a set, if present.
    #[inline(always)]
    pub(crate) fn find(&self, set: u32, line: LineAddr) -> Option<EntryIndex> {
        let (first, tag) = ((set * self.ways) as usize, line.0 + 1);
        let way = find_way(self.tags.part(first, self.ways as usize), |other| other == tag)?;
        Some(EntryIndex { set, way })
    }

    /// Returns an empty entry of the set.
    #[inline]
    pub(crate) fn find_empty(&self, set: u32) -> Option<EntryIndex> {
        let first = (set * self.ways) as usize;
        let way = self.tags.part(first, self.ways as usize).iter().position(|tag| *tag == 0)?;
        Some(EntryIndex { set, way: way as u32 })
    }

    /// Returns the content of an entry, if any.
    pub(crate) fn content(&self, entry: EntryIndex) -> Option<(LineAddr, LineState)> {
        let index = self.index(entry);
        let tag = self.tags[index].checked_sub(1)?;
        Some((LineAddr(tag), LineState(self.states[index])))
    }

    /// Returns the state of an entry that holds a line.
    #[inline]
    pub(crate) fn state(&self, entry: EntryIndex) -> LineState {
        LineState(self.states[self.index(entry)])
    }

    /// Changes the state of an entry that holds a line.
    #[inline]
    pub(crate) fn set_state(&mut self, entry: EntryIndex, state: LineState) {
        let index = self.index(entry);
        self.states[index] = state.0;
    }

    /// Puts a line into an entry.
    pub(crate) fn put(&mut self, entry: EntryIndex, line: LineAddr, state: LineState) {
        self.clear(entry);
        let index = self.index(entry);
        self.tags[index] = line.0 + 1;
        self.states[index] = state.0;
        self.presence.enters(line);
    }

    /// Drops content that no run can produce: lines refused by `stays`, lines of another set, and
    /// repeated copies within a set.
    pub(crate) fn retain(&mut self, stays: impl Fn(LineAddr) -> bool) {
        let known = self.alias_step - 1;
        for (set, tags) in (0..).zip(self.tags.chunks_exact_mut(self.ways as usize)) {
            for way in 0..tags.len() {
                let Some(line) = tags[way].checked_sub(1) else { continue };
                let is_twice = tags[..way].contains(&tags[way]);
                if is_twice || (line ^ set) & known != 0 || !stays(LineAddr(line)) {
                    tags[way] = 0;
                }
            }
        }
        self.recount();
    }

    /// Keeps only the first of the copies of a line in several sets. Only the L1 I-cache may have
    /// several.
    pub(crate) fn retain_one_copy(&mut self) {
        for set in 0..=self.set_mask as u32 {
            for way in 0..self.ways {
                let entry = EntryIndex { set, way };
                let line = self.content(entry).map(|(line, _)| line);
                if line.is_some_and(|line| self.find_anywhere(line) != Some(entry)) {
                    self.clear(entry);
                }
            }
        }
    }

    /// Empties every entry.
    pub(crate) fn clear_all(&mut self) {
        self.tags.fill(0);
        self.recount();
    }

    fn recount(&mut self) {
        let lines = self.tags.iter().filter_map(|tag| tag.checked_sub(1)).map(LineAddr);
        self.presence.recount(lines);
    }

    /// Empties an entry.
    pub(crate) fn clear(&mut self, entry: EntryIndex) {
        let index = self.index(entry);
        if let Some(line) = std::mem::take(&mut self.tags[index]).checked_sub(1) {
            self.presence.leaves(LineAddr(line));
        }
    }

    /// Returns the numbers of sets and ways.
    pub(crate) fn shape(&self) -> (u32, u32) {
        (self.set_mask as u32 + 1, self.ways)
    }

    /// Returns the number of lines present.
    pub(crate) fn occupied(&self) -> u64 {
        self.tags.iter().filter(|tag| **tag != 0).count() as u64
    }

    /// Returns every line present, with its state.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (LineAddr, LineState)> + '_ {
        let pairs = self.tags.iter().zip(self.states.iter());
        pairs
            .filter(|(tag, _)| **tag != 0)
            .map(|(tag, state)| (LineAddr(tag - 1), LineState(*state)))
    }
}

impl WarmState for TagArray {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.tags);
        visitor.words(&mut self.states);
        self.recount();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_returns_the_fields_it_was_created_with() {
        let refill = RefillTime::between(1000, 1388);
        let state = LineState::refilled(refill, DataSource::Dram).with_dirty(true);
        assert_eq!((state.refill_time(), state.source()), (refill, DataSource::Dram));
        assert!(state.is_dirty() && !state.is_prefetched());
        assert!(!state.is_plain_at(1387) && state.is_plain_at(1388));
        assert!(!state.with_prefetched(true).is_plain_at(5000));
    }

    #[test]
    fn an_earlier_request_waits_one_latency_from_its_own_start() {
        let refill = RefillTime::between(1000, 1388);
        assert_eq!(refill.at(905), 905 + 388);
        assert_eq!(refill.at(1100), 1388);
        assert_eq!(refill.at(2000), 2000);
    }

    #[test]
    fn content_that_no_run_can_produce_is_dropped() {
        let mut tags = TagArray::new(4, 3);
        let put = |tags: &mut TagArray, set, way, line| {
            tags.put(EntryIndex { set, way }, LineAddr(line), LineState::default());
        };
        [(1, 0, 5), (1, 1, 5), (1, 2, 9), (2, 0, 7), (3, 1, 7)]
            .into_iter()
            .for_each(|(set, way, line)| put(&mut tags, set, way, line));
        tags.retain(|line| line != LineAddr(9));
        let lines: Vec<u64> = tags.lines().map(|(line, _)| line.0).collect();
        assert_eq!(lines, [5, 7]);
        assert_eq!(tags.find(3, LineAddr(7)), Some(EntryIndex { set: 3, way: 1 }));
    }

    #[test]
    fn a_line_is_found_only_where_it_was_put() {
        let mut tags = TagArray::new(4, 2);
        let line = LineAddr(0x1001);
        let entry =
            tags.find_empty(tags.set_of(Indexed::physically(line))).expect("the array is empty");
        tags.put(entry, line, LineState::default());
        assert_eq!(tags.find(1, line), Some(entry));
        assert_eq!(tags.find(2, line), None);
        tags.clear(entry);
        assert_eq!((tags.find(1, line), tags.occupied()), (None, 0));
    }

    #[test]
    fn with_a_virtual_index_a_line_may_be_in_as_many_sets_as_a_way_has_pages() {
        let mut tags = TagArray::new(4 * PAGE_LINES, 2).indexed_virtually();
        let line = LineAddr(7 * PAGE_LINES + 5);
        let step = PAGE_LINES as u32;
        assert!(tags.sets_of(line).eq([5, 5 + step, 5 + 2 * step, 5 + 3 * step]));
        for (set, way) in [(5 + step, 1), (5 + 3 * step, 0), (6, 0)] {
            tags.put(EntryIndex { set, way }, line, LineState::default());
        }
        tags.retain(|_| true);
        assert_eq!(tags.occupied(), 2, "set 6 cannot have it");
        tags.retain_one_copy();
        assert_eq!(tags.find_anywhere(line), Some(EntryIndex { set: 5 + step, way: 1 }));
        assert_eq!(tags.occupied(), 1);
        assert!(TagArray::new(512, 2).sets_of(line).eq([453]), "a physical index leaves one");
    }
}
