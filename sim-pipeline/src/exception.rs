//! Exceptions: where each is taken to, which events count it, which level the core is at then
//! (PMU guide 3.1.4, 4.11; decisions A27 and A42).
//!
//! An exception comes from an instruction, from a translation that failed, from an interrupt of a
//! test, or from a recorder. The first three are routed here, by `HCR_EL2` and `SCR_EL3`; a recorder
//! says itself where its exception went. A user trace has no handlers: there an exception is counted,
//! and the stream goes on where the handler returned to. Not modeled: masks (`PSTATE.DAIF`; who raises
//! an interrupt means one that is taken), controls of debug and of
//! single register groups.

use crate::frontend::Arrival;
use crate::op::Op;
use crate::pipeline::{Pipeline, Previous};
use crate::recorded::RecordedException;
use sim_core::exception::{hcr_el2, scr_el3};
use sim_core::{
    AbortCause, Cycle, EventSink, ExceptionControls, ExceptionKind, Happened, OpLife, PmuEvent,
    Privilege, StallCause,
};
use sim_isa::{BankName, BranchKind, ContextWrite, Inst, Special};

/// How many exceptions inside one another the core finds its way back from; the oldest is forgotten.
const MAX_NESTED: usize = 16;

/// Interrupts in the order in which they are taken, with the bit that keeps one that must wait.
const INTERRUPTS: [ExceptionKind; 5] = [
    ExceptionKind::SystemError,
    ExceptionKind::Fiq,
    ExceptionKind::Irq,
    ExceptionKind::VirtualFiq,
    ExceptionKind::VirtualIrq,
];

/// The level of the core, and what decides the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExceptionState {
    /// Where the program runs.
    pub(crate) privilege: Privilege,
    controls: ExceptionControls,
    /// The handlers are in the stream: an exception changes the level until it is returned from.
    has_handlers: bool,
    /// The stream has a kernel in the upper half of the addresses, and programs in the lower half.
    kernel_is_above: bool,
    /// Where the handlers return to, as their software would have saved it.
    returns: [Privilege; MAX_NESTED],
    nested: usize,
    /// Interrupts that are routed below the current level, by their place in [`INTERRUPTS`].
    waiting: u8,
    /// What the recorder says about the exception behind the next instruction.
    pub(crate) recorded: Option<RecordedException>,
}

impl ExceptionState {
    /// `HCR_EL2` holds for the program: EL2 exists in its security state.
    fn has_el2(&self) -> bool {
        !self.privilege.secure || self.controls.monitor(scr_el3::EEL2)
    }

    /// A control of EL2 that concerns the levels below it is set.
    fn hypervisor_wants(&self, bit: u64) -> bool {
        self.privilege.level < 2 && self.has_el2() && self.controls.hypervisor(bit)
    }

    /// Level of an exception that no control routes: EL1, or the host of EL0, and never below the
    /// level it comes from.
    fn own_level(&self) -> u8 {
        let host = self.privilege.level == 0 && self.privilege.tge && self.has_el2();
        if host { 2 } else { self.privilege.level.max(1) }
    }

    /// Level of an interrupt or an SError: EL3, EL2 or EL1 in this order of their controls.
    fn interrupt_level(&self, monitor: u64, hypervisor: u64) -> u8 {
        let to_el2 = self.privilege.tge || self.controls.hypervisor(hypervisor);
        match () {
            () if self.controls.monitor(monitor) => 3,
            () if self.has_el2() && to_el2 => 2,
            () => 1,
        }
    }

    /// The level that `kind` is taken to.
    fn target(&self, kind: ExceptionKind) -> u8 {
        use ExceptionKind::*;
        let own = self.own_level();
        match kind {
            SupervisorCall | Breakpoint | Undefined => own,
            HypervisorCall => own.max(2),
            SecureMonitorCall if self.hypervisor_wants(hcr_el2::TSC) => 2,
            SecureMonitorCall => 3,
            Trap => 2,
            InstructionAbort(cause) | DataAbort(cause) => match cause {
                AbortCause::External if self.controls.monitor(scr_el3::EA) => 3,
                AbortCause::External if self.hypervisor_wants(hcr_el2::TEA) => 2,
                // Stage 2 translates for EL0 and EL1 alone.
                AbortCause::Stage2 => own.max(2),
                AbortCause::External | AbortCause::Stage1 => own,
            },
            SystemError => self.interrupt_level(scr_el3::EA, hcr_el2::AMO),
            Irq => self.interrupt_level(scr_el3::IRQ, hcr_el2::IMO),
            Fiq => self.interrupt_level(scr_el3::FIQ, hcr_el2::FMO),
            VirtualIrq | VirtualFiq => 1,
        }
    }

    /// True when the instruction that generates `kind` is complete: its handler returns behind it. A
    /// call that `HCR_EL2.TSC` traps is executed again.
    fn completes(&self, kind: ExceptionKind) -> bool {
        let trapped =
            kind == ExceptionKind::SecureMonitorCall && self.hypervisor_wants(hcr_el2::TSC);
        kind.completes() && !trapped
    }

    /// True for a system register or operation that does not exist at this level: reads, writes, `TLBI`,
    /// `AT`, `DC`, `IC` (Arm ARM, "op1 encodings used to access System registers by Exception level").
    fn is_above(&self, inst: &Inst) -> bool {
        let level = self.privilege.level;
        match inst.word >> 16 & 7 {
            0..=2 => level < 1,
            3 => false,
            4 => level < 2,
            // `..._EL12` and `..._EL02`: of a host alone.
            5 => level < 2 || !self.privilege.e2h,
            _ => level < 3,
        }
    }

