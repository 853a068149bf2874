//! Direction prediction, the baseline for comparison: one table of 2-bit counters, indexed by
//! address and the last directions (gshare).

use super::history::HistoryState;
use sim_core::{StateVisitor, WarmState};

/// Counters; a value of 2 or more means taken.
#[derive(Clone, Debug)]
pub struct Gshare {
    counters: Box<[u8]>,
}

impl Gshare {
    /// Returns `1 << bits` counters, all weakly not taken.
    pub fn new(bits: u32) -> Gshare {
        Gshare { counters: vec![1; 1 << bits].into_boxed_slice() }
    }

    /// Returns the predicted direction of the branch at `pc`.
    pub fn look_up(&self, pc: u64, history: &HistoryState) -> bool {
        self.counters[self.slot(pc, history)] >= 2
    }

    /// Trains with the outcome; `history` is that of the look-up.
    pub fn train(&mut self, pc: u64, history: &HistoryState, taken: bool) {
        let slot = self.slot(pc, history);
        let counter = &mut self.counters[slot];
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    }

    fn slot(&self, pc: u64, history: &HistoryState) -> usize {
        ((pc >> 2) as usize ^ history.recent() as usize) & (self.counters.len() - 1)
    }
}

impl WarmState for Gshare {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.bytes(&mut self.counters);
        self.counters.iter_mut().for_each(|counter| *counter &= 3);
    }
}
