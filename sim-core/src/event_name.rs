//! Names of events as Linux tools write them: generic names, `pmu/event/modifiers`,
//! `event:modifiers`.
//!
//! [`PmuEvent::from_name`] resolves mnemonics and numbers. This module adds the Linux syntax.

use std::borrow::Cow;

use crate::PmuEvent::{self, *};
use crate::pmu_event::EventNameError;

/// Names that Linux gives to events of every machine, with the event that each maps to on an Arm
/// PMUv3. Source: the maps of the kernel's arm_pmuv3 driver.
const LINUX_NAMES: &[(&str, PmuEvent)] = &[
    ("cycles", CPU_CYCLES),
    ("cpu-cycles", CPU_CYCLES),
    ("instructions", INST_RETIRED),
    ("branches", BR_RETIRED),
    ("branch-instructions", BR_RETIRED),
    ("branch-misses", BR_MIS_PRED),
    ("bus-cycles", BUS_CYCLES),
    ("cache-references", L1D_CACHE),
    ("cache-misses", L1D_CACHE_REFILL),
    ("stalled-cycles-frontend", STALL_FRONTEND),
    ("stalled-cycles-backend", STALL_BACKEND),
    ("l1-dcache-loads", L1D_CACHE),
    ("l1-dcache-load-misses", L1D_CACHE_REFILL),
    ("l1-icache-loads", L1I_CACHE),
    ("l1-icache-load-misses", L1I_CACHE_REFILL),
    ("dtlb-loads", L1D_TLB),
    ("dtlb-load-misses", L1D_TLB_REFILL),
    ("itlb-loads", L1I_TLB),
    ("itlb-load-misses", L1I_TLB_REFILL),
    ("llc-loads", LL_CACHE_RD),
    ("llc-load-misses", LL_CACHE_MISS_RD),
    ("branch-loads", BR_PRED),
    ("branch-load-misses", BR_MIS_PRED),
];

/// Prefixes of the names that Linux gives to the PMUs of Arm cores. Other PMUs (a mesh, a DSU)
/// count other events.
const CORE_PMUS: [&str; 4] = ["armv8_", "armv9_", "cpu", "default_core"];
/// Terms next to an event that do not change what is counted.
const IGNORED_TERMS: [&str; 4] = ["long=", "rdpmc=", "name=", "period="];

/// The parts of a name, before any lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName<'a> {
    /// The PMU before the first slash.
    pub pmu: Option<&'a str>,
    /// The name alone, or the terms between the slashes.
    pub terms: &'a str,
    /// Modifiers after the colon or the last slash, such as `u`.
    pub modifiers: &'a str,
}

/// Reason why a name does not denote an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpellingError {
    /// The core has no such event.
    #[error(transparent)]
    Name(#[from] EventNameError),
    /// `pmu/event` without the second slash.
    #[error("'{0}': a brace or slash is not closed")]
    Unclosed(String),
    /// Terms that specify more than the event.
    #[error("'{0}': write an event of a PMU as pmu/name/ or pmu/event=0xNN/")]
    Term(String),
}

