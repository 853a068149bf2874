//! Statistical profiling in scenarios: programming, sampled operations, and their records.
//!
//! Given clauses:
//!
//! * values of registers (`PMSFCR_EL1 = 6`, `MDCR_EL2 = 0x3000`);
//! * `SPE`: profile EL1 and EL0 of the non-secure state into an empty buffer, without filters,
//!   every 257 operations;
//! * `SPE random 16 0 255`: the bytes that make the interval random;
//! * `SPE fault 0x10FC0 translation 3`: a fault of a buffer write at an address.
//!
//! Expectations:
//!
//! * the operations of the population, from 1, that were `sampled 257 514`, `collided`, `collected`
//!   (passed the filters) or `written`;
//! * fields of a record: `record 257 total 99 source 8 address 0x8000 target none`;
//! * the buffer's interrupt: `PMBIRQ asserted`.

use super::bound::{Bound, parse_bound};
use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::operand::{NamedInst, Operand};

/// Fault of a write to the profiling buffer at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenFault {
    /// Address of the byte that cannot be written.
    pub addr: u64,
    /// Kind of the fault.
    pub kind: GivenFaultKind,
    /// Level of the walk, 0 to 3, for kinds with one.
    pub level: u8,
    /// The fault is one of stage 2.
    pub stage_2: bool,
}

/// Kind of a fault or abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenFaultKind {
    /// `address-size 1`
    AddressSize,
    /// `translation 3`
    Translation,
    /// `access-flag 3`
    AccessFlag,
    /// `permission 3`
    Permission,
    /// `abort`
    Abort,
    /// `walk-abort 2`
    WalkAbort,
    /// `late-abort`
    LateAbort,
    /// `conflict`
    Conflict,
    /// `unsupported`
    Unsupported,
}

/// Kinds by name, and whether a level follows.
const KINDS: [(&str, GivenFaultKind, bool); 9] = [
    ("address-size", GivenFaultKind::AddressSize, true),
    ("translation", GivenFaultKind::Translation, true),
    ("access-flag", GivenFaultKind::AccessFlag, true),
    ("permission", GivenFaultKind::Permission, true),
    ("abort", GivenFaultKind::Abort, false),
    ("walk-abort", GivenFaultKind::WalkAbort, true),
    ("late-abort", GivenFaultKind::LateAbort, false),
    ("conflict", GivenFaultKind::Conflict, false),
    ("unsupported", GivenFaultKind::Unsupported, false),
];

/// Programming of profiling before the first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenProfiling {
    /// Registers and their values, in order.
    pub registers: Vec<(String, u64)>,
    /// Random bytes of the interval, if given.
    pub random: Option<Vec<u8>>,
    /// Faults of buffer writes.
    pub faults: Vec<GivenFault>,
}

/// Register values of `SPE`.
const USUAL: [(&str, u64); 6] = [
    ("MDCR_EL3", 0b11 << 12),
    ("MDCR_EL2", 0b11 << 12),
    ("PMSCR_EL1", 0b11),
    ("PMSIRR_EL1", 0x100),
    ("PMBPTR_EL1", 0x1_0000),
    ("PMBLIMITR_EL1", 0x10_0001),
];

/// Set of sampled operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSet {
    /// Operations that were due for sampling and did not collide.
    Sampled,
    /// Operations that collided.
    Collided,
    /// Operations that passed the filters.
    Collected,
    /// Operations whose records are in the buffer.
    Written,
}

/// Sets by name.
const SETS: [(&str, SampleSet); 4] = [
    ("sampled", SampleSet::Sampled),
    ("collided", SampleSet::Collided),
    ("collected", SampleSet::Collected),
    ("written", SampleSet::Written),
];

/// Expectation about sampled operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileClaim {
    /// Exact contents of a set.
    Operations {
        /// Set of operations.
        set: SampleSet,
        /// Numbers in the population, from 1, in order.
        numbers: Vec<u64>,
    },
    /// Interrupt line of the buffer.
    Interrupt {
        /// The line is asserted.
        asserted: bool,
    },
    /// Record of an operation.
    Record {
        /// Number in the population.
        number: u64,
        /// Fields with expected values; `None` if the field must be absent.
        fields: Vec<(RecordField, Option<Bound>)>,
    },
}

/// Field of a record.
#[allow(missing_docs, reason = "each is named in FIELDS as scenarios write it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordField {
    Pc,
    Level,
    ContextEl1,
    ContextEl2,
    Class,
    Payload,
    Events,
    Issue,
    Total,
    Translation,
    Target,
    TargetLevel,
    Address,
    Physical,
    Source,
    Time,
}

