//! Branch resolution and execution of the wrong path after a misprediction (PMU guide 4.10).
//!
//! Until the branch resolves, the front end continues along the predicted path in the code image of
//! the program. Operations that are renamed and issued by then raise their speculative events. They
//! access caches, TLBs and prefetchers, and update the recency of BTB entries. The squash restores
//! all in-order resources, the branch history and the return stack. Predictors train on the correct
//! path only. A trace does not record the outcome of a wrong-path branch, so the branch follows its
//! prediction.

use crate::op::Op;
use crate::pipeline::{FusionLead, Pipeline};
use crate::route::General;
use crate::stages::op_report::OpOutcome;
use crate::units::branch::{Branch, Outcome, Prediction};
use crate::units::frontend::FetchTiming;
use crate::units::lsu::MemoryOrdering;
use crate::units::rename::RenameMark;
use crate::units::scoreboard::SavedRegisters;
use sim_core::time::NEVER;
use sim_core::{
    Cycle, EventSink, InstFlags, InstId, MemoryPort, Notice, OpTimeline, PmuEvent, StallCause,
};
use sim_isa::{BranchKind, Inst, Program, Special};

/// State of the core before a wrong path.
pub(crate) struct Checkpoint {
    registers: SavedRegisters,
    ordering: MemoryOrdering,
    rename: RenameMark,
    path: u16,
}

/// Properties of a branch's resolution that its events depend on.
#[derive(Clone, Copy)]
pub(crate) struct ResolvedBranch {
    pub(crate) taken: bool,
    /// Set if the branch resolved against its prediction and its younger operations were squashed.
    pub(crate) flushed: bool,
    /// Set if the branch executed. If it did, a target that decode had to find counts as not
    /// predicted.
    pub(crate) resolved: bool,
    /// Retirement cycle, if the branch retires.
    pub(crate) retires: Option<Cycle>,
}

/// Raises the events of a branch that issued (decisions A25, A26 and A50). An exception return
/// raises none.
pub(crate) fn raise_branch<S: EventSink>(
    prediction: &Prediction,
    resolution: ResolvedBranch,
    sink: &mut S,
) {
    if resolution.taken {
        sink.raise(PmuEvent::PC_WRITE_SPEC);
    }
    sink.raise(PmuEvent::BR_PRED);
    if resolution.flushed || (resolution.taken && resolution.resolved && prediction.resteered) {
        sink.raise(PmuEvent::BR_MIS_PRED);
    }
    if let Some(retires) = resolution.retires {
        sink.notify(Notice::At(retires));
        sink.raise(PmuEvent::BR_RETIRED);
        if resolution.flushed {
            sink.raise(PmuEvent::BR_MIS_PRED_RETIRED);
        }
    }
}

