//! Counts that are unreliable, because the trace lacks something (`docs/foreign-traces.md`) or
//! because only part of the machine is simulated (`docs/modes.md`).

use sim_core::pmu_event::Group;
use sim_core::{PmuEvent, Shown};
use sim_isa::MemOp;
use sim_trace::{Meta, MissingData, TraceFile};

use crate::outcome::RunHeader;

/// Events that only other cores cause: lines that they take, exclusives that they break.
const OF_OTHER_CORES: [PmuEvent; 9] = [
    PmuEvent::L1D_CACHE_INVAL,
    PmuEvent::L1D_CACHE_WB_CLEAN,
    PmuEvent::L1D_CACHE_REFILL_INNER,
    PmuEvent::L1D_CACHE_REFILL_OUTER,
    PmuEvent::L2D_CACHE_INVAL,
    PmuEvent::L2D_CACHE_WB_CLEAN,
    PmuEvent::REMOTE_ACCESS,
    PmuEvent::STREX_FAIL_SPEC,
    PmuEvent::STREX_PASS_SPEC,
];

/// Events that the wrong path itself raises: its fetches, predictions and operations.
const OF_WRONG_PATHS: [PmuEvent; 8] = [
    PmuEvent::BR_PRED,
    PmuEvent::BR_MIS_PRED,
    PmuEvent::L1I_TLB,
    PmuEvent::L1I_TLB_REFILL,
    PmuEvent::ITLB_WALK,
    PmuEvent::STALL_SLOT,
    PmuEvent::STALL_SLOT_FRONTEND,
    PmuEvent::STALL_SLOT_BACKEND,
];

/// Events of exclusives. Exclusives have the recorded outcome, and failed ones are not repeated.
const OF_EXCLUSIVES: [PmuEvent; 4] = [
    PmuEvent::LDREX_SPEC,
    PmuEvent::STREX_SPEC,
    PmuEvent::STREX_PASS_SPEC,
    PmuEvent::STREX_FAIL_SPEC,
];

/// Events that depend on the address of a load or store, beyond those of the memory system.
const OF_ALIGNMENT: [PmuEvent; 3] =
    [PmuEvent::UNALIGNED_LD_SPEC, PmuEvent::UNALIGNED_ST_SPEC, PmuEvent::UNALIGNED_LDST_SPEC];

/// Events that depend on the governing predicate.
const OF_PREDICATES: [PmuEvent; 5] = [
    PmuEvent::SVE_PRED_EMPTY_SPEC,
    PmuEvent::SVE_PRED_FULL_SPEC,
    PmuEvent::SVE_PRED_PARTIAL_SPEC,
    PmuEvent::SVE_PRED_NOT_FULL_SPEC,
    PmuEvent::SVE_LDFF_FAULT_SPEC,
];

/// Prefix of the producer name in traces of `n2sim capture`.
const RECORDER: &str = "n2sim capture";

/// Ends of the sentences by which older recordings describe what they lack.
const GAPS: [(&str, MissingData); 5] = [
    (" loads or stores have no address: the engine reported none", MissingData::SomeAddresses),
    (" SVE loads and stores have no address: the engine reported none", MissingData::SveAccesses),
    (" SVE loads and stores: the engine may not report all of them", MissingData::SveAccesses),
    (" prefetches (PRFM) are absent", MissingData::Prefetches),
    ("and values written to TTBR and CONTEXTIDR are absent", MissingData::Maintenance),
];

/// Returns the missing data of a trace: the kinds in its metadata, and those that older recordings
/// imply.
pub fn lacks(file: &TraceFile) -> Vec<MissingData> {
    lacks_of(file.meta(), file.statics().insts().iter().map(|inst| inst.word))
}

/// Returns a sentence for each kind of missing data of a trace, and what to do about it.
pub fn notes(file: &TraceFile) -> Vec<String> {
    let (lacks, engine) = (lacks(file), &file.meta().engine);
    let mut notes: Vec<String> =
        lacks.iter().map(|lack| format!("{}: {}", engine.shown(), lack.sentence())).collect();
    if lacks.contains(&MissingData::SveAccesses) && !file.meta().machine.full_system {
        notes.push(String::from("a recording with --second-run has them"));
    }
    if !lacks.is_empty() {
        notes.push(String::from("affected counts are marked as doubtful"));
    }
    notes
}

