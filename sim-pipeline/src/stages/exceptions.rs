//! Exceptions: where each is taken to, which events count it, which level the core is at then
//! (PMU guide 3.1.4, 4.11; decisions A27 and A42).
//!
//! An exception comes from an instruction, from a translation that failed, from an interrupt of a
//! test, or from a recorder. The first three are routed here, by `HCR_EL2` and `SCR_EL3`; a recorder
//! says itself where its exception went. A user trace has no handlers: there an exception is counted,
//! and the stream goes on where the handler returned to. Not modeled: masks (`PSTATE.DAIF`; who raises
//! an interrupt means one that is taken), controls of debug and of
//! single register groups.

use crate::op::Op;
use crate::pipeline::{Pipeline, Previous};
use crate::units::exception_state::counted_by;
use crate::units::frontend::FetchTiming;
use crate::units::recorded_exception::RecordedException;
use sim_core::{
    AbortCause, Cycle, EventSink, ExceptionControls, ExceptionKind, Happened, OpLife, PmuEvent,
    Privilege, StallCause,
};
use sim_isa::{BranchKind, Inst, Special};

/// Interrupts in the order in which they are taken, with the bit that keeps one that must wait.
const INTERRUPTS: [ExceptionKind; 5] = [
    ExceptionKind::SystemError,
    ExceptionKind::Fiq,
    ExceptionKind::Irq,
    ExceptionKind::VirtualFiq,
    ExceptionKind::VirtualIrq,
];

impl Pipeline {
    /// The program goes on at this exception level; a user trace runs at EL0.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.exceptions.privilege = privilege;
    }

    /// The stream has a kernel in it, which lies in the upper half of the addresses, as Linux does.
    pub fn set_kernel_above(&mut self) {
        self.exceptions.kernel_is_above = true;
    }

    /// The program begins anew at this exception level, with no handler to return from and no
    /// interrupt waiting.
    pub fn forget_exceptions(&mut self, privilege: Privilege) {
        self.exceptions.privilege = privilege;
        (self.exceptions.nested, self.exceptions.waiting) = (0, 0);
        self.exceptions.recorded = None;
    }

    /// Where the program runs now.
    pub fn privilege(&self) -> Privilege {
        self.exceptions.privilege
    }

    /// What routes exceptions. With `has_handlers` the stream holds their handlers: each exception
    /// changes the level, and an exception return changes it back.
    pub fn set_exceptions(&mut self, controls: ExceptionControls, has_handlers: bool) {
        self.exceptions.controls = controls;
        self.exceptions.has_handlers = has_handlers;
    }

    /// The handlers of exceptions are in the stream.
    pub(crate) fn has_handlers(&self) -> bool {
        self.exceptions.has_handlers
    }

    /// What the instruction generates, if it can generate anything at all.
    #[inline]
    pub(crate) fn generates(&self, inst: &Inst) -> Option<ExceptionKind> {
        let may = inst.special != Special::None
            || inst.branch == BranchKind::ExceptionReturn
            || inst.maintenance.is_some();
        if may { self.exceptions.generated(inst) } else { None }
    }

    /// True when an instruction that generates this, if anything, retires.
    pub(crate) fn completes(&self, generated: Option<ExceptionKind>) -> bool {
        generated.is_none_or(|kind| self.exceptions.completes(kind))
    }

    /// An interrupt becomes pending: taken behind everything that has retired, but not before `now`.
    /// One that is routed below the current level waits until the level falls.
    pub fn interrupt<S: EventSink>(
        &mut self,
        kind: ExceptionKind,
        now: Cycle,
        sink: &mut S,
    ) -> Cycle {
        if let Some(i) = INTERRUPTS.iter().position(|known| *known == kind) {
            self.exceptions.waiting |= 1 << i;
        }
        let at = self.retire.cycle().max(now);
        self.take_interrupts(at, sink);
        at
    }

    /// Takes the first pending interrupt that the current level does not hold off. A core that sleeps in cycle `at`
    /// wakes. Not modeled: an interrupt that is held off wakes it too.
    fn take_interrupts<S: EventSink>(&mut self, at: Cycle, sink: &mut S) {
        for (i, kind) in INTERRUPTS.into_iter().enumerate() {
            let level = self.exceptions.privilege.level;
            // Virtual interrupts are for guests: a host's own programs get none.
            let is_virtual = matches!(kind, ExceptionKind::VirtualIrq | ExceptionKind::VirtualFiq);
            let held = is_virtual && self.exceptions.privilege.tge;
            if self.exceptions.waiting >> i & 1 == 1
                && self.exceptions.target(kind) >= level
                && !held
            {
                self.exceptions.waiting &= !(1 << i);
                self.clocks.wakes_by(at);
                self.take(kind, at, sink);
                return;
            }
        }
    }

    /// Takes an exception in cycle `at`: counts it, changes the level, and fetches the handler.
    pub(crate) fn take<S: EventSink>(&mut self, kind: ExceptionKind, at: Cycle, sink: &mut S) {
        let to = Privilege { level: self.exceptions.target(kind), ..self.exceptions.privilege };
        self.take_to(kind, to, at, sink);
        if self.exceptions.has_handlers {
            self.exceptions.enter(to);
        }
    }

    /// Counts an exception from the current level to `to`, and restarts the front end.
    fn take_to<S: EventSink>(
        &mut self,
        kind: ExceptionKind,
        to: Privilege,
        at: Cycle,
        sink: &mut S,
    ) {
        sink.at(at);
        sink.raise(PmuEvent::EXC_TAKEN);
        if let Some(event) = counted_by(kind, self.exceptions.privilege, to) {
            sink.raise(event);
        }
        self.restart(at);
    }

    /// Takes an exception that a recorder saw, behind `inst` if there is one.
    pub(crate) fn take_recorded_behind<S: EventSink>(
        &mut self,
        recorded: RecordedException,
        inst: Option<&Inst>,
        at: Cycle,
        sink: &mut S,
    ) {
        let kind = recorded.kind(inst);
        let to = recorded.target(kind, self.exceptions.privilege);
        self.take_to(kind, to, at, sink);
        self.exceptions.enter(to);
    }

    /// An exception return that retires: `EXC_RETURN` (4.11.2), and the level that it returns to. What
    /// is behind it is fetched anew.
    pub(crate) fn exception_return<S: EventSink>(
        &mut self,
        life: &OpLife,
        next_pc: Option<u64>,
        sink: &mut S,
    ) {
        sink.at(life.retire);
        sink.raise(PmuEvent::EXC_RETURN);
        self.exceptions.leave(next_pc);
        let at = life.retire + self.config.branch.redirect_cycles;
        self.front.redirect(at, StallCause::FetchException);
        self.take_interrupts(life.retire, sink);
    }

    /// The fetch of an instruction that is reached ended in a fault: there is nothing to execute.
    pub(crate) fn instruction_abort<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        arrival: FetchTiming,
        cause: AbortCause,
        sink: &mut S,
    ) -> &OpLife {
        let taken = arrival.at.max(self.retire.cycle());
        self.previous = Previous::default();
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
        match self.exceptions.recorded.take() {
            Some(recorded) => self.take_recorded_behind(recorded, None, taken, sink),
            None => self.take(ExceptionKind::InstructionAbort(cause), taken, sink),
        }
        &self.life
    }

    /// Fetch goes on behind an exception's entry, and its return where no handler is in the stream.
    pub(crate) fn restart(&mut self, at: Cycle) {
        let at = at + self.config.execute.exception_cycles;
        self.front.redirect(at, StallCause::FetchException);
    }
}

#[cfg(test)]
mod tests;
