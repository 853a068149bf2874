//! Steps: instructions and fetches, in sequence, together, or on a wrong path.
//!
//! | step | meaning |
//! | --- | --- |
//! | `LDn A`, `STn A` | one load or store of n bytes at address A (1, 2, 4, 8, 16, 32, 64) |
//! | `LDXn`, `STXn [fails]`, `LDAn`, `STLn` | exclusive, acquire and release forms |
//! | `LDADDn`, `STADDn`, `SWPn`, `CASn` | atomics |
//! | `IF A` | one instruction fetch inside one line |
//! | `PLD A`, `PST A`, `DC ZVA A`, ... | preloads, cache instructions by address |
//! | `DC CISW A [L1\|L2]` | the set and way of that cache (L1) that hold A |
//! | `TLBI VAE1 A [ASID n]`, `TLBI ASIDE1 n` | TLB maintenance, of the current ASID unless said |
//! | `AT S1E1R A`, `MSR TTBR0_EL1 [value]`, ... | translation, system registers |
//! | `SNP-S A`, `SNP-U A`, `SNP-FWD A` | a snoop of another agent for the line |
//! | `PEER DC CVAC A` | another CPU executes it, and it is broadcast |
//! | `STASH A` | a write of an I/O agent into the L2 |
//! | `core 1 reads A`, `core 1 writes A` | a load or store of eight bytes by another core |
//! | `DSB`, `ADD V.4S`, `B.EQ not-taken`, ... | the other names of [`super::named_insts`] |
//! | `ADD Z.S/M 1 of 4`, `GATHER Z.S A B` | predicates and element addresses: [`super::elements`] |
//! | `word 0xD503201F [A]` | any A64 word, with a data address if it has one |
//! | `rename 5 accept 3, load queue full` | one cycle of the rename slots, see [`super`] |
//! | `B.EQ taken else { s & t }` | s and t are the code in the other direction |
//! | `WFI 50`, `WFE 50` | the core sleeps this many cycles |
//! | `IRQ`, `FIQ`, `vIRQ`, `vFIQ`, `SError`, `nREI`, `nSEI` | an interrupt |
//! | `LD8 A & IRQ` | an interrupt that cuts the load short |
//! | `A32 LDR PC A`, `A32 MOV PC`, `A32 SUBS PC` | A32 instructions of the guide |
//! | `A32 BKPT`, `A32 VMULL` | other A32 instructions of the guide |
//! | `cycles 400` | the core idles until the case is 400 cycles old |
//! | `s ; t` | t starts after s is complete, fills included |
//! | `s & t` | t is issued while s may still wait |
//! | `[s]` | s runs on a wrong path and is squashed |
//! | `s [step N] x 4` | s four times with `;` between, the address growing by N |
//! | `s [step N] &x 4` | the same with `&` |

use super::action::{Action, Join, Path, RawStep, Xt};
use super::agents;
use super::cursor::{Cursor, Names};
use super::elements::Elements;
use super::error::{Fault, Problem};
use super::exceptions::{parse_exception, parse_sleep};
use super::meant;
use super::named_insts;
use super::operand::{NamedInst, Operand};
use super::other_path::parse_other_path;
use super::rename_step::parse_rename;

/// Most steps of one case.
pub const MAX_STEPS: usize = 1 << 20;

/// Reads a whole `do` text.
pub(super) fn parse_steps(cursor: &mut Cursor, names: &Names) -> Result<Vec<RawStep>, Fault> {
    let mut steps = Vec::new();
    let mut wrong_path = false;
    let mut join = Join::After;
    loop {
        if cursor.take("[") {
            if wrong_path {
                return Err(cursor.expected("']' before the next '['"));
            }
            wrong_path = true;
        }
        let path = if wrong_path { Path::Wrong } else { Path::Right };
        parse_step(cursor, names, join, path, &mut steps)?;
        if cursor.take("]") {
            if !wrong_path {
                return Err(cursor.expected("'[' before ']'"));
            }
            wrong_path = false;
        }
        if cursor.is_done() {
            break;
        }
        join = if cursor.take(";") {
            Join::After
        } else if cursor.take("&") {
            Join::With
        } else {
            return Err(cursor.expected("';' or '&' before the next step"));
        };
    }
    if wrong_path { Err(cursor.expected("']'")) } else { Ok(steps) }
}