/// Returns the missing data of a trace with this metadata and these words.
fn lacks_of(meta: &Meta, words: impl IntoIterator<Item = u32>) -> Vec<MissingData> {
    let mut lacks = meta.lacks.clone();
    let says = |end: &str| meta.gaps.iter().any(|gap| gap.ends_with(end));
    lacks.extend(GAPS.iter().filter(|(end, _)| says(end)).map(|(_, lack)| *lack));
    let is_unknown =
        |gap: &String| gap.starts_with("addresses of DC ZVA") && !gap.contains(", 0 absent");
    lacks.extend(meta.gaps.iter().any(is_unknown).then_some(MissingData::ZeroedLines));
    if is_older(meta) {
        // Older recordings have no predicates either.
        lacks.extend(lacks.contains(&MissingData::SveAccesses).then_some(MissingData::Predicates));
        // Older recordings have no operands of maintenance instructions either.
        let maintains = |word| sim_isa::decode(word).mem.op == MemOp::Maintenance;
        let is_silent = !meta.machine.full_system && words.into_iter().any(maintains);
        lacks.extend(is_silent.then_some(MissingData::Maintenance));
    }
    lacks.sort_unstable();
    lacks.dedup();
    lacks
}

/// Returns true for recordings whose metadata has no number of operands ([`sim_trace::OPERANDS`]).
fn is_older(meta: &Meta) -> bool {
    meta.producer.starts_with(RECORDER) && !meta.notes.contains_key(sim_trace::OPERANDS)
}

/// Returns the missing data that affects the count of `event` most, if any.
pub fn doubt(event: PmuEvent, lacks: &[MissingData]) -> Option<MissingData> {
    lacks.iter().copied().filter(|lack| spoils(*lack, event)).min()
}

/// Returns in a word or two why the count of `event` is unreliable in a run: the trace lacks
/// something, or the mode omits something.
pub fn caveat(event: PmuEvent, header: &RunHeader) -> Option<&'static str> {
    let lack = doubt(event, &header.lacks).map(MissingData::label);
    let is_lost = header.contended_exclusives > 0 && OF_EXCLUSIVES.contains(&event);
    lack.or(is_lost.then_some("recorded outcome")).or_else(|| header.mode.caveat(event))
}

fn spoils(lack: MissingData, event: PmuEvent) -> bool {
    let info = event.info();
    let is_retired = matches!(event, PmuEvent::INST_RETIRED | PmuEvent::BR_RETIRED);
    match lack {
        MissingData::InstructionSet | MissingData::Filtered => true,
        MissingData::Words => !is_retired,
        MissingData::Sizes | MissingData::Addresses | MissingData::SomeAddresses => {
            follows_accesses(info.group) || OF_ALIGNMENT.contains(&event)
        }
        MissingData::SveAccesses => {
            let is_of_faults = event == PmuEvent::SVE_LDFF_FAULT_SPEC;
            follows_accesses(info.group) || OF_ALIGNMENT.contains(&event) || is_of_faults
        }
        MissingData::ZeroedLines | MissingData::Prefetches => follows_accesses(info.group),
        // `IC` invalidates lines of the instruction side.
        MissingData::Maintenance => follows_accesses(info.group) || info.group == Group::L1i,
        MissingData::Predicates => OF_PREDICATES.contains(&event),
        MissingData::VirtualAddresses => info.group == Group::Tlb,
        MissingData::Threads => OF_OTHER_CORES.contains(&event),
        MissingData::Image => {
            let is_speculative = info.mnemonic.ends_with("_SPEC");
            is_speculative || info.group == Group::L1i || OF_WRONG_PATHS.contains(&event)
        }
        // Missing data that only later versions know may affect any count.
        _ => true,
    }
}

