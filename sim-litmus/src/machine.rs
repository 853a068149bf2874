//! The machine that a result is of, by its MIDR_EL1.

use sim_core::PmuEvent;
use sim_core::cores::{self, CoreDescription};

use crate::counts::MachineFacts;

/// Number of a core and its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Midr(pub u64);

impl Midr {
    /// Reads MIDR_EL1 as Linux writes it: hexadecimal, with or without `0x`.
    pub fn read(text: &str) -> Option<Midr> {
        let digits = text.trim().trim_start_matches("0x");
        u64::from_str_radix(digits, 16).ok().filter(|midr| *midr != 0).map(Midr)
    }

    /// Returns the core, if n2sim knows it.
    pub fn core(self) -> Option<&'static CoreDescription> {
        let is_own =
            |core: &&CoreDescription| core.part != 0 && cores::is_part(self.0, core.part.into());
        cores::all().iter().find(is_own)
    }

    /// Returns the revision as `r0p3`.
    pub fn revision(self) -> String {
        format!("r{}p{}", self.0 >> 20 & 0xf, self.0 & 0xf)
    }

    /// Returns true for the revisions r0p0 to r0p2 of the Neoverse N2, which count one stalled slot
    /// too many in every cycle.
    pub fn has_stall_slot_erratum(self) -> bool {
        self.is_n2() && self.0 >> 20 & 0xf == 0 && self.0 & 0xf < 3
    }

    /// Returns true for a Neoverse N2.
    pub fn is_n2(self) -> bool {
        self.core().is_some_and(CoreDescription::is_n2)
    }

    /// Returns the core with its revision in words.
    pub fn title(self) -> String {
        match self.core() {
            Some(core) => format!("{} {}", core.title, self.revision()),
            None => format!("unknown core, MIDR {:#x}", self.0),
        }
    }

    /// Returns true if the core is known not to have the event.
    pub fn lacks(self, event: PmuEvent) -> bool {
        self.core().is_some_and(|core| core.is_related() && !core.has(event))
    }
}

impl MachineFacts {
    /// Returns MIDR_EL1, if it is known.
    pub fn number(&self) -> Option<Midr> {
        Midr::read(&self.midr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_known_by_implementer_and_part() {
        let title = |text| Midr::read(text).map(Midr::title);
        assert_eq!(title("0x00000000410fd493").as_deref(), Some("Neoverse N2 r0p3"));
        assert_eq!(title("411fd401").as_deref(), Some("Neoverse V1 r1p1"));
        assert_eq!(title("0x410fd034").as_deref(), Some("Cortex-A53 r0p4"));
        assert_eq!(title("0x460fd493").as_deref(), Some("unknown core, MIDR 0x460fd493"));
        assert_eq!((title(""), title("0x0"), title("N2")), (None, None, None));
    }

    #[test]
    fn the_erratum_is_of_the_first_revisions_of_the_n2() {
        let has = |midr| Midr(midr).has_stall_slot_erratum();
        assert!(has(0x410f_d490) && has(0x410f_d492));
        assert!(!has(0x410f_d493) && !has(0x411f_d490) && !has(0x411f_d400));
    }

    #[test]
    fn a_related_core_may_lack_an_event() {
        assert!(Midr(0x410f_d0c0).lacks(PmuEvent::STALL_SLOT));
        assert!(!Midr(0x410f_d490).lacks(PmuEvent::STALL_SLOT));
        // Nothing is known of the events of a core with another table.
        assert!(!Midr(0x410f_d034).lacks(PmuEvent::STALL_SLOT));
    }
}
