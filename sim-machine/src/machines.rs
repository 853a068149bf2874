//! Machines on the market: everything around the core that differs between them.
//!
//! A machine is a list of differences from a profile: clock, revision, mesh, system level cache,
//! memory. The inside of the core is the same in all of them. How events count is up to the
//! profile.

use sim_core::config::Embedded;

/// Machine around the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// No particular machine: the values of the profile.
    #[default]
    Generic,
    /// Microsoft Azure Cobalt 100.
    Cobalt100,
    /// Alibaba Yitian 710.
    Yitian710,
}

const COBALT_100: Embedded = Embedded {
    name: "machines/cobalt-100.toml",
    text: include_str!("../../configs/machines/cobalt-100.toml"),
};
const YITIAN_710: Embedded = Embedded {
    name: "machines/yitian-710.toml",
    text: include_str!("../../configs/machines/yitian-710.toml"),
};

impl Machine {
    /// All machines, the default first.
    pub const ALL: [Machine; 3] = [Machine::Generic, Machine::Cobalt100, Machine::Yitian710];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Machine::Generic => "generic",
            Machine::Cobalt100 => "cobalt-100",
            Machine::Yitian710 => "yitian-710",
        }
    }

    /// Returns the machine with this name.
    ///
    /// # Errors
    /// If no machine has the name; the message lists all names.
    pub fn from_name(name: &str) -> Result<Machine, String> {
        let found = Machine::ALL.into_iter().find(|machine| machine.name() == name);
        found.ok_or_else(|| {
            let names = Machine::ALL.map(Machine::name).join(", ");
            format!("'{name}' is not a machine; choose one of {names}")
        })
    }

    /// Returns the machine's file of differences from a profile; `None` for the profile's own
    /// values.
    pub fn differences(self) -> Option<Embedded> {
        match self {
            Machine::Generic => None,
            Machine::Cobalt100 => Some(COBALT_100),
            Machine::Yitian710 => Some(YITIAN_710),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn a_machine_is_found_by_its_name() {
        for machine in Machine::ALL {
            assert_eq!(Machine::from_name(machine.name()), Ok(machine));
        }
    }

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let message = Machine::from_name("cobalt").expect_err("no such machine");
        assert_eq!(
            message,
            "'cobalt' is not a machine; choose one of generic, cobalt-100, yitian-710"
        );
    }
}
