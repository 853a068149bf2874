//! Registers as `MRS` and `MSR` see them: fields that exist, fields that read as zero, and bits
//! that are hidden from a guest (Arm ARM D13.5).

use crate::access::{self, Access, AccessError};
use crate::control::pmcr;
use crate::counter::{CYCLE_BIT, CounterIndex};
use crate::filter::Filter;
use crate::identification::CommonEventWord;
use crate::pmu::{EventType, Pmu};
use crate::register::Register;
use crate::routes::EventRoutes;

/// Mask of `PMSELR_EL0.SEL`, and its value for the cycle counter.
const SELECTION: u64 = 0x1F;
const CYCLE_SELECTION: u8 = 31;

impl<R: EventRoutes> Pmu<R> {
    /// Reads a register at the program's exception level, as `MRS` does.
    pub fn mrs(&self, register: Register) -> Result<u64, AccessError> {
        let register = self.admit(register, Access::Read)?;
        Ok(self.value_of(register, self.state.is_guest()))
    }

    /// Returns the value of a register that can be read, as a guest or everyone else sees it.
    pub(crate) fn value_of(&self, register: Register, is_guest: bool) -> u64 {
        use Register::*;
        let visible = |mask: u32| u64::from(mask & self.visible(is_guest));
        match register {
            PMCR_EL0 => self.pmcr(is_guest),
            PMCNTENSET_EL0 | PMCNTENCLR_EL0 => visible(self.running),
            PMOVSCLR_EL0 | PMOVSSET_EL0 => visible(self.overflowed),
            PMINTENSET_EL1 | PMINTENCLR_EL1 => visible(self.interrupting),
            PMSELR_EL0 => u64::from(self.selected),
            PMCEID0_EL0 => {
                self.description.pmceid(CommonEventWord::Pmceid0, CommonEventWord::Pmceid2)
            }
            PMCEID1_EL0 => {
                self.description.pmceid(CommonEventWord::Pmceid1, CommonEventWord::Pmceid3)
            }
            PMCCNTR_EL0 => self.cycles,
            PMUSERENR_EL0 => self.controls.pmuserenr(),
            PMMIR_EL1 => self.description.pmmir.unwrap_or(0),
            PMCCFILTR_EL0 => self.cycle_filter.bits(),
            PMEVCNTR_EL0(n) => self.values[usize::from(n)],
            PMEVTYPER_EL0(n) => {
                let EventType { code, filter } = self.types[usize::from(n)];
                filter.bits() | u64::from(code)
            }
            MDCR_EL2 => self.controls.mdcr_el2(),
            MDCR_EL3 => self.controls.mdcr_el3(),
            PMSWINC_EL0 | PMXEVTYPER_EL0 | PMXEVCNTR_EL0 => {
                unreachable!("write-only, or resolved to the register that it selects")
            }
        }
    }

    /// Writes a register at the program's exception level, as `MSR` does.
    pub fn msr(&mut self, register: Register, value: u64) -> Result<(), AccessError> {
        let register = self.admit(register, Access::Write)?;
        self.set_value(register, value, self.state.is_guest());
        Ok(())
    }

    /// Writes a register that can be written, as a guest or everyone else.
    pub(crate) fn set_value(&mut self, register: Register, value: u64, is_guest: bool) {
        use Register::*;
        let mask = value as u32 & self.visible(is_guest);
        match register {
            PMCR_EL0 => self.write_pmcr(value, is_guest),
            PMCNTENSET_EL0 => self.running |= mask,
            PMCNTENCLR_EL0 => self.running &= !mask,
            PMOVSCLR_EL0 => self.overflowed &= !mask,
            PMOVSSET_EL0 => self.overflowed |= mask,
            PMINTENSET_EL1 => self.interrupting |= mask,
            PMINTENCLR_EL1 => self.interrupting &= !mask,
            PMSWINC_EL0 => self.raise_software_increment(mask),
            PMSELR_EL0 => self.selected = (value & SELECTION) as u8,
            PMCCNTR_EL0 => self.cycles = value,
            PMUSERENR_EL0 => self.controls.set_pmuserenr(value),
            PMCCFILTR_EL0 => self.cycle_filter = self.filter(value),
            PMEVCNTR_EL0(n) => {
                self.values[usize::from(n)] = value & self.description.counter_bits()
            }
            PMEVTYPER_EL0(n) => {
                let code = value as u16 & self.description.event_code;
                let filter = self.filter(value);
                let counter = CounterIndex::among(self.description.event_counters, n);
                let counter = counter.expect("the access was admitted");
                self.set_type(counter, EventType { code, filter });
            }
            MDCR_EL2 => self.controls.set_mdcr_el2(value),
            MDCR_EL3 => self.controls.set_mdcr_el3(value),
            PMCEID0_EL0 | PMCEID1_EL0 | PMMIR_EL1 | PMXEVTYPER_EL0 | PMXEVCNTR_EL0 => {
                unreachable!("read-only, or resolved to the register that it selects")
            }
        }
        self.refresh();
    }

    /// Checks an access. Returns the accessed register, which for `PMXEV*` is the selected one.
    fn admit(&self, register: Register, access: Access) -> Result<Register, AccessError> {
        use Register::*;
        let is_cycles = self.selected == CYCLE_SELECTION;
        let target = match register {
            PMXEVTYPER_EL0 if is_cycles => PMCCFILTR_EL0,
            PMXEVTYPER_EL0 => PMEVTYPER_EL0(self.selected),
            PMXEVCNTR_EL0 => PMEVCNTR_EL0(self.selected),
            direct => direct,
        };
        let counter = match target {
            PMEVTYPER_EL0(n) | PMEVCNTR_EL0(n) => Some(n),
            _ => None,
        };
        self.rights().check(register, access, counter, self.state)?;
        Ok(target)
    }

    /// Returns whether the core has the register for such an access at some level.
    pub(crate) fn exists(&self, register: Register, access: Access) -> bool {
        self.rights().lowest_level(register, access).is_ok()
    }

    fn rights(&self) -> access::Rights<'_> {
        access::Rights { description: &self.description, controls: &self.controls }
    }

    /// Returns the filter in a register value, without the bits that the core lacks.
    fn filter(&self, value: u64) -> Filter {
        Filter::from_bits(value & u64::from(self.description.filter))
    }

    /// Returns the bits of the counters that can be seen. A guest sees none of the second range.
    pub(crate) fn visible(&self, is_guest: bool) -> u32 {
        match is_guest {
            true => self.controls.first_range() | CYCLE_BIT,
            false => self.implemented_bits(),
        }
    }

    /// Returns `PMCR_EL0` with the number N of counters that can be seen.
    fn pmcr(&self, is_guest: bool) -> u64 {
        let counters = match is_guest {
            true => self.controls.first_range_counters(),
            false => self.description.event_counters,
        };
        self.description.identity | u64::from(counters) << pmcr::N_SHIFT | self.controls.pmcr()
    }

    /// Writes `PMCR_EL0`. P and C act at once and read as zero; P spares counters that are hidden
    /// from the program.
    fn write_pmcr(&mut self, value: u64, is_guest: bool) {
        self.controls.set_pmcr(value);
        if value & pmcr::P != 0 {
            let spared = !self.visible(is_guest);
            for counter in self.counters().filter(|counter| spared & counter.bit() == 0) {
                self.values[counter.index()] = 0;
            }
        }
        if value & pmcr::C != 0 {
            self.cycles = 0;
            self.divided = 0;
        }
    }
}
