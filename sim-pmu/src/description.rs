//! Differences between the PMUs of cores, as data: counters, identification, implemented bits and
//! registers.
//!
//! Sources: PMU guide of the Neoverse N2 (3.1, Appendix B) and Arm ARM D13.5; Cortex-A53 manual
//! (Arm DDI 0500, 12.4 and 12.6) and Arm ARM D7 for Armv8.0; the description of PMCEID1 of a
//! Cortex-A32 class core (Arm 100241, C9.4).

use crate::control::{ControlBits, mdcr_el2, mdcr_el3, pmcr};
use crate::counter::EVENT_COUNTERS;
use crate::filter::Filter;
use crate::identification::{CommonEventWord, PMCR_ID, PMMIR};
use crate::other_core::{CORTEX_A32, CORTEX_A53};
use crate::register::Register;
use crate::version::PmuVersion;

/// PMU of one kind of core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuDescription {
    /// Name of the core.
    pub core: &'static str,
    /// Number of event counters, 1 to 31.
    pub event_counters: u8,
    /// Event counters have 64 bits instead of 32.
    pub has_long_counters: bool,
    /// Fields IMP and IDCODE of `PMCR`, at their places.
    pub identity: u64,
    /// Bits of the control registers that software can set.
    pub controls: ControlBits,
    /// Bits of `evtCount`, the event number in `PMEVTYPER<n>`.
    pub event_code: u16,
    /// Filter bits of `PMEVTYPER<n>` and `PMCCFILTR`.
    pub filter: u32,
    /// `PMCEID0` to `PMCEID3`; `None` for a word that the core does not have.
    pub common_events: [Option<u32>; 4],
    /// `PMMIR`; `None` if the core does not have the register.
    pub pmmir: Option<u64>,
    /// Every level uses AArch32.
    pub is_aarch32: bool,
    /// Registers that the sources of the core describe; `None` for all.
    pub described: Option<&'static [Register]>,
}

/// Bits of `PMCR` of Armv8.0 that software can set.
const PMCR_V8P0: u64 = pmcr::E | pmcr::D | pmcr::X | pmcr::DP | pmcr::LC;
/// Filter bits of Armv8.0 in AArch64.
const FILTER_V8P0: u32 =
    Filter::P | Filter::U | Filter::NSK | Filter::NSU | Filter::NSH | Filter::M;
/// Bits of an event number in Armv8.0.
const EVENT_CODE_V8P0: u16 = 0x3FF;
/// `MDCR_EL2` of Armv8.0: HPMN, TPMCR, TPM, HPME, TDE, TDA, TDOSA, TDRA.
const MDCR_EL2_V8P0: u64 =
    mdcr_el2::HPMN | mdcr_el2::TPMCR | mdcr_el2::TPM | mdcr_el2::HPME | 0xF << 8;
/// Fields of `MDCR_EL3` of the Cortex-A53 without effect here: TDOSA, SPD32, SDD, EDAD, EPMAD.
const MDCR_EL3_A53_KEPT: u64 = 1 << 10 | 0b11 << 14 | 1 << 16 | 0b11 << 20;
/// Control registers of the Cortex-A53.
const A53_CONTROLS: ControlBits = ControlBits {
    pmcr: PMCR_V8P0,
    mdcr_el2: MDCR_EL2_V8P0,
    mdcr_el3: mdcr_el3::TPM | mdcr_el3::TDA | mdcr_el3::SPME | MDCR_EL3_A53_KEPT,
};
/// `SDCR`: SPD, SPME, EDAD, EPMAD.
const SDCR: u64 = 0b11 << 14 | mdcr_el3::SPME | 0b11 << 20;
/// `IMP` (Arm) and `IDCODE` of the Cortex-A53.
const A53_ID: u64 = 0x41 << 24 | 0x03 << 16;
/// Bit of `PMCEID0` for `BR_RETURN_RETIRED`. The Cortex-A53 counts the event but has no bit for it.
const BR_RETURN_RETIRED: u32 = 1 << 0x0E;
/// Registers in the description of `PMCEID1` of a Cortex-A32 class core: itself, the register that
/// opens it to EL0, and the registers that trap it.
const A32_REGISTERS: &[Register] =
    &[Register::PMCEID1_EL0, Register::PMUSERENR_EL0, Register::MDCR_EL2, Register::MDCR_EL3];

