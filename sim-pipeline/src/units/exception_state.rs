//! Exception level of the core, and the target level of each exception (PMU guide 3.1.4, 4.11;
//! decisions A27 and A42).

use crate::units::recorded_exception::RecordedException;
use sim_core::exception::{hcr_el2, scr_el3};
use sim_core::{AbortCause, ExceptionControls, ExceptionKind, PmuEvent, Privilege};
use sim_isa::{BankName, BranchKind, ContextWrite, Inst, Special};

/// Largest number of nested exceptions whose return level the core keeps. Beyond it, the oldest is
/// dropped.
pub(crate) const MAX_NESTED: usize = 16;

/// Level of the core and the state that determines the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExceptionState {
    /// Current exception level and security state.
    pub(crate) privilege: Privilege,
    pub(crate) controls: ExceptionControls,
    /// Set if the stream contains the handlers: an exception changes the level until its return.
    pub(crate) has_handlers: bool,
    /// Set if the stream has a kernel in the upper half of the addresses and programs in the lower
    /// half.
    pub(crate) kernel_is_above: bool,
    /// Levels to return to, as the software of the handlers would have saved them.
    pub(crate) returns: [Privilege; MAX_NESTED],
    pub(crate) nested: usize,
    /// Bit set of pending interrupts that are routed below the current level, by index in
    /// `INTERRUPTS`.
    pub(crate) waiting: u8,
    /// Exception that was recorded after the next instruction.
    pub(crate) recorded: Option<RecordedException>,
}

impl ExceptionState {
    /// Returns whether `HCR_EL2` applies to the program: EL2 exists in its security state.
    pub(crate) fn has_el2(&self) -> bool {
        !self.privilege.secure || self.controls.monitor(scr_el3::EEL2)
    }

    /// Returns whether a control of EL2 is set that applies to the levels below it.
    pub(crate) fn hypervisor_control(&self, bit: u64) -> bool {
        self.privilege.level < 2 && self.has_el2() && self.controls.hypervisor(bit)
    }

    /// Returns the level of an exception that no control routes: EL1, or EL2 for a host's EL0. The
    /// level is never below the one that the exception comes from.
    pub(crate) fn own_level(&self) -> u8 {
        let host = self.privilege.level == 0 && self.privilege.tge && self.has_el2();
        if host { 2 } else { self.privilege.level.max(1) }
    }

    /// Returns the level of an interrupt or an SError: EL3, EL2 or EL1, in this order of their
    /// controls.
    pub(crate) fn interrupt_level(&self, monitor: u64, hypervisor: u64) -> u8 {
        let to_el2 = self.privilege.tge || self.controls.hypervisor(hypervisor);
        match () {
            () if self.controls.monitor(monitor) => 3,
            () if self.has_el2() && to_el2 => 2,
            () => 1,
        }
    }

    /// Returns the level to which `kind` is taken.
    pub(crate) fn target(&self, kind: ExceptionKind) -> u8 {
        use ExceptionKind::*;
        let own = self.own_level();
        match kind {
            SupervisorCall | Breakpoint | Undefined => own,
            HypervisorCall => own.max(2),
            SecureMonitorCall if self.hypervisor_control(hcr_el2::TSC) => 2,
            SecureMonitorCall => 3,
            Trap => 2,
            InstructionAbort(cause) | DataAbort(cause) => match cause {
                AbortCause::External if self.controls.monitor(scr_el3::EA) => 3,
                AbortCause::External if self.hypervisor_control(hcr_el2::TEA) => 2,
                // Stage 2 translates only for EL0 and EL1.
                AbortCause::Stage2 => own.max(2),
                AbortCause::External | AbortCause::Stage1 => own,
            },
            SystemError => self.interrupt_level(scr_el3::EA, hcr_el2::AMO),
            Irq => self.interrupt_level(scr_el3::IRQ, hcr_el2::IMO),
            Fiq => self.interrupt_level(scr_el3::FIQ, hcr_el2::FMO),
            VirtualIrq | VirtualFiq => 1,
        }
    }

