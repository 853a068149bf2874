//! Global branch history with folded registers, as TAGE-class predictors index with it.

use super::tage::{MAX_HISTORY, MAX_TABLES};

/// Bits kept: more than the longest history, so that a saved state stays valid while the wrong path
/// writes ahead of it.
const RING_BITS: usize = 4 * MAX_HISTORY as usize;
const RING_WORDS: usize = RING_BITS / 64;
/// Width of the folded tag registers, bits.
const TAG_BITS: u32 = 9;

/// Everything that a branch changes in the history; small enough to be saved at every branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryState {
    index: [u32; MAX_TABLES],
    tag: [u32; MAX_TABLES],
    head: usize,
    /// Target bits of the last taken branches, for indirect prediction.
    path: u64,
}

impl HistoryState {
    /// The folded index register of table `i`.
    pub(super) fn folded_index(&self, i: usize) -> u32 {
        self.index[i]
    }

    /// The folded tag register of table `i`.
    pub(super) fn folded_tag(&self, i: usize) -> u32 {
        self.tag[i]
    }

    /// Target bits of the last taken branches.
    pub(super) fn path(&self) -> u64 {
        self.path
    }
}

/// Directions of the last branches.
#[derive(Clone, Debug)]
pub struct History {
    ring: Box<[u64; RING_WORDS]>,
    folds: Box<[Fold]>,
    index_bits: u32,
    state: HistoryState,
}

/// How one history is folded.
#[derive(Clone, Copy, Debug)]
struct Fold {
    /// Length of the history, branches.
    length: usize,
    /// Where the oldest bit stands in the index register, and in the tag register.
    index_out: u32,
    tag_out: u32,
}

impl History {
    /// An empty history for tables of `1 << index_bits` entries.
    pub fn new(lengths: &[u32], index_bits: u32) -> History {
        let fold = |length: &u32| Fold {
            length: *length as usize,
            index_out: length % index_bits,
            tag_out: length % TAG_BITS,
        };
        let folds = lengths.iter().take(MAX_TABLES).map(fold).collect();
        let ring = Box::new([0; RING_WORDS]);
        History { ring, folds, index_bits, state: HistoryState::default() }
    }

    /// The state to predict with and to come back to.
    pub fn state(&self) -> &HistoryState {
        &self.state
    }

    /// Comes back to a state of at most `3 * MAX_HISTORY` branches ago.
    pub fn restore(&mut self, state: HistoryState) {
        self.state = state;
    }

    /// Moves past one branch.
    pub fn push(&mut self, pc: u64, taken: bool, next: u64) {
        let new = u32::from(taken);
        for (i, fold) in self.folds.iter().enumerate().take(MAX_TABLES) {
            let old = self.bit(fold.length - 1);
            let (index, tag) = (&mut self.state.index[i], &mut self.state.tag[i]);
            *index = shift_in(*index, new, old << fold.index_out, self.index_bits);
            *tag = shift_in(*tag, new, old << fold.tag_out, TAG_BITS);
        }
        let head = (self.state.head + 1) % RING_BITS;
        let (word, bit) = (head / 64, head % 64);
        self.ring[word] = (self.ring[word] & !(1 << bit)) | (u64::from(taken) << bit);
        self.state.head = head;
        if taken {
            self.state.path = (self.state.path << 3) ^ (next >> 2) ^ (pc >> 4);
        }
    }

    /// The direction `age` branches ago, 0 for the last one.
    fn bit(&self, age: usize) -> u32 {
        let at = (self.state.head + RING_BITS - age) % RING_BITS;
        (self.ring[at / 64] >> (at % 64)) as u32 & 1
    }
}

/// Shifts `new` into a folded register of `width` bits and takes `old` out of it.
#[inline]
fn shift_in(value: u32, new: u32, old: u32, width: u32) -> u32 {
    let without_old = ((value << 1) | new) ^ old;
    (without_old ^ (without_old >> width)) & ((1 << width) - 1)
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
            history.push(0, taken, 0);
            bits.insert(0, u32::from(taken));
            bits.truncate(length as usize);
            let slow = bits
                .iter()
                .enumerate()
                .fold(0, |fold, (age, bit)| fold ^ (bit << (age as u32 % width)));
            assert_eq!(history.state().folded_index(0), slow);
        }
    }

    #[test]
    fn a_restored_history_goes_on_as_if_the_wrong_path_had_not_been() {
        let mut history = History::new(&[5, 200], 8);
        let mut other = history.clone();
        let push = |h: &mut History, i: u64| h.push(4 * i, i.is_multiple_of(3), 64 * i);
        (0..300).for_each(|i| push(&mut history, i));
        let saved = *history.state();
        (900..960).for_each(|i| push(&mut history, i));
        history.restore(saved);
        (300..400).for_each(|i| push(&mut history, i));
        (0..400).for_each(|i| push(&mut other, i));
        assert_eq!(history.state(), other.state());
    }
}