impl PmuDescription {
    /// Returns the PMU of the Neoverse N2.
    pub fn neoverse_n2(version: PmuVersion) -> PmuDescription {
        let if_long = |bits: u64| if version.has_long_counters() { bits } else { 0 };
        let el2 = mdcr_el2::HPMN | mdcr_el2::TPMCR | mdcr_el2::TPM | mdcr_el2::HPME;
        let el2 = el2 | mdcr_el2::HPMD | mdcr_el2::KEPT;
        let el3 = mdcr_el3::TPM | mdcr_el3::TDA | mdcr_el3::SPME | mdcr_el3::KEPT;
        let controls = ControlBits {
            pmcr: PMCR_V8P0 | if_long(pmcr::LP),
            mdcr_el2: el2 | if_long(mdcr_el2::HCCD | mdcr_el2::HLP),
            mdcr_el3: el3 | if_long(mdcr_el3::SCCD),
        };
        PmuDescription {
            core: "neoverse-n2",
            event_counters: EVENT_COUNTERS as u8,
            has_long_counters: version.has_long_counters(),
            identity: PMCR_ID,
            controls,
            event_code: u16::MAX,
            filter: Filter::ALL,
            common_events: CommonEventWord::ALL.map(|word| Some(word.value())),
            pmmir: Some(PMMIR),
            is_aarch32: false,
            described: None,
        }
    }

    /// Returns the PMU of the Cortex-A53, a core with an L2 cache.
    pub fn cortex_a53() -> PmuDescription {
        let word = |word| Some(CORTEX_A53.common_events(word));
        let first = word(CommonEventWord::Pmceid0).map(|events| events & !BR_RETURN_RETIRED);
        PmuDescription {
            core: CORTEX_A53.name,
            event_counters: 6,
            has_long_counters: false,
            identity: A53_ID,
            controls: A53_CONTROLS,
            event_code: EVENT_CODE_V8P0,
            filter: FILTER_V8P0,
            common_events: [first, word(CommonEventWord::Pmceid1), None, None],
            pmmir: None,
            is_aarch32: false,
            described: None,
        }
    }

    /// Returns the PMU of a Cortex-A32 class core, as far as it is described. Fields of registers
    /// that are not described have the values of Armv8.0 and are never read.
    pub fn cortex_a32() -> PmuDescription {
        PmuDescription {
            core: CORTEX_A32.name,
            identity: 0x41 << 24,
            controls: ControlBits { mdcr_el3: SDCR, ..A53_CONTROLS },
            filter: FILTER_V8P0 & !Filter::M,
            common_events: [
                None,
                Some(CORTEX_A32.common_events(CommonEventWord::Pmceid1)),
                None,
                None,
            ],
            is_aarch32: true,
            described: Some(A32_REGISTERS),
            ..PmuDescription::cortex_a53()
        }
    }

    /// Returns the PMU of the core with this name, ignoring case.
    pub fn from_name(core: &str) -> Option<PmuDescription> {
        let all = [PmuDescription::cortex_a53(), PmuDescription::cortex_a32()];
        all.into_iter().find(|own| own.core.eq_ignore_ascii_case(core))
    }

    /// Returns whether the sources describe this register, or the core does not have it.
    pub fn describes(&self, register: Register) -> bool {
        self.described.is_none_or(|known| known.contains(&register))
    }

    /// Returns a word of common events; `None` if the core does not have it.
    pub fn common_events(&self, word: CommonEventWord) -> Option<u32> {
        self.common_events[word as usize]
    }

    /// Returns `PMCEID0_EL0` or `PMCEID1_EL0` from its two words. A word that does not exist is
    /// RES0.
    pub(crate) fn pmceid(&self, low: CommonEventWord, high: CommonEventWord) -> u64 {
        let word = |word| u64::from(self.common_events(word).unwrap_or(0));
        word(high) << 32 | word(low)
    }

    /// Returns the implemented bits of an event counter.
    pub(crate) fn counter_bits(&self) -> u64 {
        if self.has_long_counters { u64::MAX } else { u32::MAX.into() }
    }
}
