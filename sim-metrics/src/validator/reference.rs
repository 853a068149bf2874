//! Known formulas for each claim, as close as events permit. Formulas are compared with them, and
//! they are offered as corrections.

use crate::truth::Truth;

/// Pairs of a ground truth and a formula for it. Where several formulas are equal by the rules
/// between events, one is enough. Bytes have none: a bus access carries 64 bytes according to the
/// guide and 32 on silicon.
#[rustfmt::skip]
const REFERENCES: &[(Truth, &str)] = &[
    (Truth::Cycles, "CPU_CYCLES"),
    (Truth::FrontendIdle, "STALL_FRONTEND"),
    (Truth::BackendIdle, "STALL_BACKEND"),
    (Truth::Slots, "5 * CPU_CYCLES"),
    (Truth::RetiredSlots, "OP_RETIRED"),
    (Truth::SquashedSlots, "OP_SPEC - OP_RETIRED"),
    (Truth::EmptyFrontendSlots, "STALL_SLOT_FRONTEND"),
    (Truth::BackendSlots, "STALL_SLOT_BACKEND"),
    (Truth::Retired, "INST_RETIRED"),
    (Truth::Executed, "INST_SPEC"),
    (Truth::RetiredOps, "OP_RETIRED"),
    (Truth::ExecutedOps, "OP_SPEC"),
    (Truth::SquashedOps, "OP_SPEC - OP_RETIRED"),
    (Truth::Branches, "BR_RETIRED"),
    (Truth::Mispredicted, "BR_MIS_PRED_RETIRED"),
    (Truth::OutsideLines, "LL_CACHE_RD"),
    (Truth::SlcMisses, "LL_CACHE_MISS_RD"),
    (Truth::SlcHits, "LL_CACHE_RD - LL_CACHE_MISS_RD"),
    (Truth::Retiring, "OP_RETIRED / (5 * CPU_CYCLES)"),
    (Truth::Squashed, "(OP_SPEC - OP_RETIRED) / (5 * CPU_CYCLES)"),
    (Truth::FrontendEmpty, "STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)"),
    (Truth::BackendBound, "STALL_SLOT_BACKEND / (5 * CPU_CYCLES)"),
    (Truth::FrontendCycles, "STALL_FRONTEND / CPU_CYCLES"),
    (Truth::BackendCycles, "STALL_BACKEND / CPU_CYCLES"),
    (Truth::Ipc, "INST_RETIRED / CPU_CYCLES"),
    (Truth::ExecutedIpc, "INST_SPEC / CPU_CYCLES"),
    (Truth::RetiredPerSlot, "INST_RETIRED / (5 * CPU_CYCLES)"),
    (Truth::OpsKept, "OP_RETIRED / OP_SPEC"),
    (Truth::OpsWasted, "1 - OP_RETIRED / OP_SPEC"),
    (Truth::LoadMix, "LD_SPEC / INST_SPEC"),
    (Truth::StoreMix, "ST_SPEC / INST_SPEC"),
    (Truth::IntegerMix, "DP_SPEC / INST_SPEC"),
    (Truth::SimdMix, "ASE_SPEC / INST_SPEC"),
    (Truth::FloatMix, "VFP_SPEC / INST_SPEC"),
    (Truth::CryptoMix, "CRYPTO_SPEC / INST_SPEC"),
    (Truth::SveMix, "SVE_INST_SPEC / INST_SPEC"),
    (Truth::BranchMix, "BR_RETIRED / INST_RETIRED"),
    (Truth::BranchMix, "(BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC"),
    (Truth::ImmediateMix, "BR_IMMED_SPEC / INST_SPEC"),
    (Truth::IndirectMix, "BR_INDIRECT_SPEC / INST_SPEC"),
    (Truth::ReturnMix, "BR_RETURN_SPEC / INST_SPEC"),
    (Truth::BranchMissRatio, "BR_MIS_PRED_RETIRED / BR_RETIRED"),
    (Truth::BranchMpki, "BR_MIS_PRED_RETIRED / INST_RETIRED * 1000"),
    (Truth::BranchPki, "BR_RETIRED / INST_RETIRED * 1000"),
    (Truth::L1dMissRatio, "L1D_CACHE_REFILL / L1D_CACHE"),
    (Truth::L1dMpki, "L1D_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::L1iMissRatio, "L1I_CACHE_REFILL / L1I_CACHE"),
    (Truth::L1iMpki, "L1I_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::L2MissRatio, "L2D_CACHE_REFILL / L2D_CACHE"),
    (Truth::L2Mpki, "L2D_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::SlcMissRatio, "LL_CACHE_MISS_RD / LL_CACHE_RD"),
    (Truth::SlcHitRatio, "1 - LL_CACHE_MISS_RD / LL_CACHE_RD"),
    (Truth::SlcMpki, "LL_CACHE_MISS_RD / INST_RETIRED * 1000"),
    (Truth::DtlbMissRatio, "L1D_TLB_REFILL / L1D_TLB"),
    (Truth::DtlbMpki, "L1D_TLB_REFILL / INST_RETIRED * 1000"),
    (Truth::DtlbWalkRatio, "DTLB_WALK / L1D_TLB"),
    (Truth::DtlbWalkPki, "DTLB_WALK / INST_RETIRED * 1000"),
    (Truth::ItlbMissRatio, "L1I_TLB_REFILL / L1I_TLB"),
    (Truth::ItlbMpki, "L1I_TLB_REFILL / INST_RETIRED * 1000"),
    (Truth::ItlbWalkRatio, "ITLB_WALK / L1I_TLB"),
    (Truth::ItlbWalkPki, "ITLB_WALK / INST_RETIRED * 1000"),
    (Truth::L2TlbMissRatio, "L2D_TLB_REFILL / L2D_TLB"),
    (Truth::L2TlbMpki, "L2D_TLB_REFILL / INST_RETIRED * 1000"),
];

/// Returns the known formulas for a truth, in its unit, for a core without the surplus stall slot.
pub(super) fn references(truth: Truth) -> impl Iterator<Item = &'static str> {
    REFERENCES.iter().filter(move |(own, _)| *own == truth).map(|(_, text)| *text)
}

/// Returns the first known formula, for a core with or without the surplus slot.
pub(super) fn reference(truth: Truth, has_surplus: bool) -> Option<String> {
    let text = references(truth).next()?;
    Some(match has_surplus {
        true => text.replace("STALL_SLOT_FRONTEND", "(STALL_SLOT_FRONTEND - CPU_CYCLES)"),
        false => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Catalog, Formula, Linked};

    #[test]
    fn every_reference_uses_events_that_count() {
        for (truth, text) in REFERENCES {
            let formula = Formula::parse(text).expect("a formula");
            let linked = Linked::new(&formula, &Catalog::default()).expect("links");
            let counts = |event: &crate::formula::EventUse| {
                event.event().is_some_and(|event| !event.never_counts())
            };
            assert!(linked.events().iter().all(counts), "{truth:?}");
        }
    }

    #[test]
    fn the_surplus_slot_is_subtracted_where_it_exists() {
        let text = reference(Truth::FrontendEmpty, true).expect("known");
        assert_eq!(text, "(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)");
        assert_eq!(reference(Truth::Ipc, true), reference(Truth::Ipc, false));
    }
}
