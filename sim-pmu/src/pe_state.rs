//! The state of the core that the PMU looks at: exception level and security state (Arm ARM D1).

use std::fmt;

use sim_core::Privilege;

/// An exception level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExceptionLevel {
    /// Applications.
    #[default]
    El0,
    /// Kernels.
    El1,
    /// Hypervisors, or kernels that host applications.
    El2,
    /// The secure monitor.
    El3,
}

impl ExceptionLevel {
    /// Every level, lowest first.
    pub const ALL: [ExceptionLevel; 4] =
        [ExceptionLevel::El0, ExceptionLevel::El1, ExceptionLevel::El2, ExceptionLevel::El3];

    /// Level `number`, 0 to 3.
    pub fn from_number(number: u8) -> Option<ExceptionLevel> {
        ExceptionLevel::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for ExceptionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EL{}", *self as u8)
    }
}

/// Where the program runs. After reset of a test bench: non-secure EL0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PeState {
    /// `PSTATE.EL`.
    pub level: ExceptionLevel,
    /// `SCR_EL3.NS` is 0: levels below EL3 are secure.
    pub is_secure: bool,
    /// `SCR_EL3.EEL2`: the secure state has an EL2.
    pub has_secure_el2: bool,
    /// `HCR_EL2.TGE`: what EL0 traps goes to EL2 instead of EL1.
    pub tge: bool,
}

impl PeState {
    /// A level of the non-secure state, without a host at EL2.
    pub const fn non_secure(level: ExceptionLevel) -> PeState {
        PeState { level, is_secure: false, has_secure_el2: false, tge: false }
    }

    /// A level of the secure state, without a secure EL2.
    pub const fn secure(level: ExceptionLevel) -> PeState {
        PeState { level, is_secure: true, has_secure_el2: false, tge: false }
    }

    /// True in the secure state; EL3 always is.
    pub fn is_in_secure_state(self) -> bool {
        self.is_secure || self.level == ExceptionLevel::El3
    }

    /// True while what EL2 asks for holds below it.
    pub fn is_el2_enabled(self) -> bool {
        !self.is_secure || self.has_secure_el2
    }

    /// True at EL0 and EL1 under an EL2: they see the counters that `MDCR_EL2.HPMN` leaves them.
    pub fn is_guest(self) -> bool {
        self.level <= ExceptionLevel::El1 && self.is_el2_enabled()
    }
}

impl From<Privilege> for PeState {
    /// Without a secure EL2: a [`Privilege`] does not know of one.
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
    fn el3_is_secure_whatever_is_below_it() {
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
    fn a_privilege_becomes_a_state() {
        let host = Privilege { level: 0, e2h: true, tge: true, secure: false };
        assert_eq!(PeState::from(host), PeState { tge: true, ..PeState::non_secure(El0) });
    }
}
