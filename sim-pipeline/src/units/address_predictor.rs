//! Where the accesses and branches of a wrong path go, as far as the core knows.

use sim_core::{InstId, StateVisitor, WarmState};

/// What the instructions of a wrong path do, as far as anybody knows: an access goes to the last address
/// or one stride further; a branch goes where it is predicted to go, unless a directed test says otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressPredictor {
    /// `(last address, where it would go next)`, by static instruction; a last address of 0 is "never".
    seen: Vec<(u64, u64)>,
    /// Where branches of directed tests go; a trace knows nothing of a path that was not taken.
    pub(crate) outcomes: Vec<(InstId, u64)>,
}

impl AddressPredictor {
    /// Notes an access of the right path.
    #[inline]
    pub(crate) fn learn(&mut self, id: InstId, addr: u64) {
        if id as usize >= self.seen.len() {
            // Grows with the static code only, not with the instructions run.
            self.make_room((id as usize + 1).next_power_of_two());
        }
        let (last, next) = &mut self.seen[id as usize];
        let stride = if *last == 0 { 0 } else { addr.wrapping_sub(*last) as i64 };
        // Strides of more than a page are taken for chance.
        let stride = if stride.unsigned_abs() <= 4096 { stride } else { 0 };
        (*last, *next) = (addr, addr.wrapping_add_signed(stride));
    }

    /// There are at least so many instructions.
    #[cold]
    pub(crate) fn make_room(&mut self, insts: usize) {
        self.seen.resize(insts.max(self.seen.len()), (0, 0));
    }

    /// Where the instruction would go next, if it was ever seen.
    #[inline]
    pub(crate) fn address(&self, id: InstId) -> Option<u64> {
        let (last, next) = self.seen.get(id as usize).copied()?;
        (last != 0).then_some(next)
    }

    /// Where the branch goes, if that was said.
    pub(crate) fn outcome(&self, id: InstId) -> Option<u64> {
        self.outcomes.iter().rev().find(|(branch, _)| *branch == id).map(|(_, next)| *next)
    }
}

impl WarmState for AddressPredictor {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.seen);
    }
}
