//! Branches of a stretch that is not run: the predictors learn from them, and nothing else happens.

use crate::branch::Branch;
use crate::pipeline::Pipeline;
use sim_isa::{BranchKind, Inst};

impl Pipeline {
    /// The branch at `pc` went on at `next`. No time passes, nothing is counted.
    pub fn learn_branch(&mut self, pc: u64, inst: &Inst, next: u64) {
        let is_learned = !matches!(inst.branch, BranchKind::None | BranchKind::ExceptionReturn);
        if is_learned {
            self.branches.learn(Branch::of(pc, inst), next);
        }
    }
}
