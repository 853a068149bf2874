//! Statements about the PMU of another core. Its registers follow the steps of the case: each `MSR`
//! of a step writes them, too, and the program's level is the same.
//!
//! * `read of PMCEID1 of cortex-a32 = 0`, `read of PMCEID1 of cortex-a32 undefined`, `trapped to
//!   EL1` or `not described`: a read at the program's level after the last step, by the AArch32 or
//!   the AArch64 name;
//! * `write of PMCEID1 of cortex-a32 undefined`, `done` or as above: a write of 0 instead;
//! * `read of 0xE24 of cortex-a32 = 0`: a read from outside the core, by offset;
//! * `offset of PMCEID1 of cortex-a32 is 0xE24` or `is absent`;
//! * `encoding of PMCEID1 of cortex-a32 is 15 0 9 12 7`: coproc, opc1, CRn, CRm and opc2 of an
//!   AArch32 name, op0, op1, CRn, CRm and op2 of an AArch64 name;
//! * `bit 16 of PMCEID1 of cortex-a32 is L2I_TLB clear`, `set` or `is reserved`: the event of a
//!   bit.

use std::fmt;

use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::pmu_registers::{RegisterRead, level};
use super::pmu_statements::{parse_core, small};

/// Statement about the PMU of another core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPmuStatement {
    /// Name of the core.
    pub core: String,
    /// Claim about it.
    pub claim: OtherPmuClaim,
}

/// Claim of a statement about the PMU of another core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherPmuClaim {
    /// Result of reading a register.
    Read {
        /// AArch32 or AArch64 name.
        name: String,
        /// Expected result.
        result: AccessResult,
    },
    /// Result of writing a register.
    Write {
        /// AArch32 or AArch64 name.
        name: String,
        /// Expected result.
        result: AccessResult,
    },
    /// Value read from outside.
    Outside {
        /// Offset in the external interface.
        offset: u16,
        /// Expected value.
        value: u32,
    },
    /// Offset of a register in the external interface.
    Offset {
        /// AArch32 or AArch64 name.
        name: String,
        /// Expected offset; `None` for a register that has none.
        offset: Option<u16>,
    },
    /// Fields of the instruction that accesses a register.
    Encoding {
        /// AArch32 or AArch64 name.
        name: String,
        /// Expected fields.
        fields: [u8; 5],
    },
    /// Meaning and value of a bit of a word of common events.
    Bit {
        /// Number of the bit.
        bit: u8,
        /// `PMCEID0` to `PMCEID3`.
        word: String,
        /// Event of the bit, and whether the bit is set; `None` for a reserved bit.
        event: Option<(String, bool)>,
    },
}

/// Result of an access to a register of another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessResult {
    /// A value, an undefined instruction, or a trap, as on the Neoverse N2.
    Like(RegisterRead),
    /// A write that took place.
    Done,
    /// No source describes the register of this core.
    NotDescribed,
}

impl fmt::Display for AccessResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessResult::Like(RegisterRead::Value(value)) => write!(f, "0x{value:x}"),
            AccessResult::Like(RegisterRead::Undefined) => write!(f, "undefined"),
            AccessResult::Like(RegisterRead::TrappedTo(level)) => write!(f, "trapped to EL{level}"),
            AccessResult::Done => write!(f, "done"),
            AccessResult::NotDescribed => write!(f, "not described"),
        }
    }
}

impl fmt::Display for OtherPmuStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.claim {
            OtherPmuClaim::Read { name, .. } => write!(f, "read of {name}")?,
            OtherPmuClaim::Write { name, .. } => write!(f, "write of {name}")?,
            OtherPmuClaim::Outside { offset, .. } => write!(f, "read of 0x{offset:X}")?,
            OtherPmuClaim::Offset { name, .. } => write!(f, "offset of {name}")?,
            OtherPmuClaim::Encoding { name, .. } => write!(f, "encoding of {name}")?,
            OtherPmuClaim::Bit { bit, word, .. } => write!(f, "bit {bit} of {word}")?,
        }
        write!(f, " of {}", self.core)
    }
}

/// Reads a statement about the PMU of another core, if it is next.
pub(super) fn parse_other_pmu(cursor: &mut Cursor) -> Result<Option<OtherPmuStatement>, Fault> {
    let statement = if cursor.take_word("read") {
        parse_read(cursor)?
    } else if cursor.take_word("write") {
        let (name, core) = subject(cursor)?;
        let result = parse_result(cursor, true)?;
        OtherPmuStatement { core, claim: OtherPmuClaim::Write { name, result } }
    } else if cursor.take_word("offset") {
        parse_offset(cursor)?
    } else if cursor.take_word("encoding") {
        parse_encoding(cursor)?
    } else if cursor.take_word("bit") {
        parse_bit(cursor)?
    } else {
        return Ok(None);
    };
    Ok(Some(statement))
}

