//! System registers of the PMU by name and encoding (Arm ARM D13.5 and D13.3).

use crate::counter::ARCHITECTED_COUNTERS;

/// Register of the PMU, or one of the two registers that set its partition.
#[allow(
    non_camel_case_types,
    clippy::upper_case_acronyms,
    reason = "Arm's names are the identifiers"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// Control: enable, reset, widths, number of counters.
    PMCR_EL0,
    /// Enabled counters: write 1 to start.
    PMCNTENSET_EL0,
    /// Enabled counters: write 1 to stop.
    PMCNTENCLR_EL0,
    /// Overflow flags: write 1 to clear.
    PMOVSCLR_EL0,
    /// Software increment, write-only.
    PMSWINC_EL0,
    /// Number of the counter that `PMXEVTYPER_EL0` and `PMXEVCNTR_EL0` access.
    PMSELR_EL0,
    /// Common events 0x00 to 0x1F and 0x4000 to 0x401F, read-only.
    PMCEID0_EL0,
    /// Common events 0x20 to 0x3F and 0x4020 to 0x403F, read-only.
    PMCEID1_EL0,
    /// Cycle counter.
    PMCCNTR_EL0,
    /// Event and filter of the selected counter.
    PMXEVTYPER_EL0,
    /// Value of the selected counter.
    PMXEVCNTR_EL0,
    /// Access rights of EL0.
    PMUSERENR_EL0,
    /// Overflow flags: write 1 to set.
    PMOVSSET_EL0,
    /// Overflow interrupts: write 1 to enable.
    PMINTENSET_EL1,
    /// Overflow interrupts: write 1 to disable.
    PMINTENCLR_EL1,
    /// Slots per cycle, read-only.
    PMMIR_EL1,
    /// Filter of the cycle counter.
    PMCCFILTR_EL0,
    /// Value of event counter n, 0 to 30.
    PMEVCNTR_EL0(u8),
    /// Event and filter of event counter n, 0 to 30.
    PMEVTYPER_EL0(u8),
    /// Partition and traps controlled by EL2.
    MDCR_EL2,
    /// Secure counting and traps controlled by EL3.
    MDCR_EL3,
}

/// Fields of an `MRS` or `MSR` word that name a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// Field op0, 3 for all of these registers.
    pub op0: u8,
    /// Field op1, the lowest level with access: 0 EL1, 3 EL0, 4 EL2, 6 EL3.
    pub op1: u8,
    /// Field CRn.
    pub crn: u8,
    /// Field CRm.
    pub crm: u8,
    /// Field op2.
    pub op2: u8,
}

impl Encoding {
    pub(crate) const fn new(op1: u8, crn: u8, crm: u8, op2: u8) -> Encoding {
        Encoding { op0: 3, op1, crn, crm, op2 }
    }

    /// Returns the fields as one 16-bit number, in their order in an instruction word.
    pub fn bits(self) -> u16 {
        let Encoding { op0, op1, crn, crm, op2 } = self;
        u16::from(op0) << 14
            | u16::from(op1) << 11
            | u16::from(crn) << 7
            | u16::from(crm) << 3
            | u16::from(op2)
    }

    /// Returns the encoding from a result of [`Encoding::bits`].
    pub fn of_bits(bits: u16) -> Encoding {
        let field = |low: u32, length: u32| (bits >> low & ((1 << length) - 1)) as u8;
        Encoding {
            op0: field(14, 2),
            op1: field(11, 3),
            crn: field(7, 4),
            crm: field(3, 4),
            op2: field(0, 3),
        }
    }
}

/// Every register that exists once.
const SINGLE: [(Register, &str, Encoding); 19] = [
    (Register::PMCR_EL0, "PMCR_EL0", Encoding::new(3, 9, 12, 0)),
    (Register::PMCNTENSET_EL0, "PMCNTENSET_EL0", Encoding::new(3, 9, 12, 1)),
    (Register::PMCNTENCLR_EL0, "PMCNTENCLR_EL0", Encoding::new(3, 9, 12, 2)),
    (Register::PMOVSCLR_EL0, "PMOVSCLR_EL0", Encoding::new(3, 9, 12, 3)),
    (Register::PMSWINC_EL0, "PMSWINC_EL0", Encoding::new(3, 9, 12, 4)),
    (Register::PMSELR_EL0, "PMSELR_EL0", Encoding::new(3, 9, 12, 5)),
    (Register::PMCEID0_EL0, "PMCEID0_EL0", Encoding::new(3, 9, 12, 6)),
    (Register::PMCEID1_EL0, "PMCEID1_EL0", Encoding::new(3, 9, 12, 7)),
    (Register::PMCCNTR_EL0, "PMCCNTR_EL0", Encoding::new(3, 9, 13, 0)),
    (Register::PMXEVTYPER_EL0, "PMXEVTYPER_EL0", Encoding::new(3, 9, 13, 1)),
    (Register::PMXEVCNTR_EL0, "PMXEVCNTR_EL0", Encoding::new(3, 9, 13, 2)),
    (Register::PMUSERENR_EL0, "PMUSERENR_EL0", Encoding::new(3, 9, 14, 0)),
    (Register::PMOVSSET_EL0, "PMOVSSET_EL0", Encoding::new(3, 9, 14, 3)),
    (Register::PMINTENSET_EL1, "PMINTENSET_EL1", Encoding::new(0, 9, 14, 1)),
    (Register::PMINTENCLR_EL1, "PMINTENCLR_EL1", Encoding::new(0, 9, 14, 2)),
    (Register::PMMIR_EL1, "PMMIR_EL1", Encoding::new(0, 9, 14, 6)),
    (Register::PMCCFILTR_EL0, "PMCCFILTR_EL0", Encoding::new(3, 14, 15, 7)),
    (Register::MDCR_EL2, "MDCR_EL2", Encoding::new(4, 1, 1, 1)),
    (Register::MDCR_EL3, "MDCR_EL3", Encoding::new(6, 1, 3, 1)),
];

