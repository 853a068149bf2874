//! Events of an instruction itself. Some count when it is renamed, even if it is squashed; others
//! count when it issues (decision A50).

use crate::op::{ExecResult, Op};
use crate::pipeline::Pipeline;
use crate::route::{Route, Slots};
use crate::stages::sve_elements::raise_predicate;
use sim_core::time::NEVER;
use sim_core::{AccessOutcome, Activity, Cycle, EventSink, InstFlags, Notice, PmuEvent};
use sim_isa::{MemOp, StaticEvents};

impl Pipeline {
    /// Counts an instruction with this number of MOPs as speculatively executed.
    #[inline(always)]
    pub(crate) fn raise_executed<S: EventSink>(&mut self, mops: u32, sink: &mut S) {
        sink.raise(PmuEvent::INST_SPEC);
        sink.count(PmuEvent::OP_SPEC, mops.into());
    }

    /// Raises the events that count when an instruction is renamed, even if it is squashed later.
    #[inline]
    pub(crate) fn raise_speculative<S: EventSink>(&mut self, op: &Op<'_>, mops: u32, sink: &mut S) {
        self.raise_executed(mops, sink);
        let mut bits = op.inst.events.without(StaticEvents::AT_ISSUE).0;
        let activity = op.flags.activity();
        if activity != Activity::All {
            bits = raise_predicate(op.inst.events, activity, mops, sink).0;
        }
        while bits != 0 {
            let i = bits.trailing_zeros() as usize;
            let n = if i < StaticEvents::PER_INST { 1 } else { mops.into() };
            sink.count(StaticEvents::LIST[i], n);
            bits &= bits - 1;
        }
        self.raise_elements(op, sink);
    }

    /// Raises the rename-time events that count floating-point element operations.
    #[inline(always)]
    pub(crate) fn raise_elements<S: EventSink>(&mut self, op: &Op<'_>, sink: &mut S) {
        if op.inst.fp_element_ops > 0 {
            let event = if op.inst.is_sve {
                PmuEvent::FP_SCALE_OPS_SPEC
            } else {
                PmuEvent::FP_FIXED_OPS_SPEC
            };
            sink.count(event, op.inst.fp_element_ops.into());
        }
    }

    /// Raises the events that count when the first micro-operation issues in cycle `issue`. Raises
    /// none if the path is squashed first (decision A50).
    #[inline(always)]
    pub(crate) fn raise_issued<S: EventSink>(&mut self, op: &Op<'_>, issue: Cycle, sink: &mut S) {
        if issue > op.squash {
            return;
        }
        let mut bits = op.inst.events.and(StaticEvents::AT_ISSUE).0;
        if bits != 0 {
            sink.notify(Notice::At(issue));
        }
        while bits != 0 {
            sink.raise(StaticEvents::LIST[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
        if op.inst.mem.op != MemOp::None {
            raise_instruction_events(op, issue, sink);
        }
    }

    /// Raises the events of [`Pipeline::raise_speculative`] and [`Pipeline::raise_issued`] as one
    /// tally (two tallies for two slots), for a sink that only counts.
    #[inline(always)]
    pub(crate) fn add_up<R: Route, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        (mops, issue): (u32, Cycle),
        sink: &mut S,
    ) {
        if op.squash != NEVER && issue > op.squash {
            return self.raise_speculative(op, mops, sink);
        }
        self.raise_executed(mops, sink);
        if R::SLOTS == Slots::Shared {
            sink.add_tally(&op.inst.tally.take(StaticEvents::PER_INST));
        } else {
            sink.add_tally(&op.inst.tally);
        }
        if R::SLOTS == Slots::Two && mops == 2 {
            sink.add_tally(&op.inst.tally.skip(StaticEvents::PER_INST));
        }
        if R::IS_ORDINARY {
            // Only the alignment events of the access can still occur.
            if op.addr.is_some_and(|addr| !op.inst.mem.is_aligned(addr)) {
                raise_instruction_events(op, issue, sink);
            }
            return;
        }
        self.raise_elements(op, sink);
        if R::MAY_ACCESS && op.inst.mem.op != MemOp::None {
            raise_instruction_events(op, issue, sink);
        }
    }

    /// Raises the events of an instruction that executed: its issue events, and the outcome of a
    /// store-exclusive.
    #[inline(always)]
    pub(crate) fn raise_at_issue<R: Route, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        rename: Cycle,
        done: &ExecResult,
        sink: &mut S,
    ) {
        let issue = match op.inst.n_uop_groups {
            // A barrier takes no pipe but still proceeds to its unit.
            0 if R::IS_GENERAL => rename + self.config.window.rename_to_issue_cycles,
            _ => done.issue,
        };
        self.raise_issued(op, issue, sink);
        let is_store_exclusive = op.inst.mem.exclusive && op.inst.mem.op == MemOp::Store;
        if R::IS_GENERAL && is_store_exclusive && issue <= op.squash {
            sink.notify(Notice::At(rename));
            raise_exclusive_outcome(op, done.reply.outcome, sink);
        }
    }
}

/// Raises the events that depend on the address of a load or store instruction: alignment (PMU
/// guide 4.8.1 to 4.8.3).
#[inline(always)]
pub(crate) fn raise_instruction_events<S: EventSink>(op: &Op<'_>, issue: Cycle, sink: &mut S) {
    let Op { inst, addr, more, .. } = *op;
    let is_store = matches!(inst.mem.op, MemOp::Store | MemOp::AtomicStore);
    let is_load = matches!(inst.mem.op, MemOp::Load | MemOp::AtomicLoad | MemOp::AtomicSwap);
    let is_unaligned = |addr: u64| !inst.mem.is_aligned(addr);
    if addr.is_some_and(is_unaligned) || more.iter().any(|addr| is_unaligned(*addr)) {
        sink.notify(Notice::At(issue));
        if is_load {
            sink.raise(PmuEvent::UNALIGNED_LD_SPEC);
        } else if is_store {
            sink.raise(PmuEvent::UNALIGNED_ST_SPEC);
        }
    }
}

/// Raises the outcome of a store-exclusive (PMU guide 4.8.5, 4.8.6). The store fails if the core
/// lost the line or if the access faulted.
pub(crate) fn raise_exclusive_outcome<S: EventSink>(
    op: &Op<'_>,
    outcome: AccessOutcome,
    sink: &mut S,
) {
    let is_store = op.inst.mem.op == MemOp::Store;
    if op.inst.mem.exclusive && is_store {
        let failed = op.flags.has(InstFlags::EXCLUSIVE_FAILED) || outcome.has(AccessOutcome::FAULT);
        sink.raise(if failed { PmuEvent::STREX_FAIL_SPEC } else { PmuEvent::STREX_PASS_SPEC });
    }
}
