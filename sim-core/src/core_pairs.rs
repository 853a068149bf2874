//! Counts for pairs of cores: snoops that requests of one cause at the other, and lines that the
//! other supplies. In total for each pair, and line by line.

use std::collections::BTreeMap;

use crate::addr::LineAddr;
use crate::time::Cycle;

/// Most lines whose counts are kept apart: 4 MiB of data. Later ones count in the totals only.
const MOST_LINES: usize = 65_536;

/// Two cores: the one that requests a line, and the one that is snooped for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorePair {
    /// Number of the core that requests.
    pub requester: u32,
    /// Number of the core that is snooped. It is the requester itself where its own copy has to
    /// leave: for a far atomic, or for a line that its request removes from the snoop filter.
    pub snooped: u32,
}

/// Counts of a pair of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Snoops for a line that the requester asks for.
    pub snoops: u64,
    /// Snoops because a request removed a line from the snoop filter.
    pub evictions: u64,
    /// Lines that the snooped core supplied: to the requester, or to the home node for an atomic.
    pub lines: u64,
    /// Sum of the cycles of these lines, from the request to the data.
    pub cycles: Cycle,
}

impl PairCounts {
    /// Combines each count with that of `other`.
    fn combine(&mut self, other: &PairCounts, apply: impl Fn(&mut u64, u64)) {
        apply(&mut self.snoops, other.snoops);
        apply(&mut self.evictions, other.evictions);
        apply(&mut self.lines, other.lines);
        apply(&mut self.cycles, other.cycles);
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &PairCounts) {
        self.combine(other, |one, other| *one += other);
    }
}

/// Counts of some pairs; those without a count are absent.
type Pairs = BTreeMap<CorePair, PairCounts>;

/// Counts of all pairs of cores that have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorePairs {
    all: Pairs,
    by_line: BTreeMap<LineAddr, Pairs>,
}

impl CorePairs {
    /// Counts a snoop of `snooped` for a request of `requester`.
    pub fn snoop(&mut self, requester: usize, snooped: usize, line: LineAddr) {
        self.count(requester, snooped, line, PairCounts { snoops: 1, ..PairCounts::default() });
    }

    /// Counts a snoop of `snooped` because a request of `requester` removed the line from the snoop
    /// filter.
    pub fn evict(&mut self, requester: usize, snooped: usize, line: LineAddr) {
        self.count(requester, snooped, line, PairCounts { evictions: 1, ..PairCounts::default() });
    }

    /// Counts a line that `supplier` supplies for a request of `requester`, which waits for it for
    /// some cycles.
    pub fn supply(&mut self, requester: usize, supplier: usize, line: LineAddr, cycles: Cycle) {
        let counts = PairCounts { lines: 1, cycles, ..PairCounts::default() };
        self.count(requester, supplier, line, counts);
    }

    fn count(&mut self, requester: usize, snooped: usize, line: LineAddr, counts: PairCounts) {
        let pair = CorePair { requester: requester as u32, snooped: snooped as u32 };
        self.all.entry(pair).or_default().add(&counts);
        let is_full = self.by_line.len() >= MOST_LINES;
        let of_line = match is_full {
            true => self.by_line.get_mut(&line),
            false => Some(self.by_line.entry(line).or_default()),
        };
        if let Some(of_line) = of_line {
            of_line.entry(pair).or_default().add(&counts);
        }
    }

    /// Returns the pairs with a count, by requester.
    pub fn all(&self) -> impl Iterator<Item = (CorePair, PairCounts)> + '_ {
        self.all.iter().map(|(pair, counts)| (*pair, *counts))
    }

    /// Returns the counts of one pair.
    pub fn of(&self, requester: u32, snooped: u32) -> PairCounts {
        self.all.get(&CorePair { requester, snooped }).copied().unwrap_or_default()
    }

    /// Returns the pairs with a count for one line, by requester.
    pub fn of_line(&self, line: LineAddr) -> impl Iterator<Item = (CorePair, PairCounts)> + '_ {
        let of_line = self.by_line.get(&line).into_iter().flatten();
        of_line.map(|(pair, counts)| (*pair, *counts))
    }

    /// Returns the lines with a count, by address.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> + '_ {
        self.by_line.keys().copied()
    }

    /// Combines each count with that of `other`. A count that becomes 0 is absent.
    pub(crate) fn combine(&mut self, other: &CorePairs, apply: impl Fn(&mut u64, u64)) {
        combine(&mut self.all, &other.all, &apply);
        for (line, pairs) in &other.by_line {
            let own = self.by_line.entry(*line).or_default();
            combine(own, pairs, &apply);
            if own.is_empty() {
                self.by_line.remove(line);
            }
        }
    }
}

fn combine(one: &mut Pairs, other: &Pairs, apply: impl Fn(&mut u64, u64)) {
    for (pair, counts) in other {
        let own = one.entry(*pair).or_default();
        own.combine(counts, &apply);
        if *own == PairCounts::default() {
            one.remove(pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: LineAddr = LineAddr(0x100);

    #[test]
    fn lines_add_up_to_the_totals_of_each_pair() {
        let mut pairs = CorePairs::default();
        pairs.snoop(1, 0, LINE);
        pairs.supply(1, 0, LINE, 140);
        pairs.snoop(1, 0, LineAddr(0x101));
        pairs.evict(0, 0, LINE);
        assert_eq!(pairs.of(1, 0), PairCounts { snoops: 2, evictions: 0, lines: 1, cycles: 140 });
        assert_eq!(pairs.of(0, 1), PairCounts::default());
        assert_eq!(pairs.of(0, 0).evictions, 1);
        let mut sums = BTreeMap::<CorePair, PairCounts>::new();
        for (pair, counts) in pairs.lines().flat_map(|line| pairs.of_line(line)) {
            sums.entry(pair).or_default().add(&counts);
        }
        assert!(pairs.all().eq(sums));
    }

    #[test]
    fn a_later_part_has_the_pairs_that_counted_in_it() {
        let mut pairs = CorePairs::default();
        pairs.snoop(0, 1, LINE);
        let before = pairs.clone();
        pairs.supply(2, 1, LINE, 90);
        let mut later = pairs.clone();
        later.combine(&before, |now, before| *now -= before);
        let only: Vec<CorePair> = later.all().map(|(pair, _)| pair).collect();
        assert_eq!(only, [CorePair { requester: 2, snooped: 1 }]);
        assert_eq!(later.lines().count(), 1);
        let mut sum = before;
        sum.combine(&later, |one, other| *one += other);
        assert_eq!(sum, pairs);
    }
}
