//! Trains the predictors with branches and accesses that the pipeline does not run (functional
//! warming), and follows the wrong paths that a core would run.

use crate::pipeline::Pipeline;
use crate::stages::wrong_path::{ResolvedBranch, flows_on, raise_branch};
use crate::units::branch::{Branch, Outcome};
use crate::units::slots::SLOTS;
use sim_core::{Cycle, EventSink, InstId, StateVisitor, WarmState};
use sim_isa::{BranchKind, Inst, MemOp, Program};

/// Length of a wrong path in cycles if the resolution of its branch is not known. With this length,
/// functional warming makes as many accesses as the pipeline in five of the nine programs used to
/// tune regions (`docs/regions.md`). The other four were checked afterwards.
const WRONG_PATH_CYCLES: Cycle = 12;

/// Memory port for wrong-path fetches and accesses during functional warming.
pub trait WrongPathPort {
    /// Fetches the instruction at `pc`. Returns its wait in cycles, or `None` if it cannot be
    /// fetched.
    fn fetch(&mut self, pc: u64) -> Option<Cycle>;
    /// Performs the memory access of an instruction at its predicted address `addr`.
    fn touch(&mut self, pc: u64, inst: &Inst, addr: u64);
}

/// Returns whether the core predicts branches of this kind.
fn is_learned(branch: BranchKind) -> bool {
    !matches!(branch, BranchKind::None | BranchKind::ExceptionReturn)
}

impl Pipeline {
    /// Reserves room for this number of instructions in the address predictor of wrong paths. The
    /// saved warm state then always has the same size.
    pub fn reserve_insts(&mut self, insts: usize) {
        self.addresses.make_room(insts);
    }

    /// Trains the predictors with the branch at `pc`, which continued at `next`. No time passes and
    /// no event is raised.
    pub fn learn_branch(&mut self, pc: u64, inst: &Inst, next: u64) {
        if is_learned(inst.branch) {
            self.branches.predict_and_train(Branch::of(pc, inst), next);
        }
    }

    /// Trains the predictors with the branch `id` and runs its wrong path on `port` if it was
    /// mispredicted. Returns whether the prediction was correct.
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
        let saved = self.branches.last_speculation();
        if let (Some(wrong), true) = (prediction.next, self.config.wrong_path.enabled) {
            self.follow_wrong_path(wrong, program, port);
        }
        self.branches.recover(branch, &saved, actual);
        false
    }

    /// Follows the predictions from `pc` for [`WRONG_PATH_CYCLES`]. Each cycle has as many
    /// instructions as the front end delivers and rename takes. Waits for a line, and for decode to
    /// find a branch, reduce the number.
    fn follow_wrong_path(
        &mut self,
        mut pc: u64,
        program: &mut Program,
        port: &mut impl WrongPathPort,
    ) {
        // Rename takes at most SLOTS a cycle. Ideal fetch is unbounded, and a wrong path may be an
        // endless loop.
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

    /// Records the access of an instruction at `addr`, from which a wrong path predicts the next
    /// address.
    #[inline]
    pub fn learn_address(&mut self, id: InstId, addr: u64) {
        self.addresses.learn(id, addr);
    }

    /// Predicts the branch at `pc` for an in-order run and raises its events. `next` is `None` at
    /// the end or at a break of the stream. Returns whether the front end restarts after the
    /// branch: it was predicted taken, or mispredicted.
    pub(crate) fn predict_branch<S: EventSink>(
        &mut self,
        pc: u64,
        inst: &Inst,
        next: Option<u64>,
        sink: &mut S,
    ) -> bool {
        let branch = Branch::of(pc, inst);
        let (prediction, flushed) = match next {
            Some(next) => self.branches.predict_and_train(branch, next),
            None => (self.branches.predict(branch), false),
        };
        let taken = match next {
            Some(next) => branch.goes_to(next),
            None => prediction.taken,
        };
        let resolution = ResolvedBranch { taken, flushed, resolved: true, retires: Some(0) };
        raise_branch(&prediction, resolution, sink);
        prediction.taken || flushed
    }
}

/// Predictor contents and predicted wrong-path addresses, without any operation in the pipeline.
impl WarmState for Pipeline {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.branches.visit(visitor);
        self.addresses.visit(visitor);
    }
}
