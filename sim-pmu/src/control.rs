//! Control registers of the counters: `PMCR_EL0`, `PMUSERENR_EL0`, `MDCR_EL2`, `MDCR_EL3`, and the
//! partition of the counters between a guest and EL2 (Arm ARM D11.5 and D13).

use crate::counter::CYCLE_BIT;

/// Bits of `PMCR_EL0`.
pub mod pmcr {
    /// Enables the counters of the first range and the cycle counter.
    pub const E: u64 = 1 << 0;
    /// Writing 1 resets the event counters to 0.
    pub const P: u64 = 1 << 1;
    /// Writing 1 resets the cycle counter to 0.
    pub const C: u64 = 1 << 2;
    /// The cycle counter counts every 64th cycle, unless LC is set.
    pub const D: u64 = 1 << 3;
    /// Exports events. The bit is kept and has no effect.
    pub const X: u64 = 1 << 4;
    /// Stops the cycle counter where event counting is prohibited.
    pub const DP: u64 = 1 << 5;
    /// The cycle counter overflows at bit 63 instead of bit 31.
    pub const LC: u64 = 1 << 6;
    /// PMUv3p5: event counters of the first range overflow at bit 63 instead of bit 31.
    pub const LP: u64 = 1 << 7;
    /// Number of bits, from bit 0, that a debugger sees from outside.
    pub const EXTERNAL_BITS: u32 = 8;
    /// Shift of the field N, the number of event counters.
    pub const N_SHIFT: u32 = 11;
}

/// Bits of `PMUSERENR_EL0`.
pub mod pmuserenr {
    /// EL0 may use every register that has an EL0 name.
    pub const EN: u64 = 1 << 0;
    /// EL0 may write `PMSWINC_EL0`.
    pub const SW: u64 = 1 << 1;
    /// EL0 may read `PMCCNTR_EL0`.
    pub const CR: u64 = 1 << 2;
    /// EL0 may read event counters, and select one.
    pub const ER: u64 = 1 << 3;
    /// All bits of the register.
    pub const ALL: u64 = EN | SW | CR | ER;
}

/// Bits of `MDCR_EL2`.
pub mod mdcr_el2 {
    /// Number of counters in the first range, which belongs to the guest.
    pub const HPMN: u64 = 0x1F;
    /// Traps a guest's accesses to `PMCR_EL0`.
    pub const TPMCR: u64 = 1 << 5;
    /// Traps a guest's accesses to any PMU register.
    pub const TPM: u64 = 1 << 6;
    /// Enables the counters of the second range, which belongs to EL2.
    pub const HPME: u64 = 1 << 7;
    /// Stops the counters of the first range at EL2.
    pub const HPMD: u64 = 1 << 17;
    /// PMUv3p5: stops the cycle counter at EL2.
    pub const HCCD: u64 = 1 << 23;
    /// PMUv3p5: event counters of the second range overflow at bit 63 instead of bit 31.
    pub const HLP: u64 = 1 << 26;
    /// Debug, profiling and trace fields, kept so that software can read them back: `TDE`, `TDA`,
    /// `TDOSA`, `TDRA`, `E2PB`, `TPMS`, `TTRF`, `E2TB`.
    pub const KEPT: u64 = 0xF << 8 | 0b11 << 12 | 1 << 14 | 1 << 19 | 0b11 << 24;
}

/// Bits of `MDCR_EL3`.
pub mod mdcr_el3 {
    /// Traps accesses below EL3 to any PMU register.
    pub const TPM: u64 = 1 << 6;
    /// Traps accesses of EL2 to `MDCR_EL2`.
    pub const TDA: u64 = 1 << 9;
    /// Allows counting in the secure state.
    pub const SPME: u64 = 1 << 17;
    /// PMUv3p5: stops the cycle counter in the secure state.
    pub const SCCD: u64 = 1 << 23;
    /// Debug, profiling and trace fields, kept so that software can read them back: `TDOSA`,
    /// `NSPB`, `SPD32`, `SDD`, `STE`, `TTRF`, `EDAD`, `EPMAD`, `NSTB`.
    pub const KEPT: u64 = 1 << 10 | 0b11 << 12 | 0b11 << 14 | 1 << 16 | 0b1111 << 18 | 0b11 << 24;
}

/// Bits of the control registers that software can set on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBits {
    /// Bits of `PMCR` that persist.
    pub pmcr: u64,
    /// Bits of `MDCR_EL2` (`HDCR` in AArch32).
    pub mdcr_el2: u64,
    /// Bits of `MDCR_EL3` (`SDCR` in AArch32).
    pub mdcr_el3: u64,
}

/// The four control registers. Bits that do not exist are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Controls {
    event_counters: u8,
    bits: ControlBits,
    pmcr: u64,
    pmuserenr: u64,
    mdcr_el2: u64,
    mdcr_el3: u64,
}

impl Controls {
    /// Returns the registers after reset: nothing is enabled, and every counter is in the first
    /// range. Fields with an architecturally unknown reset value are 0.
    pub(crate) fn new(event_counters: u8, bits: ControlBits) -> Controls {
        let mdcr_el2 = u64::from(event_counters);
        Controls { event_counters, bits, pmcr: 0, pmuserenr: 0, mdcr_el2, mdcr_el3: 0 }
    }