    /// The exception that the instruction generates instead of, or by, being executed.
    fn generated(&self, inst: &Inst) -> Option<ExceptionKind> {
        use ExceptionKind::{
            Breakpoint, HypervisorCall, SecureMonitorCall, SupervisorCall, Trap, Undefined,
        };
        let level = self.privilege.level;
        let trapped = |bit| self.hypervisor_wants(bit).then_some(Trap);
        match inst.special {
            Special::SupervisorCall => Some(SupervisorCall),
            Special::HypervisorCall => {
                let defined = level > 0
                    && (level == 3 || self.has_el2())
                    && !self.controls.hypervisor(hcr_el2::HCD);
                Some(if defined { HypervisorCall } else { Undefined })
            }
            Special::SecureMonitorCall => {
                let trapped = self.hypervisor_wants(hcr_el2::TSC);
                let defined = level > 0 && (trapped || !self.controls.monitor(scr_el3::SMD));
                Some(if defined { SecureMonitorCall } else { Undefined })
            }
            Special::Breakpoint => Some(Breakpoint),
            Special::Undefined => Some(Undefined),
            Special::Wait if waits_for_interrupt(inst) => trapped(hcr_el2::TWI),
            Special::Wait => trapped(hcr_el2::TWE),
            Special::SystemWrite | Special::SystemRead if is_of_implementation(inst) => {
                trapped(hcr_el2::TIDCP)
            }
            // What a trace says was executed, was: the level at which it begins may be a guess.
            Special::SystemWrite | Special::SystemRead
                if self.has_handlers && self.is_above(inst) =>
            {
                Some(Undefined)
            }
            _ if inst.maintenance.is_some() && self.has_handlers && self.is_above(inst) => {
                Some(Undefined)
            }
            Special::SystemWrite if level == 1 && writes_translation(inst) => trapped(hcr_el2::TVM),
            _ if inst.branch == BranchKind::ExceptionReturn && level == 0 => Some(Undefined),
            _ => None,
        }
    }

    /// The handler begins at `to`.
    fn enter(&mut self, to: Privilege) {
        if self.nested == MAX_NESTED {
            self.returns.rotate_left(1);
            self.nested -= 1;
        }
        self.returns[self.nested] = self.privilege;
        self.nested += 1;
        self.privilege = to;
    }

    /// An exception return: back to where the handler was entered from. One that was entered before the
    /// stream began served a program of the level below, or of EL0 if it is local. A kernel may have
    /// changed to another thread meanwhile, so the half in which the stream goes on has the last word.
    pub(crate) fn leave(&mut self, next_pc: Option<u64>) {
        let told = next_pc.filter(|_| self.kernel_is_above && self.privilege.level == 1);
        if self.nested > 0 {
            self.nested -= 1;
            self.privilege = self.returns[self.nested];
        } else {
            let local = self.privilege.is_local();
            let level = if local { 0 } else { self.privilege.level.saturating_sub(1) };
            self.privilege.level = level;
        }
        if let Some(pc) = told {
            self.privilege.level = (pc >> 63) as u8;
        }
    }
}

/// The event that counts an exception besides `EXC_TAKEN`, if one does: one row for each of guide
/// 4.11.3 to 4.11.15. Calls that are not taken where they belong count nowhere (A27, A42).
fn counted_by(kind: ExceptionKind, from: Privilege, to: Privilege) -> Option<PmuEvent> {
    use ExceptionKind::*;
    use PmuEvent::*;
    let (local, elsewhere) = match kind {
        SupervisorCall => return to.is_local().then_some(EXC_SVC),
        HypervisorCall => return (to.level == 2).then_some(EXC_HVC),
        SecureMonitorCall => return (to.level == 3).then_some(EXC_SMC),
        Fiq if from.level == 3 => return Some(EXC_FIQ),
        Breakpoint | Undefined | Trap => (EXC_UNDEF, EXC_TRAP_OTHER),
        InstructionAbort(_) => (EXC_PABORT, EXC_TRAP_PABORT),
        DataAbort(_) | SystemError => (EXC_DABORT, EXC_TRAP_DABORT),
        Irq | VirtualIrq => (EXC_IRQ, EXC_TRAP_IRQ),
        Fiq | VirtualFiq => (EXC_FIQ, EXC_TRAP_FIQ),
    };
    Some(if to.is_local() { local } else { elsewhere })
}

/// `WFI` and `WFIT`, in contrast to `WFE` and `WFET`.
fn waits_for_interrupt(inst: &Inst) -> bool {
    inst.word >> 5 & 1 == 1
}

/// `S3_<op1>_C11_...` and `S3_<op1>_C15_...`: left to the implementation.
fn is_of_implementation(inst: &Inst) -> bool {
    inst.word >> 19 & 1 == 1 && matches!(inst.word >> 12 & 15, 11 | 15)
}

fn writes_translation(inst: &Inst) -> bool {
    use ContextWrite::{ContextId, TableBase};
    matches!(inst.context_write, Some(TableBase(BankName::El1) | ContextId(BankName::El1)))
}

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
        arrival: Arrival,
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
