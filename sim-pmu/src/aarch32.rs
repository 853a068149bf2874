//! Registers as AArch32 sees them: names, encodings and 32-bit accesses (Arm ARM G8.4). A view is a
//! half of an AArch64 register; the fields CRn, CRm and opc2 are those of the AArch64 encoding.
//!
//! The rights are those of the AArch64 register. EL1 uses AArch64 except on a core that has AArch32
//! alone. Not modeled: `MRRC`, which reads all bits of the cycle counter.

use std::fmt;

use crate::access::AccessError;
use crate::identification::CommonEventWord;
use crate::pmu::Pmu;
use crate::register::Register;
use crate::routes::EventRoutes;

/// Fields of an `MRC` or `MCR` that name a register of coprocessor 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cp15 {
    /// Field opc1.
    pub opc1: u8,
    /// Field CRn.
    pub crn: u8,
    /// Field CRm.
    pub crm: u8,
    /// Field opc2.
    pub opc2: u8,
}

impl fmt::Display for Cp15 {
    /// Writes the operands of the instruction in Arm's order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p15, {}, <Rt>, c{}, c{}, {}", self.opc1, self.crn, self.crm, self.opc2)
    }
}

/// AArch32 register of the PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aarch32Register {
    /// Bits 31 to 0 of an AArch64 register.
    Low(Register),
    /// `PMCEID2`: bits 63 to 32 of `PMCEID0_EL0`.
    PMCEID2,
    /// `PMCEID3`: bits 63 to 32 of `PMCEID1_EL0`.
    PMCEID3,
}

/// Registers whose AArch32 name is not the AArch64 name without its level.
const RENAMED: [(Register, &str); 3] = [
    (Register::PMOVSCLR_EL0, "PMOVSR"),
    (Register::MDCR_EL2, "HDCR"),
    (Register::MDCR_EL3, "SDCR"),
];
/// opc1 of registers of Hyp mode.
const HYP: u8 = 4;

impl Aarch32Register {
    /// Returns every register.
    pub fn all() -> impl Iterator<Item = Aarch32Register> {
        let low = Register::all().map(Aarch32Register::Low);
        low.chain([Aarch32Register::PMCEID2, Aarch32Register::PMCEID3])
    }

    /// Returns Arm's name.
    pub fn name(self) -> String {
        match self {
            Aarch32Register::Low(register) => {
                let renamed = RENAMED.iter().find(|(own, _)| *own == register);
                renamed.map_or_else(|| without_level(&register.name()), |(_, name)| (*name).into())
            }
            Aarch32Register::PMCEID2 => CommonEventWord::Pmceid2.name().into(),
            Aarch32Register::PMCEID3 => CommonEventWord::Pmceid3.name().into(),
        }
    }

    /// Returns the register with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Aarch32Register> {
        Aarch32Register::all().find(|register| register.name().eq_ignore_ascii_case(name))
    }

    /// Returns the AArch64 register of which this is a half.
    pub fn register(self) -> Register {
        match self {
            Aarch32Register::Low(register) => register,
            Aarch32Register::PMCEID2 => Register::PMCEID0_EL0,
            Aarch32Register::PMCEID3 => Register::PMCEID1_EL0,
        }
    }

    /// Returns the encoding.
    pub fn encoding(self) -> Cp15 {
        let upper = |word: CommonEventWord| {
            let (crm, opc2) = word.aarch32_encoding();
            Cp15 { opc1: 0, crn: 9, crm, opc2 }
        };
        match self {
            Aarch32Register::Low(register) => {
                let own = register.encoding();
                let opc1 = if register == Register::MDCR_EL2 { HYP } else { 0 };
                Cp15 { opc1, crn: own.crn, crm: own.crm, opc2: own.op2 }
            }
            Aarch32Register::PMCEID2 => upper(CommonEventWord::Pmceid2),
            Aarch32Register::PMCEID3 => upper(CommonEventWord::Pmceid3),
        }
    }

    /// Returns the register with this encoding.
    pub fn from_encoding(encoding: Cp15) -> Option<Aarch32Register> {
        Aarch32Register::all().find(|register| register.encoding() == encoding)
    }
}

