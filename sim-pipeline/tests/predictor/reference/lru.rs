//! Sets of bounded size, ordered by time stamps.

use std::collections::BTreeMap;

/// One entry of a set.
struct Line<K, V> {
    key: K,
    used: u64,
    value: V,
}

/// Entries in sets; a full set replaces its least recently used entry.
pub(crate) struct LruSets<K, V> {
    ways: usize,
    now: u64,
    sets: BTreeMap<usize, Vec<Line<K, V>>>,
}

impl<K: PartialEq, V> LruSets<K, V> {
    /// Returns empty sets of `ways` entries each.
    pub(crate) fn new(ways: usize) -> LruSets<K, V> {
        LruSets { ways, now: 0, sets: BTreeMap::new() }
    }

    /// Returns an entry without using it.
    pub(crate) fn peek(&self, set: usize, key: &K) -> Option<&V> {
        self.sets.get(&set)?.iter().find(|line| line.key == *key).map(|line| &line.value)
    }

    /// Returns an entry, and makes it the most recently used one.
    pub(crate) fn touch(&mut self, set: usize, key: &K) -> Option<&mut V> {
        self.now += 1;
        let line = self.sets.get_mut(&set)?.iter_mut().find(|line| line.key == *key)?;
        line.used = self.now;
        Some(&mut line.value)
    }

    /// Returns an entry to change it, without using it.
    pub(crate) fn peek_mut(&mut self, set: usize, key: &K) -> Option<&mut V> {
        let lines = self.sets.get_mut(&set)?;
        lines.iter_mut().find(|line| line.key == *key).map(|line| &mut line.value)
    }

    /// Inserts an entry, or replaces the one of the same key.
    pub(crate) fn put(&mut self, set: usize, key: K, value: V) {
        self.now += 1;
        let lines = self.sets.entry(set).or_default();
        lines.retain(|line| line.key != key);
        if lines.len() == self.ways {
            let oldest = (0..lines.len()).min_by_key(|i| lines[*i].used).expect("a full set");
            lines.remove(oldest);
        }
        lines.push(Line { key, used: self.now, value });
    }

    /// Returns the entries of a set, least recently used first.
    pub(crate) fn oldest_first(&self, set: usize) -> Vec<(&K, &V)> {
        let mut lines: Vec<_> = self.sets.get(&set).into_iter().flatten().collect();
        lines.sort_by_key(|line| line.used);
        lines.into_iter().map(|line| (&line.key, &line.value)).collect()
    }
}

/// Returns the set number of a value: the exclusive or of its four lowest pieces, each as wide as a
/// set number.
pub(crate) fn set_of(value: u64, sets: usize) -> usize {
    let bits = sets.trailing_zeros();
    let piece = |number: u32| (value >> (number * bits)) % sets as u64;
    (piece(0) ^ piece(1) ^ piece(2) ^ piece(3)) as usize
}
