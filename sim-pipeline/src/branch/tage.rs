//! Direction prediction: a TAGE-class predictor (bimodal base, tagged tables of geometric history).
//!
//! The core's predictor is only known to be TAGE-class (HC33); the structure follows the published
//! TAGE idea, the sizes are configuration. Not modeled: statistical corrector, loop predictor.

use super::history::HistoryState;
use crate::config::BranchConfig;

/// Most tagged tables.
pub const MAX_TABLES: usize = 12;
/// Longest history, branches.
pub const MAX_HISTORY: u32 = 1024;

/// Updates between two agings of the usefulness bits.
const AGING_PERIOD: u32 = 1 << 18;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    /// Signed 3-bit counter, taken when not negative.
    counter: i8,
    /// 2-bit usefulness.
    useful: u8,
}

/// What one look-up found, kept for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionLookup {
    /// The predicted direction.
    pub taken: bool,
    /// Direction of the next shorter match.
    alternate: bool,
    /// Table of the longest match plus one, 0 for the bimodal table.
    provider: u8,
    /// The provider's counter is at its weakest.
    weak: bool,
}

impl DirectionLookup {
    /// An unconditional branch.
    pub const ALWAYS: DirectionLookup =
        DirectionLookup { taken: true, alternate: true, provider: 0, weak: false };
}

/// The predictor's tables.
#[derive(Clone, Debug)]
pub struct Tage {
    /// 2-bit counters, taken from 2 on.
    bimodal: Box<[u8]>,
    tables: Vec<Box<[Entry]>>,
    index_mask: u32,
    /// Trust in a freshly allocated entry against its alternate, -8 to 7.
    trust_new: i8,
    updates: u32,
    /// Chooses among allocation candidates; a plain counter keeps runs repeatable.
    dice: u32,
}

impl Tage {
    /// Empty tables: everything weakly not taken.
    pub fn new(config: &BranchConfig) -> Tage {
        let table = || vec![Entry::default(); 1 << config.tagged_bits].into_boxed_slice();
        Tage {
            bimodal: vec![1; 1 << config.bimodal_bits].into_boxed_slice(),
            tables: config.history_lengths.iter().take(MAX_TABLES).map(|_| table()).collect(),
            index_mask: (1 << config.tagged_bits) - 1,
            trust_new: 0,
            updates: 0,
            dice: 1,
        }
    }

    /// Predicts the branch at `pc`.
    pub fn look_up(&self, pc: u64, history: &HistoryState) -> DirectionLookup {
        let base = self.bimodal[self.bimodal_index(pc)] >= 2;
        let mut found = DirectionLookup { taken: base, alternate: base, provider: 0, weak: false };
        for i in (0..self.tables.len()).rev() {
            let entry = &self.tables[i][self.index(pc, history, i)];
            if entry.tag != tag(pc, history, i) {
                continue;
            }
            if found.provider == 0 {
                found.provider = i as u8 + 1;
                found.taken = entry.counter >= 0;
                found.weak = entry.counter == 0 || entry.counter == -1;
            } else {
                found.alternate = entry.counter >= 0;
                break;
            }
        }
        if found.provider != 0 && found.weak && self.trust_new < 0 {
            found.taken = found.alternate;
        }
        found
    }

    /// Trains with the outcome; `history` is the one of the look-up.
    pub fn train(
        &mut self,
        pc: u64,
        history: &HistoryState,
        lookup: &DirectionLookup,
        taken: bool,
    ) {
        let provider = lookup.provider as usize;
        let was_wrong = lookup.taken != taken;
        if provider == 0 {
            self.train_bimodal(pc, taken);
        } else {
            self.train_provider(pc, history, lookup, taken);
        }
        if was_wrong && provider < self.tables.len() {
            self.allocate(pc, history, provider, taken);
        }
        self.updates += 1;
        if self.updates >= AGING_PERIOD {
            self.updates = 0;
            for entry in self.tables.iter_mut().flat_map(|table| table.iter_mut()) {
                entry.useful >>= 1;
            }
        }
    }

    fn train_bimodal(&mut self, pc: u64, taken: bool) {
        let counter = &mut self.bimodal[(pc >> 2) as usize & (self.bimodal.len() - 1)];
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    }

    fn train_provider(
        &mut self,
        pc: u64,
        history: &HistoryState,
        lookup: &DirectionLookup,
        taken: bool,
    ) {
        let i = lookup.provider as usize - 1;
        let index = self.index(pc, history, i);
        let entry = &mut self.tables[i][index];
        let provider_taken = entry.counter >= 0;
        if lookup.weak && provider_taken != lookup.alternate {
            let step = if provider_taken == taken { 1 } else { -1 };
            self.trust_new = (self.trust_new + step).clamp(-8, 7);
        }
        if provider_taken != lookup.alternate {
            entry.useful = if provider_taken == taken {
                (entry.useful + 1).min(3)
            } else {
                entry.useful.saturating_sub(1)
            };
        }
        entry.counter = (entry.counter + if taken { 1 } else { -1 }).clamp(-4, 3);
        let starved = entry.useful == 0;
        if starved && lookup.weak {
            self.train_bimodal(pc, taken);
        }
    }

    /// Gives the branch an entry in a table of longer history, where one is not useful.
    fn allocate(&mut self, pc: u64, history: &HistoryState, provider: usize, taken: bool) {
        self.dice = self.dice.wrapping_mul(1_103_515_245).wrapping_add(12345);
        // Half of the time skip one table, so that neighbours do not fight for the same length.
        let first = (provider + (self.dice >> 16 & 1) as usize).min(self.tables.len() - 1);
        let mut given = false;
        for i in first..self.tables.len() {
            let index = self.index(pc, history, i);
            let entry = &mut self.tables[i][index];
            if entry.useful == 0 {
                let counter = if taken { 0 } else { -1 };
                *entry = Entry { tag: tag(pc, history, i), counter, useful: 0 };
                given = true;
                break;
            }
        }
        if !given {
            for i in first..self.tables.len() {
                let index = self.index(pc, history, i);
                let useful = &mut self.tables[i][index].useful;
                *useful = useful.saturating_sub(1);
            }
        }
    }

    fn bimodal_index(&self, pc: u64) -> usize {
        (pc >> 2) as usize & (self.bimodal.len() - 1)
    }

    fn index(&self, pc: u64, history: &HistoryState, i: usize) -> usize {
        let pc = (pc >> 2) as u32;
        let mixed = pc ^ (pc >> (5 + i as u32)) ^ history.folded_index(i);
        (mixed & self.index_mask) as usize
    }
}

/// The tag of a branch in table `i`; never 0, which marks an empty entry.
fn tag(pc: u64, history: &HistoryState, i: usize) -> u16 {
    let pc = (pc >> 2) as u32;
    let mixed = pc ^ (pc >> 7) ^ (history.folded_tag(i) << 1) ^ (history.folded_index(i) << 3);
    (mixed & 0xFFF) as u16 | 0x1000
}
