//! One instruction as the stages see it: static properties, trace data, and the path it is on.

use crate::units::frontend::FetchTiming;
use crate::units::stamp::Stamp;
use sim_core::time::NEVER;
use sim_core::{
    AccessOutcome, Cycle, InstFlags, InstId, MemReply, MemRequest, OpTimeline, RootCause, TraceInst,
};
use sim_isa::{Inst, Program};

/// One correct-path instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Trace record of the instruction.
    pub inst: TraceInst,
    /// Data addresses of a gather or scatter, for all active elements after the first.
    pub more: &'a [u64],
    /// Program counter of the next record; `None` at the end of the stream.
    pub next_pc: Option<u64>,
}

/// One instruction as the stages see it.
#[derive(Clone, Copy)]
pub(crate) struct Op<'a> {
    pub(crate) id: InstId,
    pub(crate) pc: u64,
    pub(crate) inst: &'a Inst,
    /// First data address, if the instruction has one.
    pub(crate) addr: Option<u64>,
    /// Flags from the trace.
    pub(crate) flags: InstFlags,
    /// Data addresses after the first.
    pub(crate) more: &'a [u64],
    /// Squash cycle of its wrong path; [`NEVER`] on the correct path.
    pub(crate) squash: Cycle,
    /// Set if the instruction completes architecturally: not on a wrong path, and not when it
    /// faults.
    pub(crate) retires: bool,
}

impl<'a> Op<'a> {
    /// Returns the correct-path operation of one step of the stream.
    #[inline]
    pub(crate) fn correct_path(step: &Step<'a>, program: &'a Program) -> Op<'a> {
        Op::of_step(step, program.pc(step.inst.id), program.inst(step.inst.id))
    }

    /// Returns the correct-path operation of one step of the stream, the instruction `inst` at
    /// `pc`.
    #[inline(always)]
    pub(crate) fn of_step(step: &Step<'a>, pc: u64, inst: &'a Inst) -> Op<'a> {
        let flags = step.inst.flags;
        Op {
            id: step.inst.id,
            pc,
            inst,
            addr: flags.has(InstFlags::HAS_ADDR).then_some(step.inst.addr),
            flags,
            more: step.more,
            squash: NEVER,
            retires: !flags.has(InstFlags::ABANDONED),
        }
    }

    /// Returns the operation's timeline up to retirement, without its final outcome.
    #[inline(always)]
    pub(crate) fn timeline(
        &self,
        timing: &FetchTiming,
        rename: Cycle,
        done: &ExecResult,
        retire: Cycle,
    ) -> OpTimeline {
        OpTimeline {
            inst: self.id,
            pc: self.pc,
            addr: self.addr.unwrap_or(0),
            fetch: timing.fetch,
            front_end: timing.at,
            rename,
            issue: done.issue,
            complete: done.complete,
            retire,
            translation_cycles: done.reply.translation_cycles,
            source: done.reply.source,
            outcome: done.reply.outcome,
            wrong_path: self.squash != NEVER,
            ..OpTimeline::default()
        }
    }
}

/// Result of executing one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExecResult {
    /// Cycle in which the first micro-operation issued.
    pub(crate) issue: Cycle,
    /// Cycle in which the last result is ready.
    pub(crate) complete: Cycle,
    /// Reply of the memory system.
    pub(crate) reply: MemReply,
    /// Access that a store makes when it leaves the store queue.
    pub(crate) store: Option<PendingStore>,
    /// Cycle in which the store made its access, with the cause of the delay
    /// ([`crate::units::lsu::LoadStoreUnit::last_sent`]). 0 without a store.
    pub(crate) sent: Stamp,
    /// Access of an atomic.
    pub(crate) atomic: Option<MemRequest>,
    /// Root cause of stalls while the instruction executes.
    pub(crate) root: RootCause,
    /// Cycle in which the older store that a load reads from had its data; 0 without forwarding.
    pub(crate) forwarded: Stamp,
}

/// Store on its way to the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStore {
    /// Access to make.
    pub(crate) request: MemRequest,
    /// Cycle in which its address issued. Loads that issue in that cycle or later are compared with
    /// it.
    pub(crate) known: Cycle,
    /// Cycle in which its data is ready.
    pub(crate) data: Cycle,
    /// Set for a store-release.
    pub(crate) release: bool,
}

/// Returns whether the access ended in a data abort. A preload never aborts: the core drops it.
pub(crate) fn aborts(op: &Op<'_>, done: &ExecResult) -> bool {
    done.reply.outcome.has(AccessOutcome::FAULT) && !op.inst.mem.op.is_preload()
}
