//! The stage list: takes one operation through all stages, in program order.
//!
//! fetch, decode -> rename -> dispatch -> issue -> execute or memory -> complete -> retire. The order
//! of the stages lives in `Pipeline::schedule_general` and nowhere else.

use crate::fast_path::{
    DOUBLE, DOUBLE_LOAD_UPDATE, DOUBLE_STORE_UPDATE, JOINED, LOAD, LOAD_UPDATE, PLAIN, RENAMED,
    RIDING, SINGLE, STORE,
};
use crate::op::{Op, Step, aborts};
use crate::pipeline::Pipeline;
use crate::stages::events::raise_exclusive_outcome;
use crate::stages::op_report::OpOutcome;
use crate::stages::restart::{PostRetire, StreamBreak};
use crate::units::branch::Branch;
use crate::units::dispatch::RenameOutcome;
use crate::units::frontend::FetchTiming;
use crate::units::rename::EntryTimes;
use crate::units::stamp::Stamp;
use sim_core::{EventSink, InstFlags, MemoryPort, OpLife};
use sim_isa::{BranchKind, PathClass, Program, Special};

impl Pipeline {
    /// Runs one instruction of the right path, and the wrong path behind it if it is a branch that
    /// was mispredicted. Raises every event of guide sections 4.7 to 4.10 and 4.13 for it.
    pub fn run_inst<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> &OpLife {
        if S::FOLLOWS_RUN {
            self.report_privilege(sink);
            self.begun += 1;
        }
        let flags = step.inst.flags;
        let (id, pc) = (step.inst.id, program.pc(step.inst.id));
        let mut arrival = self.fetch_inst(id, pc, program, memory, sink);
        let inst = program.inst(id);
        let computes = inst.path_class == PathClass::Alu && inst.branch == BranchKind::None;
        let as_always = flags == InstFlags::default() && arrival.fault.is_none();
        if !S::FOLLOWS_RUN && computes && as_always {
            // Nothing of what follows below can happen to it.
            self.schedule(&Op::correct_path(step, program), &arrival, memory, sink);
            return &self.life;
        }
        self.order_load(step, &mut arrival, program, memory, sink);
        let mut op = Op::correct_path(step, program);
        let (branch, special) = (Branch::of(pc, op.inst), op.inst.special);
        if let (Some(cause), true) = (arrival.fault, op.retires) {
            return self.instruction_abort(&{ op }, arrival, cause, sink);
        }
        let generated = self.generates(op.inst);
        op.retires &= self.completes(generated);
        let placed = self.schedule(&op, &arrival, memory, sink);
        debug_assert!(placed, "the right path is never squashed");
        self.note_address(&op, step);
        let stream_break = if op.retires && !self.life.retired {
            StreamBreak::Aborted
        } else if flags.has(InstFlags::DISCONTINUITY) {
            StreamBreak::Elsewhere
        } else {
            StreamBreak::No
        };
        // A branch that was not completed has gone nowhere: nothing resolves, nothing is counted.
        let (operand, completes) = (op.addr, op.retires);
        let returns = branch.kind == BranchKind::ExceptionReturn;
        let resolves = branch.kind != BranchKind::None && completes && !returns;
        if S::FOLLOWS_RUN && !resolves {
            let exception = generated.is_some() || stream_break == StreamBreak::Aborted;
            let taken = returns && completes;
            let behind = OpOutcome { exception, taken, ..OpOutcome::default() };
            self.report_op(program.inst(id), flags, behind, memory, sink);
        }
        if resolves {
            let next = step.next_pc.filter(|_| stream_break == StreamBreak::No);
            self.resolve(branch, self.life.complete, next, program, memory, sink);
        }
        let ends = special != Special::None || generated.is_some();
        if ends || stream_break != StreamBreak::No || returns {
            let (inst, next_pc) = (program.inst(id), step.next_pc);
            let ending = PostRetire { inst, operand, generated, stream_break, next_pc };
            self.after(&ending, memory, sink);
        }
        if S::FOLLOWS_RUN {
            self.settle_clocks(sink);
        }
        &self.life
    }

    /// Remembers what an access of the right path touched, for guesses on wrong paths.
    #[inline(always)]
    fn note_address(&mut self, op: &Op<'_>, step: &Step<'_>) {
        let Some(addr) = op.addr else { return };
        self.addresses.learn(op.id, addr);
        if op.inst.mem.elements > 0 {
            self.last_elements.learn(op.id, step.inst, step.more);
        }
    }

