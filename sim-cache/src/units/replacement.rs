//! Replacement policies: tree pseudo-LRU, LRU, RRIP, dynamic RRIP, seeded random, victim counter.
//!
//! PMU guide 3.2.15 states only that a victim counter selects the line; the policy of a cache is a
//! configuration key. Each policy is tested against a short, slow model of itself.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim_core::{StateVisitor, WarmState};

use crate::config::ReplacementKind;
use crate::units::tag_array::EntryIndex;

/// Cause of an insertion, which predicts how soon the line is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// A demand access requested the line.
    Demand,
    /// A prefetcher requested the line.
    Prefetch,
}

/// Policy of one cache with its state.
#[derive(Clone, Debug)]
pub(crate) enum Replacement {
    /// Pseudo-LRU tree.
    TreePlru(TreePlru),
    /// True LRU.
    Lru(Lru),
    /// Re-reference interval prediction.
    Rrip(Rrip),
    /// Seeded random.
    Random(Random),
    /// A counter for each set.
    VictimCounter(VictimCounter),
}

impl Replacement {
    /// Creates the policy for a cache of this shape. Only the random policy uses `seed`.
    pub(crate) fn new(kind: ReplacementKind, sets: u64, ways: u32, seed: u64) -> Replacement {
        let entries = sets as usize * ways as usize;
        match kind {
            ReplacementKind::TreePlru => Replacement::TreePlru(TreePlru::new(sets as usize, ways)),
            ReplacementKind::Lru => {
                Replacement::Lru(Lru { stamps: vec![0; entries], clock: 0, ways })
            }
            ReplacementKind::Rrip => Replacement::Rrip(Rrip::new(entries, ways, None)),
            ReplacementKind::DynamicRrip => {
                Replacement::Rrip(Rrip::new(entries, ways, Some(Duel::default())))
            }
            ReplacementKind::Random => {
                let rng = Box::new(Xoshiro256PlusPlus::seed_from_u64(seed));
                Replacement::Random(Random { rng, ways })
            }
            ReplacementKind::VictimCounter => {
                let next = vec![0; sets as usize];
                Replacement::VictimCounter(VictimCounter { next, ways })
            }
        }
    }

    /// Records a use of the line in `entry` by a demand access.
    #[inline(always)]
    pub(crate) fn used(&mut self, entry: EntryIndex) {
        match self {
            Replacement::TreePlru(tree) => tree.point_away(entry),
            Replacement::Lru(lru) => lru.stamp(entry),
            Replacement::Rrip(rrip) => rrip.set(entry, 0),
            Replacement::Random(_) | Replacement::VictimCounter(_) => {}
        }
    }

    /// Records the first demand use of a prefetched line in `entry`.
    pub(crate) fn first_used(&mut self, entry: EntryIndex) {
        match self {
            // The prefetch predicted this one use, which does not imply another.
            Replacement::Rrip(Rrip { duel: Some(duel), values, ways }) => {
                values[(entry.set * *ways + entry.way) as usize] = duel.value(entry.set);
            }
            _ => self.used(entry),
        }
    }

    /// Records a line that enters `entry`.
    pub(crate) fn inserted(&mut self, entry: EntryIndex, insertion: Insertion) {
        match self {
            Replacement::TreePlru(tree) => tree.point_away(entry),
            Replacement::Lru(lru) => lru.stamp(entry),
            Replacement::Rrip(rrip) => rrip.insert(entry, insertion),
            Replacement::Random(_) | Replacement::VictimCounter(_) => {}
        }
    }

    /// Returns the entry of a full set whose line is replaced.
    pub(crate) fn victim(&mut self, set: u32) -> EntryIndex {
        let way = match self {
            Replacement::TreePlru(tree) => tree.victim(set),
            Replacement::Lru(lru) => lru.victim(set),
            Replacement::Rrip(rrip) => rrip.victim(set),
            Replacement::Random(random) => random.victim(),
            Replacement::VictimCounter(counter) => counter.victim(set),
        };
        EntryIndex { set, way }
    }
}

/// One bit per inner node of a binary tree over the ways: 1 selects the upper half.
#[derive(Clone, Debug)]
pub(crate) struct TreePlru {
    /// One word per set; bit `n` is node `n`, the root is node 1, its children 2 and 3.
    bits: Vec<u16>,
    /// For each way: the nodes on its path, and their values that point away from it.
    paths: [(u16, u16); 16],
    ways: u32,
}