/// Fields by name.
pub const FIELDS: [(&str, RecordField); 16] = [
    ("pc", RecordField::Pc),
    ("level", RecordField::Level),
    ("context1", RecordField::ContextEl1),
    ("context2", RecordField::ContextEl2),
    ("class", RecordField::Class),
    ("type", RecordField::Payload),
    ("events", RecordField::Events),
    ("issue", RecordField::Issue),
    ("total", RecordField::Total),
    ("translation", RecordField::Translation),
    ("target", RecordField::Target),
    ("target-level", RecordField::TargetLevel),
    ("address", RecordField::Address),
    ("physical", RecordField::Physical),
    ("source", RecordField::Source),
    ("time", RecordField::Time),
];

/// Reads a clause of `given` about profiling, if it is next.
pub(super) fn parse_given_profiling(
    cursor: &mut Cursor,
    given: &mut GivenProfiling,
) -> Result<bool, Fault> {
    if cursor.take_word("SPE") {
        return parse_unit(cursor, given).map(|()| true);
    }
    let Some(name) = cursor.peek_word().filter(|name| is_register(name)) else { return Ok(false) };
    let mut ahead = cursor.clone();
    ahead.word();
    if !ahead.take("=") {
        return Ok(false);
    }
    let value = ahead.need_number("the value of the register")?;
    given.registers.push((name.to_owned(), value));
    *cursor = ahead;
    Ok(true)
}

