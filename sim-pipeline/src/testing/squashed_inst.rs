//! One wrong-path instruction for directed tests: it issues, its access completes, then the path is
//! squashed.
//!
//! In a run, wrong paths come from mispredicted branches (`wrong_path`) and follow the predictors
//! and the code image. A test instead selects the instruction and needs it to complete.

use crate::op::{Op, Step};
use crate::pipeline::Pipeline;
use crate::stages::op_report::OpOutcome;
use crate::units::branch::Branch;
use sim_core::{Cycle, EventSink, InstFlags, MemoryPort, StallCause};
use sim_isa::{BranchKind, Program};

/// Cycles from the fetch to the squash: more than any access takes.
const SQUASH_CYCLES: Cycle = 4000;

impl Pipeline {
    /// Runs one instruction that is squashed after it has executed. It raises its speculative
    /// events and those of its access, and never retires. A branch resolves: it goes to `next_pc`
    /// if that is given, else as predicted. Returns the squash cycle.
    pub fn run_squashed<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let checkpoint = self.checkpoint();
        let inst = step.inst;
        let pc = program.pc(inst.id);
        let timing = self.fetch_inst((inst.id, pc, program.inst(inst.id)), program, memory, sink);
        let squash = timing.at.max(self.rename_stage.cycle()) + SQUASH_CYCLES;
        let static_inst = *program.inst(inst.id);
        let op = Op {
            id: inst.id,
            pc,
            inst: &static_inst,
            addr: inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr),
            flags: inst.flags,
            more: step.more,
            squash,
            retires: false,
        };
        // Nothing executes after a faulting fetch.
        let scheduled = timing.fault.is_none() && self.schedule(&op, &timing, memory, sink);
        if static_inst.branch != BranchKind::None {
            self.preset_wrong_path(inst.id, None, step.next_pc);
            let branch = Branch::of(pc, &static_inst);
            self.pass_branch(inst.id, branch, squash, scheduled, program, memory, sink);
        } else if scheduled {
            self.report_op(&static_inst, inst.flags, OpOutcome::default(), memory, sink);
        }
        self.squash(&checkpoint);
        let at = squash + self.config.branch.redirect_cycles;
        self.front.redirect(at, StallCause::FetchMispredict);
        squash
    }
}
