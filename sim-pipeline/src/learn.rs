//! Branches and accesses of a stretch that the pipeline does not run: the predictors and the guesses of wrong
//! paths learn from them.

use crate::branch::Branch;
use crate::pipeline::Pipeline;
use crate::wrong_path::{Course, raise_branch};
use sim_core::{EventSink, InstId};
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

    /// The branch at `pc` met by a run in program order, with its events; where it went is not known at the end of a stream or
    /// where it breaks off. True if the front end begins anew behind it: it was predicted taken, or wrongly.
    pub(crate) fn meet_branch<S: EventSink>(
        &mut self,
        pc: u64,
        inst: &Inst,
        next: Option<u64>,
        sink: &mut S,
    ) -> bool {
        let branch = Branch::of(pc, inst);
        let (prediction, flushed) = match next {
            Some(next) => self.branches.meet(branch, next),
            None => (self.branches.predict(branch), false),
        };
        let taken = match next {
            Some(next) => branch.goes_to(next),
            None => prediction.taken,
        };
        let course = Course { taken, flushed, resolved: true, retires: Some(0) };
        raise_branch(&prediction, course, sink);
        prediction.taken || flushed
    }
}
