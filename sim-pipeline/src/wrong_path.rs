//! Branch resolution and the wrong path behind a misprediction (PMU guide 4.10; design: executed).
//!
//! Until the branch resolves, the front end goes on along the predicted path through the program's
//! code image. What is renamed and issued by then raises its speculative events and touches caches,
//! TLBs and predictors' histories; at the squash all that is taken in order is given back.

use crate::branch::{Branch, Outcome, Prediction};
use crate::lsu::Order;
use crate::pipeline::{Op, Pipeline};
use crate::scoreboard::Scoreboard;
use crate::window::WindowMark;
use sim_core::{Cycle, EventSink, InstId, MemoryPort, PmuEvent, StallCause};
use sim_isa::{BranchKind, Program, Special};

/// The core before a wrong path.
pub(crate) struct Checkpoint {
    scoreboard: Scoreboard,
    order: Order,
    window: WindowMark,
}

/// Last address and stride of every memory instruction: where a wrong-path access goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressGuess {
    /// `(last address, stride)`, by static instruction; address 0 is "never".
    seen: Vec<(u64, i64)>,
}

impl AddressGuess {
    /// Notes an access of the right path.
    #[inline]
    pub(crate) fn learn(&mut self, id: InstId, addr: u64) {
        let id = id as usize;
        if id >= self.seen.len() {
            // Grows with the static code only, not with the instructions run.
            self.seen.resize((id + 1).next_power_of_two(), (0, 0));
        }
        let (last, stride) = &mut self.seen[id];
        *stride = if *last == 0 { 0 } else { addr.wrapping_sub(*last) as i64 };
        *last = addr;
    }

    /// Where the instruction would go next, if it was ever seen. Strides of more than a page are
    /// taken for chance.
    fn next(&self, id: InstId) -> Option<u64> {
        let (last, stride) = self.seen.get(id as usize).copied()?;
        let stride = if stride.unsigned_abs() <= 4096 { stride } else { 0 };
        (last != 0).then(|| last.wrapping_add_signed(stride))
    }
}

/// Events of a branch of the right path (decisions A25 and A26).
fn raise_branch<S: EventSink>(
    branch: Branch,
    prediction: &Prediction,
    taken: bool,
    flushed: bool,
    sink: &mut S,
) {
    if taken {
        sink.raise(PmuEvent::PC_WRITE_SPEC);
    }
    if branch.kind == BranchKind::ExceptionReturn {
        return;
    }
    sink.raise(PmuEvent::BR_PRED);
    sink.raise(PmuEvent::BR_RETIRED);
    if flushed || (taken && prediction.resteered) {
        sink.raise(PmuEvent::BR_MIS_PRED);
    }
    if flushed {
        sink.raise(PmuEvent::BR_MIS_PRED_RETIRED);
    }
}

impl Pipeline {
    /// Predicts the branch, compares with where the stream went, runs the wrong path if they differ,
    /// trains. True when the branch was mispredicted and the pipeline was flushed.
    pub(crate) fn resolve<M: MemoryPort, S: EventSink>(
        &mut self,
        branch: Branch,
        resolved: Cycle,
        next: Option<u64>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        let prediction = self.branches.predict(branch);
        let fall_through = branch.pc.wrapping_add(4);
        // Where the stream ends or breaks off nobody knows better than the prediction.
        let Some(next) = next.or(prediction.next) else {
            raise_branch(branch, &prediction, prediction.taken, false, sink);
            self.front.follow(&prediction);
            return false;
        };
        let taken = !branch.is_conditional() || next != fall_through;
        let actual = Outcome { pc: branch.pc, taken, next };
        let flushed = prediction.next != Some(next);
        raise_branch(branch, &prediction, taken, flushed, sink);
        self.branches.train(branch.kind, &prediction, actual);
        self.front.follow(&prediction);
        if flushed {
            let returns = self.branches.return_stack();
            if let (Some(wrong), true) = (prediction.next, self.config.wrong_path.enabled) {
                self.run_wrong_path(wrong, resolved, program, memory, sink);
            }
            self.branches.recover(&prediction, returns, actual);
            let at = resolved + self.config.branch.redirect_cycles;
            self.front.redirect(at, StallCause::FetchRedirect);
        }
        flushed
    }

    /// What a wrong path changes and must not leave behind.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            scoreboard: self.scoreboard.clone(),
            order: self.lsu.order(),
            window: self.window.mark(),
        }
    }

    /// Everything since the checkpoint is thrown away.
    pub(crate) fn squash(&mut self, checkpoint: Checkpoint) {
        self.window.squash(checkpoint.window);
        self.lsu.restore(checkpoint.order);
        self.scoreboard = checkpoint.scoreboard;
        self.previous = None;
    }

    /// Everything the front end brings from `pc` on until the branch resolves in `squash`.
    pub(crate) fn run_wrong_path<M: MemoryPort, S: EventSink>(
        &mut self,
        mut pc: u64,
        squash: Cycle,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        let checkpoint = self.checkpoint();
        while let Some(id) = program.fetch(pc) {
            let arrival = self.front.place(pc, memory, sink);
            if arrival.at > squash || arrival.faulted {
                break;
            }
            let inst = *program.inst(id);
            let addr = self.guess.next(id);
            let op =
                Op { id, pc, inst: &inst, addr, exclusive_failed: false, squash, retires: false };
            let placed = self.place(&op, arrival, program, memory, sink);
            match self.wrong_path_next(&op, placed, sink) {
                Some(next) => pc = next,
                None => break,
            }
        }
        self.squash(checkpoint);
    }

    /// Where a wrong path goes on behind this instruction; `None` where it ends: an unknown target,
    /// or an instruction behind which the core waits.
    pub(crate) fn wrong_path_next<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        renamed: bool,
        sink: &mut S,
    ) -> Option<u64> {
        if op.inst.branch == BranchKind::None {
            let stops = !matches!(
                op.inst.special,
                Special::None
                    | Special::DataMemoryBarrier
                    | Special::SystemRead
                    | Special::ClearExclusive
                    | Special::Unknown
            );
            return (!stops).then(|| op.pc.wrapping_add(4));
        }
        let prediction = self.branches.predict(Branch::of(op.pc, op.inst));
        if renamed && op.inst.branch != BranchKind::ExceptionReturn {
            sink.raise(PmuEvent::BR_PRED);
            if prediction.taken {
                sink.raise(PmuEvent::PC_WRITE_SPEC);
            }
        }
        self.front.follow(&prediction);
        prediction.next
    }
}
