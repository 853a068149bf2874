//! Tests at the limits of each rule: runs and formulas that it just accepts, and close ones that it
//! must not accept.

use super::*;
use crate::truth::TruthUnit;

pub(super) fn run_with(counts: &[(PmuEvent, u64)], truths: &[(Truth, f64)]) -> Evidence {
    let mut run = run();
    counts.iter().for_each(|(event, count)| run.counts.count(*event, *count));
    truths.iter().for_each(|(truth, value)| run.truths.set(*truth, *value));
    run
}

pub(super) fn codes_on(
    run: &Evidence,
    patch: u8,
    formula: &str,
    claims: &str,
) -> Vec<&'static str> {
    codes(&verdict_on(run, patch, formula, claims, ""))
}

fn named(run: &Evidence, name: &str, formula: &str) -> Verdict {
    let metric = MetricFormula::new(name, formula, "test");
    let catalog = Catalog::default();
    let validator = Validator::new(&metric, &catalog, Tolerance::default()).expect("a truth");
    validator.verdict(run, None)
}

#[test]
fn an_unknown_claim_is_reported_with_similar_names() {
    let error_of = |claims: &str| {
        let claims = Some(claims.to_owned());
        let metric = MetricFormula { claims, ..MetricFormula::new("m", "1", "test") };
        Validator::new(&metric, &Catalog::default(), Tolerance::default()).expect_err("no truth")
    };
    assert!(error_of("l1d.luck").contains("; similar names are l1d."), "{}", error_of("l1d.luck"));
    assert!(
        error_of("luck").ends_with("which is not a known ground truth"),
        "{}",
        error_of("luck")
    );
}

/// A fault hides the faults that follow from it.
#[test]
fn the_first_fault_of_a_formula_is_its_only_one() {
    for (formula, claims, expected) in [
        ("LDST_SPEC / CPU_CYCLES", "mix.loads", "never-counts"),
        ("CPU_CYCLES / INST_RETIRED", "ipc", "dimension"),
        ("L1D_CACHE + L1D_CACHE_RD", "l1d.mpki", "dimension"),
        ("L1D_CACHE + L1D_CACHE_RD", "", "double-count"),
    ] {
        assert_eq!(codes(&verdict_of(formula, claims)), [expected], "{formula}");
    }
}

#[test]
fn a_difference_within_the_tolerance_is_accepted() {
    let claims = Some("inst.loads".to_owned());
    let status = |formula: &str| {
        let metric =
            MetricFormula { claims: claims.clone(), ..MetricFormula::new("m", formula, "test") };
        let tolerance = Tolerance { relative: 0.25, points: 0.0 };
        let catalog = Catalog::default();
        Validator::new(&metric, &catalog, tolerance).expect("a truth").verdict(&run(), None).status
    };
    assert_eq!(status("LD_SPEC - 275"), ValidationStatus::Right);
    assert_eq!(status("LD_SPEC - 274"), ValidationStatus::Off);
}

/// Half of a difference: of 900 loads 500 retired.
#[test]
fn a_bias_that_leaves_more_than_half_is_not_a_reason() {
    let of = |loads| codes_on(&run_with(&[], &[(Truth::Loads, loads)]), 3, "LD_SPEC", "inst.loads");
    assert_eq!(of(100.0), ["speculation"]);
    assert_eq!(of(99.0), ["unexplained"]);
}

#[test]
fn a_known_formula_and_an_explained_one_have_no_factor() {
    let turned = run_with(&[], &[(Truth::RetiredSlots, 3000.0)]);
    let known = "OP_RETIRED / (5 * CPU_CYCLES)";
    assert_eq!(codes_on(&turned, 3, known, "share.retiring"), ["unexplained"]);
    let explained = run_with(&[], &[(Truth::Loads, 900.0)]);
    assert_eq!(codes_on(&explained, 3, "1.8 * LD_SPEC", "inst.loads"), ["speculation"]);
}

