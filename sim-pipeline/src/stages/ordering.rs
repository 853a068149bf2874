//! Barriers and system register accesses: their own waits, and the waits of younger operations.

use crate::op::ExecResult;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::stages::execute::Progress;
use sim_core::{Cycle, EventSink, MemoryPort, RootCause};
use sim_isa::{Inst, Special};

impl Pipeline {
    /// Records a finished access for barriers. A load-acquire also delays the younger accesses.
    #[inline]
    pub(crate) fn finish_access(&mut self, inst: &Inst, data: Cycle) {
        self.lsu.finished(data);
        if inst.mem.ordered {
            self.lsu.hold_until(data, self.path.now());
        }
    }

    /// Executes barriers and system register accesses.
    #[inline(always)]
    pub(crate) fn run_special<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        at: &mut Progress,
        done: &mut ExecResult,
        memory: &mut M,
        sink: &mut S,
    ) {
        match op.inst.special {
            Special::None => return,
            Special::DataMemoryBarrier | Special::DataSyncBarrier => done.root = RootCause::Barrier,
            _ => done.root = RootCause::System,
        }
        match op.inst.special {
            Special::DataMemoryBarrier => {
                self.push_before_barrier(op, memory, sink);
                self.lsu.order_memory(op.inst);
            }
            Special::DataSyncBarrier => {
                self.push_before_barrier(op, memory, sink);
                if self.lsu.is_unsynchronized() {
                    let ready = at.earliest.max(at.ready.all().cycle());
                    self.synchronize(op, ready, memory, sink);
                }
                at.result = at.result.max(self.lsu.all_observed());
            }
            Special::SystemWrite => {
                let start = at.earliest.max(at.ready.all().cycle()).max(self.retire.cycle());
                at.result = at.result.max(start + self.config.execute.system_write_cycles);
                self.maintain(&{ *op }, start, at, done, memory, sink);
            }
            Special::SystemRead => {
                let start = at.earliest.max(at.ready.all().cycle());
                at.result = at.result.max(start + self.config.execute.system_read_cycles);
            }
            _ => {}
        }
    }
}
