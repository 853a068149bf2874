//! How much of the machine is simulated, which events that leaves, and how far each of them can be
//! trusted (`docs/modes.md`).

use sim_core::PmuEvent;
use sim_core::pmu_event::Group;

/// A part of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All of it.
    #[default]
    Full,
    /// TLBs, caches, system level cache and memory, asked in program order, without the pipeline.
    Memory,
    /// Branch prediction and instruction fetch with the caches below, without the pipeline and without accesses
    /// to data.
    Frontend,
}

/// Counts that lack what a wrong path would add, and nothing else.
const RIGHT_PATH: &str = "right path only";
/// Counts that also depend on when an access comes.
const UNTIMED: &str = "right path only, simple clock";

/// Counts of a level that data would share.
const FETCHES: &str = "instruction fetches only";

/// What the front end asks of levels that it shares with data: the reads, which its sums would hide.
const FETCH_READS: [PmuEvent; 5] = [
    PmuEvent::L2D_TLB_RD,
    PmuEvent::L2D_TLB_REFILL_RD,
    PmuEvent::L2D_CACHE_RD,
    PmuEvent::L2D_CACHE_REFILL_RD,
    PmuEvent::L2D_CACHE_LMISS_RD,
];

/// Accesses and lookups: what the program does, whatever the caches hold.
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
    /// Its name on the command line and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Full => "full",
            Mode::Memory => "memory",
            Mode::Frontend => "frontend",
        }
    }

    /// What it does, in a line.
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

    /// True if an event is counted at all; what is not has no count, not even 0.
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

    /// Why the count of an event that it gives may differ from that of the whole machine.
    pub fn caveat(self, event: PmuEvent) -> Option<&'static str> {
        match self {
            Mode::Full => None,
            _ if !self.gives(event) || event.never_counts() => None,
            Mode::Memory => match event {
                PmuEvent::INST_RETIRED => None,
                _ if ACCESSES.contains(&event) => Some(RIGHT_PATH),
                _ => Some(UNTIMED),
            },
            Mode::Frontend => match event {
                PmuEvent::INST_RETIRED | PmuEvent::BR_RETIRED => None,
                _ if FETCH_READS.contains(&event) => Some(FETCHES),
                _ if event.info().group == Group::Branch => Some(RIGHT_PATH),
                _ if ACCESSES.contains(&event) => Some(RIGHT_PATH),
                _ => Some(UNTIMED),
            },
        }
    }

    /// What it does not give, as few words as do: whole chapters of the guide by their titles, and single
    /// events of those that it gives in part.
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
    fn what_a_sum_is_made_of_is_given_with_it() {
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
    fn the_memory_mode_says_what_it_leaves_out() {
        let missing = Mode::Memory.not_given();
        assert!(missing.contains(&"pipeline stalls".to_owned()), "{missing:?}");
        assert!(missing.contains(&"TTBR_WRITE_RETIRED".to_owned()), "{missing:?}");
        let instructions = "instructions and operations but INST_RETIRED";
        assert!(missing.contains(&instructions.to_owned()), "{missing:?}");
        assert!(Mode::Full.not_given().is_empty());
    }

    #[test]
    fn every_count_but_that_of_instructions_says_how_it_may_differ() {
        assert_eq!(Mode::Memory.caveat(PmuEvent::INST_RETIRED), None);
        assert_eq!(Mode::Memory.caveat(PmuEvent::MEM_ACCESS), Some(RIGHT_PATH));
        assert_eq!(Mode::Memory.caveat(PmuEvent::L1D_CACHE_REFILL), Some(UNTIMED));
        assert_eq!(Mode::Full.caveat(PmuEvent::MEM_ACCESS), None);
        assert_eq!(Mode::Frontend.caveat(PmuEvent::MEM_ACCESS), None, "it does not give it");
        assert_eq!(Mode::Frontend.caveat(PmuEvent::BR_MIS_PRED_RETIRED), Some(RIGHT_PATH));
        assert_eq!(Mode::Frontend.caveat(PmuEvent::L2D_CACHE_RD), Some(FETCHES));
    }
}
