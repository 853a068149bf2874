//! Changes of the instruction flow after an instruction: barriers, serialization, sleep, exceptions
//! (PMU guide 4.11, 4.12).

use crate::pipeline::Pipeline;
use crate::stages::system_ops::{clear_monitor, raise_context_write};
use sim_core::{
    Cycle, EventSink, ExceptionKind, MemoryPort, Notice, OpTimeline, RootCause, StallCause,
    VirtAddr,
};
use sim_isa::{BranchKind, Inst, Special};

/// Latest cycle in which a sleep ends: three days at 2 GHz. A trace may give any length, and a
/// [`crate::units::stamp::Stamp`] holds cycles below 2^50.
const LATEST_WAKE: Cycle = 1 << 49;

/// Reason why the stream does not continue after an instruction as the architecture defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamBreak {
    /// The stream does continue.
    No,
    /// The access of the instruction failed.
    Aborted,
    /// The trace continues at another address (signal, gap).
    Discontinuity,
}

/// Instruction with effects after its retirement.
pub(crate) struct PostRetire<'a> {
    pub(crate) inst: &'a Inst,
    /// Data address of the instruction, or the value of its operand register.
    pub(crate) operand: Option<u64>,
    /// Exception that the instruction generates.
    pub(crate) generated: Option<ExceptionKind>,
    pub(crate) stream_break: StreamBreak,
    /// Address at which the stream continues.
    pub(crate) next_pc: Option<u64>,
}

impl Pipeline {
    /// Applies the effects of a completed instruction on the instruction flow.
    #[inline(never)]
    pub(crate) fn apply_post_retire<M: MemoryPort, S: EventSink>(
        &mut self,
        post_retire: &PostRetire<'_>,
        memory: &mut M,
        sink: &mut S,
    ) {
        let timeline = self.timeline;
        if self.lacks_handler(post_retire) {
            // The return of the missing handler clears the exclusive monitor, as a return in the
            // stream would.
            clear_monitor(timeline.pc, timeline.retire, memory, sink);
        }
        if timeline.retired {
            self.after_retirement(post_retire, &timeline, memory, sink);
        }
        // An exception after a sleep is taken when the sleep has ended.
        let at = timeline.retire.max(self.clocks.awake_from());
        if let Some(recorded) = self.exceptions.recorded.take() {
            return self.take_recorded_after(recorded, Some(post_retire.inst), at, sink);
        }
        if let Some(kind) = post_retire.generated {
            return self.take(kind, at, sink);
        }
        match post_retire.stream_break {
            StreamBreak::Aborted => {
                let cause = timeline.outcome.abort().unwrap_or_default();
                self.take(ExceptionKind::DataAbort(cause), at, sink);
            }
            StreamBreak::Discontinuity => self.restart(at),
            StreamBreak::No => {}
        }
    }

    /// Returns whether the core takes an exception whose handler, and its return, are not in the
    /// stream.
    fn lacks_handler(&self, post_retire: &PostRetire<'_>) -> bool {
        let excepts =
            post_retire.generated.is_some() || post_retire.stream_break == StreamBreak::Aborted;
        excepts && self.exceptions.recorded.is_none() && !self.has_handlers()
    }

    /// Applies the effects that only a retiring instruction has.
    fn after_retirement<M: MemoryPort, S: EventSink>(
        &mut self,
        post_retire: &PostRetire<'_>,
        timeline: &OpTimeline,
        memory: &mut M,
        sink: &mut S,
    ) {
        if let Some(register) = post_retire.inst.context_write {
            sink.notify(Notice::At(timeline.retire));
            raise_context_write(register, post_retire.operand, self.exceptions.privilege, sink);
        }
        match post_retire.inst.special {
            Special::ClearExclusive => clear_monitor(timeline.pc, timeline.retire, memory, sink),
            Special::DataSyncBarrier => self.hold_for(RootCause::Barrier, timeline),
            Special::SystemWrite => self.hold_for(RootCause::System, timeline),
            Special::Wait => {
                self.hold_for(RootCause::System, timeline);
                self.sleep(timeline, post_retire.operand.unwrap_or(0));
            }
            Special::InstSyncBarrier => {
                // An `ISB` retires after all older operations, so the back end is idle then.
                let at = timeline.retire + self.config.branch.isb_cycles;
                self.front.redirect(at, StallCause::FetchSerialize);
            }
            _ => {}
        }
        if post_retire.inst.branch == BranchKind::ExceptionReturn {
            // An exception return clears the local monitor (Arm ARM B2.9).
            clear_monitor(timeline.pc, timeline.retire, memory, sink);
            self.exception_return(timeline, post_retire.next_pc, sink);
        }
    }

    /// Holds rename until the serializing instruction is complete.
    fn hold_for(&mut self, root: RootCause, timeline: &OpTimeline) {
        self.rename_stage.hold_until(
            timeline.complete,
            StallCause::Serialize,
            (root, Some(timeline.inst)),
        );
    }

    /// Lets the core sleep for this number of cycles (`WFI`, `WFE`). A trace of one processor does
    /// not record the length of a sleep: its wake-up event comes at once.
    fn sleep(&mut self, timeline: &OpTimeline, cycles: Cycle) {
        if cycles == 0 {
            return;
        }
        let from = timeline.retire + 1;
        let to = from.saturating_add(cycles).min(LATEST_WAKE).max(from);
        self.clocks.sleeps(from, to);
        self.front.redirect(to, StallCause::FetchAsleep);
    }

    /// Holds rename until this cycle, because the thread waits for another thread.
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.rename_stage.hold_until(cycle, StallCause::Serialize, (RootCause::OtherThread, None));
    }

    /// Lets the core sleep until this cycle, because another processor wakes it (`WFI`, `WFE`).
    pub fn sleep_until(&mut self, cycle: Cycle) {
        let from = (self.retire.cycle() + 1).max(self.clocks.awake_from());
        let to = cycle.min(LATEST_WAKE).max(from);
        self.clocks.sleeps(from, to);
        self.front.redirect(to, StallCause::FetchAsleep);
    }

    /// Fetches on the correct path in cycle `now`, for a test that has no instruction there.
    /// Returns when the fetch is done.
    pub fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        now: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        if !pc.is_multiple_of(4) {
            // PC alignment fault: one of the exceptions that 4.11.3 counts. Nothing is fetched (Arm
            // ARM D1.3.7).
            self.take(ExceptionKind::Undefined, now.max(self.clocks.awake_from()), sink);
            return now;
        }
        let reply = memory.fetch(VirtAddr(pc), now, sink);
        if let Some(cause) = reply.outcome.abort() {
            let at = reply.done.max(self.clocks.awake_from());
            self.take(ExceptionKind::InstructionAbort(cause), at, sink);
        }
        reply.done
    }
}
