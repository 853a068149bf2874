//! Event as a formula names it, with its exception levels.

use sim_core::PmuEvent;
use sim_core::event_name::{EventName, SpellingError};
use sim_core::pmu_event::EventNameError;

/// Times that perf provides, in seconds.
const TIMES: [(&str, Time); 3] =
    [("duration_time", Time::Duration), ("user_time", Time::User), ("system_time", Time::System)];

/// Time that perf measures itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Time from start to end.
    Duration,
    /// Time in user mode.
    User,
    /// Time in the kernel.
    System,
}

/// Quantity that a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Event of the core.
    Event(PmuEvent),
    /// Time in seconds.
    Time(Time),
    /// Event of a unit outside the core, such as the mesh.
    OtherPmu(String),
    /// Name that this core does not know.
    Unknown(EventNameError),
    /// Name that does not follow perf's syntax.
    Misspelt(SpellingError),
}

/// Exception levels at which an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Count at EL0.
    pub user: bool,
    /// Count at EL1.
    pub kernel: bool,
    /// Count at EL2.
    pub hypervisor: bool,
}

impl Levels {
    /// All levels: the default without a modifier.
    pub const ALL: Levels = Levels { user: true, kernel: true, hypervisor: true };

    /// Returns the levels that perf's modifiers select. Modifiers unrelated to levels are skipped.
    fn from_modifiers(modifiers: &str) -> Levels {
        let has = |level| modifiers.contains(level);
        let named = Levels { user: has('u'), kernel: has('k'), hypervisor: has('h') };
        match named {
            Levels { user: false, kernel: false, hypervisor: false } => Levels::ALL,
            named => named,
        }
    }
}

/// Event of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventUse {
    /// Name without escapes and with slashes.
    pub name: String,
    /// Quantity that the name refers to.
    pub quantity: Quantity,
    /// Exception levels at which the event counts.
    pub levels: Levels,
}

impl EventUse {
    /// Looks up a name.
    pub fn new(name: &str) -> EventUse {
        let (quantity, levels) = match EventName::split(name) {
            Ok(split) => (quantity(&split), Levels::from_modifiers(split.modifiers)),
            Err(error) => (Quantity::Misspelt(error), Levels::ALL),
        };
        EventUse { name: name.to_owned(), quantity, levels }
    }

    /// Returns the event of the core, if the name refers to one.
    pub fn event(&self) -> Option<PmuEvent> {
        match self.quantity {
            Quantity::Event(event) => Some(event),
            _ => None,
        }
    }
}

fn quantity(name: &EventName<'_>) -> Quantity {
    if !name.is_of_core() {
        return Quantity::OtherPmu(name.pmu.unwrap_or_default().to_owned());
    }
    let lower = name.terms.to_ascii_lowercase();
    if let Some((_, time)) = TIMES.iter().find(|(own, _)| *own == lower) {
        return Quantity::Time(*time);
    }
    match name.event() {
        Ok(event) => Quantity::Event(event),
        Err(SpellingError::Name(error)) => Quantity::Unknown(error),
        Err(error) => Quantity::Misspelt(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_times_are_looked_up() {
        let quantity = |name| EventUse::new(name).quantity;
        assert_eq!(quantity("cpu_cycles"), Quantity::Event(PmuEvent::CPU_CYCLES));
        assert_eq!(quantity("r11"), Quantity::Event(PmuEvent::CPU_CYCLES));
        assert_eq!(quantity("duration_time"), Quantity::Time(Time::Duration));
        assert_eq!(quantity("arm_cmn_0/x/"), Quantity::OtherPmu("arm_cmn_0".to_owned()));
        assert!(matches!(quantity("UOPS_ISSUED.ANY"), Quantity::Unknown(_)));
        assert!(matches!(quantity("cpu/cycles"), Quantity::Misspelt(_)));
    }

    #[test]
    fn modifiers_select_levels() {
        let levels = |name| EventUse::new(name).levels;
        assert_eq!(levels("cycles"), Levels::ALL);
        assert_eq!(levels("cycles:u"), Levels { user: true, kernel: false, hypervisor: false });
        assert_eq!(levels("cpu/cycles/kh"), Levels { user: false, kernel: true, hypervisor: true });
        assert_eq!(levels("cycles:S"), Levels::ALL);
    }
}
