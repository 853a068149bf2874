//! Branches and accesses of a stretch that is not run: the predictors and the guesses of wrong paths learn
//! from them, and nothing else happens.

use crate::branch::Branch;
use crate::pipeline::Pipeline;
use sim_core::InstId;
use sim_isa::{BranchKind, Inst};

impl Pipeline {
    /// The branch at `pc` went on at `next`. No time passes, nothing is counted. False when it was predicted
    /// elsewhere.
    pub fn learn_branch(&mut self, pc: u64, inst: &Inst, next: u64) -> bool {
        let is_learned = !matches!(inst.branch, BranchKind::None | BranchKind::ExceptionReturn);
        !is_learned || self.branches.learn(Branch::of(pc, inst), next)
    }

    /// The instruction accessed memory at `addr`: on a wrong path it would go on from there.
    #[inline]
    pub fn learn_address(&mut self, id: InstId, addr: u64) {
        self.guess.learn(id, addr);
    }
}
