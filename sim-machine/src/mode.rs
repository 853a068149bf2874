//! Simulation modes: which part of the machine runs, which events a mode counts, and how reliable
//! each count is (`docs/modes.md`).

use sim_core::PmuEvent;
use sim_core::pmu_event::Group;

/// Simulated part of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The whole machine.
    #[default]
    Full,
    /// TLBs, caches, system level cache and memory, accessed in program order without the pipeline.
    Memory,
    /// Branch prediction and instruction fetch with the caches below, without the pipeline and
    /// without data accesses.
    Frontend,
}

/// Caveat of counts that lack only the events of wrong paths.
const CORRECT_PATH: &str = "correct path only";
/// Caveat of counts that also depend on the time of accesses.
const UNTIMED: &str = "correct path only, simple clock";

/// Caveat of counts of a level that instructions share with data.
const FETCHES: &str = "instruction fetches only";

/// Read events of levels that the front end shares with data. Sums would hide the missing data
/// part.
const FETCH_READS: [PmuEvent; 5] = [
    PmuEvent::L2D_TLB_RD,
    PmuEvent::L2D_TLB_REFILL_RD,
    PmuEvent::L2D_CACHE_RD,
    PmuEvent::L2D_CACHE_REFILL_RD,
    PmuEvent::L2D_CACHE_LMISS_RD,
];

/// Accesses and lookups, which depend on the program and not on cache contents.
const ACCESSES: [PmuEvent; 17] = [
    PmuEvent::MEM_ACCESS,
    PmuEvent::MEM_ACCESS_RD,
    PmuEvent::MEM_ACCESS_WR,
    PmuEvent::MEM_ACCESS_CHECKED,
    PmuEvent::MEM_ACCESS_RD_CHECKED,
    PmuEvent::MEM_ACCESS_WR_CHECKED,
    PmuEvent::LDST_ALIGN_LAT,
    PmuEvent::LD_ALIGN_LAT,
    PmuEvent::ST_ALIGN_LAT,
    PmuEvent::L1D_CACHE,
    PmuEvent::L1D_CACHE_RD,
    PmuEvent::L1D_CACHE_WR,
    PmuEvent::L1D_TLB,
    PmuEvent::L1D_TLB_RD,
    PmuEvent::L1D_TLB_WR,
    PmuEvent::L1I_CACHE,
    PmuEvent::L1I_TLB,
];