/// Reads one step with its repetition and appends it.
pub(super) fn parse_step(
    cursor: &mut Cursor,
    names: &Names,
    join: Join,
    path: Path,
    steps: &mut Vec<RawStep>,
) -> Result<(), Fault> {
    let offset = cursor.offset();
    let mut action = parse_action(cursor, names)?;
    let other_path = parse_other_path(cursor, names, path, &mut action)?;
    let wrong_path = path != Path::Right;
    if wrong_path
        && !matches!(
            action,
            Action::Fetch { .. } | Action::Execute { .. } | Action::ExecuteA32 { .. }
        )
    {
        let found = "what has no path".to_owned();
        let expected = "an instruction on the wrong path".to_owned();
        return Err(Fault::new(offset, Problem::Expected { expected, found }));
    }
    let text = cursor.text_since(offset).to_owned();
    let stride = match cursor.take_word("step") {
        true => cursor.need_number("a distance in bytes after 'step'")?,
        false => 0,
    };
    let (times, repeat) = parse_times(cursor)?;
    if steps.len() + times as usize > MAX_STEPS {
        let range = "at most 1048576";
        let problem = Problem::OutOfRange { what: "the number of steps", range, value: times };
        return Err(Fault::new(offset, problem));
    }
    for i in 0..times {
        let action = moved(action, i.wrapping_mul(stride));
        let join = if i == 0 { join } else { repeat };
        let text = if times == 1 { text.clone() } else { format!("{text} ({} of {times})", i + 1) };
        let other_path = other_path.clone();
        steps.push(RawStep { offset, text, join, wrong_path, action, other_path });
    }
    Ok(())
}

/// Reads `x 4` or `&x 4`; 1 without it.
fn parse_times(cursor: &mut Cursor) -> Result<(u64, Join), Fault> {
    let mut ahead = cursor.clone();
    let repeat = if ahead.take("&") { Join::With } else { Join::After };
    if !ahead.take_word("x") {
        return Ok((1, Join::After));
    }
    *cursor = ahead;
    let offset = cursor.offset();
    let value = cursor.need_number("how often, after 'x'")?;
    if !(1..=MAX_STEPS as u64).contains(&value) {
        let range = "between 1 and 1048576";
        let problem = Problem::OutOfRange { what: "a repetition", range, value };
        return Err(Fault::new(offset, problem));
    }
    Ok((value, repeat))
}

fn moved(action: Action, by: u64) -> Action {
    match action {
        Action::Fetch { addr } => Action::Fetch { addr: addr.wrapping_add(by) },
        Action::Snoop { snoop, addr } => Action::Snoop { snoop, addr: addr.wrapping_add(by) },
        Action::Stash { addr } => Action::Stash { addr: addr.wrapping_add(by) },
        Action::OtherCore { core, writes, addr } => {
            Action::OtherCore { core, writes, addr: addr.wrapping_add(by) }
        }
        Action::Rename { .. } | Action::Interrupt(_) | Action::Idle { .. } => action,
        Action::ExecuteA32 { word, operand } => {
            Action::ExecuteA32 { word, operand: operand.map(|operand| operand.moved(by)) }
        }
        Action::Execute { word, operand, taken, distance, exclusive_fails, elements } => {
            let operand = operand.map(|operand| operand.moved(by));
            let elements = elements.moved(by);
            Action::Execute { word, operand, taken, distance, exclusive_fails, elements }
        }
    }
}

fn parse_action(cursor: &mut Cursor, names: &Names) -> Result<Action, Fault> {
    if cursor.take_word("IF") {
        return Ok(Action::Fetch { addr: cursor.address(names)? });
    }
    if cursor.take_word("word") {
        return parse_word(cursor, names);
    }
    if let Some(action) = agents::parse_agent(cursor, names)? {
        return Ok(action);
    }
    if let Some(action) = parse_rename(cursor)? {
        return Ok(action);
    }
    if let Some(action) = parse_exception(cursor, names)? {
        return Ok(action);
    }
    let inst = parse_name(cursor)?;
    let operand = parse_operand(cursor, names, inst.operand)?;
    let elements = match inst.operand {
        Operand::Predicate => Elements::default().predicate(cursor)?,
        Operand::Elements => Elements::addresses(cursor, names)?.predicate(cursor)?,
        _ => Elements::default(),
    };
    let mut taken = inst.operand == Operand::Taken;
    let mut exclusive_fails = false;
    if inst.operand == Operand::Exclusive {
        exclusive_fails = cursor.take_word("fails");
    }
    if inst.operand == Operand::Conditional {
        taken = cursor.take_word("taken");
        if !taken && !cursor.take_word("not-taken") {
            return Err(cursor.expected("'taken' or 'not-taken'"));
        }
    }
    Ok(Action::Execute {
        word: inst.word,
        operand,
        taken,
        distance: None,
        exclusive_fails,
        elements,
    })
}

