//! Indirect target prediction: selects among a branch's known targets by the path to it.
//!
//! Measured on a related core: a branch has up to 64 targets without penalty, and all branches
//! together have about 4K. Targets are therefore in a pool, in which a branch reaches 64 entries.
//! Two tables, one by address and one by address and path, store pool indices instead of targets.

use super::history::HistoryState;
use sim_core::{StateVisitor, Stored, WarmState};

/// Sets of the pool that one branch reaches, selected by the target.
const SETS_OF_A_BRANCH: usize = 16;
const WAYS: usize = 4;
/// Pool entries that one branch reaches.
const PLACES: usize = SETS_OF_A_BRANCH * WAYS;
/// Part of the path that selects among targets: the last ten taken branches.
const PATH_MASK: u64 = (1 << 30) - 1;
/// Empty pool entry: an address that no branch has, because it is not a multiple of four.
const EMPTY: u64 = u64::MAX;

/// Table entry: the index of a target among those that the branch reaches.
#[derive(Clone, Copy, Debug, Default)]
struct Pointer {
    tag: u16,
    place: u8,
    /// 2-bit confidence; the index is replaced when it is 0.
    confidence: u8,
}

/// Pointers by a 64-bit key of a branch, or of a branch and its path; most recently used first.
#[derive(Clone, Debug)]
struct PointerTable {
    sets: Box<[[Pointer; WAYS]]>,
}

impl PointerTable {
    fn new(bits: u32) -> PointerTable {
        PointerTable {
            sets: vec![[Pointer::default(); WAYS]; (1 << bits) / WAYS].into_boxed_slice(),
        }
    }

    /// Returns set and tag. A tag is never 0, which marks an empty entry.
    fn locate(&self, name: u64) -> (usize, u16) {
        let mixed = name.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let set = (mixed >> 40) as usize & (self.sets.len() - 1);
        (set, (mixed >> 20) as u16 | 1)
    }

    fn look_up(&self, name: u64) -> Option<u8> {
        let (set, tag) = self.locate(name);
        self.sets[set].iter().find(|pointer| pointer.tag == tag).map(|pointer| pointer.place)
    }

    /// Trains the entry of `name`. With `may_add`, an absent entry is added.
    fn train(&mut self, name: u64, place: u8, may_add: bool) {
        let (set, tag) = self.locate(name);
        let set = &mut self.sets[set];
        let Some(way) = set.iter().position(|pointer| pointer.tag == tag) else {
            if may_add {
                set.rotate_right(1);
                set[0] = Pointer { tag, place, confidence: 0 };
            }
            return;
        };
        set[..=way].rotate_right(1);
        let pointer = &mut set[0];
        if pointer.place == place {
            pointer.confidence = (pointer.confidence + 1).min(3);
        } else if pointer.confidence == 0 {
            pointer.place = place;
        } else {
            pointer.confidence -= 1;
        }
    }
}

/// Targets of `BR`, `BLR` and of returns whose address the return stack has lost.
#[derive(Clone, Debug)]
pub struct IndirectPredictor {
    by_address: PointerTable,
    by_path: PointerTable,
    /// `(branch, target)`, ordered by group of branches.
    pool: Box<[(u64, u64)]>,
    /// Next way to replace in each set.
    victims: Box<[u8]>,
}

impl IndirectPredictor {
    /// Returns empty tables of `1 << path_bits` entries and a pool of `targets` entries, both
    /// powers of two.
    pub fn new(path_bits: u32, targets: usize) -> IndirectPredictor {
        IndirectPredictor {
            by_address: PointerTable::new(path_bits),
            by_path: PointerTable::new(path_bits),
            pool: vec![(EMPTY, 0); targets].into_boxed_slice(),
            victims: vec![0; targets / WAYS].into_boxed_slice(),
        }
    }

