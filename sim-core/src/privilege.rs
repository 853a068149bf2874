//! Where the program runs: exception level and the host extension (Arm architecture; PMU guide 3.1.4).

/// Exception level with `HCR_EL2.E2H`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privilege {
    /// 0 to 3.
    pub level: u8,
    /// `HCR_EL2.E2H`: EL1 names reach EL2 registers when executed at EL2.
    pub e2h: bool,
    /// `HCR_EL2.TGE`: EL0 runs under EL2.
    pub tge: bool,
}

impl Privilege {
    /// EL1, or EL2 that hosts applications: exceptions taken there are local (guide 3.1.4).
    pub fn is_local(self) -> bool {
        self.level == 1 || (self.level == 2 && self.e2h && self.tge)
    }
}
