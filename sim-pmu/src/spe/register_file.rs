//! Registers as `MRS` and `MSR` see them: implemented fields, and immediate effects of a write (SPE
//! supplement 4.3).

use crate::access::{Access, AccessError};

use super::access::admit;
use super::registers::{self, SpeRegister::*};
use super::registers::{
    FILTERABLE_EVENTS, MINLAT, SpeRegister, pmbidr, pmblimitr, pmbsr, pmscr, pmsfcr, pmsirr,
};
use super::unit::Spe;

impl Spe {
    /// Reads a register at the program's exception level, as `MRS` does.
    ///
    /// # Errors
    /// The exception that the instruction takes instead.
    pub fn mrs(&self, register: SpeRegister) -> Result<u64, AccessError> {
        admit(register, Access::Read, &self.state).map(|register| self.get(register))
    }

    /// Writes a register at the program's exception level, as `MSR` does.
    ///
    /// # Errors
    /// The exception that the instruction takes instead.
    pub fn msr(&mut self, register: SpeRegister, value: u64) -> Result<(), AccessError> {
        let register = admit(register, Access::Write, &self.state)?;
        self.set(register, value);
        Ok(())
    }

    /// Returns a register's value without regard to access rights.
    pub fn get(&self, register: SpeRegister) -> u64 {
        match register {
            PMSCR_EL1 | PMSCR_EL12 => self.registers.pmscr_el1,
            // While EL1 owns the buffer, EL2 has no enables of its own.
            PMSCR_EL2 if self.state.e2pb() != 0 => {
                self.registers.pmscr_el2 & !(pmscr::OWN | pmscr::E0)
            }
            PMSCR_EL2 => self.registers.pmscr_el2,
            PMSICR_EL1 => self.interval.bits(),
            PMSIRR_EL1 => self.registers.pmsirr,
            PMSFCR_EL1 => self.registers.pmsfcr,
            PMSEVFR_EL1 => self.registers.pmsevfr,
            PMSLATFR_EL1 => self.registers.pmslatfr,
            PMSIDR_EL1 => registers::pmsidr(&self.config),
            PMBLIMITR_EL1 => self.buffer.limit,
            PMBPTR_EL1 => self.buffer.pointer,
            PMBSR_EL1 => self.buffer.status,
            PMBIDR_EL1 => registers::pmbidr(&self.config) | self.prohibited(),
        }
    }

    /// Writes a register without regard to access rights. Identification registers keep their
    /// value.
    pub fn set(&mut self, register: SpeRegister, value: u64) {
        match register {
            PMSCR_EL1 | PMSCR_EL12 => self.registers.pmscr_el1 = value & pmscr::ALL,
            PMSCR_EL2 => self.registers.pmscr_el2 = value & pmscr::ALL,
            PMSICR_EL1 => self.interval.set_bits(value),
            PMSIRR_EL1 => self.registers.pmsirr = value & (pmsirr::INTERVAL | pmsirr::RND),
            PMSFCR_EL1 => self.registers.pmsfcr = value & pmsfcr::ALL,
            PMSEVFR_EL1 => self.registers.pmsevfr = value & FILTERABLE_EVENTS,
            PMSLATFR_EL1 => self.registers.pmslatfr = value & MINLAT,
            PMBLIMITR_EL1 => {
                self.buffer.limit = value & (pmblimitr::LIMIT | pmblimitr::FM | pmblimitr::E);
            }
            PMBPTR_EL1 => self.buffer.pointer = value,
            PMBSR_EL1 => self.buffer.status = value & pmbsr::ALL,
            PMSIDR_EL1 | PMBIDR_EL1 => {}
        }
        self.refresh();
    }

    /// Returns `PMBIDR_EL1.P`: set if the buffer belongs to a higher level or to the other security
    /// state.
    fn prohibited(&self) -> u64 {
        let (owner, privilege) = (self.state.owner(), self.state.privilege);
        let is_others = match privilege.level {
            3 => false,
            level => level < owner.level || !self.state.is_owners_state(),
        };
        if is_others { pmbidr::P } else { 0 }
    }
}