/// Returns whether a wrong path continues after an instruction that is not a branch, because the
/// core does not wait for the instruction.
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
    /// Predicts the branch, compares the prediction with the stream, runs the wrong path if they
    /// differ, and trains the predictors.
    pub(crate) fn resolve<M: MemoryPort, S: EventSink>(
        &mut self,
        branch: Branch,
        resolved: Cycle,
        next: Option<u64>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        sink.notify(Notice::At(resolved));
        let retires = Some(self.timeline.retire);
        let perfect = self.branches.perfect(branch, next);
        let prediction = perfect.unwrap_or_else(|| self.branches.predict(branch));
        let fall_through = branch.pc.wrapping_add(4);
        // At the end or a break of the stream, the prediction gives the next address.
        let Some(next) = next.or(prediction.next) else {
            let taken = prediction.taken;
            let outcome = OpOutcome { taken, target: prediction.next, ..OpOutcome::default() };
            self.report_branch(outcome, program, memory, sink);
            let resolution = ResolvedBranch { taken, flushed: false, resolved: true, retires };
            raise_branch(&prediction, resolution, sink);
            self.front.follow(&prediction);
            return;
        };
        let taken = !branch.is_conditional() || next != fall_through;
        let actual = Outcome { pc: branch.pc, taken, next };
        let flushed = prediction.next != Some(next);
        let resolution = ResolvedBranch { taken, flushed, resolved: true, retires };
        raise_branch(&prediction, resolution, sink);
        self.branches.train(branch.kind, &prediction, actual);
        self.front.follow(&prediction);
        let outcome =
            OpOutcome { taken, target: Some(next), mispredicted: flushed, exception: false };
        self.report_branch(outcome, program, memory, sink);
        if flushed {
            let saved = self.branches.last_speculation();
            let timeline = self.timeline;
            if let (Some(wrong), true) = (prediction.next, self.config.wrong_path.enabled) {
                self.run_wrong_path(wrong, resolved, program, memory, sink);
            }
            // The wrong path has overwritten the timeline of the branch.
            self.timeline = OpTimeline { mispredicted: true, ..timeline };
            self.branches.recover(branch, &saved, actual);
            let at = resolved + self.config.branch.redirect_cycles;
            let cause = match prediction.next {
                None => StallCause::FetchNoTarget,
                Some(_) => StallCause::FetchMispredict,
            };
            self.front.redirect(at, cause);
        }
    }

    /// Returns the state that the squash of a wrong path restores.
    #[inline(always)]
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            registers: self.scoreboard.saved(),
            ordering: self.lsu.ordering(),
            rename: self.rename_stage.mark(),
            path: self.path.mark(),
        }
    }

    /// Squashes everything since the checkpoint.
    pub(crate) fn squash(&mut self, checkpoint: &Checkpoint) {
        self.rename_stage.squash(checkpoint.rename);
        self.path.rewind(checkpoint.path);
        self.lsu.restore(checkpoint.ordering);
        self.scoreboard.restore(&checkpoint.registers);
        self.fusion_lead = FusionLead::default();
    }

    /// Presets the outcome of an instruction on wrong paths: its data address and its branch
    /// target. Directed tests use it.
    pub fn preset_wrong_path(&mut self, id: InstId, addr: Option<u64>, next: Option<u64>) {
        if let Some(addr) = addr {
            self.addresses.learn(id, addr);
        }
        if let Some(next) = next {
            self.addresses.outcomes.push((id, next));
        }
    }

    /// Runs the wrong path from `pc` until the branch resolves in cycle `resolved`. No operation of
    /// the path is renamed or issued in that cycle.
    pub(crate) fn run_wrong_path<M: MemoryPort, S: EventSink>(
        &mut self,
        mut pc: u64,
        resolved: Cycle,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        // `NEVER` would mark the correct path.
        let squash = resolved.saturating_sub(1).min(NEVER - 1);
        let checkpoint = self.checkpoint();
        while let Some(id) = program.fetch(pc) {
            if S::COUNTS_ONLY {
                sink.notify(Notice::BeginsOnWrongPath { inst: id, pc });
            }
            let inst = program.inst(id);
            let timing = self.fetch_inst((id, pc, inst), program, memory, sink);
            if timing.at > squash || timing.fault.is_some() {
                break;
            }
            let scheduled = self.schedule_predicted(id, pc, inst, squash, timing, memory, sink);
            if !scheduled && self.config.ideal.fetch {
                // No younger operation gets a slot, and the clock of an ideal front end does not
                // advance.
                break;
            }
            let next = if inst.branch == BranchKind::None {
                if scheduled {
                    let outcome = OpOutcome::default();
                    self.report_op(inst, InstFlags::default(), outcome, memory, sink);
                }
                flows_on(inst.special).then(|| pc.wrapping_add(4))
            } else {
                let branch = Branch::of(pc, inst);
                self.pass_branch(id, branch, squash, scheduled, program, memory, sink)
            };
            match next {
                Some(next) => pc = next,
                None => break,
            }
        }
        self.squash(&checkpoint);
        sink.notify(Notice::Squashed);
    }

    /// Takes one wrong-path instruction through the stages, with its predicted addresses.
    #[expect(clippy::too_many_arguments, reason = "the instruction, its path, the two ports")]
    #[inline(always)]
    fn schedule_predicted<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        pc: u64,
        inst: &Inst,
        squash: Cycle,
        timing: FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        // An instruction without an access has no address, even if a damaged trace gave it one.
        let addr = self.addresses.address(id);
        let flags = InstFlags::default();
        let op = Op { id, pc, inst, addr, flags, more: &[], squash, retires: false };
        if inst.mem.elements > 0
            && let Some(addr) = addr
        {
            let (flags, further) = self.last_elements.predict(id, addr);
            let op = Op { flags, more: &further[..flags.further()], ..op };
            return self.schedule_outlined::<General, M, S>(op, timing, memory, sink);
        }
        self.schedule(&op, &timing, memory, sink)
    }

    /// Predicts a branch on a wrong path. Returns the next address of the path, or `None` if no
    /// target is known. A branch whose preset target contradicts its prediction has a wrong path of
    /// its own until it resolves.
    #[expect(clippy::too_many_arguments, reason = "the branch, what became of it, the two ports")]
    pub(crate) fn pass_branch<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        branch: Branch,
        squash: Cycle,
        scheduled: bool,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> Option<u64> {
        let prediction = self.branches.predict(branch);
        let complete = self.timeline.complete;
        let executed = scheduled && self.timeline.issue <= squash;
        let resolved = scheduled && complete <= squash;
        let known = self.addresses.outcome(id).filter(|_| resolved);
        let corrected = known.filter(|next| prediction.next != Some(*next));
        let taken = match corrected {
            Some(next) => !branch.is_conditional() || next != branch.pc.wrapping_add(4),
            None => prediction.taken,
        };
        if executed && branch.kind != BranchKind::ExceptionReturn {
            sink.notify(Notice::At(complete));
            let resolution =
                ResolvedBranch { taken, flushed: corrected.is_some(), resolved, retires: None };
            raise_branch(&prediction, resolution, sink);
        }
        if scheduled {
            let mispredicted = corrected.is_some();
            let target = corrected.or(prediction.next);
            let outcome = OpOutcome { taken, target, mispredicted, exception: false };
            self.report_branch(outcome, program, memory, sink);
        }
        self.front.follow(&prediction);
        let Some(next) = corrected else { return prediction.next };
        let saved = self.branches.last_speculation();
        if let Some(wrong) = prediction.next {
            self.run_wrong_path(wrong, complete, program, memory, sink);
        }
        self.branches.recover(branch, &saved, Outcome { pc: branch.pc, taken, next });
        self.front
            .redirect(complete + self.config.branch.redirect_cycles, StallCause::FetchMispredict);
        Some(next)
    }
}
