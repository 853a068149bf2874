//! Predicts the data addresses and branch targets of wrong paths.

use sim_core::{InstId, StateVisitor, WarmState};

/// Predictor of wrong-path instructions. An access goes to its last address or one stride further.
/// A branch follows its prediction, unless a directed test has set its outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressPredictor {
    /// `(last address, predicted next address)`, by static instruction. A last address of 0 means
    /// never seen.
    seen: Vec<(u64, u64)>,
    /// Branch outcomes set by directed tests; a trace does not contain paths that were not taken.
    pub(crate) outcomes: Vec<(InstId, u64)>,
}

impl AddressPredictor {
    /// Records an access on the correct path.
    #[inline]
    pub(crate) fn learn(&mut self, id: InstId, addr: u64) {
        if id as usize >= self.seen.len() {
            // Grows with the static code only, not with the number of instructions run.
            self.make_room((id as usize + 1).next_power_of_two());
        }
        let (last, next) = &mut self.seen[id as usize];
        let stride = if *last == 0 { 0 } else { addr.wrapping_sub(*last) as i64 };
        // A stride of more than a page counts as no stride.
        let stride = if stride.unsigned_abs() <= 4096 { stride } else { 0 };
        (*last, *next) = (addr, addr.wrapping_add_signed(stride));
    }

    /// Makes room for at least this number of instructions.
    #[cold]
    pub(crate) fn make_room(&mut self, insts: usize) {
        self.seen.resize(insts.max(self.seen.len()), (0, 0));
    }

    /// Returns the predicted next address of the instruction, if it has accessed memory before.
    #[inline]
    pub(crate) fn address(&self, id: InstId) -> Option<u64> {
        let (last, next) = self.seen.get(id as usize).copied()?;
        (last != 0).then_some(next)
    }

    /// Returns the next address of the branch, if a test has set it.
    #[inline]
    pub(crate) fn outcome(&self, id: InstId) -> Option<u64> {
        self.outcomes.iter().rev().find(|(branch, _)| *branch == id).map(|(_, next)| *next)
    }
}

impl WarmState for AddressPredictor {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.seen);
    }
}