#[test]
fn a_division_by_zero_is_a_fault_only_if_the_quantity_occurred() {
    let mut empty = run();
    empty.counts = Counts::default();
    let status = |mispredicted| {
        let mut run = empty.clone();
        run.truths.set(Truth::Mispredicted, mispredicted);
        let verdict =
            verdict_on(&run, 3, "BR_MIS_PRED_RETIRED / BR_RETIRED", "branch.miss_ratio", "");
        (verdict.status, codes(&verdict))
    };
    assert_eq!(status(0.0), (ValidationStatus::Nothing, vec!["division-by-zero"]));
    assert_eq!(status(20.0), (ValidationStatus::NoValue, vec!["division-by-zero"]));
}

#[test]
fn a_part_for_the_whole_is_a_fault_where_the_whole_is_closer() {
    let run = run_with(&[(L1D_CACHE_REFILL_WR, 20)], &[(Truth::L1dMisses, 60.0)]);
    let part = "L1D_CACHE_REFILL_RD / INST_RETIRED * 1000";
    assert_eq!(codes_on(&run, 3, part, "l1d.mpki"), ["subset"]);
}

#[test]
fn a_common_factor_needs_wrong_and_unexplained_runs() {
    let of = |status, findings| Verdict {
        counts: vec![("LL_CACHE_RD".to_owned(), 1e4)],
        value: Some(0.8),
        real: Some(1.0),
        status,
        truth: Some(Truth::BytesRead),
        findings,
        ..verdict_of("LL_CACHE_RD", "")
    };
    let fault = || vec![Finding { reason: Reason::Complement, shift: None }];
    let common = |one: Verdict| common_factor(&[&of(ValidationStatus::Off, vec![]), &one]);
    assert_eq!(common(of(ValidationStatus::Off, vec![])), Some(Reason::Factor(0.8)));
    assert_eq!(common(of(ValidationStatus::Right, vec![])), None);
    assert_eq!(common(of(ValidationStatus::Off, fault())), None);
}

#[test]
fn shares_may_miss_the_whole_by_the_tolerance() {
    let of = |truth, value| Verdict {
        truth: Some(truth),
        value: Some(value),
        ..verdict_of("LL_CACHE_RD", "")
    };
    let [a, b, c] = [Truth::Retiring, Truth::BadSpeculation, Truth::FrontendBound];
    let sum = |last| {
        let all = [of(a, 0.25), of(b, 0.25), of(c, 0.25), of(Truth::BackendBound, last)];
        tiling(&all.iter().collect::<Vec<_>>(), Tolerance { relative: 0.0, points: 25.0 })
    };
    assert_eq!(sum(0.5), None);
    assert_eq!(sum(0.75), Some(Reason::NotTiling(1.5)));
}

#[test]
fn counts_of_an_absent_level_are_zero_or_missing() {
    let counted = |run: &Evidence, formula: &str| {
        let verdict = named(run, "m", formula);
        (verdict.value, verdict.counts, verdict.status)
    };
    let system = Evidence { is_user_only: false, ..run() };
    let (value, counts, _) = counted(&run(), "r8:u / r11");
    assert_eq!(value, Some(2.0));
    let names: Vec<&str> = counts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["r8:u", "CPU_CYCLES"]);
    assert_eq!(counted(&run(), "INST_RETIRED:k / CPU_CYCLES").0, Some(0.0));
    assert_eq!(counted(&system, "INST_RETIRED:u / CPU_CYCLES").2, ValidationStatus::Missing);
    assert_eq!(counted(&system, "INST_RETIRED:k / CPU_CYCLES").2, ValidationStatus::Missing);
    assert_eq!(counted(&system, "INST_RETIRED / CPU_CYCLES").0, Some(2.0));
    let in_kernel = "system_time / duration_time";
    assert_eq!(
        [counted(&run(), in_kernel).0, counted(&system, in_kernel).0],
        [Some(0.0), Some(1.0)]
    );
}

