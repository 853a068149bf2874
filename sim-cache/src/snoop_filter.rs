//! The snoop filter of the home nodes: which cores hold a line. PMU guide 3.2.12, 3.2.21.
//!
//! Set-associative and finite: an entry that has to make room takes its line out of every cache.

use sim_core::LineAddr;

use crate::config::{SlcConfig, SnoopFilterConfig};
use crate::home_node::HomeHash;

/// The cores that hold a line, as bits.
pub(crate) type Holders = Vec<u64>;

/// What the other cores have of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// Nothing.
    Nothing,
    /// One core has it alone, perhaps modified.
    Owned,
    /// One or more cores have clean copies.
    Shared,
}

/// `tags[set * ways + way]`: line address plus one, 0 for an empty place.
#[derive(Clone, Debug)]
pub(crate) struct SnoopFilter {
    hash: HomeHash,
    ways: usize,
    /// Words of one holder set.
    words: usize,
    tags: Box<[u64]>,
    /// The line has one holder, who may modify it without asking.
    owned: Box<[bool]>,
    holders: Box<[u64]>,
    /// The way of each set that makes room next.
    next: Box<[u8]>,
}

impl SnoopFilter {
    /// An empty one.
    pub(crate) fn new(config: &SnoopFilterConfig, slc: &SlcConfig, cores: usize) -> SnoopFilter {
        let ways = config.ways as usize;
        let slice_sets = u64::from(config.slice_lines) / u64::from(config.ways);
        let places = config.slice_lines as usize * slc.slices as usize;
        let words = cores.div_ceil(64);
        SnoopFilter {
            hash: HomeHash::new(slc.slices, slice_sets),
            ways,
            words,
            tags: vec![0; places].into(),
            owned: vec![false; places].into(),
            holders: vec![0; places * words].into(),
            next: vec![0; places / ways].into(),
        }
    }

    fn find(&self, line: LineAddr) -> Option<usize> {
        let first = self.hash.set_of(line) as usize * self.ways;
        let way = self.tags[first..first + self.ways].iter().position(|t| *t == line.0 + 1)?;
        Some(first + way)
    }

    fn holders(&self, place: usize) -> &[u64] {
        &self.holders[place * self.words..(place + 1) * self.words]
    }

    /// Whether and how cores other than `core` hold a line; writes who they are to `others`.
    pub(crate) fn elsewhere(&self, core: usize, line: LineAddr, others: &mut Holders) -> Elsewhere {
        others.clear();
        let Some(place) = self.find(line) else { return Elsewhere::Nothing };
        others.extend_from_slice(self.holders(place));
        others[core / 64] &= !(1 << (core % 64));
        match (others.iter().all(|word| *word == 0), self.owned[place]) {
            (true, _) => Elsewhere::Nothing,
            (false, true) => Elsewhere::Owned,
            (false, false) => Elsewhere::Shared,
        }
    }

    /// A core got a line: with `alone` it is the only one to have it, else one more. The line that
    /// lost its entry for that; its holders are written to `dropped`.
    pub(crate) fn grant(
        &mut self,
        core: usize,
        line: LineAddr,
        alone: bool,
        dropped: &mut Holders,
    ) -> Option<LineAddr> {
        let (place, lost) = match self.find(line) {
            Some(place) => (place, None),
            None => self.make_room(line, dropped),
        };
        self.owned[place] = alone;
        let holders = &mut self.holders[place * self.words..(place + 1) * self.words];
        if alone {
            holders.fill(0);
        }
        holders[core / 64] |= 1 << (core % 64);
        lost
    }

    /// An empty entry for a line, if need be that of another line.
    fn make_room(&mut self, line: LineAddr, dropped: &mut Holders) -> (usize, Option<LineAddr>) {
        let set = self.hash.set_of(line) as usize;
        let first = set * self.ways;
        let empty = self.tags[first..first + self.ways].iter().position(|tag| *tag == 0);
        let way = empty.unwrap_or_else(|| {
            let way = usize::from(self.next[set]);
            self.next[set] = ((way + 1) % self.ways) as u8;
            way
        });
        let place = first + way;
        let lost = self.tags[place].checked_sub(1).map(LineAddr);
        dropped.clear();
        dropped.extend_from_slice(self.holders(place));
        self.tags[place] = line.0 + 1;
        self.holders[place * self.words..(place + 1) * self.words].fill(0);
        (place, lost)
    }

