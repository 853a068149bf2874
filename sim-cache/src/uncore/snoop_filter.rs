//! The snoop filter of the home nodes: the cores that hold each line. PMU guide 3.2.12, 3.2.21.
//!
//! Set-associative and finite: replacing an entry removes its line from every cache.

use sim_core::{LineAddr, StateVisitor};

use crate::config::{SlcConfig, SnoopFilterConfig};
use crate::uncore::home_node::HomeHash;

/// Numbers of the cores that hold a line, in ascending order.
pub(crate) type Holders = Vec<u32>;

/// Holders of the line of an entry in 32 bits: none, one core (its number plus one), or a list. The
/// memory of the filter thus grows with the lines held, not with the number of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held(u32);

/// Entries whose holders are visited at once.
const PART: usize = 512;

/// Flag of a value that is the number of a list.
const LIST: u32 = 1 << 31;

impl Held {
    fn one(core: usize) -> Held {
        Held(core as u32 + 1)
    }

    fn list(self) -> Option<usize> {
        (self.0 & LIST != 0).then_some((self.0 & !LIST) as usize)
    }
}

/// State of a line in the other cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherSharers {
    /// No other core holds it.
    Nothing,
    /// One core owns it, and may have modified it.
    Owned,
    /// One or more cores have clean copies.
    Shared,
}

/// Removes `core` from the holders of a line, and returns how the others hold it. `owned` says
/// whether one core owns it.
pub(crate) fn others_of(core: usize, holders: &mut Holders, owned: bool) -> OtherSharers {
    if let Ok(own) = holders.binary_search(&(core as u32)) {
        holders.remove(own);
    }
    match (holders.is_empty(), owned) {
        (true, _) => OtherSharers::Nothing,
        (false, true) => OtherSharers::Owned,
        (false, false) => OtherSharers::Shared,
    }
}

/// Directory of lines. `tags[set * ways + way]` is the line address plus one, 0 for an empty entry.
#[derive(Clone, Debug)]
pub(crate) struct SnoopFilter {
    hash: HomeHash,
    ways: usize,
    tags: Box<[u64]>,
    /// The line has one holder, which may modify it without a request.
    owned: Box<[bool]>,
    holders: Box<[Held]>,
    /// Holders of lines with several holders.
    lists: Vec<Holders>,
    /// Numbers of the unused `lists`.
    free: Vec<u32>,
    /// Way of each set that is replaced next.
    next: Box<[u8]>,
}

impl SnoopFilter {
    /// Creates an empty filter.
    pub(crate) fn new(config: &SnoopFilterConfig, slc: &SlcConfig) -> SnoopFilter {
        let ways = config.ways as usize;
        let slice_sets = u64::from(config.slice_lines) / u64::from(config.ways);
        let entries = config.slice_lines as usize * slc.slices as usize;
        SnoopFilter {
            hash: HomeHash::new(slc.slices, slice_sets),
            ways,
            tags: vec![0; entries].into(),
            owned: vec![false; entries].into(),
            holders: vec![Held::default(); entries].into(),
            lists: Vec::new(),
            free: Vec::new(),
            next: vec![0; entries / ways].into(),
        }
    }

    fn find(&self, line: LineAddr) -> Option<usize> {
        let first = self.hash.set_of(line) as usize * self.ways;
        let way = self.tags[first..first + self.ways].iter().position(|t| *t == line.0 + 1)?;
        Some(first + way)
    }

    /// Returns whether any core holds the line.
    pub(crate) fn has(&self, line: LineAddr) -> bool {
        self.find(line).is_some()
    }

    /// Writes the holders of an entry to `to`.
    fn copy_holders(&self, entry: usize, to: &mut Holders) {
        to.clear();
        match (self.holders[entry], self.holders[entry].list()) {
            (_, Some(list)) => to.extend_from_slice(&self.lists[list]),
            (Held(0), None) => {}
            (Held(one), None) => to.push(one - 1),
        }
    }

