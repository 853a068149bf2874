//! Reuse of lines and pages: exact stack distances, and from them the misses of an LRU memory of
//! any size (Mattson's stack algorithm).
//!
//! The distance of an access is the number of other units used since the last use of its unit. A
//! memory of `n` units misses if the distance is `n` or more. Each unit has a place on a strip, in
//! the order of last use, and each place in use has its bit set. The distance of a unit is the
//! number of set bits after its place. A tree over the words of bits finds that sum in logarithmic
//! time. A full strip is packed.

use rustc_hash::FxHashMap;

/// Largest number of lines tracked for each stack: 64 MiB, twice the largest system level cache.
pub const MOST_LINES: usize = 1 << 20;
/// Largest number of pages tracked for each stack.
pub const MOST_PAGES: usize = 1 << 18;

/// Bits of one word of the strip.
const WORD: usize = 64;
/// Words of the initial strip.
const FIRST_WORDS: usize = 64;

/// One value for each kind of unit whose reuse is measured.
#[derive(Clone, Debug, Default)]
pub struct Reuse<T> {
    /// Lines touched by loads, stores and atomics.
    pub data_lines: T,
    /// Lines of instructions; a use begins when the program enters another line.
    pub code_lines: T,
    /// Pages touched by loads, stores and atomics.
    pub data_pages: T,
    /// Pages of instructions; a use begins when the program enters another page.
    pub code_pages: T,
}

/// Accesses of one kind by stack distance.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    by_distance: Vec<u64>,
    new: u64,
    is_cut: bool,
}

impl Curve {
    #[inline]
    fn add(&mut self, used: Use) {
        match used {
            Use::Again(distance) => {
                if distance >= self.by_distance.len() {
                    self.by_distance.resize((distance + 1).next_power_of_two(), 0);
                }
                self.by_distance[distance] += 1;
            }
            Use::New { is_cut } => {
                self.new += 1;
                self.is_cut |= is_cut;
            }
        }
    }

    /// Returns the number of accesses.
    pub fn accesses(&self) -> u64 {
        self.new + self.by_distance.iter().sum::<u64>()
    }

    /// Returns the accesses to units that were not tracked: first uses, unless [`Curve::is_cut`].
    pub fn new_units(&self) -> u64 {
        self.new
    }

    /// Returns whether some thread used more units than are tracked. Some reuses then count as
    /// first uses.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the accesses that miss in a memory of `units` units.
    pub fn misses(&self, units: usize) -> u64 {
        self.new + self.by_distance.iter().skip(units).sum::<u64>()
    }

    /// Returns the smallest size, in units, at which only first uses miss.
    pub fn largest(&self) -> usize {
        self.by_distance.iter().rposition(|n| *n > 0).map_or(0, |distance| distance + 1)
    }
}

/// Result of looking up an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Reuse, with the number of other units used in between.
    Again(usize),
    /// Unit that is not tracked; `is_cut` if units have been dropped.
    New { is_cut: bool },
}

/// Units of one thread in the order of their last use.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    most: usize,
    place_of: FxHashMap<u64, u32>,
    /// Unit at each place; stale where the bit is clear.
    unit_at: Vec<u64>,
    bits: Vec<u64>,
    /// Fenwick tree over the number of bits set in each word, from index 1.
    tree: Vec<u32>,
    next: usize,
    /// Lower bound of the places in use.
    oldest: usize,
    last: Option<u64>,
    is_cut: bool,
}

impl Stack {
    /// Creates a stack that tracks up to `most` units.
    pub(crate) fn new(most: usize) -> Stack {
        Stack {
            most,
            place_of: FxHashMap::default(),
            unit_at: vec![0; FIRST_WORDS * WORD],
            bits: vec![0; FIRST_WORDS],
            tree: vec![0; FIRST_WORDS + 1],
            next: 0,
            oldest: 0,
            last: None,
            is_cut: false,
        }
    }

    /// Returns the unit used last.
    #[inline]
    pub(crate) fn last(&self) -> Option<u64> {
        self.last
    }

    /// Records a use of a unit, and counts it in `curve` if given.
    #[inline]
    pub(crate) fn touch(&mut self, unit: u64, curve: Option<&mut Curve>) {
        let used = if self.last == Some(unit) { Use::Again(0) } else { self.find(unit) };
        if let Some(curve) = curve {
            curve.add(used);
        }
    }

    fn find(&mut self, unit: u64) -> Use {
        self.last = Some(unit);
        if self.next == self.unit_at.len() {
            self.pack();
        }
        let place = self.next as u32;
        self.next += 1;
        let used = match self.place_of.insert(unit, place) {
            Some(old) => {
                let distance = self.place_of.len() - self.up_to(old as usize);
                self.set(old as usize, false);
                Use::Again(distance)
            }
            None => {
                if self.place_of.len() > self.most {
                    self.forget_oldest();
                }
                Use::New { is_cut: self.is_cut }
            }
        };
        self.unit_at[place as usize] = unit;
        self.set(place as usize, true);
        used
    }