impl Mode {
    /// Returns the name on the command line and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Full => "full",
            Mode::Memory => "memory",
            Mode::Frontend => "frontend",
        }
    }

    /// Returns a description of one line.
    pub fn describe(self) -> &'static str {
        match self {
            Mode::Full => "the whole machine",
            Mode::Memory => {
                "TLBs, caches and memory in program order: no pipeline, no wrong path, 4 instructions a cycle"
            }
            Mode::Frontend => {
                "prediction and fetch in program order: no pipeline, no wrong path, no data, 4 instructions a cycle"
            }
        }
    }

    /// Returns true if the mode counts an event. Other events have no count, not even 0.
    pub fn gives(self, event: PmuEvent) -> bool {
        use Group::{Branch, L1d, L1i, L2, Llc, Memory, Tlb};
        match self {
            Mode::Full => true,
            Mode::Memory => match event {
                PmuEvent::INST_RETIRED => true,
                PmuEvent::TTBR_WRITE_RETIRED => false,
                _ => matches!(event.info().group, Tlb | L1d | L1i | L2 | Llc | Memory),
            },
            Mode::Frontend => match event {
                PmuEvent::INST_RETIRED
                | PmuEvent::L1I_TLB
                | PmuEvent::L1I_TLB_REFILL
                | PmuEvent::ITLB_WALK => true,
                _ if FETCH_READS.contains(&event) => true,
                _ => matches!(event.info().group, L1i | Branch),
            },
        }
    }

    /// Returns why the count of an event may differ from that of the whole machine.
    pub fn caveat(self, event: PmuEvent) -> Option<&'static str> {
        match self {
            Mode::Full => None,
            _ if !self.gives(event) || event.never_counts() => None,
            Mode::Memory => match event {
                PmuEvent::INST_RETIRED => None,
                _ if ACCESSES.contains(&event) => Some(CORRECT_PATH),
                _ => Some(UNTIMED),
            },
            Mode::Frontend => match event {
                PmuEvent::INST_RETIRED | PmuEvent::BR_RETIRED => None,
                _ if FETCH_READS.contains(&event) => Some(FETCHES),
                _ if event.info().group == Group::Branch => Some(CORRECT_PATH),
                _ if ACCESSES.contains(&event) => Some(CORRECT_PATH),
                _ => Some(UNTIMED),
            },
        }
    }

    /// Returns the events that the mode does not count, in few words. Whole chapters of the guide
    /// appear by title, and single events if the mode counts the chapter in part.
    pub fn not_given(self) -> Vec<String> {
        let mut missing = Vec::new();
        for group in Group::ALL {
            let of_group = PmuEvent::ALL.into_iter().filter(|event| event.info().group == group);
            let (given, not): (Vec<PmuEvent>, Vec<PmuEvent>) =
                of_group.partition(|event| self.gives(*event));
            let names = not.iter().map(|event| event.mnemonic());
            match (given.is_empty(), not.is_empty()) {
                (true, _) => missing.push(group.title().to_owned()),
                (false, true) => {}
                (false, false) if given.len() < not.len() => {
                    let names: Vec<_> = given.iter().map(|event| event.mnemonic()).collect();
                    missing.push(format!("{} but {}", group.title(), names.join(", ")));
                }
                (false, false) => missing.extend(names.map(str::to_owned)),
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::pmu_event::RelationKind;

    #[test]
    fn a_mode_that_counts_a_sum_counts_its_parts() {
        for mode in [Mode::Memory, Mode::Frontend] {
            for event in PmuEvent::ALL.into_iter().filter(|event| mode.gives(*event)) {
                for kind in [RelationKind::SumOf, RelationKind::AliasOf, RelationKind::ImpliedSumOf]
                {
                    for part in event.relation(kind).unwrap_or_default() {
                        assert!(mode.gives(*part), "{mode:?}: {event:?} has {part:?} in it");
                    }
                }
            }
        }
    }

    #[test]
    fn the_memory_mode_lists_the_events_that_it_omits() {
        let missing = Mode::Memory.not_given();
        assert!(missing.contains(&"pipeline stalls".to_owned()), "{missing:?}");
        assert!(missing.contains(&"TTBR_WRITE_RETIRED".to_owned()), "{missing:?}");
        let instructions = "instructions and operations but INST_RETIRED";
        assert!(missing.contains(&instructions.to_owned()), "{missing:?}");
        assert!(Mode::Full.not_given().is_empty());
    }

    #[test]
    fn every_count_but_retired_instructions_has_a_caveat() {
        assert_eq!(Mode::Memory.caveat(PmuEvent::INST_RETIRED), None);
        assert_eq!(Mode::Memory.caveat(PmuEvent::MEM_ACCESS), Some(CORRECT_PATH));
        assert_eq!(Mode::Memory.caveat(PmuEvent::L1D_CACHE_REFILL), Some(UNTIMED));
        assert_eq!(Mode::Full.caveat(PmuEvent::MEM_ACCESS), None);
        assert_eq!(Mode::Frontend.caveat(PmuEvent::MEM_ACCESS), None, "it does not give it");
        assert_eq!(Mode::Frontend.caveat(PmuEvent::BR_MIS_PRED_RETIRED), Some(CORRECT_PATH));
        assert_eq!(Mode::Frontend.caveat(PmuEvent::L2D_CACHE_RD), Some(FETCHES));
    }
}
