//! Events of an instruction itself: those that count when it is renamed, whatever becomes of it, and those that count when it
//! issues (decision A50).

use crate::elements::raise_predicate;
use crate::lsu;
use crate::op::Op;
use crate::pipeline::Pipeline;
use sim_core::{Activity, Cycle, EventSink, PmuEvent};
use sim_isa::{MemOp, StaticEvents};

impl Pipeline {
    /// An instruction with so many MOPs is executed, whatever becomes of it.
    #[inline(always)]
    pub(crate) fn raise_executed<S: EventSink>(&mut self, mops: u32, sink: &mut S) {
        sink.raise(PmuEvent::INST_SPEC);
        sink.count(PmuEvent::OP_SPEC, mops.into());
    }

    /// Events that an instruction raises when it is renamed, whatever becomes of it.
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

    /// Those of them that count elements.
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

    /// Events that an instruction raises when its first micro-operation issues in cycle `issue`; none if its path is
    /// squashed before (decision A50).
    #[inline(always)]
    pub(crate) fn raise_issued<S: EventSink>(&mut self, op: &Op<'_>, issue: Cycle, sink: &mut S) {
        if issue > op.squash {
            return;
        }
        let mut bits = op.inst.events.and(StaticEvents::AT_ISSUE).0;
        if bits != 0 {
            sink.at(issue);
        }
        while bits != 0 {
            sink.raise(StaticEvents::LIST[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
        if op.inst.mem.op != MemOp::None {
            lsu::raise_instruction_events(op, issue, sink);
        }
    }
}
