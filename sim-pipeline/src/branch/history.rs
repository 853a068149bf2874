//! Global branch history with folded registers, as TAGE-class predictors index with it.
//!
//! A fold is the exclusive or of all pieces of a history; it follows the history with one shift a
//! branch. Each table needs two of different widths, which share one register of 32 bits, so that
//! all tables move in a few vector instructions.

use super::Branch;
use super::tage::{MAX_HISTORY, MAX_TABLES};
use sim_core::{StateVisitor, Stored, WarmState};
use sim_isa::BranchKind;

/// Directions kept: more than the longest history, so that a saved state stays valid while the wrong path
/// writes ahead of it.
const RING: usize = 4 * MAX_HISTORY as usize;
/// Width of the folded tag registers, bits.
const TAG_BITS: u32 = 9;
/// Where the tag register stands beside the index register.
const TAG_SHIFT: u32 = 16;
/// Widest index register: one bit is left for the shift.
pub const MAX_FOLDED_BITS: u32 = TAG_SHIFT - 1;

/// Everything that a branch changes in the history; small enough to be saved at every branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryState {
    /// Index register of each table, with the tag register from [`TAG_SHIFT`] on.
    folds: [u32; MAX_TABLES],
    head: u32,
    /// The last directions, the youngest in bit 0.
    recent: u32,
    /// Target bits of the last taken branches, for indirect prediction.
    path: u64,
}

impl HistoryState {
    /// The folded registers of all tables: that for the index in the low bits.
    #[inline]
    pub(super) fn folds(&self) -> &[u32; MAX_TABLES] {
        &self.folds
    }

    /// The last 32 directions.
    #[inline]
    pub(super) fn recent(&self) -> u32 {
        self.recent
    }

    /// Target bits of the last taken branches.
    #[inline]
    pub(super) fn path(&self) -> u64 {
        self.path
    }
}

/// The index part of a folded register.
#[inline]
pub(super) fn index_fold(fold: u32) -> u32 {
    fold & ((1 << TAG_SHIFT) - 1)
}

/// The tag part of a folded register.
#[inline]
pub(super) fn tag_fold(fold: u32) -> u32 {
    fold >> TAG_SHIFT
}

/// Directions of the last branches.
#[derive(Clone, Debug)]
pub struct History {
    /// All bits set for a branch that was taken, none for another one; the last one is at the head.
    ring: Box<[i32; RING]>,
    /// Age of the branch that leaves the history of each table, 0 for the last one.
    oldest: [u32; MAX_TABLES],
    /// Where that branch's bit stands in the two registers; 0 for a table that is not there.
    leaves: [u32; MAX_TABLES],
    folded_bits: u32,
    state: HistoryState,
}

impl History {
    /// An empty history for tables of these lengths, folded to `folded_bits` for the index.
    pub fn new(lengths: &[u32], folded_bits: u32) -> History {
        let (mut oldest, mut leaves) = ([0; MAX_TABLES], [0; MAX_TABLES]);
        for (i, length) in lengths.iter().take(MAX_TABLES).enumerate() {
            oldest[i] = length - 1;
            leaves[i] = 1 << (length % folded_bits) | 1 << (TAG_SHIFT + length % TAG_BITS);
        }
        History {
            ring: Box::new([0; RING]),
            oldest,
            leaves,
            folded_bits,
            state: HistoryState::default(),
        }
    }

    /// The state to predict with and to come back to.
    #[inline]
    pub fn state(&self) -> &HistoryState {
        &self.state
    }

    /// Comes back to a state of at most `3 * MAX_HISTORY` branches ago.
    pub fn restore(&mut self, state: HistoryState) {
        self.state = state;
    }

