//! Tests of structural faults at their limits, and of the offered corrections.

use super::super::structure::{Structure, Subject, compare, factor_reason};
use crate::formula::{Catalog, Formula, Linked};
use crate::truth::Truth;
use crate::validator::Reason;

fn structure(text: &str, truth: Truth, factor: f64, patch: u8) -> Structure {
    let formula = Formula::parse(text).expect("a formula");
    let linked = Linked::new(&formula, &Catalog::default()).expect("links");
    compare(Subject { formula: &linked, factor, truth, patch })
}

#[test]
fn a_slot_width_is_from_2_to_16_and_needs_a_claim_in_slots() {
    let width = |truth, times| match factor_reason(truth, times) {
        Reason::SlotWidth { given, .. } => Some(given),
        _ => None,
    };
    for (given, times) in [(2, 2.5), (8, 5.0 / 8.0), (16, 5.0 / 16.0)] {
        assert_eq!(width(Truth::Retiring, times), Some(given));
        assert_eq!(width(Truth::RetiredPerSlot, times), Some(given), "the whole is slots");
        assert_eq!(width(Truth::MispredictCost, times), Some(given), "the part is slots");
        assert_eq!(width(Truth::Ipc, times), None);
    }
    for times in [5.0, 2.0, 0.7, 5.0 / 17.0] {
        assert_eq!(width(Truth::Retiring, times), None, "{times}");
    }
}

#[test]
fn fractions_are_not_widths_and_negative_values_not_multiples() {
    let code = |text, truth| structure(text, truth, 1.0, 3).fault.map(|fault| fault.code());
    assert_eq!(code("OP_RETIRED / (4.5 * CPU_CYCLES)", Truth::Retiring), Some("factor"));
    assert_eq!(code("-INST_RETIRED / CPU_CYCLES", Truth::Ipc), None);
    assert_eq!(code("1 - INST_RETIRED / CPU_CYCLES", Truth::Ipc), None, "it is not a share");
    let of_user = structure("2 * INST_RETIRED:u / CPU_CYCLES", Truth::Ipc, 1.0, 3);
    assert_eq!(of_user, Structure::default(), "levels are not compared");
}

/// Formula, claim, factor to the unit of the claim, revision, and offered correction.
const OFFERED: [(&str, Truth, f64, u8, &str); 13] = [
    ("ST_SPEC", Truth::BranchMissRatio, 0.01, 3, "100 * BR_MIS_PRED_RETIRED / BR_RETIRED"),
    ("ST_SPEC", Truth::Squashed, 0.01, 3, "100 * (OP_SPEC - OP_RETIRED) / (5 * CPU_CYCLES)"),
    ("ST_SPEC", Truth::OpsWasted, 0.01, 3, "100 * (1 - OP_RETIRED / OP_SPEC)"),
    ("ST_SPEC", Truth::FrontendEmpty, 1.0, 3, "STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)"),
    (
        "ST_SPEC",
        Truth::FrontendEmpty,
        1.0,
        2,
        "(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)",
    ),
    (
        "STALL_SLOT_FRONTEND / CPU_CYCLES / 5",
        Truth::FrontendEmpty,
        1.0,
        2,
        "(STALL_SLOT_FRONTEND - CPU_CYCLES) / CPU_CYCLES / 5",
    ),
    (
        "STALL_SLOT_FRONTEND / INST_SPEC",
        Truth::FrontendEmpty,
        1.0,
        2,
        "(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)",
    ),
    (
        "1000 * (L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD) / INST_RETIRED",
        Truth::L1dMpki,
        1.0,
        3,
        "1000 * L1D_CACHE_REFILL / INST_RETIRED",
    ),
    (
        "(1 - 0.5) * 4 * INST_RETIRED / CPU_CYCLES",
        Truth::Ipc,
        1.0,
        3,
        "(1 - 0.5) * 2 * INST_RETIRED / CPU_CYCLES",
    ),
    (
        "100 * (1 - LL_CACHE_MISS_RD / LL_CACHE_RD)",
        Truth::SlcMissRatio,
        0.01,
        3,
        "100 - (100 * (1 - LL_CACHE_MISS_RD / LL_CACHE_RD))",
    ),
    (
        "BR_RETIRED / BR_MIS_PRED_RETIRED * 100",
        Truth::BranchMissRatio,
        0.01,
        3,
        "100 * BR_MIS_PRED_RETIRED / BR_RETIRED",
    ),
    (
        "2 / 2 - LL_CACHE_MISS_RD / LL_CACHE_RD",
        Truth::SlcMissRatio,
        1.0,
        3,
        "1 - (2 / 2 - LL_CACHE_MISS_RD / LL_CACHE_RD)",
    ),
    (
        "(BR_MIS_PRED_RETIRED) / INST_RETIRED",
        Truth::BranchMissRatio,
        1.0,
        3,
        "(BR_MIS_PRED_RETIRED) / BR_RETIRED",
    ),
];

#[test]
fn corrections_edit_the_formula_itself_where_possible() {
    for (text, truth, factor, patch, right) in OFFERED {
        let offered = structure(text, truth, factor, patch).corrected;
        assert_eq!(offered.as_deref(), Some(right), "{text} for {}", truth.name());
    }
}
