//! PMUs of other cores, which follow the register accesses and the level of a case, and the
//! statements about them. They count software increments and overflows; other events of the
//! Neoverse N2 are not theirs.

use crate::language::{AccessResult, Case, OtherPmuClaim, PmuStatement, RegisterRead};
use sim_pmu::{
    Aarch32Register, AccessError, CommonEventWord, Encoding, EventRoutes, ExternalState, OtherCore,
    PeState, Pmu, PmuDescription, Register,
};

use super::error::CaseError;

/// No event of the model reaches the counters.
#[derive(Clone, Debug, Default)]
struct NoEvents;

impl EventRoutes for NoEvents {
    fn connect(&mut self, _: u16, _: u32) {}

    fn disconnect(&mut self, _: u32) {}
}

/// PMUs of the cores that a case names.
#[derive(Clone, Debug, Default)]
pub struct OtherPmus(Vec<Pmu<NoEvents>>);

/// Register by one of its names.
#[derive(Clone, Copy, Debug)]
enum Named {
    Aarch32(Aarch32Register),
    Aarch64(Register),
}

impl OtherPmus {
    /// Returns the PMUs that the statements of a case name, after reset.
    pub(super) fn of(case: &Case) -> OtherPmus {
        let mut pmus: Vec<Pmu<NoEvents>> = Vec::new();
        for statement in case.expect.statements.iter().chain(&case.silicon.statements) {
            let PmuStatement::OtherPmu(said) = statement else { continue };
            let Some(description) = PmuDescription::from_name(&said.core) else { continue };
            if pmus.iter().all(|pmu| pmu.description() != &description) {
                pmus.push(Pmu::of_core(description));
            }
        }
        OtherPmus(pmus)
    }

    /// Returns whether the case names no other core.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the program's level.
    pub(super) fn set_state(&mut self, state: PeState) {
        self.0.iter_mut().for_each(|pmu| pmu.set_state(state));
    }

    /// Writes `PMSWINC_EL0`.
    pub(super) fn software_increment(&mut self, counters: u32) {
        self.0.iter_mut().for_each(|pmu| pmu.software_increment(counters));
    }

    /// Performs the access of a step.
    pub(super) fn access(
        &mut self,
        register: Register,
        written: Option<u64>,
    ) -> Result<(), AccessError> {
        self.0.iter_mut().try_for_each(|pmu| match written {
            Some(value) => pmu.msr(register, value),
            None => pmu.mrs(register).map(drop),
        })
    }

    fn pmu(&self, core: &str) -> &Pmu<NoEvents> {
        let is_named = |pmu: &&Pmu<NoEvents>| pmu.description().core.eq_ignore_ascii_case(core);
        self.0.iter().find(is_named).expect("the case was checked before it ran")
    }

    /// Returns what a claim expects, what the PMU of `core` shows, and whether both agree.
    pub(super) fn judge(&self, core: &str, claim: &OtherPmuClaim) -> (String, String, bool) {
        let pmu = self.pmu(core);
        let (expected, found) = match claim {
            OtherPmuClaim::Read { name, result } => (result.to_string(), read(pmu, name)),
            OtherPmuClaim::Write { name, result } => (result.to_string(), write(pmu, name)),
            OtherPmuClaim::Outside { offset, value } => {
                let found = pmu.read_external(*offset, ExternalState::default());
                let found =
                    found.map_or_else(|error| error.to_string(), |value| format!("0x{value:x}"));
                (format!("0x{value:x}"), found)
            }
            OtherPmuClaim::Offset { name, offset } => {
                let found = known(name).register().external_offset();
                (offset_text(*offset), offset_text(found))
            }
            OtherPmuClaim::Encoding { name, fields } => {
                (format!("{fields:?}"), format!("{:?}", known(name).fields()))
            }
            OtherPmuClaim::Bit { bit, word, event } => {
                let event = event.as_ref().map(|(name, is_set)| (name.as_str(), *is_set));
                (bit_text(event), bit_text(bit_of(pmu.description(), word, *bit)))
            }
        };
        let holds = expected == found;
        (expected, found, holds)
    }
}