impl TreePlru {
    fn new(sets: usize, ways: u32) -> TreePlru {
        let mut paths = [(0, 0); 16];
        for (way, path) in paths.iter_mut().enumerate().take(ways as usize) {
            let mut node = ways as usize + way;
            while node > 1 {
                let came_from_upper = node & 1;
                node >>= 1;
                path.0 |= 1 << node;
                path.1 |= (1 - came_from_upper as u16) << node;
            }
        }
        TreePlru { bits: vec![0; sets], paths, ways }
    }

    #[inline(always)]
    fn point_away(&mut self, entry: EntryIndex) {
        let (nodes, away) = self.paths[entry.way as usize & 15];
        let bits = &mut self.bits[entry.set as usize];
        *bits = *bits & !nodes | away;
    }

    fn victim(&self, set: u32) -> u32 {
        let bits = self.bits[set as usize];
        let mut node = 1;
        while node < self.ways {
            node = node << 1 | u32::from(bits >> node & 1);
        }
        node - self.ways
    }
}

/// Time of last use of every entry.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    stamps: Vec<u64>,
    clock: u64,
    ways: u32,
}

impl Lru {
    #[inline]
    fn stamp(&mut self, entry: EntryIndex) {
        self.clock += 1;
        self.stamps[(entry.set * self.ways + entry.way) as usize] = self.clock;
    }

    fn victim(&self, set: u32) -> u32 {
        let first = (set * self.ways) as usize;
        let stamps = &self.stamps[first..first + self.ways as usize];
        let oldest = (0..stamps.len()).min_by_key(|way| stamps[*way]);
        oldest.expect("a set has at least one way") as u32
    }
}

/// Value of a line whose next use is distant.
const DISTANT: u8 = 3;

/// Value of a demand line that enters.
const LONG: u8 = 2;

/// Two bits per entry: [`DISTANT`] is replaced first, 0 was used since it entered.
#[derive(Clone, Debug)]
pub(crate) struct Rrip {
    values: Vec<u8>,
    ways: u32,
    /// Duel that selects whether lines enter as [`LONG`] or as [`DISTANT`]; without it always
    /// [`LONG`].
    duel: Option<Duel>,
}

/// Distance between the leader sets of each insertion policy.
const LEADER_STEP: u32 = 32;
/// Maximum of the miss balance.
const BALANCE_MAX: u64 = 1023;
/// Interval of the lines that enter as [`LONG`] where the others enter as [`DISTANT`].
const LONG_EVERY: u64 = 32;

/// Set duel of two insertion policies: the follower sets use the one whose leader sets miss less. A
/// loop over more than the cache holds keeps a part of it where lines enter as [`DISTANT`] (Jaleel
/// and others, ISCA 2010).
#[derive(Clone, Copy, Debug)]
struct Duel {
    /// Misses of the leaders that insert as [`LONG`] minus misses of those that insert as
    /// [`DISTANT`], counted from the middle of the range.
    balance: u64,
    /// Lines that entered where one in [`LONG_EVERY`] enters as [`LONG`] and the others as
    /// [`DISTANT`].
    entered: u64,
}

impl Default for Duel {
    fn default() -> Duel {
        Duel { balance: BALANCE_MAX / 2, entered: 0 }
    }
}

impl Duel {
    /// Records a miss in a set.
    fn missed(&mut self, set: u32) {
        match set % LEADER_STEP {
            0 => self.balance = BALANCE_MAX.min(self.balance + 1),
            1 => self.balance = self.balance.saturating_sub(1),
            _ => {}
        }
    }

    /// Returns the value with which a demand line enters a set.
    fn value(&mut self, set: u32) -> u8 {
        let is_distant = match set % LEADER_STEP {
            0 => false,
            1 => true,
            _ => self.balance > BALANCE_MAX / 2,
        };
        if !is_distant {
            return LONG;
        }
        self.entered += 1;
        if self.entered.is_multiple_of(LONG_EVERY) { LONG } else { DISTANT }
    }
}

impl Rrip {
    fn new(entries: usize, ways: u32, duel: Option<Duel>) -> Rrip {
        Rrip { values: vec![0; entries], ways, duel }
    }