    /// A core no longer has a line.
    pub(crate) fn left(&mut self, core: usize, line: LineAddr) {
        let Some(place) = self.find(line) else { return };
        let holders = &mut self.holders[place * self.words..(place + 1) * self.words];
        holders[core / 64] &= !(1 << (core % 64));
        if holders.iter().all(|word| *word == 0) {
            self.tags[place] = 0;
        }
    }

    /// Nobody has a line alone any more.
    pub(crate) fn share(&mut self, line: LineAddr) {
        if let Some(place) = self.find(line) {
            self.owned[place] = false;
        }
    }

    /// Every line with an entry: its holders, and whether one has it alone.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (LineAddr, &[u64], bool)> + '_ {
        let used = (0..self.tags.len()).filter(|place| self.tags[*place] != 0);
        used.map(|place| (LineAddr(self.tags[place] - 1), self.holders(place), self.owned[place]))
    }

    /// True when the filter says that a core has a line, and if so whether alone. Pure.
    pub(crate) fn says(&self, core: usize, line: LineAddr) -> Option<bool> {
        let place = self.find(line)?;
        let holds = self.holders(place)[core / 64] & 1 << (core % 64) != 0;
        holds.then_some(self.owned[place])
    }
}

/// The numbers of the cores in a holder set.
pub(crate) fn cores_of(holders: &[u64]) -> impl Iterator<Item = usize> + '_ {
    holders.iter().enumerate().flat_map(|(i, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(64 * i + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReplacementKind;

    fn filter(slice_lines: u32, cores: usize) -> SnoopFilter {
        let slc = SlcConfig {
            slices: 1,
            slice_bytes: 0,
            ways: 16,
            replacement: ReplacementKind::Lru,
            home_node_cycles: 0,
        };
        SnoopFilter::new(&SnoopFilterConfig { slice_lines, ways: 2 }, &slc, cores)
    }

    fn others(filter: &SnoopFilter, core: usize, line: u64) -> (Elsewhere, Vec<usize>) {
        let mut holders = Holders::new();
        let elsewhere = filter.elsewhere(core, LineAddr(line), &mut holders);
        (elsewhere, cores_of(&holders).collect())
    }

    #[test]
    fn it_knows_who_has_a_line_and_who_has_it_alone() {
        let (mut filter, mut dropped) = (filter(8, 130), Holders::new());
        assert_eq!(others(&filter, 0, 5), (Elsewhere::Nothing, vec![]));
        filter.grant(129, LineAddr(5), true, &mut dropped);
        assert_eq!(others(&filter, 0, 5), (Elsewhere::Owned, vec![129]));
        assert_eq!(others(&filter, 129, 5).0, Elsewhere::Nothing);
        filter.grant(64, LineAddr(5), false, &mut dropped);
        assert_eq!(others(&filter, 0, 5), (Elsewhere::Shared, vec![64, 129]));
        filter.left(129, LineAddr(5));
        filter.left(64, LineAddr(5));
        assert_eq!(filter.entries().count(), 0);
    }

    #[test]
    fn an_entry_that_makes_room_names_its_holders() {
        let (mut filter, mut dropped) = (filter(2, 2), Holders::new());
        for line in [1, 2] {
            assert_eq!(filter.grant(1, LineAddr(line), true, &mut dropped), None);
        }
        assert_eq!(filter.grant(0, LineAddr(3), true, &mut dropped), Some(LineAddr(1)));
        assert_eq!(cores_of(&dropped).collect::<Vec<_>>(), [1]);
        assert_eq!(filter.says(1, LineAddr(2)), Some(true));
        assert_eq!(filter.says(1, LineAddr(3)), None);
    }
}
