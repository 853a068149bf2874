//! Code in the direction that a conditional branch does not take: `B.EQ taken else { ADD & LD8
//! 0x8000 }`.
//!
//! If the branch is mispredicted, this code runs until it resolves.

use super::action::{Action, Join, Path, RawStep};
use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};
use super::named_insts::NAMED_INSTS;
use super::operand::Operand;
use super::steps::parse_step;

/// Displacement of the target in the immediate field of a branch: 254 instructions, so that neither
/// direction runs into the other.
const FARTHER: u32 = 254 << 5;
/// Most instructions of the other direction, which lie before the displaced target.
const ROOM: usize = 255;

/// Reads `else { ... }` after a conditional branch and displaces the branch's target.
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

/// Returns true for a conditional branch of the language; all have their target in the same bits.
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
