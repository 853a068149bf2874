//! What stops the flow behind an instruction: barriers, serialization, exceptions (PMU guide 4.11).
//!
//! A user trace has no kernel: an exception costs a fixed restart, and the stream goes on where the
//! kernel returned to.

use crate::frontend::Arrival;
use crate::pipeline::{Op, Pipeline};
use sim_core::{Cycle, EventSink, Happened, MemoryPort, OpLife, PmuEvent, StallCause, VirtAddr};
use sim_isa::Special;

/// Why the stream does not go on behind an instruction as the architecture says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreaksOff {
    /// It does go on.
    No,
    /// The translation of its address failed; the handler is not in the trace.
    DataAbort,
    /// The trace says that it goes on elsewhere (signal, gap).
    Elsewhere,
}

impl Pipeline {
    /// What an instruction does to the flow once it is retired: restarts, barriers, exceptions.
    pub(crate) fn after<S: EventSink>(
        &mut self,
        special: Special,
        life: &OpLife,
        breaks_off: BreaksOff,
        sink: &mut S,
    ) {
        match special {
            Special::None
            | Special::DataMemoryBarrier
            | Special::SystemRead
            | Special::ClearExclusive
            | Special::Unknown => {}
            Special::DataSyncBarrier | Special::SystemWrite | Special::Wait => {
                self.window.hold_until(life.complete, StallCause::Serialise);
            }
            Special::InstSyncBarrier => {
                let at = life.retire + self.config.branch.redirect_cycles;
                self.front.redirect(at, StallCause::FetchSerialise);
            }
            Special::SupervisorCall => self.take_exception(PmuEvent::EXC_SVC, life, sink),
            Special::HypervisorCall => self.take_exception(PmuEvent::EXC_HVC, life, sink),
            Special::SecureMonitorCall => self.take_exception(PmuEvent::EXC_SMC, life, sink),
            Special::Undefined => self.take_exception(PmuEvent::EXC_UNDEF, life, sink),
        }
        match breaks_off {
            BreaksOff::DataAbort => {
                sink.raise(PmuEvent::EXC_TAKEN);
                sink.raise(PmuEvent::EXC_DABORT);
                self.restart(life);
            }
            BreaksOff::Elsewhere => self.restart(life),
            BreaksOff::No => {}
        }
    }

    /// An exception-generating instruction: the kernel behind it is not in a user trace, the stream
    /// goes on after the entry and the return.
    fn take_exception<S: EventSink>(&mut self, event: PmuEvent, life: &OpLife, sink: &mut S) {
        sink.raise(PmuEvent::PC_WRITE_SPEC);
        sink.raise(PmuEvent::EXC_TAKEN);
        sink.raise(event);
        self.restart(life);
    }

    /// The fetch of an instruction that is reached ended in a fault: there is nothing to execute.
    pub(crate) fn instruction_abort<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: Arrival,
        sink: &mut S,
    ) -> &OpLife {
        sink.raise(PmuEvent::EXC_TAKEN);
        sink.raise(PmuEvent::EXC_PABORT);
        let taken = arrival.at.max(self.retire.cycle());
        self.previous = None;
        self.life = OpLife {
            inst: op.id,
            pc: op.pc,
            fetch: arrival.fetch,
            front_end: arrival.at,
            complete: taken,
            retire: taken,
            happened: Happened::FAULT,
            ..OpLife::default()
        };
        let life = self.life;
        self.restart(&life);
        &self.life
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
        if reply.happened.has(Happened::FAULT) {
            sink.raise(PmuEvent::EXC_TAKEN);
            sink.raise(PmuEvent::EXC_PABORT);
        }
        reply.done
    }

    /// Fetch goes on behind an exception's entry and return.
    fn restart(&mut self, life: &OpLife) {
        let at = life.retire + self.config.execute.exception_cycles;
        self.front.redirect(at, StallCause::FetchException);
    }
}