    /// Returns the number of places in use up to and including `place`.
    fn up_to(&self, place: usize) -> usize {
        let (word, bit) = (place / WORD, place % WORD);
        let inside = (self.bits[word] & (u64::MAX >> (WORD - 1 - bit))).count_ones();
        let (mut at, mut sum) = (word, inside);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum as usize
    }

    fn set(&mut self, place: usize, is_used: bool) {
        let (word, bit) = (place / WORD, 1 << (place % WORD));
        self.bits[word] ^= bit;
        let mut at = word + 1;
        while at < self.tree.len() {
            let sum = &mut self.tree[at];
            *sum = if is_used { *sum + 1 } else { *sum - 1 };
            at += at & at.wrapping_neg();
        }
    }

    #[cold]
    fn forget_oldest(&mut self) {
        self.is_cut = true;
        let mut word = self.oldest / WORD;
        while self.bits[word] == 0 {
            word += 1;
        }
        self.oldest = word * WORD + self.bits[word].trailing_zeros() as usize;
        self.place_of.remove(&self.unit_at[self.oldest]);
        self.set(self.oldest, false);
    }

    /// Packs the units to the front of the strip, which doubles if more than half of it is in use.
    #[cold]
    fn pack(&mut self) {
        let is_used = |place: &usize| self.bits[place / WORD] >> (place % WORD) & 1 == 1;
        let units: Vec<u64> =
            (0..self.next).filter(is_used).map(|place| self.unit_at[place]).collect();
        let places = match self.unit_at.len() {
            places if units.len() > places / 2 => places * 2,
            places => places,
        };
        self.unit_at.clear();
        self.unit_at.resize(places, 0);
        self.bits.clear();
        self.bits.resize(places / WORD, 0);
        self.tree.clear();
        self.tree.resize(places / WORD + 1, 0);
        (self.next, self.oldest) = (units.len(), 0);
        for (place, unit) in units.into_iter().enumerate() {
            self.unit_at[place] = unit;
            self.place_of.insert(unit, place as u32);
            self.set(place, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Reference model: a list with the unit used last in front.
    #[derive(Default)]
    struct List(Vec<u64>);

    impl List {
        fn touch(&mut self, unit: u64, most: usize) -> Option<usize> {
            let distance = self.0.iter().position(|known| *known == unit);
            if let Some(distance) = distance {
                self.0.remove(distance);
            }
            self.0.insert(0, unit);
            self.0.truncate(most);
            distance
        }
    }

    fn compare(most: usize, units: u64, accesses: usize) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(units);
        let (mut stack, mut list, mut curve) =
            (Stack::new(most), List::default(), Curve::default());
        let mut expected = Vec::new();
        for _ in 0..accesses {
            // Units with small numbers are more frequent.
            let unit = random.random_range(0..units).min(random.random_range(0..units));
            expected.push(list.touch(unit, most));
            stack.touch(unit, Some(&mut curve));
        }
        assert_eq!(curve.accesses(), accesses as u64);
        let first = expected.iter().filter(|distance| distance.is_none()).count();
        assert_eq!(curve.new_units(), first as u64);
        assert_eq!(curve.is_cut(), units as usize > most);
        for size in [1, 2, 3, 10, 40, 100, 1000, most] {
            let is_miss = |distance: &&Option<usize>| distance.is_none_or(|d| d >= size);
            let misses = expected.iter().filter(is_miss).count();
            assert_eq!(curve.misses(size), misses as u64, "{size} of {units} units");
        }
        let farthest = expected.iter().flatten().max();
        assert_eq!(curve.largest(), farthest.map_or(0, |distance| distance + 1));
    }

    #[test]
    fn distances_equal_those_of_a_list() {
        compare(1 << 20, 3, 1000);
        compare(1 << 20, 500, 20_000);
        compare(1 << 20, 5000, 30_000);
    }

    #[test]
    fn a_dropped_unit_counts_as_new_when_it_is_used_again() {
        compare(100, 300, 20_000);
        compare(4096, 6000, 30_000);
    }

    #[test]
    fn a_sweep_misses_in_every_smaller_memory() {
        let (mut stack, mut curve) = (Stack::new(MOST_LINES), Curve::default());
        for _ in 0..3 {
            (0..10_000).for_each(|unit| stack.touch(unit, Some(&mut curve)));
        }
        assert_eq!([9_999, 10_000].map(|size| curve.misses(size)), [30_000, 10_000]);
        assert_eq!(curve.misses(usize::MAX), 10_000);
    }
}
