//! Exception level, security state and host extension (Arm architecture; PMU guide 3.1.4).

/// Exception level with `HCR_EL2.E2H` and the security state.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Privilege {
    /// Exception level, 0 to 3.
    pub level: u8,
    /// `HCR_EL2.E2H`: EL1 names reach EL2 registers when executed at EL2.
    pub e2h: bool,
    /// `HCR_EL2.TGE`: EL0 runs under EL2.
    pub tge: bool,
    /// The levels below EL3 are in Secure state (`SCR_EL3.NS` is 0).
    pub secure: bool,
}

/// Compares all fields at once, because the machine compares levels after every instruction.
impl PartialEq for Privilege {
    #[inline]
    fn eq(&self, other: &Privilege) -> bool {
        self.bits() == other.bits()
    }
}

impl Privilege {
    /// Returns all fields in one word.
    #[inline]
    fn bits(self) -> u32 {
        let Privilege { level, e2h, tge, secure } = self;
        u32::from_le_bytes([level, e2h.into(), tge.into(), secure.into()])
    }

    /// Returns true for EL1, and for EL2 that hosts applications. Exceptions taken there are local
    /// (guide 3.1.4).
    pub fn is_local(self) -> bool {
        self.level == 1 || (self.level == 2 && self.e2h && self.tge)
    }

    /// Returns true in Secure state; EL3 always is.
    pub fn is_secure(self) -> bool {
        self.secure || self.level == 3
    }
}

#[cfg(test)]
mod tests {
    use super::Privilege;

    #[test]
    fn el1_and_a_host_are_local_and_el3_is_secure() {
        let at = |level, host| Privilege { level, e2h: host, tge: host, secure: false };
        let local: Vec<bool> = (0..4).map(|level| at(level, false).is_local()).collect();
        assert_eq!(local, [false, true, false, false]);
        assert!(at(2, true).is_local() && !Privilege { tge: false, ..at(2, true) }.is_local());
        assert!(at(3, false).is_secure() && !at(2, false).is_secure());
        assert!(Privilege { secure: true, ..at(1, false) }.is_secure());
    }
}
