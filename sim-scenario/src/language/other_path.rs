//! The code in the direction that a conditional branch does not take: `B.EQ taken else { ADD & LD8 0x8000 }`.
//!
//! A machine that predicts the branch wrong runs it, as far as it comes until the branch resolves.

use super::action::{Action, Join, Path, RawStep};
use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};
use super::named_insts::NAMED_INSTS;
use super::operand::Operand;
use super::steps::parse_step;

/// Bits by which the target of a branch is moved on, in its immediate field: 254 instructions, so that
/// neither direction runs into the other.
const FARTHER: u32 = 254 << 5;
/// Most instructions of the other direction: what lies before the moved target.
const ROOM: usize = 255;

/// Reads `else { ... }` behind a conditional branch and moves the branch's target out of its way.
pub(super) fn parse_other_path(
    cursor: &mut Cursor,
    names: &Names,
    path: Path,
    action: &mut Action,
) -> Result<Vec<RawStep>, Fault> {
    let offset = cursor.offset();
    if !cursor.take_word("else") {
        return Ok(Vec::new());
    }
    if path == Path::Other {
        return Err(fault(
            offset,
            "a branch inside an 'else' has no 'else' of its own; leave it out",
        ));
    }
    match action {
        Action::Execute { word, .. } if is_conditional(*word) => *word += FARTHER,
        _ => {
            return Err(fault(
                offset,
                "only a conditional branch has an 'else'; put one before it, as in B.EQ taken else { ADD }",
            ));
        }
    }
    if !cursor.take("{") {
        return Err(cursor.expected("'{' after 'else'"));
    }
    let mut steps = Vec::new();
    loop {
        let offset = cursor.offset();
        parse_step(cursor, names, Join::With, Path::Other, &mut steps)?;
        if steps.iter().any(|step| !is_plain(step)) {
            return Err(fault(offset, "an 'else' holds A64 instructions only, joined by '&'"));
        }
        if steps.len() > ROOM {
            return Err(fault(offset, "an 'else' holds at most 255 instructions; leave some out"));
        }
        if cursor.take("}") {
            return Ok(steps);
        }
        if !cursor.take("&") {
            return Err(cursor.expected("'&' or '}'"));
        }
    }
}

/// A conditional branch of the language, all of which have their target in the same bits.
fn is_conditional(word: u32) -> bool {
    NAMED_INSTS.iter().any(|inst| inst.word == word && inst.operand == Operand::Conditional)
}

fn is_plain(step: &RawStep) -> bool {
    let joined = step.join == Join::With;
    joined && matches!(step.action, Action::Execute { .. })
}

fn fault(offset: usize, why: &'static str) -> Fault {
    Fault::new(offset, Problem::BadOtherPath(why))
}
