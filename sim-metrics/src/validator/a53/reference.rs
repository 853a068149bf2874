//! Known formulas for each claim on a Cortex-A53, as close as its events permit.

use crate::truth::Truth;

/// Pairs of a ground truth and a formula for it; the first of a truth is offered as correction.
#[rustfmt::skip]
const REFERENCES: &[(Truth, &str)] = &[
    (Truth::Cycles, "CPU_CYCLES"),
    (Truth::Slots, "2 * CPU_CYCLES"),
    (Truth::Retired, "INST_RETIRED"),
    (Truth::Loads, "LD_RETIRED"),
    (Truth::Stores, "ST_RETIRED"),
    (Truth::Branches, "BR_PRED"),
    (Truth::ImmediateBranches, "BR_IMMED_RETIRED"),
    (Truth::IndirectBranches, "BR_INDIRECT_SPEC"),
    (Truth::Returns, "BR_RETURN_RETIRED"),
    (Truth::Mispredicted, "BR_MIS_PRED"),
    (Truth::Mispredicted, "BR_MIS_PRED - EXC_RETURN"),
    (Truth::L1dAccesses, "MEM_ACCESS"),
    (Truth::L1dAccesses, "L1D_CACHE"),
    (Truth::L1dAccesses, "LD_RETIRED + ST_RETIRED"),
    (Truth::L1dMisses, "L1D_CACHE_REFILL"),
    (Truth::L1iAccesses, "L1I_CACHE"),
    (Truth::L1iMisses, "L1I_CACHE_REFILL"),
    (Truth::L2Accesses, "L2D_CACHE"),
    (Truth::L2Accesses, "L1D_CACHE_REFILL + L1I_CACHE_REFILL"),
    (Truth::L2Misses, "L2D_CACHE_REFILL"),
    (Truth::DtlbMisses, "L1D_TLB_REFILL"),
    (Truth::ItlbMisses, "L1I_TLB_REFILL"),
    (Truth::PrefetchedLines, "PREFETCH_LINEFILL"),
    (Truth::BytesRead, "16 * BUS_ACCESS_LD"),
    (Truth::BytesWritten, "16 * BUS_ACCESS_ST"),
    (Truth::BytesMoved, "16 * BUS_ACCESS"),
    (Truth::IssuedSlots, "INST_RETIRED"),
    (Truth::IdleLoadMiss, "LD_DEP_STALL"),
    (Truth::IdleStore, "ST_DEP_STALL"),
    (Truth::IdleSimd, "SIMD_DEP_STALL"),
    (Truth::IdleAddress, "AGU_DEP_STALL"),
    (Truth::IdleInterlock, "OTHER_INTERLOCK_STALL"),
    (Truth::IdleL1i, "IC_DEP_STALL"),
    (Truth::IdleItlb, "IUTLB_DEP_STALL"),
    (Truth::IdleFrontEnd, "OTHER_IQ_DEP_STALL"),
    (Truth::MemoryRequests, "EXT_MEM_REQ"),
    (Truth::MemoryRequests, "EXT_MEM_REQ + L2D_CACHE_WB"),
    (Truth::SnoopedLines, "EXT_SNOOP"),
    (Truth::Ipc, "INST_RETIRED / CPU_CYCLES"),
    (Truth::CyclesPerInstruction, "CPU_CYCLES / INST_RETIRED"),
    (Truth::Issued, "INST_RETIRED / (2 * CPU_CYCLES)"),
    (Truth::LoadMix, "LD_RETIRED / INST_RETIRED"),
    (Truth::StoreMix, "ST_RETIRED / INST_RETIRED"),
    (Truth::BranchMix, "BR_PRED / INST_RETIRED"),
    (Truth::ImmediateMix, "BR_IMMED_RETIRED / INST_RETIRED"),
    (Truth::IndirectMix, "BR_INDIRECT_SPEC / INST_RETIRED"),
    (Truth::ReturnMix, "BR_RETURN_RETIRED / INST_RETIRED"),
    (Truth::BranchMissRatio, "BR_MIS_PRED / BR_PRED"),
    (Truth::BranchMissRatio, "(BR_MIS_PRED - EXC_RETURN) / BR_PRED"),
    (Truth::BranchMpki, "BR_MIS_PRED / INST_RETIRED * 1000"),
    (Truth::BranchMpki, "(BR_MIS_PRED - EXC_RETURN) / INST_RETIRED * 1000"),
    (Truth::BranchPki, "BR_PRED / INST_RETIRED * 1000"),
    (Truth::L1dMissRatio, "L1D_CACHE_REFILL / L1D_CACHE"),
    (Truth::L1dMissRatio, "L1D_CACHE_REFILL / MEM_ACCESS"),
    (Truth::L1dMissRatio, "L1D_CACHE_REFILL / (LD_RETIRED + ST_RETIRED)"),
    (Truth::L1dMpki, "L1D_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::L1iMissRatio, "L1I_CACHE_REFILL / L1I_CACHE"),
    (Truth::L1iMpki, "L1I_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::L2MissRatio, "L2D_CACHE_REFILL / L2D_CACHE"),
    (Truth::L2MissRatio, "L2D_CACHE_REFILL / (L1D_CACHE_REFILL + L1I_CACHE_REFILL)"),
    (Truth::L2Mpki, "L2D_CACHE_REFILL / INST_RETIRED * 1000"),
    (Truth::DtlbMpki, "L1D_TLB_REFILL / INST_RETIRED * 1000"),
    (Truth::ItlbMpki, "L1I_TLB_REFILL / INST_RETIRED * 1000"),
    (Truth::ReadBandwidth, "16 * BUS_ACCESS_LD / CPU_CYCLES"),
    (Truth::WriteBandwidth, "16 * BUS_ACCESS_ST / CPU_CYCLES"),
    (Truth::Bandwidth, "16 * BUS_ACCESS / CPU_CYCLES"),
    (Truth::LoadMissCycles, "LD_DEP_STALL / CPU_CYCLES"),
    (Truth::StoreCycles, "ST_DEP_STALL / CPU_CYCLES"),
    (Truth::SimdCycles, "SIMD_DEP_STALL / CPU_CYCLES"),
    (Truth::AddressCycles, "AGU_DEP_STALL / CPU_CYCLES"),
    (Truth::InterlockCycles, "OTHER_INTERLOCK_STALL / CPU_CYCLES"),
    (Truth::L1iCycles, "IC_DEP_STALL / CPU_CYCLES"),
    (Truth::ItlbCycles, "IUTLB_DEP_STALL / CPU_CYCLES"),
    (Truth::IdleFetchCycles, "OTHER_IQ_DEP_STALL / CPU_CYCLES"),
    (Truth::MemoryRequestPki, "EXT_MEM_REQ / INST_RETIRED * 1000"),
    (Truth::MemoryRequestPki, "(EXT_MEM_REQ + L2D_CACHE_WB) / INST_RETIRED * 1000"),
    (Truth::SnoopPki, "EXT_SNOOP / INST_RETIRED * 1000"),
];

/// Returns the known formulas for a truth, in its unit.
pub(super) fn references(truth: Truth) -> impl Iterator<Item = &'static str> {
    REFERENCES.iter().filter(move |(own, _)| *own == truth).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a53_truth;
    use crate::formula::{Catalog, Formula, FormulaCore, Linked};

    #[test]
    fn every_reference_uses_events_of_the_core() {
        for (truth, text) in REFERENCES {
            assert!(a53_truth::meaning(*truth).is_some(), "{truth:?}");
            let formula = Formula::parse(text).expect("a formula");
            let linked = Linked::on(FormulaCore::CortexA53, "", &formula, &Catalog::default())
                .expect("links");
            assert!(linked.events().iter().all(|event| event.a53_event().is_some()), "{text}");
        }
    }
}
