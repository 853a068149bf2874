//! Versions of the PMU architecture that the core may report (Arm ARM D13, `ID_AA64DFR0_EL1`).

/// Version of the implemented PMU architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
pub enum PmuVersion {
    /// PMUv3 for Armv8.4, according to the PMU guide (3.1.2): 32-bit event counters.
    #[default]
    #[serde(rename = "v8.4")]
    V8p4,
    /// PMUv3p5, according to the ID register of the core: 64-bit event counters, `PMCR_EL0.LP`,
    /// `MDCR_EL2.HLP` and `HCCD`, `MDCR_EL3.SCCD`.
    #[serde(rename = "v3p5")]
    V3p5,
}

impl PmuVersion {
    /// Returns `ID_AA64DFR0_EL1.PMUVer`.
    pub fn id_field(self) -> u8 {
        match self {
            PmuVersion::V8p4 => 5,
            PmuVersion::V3p5 => 6,
        }
    }

    /// Returns whether event counters have 64 bits.
    pub fn has_long_counters(self) -> bool {
        self == PmuVersion::V3p5
    }
}
