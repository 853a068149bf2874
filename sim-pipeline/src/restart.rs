//! What becomes of the flow behind an instruction that does not simply go on: barriers, serialization,
//! sleep, exceptions (PMU guide 4.11, 4.12).

use crate::maintain::{give_up_exclusive, raise_context_write};
use crate::pipeline::Pipeline;
use sim_core::{Cycle, EventSink, ExceptionKind, MemoryPort, OpLife, StallCause, VirtAddr};
use sim_isa::{BranchKind, Inst, Special};

/// A sleep ends by this cycle, 17 years at 2 GHz: a trace may say anything about its length, and slots and
/// clocks are counted in multiples of cycles.
const LATEST_WAKE: Cycle = 1 << 60;

/// Why the stream does not go on behind an instruction as the architecture says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreaksOff {
    /// It does go on.
    No,
    /// Its access failed.
    Aborted,
    /// The trace says that it goes on elsewhere (signal, gap).
    Elsewhere,
}

/// An instruction behind which something happens.
pub(crate) struct Ending<'a> {
    pub(crate) inst: &'a Inst,
    /// Its data address, or the value of its operand register.
    pub(crate) operand: Option<u64>,
    /// The exception that it generates.
    pub(crate) generated: Option<ExceptionKind>,
    pub(crate) breaks_off: BreaksOff,
    /// Where the stream goes on.
    pub(crate) next_pc: Option<u64>,
}

impl Pipeline {
    /// What an instruction does to the flow once it is done.
    #[inline(never)]
    pub(crate) fn after<M: MemoryPort, S: EventSink>(
        &mut self,
        ending: &Ending<'_>,
        memory: &mut M,
        sink: &mut S,
    ) {
        let life = self.life;
        if life.retired {
            self.after_retirement(ending, &life, memory, sink);
        }
        if let Some(recorded) = self.exceptions.recorded.take() {
            return self.take_recorded_behind(recorded, Some(ending.inst), life.retire, sink);
        }
        if let Some(kind) = ending.generated {
            return self.take(kind, life.retire, sink);
        }
        match ending.breaks_off {
            BreaksOff::Aborted => {
                let cause = life.happened.abort().unwrap_or_default();
                self.take(ExceptionKind::DataAbort(cause), life.retire, sink);
            }
            BreaksOff::Elsewhere => self.restart(life.retire),
            BreaksOff::No => {}
        }
    }

    /// What only an instruction that retires does.
    fn after_retirement<M: MemoryPort, S: EventSink>(
        &mut self,
        ending: &Ending<'_>,
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
            Special::DataSyncBarrier | Special::SystemWrite => {
                self.window.hold_until(life.complete, StallCause::Serialise);
            }
            Special::Wait => {
                self.window.hold_until(life.complete, StallCause::Serialise);
                self.sleep(life, ending.operand.unwrap_or(0));
            }
            Special::InstSyncBarrier => {
                let at = life.retire + self.config.branch.redirect_cycles;
                self.front.redirect(at, StallCause::FetchSerialise);
            }
            _ => {}
        }
        if ending.inst.branch == BranchKind::ExceptionReturn {
            self.exception_return(life, ending.next_pc, sink);
        }
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
        self.window.hold_until(cycle, StallCause::Serialise);
    }

    /// A fetch in `now` that is reached, where a test has no instruction for it: when it is done.
    pub fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        now: Cycle,
        memory: &mut M,
        sink: &mut S,
    ) -> Cycle {
        let reply = memory.fetch(VirtAddr(pc), now, sink);
        if let Some(cause) = reply.happened.abort() {
            self.take(ExceptionKind::InstructionAbort(cause), reply.done, sink);
        }
        reply.done
    }
}