    /// Returns the predicted target, from the path table if it has one.
    pub fn look_up(&self, pc: u64, history: &HistoryState) -> Option<u64> {
        let by_path = self.by_path.look_up(path_name(pc, history));
        let place = by_path.or_else(|| self.by_address.look_up(pc))?;
        let (branch, target) = self.pool[self.group(pc) + usize::from(place)];
        (branch == pc).then_some(target)
    }

    /// Trains with the actual target. The path table gets an entry if the prediction was wrong.
    pub fn train(&mut self, pc: u64, history: &HistoryState, target: u64, was_right: bool) {
        let place = self.place(pc, target);
        self.by_path.train(path_name(pc, history), place, !was_right);
        self.by_address.train(pc, place, true);
    }

    /// Returns the index of a target among those that the branch reaches. A new target replaces an
    /// old one.
    fn place(&mut self, pc: u64, target: u64) -> u8 {
        let set = fold(target >> 2, SETS_OF_A_BRANCH);
        let first = self.group(pc) + set * WAYS;
        let ways = &mut self.pool[first..first + WAYS];
        let way = ways.iter().position(|place| *place == (pc, target)).unwrap_or_else(|| {
            let victim = &mut self.victims[first / WAYS];
            let way = usize::from(*victim);
            *victim = (*victim + 1) % WAYS as u8;
            ways[way] = (pc, target);
            way
        });
        (set * WAYS + way) as u8
    }

    /// Returns the first pool entry that the branch reaches.
    fn group(&self, pc: u64) -> usize {
        fold(pc >> 2, self.pool.len() / PLACES) * PLACES
    }
}

/// Returns `value` folded to a number below `size`, a power of two.
fn fold(value: u64, size: usize) -> usize {
    let bits = size.trailing_zeros();
    (value ^ (value >> bits) ^ (value >> (2 * bits)) ^ (value >> (3 * bits))) as usize & (size - 1)
}

/// Returns the key of a branch and its path.
fn path_name(pc: u64, history: &HistoryState) -> u64 {
    (history.path() & PATH_MASK) ^ pc.rotate_left(32)
}

impl Stored for Pointer {
    const WORDS: usize = 1;

    fn store(self, words: &mut [u64]) {
        let Pointer { tag, place, confidence } = self;
        words[0] = u64::from(tag) | u64::from(place) << 16 | u64::from(confidence) << 24;
    }

    fn load(words: &[u64]) -> Pointer {
        let place = (words[0] >> 16) as u8 % PLACES as u8;
        Pointer { tag: words[0] as u16, place, confidence: (words[0] >> 24) as u8 & 3 }
    }
}

impl WarmState for IndirectPredictor {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(self.by_address.sets.as_flattened_mut());
        visitor.words(self.by_path.sets.as_flattened_mut());
        visitor.words(&mut self.pool);
        visitor.bytes(&mut self.victims);
        self.victims.iter_mut().for_each(|way| *way %= WAYS as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::branch::Branch;
    use crate::units::branch::history::History;
    use sim_isa::BranchKind;

    /// Runs a branch through its targets in turn. Returns the wrong predictions in the last of six
    /// rounds.
    fn wrong(targets: u64) -> u64 {
        let mut predictor = IndirectPredictor::new(12, 4096);
        let mut history = History::new(&[8], 10);
        let mut wrong = 0;
        for turn in 0..6 {
            for i in 0..targets {
                let (pc, target) = (0x4000, 0x10_0000 + 64 * i);
                let before = *history.state();
                let right = predictor.look_up(pc, &before) == Some(target);
                predictor.train(pc, &before, target, right);
                let branch = Branch { pc, kind: BranchKind::Indirect, target: 0 };
                history.push(branch, true, target);
                wrong += u64::from(turn == 5 && !right);
            }
        }
        wrong
    }

    #[test]
    fn one_branch_keeps_64_targets() {
        assert_eq!(wrong(16), 0);
        assert_eq!(wrong(64), 0);
        assert!(wrong(96) > 48, "{}", wrong(96));
    }
}