    /// Replaces the holders of an entry by none or by one core.
    fn set_holder(&mut self, entry: usize, held: Held) {
        if let Some(list) = self.holders[entry].list() {
            self.lists[list].clear();
            self.free.push(list as u32);
        }
        self.holders[entry] = held;
    }

    /// Adds a holder.
    fn add_holder(&mut self, entry: usize, core: usize) {
        let held = self.holders[entry];
        if let Some(list) = held.list() {
            let list = &mut self.lists[list];
            if let Err(at) = list.binary_search(&(core as u32)) {
                list.insert(at, core as u32);
            }
        } else if held == Held::default() {
            self.holders[entry] = Held::one(core);
        } else if held != Held::one(core) {
            let number = self.free.pop().unwrap_or_else(|| {
                self.lists.push(Holders::new());
                self.lists.len() as u32 - 1
            });
            let (one, other) = (held.0 - 1, core as u32);
            self.lists[number as usize].extend([one.min(other), one.max(other)]);
            self.holders[entry] = Held(number | LIST);
        }
    }

    /// Removes a holder if present. Returns whether no holder is left.
    fn remove_holder(&mut self, entry: usize, core: usize) -> bool {
        let held = self.holders[entry];
        let Some(list) = held.list() else {
            if held == Held::one(core) {
                self.holders[entry] = Held::default();
            }
            return self.holders[entry] == Held::default();
        };
        let cores = &mut self.lists[list];
        if let Ok(at) = cores.binary_search(&(core as u32)) {
            cores.remove(at);
        }
        if let [last] = cores[..] {
            self.set_holder(entry, Held::one(last as usize));
        }
        false
    }

    /// Returns how cores other than `core` hold a line. Writes their numbers to `others`.
    pub(crate) fn other_sharers(
        &self,
        core: usize,
        line: LineAddr,
        others: &mut Holders,
    ) -> OtherSharers {
        others.clear();
        let Some(entry) = self.find(line) else { return OtherSharers::Nothing };
        self.copy_holders(entry, others);
        others_of(core, others, self.owned[entry])
    }

    /// Returns the holders of a line, and whether one owns it; `None` if the line has no entry.
    pub(crate) fn entry(&self, line: LineAddr) -> Option<(Holders, bool)> {
        let entry = self.find(line)?;
        let mut holders = Holders::new();
        self.copy_holders(entry, &mut holders);
        Some((holders, self.owned[entry]))
    }

    /// Records a core as a holder of a line: the only one with `alone`, otherwise one more. Returns
    /// the line that lost its entry; its holders are written to `dropped`.
    pub(crate) fn grant(
        &mut self,
        core: usize,
        line: LineAddr,
        alone: bool,
        dropped: &mut Holders,
    ) -> Option<LineAddr> {
        let (entry, lost) = match self.find(line) {
            Some(entry) => (entry, None),
            None => self.make_room(line, dropped),
        };
        self.owned[entry] = alone;
        match alone {
            true => self.set_holder(entry, Held::one(core)),
            false => self.add_holder(entry, core),
        }
        lost
    }

    /// Returns an entry for a line, and the line that lost it, if any.
    fn make_room(&mut self, line: LineAddr, dropped: &mut Holders) -> (usize, Option<LineAddr>) {
        let set = self.hash.set_of(line) as usize;
        let first = set * self.ways;
        let empty = self.tags[first..first + self.ways].iter().position(|tag| *tag == 0);
        let way = empty.unwrap_or_else(|| {
            let way = usize::from(self.next[set]);
            self.next[set] = ((way + 1) % self.ways) as u8;
            way
        });
        let entry = first + way;
        let lost = self.tags[entry].checked_sub(1).map(LineAddr);
        self.copy_holders(entry, dropped);
        self.tags[entry] = line.0 + 1;
        self.set_holder(entry, Held::default());
        (entry, lost)
    }

    /// Removes a core from the holders of a line.
    pub(crate) fn drop_holder(&mut self, core: usize, line: LineAddr) {
        let Some(entry) = self.find(line) else { return };
        if self.remove_holder(entry, core) {
            self.tags[entry] = 0;
        }
    }