impl<'a> EventName<'a> {
    /// Splits `text` into its parts.
    ///
    /// # Errors
    /// A slash is not closed.
    pub fn split(text: &'a str) -> Result<EventName<'a>, SpellingError> {
        let Some((pmu, rest)) = text.split_once('/') else {
            let (terms, modifiers) = text.split_once(':').unwrap_or((text, ""));
            return Ok(EventName { pmu: None, terms, modifiers });
        };
        let (terms, modifiers) =
            rest.split_once('/').ok_or_else(|| SpellingError::Unclosed(text.to_owned()))?;
        Ok(EventName { pmu: Some(pmu), terms, modifiers: modifiers.trim_start_matches(':') })
    }

    /// Returns true if the name has the PMU of a core, or no PMU.
    pub fn is_of_core(&self) -> bool {
        self.pmu.is_none_or(|pmu| CORE_PMUS.iter().any(|head| pmu.starts_with(head)))
    }

    /// Returns the core that the PMU is named after, such as `cortex-a53` for `armv8_cortex_a53`.
    /// Returns `None` if the name has no PMU, or one that several cores share.
    pub fn core(&self) -> Option<String> {
        let pmu = self.pmu?;
        let name = pmu.strip_prefix("armv8_").or_else(|| pmu.strip_prefix("armv9_"))?;
        (!name.starts_with("pmuv3")).then(|| name.replace('_', "-").to_ascii_lowercase())
    }

    /// Returns the event as one word: its name, or `0xNN` for `event=0xNN`.
    ///
    /// # Errors
    /// The terms specify more than the event.
    pub fn plain(&self) -> Result<Cow<'a, str>, SpellingError> {
        let wrong = || SpellingError::Term(self.terms.to_owned());
        let is_ignored = |term: &&str| IGNORED_TERMS.iter().any(|head| term.starts_with(head));
        let mut terms = self.terms.split(',').filter(|term| !is_ignored(term));
        let (Some(name), None) = (terms.next(), terms.next()) else {
            return Err(wrong());
        };
        if let Some(number) = name.strip_prefix("event=") {
            let hex = number.strip_prefix("0x").unwrap_or(number);
            u32::from_str_radix(hex, 16).map_err(|_| wrong())?;
            return Ok(Cow::Owned(format!("0x{hex}")));
        }
        if name.contains('=') {
            return Err(wrong());
        }
        Ok(Cow::Borrowed(name))
    }

    /// Returns the event of the Neoverse N2 that the name denotes.
    ///
    /// # Errors
    /// The core has no such event, or the terms specify more than the event.
    pub fn event(&self) -> Result<PmuEvent, SpellingError> {
        let name = self.plain()?;
        let lower = name.to_ascii_lowercase();
        match LINUX_NAMES.iter().find(|(linux, _)| *linux == lower) {
            Some((_, event)) => Ok(*event),
            None => Ok(PmuEvent::from_name(&name)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Result<PmuEvent, SpellingError> {
        EventName::split(text)?.event()
    }

    #[test]
    fn every_spelling_finds_the_event() {
        for text in ["cpu_cycles", "cycles:u", "r11", "armv8_pmuv3_0/event=0x11/k", "cpu/cycles/"] {
            assert_eq!(event(text), Ok(CPU_CYCLES), "{text}");
        }
        let name = EventName::split("armv8_pmuv3_0/l2d_tlb,long=1/:uk").expect("two slashes");
        assert_eq!((name.modifiers, name.event()), ("uk", Ok(L2D_TLB)));
    }

    #[test]
    fn pmus_of_other_units_are_not_core_pmus() {
        let is_of_core = |text| EventName::split(text).expect("well formed").is_of_core();
        assert!(is_of_core("cycles") && is_of_core("armv8_pmuv3_0/cycles/"));
        assert!(!is_of_core("arm_cmn_0/hnf_cache_miss/") && !is_of_core("/cycles/"));
    }

    #[test]
    fn a_pmu_can_name_its_core() {
        let core = |text| EventName::split(text).expect("well formed").core();
        assert_eq!(core("armv8_cortex_a53/cycles/").as_deref(), Some("cortex-a53"));
        assert_eq!(core("armv9_neoverse_n2/cycles/u").as_deref(), Some("neoverse-n2"));
        for shared in ["cycles", "armv8_pmuv3_0/cycles/", "cpu/cycles/", "arm_cmn_0/x/"] {
            assert_eq!(core(shared), None, "{shared}");
        }
    }

    #[test]
    fn errors_name_the_fault() {
        assert_eq!(event("cpu/cycles"), Err(SpellingError::Unclosed("cpu/cycles".to_owned())));
        for terms in ["event=zz", "config=1", "event=0x11,x", ""] {
            assert!(event(&format!("cpu/{terms}/")).is_err(), "{terms}");
        }
    }
}
