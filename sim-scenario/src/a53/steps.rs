//! Steps: instructions in program order, and exceptions between them.
//!
//! | step | meaning |
//! | --- | --- |
//! | `add x3, x0, x4` | an instruction of the list, as GNU as writes it |
//! | `word 0xd503201f` | any A64 word |
//! | `ldr x0, [x1] @ 0x8000` | its address, or the operand of a maintenance operation |
//! | `b.eq .+8 taken`, `b.eq .+8 not-taken` | a conditional branch |
//! | `br x4 to 0x101000` | the target of an indirect branch or of `eret`; 8 bytes on without it |
//! | `stxr w3, x2, [x1] @ 0x8000 fails` | a store-exclusive that does not store |
//! | `ldr x0, [x1] @ 0x8000 faults` | it takes an exception instead of being completed |
//! | `irq`, `fiq`, `serror` | an exception before the next instruction |
//! | `core 1: ldr x0, [x1] @ 0x8000` | on core 1, after the other cores are done |
//! | `s ; t` | t follows s in the program |
//! | `s [step N] x 4` | s four times, the address growing by N |
//!
//! Each core has a program of its own. The next instruction of a core is at the target of a taken
//! branch, or else follows the instruction before it.

use sim_a53::bench::has_operand;
use sim_isa::{BranchKind, decode};

use super::given::parse_core;
use super::insts;
use crate::language::Place;
use crate::language::cursor::{Cursor, Names};
use crate::language::error::{Fault, Places, Problem};

/// Most steps of a file.
pub(super) const MAX_STEPS: u64 = 1 << 20;
/// Bytes from a branch to a target that the step does not name.
const TARGET: u64 = 8;

/// Offsets of exceptions from a lower level in the vector table.
const EXCEPTIONS: [(&str, u32); 3] = [("irq", 0x480), ("fiq", 0x500), ("serror", 0x580)];

/// Action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One instruction.
    Execute {
        /// The A64 word.
        word: u32,
        /// Address of its access, or its operand.
        operand: Option<u64>,
        /// Distance to the next instruction: 4 unless it is a taken branch.
        goes: Goes,
        /// The store-exclusive does not store.
        exclusive_fails: bool,
        /// It takes an exception instead of being completed.
        faults: bool,
    },
    /// An exception.
    Exception {
        /// Offset in the vector table.
        vector: u32,
    },
}

/// Continuation of the program after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// This many bytes from the instruction.
    By(i64),
    /// At this address.
    To(u64),
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Text of the step.
    pub text: String,
    /// Place of the text.
    pub place: Place,
    /// Core that runs it.
    pub core: usize,
    /// Action of the step.
    pub action: Action,
}

/// Reads a whole `do` text.
pub(super) fn parse(cursor: &mut Cursor<'_>, places: &mut Places<'_>) -> Result<Vec<Step>, Fault> {
    let mut steps = Vec::new();
    loop {
        parse_step(cursor, places, &mut steps)?;
        if cursor.is_done() {
            return Ok(steps);
        }
        if !cursor.take(";") {
            return Err(cursor.expected("';' before the next step"));
        }
        // The last line of a text may end with a sign, too.
        if cursor.is_done() {
            return Ok(steps);
        }
    }
}

fn parse_step(
    cursor: &mut Cursor<'_>,
    places: &mut Places<'_>,
    steps: &mut Vec<Step>,
) -> Result<(), Fault> {
    let offset = cursor.offset();
    let mut core = 0;
    if cursor.peek_word() == Some("core") {
        core = parse_core(cursor)?;
        if !cursor.take(":") {
            return Err(cursor.expected("':' after the number of the core"));
        }
    }
    let action = parse_action(cursor)?;
    let text = cursor.text_since(offset).to_owned();
    let stride = match cursor.take_word("step") {
        true => cursor.need_number("a distance in bytes after 'step'")?,
        false => 0,
    };
    let mut times = 1;
    if cursor.take_word("x") {
        times = cursor.need_number("how often, after 'x'")?;
        check_number(times, MAX_STEPS, offset)?;
    }
    check_number(steps.len() as u64 + times, MAX_STEPS, offset)?;
    let place = places.of(offset);
    for i in 0..times {
        let text = if times == 1 { text.clone() } else { format!("{text}, {times} times") };
        steps.push(Step { text, place, core, action: moved(action, i.wrapping_mul(stride)) });
    }
    Ok(())
}

