//! One instruction as the stages see it: what it is, what the run says of it, and the path that it is on.

use crate::units::frontend::FetchTiming;
use crate::units::stamp::Stamp;
use sim_core::time::NEVER;
use sim_core::{
    Cycle, Happened, InstFlags, InstId, MemReply, MemRequest, OpLife, RootCause, TraceInst,
};
use sim_isa::{Inst, Program};

/// One instruction of the right path.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The record of the stream.
    pub inst: TraceInst,
    /// Its addresses behind the first: those of the further active elements of a gather or scatter.
    pub more: &'a [u64],
    /// Program counter of the record that follows; `None` at the end of the stream.
    pub next_pc: Option<u64>,
}

/// One instruction as the stages see it.
#[derive(Clone, Copy)]
pub(crate) struct Op<'a> {
    pub(crate) id: InstId,
    pub(crate) pc: u64,
    pub(crate) inst: &'a Inst,
    /// Data address, if it has one.
    pub(crate) addr: Option<u64>,
    /// What the run says of it.
    pub(crate) flags: InstFlags,
    /// Data addresses behind the first.
    pub(crate) more: &'a [u64],
    /// Squash cycle of the wrong path it is on, [`NEVER`] on the right path.
    pub(crate) squash: Cycle,
    /// The instruction completes architecturally (false on a wrong path, or when it faults).
    pub(crate) retires: bool,
}

impl<'a> Op<'a> {
    /// The instruction of the stream.
    #[inline]
    pub(crate) fn correct_path(step: &Step<'a>, program: &'a Program) -> Op<'a> {
        let flags = step.inst.flags;
        Op {
            id: step.inst.id,
            pc: program.pc(step.inst.id),
            inst: program.inst(step.inst.id),
            addr: flags.has(InstFlags::HAS_ADDR).then_some(step.inst.addr),
            flags,
            more: step.more,
            squash: NEVER,
            retires: !flags.has(InstFlags::ABANDONED),
        }
    }

    /// Its life, but for what becomes of it at its end.
    #[inline(always)]
    pub(crate) fn life(
        &self,
        arrival: &FetchTiming,
        rename: Cycle,
        done: &ExecResult,
        retire: Cycle,
    ) -> OpLife {
        OpLife {
            inst: self.id,
            pc: self.pc,
            addr: self.addr.unwrap_or(0),
            fetch: arrival.fetch,
            front_end: arrival.at,
            rename,
            issue: done.issue,
            complete: done.complete,
            retire,
            translation_cycles: done.reply.translation_cycles,
            source: done.reply.source,
            happened: done.reply.happened,
            wrong_path: self.squash != NEVER,
            ..OpLife::default()
        }
    }
}

/// How an instruction executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExecResult {
    /// Cycle in which the first micro-operation issued.
    pub(crate) issue: Cycle,
    /// Cycle in which the last result is there.
    pub(crate) complete: Cycle,
    /// What the memory system answered.
    pub(crate) reply: MemReply,
    /// The access that a store makes when it leaves the store queue.
    pub(crate) store: Option<PendingStore>,
    /// When that access was made, and what held it until then: [`crate::units::lsu::LoadStoreUnit::last_sent`]. 0 without one.
    pub(crate) sent: Stamp,
    /// The atomic that it was.
    pub(crate) atomic: Option<MemRequest>,
    /// What it is while it executes.
    pub(crate) root: RootCause,
    /// When the older store that a load reads from had its data; 0 for none.
    pub(crate) forwarded: Stamp,
}

/// A store on its outcome to the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStore {
    /// The access.
    pub(crate) request: MemRequest,
    /// Cycle in which its address issued; loads of that cycle are compared with it.
    pub(crate) known: Cycle,
    /// When its data is there.
    pub(crate) data: Cycle,
    /// A store-release.
    pub(crate) release: bool,
}

/// True when the access ended in a data abort. A preload never does: it is dropped.
pub(crate) fn aborts(op: &Op<'_>, done: &ExecResult) -> bool {
    done.reply.happened.has(Happened::FAULT) && !op.inst.mem.op.is_preload()
}
