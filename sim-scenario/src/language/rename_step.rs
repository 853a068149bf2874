//! Step of one cycle of the rename slots: `rename 5 accept 3, load queue full: load from DRAM`.

use sim_core::{RootCause, StallCause};

use super::action::Action;
use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Rename slots per cycle.
const SLOTS: u64 = 5;

/// Reads the step, if it is next.
pub(super) fn parse_rename(cursor: &mut Cursor) -> Result<Option<Action>, Fault> {
    if !cursor.take_word("rename") {
        return Ok(None);
    }
    let offered = operations(cursor, SLOTS)?;
    let accepted = match cursor.take_word("accept") {
        true => operations(cursor, offered)?,
        false => offered,
    };
    let blocked = match cursor.take(",") {
        true => Some(reason(cursor)?),
        false => None,
    };
    if accepted < offered && blocked.is_none() {
        return Err(cursor.expected("',' and why the back end takes no more"));
    }
    Ok(Some(Action::Rename { offered: offered as u8, accepted: accepted as u8, blocked }))
}

fn operations(cursor: &mut Cursor, most: u64) -> Result<u64, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("a number of operations")?;
    if value > most {
        let range = "at most 5, and accepted no more than offered";
        return Err(Fault::new(offset, Problem::OutOfRange { what: "operations", range, value }));
    }
    Ok(value)
}

/// Older names, from when a full reorder buffer had two causes.
const FORMER: [(&str, (StallCause, RootCause)); 2] = [
    ("ROB full, waits for memory", (StallCause::ReorderBuffer, RootCause::LoadDram)),
    ("ROB full, waits for execution", (StallCause::ReorderBuffer, RootCause::Latency)),
];

/// Former labels of causes.
const FORMER_LABELS: [(&str, StallCause); 4] = [
    ("general registers used up", StallCause::IntRegisters),
    ("vector registers used up", StallCause::VecRegisters),
    ("flag registers used up", StallCause::FlagRegisters),
    ("dispatch width of one type", StallCause::DispatchWidth),
];

/// Reads a back-end cause and what it waits for, by the names in reports.
fn reason(cursor: &mut Cursor) -> Result<(StallCause, RootCause), Fault> {
    if let Some((_, both)) = FORMER.into_iter().find(|(name, _)| cursor.take(name)) {
        return Ok(both);
    }
    let cause = cause(cursor)?;
    if !cursor.take(":") {
        return Ok((cause, RootCause::Latency));
    }
    match RootCause::back_end().find(|root| cursor.take(root.label())) {
        Some(root) => Ok((cause, root)),
        None => {
            let names: Vec<&str> = RootCause::back_end().map(RootCause::label).collect();
            Err(cursor.expected(&format!("what that waits for ({})", names.join("; "))))
        }
    }
}

fn cause(cursor: &mut Cursor) -> Result<StallCause, Fault> {
    if let Some((_, cause)) = FORMER_LABELS.into_iter().find(|(name, _)| cursor.take(name)) {
        return Ok(cause);
    }
    let causes = || StallCause::ALL.into_iter().filter(|cause| !cause.is_frontend());
    match causes().find(|cause| cursor.take(cause.label())) {
        Some(cause) => Ok(cause),
        None => {
            let names: Vec<&str> = causes().map(StallCause::label).collect();
            Err(cursor.expected(&format!("why the back end takes no more ({})", names.join("; "))))
        }
    }
}
