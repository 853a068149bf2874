//! Tests for every kind of finding, each with a formula that has it and one that does not.

use super::*;
use crate::formula::{MetricFormula, Scale};

fn findings_of(unit: &str, text: &str, machine: Option<&Machine>) -> Vec<Finding> {
    let scale = Scale::parse(unit).unwrap_or_default();
    let metric = MetricFormula { scale, ..MetricFormula::new("m", text, "test") };
    lint(&metric, &Catalog::default(), machine)
}

/// Returns the kinds of findings other than notes.
fn alarms(unit: &str, text: &str) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = findings_of(unit, text, None)
        .into_iter()
        .filter(|finding| finding.severity > Severity::Note)
        .map(|finding| finding.kind)
        .collect();
    kinds.dedup();
    kinds
}

#[test]
fn correct_formulas_raise_no_alarm() {
    for (unit, text) in [
        ("100percent of slots", "OP_RETIRED / (CPU_CYCLES * #slots)"),
        (
            "1percent of slots",
            "100 * (STALL_SLOT_BACKEND / (CPU_CYCLES * 5) - BR_MIS_PRED * 3 / CPU_CYCLES)",
        ),
        (
            "1percent of slots",
            "100 * (STALL_SLOT_FRONTEND / (CPU_CYCLES * #slots) - BR_MIS_PRED / CPU_CYCLES)",
        ),
        ("1percent of slots", "100 * ((STALL_SLOT_FRONTEND - CPU_CYCLES) / (CPU_CYCLES * #slots))"),
        ("1per cycle", "INST_RETIRED / CPU_CYCLES"),
        ("1MPKI", "L1D_CACHE_REFILL / INST_RETIRED * 1000"),
        ("1000MPKI", "BR_MIS_PRED_RETIRED / INST_RETIRED"),
        ("100percent of branches", "BR_MIS_PRED_RETIRED / BR_RETIRED"),
        ("100%", "1 - OP_RETIRED / OP_SPEC"),
        ("1percent of operations", "(BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC * 100"),
        ("1percent of cycles", "STALL_BACKEND / CPU_CYCLES * 100"),
        ("100percent of cache accesses", "L2D_CACHE_REFILL / L2D_CACHE"),
        ("100percent of cache reads", "LL_CACHE_MISS_RD / LL_CACHE_RD"),
        ("100percent of TLB accesses", "DTLB_WALK / L1D_TLB"),
        ("1", "INST_SPEC / INST_RETIRED"),
        ("1slots each", "(OP_SPEC - OP_RETIRED) / BR_MIS_PRED_RETIRED"),
        ("1bytes per cycle", "BUS_ACCESS_RD * 64 / CPU_CYCLES"),
        ("1", "STALL_SLOT / (5 * CPU_CYCLES)"),
        ("100percent of retirement", "OP_RETIRED / (8 * CPU_CYCLES)"),
        ("1", "(L1D_CACHE_REFILL_RD + L1D_CACHE_REFILL_WR) / L1D_CACHE"),
        ("1cycles", "L1D_CACHE * 4 + L1D_CACHE_REFILL * 11 + L2D_CACHE_REFILL * 100"),
    ] {
        assert_eq!(alarms(unit, text), [], "{text}");
    }
}