    /// Moves past one branch. Those that always go the same way tell nothing and are left out, except
    /// in the path.
    #[inline]
    pub fn push(&mut self, branch: Branch, taken: bool, next: u64) {
        if taken {
            self.state.path = (self.state.path << 3) ^ (next >> 2) ^ (branch.pc >> 4);
        }
        match branch.kind {
            BranchKind::Conditional => self.push_bit(taken),
            BranchKind::Indirect | BranchKind::IndirectCall => {
                self.push_bit((next >> 2 ^ next >> 5 ^ next >> 8) & 1 == 1);
            }
            _ => {}
        }
    }

    /// Moves past one bit.
    fn push_bit(&mut self, taken: bool) {
        let places = self.oldest.map(|age| self.state.head.wrapping_sub(age) % RING as u32);
        let gone = places.map(|at| self.ring[at as usize % RING] as u32);
        let comes = u32::from(taken) * (1 | 1 << TAG_SHIFT);
        let (index_top, tag_top) = (1 << self.folded_bits, 1 << (TAG_SHIFT + TAG_BITS));
        let keep = (index_top - 1) | (tag_top - (1 << TAG_SHIFT));
        for ((fold, gone), leaves) in self.state.folds.iter_mut().zip(gone).zip(self.leaves) {
            let moved = (*fold << 1 | comes) ^ (leaves & gone);
            let around = (moved & index_top) >> self.folded_bits | (moved & tag_top) >> TAG_BITS;
            *fold = (moved ^ around) & keep;
        }
        let head = (self.state.head + 1) % RING as u32;
        self.ring[head as usize] = -i32::from(taken);
        self.state.head = head;
        self.state.recent = self.state.recent << 1 | u32::from(taken);
    }
}

impl Stored for HistoryState {
    const WORDS: usize = MAX_TABLES + 3;

    fn store(self, words: &mut [u64]) {
        let (folds, others) = words.split_at_mut(MAX_TABLES);
        folds.iter_mut().zip(self.folds).for_each(|(word, fold)| *word = fold.into());
        others.copy_from_slice(&[self.head.into(), self.recent.into(), self.path]);
    }

    fn load(words: &[u64]) -> HistoryState {
        HistoryState {
            folds: std::array::from_fn(|i| words[i] as u32),
            head: words[MAX_TABLES] as u32 % RING as u32,
            recent: words[MAX_TABLES + 1] as u32,
            path: words[MAX_TABLES + 2],
        }
    }
}

impl WarmState for History {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        let mut taken = self.ring.map(|bits| bits as u8 & 1);
        visitor.bytes(&mut taken);
        *self.ring = taken.map(|bit| -i32::from(bit & 1));
        visitor.one(&mut self.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_register_equals_the_fold_of_the_whole_history() {
        let (length, width) = (37, 10);
        let mut history = History::new(&[length], width);
        let mut bits = vec![0_u32; length as usize];
        let mut state = 12345_u32;
        for _ in 0..500 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let taken = state >> 31 == 1;
            history.push_bit(taken);
            bits.insert(0, u32::from(taken));
            bits.truncate(length as usize);
            let slow = |width: u32| {
                let ages = bits.iter().enumerate();
                ages.fold(0, |fold, (age, bit)| fold ^ (bit << (age as u32 % width)))
            };
            let folds = history.state().folds()[0];
            assert_eq!(index_fold(folds), slow(width));
            assert_eq!(tag_fold(folds), slow(TAG_BITS));
        }
    }

    #[test]
    fn a_restored_history_goes_on_as_if_the_wrong_path_had_not_been() {
        let mut history = History::new(&[5, 200], 8);
        let mut other = history.clone();
        let push = |h: &mut History, i: u64| {
            let branch = Branch { pc: 4 * i, kind: BranchKind::Conditional, target: 64 * i };
            h.push(branch, i.is_multiple_of(3), 64 * i);
        };
        (0..300).for_each(|i| push(&mut history, i));
        let saved = *history.state();
        (900..960).for_each(|i| push(&mut history, i));
        history.restore(saved);
        (300..400).for_each(|i| push(&mut history, i));
        (0..400).for_each(|i| push(&mut other, i));
        assert_eq!(history.state(), other.state());
    }
}
