//! Registers as `MRS` and `MSR` see them: fields that exist, fields that read as zero, and bits
//! that are hidden from a guest (Arm ARM D13.5).

use crate::access::{self, Access, AccessError};
use crate::control::pmcr;
use crate::counter::{CYCLE_BIT, CounterIndex, EVENT_COUNTERS, IMPLEMENTED_BITS};
use crate::filter::Filter;
use crate::identification::{PMCR_ID, PMMIR, pmceid};
use crate::pe_state::ExceptionLevel;
use crate::pmu::{EventType, Pmu};
use crate::register::Register;

/// Mask of `PMSELR_EL0.SEL`, and its value for the cycle counter.
const SELECTION: u64 = 0x1F;
const CYCLE_SELECTION: u8 = 31;
/// `evtCount` of `PMEVTYPER<n>_EL0`.
const EVENT_CODE: u64 = 0xFFFF;

impl Pmu {
    /// Reads a register at the program's exception level, as `MRS` does.
    pub fn mrs(&self, register: Register) -> Result<u64, AccessError> {
        use Register::*;
        let register = self.admit(register, Access::Read)?;
        let visible = |mask: u32| u64::from(mask & self.visible());
        Ok(match register {
            PMCR_EL0 => self.pmcr(),
            PMCNTENSET_EL0 | PMCNTENCLR_EL0 => visible(self.running),
            PMOVSCLR_EL0 | PMOVSSET_EL0 => visible(self.overflowed),
            PMINTENSET_EL1 | PMINTENCLR_EL1 => visible(self.interrupting),
            PMSELR_EL0 => u64::from(self.selected),
            PMCEID0_EL0 => pmceid()[0],
            PMCEID1_EL0 => pmceid()[1],
            PMCCNTR_EL0 => self.cycles,
            PMUSERENR_EL0 => self.controls.pmuserenr(),
            PMMIR_EL1 => PMMIR,
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
        })
    }

    /// Writes a register at the program's exception level, as `MSR` does.
    pub fn msr(&mut self, register: Register, value: u64) -> Result<(), AccessError> {
        use Register::*;
        let register = self.admit(register, Access::Write)?;
        let mask = value as u32 & self.visible();
        match register {
            PMCR_EL0 => self.write_pmcr(value),
            PMCNTENSET_EL0 => self.running |= mask,
            PMCNTENCLR_EL0 => self.running &= !mask,
            PMOVSCLR_EL0 => self.overflowed &= !mask,
            PMOVSSET_EL0 => self.overflowed |= mask,
            PMINTENSET_EL1 => self.interrupting |= mask,
            PMINTENCLR_EL1 => self.interrupting &= !mask,
            PMSWINC_EL0 => self.software_increment(mask),
            PMSELR_EL0 => self.selected = (value & SELECTION) as u8,
            PMCCNTR_EL0 => self.cycles = value,
            PMUSERENR_EL0 => self.controls.set_pmuserenr(value),
            PMCCFILTR_EL0 => self.cycle_filter = Filter::from_bits(value),
            PMEVCNTR_EL0(n) => self.values[usize::from(n)] = value & self.version.counter_bits(),
            PMEVTYPER_EL0(n) => {
                let code = (value & EVENT_CODE) as u16;
                let counter = CounterIndex::new(n).expect("the access was admitted");
                self.set_type(counter, EventType { code, filter: Filter::from_bits(value) });
            }
            MDCR_EL2 => self.controls.set_mdcr_el2(value),
            MDCR_EL3 => self.controls.set_mdcr_el3(value),
            PMCEID0_EL0 | PMCEID1_EL0 | PMMIR_EL1 | PMXEVTYPER_EL0 | PMXEVCNTR_EL0 => {
                unreachable!("read-only, or resolved to the register that it selects")
            }
        }
        self.refresh();
        Ok(())
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
        access::check(register, access, counter, self.state, &self.controls)?;
        Ok(target)
    }

    /// Returns the bits of the counters that the program can see. A guest sees none of the second
    /// range.
    pub(crate) fn visible(&self) -> u32 {
        match self.state.is_guest() {
            true => self.controls.first_range() | CYCLE_BIT,
            false => IMPLEMENTED_BITS,
        }
    }

    /// Returns `PMCR_EL0` with the number N of counters that the program can see.
    fn pmcr(&self) -> u64 {
        let counters = match self.state.is_guest() {
            true => u64::from(self.controls.first_range_counters()),
            false => EVENT_COUNTERS as u64,
        };
        PMCR_ID | counters << pmcr::N_SHIFT | self.controls.pmcr()
    }

    /// Writes `PMCR_EL0`. P and C act at once and read as zero; P spares counters that are hidden
    /// from the program.
    fn write_pmcr(&mut self, value: u64) {
        self.controls.set_pmcr(value);
        if value & pmcr::P != 0 {
            let spared = self.spared_by_reset();
            for counter in CounterIndex::all().filter(|counter| spared & counter.bit() == 0) {
                self.values[counter.index()] = 0;
            }
        }
        if value & pmcr::C != 0 {
            self.cycles = 0;
            self.divided = 0;
        }
    }

    /// Returns the counters that a reset by `PMCR_EL0.P` spares. A guest resets its own counters;
    /// EL2 and EL3 reset all.
    fn spared_by_reset(&self) -> u32 {
        match self.state.level {
            ExceptionLevel::El2 | ExceptionLevel::El3 => 0,
            _ => !self.visible(),
        }
    }
}