#[test]
fn wrong_formulas_are_found_with_the_right_kind() {
    for (unit, text, kind) in [
        ("100percent of slots", "OP_RETIRED / CPU_CYCLES", Kind::Unit),
        ("100percent of slots", "INST_RETIRED / (CPU_CYCLES * #slots)", Kind::Unit),
        ("1percent of slots", "STALL_SLOT / (CPU_CYCLES * #slots)", Kind::Unit),
        ("100%", "100 * STALL / CPU_CYCLES", Kind::Unit),
        ("1MPKI", "L1D_CACHE_REFILL / CPU_CYCLES * 1000", Kind::Unit),
        ("1MPKI", "L1D_CACHE_REFILL / INST_RETIRED", Kind::Unit),
        ("1MPKI", "L1D_CACHE_REFILL / INST_SPEC * 1000", Kind::Stage),
        ("1per cycle", "INST_RETIRED / CNT_CYCLES", Kind::Unit),
        ("100percent of cycles", "STALL_BACKEND / STALL_SLOT", Kind::Unit),
        ("1percent of operations", "LD_SPEC / INST_RETIRED * 100", Kind::Stage),
        ("1percent of branches", "BR_MIS_PRED / BR_RETIRED * 100", Kind::Stage),
        ("1percent of branches", "BR_RETIRED / INST_SPEC * 100", Kind::Stage),
        ("100%", "L2D_TLB_REFILL / L1D_TLB", Kind::Population),
        ("100%", "L2D_CACHE_REFILL / L1D_CACHE", Kind::Population),
        ("100%", "DTLB_WALK / L1I_TLB", Kind::Population),
        ("100%", "L1D_TLB_REFILL / L1D_CACHE", Kind::Population),
        ("100%", "L1D_CACHE_REFILL / L1D_CACHE_RD", Kind::Population),
        ("100%", "L1D_CACHE_REFILL_RD / L1D_CACHE_WR", Kind::Population),
        ("1", "INST_RETIRED + CPU_CYCLES", Kind::Dimension),
        ("1", "1 - INST_RETIRED / CPU_CYCLES", Kind::Dimension),
        ("100%", "L3D_CACHE_REFILL / L3D_CACHE", Kind::NeverCounts),
        ("100%", "LDST_SPEC / INST_SPEC", Kind::NeverCounts),
        ("100%", "LL_CACHE_MISS / LL_CACHE", Kind::OtherCore),
        ("1", "UOPS_ISSUED.ANY", Kind::OtherCore),
        ("1", "L1D_CACH", Kind::UnknownEvent),
        ("1", "r0C / INST_RETIRED", Kind::WrongNumber),
        (
            "1",
            "LD_SPEC + ST_SPEC + DP_SPEC + ASE_SPEC + VFP_SPEC + CRYPTO_SPEC + BR_IMMED_SPEC",
            Kind::Counters,
        ),
        ("1", "L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD", Kind::DoubleCount),
        (
            "1",
            "(L1D_CACHE + L1D_CACHE_RD + L1D_CACHE_WR + MEM_ACCESS) / INST_RETIRED",
            Kind::DoubleCount,
        ),
        (
            "1",
            "(L2D_CACHE_REFILL + L2D_CACHE_REFILL_RD + L2D_CACHE_REFILL_WR) / INST_RETIRED",
            Kind::DoubleCount,
        ),
        ("100percent of slots", "STALL_SLOT / (4 * CPU_CYCLES)", Kind::SlotWidth),
        ("1", "(STALL_SLOT - CPU_CYCLES) / (CPU_CYCLES * 8)", Kind::SlotWidth),
        ("1", "OP_SPEC / (BUS_CYCLES * 6)", Kind::SlotWidth),
        ("1", "1 +", Kind::Unreadable),
        ("1", "m + 1", Kind::UnknownEvent),
    ] {
        assert!(alarms(unit, text).contains(&kind), "{text}: {:?}", findings_of(unit, text, None));
    }
}

#[test]
fn a_number_with_swapped_digits_names_the_intended_event() {
    let findings = findings_of("", "r0c00", None);
    assert!(findings[0].message.contains("0xC00"), "{findings:?}");
    assert!(mistyped(0x4_0500).contains("STALL_BACKEND_MEM is 0x4005"), "{}", mistyped(0x4_0500));
    assert_eq!(mistyped(0), "");
}

#[test]
fn the_erratum_is_corrected_on_affected_revisions_only() {
    let kinds = |text: &str, patch: u8| {
        let machine = Machine::neoverse_n2(patch, 1);
        findings_of("", text, Some(&machine)).iter().filter(|f| f.kind == Kind::Erratum).count()
    };
    let chosen = "STALL_SLOT if strcmp_cpuid_str(0x410fd493) else STALL_SLOT - CPU_CYCLES";
    assert_eq!((kinds(chosen, 2), kinds(chosen, 3)), (0, 0));
    assert_eq!((kinds("STALL_SLOT", 2), kinds("STALL_SLOT", 3)), (1, 0));
    assert_eq!((kinds("STALL_SLOT - CPU_CYCLES", 2), kinds("STALL_SLOT - CPU_CYCLES", 3)), (0, 1));
    assert_eq!((kinds("STALL_SLOT_BACKEND", 2), kinds("STALL_SLOT_BACKEND", 3)), (0, 0));
    let notes = findings_of("", "STALL_SLOT", None);
    assert_eq!((notes.len(), notes[0].severity), (1, Severity::Note));
}

#[test]
fn a_metric_that_refers_to_itself_is_found() {
    let metric = MetricFormula::new("m", "m + 1", "test");
    let catalog: Catalog = [metric.clone()].into_iter().collect();
    assert_eq!(lint(&metric, &catalog, None)[0].kind, Kind::Unreadable);
}
