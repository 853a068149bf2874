//! Replacement policies as a textbook defines them, on one set at a time.

use sim_cache::config::ReplacementKind;

/// Generator of the random policy, xoshiro256++ as published by its authors (2019).
#[derive(Clone)]
pub(crate) struct Xoshiro {
    s: [u64; 4],
}

impl Xoshiro {
    /// Creates the state from four words of SplitMix64, as the authors recommend for a 64-bit seed.
    pub(crate) fn new(seed: u64) -> Xoshiro {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        Xoshiro { s: [word(), word(), word(), word()] }
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a way: the upper 32 bits as a fraction of 1, times the ways.
    fn way(&mut self, ways: usize) -> usize {
        (u128::from(self.next() >> 32) * ways as u128 / (1 << 32)) as usize
    }
}

/// Set duel of two insertion policies: dynamic re-reference interval prediction as published
/// (2010).
#[derive(Clone, Copy)]
pub(crate) struct Duel {
    /// Ten bits that count up with misses of sets with long insertion, down with those of distant
    /// insertion.
    selector: i64,
    /// Lines that entered where nearly all enter as distant.
    distant: u64,
}

impl Duel {
    pub(crate) fn new() -> Duel {
        Duel { selector: 511, distant: 0 }
    }

    pub(crate) fn missed(&mut self, set: u64) {
        let step = i64::from(set.is_multiple_of(32)) - i64::from(set % 32 == 1);
        self.selector = (self.selector + step).clamp(0, 1023);
    }

    /// Returns the distance with which a demand line enters.
    pub(crate) fn distance(&mut self, set: u64) -> u8 {
        if set.is_multiple_of(32) || set % 32 > 1 && self.selector <= 511 {
            return 2;
        }
        self.distant += 1;
        if self.distant.is_multiple_of(32) { 2 } else { 3 }
    }
}

/// State of a set for its policy.
#[derive(Clone)]
pub(crate) struct History {
    /// Ways by their last use, the latest at the end.
    uses: Vec<usize>,
    /// Predicted distance of the next use of each way.
    distance: Vec<u8>,
    /// Lines that were evicted so far.
    left: usize,
}

impl History {
    pub(crate) fn new(ways: usize) -> History {
        History { uses: Vec::new(), distance: vec![0; ways], left: 0 }
    }

    fn moves_to_end(&mut self, way: usize) {
        self.uses.retain(|w| *w != way);
        self.uses.push(way);
    }

    pub(crate) fn used(&mut self, way: usize) {
        self.moves_to_end(way);
        self.distance[way] = 0;
    }

    pub(crate) fn entered(&mut self, way: usize, prefetched: bool, demand: u8) {
        self.moves_to_end(way);
        self.distance[way] = if prefetched { 3 } else { demand };
    }

    /// Records a first use that a prefetch predicted, where it counts less than a use.
    pub(crate) fn used_as_predicted(&mut self, way: usize, demand: u8) {
        self.moves_to_end(way);
        self.distance[way] = demand;
    }

    /// Returns the way of a full set that is replaced.
    pub(crate) fn victim(&mut self, policy: ReplacementKind, random: &mut Xoshiro) -> usize {
        let ways = self.distance.len();
        match policy {
            ReplacementKind::Lru => self.uses[0],
            ReplacementKind::TreePlru => self.colder_half(0, ways),
            ReplacementKind::Rrip | ReplacementKind::DynamicRrip => loop {
                if let Some(way) = self.distance.iter().position(|d| *d == 3) {
                    break way;
                }
                self.distance.iter_mut().for_each(|d| *d += 1);
            },
            ReplacementKind::Random => random.way(ways),
            // 3.2.15: a counter of victims.
            ReplacementKind::VictimCounter => {
                self.left += 1;
                (self.left - 1) % ways
            }
        }
    }

    /// Returns a way by selecting the half not used last at every split.
    fn colder_half(&self, low: usize, high: usize) -> usize {
        if high - low == 1 {
            return low;
        }
        let middle = usize::midpoint(low, high);
        match self.uses.iter().rev().find(|way| (low..high).contains(*way)) {
            Some(last) if *last < middle => self.colder_half(middle, high),
            _ => self.colder_half(low, middle),
        }
    }
}