#[test]
fn last_level_rules_depend_on_events_name_and_machine() {
    let without = Evidence { has_external_llc: false, ..run() };
    let with = run_with(&[(LL_CACHE_RD, 50), (LL_CACHE_MISS_RD, 5)], &[]);
    let misses = "LL_CACHE_MISS_RD / LL_CACHE_RD";
    assert_eq!(codes(&named(&without, "m", "INST_RETIRED / CPU_CYCLES")), [""; 0]);
    assert_eq!(codes(&named(&with, "m", misses)), [""; 0]);
    assert_eq!(codes(&named(&with, "l3_misses", misses)), ["no-l3"]);
    assert_eq!(codes(&named(&with, "l3_ipc", "INST_RETIRED / CPU_CYCLES")), [""; 0]);
}

#[test]
fn a_share_is_out_of_range_beyond_rounding() {
    let range = |value| rules::out_of_range(value, TruthUnit::Share);
    assert_eq!([range(1.0 + 1e-9), range(-1e-9), range(0.5)], [None, None, None]);
    assert_eq!(range(1.0 + 2e-9), Some(Reason::AboveOne(1.0 + 2e-9)));
    assert_eq!(range(-2e-9), Some(Reason::Negative(-2e-9)));
}

/// A surplus slot of 1000 cycles in 2300 slots.
#[test]
fn the_surplus_slot_is_a_reason_if_it_explains_half() {
    let on = |real: f64, patch, formula: &str| {
        let stalled = (STALL_FRONTEND, 1000);
        let run = run_with(&[stalled], &[(Truth::EmptyFrontendSlots, real)]);
        codes_on(&run, patch, formula, "slots.frontend_all")
    };
    assert_eq!(on(300.0, 2, "STALL_SLOT_FRONTEND"), ["erratum-uncorrected"]);
    assert!(!on(299.0, 2, "STALL_SLOT_FRONTEND").contains(&"erratum-uncorrected"));
    // Cycles are subtracted only in the branch that is taken.
    let chosen = |condition: u8| {
        format!("STALL_SLOT_FRONTEND - CPU_CYCLES if {condition} else STALL_SLOT_FRONTEND")
    };
    assert_eq!(on(1300.0, 3, &chosen(1)), ["erratum-twice"]);
    assert_eq!(on(1300.0, 2, &chosen(0)), ["erratum-uncorrected"]);
    // The subtracted event is not cycles, or is not subtracted from an event with the surplus.
    for formula in [
        "STALL_SLOT_FRONTEND - STALL_FRONTEND",
        "(STALL_SLOT_BACKEND - CPU_CYCLES) + STALL_SLOT_FRONTEND - STALL_SLOT_BACKEND",
    ] {
        assert!(!on(1300.0, 3, formula).contains(&"erratum-twice"), "{formula}");
    }
}

#[test]
fn mixed_populations_are_a_reason_of_last_resort() {
    let is_mixed = |truths: &[(Truth, f64)], formula: &str, claims: &str| {
        codes_on(&run_with(&[], truths), 3, formula, claims).contains(&"mixed-populations")
    };
    assert!(is_mixed(&[], "(LD_SPEC + ST_SPEC) / INST_RETIRED", "mix.loads"));
    let more = [(Truth::Loads, 1000.0)];
    assert!(!is_mixed(&more, "LD_SPEC / INST_RETIRED", "mix.loads"), "it explains nothing");
    let both = [(Truth::Loads, 600.0)];
    assert!(
        !is_mixed(&both, "(LD_SPEC + BR_RETIRED) / INST_RETIRED", "mix.loads"),
        "a sum of both"
    );
    assert!(!is_mixed(&[], "L1D_CACHE_RD / INST_SPEC", "mix.loads"), "no population");
    let kept = [(Truth::ExecutedOps, 2000.0)];
    assert!(!is_mixed(&kept, "(OP_RETIRED - 100) / OP_SPEC", "ops.kept"), "this ratio is intended");
}

