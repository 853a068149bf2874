//! Event as a formula names it, with its exception levels.

use sim_core::event_name::{EventName, SpellingError};
use sim_core::pmu_event::EventNameError;
use sim_core::{A53Event, PmuEvent};

/// Core whose events a formula names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormulaCore {
    /// Neoverse N2, and cores with its events.
    #[default]
    NeoverseN2,
    /// Cortex-A53.
    CortexA53,
}

use super::population::{Population, of_a53, population};

/// Times that perf provides, in seconds.
pub(crate) const TIMES: [(&str, Time); 3] =
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
    /// Event of a Cortex-A53, in a formula for that core.
    A53(A53Event),
    /// Name that a Cortex-A53 does not know, in a formula for that core: with the event of the
    /// Neoverse N2 of that name.
    NotOnA53(String, Option<PmuEvent>),
    /// Time in seconds.
    Time(Time),
    /// Event, watchpoint or clock of the mesh, by Linux' or Arm's name. Its PMU knows which.
    Mesh,
    /// Event of another unit outside the core.
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
    /// Looks up a name among the events of a Neoverse N2.
    pub fn new(name: &str) -> EventUse {
        EventUse::on(FormulaCore::NeoverseN2, name)
    }

    /// Looks up a name among the events of a core.
    pub fn on(core: FormulaCore, name: &str) -> EventUse {
        if is_of_mesh(name) {
            return EventUse {
                name: name.to_owned(),
                quantity: Quantity::Mesh,
                levels: Levels::ALL,
            };
        }
        let (quantity, levels) = match EventName::split(name) {
            Ok(split) => (quantity(core, &split), Levels::from_modifiers(split.modifiers)),
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

    /// Returns the event of a Cortex-A53, if the name refers to one.
    pub fn a53_event(&self) -> Option<A53Event> {
        match self.quantity {
            Quantity::A53(event) => Some(event),
            _ => None,
        }
    }

    /// Returns whether the name refers to the mesh.
    pub fn is_of_mesh(&self) -> bool {
        self.quantity == Quantity::Mesh
    }

    /// Returns whether the name refers to an event of the core.
    pub fn is_of_core(&self) -> bool {
        matches!(self.quantity, Quantity::Event(_) | Quantity::A53(_))
    }

    /// Returns the mnemonic and the population of the event, on either core.
    pub(super) fn population(&self) -> Option<(&'static str, Population)> {
        match self.quantity {
            Quantity::Event(event) => Some((event.mnemonic(), population(event))),
            Quantity::A53(event) => Some((event.mnemonic(), of_a53(event))),
            _ => None,
        }
    }
}

/// Name of the cycles of the mesh in Arm's telemetry.
pub const MESH_CYCLES: &str = "SYS_CMN_CYCLES";
/// Name of the frequency of the mesh in Arm's telemetry, in Hz.
pub const MESH_FREQUENCY: &str = "SYS_FREQUENCY";
/// Kinds of nodes in Arm's names of events and watchpoints, such as `PMU_HNF_CACHE_MISS`.
const MESH_NODES: [&str; 16] = [
    "DN", "HNF", "HNS", "HNI", "HNP", "RNF", "RNI", "RND", "SBSX", "SNF", "CCGRA", "CCGHA", "CCLA",
    "CCGLA", "CCG", "XP",
];

/// Returns whether a name belongs to the mesh: `arm_cmn_0/.../`, or a name of Arm's telemetry,
/// which may have a filter (`PMU_HNF_POCQ_OCCUPANCY,occupid=1`).
fn is_of_mesh(name: &str) -> bool {
    if [MESH_CYCLES, MESH_FREQUENCY].contains(&name) {
        return true;
    }
    let after = name.strip_prefix("PMU_").or_else(|| name.strip_prefix("CMN_"));
    let node = after.and_then(|rest| rest.split_once('_')).map(|(node, _)| node);
    let is_pmu = name.starts_with("arm_cmn") && name.contains('/');
    is_pmu || node.is_some_and(|node| MESH_NODES.contains(&node))
}

/// Returns why a Cortex-A53 has no event of a name; `n2` is the event of the Neoverse N2 of that
/// name.
pub fn absent_on_a53(name: &str, n2: Option<PmuEvent>) -> String {
    match n2 {
        Some(event) => format!(
            "{name} (0x{:02X}) is an event of the Neoverse N2, which the Cortex-A53 does not have",
            event.code()
        ),
        None => format!("{name} is not an event of the Cortex-A53"),
    }
}

fn quantity(core: FormulaCore, name: &EventName<'_>) -> Quantity {
    if !name.is_of_core() {
        return Quantity::OtherPmu(name.pmu.unwrap_or_default().to_owned());
    }
    let lower = name.terms.to_ascii_lowercase();
    if let Some((_, time)) = TIMES.iter().find(|(own, _)| *own == lower) {
        return Quantity::Time(*time);
    }
    if core == FormulaCore::CortexA53 {
        return a53_quantity(name);
    }
    match name.event() {
        Ok(event) => Quantity::Event(event),
        Err(SpellingError::Name(error)) => Quantity::Unknown(error),
        Err(error) => Quantity::Misspelt(error),
    }
}

fn a53_quantity(name: &EventName<'_>) -> Quantity {
    match name.plain() {
        Err(error) => Quantity::Misspelt(error),
        Ok(plain) => match A53Event::from_linux_name(&plain) {
            Some(event) => Quantity::A53(event),
            None => Quantity::NotOnA53(plain.into_owned(), name.event().ok()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_the_core_of_the_formula() {
        let quantity = |name| EventUse::on(FormulaCore::CortexA53, name).quantity;
        assert_eq!(quantity("ld_dep_stall"), Quantity::A53(A53Event::LD_DEP_STALL));
        assert_eq!(quantity("rE7"), Quantity::A53(A53Event::LD_DEP_STALL));
        assert_eq!(quantity("branches"), Quantity::A53(A53Event::PC_WRITE_RETIRED));
        let absent = Quantity::NotOnA53("STALL_SLOT".to_owned(), Some(PmuEvent::STALL_SLOT));
        assert_eq!(quantity("STALL_SLOT"), absent);
        assert_eq!(quantity("luck"), Quantity::NotOnA53("luck".to_owned(), None));
        assert_eq!(quantity("duration_time"), Quantity::Time(Time::Duration));
    }

    #[test]
    fn names_numbers_and_times_are_looked_up() {
        let quantity = |name| EventUse::new(name).quantity;
        assert_eq!(quantity("cpu_cycles"), Quantity::Event(PmuEvent::CPU_CYCLES));
        assert_eq!(quantity("r11"), Quantity::Event(PmuEvent::CPU_CYCLES));
        assert_eq!(quantity("duration_time"), Quantity::Time(Time::Duration));
        assert_eq!(quantity("arm_dsu_0/x/"), Quantity::OtherPmu("arm_dsu_0".to_owned()));
        for mesh in [
            "arm_cmn_0/x/",
            "PMU_HNF_CACHE_MISS",
            "PMU_HNF_POCQ_OCCUPANCY,occupid=1",
            "CMN_RNF_WP_TXREQ_COUNT",
            "SYS_CMN_CYCLES",
        ] {
            assert_eq!(quantity(mesh), Quantity::Mesh, "{mesh}");
        }
        assert!(matches!(quantity("PMU_OVFS"), Quantity::Unknown(_)), "an event of a core");
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