/// Reads the operand after the name of an instruction, as far as it goes into the operand register.
fn parse_operand(
    cursor: &mut Cursor,
    names: &Names,
    operand: Operand,
) -> Result<Option<Xt>, Fault> {
    Ok(match operand {
        Operand::Nothing | Operand::Predicate | Operand::Taken | Operand::Conditional => None,
        Operand::Address | Operand::Elements | Operand::Exclusive => {
            Some(Xt::Address(cursor.address(names)?))
        }
        Operand::SetAndWay => {
            let addr = cursor.address(names)?;
            let level2 = cursor.take_word("L2");
            if !level2 && !cursor.take_word("L1") && cursor.peek_word().is_some() {
                return Err(cursor.expected("'L1', 'L2' or the next step after the address"));
            }
            Some(Xt::SetAndWay { addr, level2 })
        }
        Operand::Page => {
            let addr = cursor.address(names)?;
            Some(Xt::Page { addr, asid: parse_asid(cursor)? })
        }
        Operand::Asid => Some(Xt::Asid(need_asid(cursor, "the number of an ASID")?)),
        Operand::Sleep => parse_sleep(cursor)?.map(Xt::Value),
        Operand::Value => match parse_asid(cursor)? {
            Some(asid) => Some(Xt::Asid(asid)),
            None => cursor.number()?.map(Xt::Value),
        },
    })
}

/// Reads `ASID 5`, if it is next.
fn parse_asid(cursor: &mut Cursor) -> Result<Option<u16>, Fault> {
    match cursor.take_word("ASID") {
        true => need_asid(cursor, "a number after 'ASID'").map(Some),
        false => Ok(None),
    }
}

fn need_asid(cursor: &mut Cursor, what: &str) -> Result<u16, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number(what)?;
    u16::try_from(value).map_err(|_| {
        Fault::new(offset, Problem::OutOfRange { what: "an ASID", range: "16 bits", value })
    })
}

fn parse_word(cursor: &mut Cursor, names: &Names) -> Result<Action, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("an A64 word, as in word 0xD503201F")?;
    let Ok(word) = u32::try_from(value) else {
        let problem = Problem::OutOfRange { what: "an A64 word", range: "32 bits", value };
        return Err(Fault::new(offset, problem));
    };
    let has_address = cursor.peek_word().is_some_and(|next| {
        next.starts_with(|c: char| c.is_ascii_digit()) || names.contains_key(next)
    });
    let operand = if has_address { Some(Xt::Address(cursor.address(names)?)) } else { None };
    let elements = Elements::addresses(cursor, names)?.predicate(cursor)?;
    Ok(Action::Execute {
        word,
        operand,
        taken: false,
        distance: None,
        exclusive_fails: false,
        elements,
    })
}

/// Reads the longest instruction name of up to three words that is next.
fn parse_name(cursor: &mut Cursor) -> Result<&'static NamedInst, Fault> {
    let offset = cursor.offset();
    let mut ahead = cursor.clone();
    let mut name = String::new();
    let mut best = None;
    for _ in 0..3 {
        let Some(word) = ahead.word() else { break };
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
        if let Some(inst) = named_insts::find(&name) {
            best = Some((inst, ahead.clone()));
        }
    }
    match best {
        Some((inst, after)) => {
            *cursor = after;
            Ok(inst)
        }
        None if name.is_empty() && cursor.rest().starts_with('(') => {
            let hint =
                "'step 64 x 8' repeats the one step before it; write the steps of a group out";
            let problem = Problem::UnknownStep { name: String::from("("), hint: hint.to_owned() };
            Err(Fault::new(offset, problem))
        }
        None if name.is_empty() => Err(cursor.expected("a step, as in LD8 0x8000")),
        None => {
            let name = cursor.word().unwrap_or_default().to_owned();
            let hint = match meant::step(&name, cursor.rest()) {
                Some(step) => {
                    format!("write {step} (a size in bytes and an address, no registers)")
                }
                None => hint_for(&name),
            };
            Err(Fault::new(offset, Problem::UnknownStep { name, hint }))
        }
    }
}

/// Returns a hint with the names that begin alike.
fn hint_for(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    for length in (1..=upper.len()).rev() {
        let alike: Vec<&str> = named_insts::all()
            .map(|inst| inst.name)
            .chain(agents::agent_names())
            .chain(super::exceptions::exception_names())
            .chain(["rename"])
            .filter(|known| upper.get(..length).is_some_and(|head| known.starts_with(head)))
            .collect();
        if !alike.is_empty() {
            return format!("known names that begin alike: {}", alike.join(", "));
        }
    }
    "write LD8 0x8000, ST8, IF, PLD, SNP-U, DSB, ADD ..., or any instruction as word 0xD503201F"
        .to_owned()
}