impl Named {
    fn of(name: &str) -> Option<Named> {
        let aarch64 = Register::from_name(name).map(Named::Aarch64);
        aarch64.or_else(|| Aarch32Register::from_name(name).map(Named::Aarch32))
    }

    fn register(self) -> Register {
        match self {
            Named::Aarch32(register) => register.register(),
            Named::Aarch64(register) => register,
        }
    }

    fn fields(self) -> [u8; 5] {
        match self {
            Named::Aarch32(register) => {
                let own = register.encoding();
                [15, own.opc1, own.crn, own.crm, own.opc2]
            }
            Named::Aarch64(register) => {
                let Encoding { op0, op1, crn, crm, op2 } = register.encoding();
                [op0, op1, crn, crm, op2]
            }
        }
    }
}

fn known(name: &str) -> Named {
    Named::of(name).expect("the case was checked before it ran")
}

/// Refuses a statement that names a register that the core cannot have.
pub(super) fn check(test: &str, core: &str, claim: &OtherPmuClaim) -> Result<(), CaseError> {
    let (OtherPmuClaim::Read { name, .. }
    | OtherPmuClaim::Write { name, .. }
    | OtherPmuClaim::Offset { name, .. }
    | OtherPmuClaim::Encoding { name, .. }) = claim
    else {
        return Ok(());
    };
    let is_aarch32 = PmuDescription::from_name(core).is_some_and(|known| known.is_aarch32);
    match Named::of(name) {
        Some(Named::Aarch64(_)) if is_aarch32 => {}
        Some(_) => return Ok(()),
        None => {}
    }
    let (test, core, name) = (test.to_owned(), core.to_owned(), name.clone());
    Err(CaseError::UnknownRegister { test, core, name })
}

fn read(pmu: &Pmu<NoEvents>, name: &str) -> String {
    let read = match known(name) {
        Named::Aarch32(register) => pmu.mrc(register).map(u64::from),
        Named::Aarch64(register) => pmu.mrs(register),
    };
    let value = |value| AccessResult::Like(RegisterRead::Value(value));
    read.map_or_else(refused, value).to_string()
}

fn write(pmu: &Pmu<NoEvents>, name: &str) -> String {
    let mut copy = pmu.clone();
    let written = match known(name) {
        Named::Aarch32(register) => copy.mcr(register, 0),
        Named::Aarch64(register) => copy.msr(register, 0),
    };
    written.map_or_else(refused, |()| AccessResult::Done).to_string()
}

fn refused(error: AccessError) -> AccessResult {
    match error {
        AccessError::Undefined => AccessResult::Like(RegisterRead::Undefined),
        AccessError::Trap { to } => AccessResult::Like(RegisterRead::TrappedTo(to as u8)),
        AccessError::NotDescribed => AccessResult::NotDescribed,
    }
}

fn offset_text(offset: Option<u16>) -> String {
    offset.map_or_else(|| String::from("absent"), |offset| format!("0x{offset:X}"))
}

/// Returns the event of a bit and whether the bit is set; `None` for a reserved bit.
fn bit_of<'a>(description: &PmuDescription, word: &str, bit: u8) -> Option<(&'a str, bool)> {
    let word = CommonEventWord::ALL.into_iter().find(|known| known.name() == word)?;
    let core = OtherCore::from_name(description.core)?;
    let name = core.common_event_name(word.first_event() + u16::from(bit))?;
    let events = description.common_events(word)?;
    Some((name, events >> bit & 1 == 1))
}

fn bit_text(event: Option<(&str, bool)>) -> String {
    match event {
        Some((name, is_set)) => format!("{name} {}", if is_set { "set" } else { "clear" }),
        None => String::from("reserved"),
    }
}