fn without_level(name: &str) -> String {
    name[..name.rfind('_').unwrap_or(name.len())].to_owned()
}

impl<R: EventRoutes> Pmu<R> {
    /// Reads a register at the program's exception level, as `MRC` does.
    pub fn mrc(&self, register: Aarch32Register) -> Result<u32, AccessError> {
        let words = match register {
            Aarch32Register::Low(low) => return Ok(self.mrs(low)? as u32),
            Aarch32Register::PMCEID2 => CommonEventWord::Pmceid2,
            Aarch32Register::PMCEID3 => CommonEventWord::Pmceid3,
        };
        let value = self.description().common_events(words).ok_or(AccessError::Undefined)?;
        self.mrs(register.register()).map(|_| value)
    }

    /// Writes a register at the program's exception level, as `MCR` does. Bits 63 to 32 of the
    /// cycle counter stay.
    pub fn mcr(&mut self, register: Aarch32Register, value: u32) -> Result<(), AccessError> {
        let Aarch32Register::Low(low) = register else { return Err(AccessError::Undefined) };
        let upper = match low {
            Register::PMCCNTR_EL0 => self.read_cycles() >> 32 << 32,
            _ => 0,
        };
        self.msr(low, upper | u64::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_register_is_found_by_name_and_by_encoding() {
        let mut names = HashSet::new();
        for register in Aarch32Register::all() {
            assert_eq!(Aarch32Register::from_encoding(register.encoding()), Some(register));
            assert_eq!(Aarch32Register::from_name(&register.name()), Some(register));
            assert!(names.insert(register.name()));
        }
        assert_eq!(names.len(), 19 + 2 * 31 + 2);
    }

    /// Operands of instructions in the manual of the Cortex-A53 (12.6) and in Linux
    /// (`arch/arm/include/asm/arm_pmuv3.h`).
    #[test]
    fn encodings_are_those_of_other_sources() {
        for (name, operands) in [
            ("PMCR", "p15, 0, <Rt>, c9, c12, 0"),
            ("PMOVSR", "p15, 0, <Rt>, c9, c12, 3"),
            ("PMSWINC", "p15, 0, <Rt>, c9, c12, 4"),
            ("PMCEID0", "p15, 0, <Rt>, c9, c12, 6"),
            ("PMCEID1", "p15, 0, <Rt>, c9, c12, 7"),
            ("PMCCNTR", "p15, 0, <Rt>, c9, c13, 0"),
            ("PMXEVCNTR", "p15, 0, <Rt>, c9, c13, 2"),
            ("PMUSERENR", "p15, 0, <Rt>, c9, c14, 0"),
            ("PMINTENCLR", "p15, 0, <Rt>, c9, c14, 2"),
            ("PMCEID2", "p15, 0, <Rt>, c9, c14, 4"),
            ("PMCEID3", "p15, 0, <Rt>, c9, c14, 5"),
            ("PMMIR", "p15, 0, <Rt>, c9, c14, 6"),
            ("PMEVCNTR5", "p15, 0, <Rt>, c14, c8, 5"),
            ("PMEVTYPER8", "p15, 0, <Rt>, c14, c13, 0"),
            ("PMCCFILTR", "p15, 0, <Rt>, c14, c15, 7"),
            ("HDCR", "p15, 4, <Rt>, c1, c1, 1"),
            ("SDCR", "p15, 0, <Rt>, c1, c3, 1"),
        ] {
            let register = Aarch32Register::from_name(name).expect(name);
            assert_eq!(register.encoding().to_string(), operands, "{name}");
        }
        assert_eq!(Aarch32Register::from_name("PMCEID1_EL0"), None);
    }
}
