//! Statements about the PMU beyond counts, counters and registers.
//!
//! * `PMUIRQ raised`, `PMUIRQ clear`: the overflow interrupt after the last step;
//! * `busiest cycle BUS_ACCESS 2`: the most that one cycle adds to an event;
//! * `bus of cortex-a53 bit 8 in 1 cycle`: the number of cycles in which a bit of the event bus is
//!   set, as that core exports it;
//! * `event 0x60 is BUS_ACCESS_RD`, `event 0x60 of cortex-a53 is BUS_ACCESS_LD`, `event 0x06 is
//!   absent`: the name of an event number;
//! * `register PMCEID1 of cortex-a32 = 0`: a word of common events of another core;
//! * statements about the PMU of another core (`other_pmu`).

use std::fmt;

use sim_core::PmuEvent;

use super::bound::{Bound, event_named, parse_bound};
use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::other_pmu::{OtherPmuStatement, parse_other_pmu};

/// One statement about the PMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PmuStatement {
    /// Level of the overflow interrupt.
    Interrupt {
        /// The interrupt is requested.
        raised: bool,
    },
    /// Most that one cycle adds to an event.
    BusiestCycle {
        /// Event in question.
        event: PmuEvent,
        /// Expected number.
        bound: Bound,
    },
    /// Bit of the exported event bus.
    BusBit {
        /// Core that exports the bus.
        core: String,
        /// Number of the bit.
        bit: u8,
        /// Number of cycles in which the bit is set.
        cycles: Bound,
    },
    /// Name of an event number.
    EventName {
        /// Event number.
        code: u16,
        /// Core other than the Neoverse N2.
        core: Option<String>,
        /// Name of the event; `None` if the core does not have it.
        name: Option<String>,
    },
    /// Word of common events of another core.
    CommonEvents {
        /// `PMCEID0` to `PMCEID3`.
        word: String,
        /// Name of the core.
        core: String,
        /// Expected value.
        value: u32,
    },
    /// Statement about the PMU of another core.
    OtherPmu(OtherPmuStatement),
}

impl fmt::Display for PmuStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PmuStatement::Interrupt { .. } => write!(f, "PMUIRQ"),
            PmuStatement::BusiestCycle { event, .. } => {
                write!(f, "busiest cycle {}", event.mnemonic())
            }
            PmuStatement::BusBit { core, bit, .. } => write!(f, "bus of {core} bit {bit}"),
            PmuStatement::EventName { code, core, .. } => {
                write!(f, "event 0x{code:02X}")?;
                core.as_ref().map_or(Ok(()), |core| write!(f, " of {core}"))
            }
            PmuStatement::CommonEvents { word, core, .. } => write!(f, "register {word} of {core}"),
            PmuStatement::OtherPmu(said) => said.fmt(f),
        }
    }
}

/// Reads a statement about the PMU, if it is next.
pub(super) fn parse_pmu_statement(cursor: &mut Cursor) -> Result<Option<PmuStatement>, Fault> {
    let statement = if cursor.take_word("PMUIRQ") {
        parse_interrupt(cursor)?
    } else if cursor.take_word("busiest") {
        parse_busiest(cursor)?
    } else if cursor.take_word("bus") {
        parse_bus_bit(cursor)?
    } else if cursor.take_word("event") {
        parse_event_name(cursor)?
    } else if let Some(said) = parse_other_pmu(cursor)? {
        PmuStatement::OtherPmu(said)
    } else {
        return parse_common_events(cursor);
    };
    Ok(Some(statement))
}

fn parse_interrupt(cursor: &mut Cursor) -> Result<PmuStatement, Fault> {
    let raised = cursor.take_word("raised");
    if !raised && !cursor.take_word("clear") {
        return Err(cursor.expected("'raised' or 'clear' after PMUIRQ"));
    }
    Ok(PmuStatement::Interrupt { raised })
}

fn parse_busiest(cursor: &mut Cursor) -> Result<PmuStatement, Fault> {
    if !cursor.take_word("cycle") {
        return Err(cursor.expected("'busiest cycle' and an event"));
    }
    let offset = cursor.offset();
    let name = cursor.word().ok_or_else(|| cursor.expected("an event"))?;
    let event = event_named(name, offset)?;
    Ok(PmuStatement::BusiestCycle { event, bound: parse_bound(cursor)? })
}

fn parse_bus_bit(cursor: &mut Cursor) -> Result<PmuStatement, Fault> {
    let core = parse_core(cursor)?.ok_or_else(|| cursor.expected("'of' and a core"))?;
    if !cursor.take_word("bit") {
        return Err(cursor.expected("'bit' and its number"));
    }
    let bit = small(cursor, "the number of a bit", "0 to 31", 31)? as u8;
    if !cursor.take_word("in") {
        return Err(cursor.expected("'in' and a number of cycles"));
    }
    let cycles = parse_bound(cursor)?;
    if !(cursor.take_word("cycles") || cursor.take_word("cycle")) {
        return Err(cursor.expected("'cycles'"));
    }
    Ok(PmuStatement::BusBit { core, bit, cycles })
}

fn parse_event_name(cursor: &mut Cursor) -> Result<PmuStatement, Fault> {
    let code = small(cursor, "the number of an event", "16 bits", u16::MAX.into())? as u16;
    let core = parse_core(cursor)?;
    if !cursor.take_word("is") {
        return Err(cursor.expected("'is' and a name, or 'is absent'"));
    }
    let name = match cursor.take_word("absent") {
        true => None,
        false => Some(cursor.word().ok_or_else(|| cursor.expected("the name of an event"))?),
    };
    Ok(PmuStatement::EventName { code, core, name: name.map(str::to_owned) })
}

/// Reads `register PMCEID1 of cortex-a32 = 0`, if it is next. Leaves other statements alone.
fn parse_common_events(cursor: &mut Cursor) -> Result<Option<PmuStatement>, Fault> {
    let mut ahead = cursor.clone();
    if !ahead.take_word("register") {
        return Ok(None);
    }
    let offset = ahead.offset();
    let Some(word) = ahead.word() else { return Ok(None) };
    let Some(core) = parse_core(&mut ahead)? else { return Ok(None) };
    *cursor = ahead;
    if !["PMCEID0", "PMCEID1", "PMCEID2", "PMCEID3"].contains(&word) {
        let expected = String::from("PMCEID0 to PMCEID3: nothing else is known of another core");
        return Err(Fault::new(offset, Problem::Expected { expected, found: word.to_owned() }));
    }
    if !cursor.take("=") {
        return Err(cursor.expected("'=' and the value of the register"));
    }
    let value = small(cursor, "the word", "32 bits", u32::MAX.into())? as u32;
    Ok(Some(PmuStatement::CommonEvents { word: word.to_owned(), core, value }))
}

/// Reads `of cortex-a53`, if it is next.
pub(super) fn parse_core(cursor: &mut Cursor) -> Result<Option<String>, Fault> {
    if !cursor.take_word("of") {
        return Ok(None);
    }
    let core = cursor.word().ok_or_else(|| cursor.expected("the name of a core"))?;
    Ok(Some(core.to_owned()))
}

pub(super) fn small(
    cursor: &mut Cursor,
    what: &'static str,
    range: &'static str,
    most: u64,
) -> Result<u64, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number(what)?;
    match value <= most {
        true => Ok(value),
        false => Err(Fault::new(offset, Problem::OutOfRange { what, range, value })),
    }
}