#[test]
fn a_misprediction_term_is_reported_with_its_charge() {
    let of = |bad: f64, times: u32| {
        let formula = format!(
            "(1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (5 * CPU_CYCLES)) \
             + {times} * BR_MIS_PRED_RETIRED / (5 * CPU_CYCLES)"
        );
        let run = run_with(&[], &[(Truth::BadSlots, bad)]);
        let verdict = verdict_on(&run, 3, &formula, "share.bad_speculation", "");
        let found = verdict.findings.iter().find_map(|finding| match finding.reason {
            Reason::MispredictTerm(times) => Some(times),
            _ => None,
        });
        (verdict.status, found)
    };
    let (status, found) = of(800.0, 25);
    assert_eq!(status, ValidationStatus::Off);
    assert!(found.is_some_and(|times| (times - 5.0 / 3.0).abs() < 1e-9), "{found:?}");
    assert_eq!(of(500.0, 25), (ValidationStatus::Off, Some(f64::INFINITY)));
    assert_eq!(of(3500.0, 160), (ValidationStatus::Off, None), "the term is nearly right");
}

#[test]
fn a_factor_is_the_same_in_all_runs() {
    assert_eq!(rules::exact_factor(50.0, 0.5), Some(Reason::Factor(100.0)));
    assert_eq!(rules::exact_factor(50.1, 0.5), None);
    let factor = rules::factor;
    assert_eq!(factor(&[(0.0, 0.0), (2.0, 1.0), (4.0, 2.0)]), Some(2.0));
    assert_eq!(factor(&[(1.0, 0.0), (2.0, 1.0), (4.0, 2.0)]), Some(2.0));
    assert_eq!(factor(&[(0.8, 1.0)]), None, "one run");
    assert_eq!(factor(&[(1.0, 1.0), (2.0, 2.0)]), None, "nothing is wrong");
    assert_eq!(factor(&[(0.62501, 1.0), (0.62501, 1.0)]), None, "no fraction");
    assert_eq!(factor(&[(2.0, 1.0), (2.0, 1.0), (3.0, 1.0)]), None, "not in all");
}

#[test]
fn an_explained_or_doubted_verdict_keeps_its_faults() {
    let finding = |reason| Finding { reason, shift: None };
    let all = || vec![finding(Reason::Unexplained), finding(Reason::InFlight)];
    let verdict = |status, findings| Verdict {
        status,
        findings,
        corrected: Some("1".to_owned()),
        ..verdict_of("LD_SPEC", "inst.loads")
    };
    let mut explained = verdict(ValidationStatus::Off, all());
    explained.explained();
    assert_eq!(codes(&explained), ["in-flight"]);
    explained.explained_by(vec![finding(Reason::InFlight), finding(Reason::Streamed)]);
    assert_eq!(codes(&explained), ["in-flight", "streamed-stores"]);
    let faults = || vec![finding(Reason::AboveOne(1.5)), finding(Reason::Complement)];
    let mut doubted = verdict(ValidationStatus::Off, faults());
    doubted.doubted();
    assert_eq!((doubted.status, codes(&doubted)), (ValidationStatus::Doubtful, vec!["complement"]));
    assert!(doubted.corrected.is_some());
    let mut open = verdict(ValidationStatus::Unclaimed, vec![finding(Reason::AboveOne(1.5))]);
    open.doubted();
    assert_eq!(
        (open.status, codes(&open), open.corrected),
        (ValidationStatus::Unclaimed, vec![], None)
    );
    let counted = |counts: &[f64]| Verdict {
        counts: counts.iter().map(|count| (String::new(), *count)).collect(),
        ..verdict(ValidationStatus::Off, vec![])
    };
    let many = |counts: &[f64]| counted(counts).is_of_many();
    assert_eq!([many(&[100.0]), many(&[99.0]), many(&[])], [true, false, false]);
    let relative =
        |real| Verdict { real, value: Some(3.0), ..verdict(ValidationStatus::Off, vec![]) };
    assert_eq!(relative(Some(2.0)).relative(), Some(0.5));
    assert_eq!(relative(Some(0.0)).relative(), None);
}
