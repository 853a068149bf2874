//! Counts for pairs of cores: snoops that requests of one cause at the other, and lines that the
//! other supplies. In total for each pair, and if the caller asks for it line by line.

use std::collections::BTreeMap;

use crate::addr::LineAddr;
use crate::time::Cycle;

/// Most pairs of cores that are kept line by line, of all lines together: some 20 MB. Later ones
/// count in the totals only.
const MOST_OF_LINES: usize = 262_144;

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

/// Counts of all pairs of cores that have any; those without a count are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorePairs {
    all: BTreeMap<CorePair, PairCounts>,
    /// Counts line by line; `None` if the caller does not ask for them.
    by_line: Option<BTreeMap<(LineAddr, CorePair), PairCounts>>,
    is_cut: bool,
}

impl CorePairs {
    /// Keeps the counts line by line too, from now on.
    pub fn keep_lines(&mut self) {
        self.by_line.get_or_insert_default();
    }

    /// Returns whether the counts are kept line by line too.
    pub fn keeps_lines(&self) -> bool {
        self.by_line.is_some()
    }

    /// Returns whether counts of lines are missing, because too many pairs and lines had one.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

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
        let Some(by_line) = &mut self.by_line else { return };
        let is_full = by_line.len() >= MOST_OF_LINES;
        let of_line = match is_full {
            true => by_line.get_mut(&(line, pair)),
            false => Some(by_line.entry((line, pair)).or_default()),
        };
        match of_line {
            Some(of_line) => of_line.add(&counts),
            None => self.is_cut = true,
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

    /// Returns the pairs with a count for one line, by requester; none if lines are not kept.
    pub fn of_line(&self, line: LineAddr) -> impl Iterator<Item = (CorePair, PairCounts)> + '_ {
        let end = move |number| (line, CorePair { requester: number, snooped: number });
        let of_line = self.by_line.iter().flat_map(move |all| all.range(end(0)..=end(u32::MAX)));
        of_line.map(|((_, pair), counts)| (*pair, *counts))
    }

    /// Returns the lines with a count, by address; none if lines are not kept.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> + '_ {
        let mut last = None;
        let all = self.by_line.iter().flat_map(BTreeMap::keys).map(|(line, _)| *line);
        all.filter(move |line| last.replace(*line) != Some(*line))
    }

    /// Combines each count with that of `other`. A count that becomes 0 is absent.
    pub(crate) fn combine(&mut self, other: &CorePairs, apply: impl Fn(&mut u64, u64)) {
        combine(&mut self.all, &other.all, &apply);
        if let Some(by_line) = &other.by_line {
            combine(self.by_line.get_or_insert_default(), by_line, &apply);
        }
        self.is_cut |= other.is_cut;
    }
}

fn combine<K: Copy + Ord>(
    one: &mut BTreeMap<K, PairCounts>,
    other: &BTreeMap<K, PairCounts>,
    apply: impl Fn(&mut u64, u64),
) {
    for (key, counts) in other {
        let own = one.entry(*key).or_default();
        own.combine(counts, &apply);
        if *own == PairCounts::default() {
            one.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: LineAddr = LineAddr(0x100);

    fn with_lines() -> CorePairs {
        let mut pairs = CorePairs::default();
        pairs.keep_lines();
        pairs
    }

    #[test]
    fn lines_add_up_to_the_totals_of_each_pair() {
        let mut pairs = with_lines();
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
    fn lines_are_kept_only_if_the_caller_asks_and_up_to_a_limit() {
        let mut pairs = CorePairs::default();
        pairs.snoop(1, 0, LINE);
        assert_eq!((pairs.lines().count(), pairs.of(1, 0).snoops), (0, 1));
        let mut pairs = with_lines();
        (0..MOST_OF_LINES as u64).for_each(|line| pairs.snoop(1, 0, LineAddr(line)));
        pairs.snoop(1, 0, LineAddr(0));
        assert!(!pairs.is_cut(), "a pair of a line that is kept");
        pairs.snoop(0, 1, LineAddr(0));
        assert!(pairs.is_cut() && pairs.lines().count() == MOST_OF_LINES);
        let sums = (pairs.of(1, 0).snoops, pairs.of(0, 1).snoops);
        assert_eq!(sums, (MOST_OF_LINES as u64 + 1, 1), "totals have all");
        assert_eq!(pairs.of_line(LineAddr(0)).count(), 1);
    }

    #[test]
    fn a_later_part_has_the_pairs_that_counted_in_it() {
        let mut pairs = with_lines();
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
