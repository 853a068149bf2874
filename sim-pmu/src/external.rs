//! Registers as a debugger sees them from outside the core, by offset (Arm ARM H9 and I5;
//! Cortex-A53 manual, 12.2.5 and 12.7).
//!
//! Not modeled: registers that identify the component, and the debugger's own locks beyond
//! [`ExternalState`].

use crate::access::Access;
use crate::control::pmcr;
use crate::identification::CommonEventWord;
use crate::pmu::Pmu;
use crate::register::Register;
use crate::routes::EventRoutes;

/// State that decides whether an access from outside reaches the core. By default nothing stops it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalState {
    /// The power of the core is off.
    pub is_off: bool,
    /// `OSDLR_EL1.DLK` is set, and the core is about to lose its power.
    pub is_double_locked: bool,
    /// `OSLSR_EL1.OSLK` is set.
    pub is_os_locked: bool,
    /// `MDCR_EL3.EPMAD` forbids the access.
    pub is_disabled: bool,
    /// The access comes through the memory map, and `PMLSR.SLK` is set: writes have no effect.
    pub is_software_locked: bool,
}

/// Reason why an access from outside ended with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExternalError {
    /// The power of the core is off.
    #[error("the core is off")]
    Off,
    /// The OS Double Lock is set.
    #[error("the OS Double Lock is set")]
    DoubleLock,
    /// The OS Lock is set.
    #[error("the OS Lock is set")]
    OsLock,
    /// EL3 forbids the access.
    #[error("EL3 forbids accesses from outside")]
    Disabled,
    /// No register has the offset.
    #[error("no register has this offset")]
    NoRegister,
    /// No source describes the register of this core.
    #[error("no source of this core describes the register")]
    NotDescribed,
}

/// Registers at one offset, except counters.
const SINGLE: [(u16, Register); 13] = [
    (CYCLES, Register::PMCCNTR_EL0),
    (0x47C, Register::PMCCFILTR_EL0),
    (0xC00, Register::PMCNTENSET_EL0),
    (0xC20, Register::PMCNTENCLR_EL0),
    (0xC40, Register::PMINTENSET_EL1),
    (0xC60, Register::PMINTENCLR_EL1),
    (0xC80, Register::PMOVSCLR_EL0),
    (0xCA0, Register::PMSWINC_EL0),
    (0xCC0, Register::PMOVSSET_EL0),
    (0xE04, Register::PMCR_EL0),
    (0xE20, Register::PMCEID0_EL0),
    (0xE24, Register::PMCEID1_EL0),
    (0xE40, Register::PMMIR_EL1),
];
/// Offset of the cycle counter. Its bits 63 to 32 follow.
const CYCLES: u16 = 0x0F8;
/// Offset of the first type register.
const TYPES: u16 = 0x400;
/// Offsets of the words of common events that follow `PMCEID1`.
const UPPER_WORDS: [(u16, CommonEventWord); 2] =
    [(0xE28, CommonEventWord::Pmceid2), (0xE2C, CommonEventWord::Pmceid3)];

impl Register {
    /// Returns the offset in the external interface; `None` if the register has none.
    pub fn external_offset(self) -> Option<u16> {
        match self {
            Register::PMEVCNTR_EL0(n) => Some(8 * u16::from(n)),
            Register::PMEVTYPER_EL0(n) => Some(TYPES + 4 * u16::from(n)),
            _ => SINGLE.iter().find(|(_, register)| *register == self).map(|(offset, _)| *offset),
        }
    }

    /// Returns the register at this offset.
    pub fn from_external_offset(offset: u16) -> Option<Register> {
        Register::all().find(|register| register.external_offset() == Some(offset))
    }
}

impl ExternalState {
    /// Returns the error of an access. The first of several reasons counts.
    fn check(self) -> Result<(), ExternalError> {
        match () {
            () if self.is_off => Err(ExternalError::Off),
            () if self.is_double_locked => Err(ExternalError::DoubleLock),
            () if self.is_os_locked => Err(ExternalError::OsLock),
            () if self.is_disabled => Err(ExternalError::Disabled),
            () => Ok(()),
        }
    }
}

impl<R: EventRoutes> Pmu<R> {
    /// Reads the 32 bits at `offset` from outside. A register that can only be written, or that the
    /// core lacks, reads as 0.
    pub fn read_external(&self, offset: u16, state: ExternalState) -> Result<u32, ExternalError> {
        state.check()?;
        if let Some((_, word)) = UPPER_WORDS.iter().find(|(own, _)| *own == offset) {
            return Ok(self.description().common_events(*word).unwrap_or(0));
        }
        if offset == CYCLES + 4 {
            self.find_external(CYCLES)?;
            return Ok((self.read_cycles() >> 32) as u32);
        }
        let register = self.find_external(offset)?;
        if !self.exists(register, Access::Read) {
            return Ok(0);
        }
        let value = self.value_of(register, false) as u32;
        // The identification and the number of counters are in registers of their own.
        let seen = if register == Register::PMCR_EL0 { (1 << pmcr::EXTERNAL_BITS) - 1 } else { !0 };
        Ok(value & seen)
    }

    /// Writes the 32 bits at `offset` from outside. A register that can only be read, or that the
    /// core lacks, ignores the write.
    pub fn write_external(
        &mut self,
        offset: u16,
        value: u32,
        state: ExternalState,
    ) -> Result<(), ExternalError> {
        state.check()?;
        let is_upper_word = UPPER_WORDS.iter().any(|(own, _)| *own == offset);
        let half = if offset == CYCLES + 4 { CYCLES } else { offset };
        if is_upper_word {
            return Ok(());
        }
        let register = self.find_external(half)?;
        if state.is_software_locked || !self.exists(register, Access::Write) {
            return Ok(());
        }
        let cycles = self.read_cycles();
        let value = match register {
            Register::PMCCNTR_EL0 if half != offset => {
                u64::from(value) << 32 | cycles & 0xFFFF_FFFF
            }
            Register::PMCCNTR_EL0 => cycles >> 32 << 32 | u64::from(value),
            _ => u64::from(value),
        };
        self.set_value(register, value, false);
        Ok(())
    }

    fn find_external(&self, offset: u16) -> Result<Register, ExternalError> {
        let register = Register::from_external_offset(offset).ok_or(ExternalError::NoRegister)?;
        let is_described = self.description().describes(register);
        is_described.then_some(register).ok_or(ExternalError::NotDescribed)
    }
}
