//! The system level cache of one chip. PMU guide 3.2.21.
//!
//! With direct connect, a slice allocates on evictions from an L2. It is exclusive for data that
//! one core uses, because a read removes the line, and it keeps code and lines that several cores
//! share.
//!
//! The cache is the largest structure of the model and is accessed at random: each access to a set
//! misses the host's caches. Each line therefore takes one word, and each set starts at a cache
//! line of the host.

use sim_core::{LINE_BYTES, LineAddr, StateVisitor, WarmState};

use crate::config::SlcConfig;
use crate::uncore::home_node::HomeHash;
use crate::units::host_aligned::Aligned;
use crate::units::replacement::{Insertion, Replacement};
use crate::units::tag_array::{EntryIndex, find_way};

/// Content of a way in one word: a line, and whether it is dirty. 0 is an empty way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way(u64);

const DIRTY: u64 = 1;

impl Way {
    fn of(line: LineAddr, dirty: bool) -> Way {
        Way((line.0 + 1) << 1 | u64::from(dirty))
    }

    fn is_empty(self) -> bool {
        self.0 <= DIRTY
    }

    fn holds(self, line: LineAddr) -> bool {
        self.0 | DIRTY == Way::of(line, true).0
    }

    fn is_dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    fn line(self) -> LineAddr {
        LineAddr((self.0 >> 1) - 1)
    }
}

/// Result of the insertion of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Put {
    /// The line was absent.
    pub(crate) is_new: bool,
    /// It took a way that held no line.
    pub(crate) into_empty: bool,
    /// Modified line that it replaced.
    pub(crate) written: Option<LineAddr>,
}

/// Slices selected by an address hash, stored as one array of sets.
#[derive(Clone, Debug)]
pub(crate) struct Slc {
    /// `words[set * ways + way]`.
    words: Aligned<u64>,
    ways: u32,
    replacement: Replacement,
    hash: HomeHash,
}

impl Slc {
    /// Creates an empty cache; `None` if the slices have no capacity.
    pub(crate) fn new(config: &SlcConfig, seed: u64) -> Option<Slc> {
        if config.slice_bytes == 0 {
            return None;
        }
        let slice_sets = config.slice_bytes / (u64::from(config.ways) * LINE_BYTES);
        let sets = slice_sets * u64::from(config.slices);
        Some(Slc {
            words: Aligned::new(sets as usize * config.ways as usize),
            ways: config.ways,
            replacement: Replacement::new(config.replacement, sets, config.ways, seed ^ 3),
            hash: HomeHash::new(config.slices, slice_sets),
        })
    }

    /// Reads a line, which stays. Returns whether it is dirty, or `None` if it is absent.
    pub(crate) fn read(&mut self, line: LineAddr) -> Option<bool> {
        let entry = self.find(line)?;
        self.replacement.used(entry);
        Some(Way(*self.word(entry)).is_dirty())
    }

    /// Removes a line. Returns whether it was dirty: the duty to write it back then moves with it.
    pub(crate) fn take(&mut self, line: LineAddr) -> Option<bool> {
        let entry = self.find(line)?;
        Some(Way(std::mem::take(self.word(entry))).is_dirty())
    }

    /// Inserts a line, or marks a present one dirty.
    pub(crate) fn put(&mut self, line: LineAddr, dirty: bool) -> Put {
        if let Some(entry) = self.find(line) {
            self.replacement.used(entry);
            *self.word(entry) |= u64::from(dirty);
            return Put::default();
        }
        let entry = self.make_room(self.hash.set_of(line));
        self.replacement.inserted(entry, Insertion::Demand);
        let victim = Way(std::mem::replace(self.word(entry), Way::of(line, dirty).0));
        let into_empty = victim.is_empty();
        let written = (!into_empty && victim.is_dirty()).then(|| victim.line());
        Put { is_new: true, into_empty, written }
    }

    /// Returns whether a present line is dirty. Has no side effects.
    pub(crate) fn state(&self, line: LineAddr) -> Option<bool> {
        let entry = self.find(line)?;
        Some(Way(self.words[self.index(entry)]).is_dirty())
    }

    /// Returns an empty entry of a set, or the victim's.
    fn make_room(&mut self, set: u32) -> EntryIndex {
        match find_way(self.set(set), |word| Way(word).is_empty()) {
            Some(way) => EntryIndex { set, way },
            None => self.replacement.victim(set),
        }
    }

    fn find(&self, line: LineAddr) -> Option<EntryIndex> {
        let set = self.hash.set_of(line);
        let way = find_way(self.set(set), |word| Way(word).holds(line))?;
        Some(EntryIndex { set, way })
    }

    fn set(&self, set: u32) -> &[u64] {
        let ways = self.ways as usize;
        self.words.part(set as usize * ways, ways)
    }

    fn index(&self, entry: EntryIndex) -> usize {
        (entry.set * self.ways + entry.way) as usize
    }

    fn word(&mut self, entry: EntryIndex) -> &mut u64 {
        let index = self.index(entry);
        &mut self.words[index]
    }
}

impl WarmState for Slc {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.words);
        self.replacement.visit(visitor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReplacementKind;

    /// Returns a cache of two slices, each of one set with two ways.
    fn slc() -> Slc {
        let config = SlcConfig {
            slices: 2,
            slice_bytes: 2 * LINE_BYTES,
            ways: 2,
            replacement: ReplacementKind::Lru,
            home_node_cycles: 0,
            queue_entries: 0,
            line_hazards: false,
        };
        Slc::new(&config, 1).expect("it has capacity")
    }

    #[test]
    fn a_read_keeps_a_line_and_a_take_returns_whether_it_is_dirty() {
        let (mut slc, line) = (slc(), LineAddr(0));
        assert_eq!(slc.read(line), None);
        let new = Put { is_new: true, into_empty: true, written: None };
        assert_eq!(slc.put(line, false), new);
        assert_eq!(slc.read(line), Some(false));
        let present = Put::default();
        assert_eq!(slc.put(line, true), present, "modified data for a line that is here");
        assert_eq!(slc.put(line, false), present, "clean data does not undo that");
        assert_eq!(slc.state(line), Some(true));
        assert_eq!((slc.take(line), slc.take(line)), (Some(true), None));
    }

    #[test]
    fn a_full_set_evicts_its_oldest_line_and_returns_it_if_dirty() {
        // 0, 6, 10 and 12 have an even number of ones, and therefore one home node.
        let mut slc = slc();
        slc.put(LineAddr(0), true);
        slc.put(LineAddr(6), false);
        assert!(slc.put(LineAddr(1), true).into_empty, "the other slice");
        let replaced = |written| Put { is_new: true, into_empty: false, written };
        assert_eq!(slc.put(LineAddr(10), false), replaced(Some(LineAddr(0))));
        assert_eq!(slc.put(LineAddr(12), false), replaced(None), "6 was clean");
        assert_eq!(
            [0, 6, 10, 12].map(|line| slc.state(LineAddr(line))),
            [None, None, Some(false), Some(false)]
        );
    }
}
