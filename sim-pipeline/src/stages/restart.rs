//! What becomes of the flow behind an instruction that does not simply go on: barriers, serialization,
//! sleep, exceptions (PMU guide 4.11, 4.12).

use crate::pipeline::Pipeline;
use crate::stages::system_ops::{give_up_exclusive, raise_context_write};
use sim_core::{
    Cycle, EventSink, ExceptionKind, MemoryPort, OpLife, RootCause, StallCause, VirtAddr,
};
use sim_isa::{BranchKind, Inst, Special};

/// A sleep ends by this cycle, three days at 2 GHz: a trace may say anything about its length, and a
/// [`crate::units::stamp::Stamp`] holds cycles below 2^50.
const LATEST_WAKE: Cycle = 1 << 49;

/// Why the stream does not go on behind an instruction as the architecture says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamBreak {
    /// It does go on.
    No,
    /// Its access failed.
    Aborted,
    /// The trace says that it goes on elsewhere (signal, gap).
    Elsewhere,
}

/// An instruction behind which something happens.
pub(crate) struct PostRetire<'a> {
    pub(crate) inst: &'a Inst,
    /// Its data address, or the value of its operand register.
    pub(crate) operand: Option<u64>,
    /// The exception that it generates.
    pub(crate) generated: Option<ExceptionKind>,
    pub(crate) stream_break: StreamBreak,
    /// Where the stream goes on.
    pub(crate) next_pc: Option<u64>,
}

impl Pipeline {
    /// What an instruction does to the flow once it is done.
    #[inline(never)]
    pub(crate) fn after<M: MemoryPort, S: EventSink>(
        &mut self,
        ending: &PostRetire<'_>,
        memory: &mut M,
        sink: &mut S,
    ) {
        let life = self.life;
        if self.is_left_unseen(ending) {
            // The return of a handler that is not in the stream gives the line up, as one that is does.
            give_up_exclusive(life.pc, life.retire, memory, sink);
        }
        if life.retired {
            self.after_retirement(ending, &life, memory, sink);
        }
        // An exception after a sleep is taken when the sleep has ended.
        let at = life.retire.max(self.clocks.awake_from());
        if let Some(recorded) = self.exceptions.recorded.take() {
            return self.take_recorded_behind(recorded, Some(ending.inst), at, sink);
        }
        if let Some(kind) = ending.generated {
            return self.take(kind, at, sink);
        }
        match ending.stream_break {
            StreamBreak::Aborted => {
                let cause = life.happened.abort().unwrap_or_default();
                self.take(ExceptionKind::DataAbort(cause), at, sink);
            }
            StreamBreak::Elsewhere => self.restart(at),
            StreamBreak::No => {}
        }
    }

    /// An exception is taken whose handler, and with it the return from there, is not in the stream.
    fn is_left_unseen(&self, ending: &PostRetire<'_>) -> bool {
        let excepts = ending.generated.is_some() || ending.stream_break == StreamBreak::Aborted;
        excepts && self.exceptions.recorded.is_none() && !self.has_handlers()
    }

    /// What only an instruction that retires does.
    fn after_retirement<M: MemoryPort, S: EventSink>(
        &mut self,
        ending: &PostRetire<'_>,
        life: &OpLife,
        memory: &mut M,
        sink: &mut S,
    ) {
        if let Some(register) = ending.inst.context_write {
            sink.at(life.retire);
            raise_context_write(register, ending.operand, self.exceptions.privilege, sink);
        }
        match ending.inst.special {
            Special::ClearExclusive => give_up_exclusive(life.pc, life.retire, memory, sink),
            Special::DataSyncBarrier => self.hold_for(RootCause::Barrier, life),
            Special::SystemWrite => self.hold_for(RootCause::System, life),
            Special::Wait => {
                self.hold_for(RootCause::System, life);
                self.sleep(life, ending.operand.unwrap_or(0));
            }
            Special::InstSyncBarrier => {
                // It retires as the last of all before it: the back end is idle then.
                let at = life.retire + self.config.branch.isb_cycles;
                self.front.redirect(at, StallCause::FetchSerialise);
            }
            _ => {}
        }
        if ending.inst.branch == BranchKind::ExceptionReturn {
            // An exception return clears the local monitor (Arm ARM B2.9).
            give_up_exclusive(life.pc, life.retire, memory, sink);
            self.exception_return(life, ending.next_pc, sink);
        }
    }

    /// Nothing is renamed before the serializing instruction is complete.
    fn hold_for(&mut self, root: RootCause, life: &OpLife) {
        self.rename_stage.hold_until(life.complete, StallCause::Serialise, (root, Some(life.inst)));
    }

    /// `WFI` and `WFE`: the core sleeps so many cycles. A trace does not know how long, so that there its
    /// event comes at once.
    fn sleep(&mut self, life: &OpLife, cycles: Cycle) {
        if cycles == 0 {
            return;
        }
        let from = life.retire + 1;
        let to = from.saturating_add(cycles).min(LATEST_WAKE).max(from);
        self.clocks.sleeps(from, to);
        self.front.redirect(to, StallCause::FetchAsleep);
    }

    /// No instruction is renamed before this cycle: the thread waits for another one.
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.rename_stage.hold_until(cycle, StallCause::Serialise, (RootCause::OtherThread, None));
    }

    /// A fetch in `now` that is reached, where a test has no instruction for it: when it is done.
    pub fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        now: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        if !pc.is_multiple_of(4) {
            // PC alignment fault: one of those that 4.11.3 counts; nothing is fetched (Arm ARM D1.3.7).
            self.take(ExceptionKind::Undefined, now.max(self.clocks.awake_from()), sink);
            return now;
        }
        let reply = memory.fetch(VirtAddr(pc), now, sink);
        if let Some(cause) = reply.happened.abort() {
            let at = reply.done.max(self.clocks.awake_from());
            self.take(ExceptionKind::InstructionAbort(cause), at, sink);
        }
        reply.done
    }
}
