//! Exceptions: the target level of each, the events that count it, and the level of the core
//! afterwards (PMU guide 3.1.4, 4.11; decisions A27 and A42).
//!
//! An exception comes from an instruction, a failed translation, an interrupt that a test raises,
//! or a recorder. The core routes the first three by `HCR_EL2` and `SCR_EL3`; the recorder gives
//! the target of the last. A user trace has no handlers: its exceptions are counted, and the stream
//! continues where the handler returned. Not modeled: masks (`PSTATE.DAIF`), debug controls, and
//! controls of single register groups. Without masks, a raised interrupt is always taken.

use crate::op::Op;
use crate::pipeline::{FusionLead, Pipeline};
use crate::units::exception_state::counted_by;
use crate::units::frontend::FetchTiming;
use crate::units::recorded_exception::RecordedException;
use sim_core::{
    AbortCause, AccessOutcome, Cycle, EventSink, ExceptionControls, ExceptionKind, Notice,
    OpTimeline, PmuEvent, Privilege, StallCause,
};
use sim_isa::{BranchKind, Inst, Special};

/// Interrupts by descending priority. The index of an interrupt is its bit in
/// [`ExceptionState::waiting`].
const INTERRUPTS: [ExceptionKind; 5] = [
    ExceptionKind::SystemError,
    ExceptionKind::Fiq,
    ExceptionKind::Irq,
    ExceptionKind::VirtualFiq,
    ExceptionKind::VirtualIrq,
];

impl Pipeline {
    /// Sets the exception level of the program. A user trace runs at EL0.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.exceptions.privilege = privilege;
    }

    /// Marks the stream as one with a kernel. The kernel runs in the upper half of the addresses,
    /// as Linux does.
    pub fn set_kernel_above(&mut self) {
        self.exceptions.kernel_is_above = true;
    }

    /// Restarts the program at this exception level, with no handler to return from and no pending
    /// interrupt.
    pub fn reset_exceptions(&mut self, privilege: Privilege) {
        self.exceptions.privilege = privilege;
        (self.exceptions.nested, self.exceptions.waiting) = (0, 0);
        self.exceptions.recorded = None;
    }

    /// Returns the exception level of the program.
    pub fn privilege(&self) -> Privilege {
        self.exceptions.privilege
    }

    /// Sets the controls that route exceptions. With `has_handlers`, the stream contains their
    /// handlers: each exception changes the level, and an exception return changes it back.
    pub fn set_exceptions(&mut self, controls: ExceptionControls, has_handlers: bool) {
        self.exceptions.controls = controls;
        self.exceptions.has_handlers = has_handlers;
    }

    /// Returns whether the stream contains the exception handlers.
    pub(crate) fn has_handlers(&self) -> bool {
        self.exceptions.has_handlers
    }

    /// Returns the exception that the instruction generates, if any.
    #[inline]
    pub(crate) fn generates(&self, inst: &Inst) -> Option<ExceptionKind> {
        let may = inst.special != Special::None
            || inst.branch == BranchKind::ExceptionReturn
            || inst.maintenance.is_some();
        if may { self.exceptions.generated(inst) } else { None }
    }

    /// Returns whether an instruction retires if it generates this exception, or none.
    pub(crate) fn completes(&self, generated: Option<ExceptionKind>) -> bool {
        generated.is_none_or(|kind| self.exceptions.completes(kind))
    }

    /// Makes an interrupt pending. The core takes it after all operations that have retired, and
    /// not before `now`. An interrupt routed below the current level waits until the level falls.
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

    /// Takes the first pending interrupt that the current level does not hold off. A core that
    /// sleeps in cycle `at` wakes. Not modeled: an interrupt that is held off also wakes the core.
    fn take_interrupts<S: EventSink>(&mut self, at: Cycle, sink: &mut S) {
        for (i, kind) in INTERRUPTS.into_iter().enumerate() {
            let level = self.exceptions.privilege.level;
            // Virtual interrupts go to guests; a program of the host receives none.
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
        sink.notify(Notice::At(at));
        sink.raise(PmuEvent::EXC_TAKEN);
        if let Some(event) = counted_by(kind, self.exceptions.privilege, to) {
            sink.raise(event);
        }
        self.restart(at);
    }

    /// Takes a recorded exception, after `inst` if there is one.
    pub(crate) fn take_recorded_after<S: EventSink>(
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

    /// Performs an exception return that retires: raises `EXC_RETURN` (4.11.2) and restores the
    /// level. The front end refetches the younger instructions.
    pub(crate) fn exception_return<S: EventSink>(
        &mut self,
        timeline: &OpTimeline,
        next_pc: Option<u64>,
        sink: &mut S,
    ) {
        sink.notify(Notice::At(timeline.retire));
        sink.raise(PmuEvent::EXC_RETURN);
        self.exceptions.leave(next_pc);
        let at = timeline.retire + self.config.branch.redirect_cycles;
        self.front.redirect(at, StallCause::FetchException);
        self.take_interrupts(timeline.retire, sink);
    }

    /// Handles a correct-path fetch that ended in a fault. No instruction executes.
    pub(crate) fn instruction_abort<S: EventSink>(
        &mut self,
        op: &Op<'_>,
        timing: FetchTiming,
        cause: AbortCause,
        sink: &mut S,
    ) -> &OpTimeline {
        let taken = timing.at.max(self.retire.cycle());
        self.fusion_lead = FusionLead::default();
        self.timeline = OpTimeline {
            inst: op.id,
            pc: op.pc,
            fetch: timing.fetch,
            front_end: timing.at,
            complete: taken,
            retire: taken,
            outcome: AccessOutcome::FAULT,
            ..OpTimeline::default()
        };
        match self.exceptions.recorded.take() {
            Some(recorded) => self.take_recorded_after(recorded, None, taken, sink),
            None => self.take(ExceptionKind::InstructionAbort(cause), taken, sink),
        }
        &self.timeline
    }

    /// Restarts fetch after the entry of an exception, and after its return if the stream contains
    /// no handler.
    pub(crate) fn restart(&mut self, at: Cycle) {
        let at = at + self.config.execute.exception_cycles;
        self.front.redirect(at, StallCause::FetchException);
    }
}

#[cfg(test)]
mod tests;
