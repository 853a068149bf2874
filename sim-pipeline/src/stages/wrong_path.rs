//! Branch resolution and the wrong path behind a misprediction (PMU guide 4.10; design: executed).
//!
//! Until the branch resolves, the front end goes on along the predicted path through the program's
//! code image. What is renamed and issued by then raises its speculative events and touches caches,
//! TLBs, prefetchers and the recency of BTB entries; at the squash all that is taken in order is given
//! back, and so are the branch history and the return stack. Predictors are trained on the right path
//! only. How a branch of a wrong path would go is not in a trace: it goes as predicted.

use crate::op::Op;
use crate::pipeline::{Pipeline, Previous};
use crate::route::General;
use crate::stages::op_report::OpOutcome;
use crate::units::branch::{Branch, Outcome, Prediction};
use crate::units::frontend::FetchTiming;
use crate::units::lsu::Order;
use crate::units::rename::RenameMark;
use crate::units::scoreboard::Scoreboard;
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, InstFlags, InstId, MemoryPort, OpLife, PmuEvent, StallCause};
use sim_isa::{BranchKind, Inst, Program, Special};

/// The core before a wrong path.
pub(crate) struct Checkpoint {
    scoreboard: Scoreboard,
    order: Order,
    window: RenameMark,
    path: u16,
}

/// How a branch went, as far as its events tell.
#[derive(Clone, Copy)]
pub(crate) struct ResolvedBranch {
    pub(crate) taken: bool,
    /// It resolved against its prediction, and what was fetched behind it was thrown away.
    pub(crate) flushed: bool,
    /// It executed, so that a target that decode had to find counts as one not predicted.
    pub(crate) resolved: bool,
    /// When it retires, if it does.
    pub(crate) retires: Option<Cycle>,
}

/// Events of a branch that issued (decisions A25, A26 and A50). An exception return is none.
pub(crate) fn raise_branch<S: EventSink>(
    prediction: &Prediction,
    course: ResolvedBranch,
    sink: &mut S,
) {
    if course.taken {
        sink.raise(PmuEvent::PC_WRITE_SPEC);
    }
    sink.raise(PmuEvent::BR_PRED);
    if course.flushed || (course.taken && course.resolved && prediction.resteered) {
        sink.raise(PmuEvent::BR_MIS_PRED);
    }
    if let Some(retires) = course.retires {
        sink.at(retires);
        sink.raise(PmuEvent::BR_RETIRED);
        if course.flushed {
            sink.raise(PmuEvent::BR_MIS_PRED_RETIRED);
        }
    }
}

/// True when a wrong path goes on behind an instruction that is no branch: the core does not wait for it.
pub(crate) fn flows_on(special: Special) -> bool {
    matches!(
        special,
        Special::None
            | Special::DataMemoryBarrier
            | Special::SystemRead
            | Special::ClearExclusive
            | Special::Unknown
    )
}

impl Pipeline {
    /// Predicts the branch, compares with where the stream went, runs the wrong path if they differ,
    /// trains.
    pub(crate) fn resolve<M: MemoryPort, S: EventSink>(
        &mut self,
        branch: Branch,
        resolved: Cycle,
        next: Option<u64>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        sink.at(resolved);
        let retires = Some(self.life.retire);
        let perfect = self.branches.perfect(branch, next);
        let prediction = perfect.unwrap_or_else(|| self.branches.predict(branch));
        let fall_through = branch.pc.wrapping_add(4);
        // Where the stream ends or breaks off nobody knows better than the prediction.
        let Some(next) = next.or(prediction.next) else {
            let taken = prediction.taken;
            let behind = OpOutcome { taken, target: prediction.next, ..OpOutcome::default() };
            self.report_branch(behind, program, memory, sink);
            let course = ResolvedBranch { taken, flushed: false, resolved: true, retires };
            raise_branch(&prediction, course, sink);
            self.front.follow(&prediction);
            return;
        };
        let taken = !branch.is_conditional() || next != fall_through;
        let actual = Outcome { pc: branch.pc, taken, next };
        let flushed = prediction.next != Some(next);
        let course = ResolvedBranch { taken, flushed, resolved: true, retires };
        raise_branch(&prediction, course, sink);
        self.branches.train(branch.kind, &prediction, actual);
        self.front.follow(&prediction);
        let behind =
            OpOutcome { taken, target: Some(next), mispredicted: flushed, exception: false };
        self.report_branch(behind, program, memory, sink);
        if flushed {
            let around = self.branches.around_last();
            let life = self.life;
            if let (Some(wrong), true) = (prediction.next, self.config.wrong_path.enabled) {
                self.run_wrong_path(wrong, resolved, program, memory, sink);
            }
            // What ran behind it in vain had lives of its own.
            self.life = OpLife { mispredicted: true, ..life };
            self.branches.recover(branch, &around, actual);
            let at = resolved + self.config.branch.redirect_cycles;
            let cause = match prediction.next {
                None => StallCause::FetchNoTarget,
                Some(_) => StallCause::FetchMispredict,
            };
            self.front.redirect(at, cause);
        }
    }

