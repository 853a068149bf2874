//! Global branch history with folded registers, as TAGE-class predictors use it for their indices.
//!
//! A fold is the exclusive or of all pieces of a history; each branch updates it with one shift.
//! Each table needs two folds of different widths. The folds of one width are adjacent, 16 bits
//! each, so that a few vector instructions update all tables.

use super::Branch;
use super::limits::{MAX_HISTORY, MAX_TABLES};
use sim_core::{StateVisitor, Stored, WarmState};
use sim_isa::BranchKind;

/// Directions stored in one chunk.
const CHUNK: u32 = u16::BITS;
/// Chunks kept: more than the longest history, so that a saved state stays valid while the wrong
/// path writes newer chunks.
const CHUNKS: usize = (4 * MAX_HISTORY / CHUNK) as usize;
/// Width of the folded tag registers, in bits.
const TAG_BITS: u32 = 9;
/// One folded register for each table.
pub(super) type Folds = [u16; MAX_TABLES];

/// History state that a branch changes, small enough to be saved at every branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryState {
    index: Folds,
    tag: Folds,
    /// Directions that leave the history of each table next, the first one in the top bit.
    leaving: Folds,
    /// Number of directions so far, modulo the number that all chunks store.
    count: u32,
    /// Last directions, the youngest in bit 0.
    recent: u32,
    /// Target bits of the last taken branches, for indirect prediction.
    path: u64,
}

impl HistoryState {
    /// Returns the folded registers for the index.
    #[inline]
    pub(super) fn index(&self) -> &Folds {
        &self.index
    }

    /// Returns the folded registers for the tag.
    #[inline]
    pub(super) fn tag(&self) -> &Folds {
        &self.tag
    }

    /// Returns the last 32 directions.
    #[inline]
    pub(super) fn recent(&self) -> u32 {
        self.recent
    }

    /// Returns target bits of the last taken branches.
    #[inline]
    pub(super) fn path(&self) -> u64 {
        self.path
    }
}

/// Update of the folded registers of one width.
#[derive(Clone, Copy, Debug)]
struct Fold {
    /// Bit position at which the branch leaves the history of each table, as a mask; 0 for an
    /// absent table.
    leaves: Folds,
    width: u32,
    /// Mask of the bits of a register, once for each table.
    bits: Folds,
}

impl Fold {
    fn new(lengths: &[u32], width: u32) -> Fold {
        let mut leaves = Folds::default();
        for (leaves, length) in leaves.iter_mut().zip(lengths).filter(|(_, length)| **length > 0) {
            *leaves = 1 << (length % width);
        }
        Fold { leaves, width, bits: [(1 << width) - 1; MAX_TABLES] }
    }

    /// Shifts in one bit. `old_bits` has all bits of a table set or clear, for the direction that
    /// leaves.
    #[inline(always)]
    fn push(&self, folds: &mut Folds, new_bit: bool, old_bits: &Folds) {
        for (i, fold) in folds.iter_mut().enumerate() {
            let moved = (*fold << 1 | u16::from(new_bit)) ^ (self.leaves[i] & old_bits[i]);
            *fold = (moved ^ moved >> self.width) & self.bits[i];
        }
    }
}

/// Directions of the last branches.
#[derive(Clone, Debug)]
pub struct History {
    /// Chunks, each with the youngest direction in bit 0.
    chunks: Box<[u16; CHUNKS]>,
    lengths: [u32; MAX_TABLES],
    /// Position of a new direction among those that leave, as a mask; 0 for a history longer than a
    /// chunk.
    enters: Folds,
    index: Fold,
    tag: Fold,
    state: HistoryState,
}

impl History {
    /// Returns an empty history for tables of these lengths, folded to `folded_bits` for the index.
    pub fn new(lengths: &[u32], folded_bits: u32) -> History {
        let lengths = std::array::from_fn(|i| lengths.get(i).copied().unwrap_or(0));
        let short = |length| (1..=CHUNK).contains(&length);
        History {
            chunks: Box::new([0; CHUNKS]),
            lengths,
            enters: lengths.map(|length| if short(length) { 1 << (CHUNK - length) } else { 0 }),
            index: Fold::new(&lengths, folded_bits),
            tag: Fold::new(&lengths, TAG_BITS),
            state: HistoryState::default(),
        }
    }

    /// Returns the state to predict with and to restore.
    #[inline]
    pub fn state(&self) -> &HistoryState {
        &self.state
    }

    /// Restores a state of at most `3 * MAX_HISTORY` branches ago.
    pub fn restore(&mut self, state: HistoryState) {
        self.state = state;
    }

    /// Adds one branch. A branch that always goes the same way carries no information and enters
    /// only the path.
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