    /// One instruction through all stages: false when its path was squashed before it got a slot.
    #[inline(always)]
    pub(crate) fn schedule<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        // What is handed to another function stands in memory: a copy does, so that all others stay in registers.
        if !op.flags.executes_as_always() {
            return self.schedule_general(&{ *op }, &{ *arrival }, memory, sink);
        }
        match op.inst.path_class {
            PathClass::Alu if !arrival.fused => {
                self.schedule_fast::<PLAIN, M, S>(op, arrival, memory, sink)
            }
            PathClass::Alu if !op.inst.needs_no_uop => {
                self.schedule_fast::<JOINED, M, S>(op, arrival, memory, sink)
            }
            PathClass::Alu => {
                self.schedule_fast_outlined::<RIDING, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            PathClass::Load if !arrival.fused => {
                self.schedule_fast::<LOAD, M, S>(op, arrival, memory, sink)
            }
            PathClass::LoadUpdate if !arrival.fused => self
                .schedule_fast_outlined::<LOAD_UPDATE, M, S>(&{ *op }, &{ *arrival }, memory, sink),
            PathClass::Store if !arrival.fused => {
                self.schedule_fast_outlined::<STORE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            PathClass::OneMop if !arrival.fused => {
                self.schedule_fast_outlined::<SINGLE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            PathClass::TwoMops if !arrival.fused => {
                self.schedule_fast_outlined::<DOUBLE, M, S>(&{ *op }, &{ *arrival }, memory, sink)
            }
            PathClass::TwoMopLoadUpdate if !arrival.fused => self
                .schedule_fast_outlined::<DOUBLE_LOAD_UPDATE, M, S>(
                    &{ *op },
                    &{ *arrival },
                    memory,
                    sink,
                ),
            PathClass::TwoMopStoreUpdate if !arrival.fused => self
                .schedule_fast_outlined::<DOUBLE_STORE_UPDATE, M, S>(
                    &{ *op },
                    &{ *arrival },
                    memory,
                    sink,
                ),
            PathClass::Eliminated if !arrival.fused => {
                match self.rename_stage.rename_outcome(op.inst) {
                    RenameOutcome::Eliminated => {
                        self.schedule_fast::<RENAMED, M, S>(op, arrival, memory, sink)
                    }
                    _ => self.schedule_fast::<PLAIN, M, S>(op, arrival, memory, sink),
                }
            }
            _ => self.schedule_general(&{ *op }, &{ *arrival }, memory, sink),
        }
    }

    /// The arrows of the core are the lines of this function.
    #[inline(never)]
    pub(crate) fn schedule_general<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        self.path.begin();
        let outcome = self.rename_outcome(op.inst, arrival.fused);
        let Some((rename, mops)) = self.rename(op, outcome, arrival, memory, sink) else {
            return false;
        };
        sink.at(rename);
        self.raise_speculative(op, mops, sink);
        let mut done = self.execute(op, outcome, rename, memory, sink);
        let issue = match op.inst.n_uop_groups {
            // What takes no pipe, a barrier, goes on to its unit all the same.
            0 => rename + self.config.window.rename_to_issue_cycles,
            _ => done.issue,
        };
        self.raise_issued(op, issue, sink);
        if op.inst.mem.exclusive && issue <= op.squash {
            sink.at(rename);
            raise_exclusive_outcome(op, done.reply.happened, sink);
        }
        let retires = op.retires && !aborts(op, &done);
        let retired = self.complete(op, &done, mops, retires, sink);
        let drained =
            if retires { self.store(op, false, &mut done, retired, memory, sink) } else { retired };
        let drained = Stamp::new(drained + 1, self.path.now());
        let times = EntryTimes { retired: self.free_at(op, retired + 1), sent: done.sent, drained };
        self.rename_stage.take_entries(op.inst, outcome, self.mops_left(op, mops), times);
        self.life = OpLife {
            written: if done.store.is_some() && retires { drained.cycle() - 1 } else { 0 },
            retired: retires,
            mops: mops as u8,
            ..op.life(arrival, rename, &done, retired)
        };
        true
    }
}