    /// What a wrong path changes and must not leave behind.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            scoreboard: self.scoreboard.clone(),
            order: self.lsu.order(),
            window: self.rename_stage.mark(),
            path: self.path.mark(),
        }
    }

    /// Everything since the checkpoint is thrown away.
    pub(crate) fn squash(&mut self, checkpoint: &Checkpoint) {
        self.rename_stage.squash(checkpoint.window);
        self.path.rewind(checkpoint.path);
        self.lsu.restore(checkpoint.order);
        self.scoreboard.clone_from(&checkpoint.scoreboard);
        self.previous = Previous::default();
    }

    /// Says what an instruction does if a wrong path meets it: the address that it touches, where it
    /// goes. Directed tests know it.
    pub fn preset_wrong_path(&mut self, id: InstId, addr: Option<u64>, next: Option<u64>) {
        if let Some(addr) = addr {
            self.addresses.learn(id, addr);
        }
        if let Some(next) = next {
            self.addresses.outcomes.push((id, next));
        }
    }

    /// Everything the front end brings from `pc` on until the branch is `resolved`: in that cycle nothing of the path is
    /// renamed or issued any more.
    pub(crate) fn run_wrong_path<M: MemoryPort, S: EventSink>(
        &mut self,
        mut pc: u64,
        resolved: Cycle,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        // It is one: what the stages ask to tell it from the right path is decided here.
        let squash = resolved.saturating_sub(1).min(NEVER - 1);
        let checkpoint = self.checkpoint();
        while let Some(id) = program.fetch(pc) {
            let arrival = self.fetch_inst(id, pc, program, memory, sink);
            if arrival.at > squash || arrival.fault.is_some() {
                break;
            }
            let inst = program.inst(id);
            let placed = self.schedule_predicted(id, pc, inst, squash, arrival, memory, sink);
            if !placed && self.config.ideal.fetch {
                // Nothing younger gets a slot, and the clock of an ideal front end does not go on.
                break;
            }
            let next = if inst.branch == BranchKind::None {
                if placed {
                    let behind = OpOutcome::default();
                    self.report_op(inst, InstFlags::default(), behind, memory, sink);
                }
                flows_on(inst.special).then(|| pc.wrapping_add(4))
            } else {
                let branch = Branch::of(pc, inst);
                self.pass_branch(id, branch, squash, placed, program, memory, sink)
            };
            match next {
                Some(next) => pc = next,
                None => break,
            }
        }
        self.squash(&checkpoint);
        sink.squashed();
    }

    /// One instruction of a wrong path through the stages, with the addresses that it would have.
    #[expect(
        clippy::too_many_arguments,
        reason = "the instruction, where it stands, the two ports"
    )]
    #[inline(always)]
    fn schedule_predicted<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        pc: u64,
        inst: &Inst,
        squash: Cycle,
        arrival: FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        // What touches nothing has none, and asks for none if a damaged trace gave it one.
        let addr = self.addresses.address(id);
        let flags = InstFlags::default();
        let op = Op { id, pc, inst, addr, flags, more: &[], squash, retires: false };
        if inst.mem.elements > 0
            && let Some(addr) = addr
        {
            let (flags, further) = self.last_elements.guess(id, addr);
            let op = Op { flags, more: &further[..flags.further()], ..op };
            return self.schedule_outlined::<General, M, S>(op, arrival, memory, sink);
        }
        self.schedule(&op, &arrival, memory, sink)
    }

    /// A branch on a wrong path, and where the path goes on behind it; `None` where no target is known.
    /// One that is known to go against its prediction has a wrong path of its own, until it resolves.
    #[expect(clippy::too_many_arguments, reason = "the branch, what became of it, the two ports")]
    pub(crate) fn pass_branch<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        branch: Branch,
        squash: Cycle,
        placed: bool,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<u64> {
        let prediction = self.branches.predict(branch);
        let complete = self.life.complete;
        let executed = placed && self.life.issue <= squash;
        let resolved = placed && complete <= squash;
        let known = self.addresses.outcome(id).filter(|_| resolved);
        let corrected = known.filter(|next| prediction.next != Some(*next));
        let taken = match corrected {
            Some(next) => !branch.is_conditional() || next != branch.pc.wrapping_add(4),
            None => prediction.taken,
        };
        if executed && branch.kind != BranchKind::ExceptionReturn {
            sink.at(complete);
            let course =
                ResolvedBranch { taken, flushed: corrected.is_some(), resolved, retires: None };
            raise_branch(&prediction, course, sink);
        }
        if placed {
            let mispredicted = corrected.is_some();
            let target = corrected.or(prediction.next);
            let behind = OpOutcome { taken, target, mispredicted, exception: false };
            self.report_branch(behind, program, memory, sink);
        }
        self.front.follow(&prediction);
        let Some(next) = corrected else { return prediction.next };
        let around = self.branches.around_last();
        if let Some(wrong) = prediction.next {
            self.run_wrong_path(wrong, complete, program, memory, sink);
        }
        self.branches.recover(branch, &around, Outcome { pc: branch.pc, taken, next });
        self.front
            .redirect(complete + self.config.branch.redirect_cycles, StallCause::FetchMispredict);
        Some(next)
    }
}