/// Refuses a number above `most`.
pub(super) fn check_number(value: u64, most: u64, offset: usize) -> Result<(), Fault> {
    if value <= most {
        return Ok(());
    }
    let (what, range) = ("the number of steps in all cases", "at most 1048576");
    Err(Fault::new(offset, Problem::OutOfRange { what, range, value }))
}

fn moved(action: Action, by: u64) -> Action {
    let mut action = action;
    if let Action::Execute { operand: Some(operand), .. } = &mut action {
        *operand = operand.wrapping_add(by);
    }
    action
}

fn parse_action(cursor: &mut Cursor<'_>) -> Result<Action, Fault> {
    if let Some((_, vector)) = EXCEPTIONS.iter().find(|(name, _)| cursor.take_word(name)) {
        return Ok(Action::Exception { vector: *vector });
    }
    let offset = cursor.offset();
    let (text, word) = parse_inst(cursor)?;
    let refused = |problem| Fault::new(offset, Problem::Operand { inst: text.clone(), problem });
    let inst = decode(word);
    let operand = match cursor.take("@") {
        true => Some(cursor.address(&Names::new())?),
        false => None,
    };
    match (operand, has_operand(&inst)) {
        (None, true) => return Err(refused("needs its address or operand; add @ 0x8000")),
        (Some(_), false) => return Err(refused("has no address: leave out what follows the @")),
        _ => {}
    }
    let goes = parse_goes(cursor, inst.branch, inst.offset)?;
    let exclusive_fails = cursor.take_word("fails");
    if exclusive_fails && !sim_isa::is_store_exclusive(word) {
        return Err(refused("is not a store-exclusive, which alone can fail; remove 'fails'"));
    }
    let faults = cursor.take_word("faults");
    Ok(Action::Execute { word, operand, goes, exclusive_fails, faults })
}

/// Reads where the program continues after an instruction.
fn parse_goes(cursor: &mut Cursor<'_>, branch: BranchKind, offset: i32) -> Result<Goes, Fault> {
    let by_word = Goes::By(offset.into());
    match branch {
        BranchKind::None => Ok(Goes::By(4)),
        BranchKind::Direct | BranchKind::Call => Ok(by_word),
        BranchKind::Conditional if cursor.take_word("taken") => Ok(by_word),
        BranchKind::Conditional if cursor.take_word("not-taken") => Ok(Goes::By(4)),
        BranchKind::Conditional => Err(cursor.expected("'taken' or 'not-taken'")),
        _ if cursor.take_word("to") => Ok(Goes::To(cursor.need_number("the target's address")?)),
        _ => Ok(Goes::By(TARGET as i64)),
    }
}

/// Reads an instruction. Returns its text and its word.
fn parse_inst(cursor: &mut Cursor<'_>) -> Result<(String, u32), Fault> {
    let offset = cursor.offset();
    if cursor.take_word("word") {
        let value = cursor.need_number("an A64 word, as in word 0xd503201f")?;
        let problem = Problem::OutOfRange { what: "an A64 word", range: "32 bits", value };
        let word = u32::try_from(value).map_err(|_| Fault::new(offset, problem))?;
        return Ok((cursor.text_since(offset).to_owned(), word));
    }
    let rest = cursor.rest();
    if let Some((name, word)) = insts::at_start(rest) {
        cursor.take(name);
        return Ok((name.to_owned(), word));
    }
    let found = rest.split([';', '@']).next().unwrap_or_default().trim();
    let near = insts::like(found);
    let hint = match near.len() {
        0 => "write any instruction as its word, as in word 0xd503201f".to_owned(),
        _ => format!("known are {}; any other is written as word 0xd503201f", near.join("; ")),
    };
    Err(Fault::new(offset, Problem::UnknownInstruction(found.to_owned(), hint)))
}