    fn insert(&mut self, entry: EntryIndex, insertion: Insertion) {
        if let Some(duel) = &mut self.duel {
            duel.missed(entry.set);
        }
        let value = match insertion {
            Insertion::Demand => self.duel.as_mut().map_or(LONG, |duel| duel.value(entry.set)),
            Insertion::Prefetch => DISTANT,
        };
        self.set(entry, value);
    }

    #[inline]
    fn set(&mut self, entry: EntryIndex, value: u8) {
        self.values[(entry.set * self.ways + entry.way) as usize] = value;
    }

    fn victim(&mut self, set: u32) -> u32 {
        let first = (set * self.ways) as usize;
        let values = &mut self.values[first..first + self.ways as usize];
        let most = values.iter().copied().max().expect("a set has at least one way");
        for value in values.iter_mut() {
            *value += DISTANT - most;
        }
        values.iter().position(|v| *v == DISTANT).expect("the oldest was raised to distant") as u32
    }
}

/// Victim by a seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    rng: Box<Xoshiro256PlusPlus>,
    ways: u32,
}

impl Random {
    fn victim(&mut self) -> u32 {
        // The high half of a product is uniform over the ways to within 2^-32.
        ((u64::from(self.rng.next_u32()) * u64::from(self.ways)) >> 32) as u32
    }
}

/// Next victim way of each set; uses do not change it.
#[derive(Clone, Debug)]
pub(crate) struct VictimCounter {
    next: Vec<u8>,
    ways: u32,
}

impl VictimCounter {
    fn victim(&mut self, set: u32) -> u32 {
        let way = u32::from(self.next[set as usize]);
        self.next[set as usize] = ((way + 1) % self.ways) as u8;
        way
    }
}

/// Latest time stamp accepted from a file: far below the overflow of the clocks.
pub(crate) const LATEST_STAMP: u64 = u64::MAX >> 8;