    /// Marks a line as shared: no core owns it any more.
    pub(crate) fn share(&mut self, line: LineAddr) {
        if let Some(entry) = self.find(line) {
            self.owned[entry] = false;
        }
    }

    /// Returns every line with an entry: its holders, and whether one owns it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (LineAddr, Holders, bool)> + '_ {
        let used = (0..self.tags.len()).filter(|entry| self.tags[*entry] != 0);
        used.map(|entry| {
            let mut holders = Holders::new();
            self.copy_holders(entry, &mut holders);
            (LineAddr(self.tags[entry] - 1), holders, self.owned[entry])
        })
    }

    /// Passes all entries of a machine of `cores` cores to `visitor`: the lines, then for each
    /// whether it is owned and a bit for each holder, then the ways that are replaced next.
    pub(crate) fn visit<V: StateVisitor>(&mut self, cores: usize, visitor: &mut V) {
        visitor.words(&mut self.tags);
        let words = (cores + 1).div_ceil(u64::BITS as usize);
        let (mut marks, mut before) = (vec![0; words * PART], vec![0; words * PART]);
        for first in (0..self.tags.len()).step_by(PART) {
            let entries = first..self.tags.len().min(first + PART);
            let marks = &mut marks[..words * entries.len()];
            let before = &mut before[..marks.len()];
            for (entry, before) in entries.clone().zip(before.chunks_exact_mut(words)) {
                self.marks(entry, before);
            }
            marks.copy_from_slice(before);
            visitor.words(marks);
            let pairs = marks.chunks_exact(words).zip(before.chunks_exact(words));
            for (entry, (marks, _)) in entries.zip(pairs).filter(|(_, (now, old))| now != old) {
                self.set_marks(cores, entry, marks);
            }
        }
        self.drop_misplaced();
        visitor.bytes(&mut self.next);
        self.next.iter_mut().for_each(|way| *way %= self.ways as u8);
    }

    /// Writes an entry to `marks`: bit 0 of the first word says whether the line is owned, the next
    /// ones are the holders.
    fn marks(&self, entry: usize, marks: &mut [u64]) {
        marks.fill(0);
        let mut mark = |bit: usize| marks[bit / 64] |= 1 << (bit % 64);
        if self.owned[entry] {
            mark(0);
        }
        match (self.holders[entry], self.holders[entry].list()) {
            (_, Some(list)) => cores_of(&self.lists[list]).for_each(|core| mark(core + 1)),
            (Held(0), None) => {}
            (Held(one), None) => mark(one as usize),
        }
    }

    fn set_marks(&mut self, cores: usize, entry: usize, marks: &[u64]) {
        let has = |bit: usize| marks[bit / 64] >> (bit % 64) & 1 == 1;
        self.owned[entry] = has(0);
        self.set_holder(entry, Held::default());
        (0..cores).filter(|core| has(core + 1)).for_each(|core| self.add_holder(entry, core));
    }

    /// Drops entries without a holder, and those in a set that is not the one of their line.
    fn drop_misplaced(&mut self) {
        for entry in 0..self.tags.len() {
            let Some(line) = self.tags[entry].checked_sub(1) else { continue };
            let has_place = self.hash.set_of(LineAddr(line)) as usize == entry / self.ways;
            if !has_place || self.holders[entry] == Held::default() {
                self.tags[entry] = 0;
                self.set_holder(entry, Held::default());
            }
        }
    }

    /// Returns whether a core owns a line, or `None` if it is not a holder. Has no side effects.
    pub(crate) fn ownership(&self, core: usize, line: LineAddr) -> Option<bool> {
        let entry = self.find(line)?;
        let held = self.holders[entry];
        let holds = match held.list() {
            Some(list) => self.lists[list].binary_search(&(core as u32)).is_ok(),
            None => held == Held::one(core),
        };
        holds.then_some(self.owned[entry])
    }
}

