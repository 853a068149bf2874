//! Counters of the PMU in scenarios: what they count from the first step on, and what they show at the end.
//!
//! Given `counter 2 counts SW_INCR` or `counter 2 = 0xFFFFFFFE counts INST_RETIRED`; expected
//! `counter 2 = 3`, or `counter 2 = 0 overflowed`. A counter that is named must not have overflowed
//! unless the word stands there. Counters that are given run; no others do.

use sim_core::PmuEvent;

use super::bound::event_named;
use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Event counters of the core (PMU guide 2).
const COUNTERS: u64 = 6;

/// A counter before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenCounter {
    /// Its number, 0 to 5.
    pub counter: u8,
    /// Its value.
    pub value: u32,
    /// What it counts.
    pub event: PmuEvent,
}

/// A counter behind the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedCounter {
    /// Its number, 0 to 5.
    pub counter: u8,
    /// Its value.
    pub value: u64,
    /// Its overflow flag is set.
    pub overflowed: bool,
}

fn number(cursor: &mut Cursor) -> Result<u8, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("the number of a counter")?;
    if value >= COUNTERS {
        let problem = Problem::OutOfRange { what: "a counter", range: "0 to 5", value };
        return Err(Fault::new(offset, problem));
    }
    Ok(value as u8)
}

fn value(cursor: &mut Cursor) -> Result<u32, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("the value of the counter")?;
    let problem = Problem::OutOfRange { what: "a counter's value", range: "32 bits", value };
    u32::try_from(value).map_err(|_| Fault::new(offset, problem))
}

/// Reads a clause of `given` about a counter that no `earlier` one is about, if one stands here.
pub(super) fn parse_given_counter(
    cursor: &mut Cursor,
    earlier: &[GivenCounter],
) -> Result<Option<GivenCounter>, Fault> {
    if !cursor.take_word("counter") {
        return Ok(None);
    }
    let offset = cursor.offset();
    let counter = number(cursor)?;
    if earlier.iter().any(|given| given.counter == counter) {
        return Err(Fault::new(offset, Problem::CounterTwice(counter)));
    }
    let value = if cursor.take("=") { value(cursor)? } else { 0 };
    if !cursor.take_word("counts") {
        return Err(cursor.expected("'counts' and an event"));
    }
    let offset = cursor.offset();
    let name = cursor.word().ok_or_else(|| cursor.expected("an event"))?;
    Ok(Some(GivenCounter { counter, value, event: event_named(name, offset)? }))
}

/// Reads a statement of `expect` about a counter, if one stands here.
pub(super) fn parse_expected_counter(
    cursor: &mut Cursor,
) -> Result<Option<ExpectedCounter>, Fault> {
    if !cursor.take_word("counter") {
        return Ok(None);
    }
    let counter = number(cursor)?;
    if !cursor.take("=") {
        return Err(cursor.expected("'=' and the value of the counter"));
    }
    let value = u64::from(value(cursor)?);
    let overflowed = cursor.take_word("overflowed");
    Ok(Some(ExpectedCounter { counter, value, overflowed }))
}
