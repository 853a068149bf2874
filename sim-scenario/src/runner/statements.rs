//! Judges the statements of a case about the PMU: its interrupt, counts of single cycles, the event
//! bus, and event names on other cores.

use crate::language::{Case, PmuStatement};
use sim_core::{Counts, PmuEvent};
use sim_pmu::{CommonEventWord, OtherCore, PmuDescription, Presence};

use super::error::CaseError;
use super::other_pmus;
use super::recorded::Recorded;

/// A failed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongStatement {
    /// Subject of the statement.
    pub subject: String,
    /// Expected value.
    pub expected: String,
    /// Found value.
    pub found: String,
}

/// Returns true if a statement of the case is about single cycles.
pub(super) fn looks_at_cycles(case: &Case) -> bool {
    let of_cycle = |statement: &PmuStatement| {
        matches!(statement, PmuStatement::BusiestCycle { .. } | PmuStatement::BusBit { .. })
    };
    case.expect.statements.iter().chain(&case.silicon.statements).any(of_cycle)
}

/// Returns true if a statement of the case is about the interrupt of the PMU.
pub(super) fn looks_at_interrupt(case: &Case) -> bool {
    let of_interrupt =
        |statement: &PmuStatement| matches!(statement, PmuStatement::Interrupt { .. });
    case.expect.statements.iter().chain(&case.silicon.statements).any(of_interrupt)
}

/// Refuses a case that names an unknown core.
pub(super) fn check(case: &Case) -> Result<(), CaseError> {
    for statement in case.expect.statements.iter().chain(&case.silicon.statements) {
        let core = match statement {
            PmuStatement::BusBit { core, .. } | PmuStatement::CommonEvents { core, .. } => core,
            PmuStatement::EventName { core: Some(core), .. } => core,
            PmuStatement::OtherPmu(said) => {
                other_pmus::check(&case.test, &said.core, &said.claim)?;
                &said.core
            }
            _ => continue,
        };
        if OtherCore::from_name(core).is_none() {
            let known: Vec<&str> = sim_pmu::other_core::ALL.iter().map(|core| core.name).collect();
            let (test, core) = (case.test.clone(), core.clone());
            return Err(CaseError::UnknownCore { test, core, known: known.join(", ") });
        }
    }
    Ok(())
}

/// Returns the failure of a statement; `None` if it holds.
pub(super) fn judge(statement: &PmuStatement, recorded: &Recorded) -> Option<WrongStatement> {
    let (expected, found, holds) = match statement {
        PmuStatement::Interrupt { raised } => {
            let found = recorded.pmu.as_ref().is_some_and(|pmu| pmu.interrupt());
            (level(*raised), level(found), *raised == found)
        }
        PmuStatement::BusiestCycle { event, bound } => {
            let most = cycles(recorded).map(|counts| counts.value(*event)).max().unwrap_or(0);
            (bound.to_string(), most.to_string(), bound.holds(most))
        }
        PmuStatement::BusBit { core, bit, cycles: bound } => {
            let set = cycles_with_bit(core, *bit, recorded);
            (format!("{bound} cycles"), format!("{set} cycles"), bound.holds(set))
        }
        PmuStatement::EventName { code, core, name } => {
            let found = name_of(*code, core.as_deref());
            (named(name.as_deref()), named(found), name.as_deref() == found)
        }
        PmuStatement::OtherPmu(said) => recorded.others.judge(&said.core, &said.claim),
        PmuStatement::CommonEvents { word, core, value } => {
            let found = common_events(word, core);
            (format!("0x{value:x}"), format!("0x{found:x}"), *value == found)
        }
    };
    (!holds).then(|| WrongStatement { subject: statement.to_string(), expected, found })
}

fn level(raised: bool) -> String {
    String::from(if raised { "raised" } else { "clear" })
}

fn named(name: Option<&str>) -> String {
    name.unwrap_or("absent").to_owned()
}

fn cycles(recorded: &Recorded) -> impl Iterator<Item = Counts> {
    recorded.cycles.iter().flat_map(|cycles| cycles.cycles())
}

fn known(core: &str) -> OtherCore {
    OtherCore::from_name(core).expect("the case was checked before it ran")
}

fn cycles_with_bit(core: &str, bit: u8, recorded: &Recorded) -> u64 {
    let core = known(core);
    let is_set = |counts: &Counts| {
        let here = |code: u16| PmuEvent::from_code(u32::from(code)).ok();
        let bus = core.event_bus(|code| here(code).map_or(0, |event| counts.value(event)));
        bus >> bit & 1 == 1
    };
    cycles(recorded).filter(is_set).count() as u64
}

fn name_of(code: u16, core: Option<&str>) -> Option<&'static str> {
    match core {
        None => PmuEvent::from_code(u32::from(code)).ok().map(PmuEvent::mnemonic),
        Some(core) => match known(core).presence(code) {
            Presence::There(event) => Some(event.mnemonic.unwrap_or("unnamed")),
            Presence::Absent | Presence::Unknown => None,
        },
    }
}

fn common_events(word: &str, core: &str) -> u32 {
    let word = CommonEventWord::ALL.into_iter().find(|known| known.name() == word);
    let word = word.expect("the language has no other word");
    let description = PmuDescription::from_name(core);
    description.and_then(|known| known.common_events(word)).unwrap_or(0)
}
