//! Completion, retirement, and stores that leave the store queue.

use crate::op::{ExecResult, Op, PendingStore};
use crate::pipeline::Pipeline;
use crate::stages::store_order::push_merged;
use crate::units::lsu::StoreTimes;
use crate::units::stamp::Stamp;
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, MemoryPort, PmuEvent};

impl Pipeline {
    /// Of an instruction that is complete, how many MOPs have not taken their entries yet: on the right path all
    /// but the last have.
    #[inline]
    pub(crate) fn mops_left(&self, op: &Op<'_>, mops: u32) -> u32 {
        if op.squash == NEVER { mops.min(1) } else { mops }
    }

    /// Completion and retirement of all MOPs: the cycle in which the last one leaves the window.
    #[inline]
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
            retired = self.retire.place(done.complete, by);
        }
        if retires {
            sink.at(retired);
            sink.raise(PmuEvent::INST_RETIRED);
            sink.count(PmuEvent::OP_RETIRED, mops.into());
        }
        retired
    }

    /// A store leaves the store queue for the cache after it has retired: the cycle in which its
    /// entry is free. `is_simple` of a store that has a [`PathClass`] of its own.
    #[inline(always)]
    pub(crate) fn store<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        is_simple: bool,
        done: &mut ExecResult,
        retired: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let Some(store) = done.store else { return retired };
        if !is_simple && op.inst.mem.scattered {
            let last = self.store_elements(&{ *op }, store, retired, memory, sink);
            done.sent = self.lsu.last_sent();
            done.reply.written(last);
            return last.done;
        }
        let PendingStore { request, known, data, release } = store;
        let release = !is_simple && release;
        let mut drain = self.lsu.drain_pieces(&request, retired, release);
        if release {
            drain = drain.max(push_merged(op.pc, drain, memory, sink));
        }
        done.sent = self.lsu.last_sent();
        let reply = memory.access(request, drain, sink);
        let mut written = reply.done.max(drain);
        if release {
            // Nor does its own line wait for other stores: who takes the lock must see it.
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
}
