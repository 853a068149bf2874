//! A cache as a map from set number to set.

use std::collections::BTreeMap;

use sim_cache::config::ReplacementKind;

use super::policy::{Duel, History, Xoshiro};

/// Line that a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    /// The line holds data that the next level does not have.
    pub(crate) dirty: bool,
    /// A prefetcher fetched the line, and no demand has used it since.
    pub(crate) prefetched: bool,
    /// Others may have a copy, so a write has to request ownership first.
    pub(crate) shared: bool,
}

struct Set {
    ways: Vec<Option<Line>>,
    history: History,
}

pub(crate) struct Cache {
    sets: BTreeMap<u64, Set>,
    n_ways: usize,
    policy: ReplacementKind,
    random: Xoshiro,
    duel: Duel,
    index: Box<dyn Fn(u64) -> u64>,
}

impl Cache {
    /// Creates a cache. `index` returns the set of a line.
    pub(crate) fn new(
        ways: u32,
        policy: ReplacementKind,
        seed: u64,
        index: impl Fn(u64) -> u64 + 'static,
    ) -> Cache {
        Cache {
            sets: BTreeMap::new(),
            n_ways: ways as usize,
            policy,
            random: Xoshiro::new(seed),
            duel: Duel::new(),
            index: Box::new(index),
        }
    }

    /// Creates a cache indexed by line number modulo the number of sets: of the physical line, or
    /// in the L1 caches of the virtual one.
    pub(crate) fn of_core(bytes: u64, ways: u32, policy: ReplacementKind, seed: u64) -> Cache {
        let sets = bytes / 64 / u64::from(ways);
        Cache::new(ways, policy, seed, move |line| line % sets)
    }

    /// Returns the set for an address in line `at`.
    fn set(&mut self, at: u64) -> &mut Set {
        let n_ways = self.n_ways;
        let empty = || Set { ways: vec![None; n_ways], history: History::new(n_ways) };
        self.sets.entry((self.index)(at)).or_insert_with(empty)
    }

    fn way(&mut self, line: u64, at: u64) -> Option<usize> {
        self.set(at).ways.iter().position(|way| way.is_some_and(|l| l.number == line))
    }

    /// Returns the copies of a line in all sets.
    fn copies(&mut self, line: u64) -> impl Iterator<Item = &mut Option<Line>> {
        let ways = self.sets.values_mut().flat_map(|set| set.ways.iter_mut());
        ways.filter(move |way| way.is_some_and(|l| l.number == line))
    }

    pub(crate) fn holds(&mut self, line: u64) -> bool {
        self.copies(line).next().is_some()
    }

    pub(crate) fn holds_at(&mut self, line: u64, at: u64) -> bool {
        self.way(line, at).is_some()
    }

    /// Returns a line without using it.
    pub(crate) fn look(&mut self, line: u64) -> Option<Line> {
        *self.copies(line).next()?
    }

    pub(crate) fn look_at(&mut self, line: u64, at: u64) -> Option<Line> {
        let way = self.way(line, at)?;
        self.set(at).ways[way]
    }

    /// Returns a line to change, without using it.
    pub(crate) fn change(&mut self, line: u64) -> Option<&mut Line> {
        self.copies(line).next()?.as_mut()
    }

    pub(crate) fn change_at(&mut self, line: u64, at: u64) -> Option<&mut Line> {
        let way = self.way(line, at)?;
        self.set(at).ways[way].as_mut()
    }

    /// Looks up a line by its physical address for a demand access.
    pub(crate) fn find(&mut self, line: u64) -> bool {
        self.find_at(line, line)
    }

    /// Looks up a line by an address in line `at` for a demand access.
    pub(crate) fn find_at(&mut self, line: u64, at: u64) -> bool {
        let Some(way) = self.way(line, at) else { return false };
        let is_predicted = self.look_at(line, at).is_some_and(|found| found.prefetched);
        if is_predicted && self.policy == ReplacementKind::DynamicRrip {
            let demand = self.duel.distance((self.index)(at));
            self.set(at).history.used_as_predicted(way, demand);
        } else {
            self.set(at).history.used(way);
        }
        true
    }

    pub(crate) fn make_dirty(&mut self, line: u64) {
        self.change(line).expect("the line is there").dirty = true;
    }

    /// Adds an absent line. Returns the evicted line.
    pub(crate) fn add(&mut self, line: Line) -> Option<Line> {
        self.add_at(line, line.number)
    }

    /// Adds a line that the set of `at` lacks. Returns the evicted line.
    pub(crate) fn add_at(&mut self, line: Line, at: u64) -> Option<Line> {
        let policy = self.policy;
        let mut random = self.random.clone();
        let demand = self.demand_distance(line, at);
        let set = self.set(at);
        let empty = set.ways.iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| set.history.victim(policy, &mut random));
        let old = set.ways[way].replace(line);
        set.history.entered(way, line.prefetched, demand);
        self.random = random;
        old
    }

    /// Returns the distance with which a demand line enters the set of `at`.
    fn demand_distance(&mut self, line: Line, at: u64) -> u8 {
        if self.policy != ReplacementKind::DynamicRrip {
            return 2;
        }
        let set = (self.index)(at);
        self.duel.missed(set);
        if line.prefetched { 3 } else { self.duel.distance(set) }
    }

    /// Removes every copy. Returns the state of one of them.
    pub(crate) fn remove(&mut self, line: u64) -> Option<Line> {
        self.copies(line).filter_map(Option::take).last()
    }

    pub(crate) fn remove_all(&mut self) {
        for set in self.sets.values_mut() {
            set.ways.fill(None);
        }
    }

    /// Returns the line in a way of a set.
    pub(crate) fn at(&self, set: u64, way: usize) -> Option<u64> {
        let line = self.sets.get(&set)?.ways[way];
        line.map(|line| line.number)
    }

    pub(crate) fn lines(&self) -> u64 {
        self.sets.values().map(|set| set.ways.iter().flatten().count() as u64).sum()
    }
}