/// Reads `of PMCEID1 of cortex-a32`.
fn subject(cursor: &mut Cursor) -> Result<(String, String), Fault> {
    need(cursor, "of", "'of' and a register")?;
    let name = cursor.word().ok_or_else(|| cursor.expected("a register"))?.to_owned();
    Ok((name, core(cursor)?))
}

fn core(cursor: &mut Cursor) -> Result<String, Fault> {
    parse_core(cursor)?.ok_or_else(|| cursor.expected("'of' and a core"))
}

fn need(cursor: &mut Cursor, word: &str, what: &str) -> Result<(), Fault> {
    if cursor.take_word(word) { Ok(()) } else { Err(cursor.expected(what)) }
}

fn parse_read(cursor: &mut Cursor) -> Result<OtherPmuStatement, Fault> {
    let mut ahead = cursor.clone();
    need(&mut ahead, "of", "'of' and a register or an offset")?;
    if ahead.peek_word().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
        *cursor = ahead;
        let offset = small(cursor, "an offset", "12 bits", 0xFFF)? as u16;
        let core = core(cursor)?;
        if !cursor.take("=") {
            return Err(cursor.expected("'=' and the value"));
        }
        let value = small(cursor, "the value", "32 bits", u32::MAX.into())? as u32;
        return Ok(OtherPmuStatement { core, claim: OtherPmuClaim::Outside { offset, value } });
    }
    let (name, core) = subject(cursor)?;
    let result = parse_result(cursor, false)?;
    Ok(OtherPmuStatement { core, claim: OtherPmuClaim::Read { name, result } })
}

fn parse_result(cursor: &mut Cursor, is_write: bool) -> Result<AccessResult, Fault> {
    if is_write && cursor.take_word("done") {
        return Ok(AccessResult::Done);
    }
    if !is_write && cursor.take("=") {
        let value = cursor.need_number("the value of the register")?;
        return Ok(AccessResult::Like(RegisterRead::Value(value)));
    }
    if cursor.take_word("undefined") {
        return Ok(AccessResult::Like(RegisterRead::Undefined));
    }
    if cursor.take_word("not") && cursor.take_word("described") {
        return Ok(AccessResult::NotDescribed);
    }
    if cursor.take_word("trapped") && cursor.take_word("to") {
        return Ok(AccessResult::Like(RegisterRead::TrappedTo(level(cursor)?)));
    }
    let first = if is_write { "'done'" } else { "'= value'" };
    Err(cursor.expected(&format!("{first}, 'undefined', 'trapped to EL1' or 'not described'")))
}

fn parse_offset(cursor: &mut Cursor) -> Result<OtherPmuStatement, Fault> {
    let (name, core) = subject(cursor)?;
    need(cursor, "is", "'is' and an offset, or 'is absent'")?;
    let offset = match cursor.take_word("absent") {
        true => None,
        false => Some(small(cursor, "an offset", "12 bits", 0xFFF)? as u16),
    };
    Ok(OtherPmuStatement { core, claim: OtherPmuClaim::Offset { name, offset } })
}

fn parse_encoding(cursor: &mut Cursor) -> Result<OtherPmuStatement, Fault> {
    let (name, core) = subject(cursor)?;
    need(cursor, "is", "'is' and five fields")?;
    let mut fields = [0; 5];
    for field in &mut fields {
        *field = small(cursor, "a field of the encoding", "0 to 15", 15)? as u8;
    }
    Ok(OtherPmuStatement { core, claim: OtherPmuClaim::Encoding { name, fields } })
}

fn parse_bit(cursor: &mut Cursor) -> Result<OtherPmuStatement, Fault> {
    let bit = small(cursor, "the number of a bit", "0 to 31", 31)? as u8;
    let mut ahead = cursor.clone();
    need(&mut ahead, "of", "'of' and a word of common events")?;
    let offset = ahead.offset();
    let (word, core) = subject(cursor)?;
    if !["PMCEID0", "PMCEID1", "PMCEID2", "PMCEID3"].contains(&word.as_str()) {
        let expected = String::from("PMCEID0 to PMCEID3");
        return Err(Fault::new(offset, Problem::Expected { expected, found: word }));
    }
    need(cursor, "is", "'is' and an event, or 'is reserved'")?;
    if cursor.take_word("reserved") {
        return Ok(OtherPmuStatement {
            core,
            claim: OtherPmuClaim::Bit { bit, word, event: None },
        });
    }
    let event = cursor.word().ok_or_else(|| cursor.expected("the name of an event"))?.to_owned();
    let is_set = cursor.take_word("set");
    if !is_set && !cursor.take_word("clear") {
        return Err(cursor.expected("'set' or 'clear'"));
    }
    let event = Some((event, is_set));
    Ok(OtherPmuStatement { core, claim: OtherPmuClaim::Bit { bit, word, event } })
}