/// Register names of single counters, before and after the number.
const VALUE_NAME: &str = "PMEVCNTR";
const TYPE_NAME: &str = "PMEVTYPER";
const NAME_END: &str = "_EL0";

impl Register {
    /// Returns every register with an encoding, including those of all 31 architected counters.
    pub fn all() -> impl Iterator<Item = Register> {
        let single = SINGLE.into_iter().map(|(register, ..)| register);
        let values = (0..ARCHITECTED_COUNTERS).map(Register::PMEVCNTR_EL0);
        single.chain(values).chain((0..ARCHITECTED_COUNTERS).map(Register::PMEVTYPER_EL0))
    }

    /// Returns the register with this encoding, if it belongs to the PMU.
    pub fn from_encoding(encoding: Encoding) -> Option<Register> {
        if let Some((register, ..)) = SINGLE.iter().find(|(.., own)| *own == encoding) {
            return Some(*register);
        }
        let Encoding { op0: 3, op1: 3, crn: 14, crm, op2 } = encoding else {
            return None;
        };
        let number = (crm & 3) << 3 | op2;
        match crm {
            _ if number >= ARCHITECTED_COUNTERS => None,
            8..=11 => Some(Register::PMEVCNTR_EL0(number)),
            12..=15 => Some(Register::PMEVTYPER_EL0(number)),
            _ => None,
        }
    }

    /// Returns the register with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Register> {
        let upper = name.to_ascii_uppercase();
        if let Some((register, ..)) = SINGLE.iter().find(|(_, own, _)| *own == upper) {
            return Some(*register);
        }
        let number = |head: &str| {
            let digits = upper.strip_prefix(head)?.strip_suffix(NAME_END)?;
            let number: u8 = digits.parse().ok()?;
            (number < ARCHITECTED_COUNTERS && number.to_string() == digits).then_some(number)
        };
        let value = number(VALUE_NAME).map(Register::PMEVCNTR_EL0);
        value.or_else(|| number(TYPE_NAME).map(Register::PMEVTYPER_EL0))
    }

    /// Returns Arm's name.
    pub fn name(self) -> String {
        match self {
            Register::PMEVCNTR_EL0(n) => format!("{VALUE_NAME}{n}{NAME_END}"),
            Register::PMEVTYPER_EL0(n) => format!("{TYPE_NAME}{n}{NAME_END}"),
            single => row(single).1.to_owned(),
        }
    }

    /// Returns the fields that name the register in an instruction.
    pub fn encoding(self) -> Encoding {
        match self {
            Register::PMEVCNTR_EL0(n) => Encoding::new(3, 14, 8 + (n >> 3 & 3), n & 7),
            Register::PMEVTYPER_EL0(n) => Encoding::new(3, 14, 12 + (n >> 3 & 3), n & 7),
            single => row(single).2,
        }
    }
}

fn row(single: Register) -> &'static (Register, &'static str, Encoding) {
    SINGLE
        .iter()
        .find(|(register, ..)| *register == single)
        .expect("every register without a number has a row")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_register_is_found_by_name_and_by_encoding() {
        let mut encodings = HashSet::new();
        for register in Register::all() {
            assert_eq!(Register::from_encoding(register.encoding()), Some(register));
            assert_eq!(Register::from_name(&register.name().to_lowercase()), Some(register));
            assert_eq!(Encoding::of_bits(register.encoding().bits()), register.encoding());
            assert!(encodings.insert(register.encoding()), "{}", register.name());
        }
        assert_eq!(encodings.len(), 19 + 2 * 31);
    }

    /// Instruction words assembled by GNU as 2.40.
    #[test]
    fn assembled_words_name_their_registers() {
        for (word, name) in [
            (0xD53B_9C00u32, "PMCR_EL0"),
            (0xD51B_9C81, "PMSWINC_EL0"),
            (0xD53B_9D00, "PMCCNTR_EL0"),
            (0xD53B_E8A0, "PMEVCNTR5_EL0"),
            (0xD53B_EBC0, "PMEVCNTR30_EL0"),
            (0xD51B_EC20, "PMEVTYPER1_EL0"),
            (0xD53B_EFE0, "PMCCFILTR_EL0"),
            (0xD538_9EC0, "PMMIR_EL1"),
            (0xD53C_1120, "MDCR_EL2"),
            (0xD53E_1320, "MDCR_EL3"),
        ] {
            let found = Register::from_encoding(Encoding::of_bits((word >> 5) as u16));
            assert_eq!(found.map(Register::name).as_deref(), Some(name), "{word:#x}");
        }
    }

    #[test]
    fn other_names_and_encodings_are_refused() {
        for name in ["PMEVCNTR31_EL0", "PMEVCNTR05_EL0", "PMEVCNTR_EL0", "TTBR0_EL1", ""] {
            assert_eq!(Register::from_name(name), None, "{name}");
        }
        let odd = Encoding { op0: 3, op1: 3, crn: 14, crm: 11, op2: 7 };
        assert_eq!(Register::from_encoding(odd), None);
        assert_eq!(Register::from_encoding(Encoding { op0: 2, ..odd }), None);
    }
}
