//! Stage list: takes one operation through all stages, in program order.
//!
//! fetch, decode -> rename -> dispatch -> issue -> execute or memory -> complete -> retire.
//! `run_inst` fetches; `Pipeline::schedule_by` alone orders rename to retirement. A route
//! (`route.rs`) leaves out the steps that decode has proved unnecessary.

use crate::op::{Op, Step, aborts};
use crate::pipeline::Pipeline;
use crate::route::{self, Route};
use crate::stages::op_report::OpOutcome;
use crate::stages::restart::{PostRetire, StreamBreak};
use crate::units::branch::Branch;
use crate::units::dispatch::RenameOutcome;
use crate::units::frontend::FetchTiming;
use crate::units::stamp::Stamp;
use sim_core::{AccessOutcome, EventSink, InstFlags, MemoryPort, Notice, OpTimeline};
use sim_isa::{BranchKind, PathClass, Program, Special};

impl Pipeline {
    /// Runs one correct-path instruction and, if it is a mispredicted branch, its wrong path.
    /// Raises their events (PMU guide 4.7 to 4.10, 4.13). Returns the instruction's timeline.
    pub fn run_inst<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> &OpTimeline {
        self.run_inst_inlined(step, program, memory, sink);
        &self.timeline
    }

    /// Does the same as [`Pipeline::run_inst`] inside the caller's loop, which saves the host a
    /// call for each instruction.
    #[inline(always)]
    pub fn run_inst_inlined<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        if S::OBSERVES_OPS {
            self.report_privilege(sink);
            self.begun += 1;
        }
        let flags = step.inst.flags;
        let (id, pc) = (step.inst.id, program.pc(step.inst.id));
        let inst = program.inst(id);
        let mut timing = self.fetch_inst((id, pc, inst), program, memory, sink);
        let computes = inst.path_class == PathClass::Alu && inst.branch == BranchKind::None;
        let as_always = flags == InstFlags::default() && timing.fault.is_none();
        if !S::OBSERVES_OPS && computes && as_always {
            // None of the special cases below applies to a plain computing instruction.
            self.schedule(&Op::of_step(step, pc, inst), &timing, memory, sink);
            return;
        }
        self.order_load(step, &mut timing, program, memory, sink);
        let mut op = Op::of_step(step, pc, program.inst(id));
        let (branch, special) = (Branch::of(pc, op.inst), op.inst.special);
        if let (Some(cause), true) = (timing.fault, op.retires) {
            self.instruction_abort(&{ op }, timing, cause, sink);
            return;
        }
        let generated = self.generates(op.inst);
        op.retires &= self.completes(generated);
        let scheduled = self.schedule(&op, &timing, memory, sink);
        debug_assert!(scheduled, "the correct path is never squashed");
        self.note_address(&op, step);
        let stream_break = if op.retires && !self.timeline.retired {
            StreamBreak::Aborted
        } else if flags.has(InstFlags::DISCONTINUITY) {
            StreamBreak::Discontinuity
        } else {
            StreamBreak::No
        };
        // A branch that did not complete has no target: it does not resolve and raises no event.
        let (operand, completes) = (op.addr, op.retires);
        let returns = branch.kind == BranchKind::ExceptionReturn;
        let resolves = branch.kind != BranchKind::None && completes && !returns;
        if S::OBSERVES_OPS && !resolves {
            let exception = generated.is_some() || stream_break == StreamBreak::Aborted;
            let taken = returns && completes;
            let outcome = OpOutcome { exception, taken, ..OpOutcome::default() };
            self.report_op(program.inst(id), flags, outcome, memory, sink);
        }
        if resolves {
            let next = step.next_pc.filter(|_| stream_break == StreamBreak::No);
            self.resolve(branch, self.timeline.complete, next, program, memory, sink);
        }
        let ends = special != Special::None || generated.is_some();
        if ends || stream_break != StreamBreak::No || returns {
            let (inst, next_pc) = (program.inst(id), step.next_pc);
            let post_retire = PostRetire { inst, operand, generated, stream_break, next_pc };
            self.apply_post_retire(&post_retire, memory, sink);
        }
        if S::OBSERVES_OPS {
            self.settle_clocks(sink);
        }
    }

    /// Stores the address of a correct-path access, to predict addresses on wrong paths.
    #[inline(always)]
    fn note_address(&mut self, op: &Op<'_>, step: &Step<'_>) {
        let Some(addr) = op.addr else { return };
        self.addresses.learn(op.id, addr);
        if op.inst.mem.elements > 0 {
            self.last_elements.learn(op.id, step.inst, step.more);
        }
    }

    /// Schedules one instruction through all stages by the route of its class. Returns `false` if
    /// its path was squashed before the instruction got a slot.
    ///
    /// The frequent routes are inlined, so that stage results stay in registers. The rare routes
    /// are separate functions, because all routes together do not fit the host's L1 instruction
    /// cache. Separate functions receive copies: a reference would force the originals to memory on
    /// the inlined routes too.
    #[inline(always)]
    pub(crate) fn schedule<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        timing: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        let is_fused = timing.fused;
        let class = match op.flags.executes_as_always() {
            true => op.inst.path_class,
            false => PathClass::General,
        };
        match class {
            PathClass::Alu if !is_fused => {
                self.schedule_by::<route::Alu, M, S>(op, timing, memory, sink)
            }
            PathClass::Alu if !op.inst.needs_no_uop => {
                self.schedule_by::<route::FusedAlu, M, S>(op, timing, memory, sink)
            }
            PathClass::Alu => {
                self.schedule_outlined::<route::FusedNoUop, M, S>(*op, *timing, memory, sink)
            }
            _ if is_fused => {
                self.schedule_outlined::<route::General, M, S>(*op, *timing, memory, sink)
            }
            PathClass::Load => self.schedule_by::<route::Load, M, S>(op, timing, memory, sink),
            PathClass::Eliminated => match self.rename_stage.rename_outcome(op.inst) {
                RenameOutcome::Eliminated => {
                    self.schedule_by::<route::Eliminated, M, S>(op, timing, memory, sink)
                }
                _ => self.schedule_by::<route::Alu, M, S>(op, timing, memory, sink),
            },
            PathClass::LoadUpdate => {
                self.schedule_outlined::<route::LoadUpdate, M, S>(*op, *timing, memory, sink)
            }
            PathClass::Store => {
                self.schedule_outlined::<route::Store, M, S>(*op, *timing, memory, sink)
            }
            PathClass::TwoMopStoreUpdate => {
                self.schedule_outlined::<route::TwoMopStoreUpdate, M, S>(*op, *timing, memory, sink)
            }
            PathClass::General => {
                self.schedule_outlined::<route::General, M, S>(*op, *timing, memory, sink)
            }
        }
    }

    /// Runs [`Pipeline::schedule_by`] as a separate function.
    #[inline(never)]
    pub(crate) fn schedule_outlined<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: Op<'_>,
        timing: FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        self.schedule_by::<R, M, S>(&op, &timing, memory, sink)
    }

    /// Stage list: rename, execute, retire, store, each with the events of its cycle. The route `R`
    /// leaves out unnecessary steps. Returns `false` if the path was squashed first.
    #[inline(always)]
    fn schedule_by<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        timing: &FetchTiming,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        debug_assert!(R::holds_for(op.inst), "{:?}", op.inst.path_class);
        self.path.begin();
        let outcome = match R::IS_GENERAL {
            true => self.rename_outcome(op.inst, timing.fused),
            false => R::outcome(),
        };
        // The answer holds until this instruction takes its entries, because no other one takes any
        // before. Only routes of one slot use it then.
        let has_entries = self.rename_stage.has_entries(op.inst, outcome);
        let entries = (outcome, has_entries);
        let Some((rename, mops)) = self.rename::<R, M, S>(op, entries, timing, memory, sink) else {
            return false;
        };
        sink.notify(Notice::At(rename));
        let in_one_piece = S::COUNTS_ONLY && !R::IS_GENERAL;
        if !in_one_piece {
            self.raise_speculative(op, mops, sink);
        }
        let mut done = self.execute::<R, M, S>(op, outcome, rename, memory, sink);
        if in_one_piece {
            self.add_up::<R, S>(op, (mops, done.issue), sink);
        } else {
            self.raise_at_issue::<R, S>(op, rename, &done, sink);
        }
        let faults = match R::IS_ORDINARY {
            true => done.reply.outcome.has(AccessOutcome::FAULT),
            false => R::MAY_ACCESS && aborts(op, &done),
        };
        let retires = op.retires && !faults;
        let retired = self.complete(op, &done, mops, retires, sink);
        let stores = R::MAY_STORE && retires && done.store.is_some();
        let drained = match stores {
            true => self.store::<R, M, S>(op, &mut done, retired, memory, sink),
            false => retired,
        };
        let store = (done.sent, Stamp::new(drained + 1, self.path.now()));
        self.take_entries::<R>(op, entries, mops, retired, store);
        let written = if stores { drained } else { 0 };
        if in_one_piece {
            self.note_end::<R>(op, &done, retires, retired);
        } else {
            let timeline = op.timeline(timing, rename, &done, retired);
            self.timeline = OpTimeline { mops: mops as u8, written, retired: retires, ..timeline };
        }
        true
    }
}
