//! Core state that the PMU depends on: exception level and security state (Arm ARM D1).

use std::fmt;

use sim_core::Privilege;

/// Exception level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExceptionLevel {
    /// Level of applications.
    #[default]
    El0,
    /// Level of kernels.
    El1,
    /// Level of hypervisors, and of kernels that host applications.
    El2,
    /// Level of the secure monitor.
    El3,
}

impl ExceptionLevel {
    /// Every level, lowest first.
    pub const ALL: [ExceptionLevel; 4] =
        [ExceptionLevel::El0, ExceptionLevel::El1, ExceptionLevel::El2, ExceptionLevel::El3];

    /// Returns level `number`, 0 to 3.
    pub fn from_number(number: u8) -> Option<ExceptionLevel> {
        ExceptionLevel::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for ExceptionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EL{}", *self as u8)
    }
}

/// Exception level and security state of the program. The default is non-secure EL0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PeState {
    /// `PSTATE.EL`.
    pub level: ExceptionLevel,
    /// `SCR_EL3.NS` is 0: levels below EL3 are secure.
    pub is_secure: bool,
    /// `SCR_EL3.EEL2`: the secure state has an EL2.
    pub has_secure_el2: bool,
    /// `HCR_EL2.TGE`: traps from EL0 go to EL2 instead of EL1.
    pub tge: bool,
}

impl PeState {
    /// Returns a level of the non-secure state, without a host at EL2.
    pub const fn non_secure(level: ExceptionLevel) -> PeState {
        PeState { level, is_secure: false, has_secure_el2: false, tge: false }
    }

    /// Returns a level of the secure state, without a secure EL2.
    pub const fn secure(level: ExceptionLevel) -> PeState {
        PeState { level, is_secure: true, has_secure_el2: false, tge: false }
    }

    /// Returns whether the state is secure. EL3 always is.
    pub fn is_in_secure_state(self) -> bool {
        self.is_secure || self.level == ExceptionLevel::El3
    }

    /// Returns whether EL2 is enabled. Its controls then apply to lower levels.
    pub fn is_el2_enabled(self) -> bool {
        !self.is_secure || self.has_secure_el2
    }

    /// Returns whether this is EL0 or EL1 under an EL2. Such a guest sees only the counters that
    /// `MDCR_EL2.HPMN` grants.
    pub fn is_guest(self) -> bool {
        self.level <= ExceptionLevel::El1 && self.is_el2_enabled()
    }
}

impl From<Privilege> for PeState {
    /// Converts a [`Privilege`], which never has a secure EL2.
    fn from(privilege: Privilege) -> PeState {
        let level = ExceptionLevel::from_number(privilege.level)
            .expect("a privilege has a level from 0 to 3");
        PeState { is_secure: privilege.secure, tge: privilege.tge, ..PeState::non_secure(level) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExceptionLevel::*;

    #[test]
    fn el3_is_secure_whatever_the_lower_levels_are() {
        assert!(PeState::non_secure(El3).is_in_secure_state());
        assert!(!PeState::non_secure(El2).is_in_secure_state());
        assert!(PeState::secure(El0).is_in_secure_state());
    }

    #[test]
    fn a_secure_guest_needs_a_secure_el2() {
        assert!(PeState::non_secure(El1).is_guest());
        assert!(!PeState::secure(El1).is_guest());
        assert!(PeState { has_secure_el2: true, ..PeState::secure(El1) }.is_guest());
        assert!(!PeState::non_secure(El2).is_guest());
    }

    #[test]
    fn a_privilege_converts_to_a_state() {
        let host = Privilege { level: 0, e2h: true, tge: true, secure: false };
        assert_eq!(PeState::from(host), PeState { tge: true, ..PeState::non_secure(El0) });
    }
}
