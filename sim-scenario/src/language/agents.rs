//! Steps of agents outside the core: snoops, broadcast maintenance of other CPUs, stashes, loads
//! and stores of other cores.

use sim_core::Snoop;

use super::action::Action;
use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};

/// Snoops by name.
const SNOOPS: [(&str, Snoop); 4] = [
    ("SNP-S", Snoop::Shared),
    ("SNP-U", Snoop::Unique),
    ("SNP-FWD", Snoop::Forward),
    ("SNP-INV", Snoop::MakeInvalid),
];

/// Instructions of another CPU, each with the snoop that reaches this core.
const PEER_OPS: [(&str, Snoop); 3] =
    [("CVAC", Snoop::Clean), ("CIVAC", Snoop::CleanInvalidate), ("IVAC", Snoop::Invalidate)];

/// Returns the first words of these steps.
pub(super) fn agent_names() -> impl Iterator<Item = &'static str> {
    SNOOPS.iter().map(|(name, _)| *name).chain(["STASH", "PEER", "core"])
}

/// Reads the step of an outside agent, if it is next.
pub(super) fn parse_agent(cursor: &mut Cursor, names: &Names) -> Result<Option<Action>, Fault> {
    if let Some((_, snoop)) = SNOOPS.iter().find(|(name, _)| cursor.take_word(name)) {
        return Ok(Some(Action::Snoop { snoop: *snoop, addr: cursor.address(names)? }));
    }
    if cursor.take_word("STASH") {
        return Ok(Some(Action::Stash { addr: cursor.address(names)? }));
    }
    if cursor.take_word("core") {
        return parse_other_core(cursor, names).map(Some);
    }
    if !cursor.take_word("PEER") {
        return Ok(None);
    }
    let found = match cursor.take_word("DC") {
        true => PEER_OPS.iter().find(|(name, _)| cursor.take_word(name)),
        false => None,
    };
    match found {
        Some((_, snoop)) => Ok(Some(Action::Snoop { snoop: *snoop, addr: cursor.address(names)? })),
        None => Err(cursor.expected("'DC CVAC', 'DC CIVAC' or 'DC IVAC' after 'PEER'")),
    }
}

/// Reads `1 reads A` or `1 writes A`.
fn parse_other_core(cursor: &mut Cursor, names: &Names) -> Result<Action, Fault> {
    let offset = cursor.offset();
    let value = cursor.need_number("the number of a core, as in core 1 reads 0x8000")?;
    let core = u32::try_from(value).ok().filter(|core| *core > 0);
    let range = "from 1; core 0 executes the other steps";
    let problem = Problem::OutOfRange { what: "the number of another core", range, value };
    let core = core.ok_or(Fault::new(offset, problem))?;
    let writes = cursor.take_word("writes");
    if !writes && !cursor.take_word("reads") {
        return Err(cursor.expected("'reads' or 'writes'"));
    }
    Ok(Action::OtherCore { core, writes, addr: cursor.address(names)? })
}