/// The generator of the random policy is not saved; any of its draws is equally good.
impl WarmState for Replacement {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        match self {
            Replacement::TreePlru(tree) => visitor.words(&mut tree.bits),
            Replacement::Lru(lru) => {
                visitor.words(&mut lru.stamps);
                visitor.one(&mut lru.clock);
                lru.clock = lru.clock.min(LATEST_STAMP);
            }
            Replacement::Rrip(rrip) => {
                visitor.bytes(&mut rrip.values);
                rrip.values.iter_mut().for_each(|value| *value &= DISTANT);
                if let Some(duel) = &mut rrip.duel {
                    visitor.one(&mut duel.balance);
                    visitor.one(&mut duel.entered);
                    duel.balance = duel.balance.min(BALANCE_MAX);
                    duel.entered = duel.entered.min(LATEST_STAMP);
                }
            }
            Replacement::Random(_) => {}
            Replacement::VictimCounter(counter) => {
                visitor.bytes(&mut counter.next);
                let ways = counter.ways as u8;
                counter.next.iter_mut().for_each(|way| *way %= ways);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the victim of one set after uses in the given order; the slow model sees the same
    /// uses.
    fn victims(kind: ReplacementKind, ways: u32, uses: &[u32]) -> u32 {
        let mut policy = Replacement::new(kind, 2, ways, 1);
        for way in 0..ways {
            policy.inserted(EntryIndex { set: 1, way }, Insertion::Demand);
        }
        for way in uses {
            policy.used(EntryIndex { set: 1, way: way % ways });
        }
        policy.victim(1).way
    }

    /// Tree pseudo-LRU, slowly: selects the half not used last at every split.
    fn slow_tree(low: u32, high: u32, uses: &[u32]) -> u32 {
        if high - low == 1 {
            return low;
        }
        let middle = u32::midpoint(low, high);
        match uses.iter().rev().find(|way| (low..high).contains(way)) {
            Some(last) if *last < middle => slow_tree(middle, high, uses),
            _ => slow_tree(low, middle, uses),
        }
    }

    proptest! {
        #[test]
        fn lru_drops_the_way_used_longest_ago(uses in prop::collection::vec(0u32..5, 0..40)) {
            let mut order: Vec<u32> = (0..5).collect();
            for way in &uses {
                order.retain(|w| w != way);
                order.push(*way);
            }
            prop_assert_eq!(victims(ReplacementKind::Lru, 5, &uses), order[0]);
        }

        #[test]
        fn the_tree_equals_its_slow_model(uses in prop::collection::vec(0u32..8, 0..40)) {
            let mut all: Vec<u32> = (0..8).collect();
            all.extend(&uses);
            prop_assert_eq!(victims(ReplacementKind::TreePlru, 8, &uses), slow_tree(0, 8, &all));
        }

        #[test]
        fn rrip_drops_the_first_way_not_used_since_it_entered(
            uses in prop::collection::vec(0u32..4, 0..12),
        ) {
            let unused = (0..4).find(|way| !uses.contains(way)).unwrap_or(0);
            prop_assert_eq!(victims(ReplacementKind::Rrip, 4, &uses), unused);
        }
    }

    #[test]
    fn a_prefetched_line_leaves_before_an_unused_demand_line() {
        let mut policy = Replacement::new(ReplacementKind::Rrip, 1, 4, 1);
        for way in 0..4 {
            let insertion = if way == 2 { Insertion::Prefetch } else { Insertion::Demand };
            policy.inserted(EntryIndex { set: 0, way }, insertion);
        }
        assert_eq!(policy.victim(0).way, 2);
    }

    /// Returns the hits of a loop over `lines` lines in a cache of 64 sets and 8 ways, in the last
    /// of ten rounds.
    fn hits_of_a_loop(kind: ReplacementKind, lines: u32, prefetched: bool) -> u32 {
        let (sets, ways) = (64, 8);
        let mut policy = Replacement::new(kind, sets.into(), ways, 1);
        let mut held = vec![None; (sets * ways) as usize];
        let mut hits = 0;
        for round in 0..10 {
            for line in 0..lines {
                let set = line % sets;
                let entries = &mut held[(set * ways) as usize..][..ways as usize];
                let known = entries.iter().position(|entry| *entry == Some(line));
                if let Some(way) = known {
                    policy.used(EntryIndex { set, way: way as u32 });
                    hits += u32::from(round == 9);
                    continue;
                }
                let empty = entries.iter().position(Option::is_none);
                let way = empty.map_or_else(|| policy.victim(set).way, |way| way as u32);
                entries[way as usize] = Some(line);
                let entry = EntryIndex { set, way };
                if prefetched {
                    policy.inserted(entry, Insertion::Prefetch);
                    policy.first_used(entry);
                } else {
                    policy.inserted(entry, Insertion::Demand);
                }
            }
        }
        hits
    }

    #[test]
    fn dynamic_rrip_keeps_a_part_of_a_loop_that_does_not_fit_and_all_of_one_that_does() {
        for prefetched in [false, true] {
            let hits = |kind, lines| hits_of_a_loop(kind, lines, prefetched);
            assert_eq!(hits(ReplacementKind::DynamicRrip, 512), 512);
            assert_eq!(hits(ReplacementKind::Lru, 1024), 0);
            let kept = hits(ReplacementKind::DynamicRrip, 1024);
            assert!((300..=512).contains(&kept), "{kept} of 1024 hit");
        }
    }

    #[test]
    fn a_victim_counter_cycles_through_each_set_regardless_of_uses() {
        let mut policy = Replacement::new(ReplacementKind::VictimCounter, 2, 3, 1);
        let mut next = |set| {
            policy.used(EntryIndex { set, way: 0 });
            policy.victim(set).way
        };
        assert_eq!([next(0), next(0), next(1), next(0), next(0), next(1)], [0, 1, 0, 2, 0, 1]);
    }

    #[test]
    fn random_victims_repeat_with_the_seed_and_reach_every_way() {
        let run = |seed| -> Vec<u32> {
            let mut policy = Replacement::new(ReplacementKind::Random, 1, 4, seed);
            (0..100).map(|_| policy.victim(0).way).collect()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert!((0..4).all(|way| run(7).contains(&way)));
    }

    #[test]
    fn follower_sets_use_the_policy_with_fewer_misses() {
        let mut duel = Duel::default();
        let (long, distant, follows) = (0, 1, 2);
        assert_eq!(duel.value(follows), LONG, "neither has missed less");
        duel.missed(long);
        assert_eq!(duel.value(follows), DISTANT);
        duel.missed(distant);
        assert_eq!(duel.value(follows), LONG);
    }

    #[test]
    fn leader_sets_insert_all_lines_as_long_or_one_in_32() {
        let mut duel = Duel::default();
        let mut long = |set| (0..128).filter(|_| duel.value(set) == LONG).count();
        assert_eq!([long(0), long(1)], [128, 4]);
    }
}