fn parse_unit(cursor: &mut Cursor, given: &mut GivenProfiling) -> Result<(), Fault> {
    if cursor.take_word("random") {
        let mut bytes = vec![random_byte(cursor)?];
        while cursor.peek_word().is_some() {
            bytes.push(random_byte(cursor)?);
        }
        given.random = Some(bytes);
    } else if cursor.take_word("fault") {
        given.faults.push(parse_fault(cursor)?);
    } else {
        given.registers.extend(USUAL.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(())
}

fn random_byte(cursor: &mut Cursor) -> Result<u8, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("a random byte")?;
    let problem = Problem::OutOfRange { what: "a random byte", range: "0 to 255", value };
    u8::try_from(value).map_err(|_| Fault::new(offset, problem))
}

fn parse_fault(cursor: &mut Cursor) -> Result<GivenFault, Fault> {
    let addr = cursor.need_number("the address at which the buffer cannot be written")?;
    let Some((_, kind, has_level)) = KINDS.iter().find(|(name, ..)| cursor.take_word(name)) else {
        let names = KINDS.map(|(name, ..)| name).join(", ");
        return Err(cursor.expected(&format!("a kind of fault ({names})")));
    };
    let mut level = 0;
    if *has_level {
        let offset = cursor.offset();
        let value = cursor.need_number("the level of the walk")?;
        let problem = Problem::OutOfRange { what: "a level of a walk", range: "0 to 3", value };
        level = u8::try_from(value).ok().filter(|n| *n < 4).ok_or(Fault::new(offset, problem))?;
    }
    let stage_2 = cursor.take_word("stage");
    if stage_2 && !cursor.take_word("2") {
        return Err(cursor.expected("'stage 2'"));
    }
    Ok(GivenFault { addr, kind: *kind, level, stage_2 })
}

/// Reads a statement of `expect` about sampled operations, if it is next.
pub(super) fn parse_profile_claim(cursor: &mut Cursor) -> Result<Option<ProfileClaim>, Fault> {
    if let Some((_, set)) = SETS.iter().find(|(name, _)| cursor.take_word(name)) {
        let mut numbers = Vec::new();
        if !cursor.take_word("none") {
            numbers.push(cursor.need_number("the number of an operation, or 'none'")?);
            while let Some(number) = cursor.number()? {
                numbers.push(number);
            }
        }
        return Ok(Some(ProfileClaim::Operations { set: *set, numbers }));
    }
    if cursor.take_word("PMBIRQ") {
        let asserted = cursor.take_word("asserted");
        if !asserted && !cursor.take_word("clear") {
            return Err(cursor.expected("'asserted' or 'clear'"));
        }
        return Ok(Some(ProfileClaim::Interrupt { asserted }));
    }
    if !cursor.take_word("record") {
        return Ok(None);
    }
    let number = cursor.need_number("the number of a sampled operation")?;
    let mut fields = vec![parse_field(cursor)?];
    while cursor.peek_word().is_some() {
        fields.push(parse_field(cursor)?);
    }
    Ok(Some(ProfileClaim::Record { number, fields }))
}

fn parse_field(cursor: &mut Cursor) -> Result<(RecordField, Option<Bound>), Fault> {
    let Some((_, field)) = FIELDS.iter().find(|(name, _)| cursor.take_word(name)) else {
        let names = FIELDS.map(|(name, _)| name).join(", ");
        return Err(cursor.expected(&format!("a field of a record ({names})")));
    };
    let bound = if cursor.take_word("none") { None } else { Some(parse_bound(cursor)?) };
    Ok((*field, bound))
}

/// Returns true for registers that can be given: those of the unit, and two that control it.
fn is_register(name: &str) -> bool {
    is_profiling_register(name) || name == "MDCR_EL2" || name == "MDCR_EL3"
}

/// Returns true for the registers of the unit.
pub(super) fn is_profiling_register(name: &str) -> bool {
    SPE_INSTS.iter().any(|inst| inst.name.strip_prefix("MRS ") == Some(name))
}

/// Reads and writes of the unit's registers, and the barrier. The words were assembled with
/// binutils 2.40.
#[rustfmt::skip]
pub const SPE_INSTS: [NamedInst; 25] = [
    NamedInst { name: "MSR PMSCR_EL1", word: 0xD518_9901, operand: Operand::Value }, // msr pmscr_el1, x1
    NamedInst { name: "MRS PMSCR_EL1", word: 0xD538_9900, operand: Operand::Nothing }, // mrs x0, pmscr_el1
    NamedInst { name: "MSR PMSICR_EL1", word: 0xD518_9941, operand: Operand::Value }, // msr pmsicr_el1, x1
    NamedInst { name: "MRS PMSICR_EL1", word: 0xD538_9940, operand: Operand::Nothing }, // mrs x0, pmsicr_el1
    NamedInst { name: "MSR PMSIRR_EL1", word: 0xD518_9961, operand: Operand::Value }, // msr pmsirr_el1, x1
    NamedInst { name: "MRS PMSIRR_EL1", word: 0xD538_9960, operand: Operand::Nothing }, // mrs x0, pmsirr_el1
    NamedInst { name: "MSR PMSFCR_EL1", word: 0xD518_9981, operand: Operand::Value }, // msr pmsfcr_el1, x1
    NamedInst { name: "MRS PMSFCR_EL1", word: 0xD538_9980, operand: Operand::Nothing }, // mrs x0, pmsfcr_el1
    NamedInst { name: "MSR PMSEVFR_EL1", word: 0xD518_99A1, operand: Operand::Value }, // msr pmsevfr_el1, x1
    NamedInst { name: "MRS PMSEVFR_EL1", word: 0xD538_99A0, operand: Operand::Nothing }, // mrs x0, pmsevfr_el1
    NamedInst { name: "MSR PMSLATFR_EL1", word: 0xD518_99C1, operand: Operand::Value }, // msr pmslatfr_el1, x1
    NamedInst { name: "MRS PMSLATFR_EL1", word: 0xD538_99C0, operand: Operand::Nothing }, // mrs x0, pmslatfr_el1
    NamedInst { name: "MRS PMSIDR_EL1", word: 0xD538_99E0, operand: Operand::Nothing }, // mrs x0, pmsidr_el1
    NamedInst { name: "MSR PMBLIMITR_EL1", word: 0xD518_9A01, operand: Operand::Value }, // msr pmblimitr_el1, x1
    NamedInst { name: "MRS PMBLIMITR_EL1", word: 0xD538_9A00, operand: Operand::Nothing }, // mrs x0, pmblimitr_el1
    NamedInst { name: "MSR PMBPTR_EL1", word: 0xD518_9A21, operand: Operand::Value }, // msr pmbptr_el1, x1
    NamedInst { name: "MRS PMBPTR_EL1", word: 0xD538_9A20, operand: Operand::Nothing }, // mrs x0, pmbptr_el1
    NamedInst { name: "MSR PMBSR_EL1", word: 0xD518_9A61, operand: Operand::Value }, // msr pmbsr_el1, x1
    NamedInst { name: "MRS PMBSR_EL1", word: 0xD538_9A60, operand: Operand::Nothing }, // mrs x0, pmbsr_el1
    NamedInst { name: "MRS PMBIDR_EL1", word: 0xD538_9AE0, operand: Operand::Nothing }, // mrs x0, pmbidr_el1
    NamedInst { name: "MSR PMSCR_EL2", word: 0xD51C_9901, operand: Operand::Value }, // msr pmscr_el2, x1
    NamedInst { name: "MRS PMSCR_EL2", word: 0xD53C_9900, operand: Operand::Nothing }, // mrs x0, pmscr_el2
    NamedInst { name: "MSR PMSCR_EL12", word: 0xD51D_9901, operand: Operand::Value }, // msr pmscr_el12, x1
    NamedInst { name: "MRS PMSCR_EL12", word: 0xD53D_9900, operand: Operand::Nothing }, // mrs x0, pmscr_el12
    NamedInst { name: "PSB CSYNC", word: 0xD503_223F, operand: Operand::Nothing }, // psb csync
];
