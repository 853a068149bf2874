//! PMU registers in scenarios: reads and writes as steps, and expected values at the end.
//!
//! Steps are `MSR PMCR_EL0 0x41` and `MRS PMOVSCLR_EL0`. Expectations are
//! `register PMOVSCLR_EL0 = 1`, `register PMCEID0_EL0 undefined` or `register PMCR_EL0 trapped to
//! EL2`: the result of a read at the program's level after the last step. `PMSWINC_EL0` is among
//! the other named instructions.

use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::operand::{NamedInst, Operand};
use super::profiling::is_profiling_register;

/// Result of reading a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterRead {
    /// A value.
    Value(u64),
    /// An undefined instruction.
    Undefined,
    /// A trap to this exception level.
    TrappedTo(u8),
}

/// Expected result of reading a register after the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRegister {
    /// Name of the register.
    pub name: String,
    /// Expected result.
    pub read: RegisterRead,
}

/// Reads a statement of `expect` about a register, if it is next.
pub(super) fn parse_expected_register(
    cursor: &mut Cursor,
) -> Result<Option<ExpectedRegister>, Fault> {
    if !cursor.take_word("register") {
        return Ok(None);
    }
    let offset = cursor.offset();
    let name = cursor.word().ok_or_else(|| cursor.expected("a register of the PMU"))?;
    if !is_register(name) {
        let expected = String::from("a register of the PMU");
        return Err(Fault::new(offset, Problem::Expected { expected, found: name.to_owned() }));
    }
    let read = if cursor.take("=") {
        RegisterRead::Value(cursor.need_number("the value of the register")?)
    } else if cursor.take_word("undefined") {
        RegisterRead::Undefined
    } else if cursor.take_word("trapped") && cursor.take_word("to") {
        RegisterRead::TrappedTo(level(cursor)?)
    } else {
        return Err(cursor.expected("'= value', 'undefined' or 'trapped to EL2'"));
    };
    Ok(Some(ExpectedRegister { name: name.to_owned(), read }))
}

/// Returns true for registers that steps can read, and for counters that the core lacks.
fn is_register(name: &str) -> bool {
    let is_read = |inst: &NamedInst| inst.name.strip_prefix("MRS ") == Some(name);
    let is_counter = name.starts_with("PMEVCNTR") || name.starts_with("PMEVTYPER");
    PMU_INSTS.iter().any(is_read)
        || is_counter && name.ends_with("_EL0")
        || name == "PMSWINC_EL0"
        || is_profiling_register(name)
}

pub(super) fn level(cursor: &mut Cursor) -> Result<u8, Fault> {
    for level in 1..=3 {
        if cursor.take_word(&format!("EL{level}")) {
            return Ok(level);
        }
    }
    Err(cursor.expected("EL1, EL2 or EL3"))
}