    /// Returns the bits of all event counters in enable and overflow masks.
    pub(crate) fn event_bits(&self) -> u32 {
        (1 << self.event_counters) - 1
    }

    pub(crate) fn pmcr(&self) -> u64 {
        self.pmcr
    }

    pub(crate) fn pmuserenr(&self) -> u64 {
        self.pmuserenr
    }

    pub(crate) fn mdcr_el2(&self) -> u64 {
        self.mdcr_el2
    }

    pub(crate) fn mdcr_el3(&self) -> u64 {
        self.mdcr_el3
    }

    /// Writes the bits that persist. P and C take effect only at the write itself.
    pub(crate) fn set_pmcr(&mut self, value: u64) {
        self.pmcr = value & self.bits.pmcr;
    }

    pub(crate) fn set_pmuserenr(&mut self, value: u64) {
        self.pmuserenr = value & pmuserenr::ALL;
    }

    pub(crate) fn set_mdcr_el2(&mut self, value: u64) {
        self.mdcr_el2 = value & self.bits.mdcr_el2;
    }

    pub(crate) fn set_mdcr_el3(&mut self, value: u64) {
        self.mdcr_el3 = value & self.bits.mdcr_el3;
    }

    pub(crate) fn has_pmcr(&self, bit: u64) -> bool {
        self.pmcr & bit != 0
    }

    pub(crate) fn has_mdcr_el2(&self, bit: u64) -> bool {
        self.mdcr_el2 & bit != 0
    }

    pub(crate) fn has_mdcr_el3(&self, bit: u64) -> bool {
        self.mdcr_el3 & bit != 0
    }

    /// Returns the number of counters in the first range. An `HPMN` of 0 or above the implemented
    /// number selects all counters. This is one of the choices that the architecture permits.
    pub(crate) fn first_range_counters(&self) -> u8 {
        match (self.mdcr_el2 & mdcr_el2::HPMN) as u8 {
            n if n == 0 || n > self.event_counters => self.event_counters,
            n => n,
        }
    }

    /// Returns the bits of the event counters in the first range.
    pub(crate) fn first_range(&self) -> u32 {
        (1 << self.first_range_counters()) - 1
    }

    /// Returns the counters that PMCR.E and MDCR_EL2.HPME enable.
    pub(crate) fn enabled(&self) -> u32 {
        let first = self.first_range();
        let of_guest = if self.has_pmcr(pmcr::E) { first | CYCLE_BIT } else { 0 };
        let of_el2 = if self.has_mdcr_el2(mdcr_el2::HPME) { self.event_bits() & !first } else { 0 };
        of_guest | of_el2
    }

    /// Returns the event counters that overflow at bit 63, by LP in the first range and by HLP in
    /// the second.
    pub(crate) fn long_counters(&self) -> u32 {
        let first = self.first_range();
        let of_guest = if self.has_pmcr(pmcr::LP) { first } else { 0 };
        let of_el2 = if self.has_mdcr_el2(mdcr_el2::HLP) { self.event_bits() & !first } else { 0 };
        of_guest | of_el2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::PmuDescription;
    use crate::version::PmuVersion;

    fn of(version: PmuVersion) -> Controls {
        let description = PmuDescription::neoverse_n2(version);
        Controls::new(description.event_counters, description.controls)
    }

    #[test]
    fn registers_keep_only_implemented_bits() {
        let kept = |version| {
            let mut controls = of(version);
            controls.set_pmcr(u64::MAX);
            controls.set_pmuserenr(u64::MAX);
            controls.set_mdcr_el2(u64::MAX);
            controls.set_mdcr_el3(u64::MAX);
            [controls.pmcr, controls.pmuserenr, controls.mdcr_el2, controls.mdcr_el3]
        };
        assert_eq!(kept(PmuVersion::V8p4), [0x79, 0xF, 0x030A_7FFF, 0x033F_F640]);
        assert_eq!(kept(PmuVersion::V3p5), [0xF9, 0xF, 0x078A_7FFF, 0x03BF_F640]);
    }

    #[test]
    fn hpmn_sets_the_partition() {
        let mut controls = of(PmuVersion::V3p5);
        assert_eq!(controls.first_range(), 0b11_1111, "after reset");
        for (hpmn, first) in [(1, 1), (4, 0b1111), (6, 0b11_1111), (0, 0b11_1111), (7, 0b11_1111)] {
            controls.set_mdcr_el2(hpmn);
            assert_eq!(controls.first_range(), first, "HPMN {hpmn}");
        }
        controls.set_mdcr_el2(2 | mdcr_el2::HPME | mdcr_el2::HLP);
        assert_eq!((controls.enabled(), controls.long_counters()), (0b11_1100, 0b11_1100));
        controls.set_pmcr(pmcr::E | pmcr::LP);
        assert_eq!(controls.enabled(), 0b11_1111 | CYCLE_BIT);
        controls.set_mdcr_el2(2);
        assert_eq!((controls.enabled(), controls.long_counters()), (0b11 | CYCLE_BIT, 0b11));
    }
}