/// Returns true for event groups that depend on accesses and on what waits for them.
fn follows_accesses(group: Group) -> bool {
    matches!(
        group,
        Group::Tlb
            | Group::L1d
            | Group::L2
            | Group::Llc
            | Group::Memory
            | Group::Pipeline
            | Group::Cpu
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_severe_lack_is_reported() {
        let lacks = [MissingData::Words, MissingData::Image];
        assert_eq!(doubt(PmuEvent::INST_RETIRED, &lacks), None);
        assert_eq!(doubt(PmuEvent::INST_SPEC, &lacks), Some(MissingData::Words));
        assert_eq!(doubt(PmuEvent::INST_SPEC, &[MissingData::Image]), Some(MissingData::Image));
        assert_eq!(doubt(PmuEvent::INST_SPEC, &[]), None);
        assert_eq!(
            doubt(PmuEvent::INST_RETIRED, &[MissingData::Unknown]),
            Some(MissingData::Unknown)
        );
    }

    fn recording(gap: &str) -> Meta {
        Meta {
            producer: "n2sim capture 0.1.0".to_owned(),
            gaps: vec![gap.to_owned()],
            ..Meta::default()
        }
    }

    #[test]
    fn gaps_of_older_recordings_are_read_from_their_sentences() {
        let of = |gap: &str| lacks_of(&recording(gap), [NOP]);
        assert_eq!(
            of("7000 SVE loads and stores: the engine may not report all of them"),
            [MissingData::SveAccesses, MissingData::Predicates]
        );
        assert_eq!(
            of("3 loads or stores have no address: the engine reported none"),
            [MissingData::SomeAddresses]
        );
        let zeroed = "addresses of DC ZVA were rebuilt from register values: 6 of 1030, 1024 absent; \
                      0 of 0 check predictions were wrong";
        assert_eq!(of(zeroed), [MissingData::ZeroedLines]);
        assert_eq!(of(&zeroed.replace("1024 absent", "0 absent")), []);
        assert_eq!(of("system calls: number, arguments and result only"), []);
    }

    #[test]
    fn older_recordings_lack_operands_of_maintenance() {
        let mut meta = recording("");
        assert_eq!(lacks_of(&meta, [NOP, DC_CIVAC]), [MissingData::Maintenance]);
        meta.machine.full_system = true;
        assert_eq!(lacks_of(&meta, [NOP, DC_CIVAC]), [], "a system's registers may be known");
        meta.machine.full_system = false;
        meta.notes.insert(sim_trace::OPERANDS.to_owned(), "1 of 1 known".to_owned());
        assert_eq!(lacks_of(&meta, [NOP, DC_CIVAC]), []);
    }

    const NOP: u32 = 0xd503_201f;
    const DC_CIVAC: u32 = 0xd50b_7e20;

    fn spoiled_by(lack: MissingData) -> Vec<PmuEvent> {
        PmuEvent::ALL.into_iter().filter(|event| doubt(*event, &[lack]).is_some()).collect()
    }

    #[test]
    fn missing_sve_accesses_spoil_access_counts() {
        let spoiled = spoiled_by(MissingData::SveAccesses);
        for event in [
            PmuEvent::MEM_ACCESS_RD,
            PmuEvent::L1D_CACHE,
            PmuEvent::L1D_TLB_RD,
            PmuEvent::L2D_CACHE_REFILL,
            PmuEvent::LD_ALIGN_LAT,
            PmuEvent::UNALIGNED_LD_SPEC,
            PmuEvent::STALL_BACKEND_MEM,
            PmuEvent::CPU_CYCLES,
            PmuEvent::SVE_LDFF_FAULT_SPEC,
        ] {
            assert!(spoiled.contains(&event), "{event:?}");
        }
        for event in [PmuEvent::LD_SPEC, PmuEvent::INST_RETIRED, PmuEvent::SVE_PRED_SPEC] {
            assert!(!spoiled.contains(&event), "{event:?}");
        }
    }

    #[test]
    fn missing_predicates_spoil_only_the_counts_by_predicate() {
        assert_eq!(
            spoiled_by(MissingData::Predicates),
            [
                PmuEvent::SVE_PRED_EMPTY_SPEC,
                PmuEvent::SVE_PRED_FULL_SPEC,
                PmuEvent::SVE_PRED_PARTIAL_SPEC,
                PmuEvent::SVE_PRED_NOT_FULL_SPEC,
                PmuEvent::SVE_LDFF_FAULT_SPEC,
            ]
        );
    }

    #[test]
    fn missing_maintenance_operands_spoil_the_instruction_side_too() {
        let spoiled = spoiled_by(MissingData::Maintenance);
        assert!(spoiled.contains(&PmuEvent::L1I_CACHE_REFILL));
        assert!(spoiled.contains(&PmuEvent::L1D_CACHE_WB));
        assert!(!spoiled.contains(&PmuEvent::INST_RETIRED));
    }

    #[test]
    fn contended_exclusives_have_the_recorded_outcome() {
        let lost = RunHeader { contended_exclusives: 1, ..RunHeader::default() };
        assert_eq!(caveat(PmuEvent::STREX_FAIL_SPEC, &lost), Some("recorded outcome"));
        assert_eq!(caveat(PmuEvent::STREX_FAIL_SPEC, &RunHeader::default()), None);
        assert_eq!(caveat(PmuEvent::ST_SPEC, &lost), None);
    }

    #[test]
    fn physical_addresses_spoil_only_translations() {
        let spoiled = |event| doubt(event, &[MissingData::VirtualAddresses]).is_some();
        assert!(spoiled(PmuEvent::DTLB_WALK) && !spoiled(PmuEvent::L1D_CACHE));
    }
}
