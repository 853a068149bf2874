//! Branches: prediction, resolution in the last stage, and the events of both.

use super::write_back::{RESTART, STAGES};
use super::{Core, WrongPath};
use crate::branch::Prediction;
use crate::event::{A53Event, A53Note, A53Sink};
use crate::memory::ClusterMemory;
use crate::seen::Seen;
use crate::timing::Timing;
use sim_isa::BranchKind;

impl Core {
    /// Predicts the branch that issued in `cycle`. The stream continues at `next`: after a bubble,
    /// or after the resolution of a mispredicted branch.
    pub(super) fn resolve<S: A53Sink>(
        &mut self,
        timing: &Timing,
        cycle: u64,
        next: Option<u64>,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        let kind = timing.branch;
        if kind == BranchKind::ExceptionReturn {
            // Exception returns are not predicted (manual 6.4). They count at the level to which
            // they return (erratum 855827).
            sink.note(A53Note::Return { next }, cycle + STAGES);
            memory.clear_exclusive(self.number);
            sink.raise(A53Event::EXC_RETURN, cycle, 1);
            sink.raise(A53Event::BR_MIS_PRED, cycle, 1);
            return self.front_end.restart(cycle + RESTART);
        }
        self.count_prediction(kind, cycle, sink);
        // Where the stream breaks off, no prediction can be judged.
        let Some(next) = next else { return self.front_end.restart(cycle + RESTART) };
        let prediction = self.predictor.predict(timing.pc, kind, timing.target, next);
        let is_taken = match prediction.next == Some(next) {
            true => prediction.taken,
            false if self.predicts_all => next != timing.pc.wrapping_add(4),
            false => return self.mispredict(kind, prediction, cycle, memory, sink),
        };
        if is_taken {
            let bubble = self.bubble(timing);
            self.front_end.follow_taken(bubble);
        }
    }

    /// Counts a misprediction, and fetches the wrong path until the branch that issued in `cycle`
    /// resolves.
    #[inline(never)]
    fn mispredict<S: A53Sink>(
        &mut self,
        kind: BranchKind,
        prediction: Prediction,
        cycle: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        sink.see(Seen::Mispredicted);
        sink.raise(A53Event::BR_MIS_PRED, cycle, 1);
        if kind == BranchKind::Conditional {
            sink.raise(A53Event::BR_COND_MISPRED, cycle, 1);
        }
        if is_indirect(kind) {
            sink.raise(A53Event::BR_INDIRECT_MISPRED, cycle, 1);
            if prediction.next.is_some() {
                sink.raise(A53Event::BR_INDIRECT_MISPRED_ADDR, cycle, 1);
            }
        }
        if let Some(wrong) = prediction.next {
            let bubble = if prediction.taken { self.bubble_of(kind) + 1 } else { 0 };
            let (number, until) = (self.number, cycle + RESTART);
            let arrival = self.front_end.fetch_wrong_path(number, wrong, until, memory, sink);
            self.wrong_path = arrival
                .filter(|_| !self.accessed.is_empty())
                .map(|arrival| WrongPath { pc: wrong, arrival: arrival + bubble });
        }
        self.front_end.restart(cycle + RESTART);
    }

    /// Counts a branch that executes.
    #[inline]
    pub(super) fn count_prediction<S: A53Sink>(&self, kind: BranchKind, cycle: u64, sink: &mut S) {
        if kind == BranchKind::ExceptionReturn {
            return;
        }
        sink.raise(A53Event::BR_PRED, cycle, 1);
        if is_indirect(kind) {
            sink.raise(A53Event::BR_INDIRECT_SPEC, cycle, 1);
        }
        if kind == BranchKind::Conditional {
            sink.raise(A53Event::BR_COND, cycle, 1);
        }
    }

    /// Returns the cycles without a fetch after a branch that is predicted taken, and keeps it.
    fn bubble(&mut self, timing: &Timing) -> u64 {
        if std::mem::replace(&mut self.kept_branch, timing.pc) == timing.pc {
            return 0;
        }
        self.bubble_of(timing.branch)
    }

    /// Returns the cycles without a fetch after a branch that is predicted taken and not kept.
    fn bubble_of(&self, kind: BranchKind) -> u64 {
        match kind {
            BranchKind::Indirect => self.indirect_bubble,
            BranchKind::IndirectCall => self.indirect_bubble + 1,
            _ => self.taken_bubble,
        }
    }

    /// Counts what a branch counts when it retires.
    pub(super) fn retire_branch<S: A53Sink>(
        &self,
        timing: &Timing,
        next: Option<u64>,
        at: u64,
        sink: &mut S,
    ) {
        let kind = timing.branch;
        // The condition of an untaken branch failed, so that it does not write the PC.
        let is_untaken = kind == BranchKind::Conditional && next == Some(timing.pc.wrapping_add(4));
        if !is_untaken {
            sink.raise(A53Event::PC_WRITE_RETIRED, at, 1);
        }
        match kind {
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call => {
                sink.raise(A53Event::BR_IMMED_RETIRED, at, 1);
            }
            BranchKind::Return => sink.raise(A53Event::BR_RETURN_RETIRED, at, 1),
            _ => {}
        }
    }
}

fn is_indirect(kind: BranchKind) -> bool {
    matches!(kind, BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return)
}
