//! Which counts cannot be trusted because the trace lacks something (`docs/foreign-traces.md`), or because only
//! a part of the machine is simulated (`docs/modes.md`).

use sim_core::PmuEvent;
use sim_core::pmu_event::Group;
use sim_trace::Lack;

use crate::outcome::RunHeader;

/// Lines that only other cores take away, and exclusives that only other cores break.
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

/// Events that the wrong path changes directly: what it fetches, predicts and executes.
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

/// What makes the count of `event` doubtful in a trace that lacks all of `lacks`; the gravest lack first.
pub fn doubt(event: PmuEvent, lacks: &[Lack]) -> Option<Lack> {
    lacks.iter().copied().filter(|lack| spoils(*lack, event)).min()
}

/// Why the count of `event` cannot be trusted in a run, in a word or two: the trace lacks something, or the
/// mode leaves something out.
pub fn caveat(event: PmuEvent, header: &RunHeader) -> Option<&'static str> {
    let lack = doubt(event, &header.lacks).map(Lack::label);
    lack.or_else(|| header.mode.caveat(event))
}

fn spoils(lack: Lack, event: PmuEvent) -> bool {
    let info = event.info();
    let is_retired = matches!(event, PmuEvent::INST_RETIRED | PmuEvent::BR_RETIRED);
    match lack {
        Lack::InstructionSet | Lack::Filtered => true,
        Lack::Words => !is_retired,
        // Whatever an access takes part in, and so all that waits for it.
        Lack::Sizes | Lack::Addresses | Lack::ZeroedLines | Lack::Prefetches => matches!(
            info.group,
            Group::Tlb
                | Group::L1d
                | Group::L2
                | Group::Llc
                | Group::Memory
                | Group::Pipeline
                | Group::Cpu
        ),
        Lack::VirtualAddresses => info.group == Group::Tlb,
        Lack::Threads => OF_OTHER_CORES.contains(&event),
        Lack::Image => {
            let is_speculative = info.mnemonic.ends_with("_SPEC");
            is_speculative || info.group == Group::L1i || OF_WRONG_PATHS.contains(&event)
        }
        // A lack that only a later version knows, and what it spoils.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_lack_is_named() {
        let lacks = [Lack::Words, Lack::Image];
        assert_eq!(doubt(PmuEvent::INST_RETIRED, &lacks), None);
        assert_eq!(doubt(PmuEvent::INST_SPEC, &lacks), Some(Lack::Words));
        assert_eq!(doubt(PmuEvent::INST_SPEC, &[Lack::Image]), Some(Lack::Image));
        assert_eq!(doubt(PmuEvent::INST_SPEC, &[]), None);
        assert_eq!(doubt(PmuEvent::INST_RETIRED, &[Lack::Unknown]), Some(Lack::Unknown));
    }

    #[test]
    fn physical_addresses_spoil_translations_only() {
        let spoiled = |event| doubt(event, &[Lack::VirtualAddresses]).is_some();
        assert!(spoiled(PmuEvent::DTLB_WALK) && !spoiled(PmuEvent::L1D_CACHE));
    }
}
