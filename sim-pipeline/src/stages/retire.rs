//! Completion, retirement, and the stores that leave the store queue.

use crate::op::{ExecResult, Op, PendingStore};
use crate::pipeline::Pipeline;
use crate::route::{Route, Slots};
use crate::stages::store_order::push_merged;
use crate::units::dispatch::RenameOutcome;
use crate::units::lsu::StoreTimes;
use crate::units::rename::StoreWait;
use crate::units::stamp::Stamp;
use sim_core::time::NEVER;
use sim_core::{AccessOutcome, Cycle, EventSink, MemoryPort, Notice, PmuEvent};

impl Pipeline {
    /// Returns how many MOPs of a complete instruction have not taken their entries yet. On the
    /// correct path, only the last one has not.
    #[inline]
    pub(crate) fn mops_left(&self, op: &Op<'_>, mops: u32) -> u32 {
        if op.squash == NEVER { mops.min(1) } else { mops }
    }

    /// Completes and retires all MOPs. Returns the cycle in which the last one retires.
    #[inline(always)]
    pub(crate) fn complete<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        done: &ExecResult,
        mops: u32,
        retires: bool,
        sink: &mut S,
    ) -> Cycle {
        if op.squash != NEVER {
            return op.squash;
        }
        let by = self.path.now();
        let mut retired = if mops == 0 { self.retire.wait(done.complete, by) } else { 0 };
        for mop in 0..mops {
            if mop > 0 {
                self.rename_stage.take_bare_mop(self.retire.stamp(retired + 1));
            }
            retired = self.retire.assign(done.complete, by);
        }
        if retires {
            sink.notify(Notice::At(retired));
            sink.raise(PmuEvent::INST_RETIRED);
            sink.count(PmuEvent::OP_RETIRED, mops.into());
        }
        retired
    }

    /// Sends a retired store from the store queue to the cache. Returns the cycle in which its
    /// entry is free.
    #[inline(always)]
    pub(crate) fn store<R: Route, M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        done: &mut ExecResult,
        retired: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let Some(store) = done.store else { return retired };
        if !R::IS_ORDINARY && op.inst.mem.scattered {
            let last = self.store_elements(&{ *op }, store, retired, memory, sink);
            done.sent = self.lsu.last_sent();
            done.reply.written(last);
            return last.done;
        }
        let PendingStore { request, known, data, release } = store;
        let release = !R::IS_ORDINARY && release;
        let mut drain = self.lsu.drain_pieces(&request, retired, release);
        if release {
            drain = drain.max(push_merged(op.pc, drain, memory, sink));
        }
        done.sent = self.lsu.last_sent();
        let reply = memory.access(request, drain, sink);
        let mut written = reply.done.max(drain);
        if release {
            // The line of the release does not wait for other stores either: the next owner of the
            // lock must see it.
            written = written.max(push_merged(op.pc, written, memory, sink));
        }
        done.reply.written(reply);
        let data = Stamp::new(data, self.path.now());
        let times = StoreTimes { known, data, drained: written };
        self.lsu.stored(request.addr.0, request.bytes.into(), times);
        if release {
            self.lsu.released(written);
        }
        written
    }

    /// Takes the entries that the instruction holds until it has retired. A store is sent in `sent`
    /// and holds its store queue entry until `free`.
    #[inline(always)]
    pub(crate) fn take_entries<R: Route>(
        &mut self,
        op: &Op<'_>,
        (outcome, has_entries): (RenameOutcome, bool),
        mops: u32,
        retired: Cycle,
        (sent, free): (Stamp, Stamp),
    ) {
        let retired = self.free_at(op, retired + 1);
        if R::MAY_STORE && op.inst.stores && outcome == RenameOutcome::Dispatched {
            self.rename_stage.take_store(StoreWait { free, sent, retired });
        }
        if R::SLOTS == Slots::One {
            self.rename_stage.take_mop(has_entries, (op.inst, outcome), retired);
        } else {
            let left = self.mops_left(op, mops);
            self.rename_stage.take_mops(op.inst, outcome, left, retired);
        }
    }

    /// Keeps only the fields of the timeline that the core reads back, when no sink observes
    /// operations.
    #[inline(always)]
    pub(crate) fn note_end<R: Route>(
        &mut self,
        op: &Op<'_>,
        done: &ExecResult,
        retires: bool,
        retired: Cycle,
    ) {
        let timeline = &mut self.timeline;
        timeline.complete = done.complete;
        if op.squash != NEVER {
            // On a wrong path, only branches read the timeline: their issue and their resolution.
            timeline.issue = done.issue;
            return;
        }
        (timeline.pc, timeline.retire, timeline.retired) = (op.pc, retired, retires);
        timeline.outcome =
            if R::MAY_ACCESS { done.reply.outcome } else { AccessOutcome::default() };
    }
}
