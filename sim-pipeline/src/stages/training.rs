//! Branches and accesses of a stretch that the pipeline does not run: the predictors and the guesses of wrong
//! paths learn from them, and go astray as a core would.

use crate::pipeline::Pipeline;
use crate::stages::wrong_path::{ResolvedBranch, flows_on, raise_branch};
use crate::units::branch::{Branch, Outcome};
use crate::units::slots::SLOTS;
use sim_core::{Cycle, EventSink, InstId, StateVisitor, WarmState};
use sim_isa::{BranchKind, Inst, MemOp, Program};

/// Cycles that a wrong path lasts if nobody knows when its branch resolves. With it the machine without a pipeline
/// has as many accesses as the runs of five of the nine programs with which windows were tuned
/// (`docs/regions.md`); the four others were looked at behind it.
const WRONG_PATH_CYCLES: Cycle = 12;

/// Who hears what a core would do in vain behind a branch that was predicted wrongly.
pub trait WrongPathPort {
    /// The instruction at `pc` is fetched: how many cycles it waits for that; `None` if it cannot be.
    fn fetch(&mut self, pc: u64) -> Option<Cycle>;
    /// An instruction accesses memory, as far as anybody knows at `addr`.
    fn touch(&mut self, pc: u64, inst: &Inst, addr: u64);
}

/// True for a branch that is predicted at all.
fn is_learned(branch: BranchKind) -> bool {
    !matches!(branch, BranchKind::None | BranchKind::ExceptionReturn)
}

impl Pipeline {
    /// The program has so many instructions that may run: the guesses of wrong paths have room for all of them, and
    /// what there is to show of them is always as much.
    pub fn know_code(&mut self, insts: usize) {
        self.addresses.make_room(insts);
    }

    /// The branch at `pc` went on at `next`: the predictors learn from it. No time passes, nothing is counted.
    pub fn learn_branch(&mut self, pc: u64, inst: &Inst, next: u64) {
        if is_learned(inst.branch) {
            self.branches.meet(Branch::of(pc, inst), next);
        }
    }

    /// The same, of the branch `id`. False when it was predicted elsewhere; then `astray` hears of the wrong path.
    pub fn train_branch_and_wrong_path(
        &mut self,
        id: InstId,
        next: u64,
        program: &mut Program,
        port: &mut impl WrongPathPort,
    ) -> bool {
        let inst = program.inst(id);
        let branch = Branch::of(program.pc(id), inst);
        if !is_learned(inst.branch) || self.branches.perfect(branch, Some(next)).is_some() {
            return true;
        }
        let prediction = self.branches.predict(branch);
        let actual = Outcome { pc: branch.pc, taken: branch.goes_to(next), next };
        self.branches.train(branch.kind, &prediction, actual);
        if prediction.next == Some(next) {
            return true;
        }
        let around = self.branches.around_last();
        if let (Some(wrong), true) = (prediction.next, self.config.wrong_path.enabled) {
            self.follow_wrong_path(wrong, program, port);
        }
        self.branches.recover(branch, &around, actual);
        false
    }

    /// Follows the predictions from `pc` on until time is up: as many instructions in a cycle as the front end brings
    /// and rename takes, less where it waits for a line or for decoding to find a branch.
    fn follow_wrong_path(
        &mut self,
        mut pc: u64,
        program: &mut Program,
        port: &mut impl WrongPathPort,
    ) {
        // Rename takes at most SLOTS a cycle; ideal fetch is unbounded, and a wrong path may be an endless loop.
        let width = Cycle::from(self.config.front_end.mop_width).min(SLOTS as Cycle);
        let mut left = WRONG_PATH_CYCLES * width;
        while let Some(id) = program.fetch(pc) {
            let Some(waited) = port.fetch(pc) else { return };
            let used = waited.saturating_mul(width).saturating_add(1);
            if used >= left {
                return;
            }
            left -= used;
            let inst = program.inst(id);
            if let (Some(addr), true) = (self.addresses.address(id), inst.mem.op != MemOp::None) {
                port.touch(pc, inst, addr);
            }
            let next = match inst.branch {
                BranchKind::None => flows_on(inst.special).then(|| pc.wrapping_add(4)),
                _ => {
                    let prediction = self.branches.predict(Branch::of(pc, inst));
                    let late = u64::from(prediction.resteered) * self.config.branch.resteer_cycles;
                    left = left.saturating_sub(late.saturating_mul(width));
                    prediction.next
                }
            };
            let Some(next) = next else { return };
            pc = next;
        }
    }

    /// The instruction accessed memory at `addr`: on a wrong path it would go on from there.
    #[inline]
    pub fn learn_address(&mut self, id: InstId, addr: u64) {
        self.addresses.learn(id, addr);
    }

    /// The branch at `pc` met by a run in program order, with its events; where it went is not known at the end of a stream or
    /// where it breaks off. True if the front end begins anew behind it: it was predicted taken, or wrongly.
    pub(crate) fn predict_branch<S: EventSink>(
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
        let course = ResolvedBranch { taken, flushed, resolved: true, retires: Some(0) };
        raise_branch(&prediction, course, sink);
        prediction.taken || flushed
    }
}

/// What the predictors learned, and where wrong paths would go. Nothing of what is in the pipeline.
impl WarmState for Pipeline {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.branches.visit(visitor);
        self.addresses.visit(visitor);
    }
}
