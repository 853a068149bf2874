//! Access rights of the registers, and the target of a trapped access (Arm ARM D13.5, "Accessing").

use crate::control::{Controls, mdcr_el2, mdcr_el3, pmuserenr};
use crate::description::PmuDescription;
use crate::pe_state::{ExceptionLevel, PeState};
use crate::register::Register;

/// Direction of a register access: `MRS` or `MSR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read by `MRS`.
    Read,
    /// Write by `MSR`.
    Write,
}

/// Reason why an access did not reach its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The instruction is UNDEFINED at this exception level.
    #[error("undefined: there is no such access at this exception level")]
    Undefined,
    /// The access is trapped.
    #[error("trapped to {to}")]
    Trap {
        /// Exception level that takes the trap.
        to: ExceptionLevel,
    },
    /// No source describes the register of this core, so that no result is right.
    #[error("not described: no source of this core describes the register")]
    NotDescribed,
}

/// Description and controls that decide about an access, beside the state of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rights<'a> {
    pub(crate) description: &'a PmuDescription,
    pub(crate) controls: &'a Controls,
}

impl Rights<'_> {
    /// Checks an access to the register that the instruction names. `counter` is the event counter
    /// that the access reaches, by name or by selection; a selected counter may not exist.
    ///
    /// Checks follow the architecture's order of traps: undefined, then EL1, EL2, EL3.
    pub(crate) fn check(
        self,
        register: Register,
        access: Access,
        counter: Option<u8>,
        state: PeState,
    ) -> Result<(), AccessError> {
        if !self.description.describes(register) {
            return Err(AccessError::NotDescribed);
        }
        if state.level < self.lowest_level(register, access)? {
            return Err(AccessError::Undefined);
        }
        let enables = self.controls.pmuserenr();
        if state.level == ExceptionLevel::El0 && !user_may(register, access, enables) {
            return Err(self.refusal_at_el0(state));
        }
        if state.is_guest() {
            self.check_guest(register, counter)?;
        }
        if counter.is_some_and(|number| !self.is_implemented(number)) {
            return Err(AccessError::Undefined);
        }
        let trap = match register {
            Register::MDCR_EL2 => mdcr_el3::TDA,
            _ => mdcr_el3::TPM,
        };
        if state.level < ExceptionLevel::El3 && self.controls.has_mdcr_el3(trap) {
            return Err(AccessError::Trap { to: ExceptionLevel::El3 });
        }
        Ok(())
    }

    /// Returns what a forbidden access at EL0 does. A kernel in AArch32 gets no trap; its handler
    /// of undefined instructions runs.
    fn refusal_at_el0(self, state: PeState) -> AccessError {
        match (state.tge && state.is_el2_enabled(), self.description.is_aarch32) {
            (true, _) => AccessError::Trap { to: ExceptionLevel::El2 },
            (false, true) => AccessError::Undefined,
            (false, false) => AccessError::Trap { to: ExceptionLevel::El1 },
        }
    }

    fn is_implemented(self, counter: u8) -> bool {
        counter < self.description.event_counters
    }

    /// Returns the lowest level at which the access exists.
    pub(crate) fn lowest_level(
        self,
        register: Register,
        access: Access,
    ) -> Result<ExceptionLevel, AccessError> {
        use Register::*;
        match (register, access) {
            (PMMIR_EL1, _) if self.description.pmmir.is_none() => Err(AccessError::Undefined),
            (PMCEID0_EL0 | PMCEID1_EL0 | PMMIR_EL1, Access::Write) => Err(AccessError::Undefined),
            (PMSWINC_EL0, Access::Read) => Err(AccessError::Undefined),
            (PMEVCNTR_EL0(n) | PMEVTYPER_EL0(n), _) if !self.is_implemented(n) => {
                Err(AccessError::Undefined)
            }
            (PMINTENSET_EL1 | PMINTENCLR_EL1 | PMMIR_EL1, _) => Ok(ExceptionLevel::El1),
            (PMUSERENR_EL0, Access::Write) => Ok(ExceptionLevel::El1),
            (MDCR_EL2, _) => Ok(ExceptionLevel::El2),
            (MDCR_EL3, _) => Ok(ExceptionLevel::El3),
            _ => Ok(ExceptionLevel::El0),
        }
    }

    /// Checks what EL2 denies a guest: the unit, its control register, the counters of the second
    /// range.
    fn check_guest(self, register: Register, counter: Option<u8>) -> Result<(), AccessError> {
        let is_control = register == Register::PMCR_EL0;
        let is_kept = |number: u8| {
            self.is_implemented(number) && number >= self.controls.first_range_counters()
        };
        let is_trapped = self.controls.has_mdcr_el2(mdcr_el2::TPM)
            || is_control && self.controls.has_mdcr_el2(mdcr_el2::TPMCR)
            || counter.is_some_and(is_kept);
        if is_trapped { Err(AccessError::Trap { to: ExceptionLevel::El2 }) } else { Ok(()) }
    }
}

/// Returns whether `PMUSERENR_EL0` allows EL0 the access.
fn user_may(register: Register, access: Access, enables: u64) -> bool {
    use Register::*;
    use pmuserenr::{CR, EN, ER, SW};
    let any_of = match (register, access) {
        (PMUSERENR_EL0, _) => return true,
        (PMSWINC_EL0, _) => EN | SW,
        (PMCCNTR_EL0, Access::Read) => EN | CR,
        (PMXEVCNTR_EL0 | PMEVCNTR_EL0(_), Access::Read) | (PMSELR_EL0, _) => EN | ER,
        _ => EN,
    };
    enables & any_of != 0
}
