//! Indirect target prediction: which of a branch's known targets follows this path.
//!
//! Measured on the sister core: a branch has up to 64 targets without penalty, all branches together
//! about 4K. So targets stand in a pool in which a branch reaches 64 places; two tables, one by
//! address and one by address and path, remember places instead of targets.

use super::history::HistoryState;

/// Sets of the pool that one branch reaches, by the target.
const SETS_OF_A_BRANCH: usize = 16;
const WAYS: usize = 4;
/// Places that one branch reaches.
const PLACES: usize = SETS_OF_A_BRANCH * WAYS;
/// No branch is at this address: it is not a multiple of four.
const EMPTY: u64 = u64::MAX;

/// A table entry: the place of a target among those that the branch reaches.
#[derive(Clone, Copy, Debug, Default)]
struct Pointer {
    tag: u32,
    place: u8,
    /// 2-bit confidence; a place is replaced when it is 0.
    confidence: u8,
}

/// Targets of `BR`, `BLR` and of returns that the return stack has lost.
#[derive(Clone, Debug)]
pub struct IndirectPredictor {
    by_address: Box<[Pointer]>,
    by_path: Box<[Pointer]>,
    /// `(branch, target)`, the places of one group of branches after the other.
    pool: Box<[(u64, u64)]>,
    /// The place of each set that goes next.
    victims: Box<[u8]>,
}

impl IndirectPredictor {
    /// Empty tables of `1 << path_bits` entries and a pool of `targets`, both powers of two.
    pub fn new(path_bits: u32, targets: usize) -> IndirectPredictor {
        let table = || vec![Pointer::default(); 1 << path_bits].into_boxed_slice();
        IndirectPredictor {
            by_address: table(),
            by_path: table(),
            pool: vec![(EMPTY, 0); targets].into_boxed_slice(),
            victims: vec![0; targets / WAYS].into_boxed_slice(),
        }
    }

    /// The predicted target, the path table first.
    pub fn look_up(&self, pc: u64, history: &HistoryState) -> Option<u64> {
        let by_path = &self.by_path[self.path_slot(pc, history)];
        let by_address = &self.by_address[self.address_slot(pc)];
        let pointer = if by_path.tag == path_tag(pc, history) {
            by_path
        } else if by_address.tag == address_tag(pc) {
            by_address
        } else {
            return None;
        };
        let (branch, target) = self.pool[self.group(pc) + usize::from(pointer.place)];
        (branch == pc).then_some(target)
    }

    /// Trains with the real target. The path table gets an entry when the prediction was wrong.
    pub fn train(&mut self, pc: u64, history: &HistoryState, target: u64, was_right: bool) {
        let place = self.place(pc, target);
        let slot = self.path_slot(pc, history);
        let tag = path_tag(pc, history);
        if self.by_path[slot].tag == tag || !was_right {
            update(&mut self.by_path[slot], tag, place);
        }
        let slot = self.address_slot(pc);
        update(&mut self.by_address[slot], address_tag(pc), place);
    }

    /// The place of a target among those that the branch reaches; a new target displaces one.
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

    /// First place that the branch reaches.
    fn group(&self, pc: u64) -> usize {
        fold(pc >> 2, self.pool.len() / PLACES) * PLACES
    }

    fn address_slot(&self, pc: u64) -> usize {
        fold(pc >> 2, self.by_address.len())
    }

    fn path_slot(&self, pc: u64, history: &HistoryState) -> usize {
        let path = history.path();
        let mixed = (pc >> 2) ^ path ^ (path >> 17);
        mixed as usize & (self.by_path.len() - 1)
    }
}

/// `value` folded to a number below the power of two `size`.
fn fold(value: u64, size: usize) -> usize {
    let bits = size.trailing_zeros();
    (value ^ (value >> bits) ^ (value >> (2 * bits)) ^ (value >> (3 * bits))) as usize & (size - 1)
}

fn update(entry: &mut Pointer, tag: u32, place: u8) {
    if entry.tag == tag && entry.place == place {
        entry.confidence = (entry.confidence + 1).min(3);
    } else if entry.confidence == 0 || entry.tag != tag {
        *entry = Pointer { tag, place, confidence: 0 };
    } else {
        entry.confidence -= 1;
    }
}

/// Tags are never 0, which marks an empty entry.
fn address_tag(pc: u64) -> u32 {
    (pc >> 2) as u32 | 1 << 31
}

fn path_tag(pc: u64, history: &HistoryState) -> u32 {
    let path = history.path();
    ((pc >> 2) ^ (path << 7) ^ (path >> 11)) as u32 | 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branch::history::History;

    /// A branch that goes through its targets in turn; wrong predictions in the last of many turns.
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
                history.push(pc, true, target);
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
