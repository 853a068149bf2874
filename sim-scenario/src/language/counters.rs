//! PMU counters in scenarios: their events from the first step on, and their final values.
//!
//! Given: `counter 2 counts SW_INCR` or `counter 2 = 0xFFFFFFFE counts INST_RETIRED`. Expected:
//! `counter 2 = 3`, or `counter 2 = 0 overflowed`. An expected counter must not have overflowed
//! without that word. Given counters run, others do not.

use sim_core::PmuEvent;

use super::bound::event_named;
use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Number of event counters of the core (PMU guide 2).
const COUNTERS: u64 = 6;

/// State of a counter before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenCounter {
    /// Number of the counter, 0 to 5.
    pub counter: u8,
    /// Initial value.
    pub value: u32,
    /// Counted event.
    pub event: PmuEvent,
}

/// Expected state of a counter after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedCounter {
    /// Number of the counter, 0 to 5.
    pub counter: u8,
    /// Expected value.
    pub value: u64,
    /// Expected overflow flag.
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

/// Reads a clause of `given` about a counter, if it is next. No `earlier` one may name the counter.
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

/// Reads a statement of `expect` about a counter, if it is next.
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