    /// Adds one direction.
    #[inline]
    fn push_bit(&mut self, taken: bool) {
        let state = &mut self.state;
        let old_bits =
            state.leaving.map(|next| (next.cast_signed() >> (CHUNK - 1)).cast_unsigned());
        self.index.push(&mut state.index, taken, &old_bits);
        self.tag.push(&mut state.tag, taken, &old_bits);
        let new_bit = u16::from(taken).wrapping_neg();
        for (leaving, enters) in state.leaving.iter_mut().zip(&self.enters) {
            *leaving = *leaving << 1 | enters & new_bit;
        }
        state.recent = state.recent << 1 | u32::from(taken);
        state.count += 1;
        if state.count.is_multiple_of(CHUNK) {
            self.turn_chunk();
        }
    }

    /// Completes a chunk. The directions that leave the longer histories during the next chunk are
    /// already known.
    #[inline(never)]
    fn turn_chunk(&mut self) {
        let state = &mut self.state;
        let at = (state.count / CHUNK) as usize;
        self.chunks[(at - 1) % CHUNKS] = state.recent as u16;
        state.count %= CHUNKS as u32 * CHUNK;
        for (leaving, length) in state.leaving.iter_mut().zip(self.lengths) {
            if let Some(age) = length.checked_sub(CHUNK).filter(|age| *age > 0) {
                // The youngest direction that leaves has this age.
                let back = (age / CHUNK) as usize;
                let chunk = |back| u32::from(self.chunks[(at + CHUNKS - 1 - back) % CHUNKS]);
                *leaving = ((chunk(back + 1) << CHUNK | chunk(back)) >> (age % CHUNK)) as u16;
            }
        }
    }
}

impl Stored for HistoryState {
    const WORDS: usize = MAX_TABLES + 3;

    fn store(self, words: &mut [u64]) {
        let (folds, others) = words.split_at_mut(MAX_TABLES);
        for (i, word) in folds.iter_mut().enumerate() {
            let [index, tag, leaving] =
                [self.index, self.tag, self.leaving].map(|all| u64::from(all[i]));
            *word = index | tag << 16 | leaving << 32;
        }
        others.copy_from_slice(&[self.count.into(), self.recent.into(), self.path]);
    }

    fn load(words: &[u64]) -> HistoryState {
        let folds = |shift: u32| std::array::from_fn(|i| (words[i] >> shift) as u16);
        HistoryState {
            index: folds(0),
            tag: folds(16),
            leaving: folds(32),
            count: words[MAX_TABLES] as u32 % (CHUNKS as u32 * CHUNK),
            recent: words[MAX_TABLES + 1] as u32,
            path: words[MAX_TABLES + 2],
        }
    }
}

impl WarmState for History {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(self.chunks.as_mut_slice());
        visitor.one(&mut self.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_register_equals_the_fold_of_the_whole_history() {
        let (lengths, width) = ([1, 3, 15, 16, 17, 37, 320, MAX_HISTORY], 10);
        let mut history = History::new(&lengths, width);
        let mut bits = Vec::new();
        let mut state = 12345_u32;
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let taken = state >> 31 == 1;
            history.push_bit(taken);
            bits.insert(0, u32::from(taken));
            bits.truncate(MAX_HISTORY as usize);
            for (i, length) in lengths.into_iter().enumerate() {
                let slow = |width: u32| {
                    let ages = bits.iter().enumerate().take(length as usize);
                    ages.fold(0, |fold, (age, bit)| fold ^ (bit << (age as u32 % width)))
                };
                assert_eq!(u32::from(history.state().index()[i]), slow(width));
                assert_eq!(u32::from(history.state().tag()[i]), slow(TAG_BITS));
            }
        }
    }

    #[test]
    fn a_restored_history_contains_nothing_of_the_wrong_path() {
        let mut history = History::new(&[5, 16, 17, 200, MAX_HISTORY], 8);
        let mut other = history.clone();
        let push = |h: &mut History, i: u64| {
            let branch = Branch { pc: 4 * i, kind: BranchKind::Conditional, target: 64 * i };
            h.push(branch, i.is_multiple_of(3), 64 * i);
        };
        // Covers every position within a chunk and the end of all chunks, with a wrong path that
        // fills most chunks.
        for i in 0..5000 {
            let saved = *history.state();
            if i % 61 == 0 || (4090..4110).contains(&i) {
                (0..3 * u64::from(MAX_HISTORY)).for_each(|i| push(&mut history, 3 * i));
                history.restore(saved);
            }
            push(&mut history, i);
            push(&mut other, i);
            assert_eq!(history.state(), other.state(), "branch {i}");
        }
    }
}
