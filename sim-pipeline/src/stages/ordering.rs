//! Barriers and system register accesses: what they wait for, and what waits for them.

use crate::op::ExecResult;
use crate::op::Op;
use crate::pipeline::Pipeline;
use crate::stages::execute::Progress;
use sim_core::{Cycle, EventSink, MemoryPort, RootCause};
use sim_isa::{Inst, Special};

impl Pipeline {
    /// Notes a finished access for barriers, and holds younger ones behind a load-acquire.
    #[inline]
    pub(crate) fn order(&mut self, inst: &Inst, data: Cycle) {
        self.lsu.finished(data);
        if inst.mem.ordered {
            self.lsu.hold_until(data, self.path.now());
        }
    }

    /// Barriers and system register accesses.
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