    /// Returns whether the instruction that generates `kind` is complete. The handler then returns
    /// after the instruction. A call that `HCR_EL2.TSC` traps is executed again.
    pub(crate) fn completes(&self, kind: ExceptionKind) -> bool {
        let trapped =
            kind == ExceptionKind::SecureMonitorCall && self.hypervisor_control(hcr_el2::TSC);
        kind.completes() && !trapped
    }

    /// Returns whether a system register or operation does not exist at this level: reads, writes,
    /// `TLBI`, `AT`, `DC`, `IC` (Arm ARM, "op1 encodings used to access System registers by
    /// Exception level").
    pub(crate) fn is_above(&self, inst: &Inst) -> bool {
        !inst.exists_at(self.privilege.level, self.privilege.e2h)
    }

    /// Returns the exception that the instruction generates, either instead of executing or by
    /// executing.
    pub(crate) fn generated(&self, inst: &Inst) -> Option<ExceptionKind> {
        use ExceptionKind::{
            Breakpoint, HypervisorCall, SecureMonitorCall, SupervisorCall, Trap, Undefined,
        };
        let level = self.privilege.level;
        let trapped = |bit| self.hypervisor_control(bit).then_some(Trap);
        match inst.special {
            Special::SupervisorCall => Some(SupervisorCall),
            Special::HypervisorCall => {
                let defined = level > 0
                    && (level == 3 || self.has_el2())
                    && !self.controls.hypervisor(hcr_el2::HCD);
                Some(if defined { HypervisorCall } else { Undefined })
            }
            Special::SecureMonitorCall => {
                let trapped = self.hypervisor_control(hcr_el2::TSC);
                let defined = level > 0 && (trapped || !self.controls.monitor(scr_el3::SMD));
                Some(if defined { SecureMonitorCall } else { Undefined })
            }
            Special::Breakpoint => Some(Breakpoint),
            Special::Undefined => Some(Undefined),
            Special::Wait if inst.waits_for_interrupt() => trapped(hcr_el2::TWI),
            Special::Wait => trapped(hcr_el2::TWE),
            Special::SystemWrite | Special::SystemRead if inst.is_implementation_defined() => {
                trapped(hcr_el2::TIDCP)
            }
            // A trace records what was executed: the level at which it begins may be a guess.
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

    /// Enters a handler at level `to`.
    pub(crate) fn enter(&mut self, to: Privilege) {
        if self.nested == MAX_NESTED {
            self.returns.rotate_left(1);
            self.nested -= 1;
        }
        self.returns[self.nested] = self.privilege;
        self.nested += 1;
        self.privilege = to;
    }

    /// Performs an exception return: restores the level from which the handler was entered. A
    /// handler entered before the stream began returns to the level below; a handler in a host's
    /// EL2 returns to EL0. A kernel may have switched threads meanwhile, so the half of the
    /// addresses in which the stream continues decides.
    pub(crate) fn leave(&mut self, next_pc: Option<u64>) {
        let resumed = next_pc.filter(|_| self.kernel_is_above && self.privilege.level == 1);
        if self.nested > 0 {
            self.nested -= 1;
            self.privilege = self.returns[self.nested];
        } else {
            let local = self.privilege.is_local();
            let level = if local { 0 } else { self.privilege.level.saturating_sub(1) };
            self.privilege.level = level;
        }
        if let Some(pc) = resumed {
            self.privilege.level = (pc >> 63) as u8;
        }
    }
}

/// Returns the event that counts an exception besides `EXC_TAKEN`, if any. It has one row for each
/// of guide 4.11.3 to 4.11.15. Calls that are not taken to their usual level raise no event (A27,
/// A42).
pub(crate) fn counted_by(kind: ExceptionKind, from: Privilege, to: Privilege) -> Option<PmuEvent> {
    use ExceptionKind::*;
    use PmuEvent::*;
    let (local, trapped) = match kind {
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
    Some(if to.is_local() { local } else { trapped })
}

fn writes_translation(inst: &Inst) -> bool {
    use ContextWrite::{ContextId, TableBase};
    matches!(inst.context_write, Some(TableBase(BankName::El1) | ContextId(BankName::El1)))
}