/// Reads and writes of PMU registers. The words were assembled with binutils 2.40.
#[rustfmt::skip]
pub const PMU_INSTS: [NamedInst; 57] = [
    NamedInst { name: "MSR PMCR_EL0", word: 0xD51B_9C01, operand: Operand::Value }, // msr pmcr_el0, x1
    NamedInst { name: "MRS PMCR_EL0", word: 0xD53B_9C00, operand: Operand::Nothing }, // mrs x0, pmcr_el0
    NamedInst { name: "MSR PMCNTENSET_EL0", word: 0xD51B_9C21, operand: Operand::Value }, // msr pmcntenset_el0, x1
    NamedInst { name: "MRS PMCNTENSET_EL0", word: 0xD53B_9C20, operand: Operand::Nothing }, // mrs x0, pmcntenset_el0
    NamedInst { name: "MSR PMCNTENCLR_EL0", word: 0xD51B_9C41, operand: Operand::Value }, // msr pmcntenclr_el0, x1
    NamedInst { name: "MRS PMCNTENCLR_EL0", word: 0xD53B_9C40, operand: Operand::Nothing }, // mrs x0, pmcntenclr_el0
    NamedInst { name: "MSR PMOVSCLR_EL0", word: 0xD51B_9C61, operand: Operand::Value }, // msr pmovsclr_el0, x1
    NamedInst { name: "MRS PMOVSCLR_EL0", word: 0xD53B_9C60, operand: Operand::Nothing }, // mrs x0, pmovsclr_el0
    NamedInst { name: "MSR PMSELR_EL0", word: 0xD51B_9CA1, operand: Operand::Value }, // msr pmselr_el0, x1
    NamedInst { name: "MRS PMSELR_EL0", word: 0xD53B_9CA0, operand: Operand::Nothing }, // mrs x0, pmselr_el0
    NamedInst { name: "MRS PMCEID0_EL0", word: 0xD53B_9CC0, operand: Operand::Nothing }, // mrs x0, pmceid0_el0
    NamedInst { name: "MRS PMCEID1_EL0", word: 0xD53B_9CE0, operand: Operand::Nothing }, // mrs x0, pmceid1_el0
    NamedInst { name: "MSR PMCCNTR_EL0", word: 0xD51B_9D01, operand: Operand::Value }, // msr pmccntr_el0, x1
    NamedInst { name: "MRS PMCCNTR_EL0", word: 0xD53B_9D00, operand: Operand::Nothing }, // mrs x0, pmccntr_el0
    NamedInst { name: "MSR PMXEVTYPER_EL0", word: 0xD51B_9D21, operand: Operand::Value }, // msr pmxevtyper_el0, x1
    NamedInst { name: "MRS PMXEVTYPER_EL0", word: 0xD53B_9D20, operand: Operand::Nothing }, // mrs x0, pmxevtyper_el0
    NamedInst { name: "MSR PMXEVCNTR_EL0", word: 0xD51B_9D41, operand: Operand::Value }, // msr pmxevcntr_el0, x1
    NamedInst { name: "MRS PMXEVCNTR_EL0", word: 0xD53B_9D40, operand: Operand::Nothing }, // mrs x0, pmxevcntr_el0
    NamedInst { name: "MSR PMUSERENR_EL0", word: 0xD51B_9E01, operand: Operand::Value }, // msr pmuserenr_el0, x1
    NamedInst { name: "MRS PMUSERENR_EL0", word: 0xD53B_9E00, operand: Operand::Nothing }, // mrs x0, pmuserenr_el0
    NamedInst { name: "MSR PMOVSSET_EL0", word: 0xD51B_9E61, operand: Operand::Value }, // msr pmovsset_el0, x1
    NamedInst { name: "MRS PMOVSSET_EL0", word: 0xD53B_9E60, operand: Operand::Nothing }, // mrs x0, pmovsset_el0
    NamedInst { name: "MSR PMINTENSET_EL1", word: 0xD518_9E21, operand: Operand::Value }, // msr pmintenset_el1, x1
    NamedInst { name: "MRS PMINTENSET_EL1", word: 0xD538_9E20, operand: Operand::Nothing }, // mrs x0, pmintenset_el1
    NamedInst { name: "MSR PMINTENCLR_EL1", word: 0xD518_9E41, operand: Operand::Value }, // msr pmintenclr_el1, x1
    NamedInst { name: "MRS PMINTENCLR_EL1", word: 0xD538_9E40, operand: Operand::Nothing }, // mrs x0, pmintenclr_el1
    NamedInst { name: "MRS PMMIR_EL1", word: 0xD538_9EC0, operand: Operand::Nothing }, // mrs x0, pmmir_el1
    NamedInst { name: "MSR PMCCFILTR_EL0", word: 0xD51B_EFE1, operand: Operand::Value }, // msr pmccfiltr_el0, x1
    NamedInst { name: "MRS PMCCFILTR_EL0", word: 0xD53B_EFE0, operand: Operand::Nothing }, // mrs x0, pmccfiltr_el0
    NamedInst { name: "MSR MDCR_EL2", word: 0xD51C_1121, operand: Operand::Value }, // msr mdcr_el2, x1
    NamedInst { name: "MRS MDCR_EL2", word: 0xD53C_1120, operand: Operand::Nothing }, // mrs x0, mdcr_el2
    NamedInst { name: "MSR MDCR_EL3", word: 0xD51E_1321, operand: Operand::Value }, // msr mdcr_el3, x1
    NamedInst { name: "MRS MDCR_EL3", word: 0xD53E_1320, operand: Operand::Nothing }, // mrs x0, mdcr_el3
    NamedInst { name: "MSR PMEVCNTR0_EL0", word: 0xD51B_E801, operand: Operand::Value }, // msr pmevcntr0_el0, x1
    NamedInst { name: "MRS PMEVCNTR0_EL0", word: 0xD53B_E800, operand: Operand::Nothing }, // mrs x0, pmevcntr0_el0
    NamedInst { name: "MSR PMEVTYPER0_EL0", word: 0xD51B_EC01, operand: Operand::Value }, // msr pmevtyper0_el0, x1
    NamedInst { name: "MRS PMEVTYPER0_EL0", word: 0xD53B_EC00, operand: Operand::Nothing }, // mrs x0, pmevtyper0_el0
    NamedInst { name: "MSR PMEVCNTR1_EL0", word: 0xD51B_E821, operand: Operand::Value }, // msr pmevcntr1_el0, x1
    NamedInst { name: "MRS PMEVCNTR1_EL0", word: 0xD53B_E820, operand: Operand::Nothing }, // mrs x0, pmevcntr1_el0
    NamedInst { name: "MSR PMEVTYPER1_EL0", word: 0xD51B_EC21, operand: Operand::Value }, // msr pmevtyper1_el0, x1
    NamedInst { name: "MRS PMEVTYPER1_EL0", word: 0xD53B_EC20, operand: Operand::Nothing }, // mrs x0, pmevtyper1_el0
    NamedInst { name: "MSR PMEVCNTR2_EL0", word: 0xD51B_E841, operand: Operand::Value }, // msr pmevcntr2_el0, x1
    NamedInst { name: "MRS PMEVCNTR2_EL0", word: 0xD53B_E840, operand: Operand::Nothing }, // mrs x0, pmevcntr2_el0
    NamedInst { name: "MSR PMEVTYPER2_EL0", word: 0xD51B_EC41, operand: Operand::Value }, // msr pmevtyper2_el0, x1
    NamedInst { name: "MRS PMEVTYPER2_EL0", word: 0xD53B_EC40, operand: Operand::Nothing }, // mrs x0, pmevtyper2_el0
    NamedInst { name: "MSR PMEVCNTR3_EL0", word: 0xD51B_E861, operand: Operand::Value }, // msr pmevcntr3_el0, x1
    NamedInst { name: "MRS PMEVCNTR3_EL0", word: 0xD53B_E860, operand: Operand::Nothing }, // mrs x0, pmevcntr3_el0
    NamedInst { name: "MSR PMEVTYPER3_EL0", word: 0xD51B_EC61, operand: Operand::Value }, // msr pmevtyper3_el0, x1
    NamedInst { name: "MRS PMEVTYPER3_EL0", word: 0xD53B_EC60, operand: Operand::Nothing }, // mrs x0, pmevtyper3_el0
    NamedInst { name: "MSR PMEVCNTR4_EL0", word: 0xD51B_E881, operand: Operand::Value }, // msr pmevcntr4_el0, x1
    NamedInst { name: "MRS PMEVCNTR4_EL0", word: 0xD53B_E880, operand: Operand::Nothing }, // mrs x0, pmevcntr4_el0
    NamedInst { name: "MSR PMEVTYPER4_EL0", word: 0xD51B_EC81, operand: Operand::Value }, // msr pmevtyper4_el0, x1
    NamedInst { name: "MRS PMEVTYPER4_EL0", word: 0xD53B_EC80, operand: Operand::Nothing }, // mrs x0, pmevtyper4_el0
    NamedInst { name: "MSR PMEVCNTR5_EL0", word: 0xD51B_E8A1, operand: Operand::Value }, // msr pmevcntr5_el0, x1
    NamedInst { name: "MRS PMEVCNTR5_EL0", word: 0xD53B_E8A0, operand: Operand::Nothing }, // mrs x0, pmevcntr5_el0
    NamedInst { name: "MSR PMEVTYPER5_EL0", word: 0xD51B_ECA1, operand: Operand::Value }, // msr pmevtyper5_el0, x1
    NamedInst { name: "MRS PMEVTYPER5_EL0", word: 0xD53B_ECA0, operand: Operand::Nothing }, // mrs x0, pmevtyper5_el0
];
