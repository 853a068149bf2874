//! Exceptions in scenarios: routing (`H2`, `HCR_EL2 TSC`, `SCR_EL3 FIQ`, `Secure`), and steps that
//! are not A64 words (`IRQ`, `SError`, `A32 BKPT`, `cycles 400`).
//!
//! H0 is a kernel at EL1. H1 is a host kernel at EL2 (E2H and TGE). H2 is a guest kernel at EL1
//! under a hypervisor at EL2 that takes interrupts and SErrors, with stage 2 on.

use sim_core::ExceptionKind;
use sim_core::exception::{hcr_el2, scr_el3};

use super::action::{Action, Xt};
use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};
use super::given::Given;

/// Longest duration of a step: nine minutes at 2 GHz.
const MAX_CYCLES: u64 = 1 << 40;

/// Interrupts by name. nREI and nSEI are inputs of the core that request an SError.
const INTERRUPTS: [(&str, ExceptionKind); 7] = [
    ("IRQ", ExceptionKind::Irq),
    ("FIQ", ExceptionKind::Fiq),
    ("vIRQ", ExceptionKind::VirtualIrq),
    ("vFIQ", ExceptionKind::VirtualFiq),
    ("SError", ExceptionKind::SystemError),
    ("nREI", ExceptionKind::SystemError),
    ("nSEI", ExceptionKind::SystemError),
];

/// A32 instructions of the guide: name, word, and whether an address follows.
const A32: [(&str, u32, bool); 5] = [
    ("LDR", 0xE591_F000, true),    // ldr pc, [r1]
    ("MOV", 0xE1A0_F004, false),   // mov pc, r4
    ("SUBS", 0xE25E_F004, false),  // subs pc, lr, #4
    ("BKPT", 0xE120_0070, false),  // bkpt #0
    ("VMULL", 0xF2A2_0E03, false), // vmull.p64 q0, d2, d3
];

/// Returns the first words of these steps.
pub(super) fn exception_names() -> impl Iterator<Item = &'static str> {
    INTERRUPTS.iter().map(|(name, _)| *name).chain(["A32", "cycles"])
}

/// Reads an interrupt, an A32 instruction or an idle time, if it is next.
pub(super) fn parse_exception(cursor: &mut Cursor, names: &Names) -> Result<Option<Action>, Fault> {
    if let Some((_, kind)) = INTERRUPTS.iter().find(|(name, _)| cursor.take_word(name)) {
        return Ok(Some(Action::Interrupt(*kind)));
    }
    if cursor.take_word("cycles") {
        let offset = cursor.offset();
        let until = cursor.need_number("at how many cycles of the case the step ends")?;
        return Ok(Some(Action::Idle { until: bounded(until, offset)? }));
    }
    if !cursor.take_word("A32") {
        return Ok(None);
    }
    let Some((name, word, has_address)) = A32.iter().find(|(name, ..)| cursor.take_word(name))
    else {
        let known: Vec<&str> = A32.iter().map(|(name, ..)| *name).collect();
        return Err(cursor.expected(&format!("an A32 instruction ({})", known.join(", "))));
    };
    if matches!(*name, "LDR" | "MOV" | "SUBS") && !cursor.take_word("PC") {
        return Err(cursor.expected("'PC', the destination"));
    }
    let operand = match has_address {
        true => Some(Xt::Address(cursor.address(names)?)),
        false => None,
    };
    Ok(Some(Action::ExecuteA32 { word: *word, operand }))
}

/// Reads the number of cycles that a `WFI` or `WFE` sleeps, if it is stated.
pub(super) fn parse_sleep(cursor: &mut Cursor) -> Result<Option<u64>, Fault> {
    let offset = cursor.offset();
    cursor.number()?.map(|cycles| bounded(cycles, offset)).transpose()
}

fn bounded(value: u64, offset: usize) -> Result<u64, Fault> {
    let (what, range) = ("a time in cycles", "at most 2^40");
    let problem = Problem::OutOfRange { what, range, value };
    if value <= MAX_CYCLES { Ok(value) } else { Err(Fault::new(offset, problem)) }
}

/// Reads a clause of exception routing, if it is next.
pub(super) fn parse_routing(cursor: &mut Cursor, given: &mut Given) -> Result<bool, Fault> {
    if cursor.take_word("H0") {
    } else if cursor.take_word("H1") {
        set_hcr(given, hcr_el2::E2H | hcr_el2::TGE);
    } else if cursor.take_word("H2") {
        set_hcr(given, hcr_el2::VM | hcr_el2::IMO | hcr_el2::FMO | hcr_el2::AMO);
        given.stage2 = true;
    } else if cursor.take_word("Secure") {
        given.privilege.secure = true;
    } else if cursor.take_word("HCR_EL2") {
        let bits = parse_bits(cursor, &hcr_el2::NAMED)?;
        set_hcr(given, bits);
    } else if cursor.take_word("SCR_EL3") {
        given.exceptions.scr_el3 |= parse_bits(cursor, &scr_el3::NAMED)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn set_hcr(given: &mut Given, bits: u64) {
    given.exceptions.hcr_el2 |= bits;
    given.privilege.e2h |= bits & hcr_el2::E2H != 0;
    given.privilege.tge |= bits & hcr_el2::TGE != 0;
}

/// Reads one or more register bits by name.
fn parse_bits(cursor: &mut Cursor, named: &[(&str, u64)]) -> Result<u64, Fault> {
    let mut bits = 0;
    while let Some((_, bit)) = named.iter().find(|(name, _)| cursor.take_word(name)) {
        bits |= bit;
    }
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    if bits == 0 {
        return Err(cursor.expected(&format!("a bit of the register ({})", names.join(", "))));
    }
    Ok(bits)
}