/// Returns the numbers of the cores in a holder set.
pub(crate) fn cores_of(holders: &[u32]) -> impl Iterator<Item = usize> + '_ {
    holders.iter().map(|core| *core as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReplacementKind;
    use sim_core::{StateLoader, StateSaver};

    fn filter(slice_lines: u32) -> SnoopFilter {
        let slc = SlcConfig {
            slices: 1,
            slice_bytes: 0,
            ways: 16,
            replacement: ReplacementKind::Lru,
            home_node_cycles: 0,
            queue_entries: 0,
            line_hazards: false,
        };
        SnoopFilter::new(&SnoopFilterConfig { slice_lines, ways: 2 }, &slc)
    }

    fn others(filter: &SnoopFilter, core: usize, line: u64) -> (OtherSharers, Vec<usize>) {
        let mut holders = Holders::new();
        let sharers = filter.other_sharers(core, LineAddr(line), &mut holders);
        (sharers, cores_of(&holders).collect())
    }

    #[test]
    fn the_filter_knows_the_holders_and_the_owner_of_a_line() {
        let (mut filter, mut dropped) = (filter(8), Holders::new());
        assert_eq!(others(&filter, 0, 5), (OtherSharers::Nothing, vec![]));
        filter.grant(129, LineAddr(5), true, &mut dropped);
        assert_eq!(others(&filter, 0, 5), (OtherSharers::Owned, vec![129]));
        assert_eq!(others(&filter, 129, 5).0, OtherSharers::Nothing);
        filter.grant(64, LineAddr(5), false, &mut dropped);
        assert_eq!(others(&filter, 0, 5), (OtherSharers::Shared, vec![64, 129]));
        filter.drop_holder(129, LineAddr(5));
        filter.drop_holder(64, LineAddr(5));
        assert_eq!(filter.entries().count(), 0);
    }

    #[test]
    fn a_replaced_entry_returns_its_holders() {
        let (mut filter, mut dropped) = (filter(2), Holders::new());
        for line in [1, 2] {
            assert_eq!(filter.grant(1, LineAddr(line), true, &mut dropped), None);
        }
        assert_eq!(filter.grant(0, LineAddr(3), true, &mut dropped), Some(LineAddr(1)));
        assert_eq!(cores_of(&dropped).collect::<Vec<_>>(), [1]);
        assert_eq!(filter.ownership(1, LineAddr(2)), Some(true));
        assert_eq!(filter.ownership(1, LineAddr(3)), None);
    }

    #[test]
    fn a_saved_filter_has_the_same_entries_and_replaces_the_same_lines() {
        let (mut saved, mut dropped) = (filter(8), Holders::new());
        for (core, line, alone) in [(69, 1, true), (3, 5, false), (70, 5, false), (0, 9, true)] {
            saved.grant(core, LineAddr(line), alone, &mut dropped);
        }
        let mut saver = StateSaver::default();
        saved.visit(71, &mut saver);
        let mut loaded = filter(8);
        loaded.grant(5, LineAddr(2), false, &mut dropped);
        loaded.visit(71, &mut StateLoader::new(&saver.words));
        assert!(loaded.entries().eq(saved.entries()));
        for line in [13, 17, 21] {
            let lost = saved.grant(1, LineAddr(line), true, &mut dropped);
            assert_eq!(loaded.grant(1, LineAddr(line), true, &mut dropped), lost);
        }
        assert!(loaded.entries().eq(saved.entries()));
        // A line that belongs to another set, and one that no core holds.
        let mut words = vec![0; saver.words.len()];
        (words[0], words[1]) = (4, 1);
        words[8] = 3;
        loaded.visit(71, &mut StateLoader::new(&words));
        assert_eq!(loaded.entries().count(), 0);
    }

    #[test]
    fn an_empty_entry_is_used_before_any_line_is_replaced() {
        let (mut filter, mut dropped) = (filter(2), Holders::new());
        for line in [1, 2] {
            filter.grant(1, LineAddr(line), true, &mut dropped);
        }
        filter.drop_holder(1, LineAddr(2));
        assert_eq!(filter.grant(0, LineAddr(3), true, &mut dropped), None);
        let entries: Vec<_> = filter.entries().collect();
        assert_eq!(entries, [(LineAddr(1), vec![1], true), (LineAddr(3), vec![0], true)]);
    }
}
