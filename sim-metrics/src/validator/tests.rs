//! Tests of each rule on a handmade run: it finds its fault, and finds nothing in correct formulas.

mod borders;
mod causes;
mod structures;

use sim_core::{Counts, EventSink, PmuEvent, PmuEvent::*};

use super::*;
use crate::formula::Scale;
use crate::truth::Truths;

/// Event, count, and retired part of the count.
const COUNTED: &[(PmuEvent, u64, u64)] = &[
    (CPU_CYCLES, 1000, 0),
    (STALL_SLOT_FRONTEND, 1300, 0),
    (STALL_SLOT_BACKEND, 1200, 0),
    (OP_SPEC, 2500, 2000),
    (OP_RETIRED, 2000, 2000),
    (INST_SPEC, 2500, 2000),
    (INST_RETIRED, 2000, 2000),
    (LD_SPEC, 900, 500),
    (BR_PRED, 300, 200),
    (BR_RETIRED, 200, 200),
    (BR_MIS_PRED, 24, 20),
    (BR_MIS_PRED_RETIRED, 20, 20),
    (L1D_CACHE_RD, 1000, 600),
    (L1D_CACHE_REFILL_RD, 40, 30),
    (L2D_CACHE_RD, 80, 60),
    (L2D_CACHE_REFILL, 50, 45),
    (L2D_TLB_RD, 60, 60),
    (L1I_TLB_REFILL, 20, 20),
    (L2D_TLB_REFILL_RD, 30, 30),
    (ITLB_WALK, 12, 12),
];

/// Ground-truth values.
const TRUTHS: &[(Truth, f64)] = &[
    (Truth::Slots, 5000.0),
    (Truth::Cycles, 1000.0),
    (Truth::RetiredSlots, 2000.0),
    (Truth::SquashedSlots, 500.0),
    (Truth::RecoverySlots, 300.0),
    (Truth::BadSlots, 800.0),
    (Truth::FrontendSlots, 1000.0),
    (Truth::EmptyFrontendSlots, 1300.0),
    (Truth::BackendSlots, 1200.0),
    (Truth::Retired, 2000.0),
    (Truth::RetiredOps, 2000.0),
    (Truth::ExecutedOps, 2500.0),
    (Truth::Loads, 500.0),
    (Truth::Branches, 200.0),
    (Truth::Mispredicted, 20.0),
    (Truth::L1dAccesses, 600.0),
    (Truth::L1dRefills, 30.0),
    (Truth::L1dMisses, 60.0),
    (Truth::L2Misses, 20.0),
    (Truth::L2TlbDataAccesses, 40.0),
    (Truth::L2TlbDataMisses, 18.0),
];

/// Returns a run of 1000 cycles: 5000 slots, 2000 retired operations, 500 squashed ones, 300 slots
/// of recovery.
fn run() -> Evidence {
    let (mut counts, mut retired, mut truths) =
        (Counts::default(), Counts::default(), Truths::default());
    for (event, all, kept) in COUNTED {
        counts.count(*event, *all);
        retired.count(*event, *kept);
    }
    for (truth, value) in TRUTHS {
        truths.set(*truth, *value);
    }
    let prefetched = Prefetched {
        l2_lines: 30.0,
        l2_lookups: 30.0,
        is_counted_in_l2: true,
        ..Prefetched::default()
    };
    Evidence {
        trace: "made".to_owned(),
        counts,
        retired,
        truths,
        prefetched,
        l2: L2Lines::default(),
        patch: 3,
        cores: 1,
        has_external_llc: true,
        seconds: 1e-6,
        is_user_only: true,
        doubts: Vec::new(),
    }
}

fn verdict_on(run: &Evidence, patch: u8, formula: &str, claims: &str, scale: &str) -> Verdict {
    let metric = MetricFormula {
        claims: (!claims.is_empty()).then(|| claims.to_owned()),
        scale: Scale::parse(scale).unwrap_or_default(),
        ..MetricFormula::new("m", formula, "test")
    };
    let catalog = Catalog::default();
    let validator = Validator::new(&metric, &catalog, Tolerance::default()).expect("a truth");
    validator.verdict(&Evidence { patch, ..run.clone() }, None)
}

fn verdict_of(formula: &str, claims: &str) -> Verdict {
    verdict_on(&run(), 3, formula, claims, "")
}

fn codes(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.reason.code()).collect()
}

#[test]
fn correct_formulas_have_no_findings() {
    for (formula, claims) in [
        ("OP_RETIRED / OP_SPEC * (1 - STALL_SLOT / (5 * CPU_CYCLES))", "share.retiring"),
        ("STALL_SLOT_BACKEND / (5 * CPU_CYCLES)", "share.backend"),
        ("STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)", "share.frontend_all"),
        ("INST_RETIRED / CPU_CYCLES", "ipc"),
        ("BR_MIS_PRED_RETIRED / INST_RETIRED * 1000", "branch.mpki"),
        ("BR_MIS_PRED_RETIRED", "branch.mispredicted"),
        ("OP_RETIRED / OP_SPEC", "ops.kept"),
    ] {
        let verdict = verdict_of(formula, claims);
        assert_eq!(
            (verdict.status, codes(&verdict)),
            (ValidationStatus::Right, vec![]),
            "{formula}"
        );
        assert!(!verdict.alarms(), "{formula}");
    }
}

#[test]
fn every_rule_finds_its_fault() {
    for (formula, claims, code) in [
        ("LD_SPEC / INST_SPEC", "mix.loads", "speculation"),
        ("LD_SPEC / INST_RETIRED", "mix.loads", "mixed-populations"),
        ("BR_MIS_PRED / BR_RETIRED", "branch.miss_ratio", "mixed-populations"),
        ("STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)", "share.frontend", "recovery"),
        ("L1D_CACHE_REFILL / INST_RETIRED * 1000", "l1d.mpki", "in-flight"),
        ("L2D_CACHE_REFILL / INST_RETIRED * 1000", "l2.mpki", "prefetch-counted"),
        ("L2D_TLB_REFILL / L2D_TLB", "l2tlb.data_miss_ratio", "data-and-code"),
        ("BR_MIS_PRED_RETIRED / BR_RETIRED * 100", "branch.miss_ratio", "factor"),
        ("BR_MIS_PRED_RETIRED / CPU_CYCLES * 1000", "branch.mpki", "dimension"),
        ("LDST_SPEC / INST_SPEC", "mix.loads", "never-counts"),
        ("r0c / CPU_CYCLES", "ipc", "wrong-number"),
        ("UOPS_ISSUED.ANY / CPU_CYCLES", "ipc", "unknown-event"),
        ("LD_SPEC / OP_SPEC", "mix.loads", "wrong-denominator"),
        ("STALL_SLOT_BACKEND / (5 * CPU_CYCLES) - 2", "share.backend", "negative"),
        ("LD_SPEC / BR_RETIRED", "branch.miss_ratio", "above-one"),
        (
            "(1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (5 * CPU_CYCLES)) + 25 * BR_MIS_PRED_RETIRED / (5 * CPU_CYCLES)",
            "share.bad_speculation",
            "mispredict-term",
        ),
    ] {
        let verdict = verdict_of(formula, claims);
        assert!(verdict.has(code) && verdict.alarms(), "{formula}: {:?}", codes(&verdict));
    }
}

#[test]
fn the_erratum_is_found_on_affected_revisions() {
    let (plain, corrected) = (
        "STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)",
        "(STALL_SLOT_FRONTEND - CPU_CYCLES) / (5 * CPU_CYCLES)",
    );
    let on = |patch, formula| {
        let verdict = verdict_on(&run(), patch, formula, "share.frontend_all", "");
        codes(&verdict)
    };
    assert_eq!(on(2, plain), ["erratum-uncorrected"]);
    assert_eq!(on(3, corrected), ["erratum-twice"]);
    assert_eq!((on(3, plain), on(2, corrected)), (vec![], vec![]));
    let verdict = verdict_on(&run(), 3, plain, "share.frontend_all", "");
    let (sound, erratum) = (verdict.on_sound, verdict.on_erratum);
    assert!((erratum.expect("a value") - sound.expect("a value") - 0.2).abs() < 1e-9);
}

#[test]
fn a_machine_without_last_level_events_is_reported() {
    let run = Evidence { has_external_llc: false, ..run() };
    let verdict = verdict_on(&run, 3, "LL_CACHE_MISS_RD / LL_CACHE_RD", "slc.miss_ratio", "");
    assert_eq!(codes(&verdict), ["extllc-clear"; 1]);
    assert_eq!(verdict.status, ValidationStatus::NoValue);
}

#[test]
fn units_of_the_file_are_converted_to_those_of_the_truth() {
    let percent = "100 * STALL_SLOT_BACKEND / (5 * CPU_CYCLES)";
    let verdict = verdict_on(&run(), 3, percent, "share.backend", "1percent of slots");
    assert_eq!(verdict.status, ValidationStatus::Right);
    assert_eq!(verdict.value, Some(0.24));
    assert!(verdict_of(percent, "share.backend").has("factor"), "without its unit");
}

#[test]
fn a_quantity_that_did_not_occur_is_not_a_mistake() {
    let verdict = verdict_of("DTLB_WALK / L1I_TLB", "itlb.walk_ratio");
    assert_eq!(verdict.status, ValidationStatus::Nothing);
    assert!(!verdict.alarms());
    let verdict = verdict_of("L1D_CACHE_REFILL / L1I_CACHE", "");
    assert!(verdict.has("division-by-zero"), "{:?}", codes(&verdict));
    assert_eq!(verdict_of("LD_SPEC / ST_SPEC + 1", "").value, None);
}

#[test]
fn multiplexing_is_distinguished_from_a_wrong_formula() {
    let metric = MetricFormula {
        claims: Some("ipc".to_owned()),
        ..MetricFormula::new("m", "INST_RETIRED / CPU_CYCLES", "test")
    };
    let catalog = Catalog::default();
    let validator = Validator::new(&metric, &catalog, Tolerance::default()).expect("a truth");
    assert_eq!(codes(&validator.verdict(&run(), Some(2.01))), [""; 0]);
    let verdict = validator.verdict(&run(), Some(2.4));
    assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Right, vec![]));
    assert!((verdict.multiplexing().expect("both values") - 0.4).abs() < 1e-9);
}

/// Reasons that a number fits only by chance and that the evidence does not support.
#[test]
fn reasons_without_supporting_evidence_are_not_given() {
    // All lost slots are in whole cycles, so slots in place of cycles change nothing. The event
    // counts more cycles than memory cost altogether.
    let mut whole_cycles = run();
    whole_cycles.counts.count(STALL_BACKEND, 240);
    whole_cycles.counts.count(STALL_BACKEND_MEM, 230);
    whole_cycles.truths.set(Truth::MemorySlots, 20.0);
    let memory = "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) * STALL_BACKEND_MEM / STALL_BACKEND";
    let verdict = verdict_on(&whole_cycles, 3, memory, "share.memory_bound", "");
    assert_eq!(codes(&verdict), ["pending-misses"]);
    // The other terms are not those of the front end, so the misprediction term is not the reason.
    let unlike = "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) - 6 * BR_MIS_PRED / CPU_CYCLES";
    let verdict = verdict_of(unlike, "share.frontend");
    assert!(!verdict.has("mispredict-term"), "{:?}", codes(&verdict));
    // No event of the formula counts squashed work, so that cannot be the reason.
    let verdict = verdict_of("OP_RETIRED / (4.3 * CPU_CYCLES)", "share.retiring");
    assert!(!verdict.has("speculation"), "{:?}", codes(&verdict));
    // The slots were lost by the back end, not by a front-end refill.
    let verdict = verdict_of("1.1 * STALL_SLOT_BACKEND / (5 * CPU_CYCLES)", "share.frontend");
    assert!(!verdict.has("recovery"), "{:?}", codes(&verdict));
    // Prefetched lines are not misses of demand accesses.
    let mut fetched = run();
    fetched.prefetched.l1d_lines = 20.0;
    fetched.truths.set(Truth::L1dRefills, 60.0);
    fetched.retired.count(L1D_CACHE_REFILL_RD, 10);
    let verdict = verdict_on(&fetched, 3, "L1D_CACHE_REFILL", "l1d.misses", "");
    assert!(!verdict.has("prefetch-hidden"), "{:?}", codes(&verdict));
}

#[test]
fn slots_of_another_width_are_found_on_one_run() {
    let verdict = verdict_of("OP_RETIRED / (8 * CPU_CYCLES)", "share.retiring");
    assert_eq!(codes(&verdict), ["slot-width"]);
    let message = verdict.findings[0].reason.to_string();
    assert!(
        message.contains("0.625 = 5/8") && message.contains("5 slots in a cycle, not 8"),
        "{message}"
    );
    assert_eq!(verdict.corrected.as_deref(), Some("OP_RETIRED / (5 * CPU_CYCLES)"));
    let verdict = verdict_of("2 * INST_RETIRED / CPU_CYCLES", "ipc");
    assert_eq!(codes(&verdict), ["factor"]);
    assert!(verdict.findings[0].reason.to_string().ends_with("in every run: counted twice"));
}

#[test]
fn simple_fractions_are_found_over_runs_with_large_counts() {
    let of = |value: f64, count: f64| Verdict {
        counts: vec![("LL_CACHE_RD".to_owned(), count)],
        value: Some(value),
        real: Some(1.0),
        status: ValidationStatus::Off,
        truth: Some(Truth::BytesRead),
        findings: Vec::new(),
        ..verdict_of("LL_CACHE_RD", "")
    };
    let common = |runs: &[Verdict]| common_factor(&runs.iter().collect::<Vec<_>>());
    assert_eq!(common(&[of(0.8, 1e4), of(0.8, 2e4)]), Some(Reason::Factor(0.8)));
    assert_eq!(common(&[of(0.8, 1e4), of(0.8, 20.0)]), None, "few");
    assert_eq!(common(&[of(0.8, 1e4), of(0.81, 2e4)]), None, "not the same");
    assert_eq!(common(&[of(2.0, 1e4), of(2.02, 2e4)]), None, "two runs agree by chance");
    assert_eq!(common(&[of(2.0, 1e4), of(2.02, 2e4), of(1.99, 1e4)]), Some(Reason::Factor(2.0)));
}

#[test]
fn shares_that_do_not_add_up_are_reported() {
    let level_1 = |frontend| {
        [
            verdict_of(
                "OP_RETIRED / OP_SPEC * (1 - STALL_SLOT / (5 * CPU_CYCLES))",
                "share.retiring",
            ),
            verdict_of(
                "(1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (5 * CPU_CYCLES))",
                "share.bad_speculation",
            ),
            verdict_of(frontend, "share.frontend"),
            verdict_of("STALL_SLOT_BACKEND / (5 * CPU_CYCLES)", "share.backend"),
        ]
    };
    let sum =
        |verdicts: &[Verdict]| tiling(&verdicts.iter().collect::<Vec<_>>(), Tolerance::default());
    assert_eq!(sum(&level_1("STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)")), None);
    let torn = sum(&level_1("STALL_SLOT_FRONTEND / (4 * CPU_CYCLES)"));
    assert!(matches!(torn, Some(Reason::NotTiling(sum)) if (sum - 1.065).abs() < 1e-9), "{torn:?}");
    assert_eq!(sum(&level_1("NaN")), None, "one is missing");
}

#[test]
fn every_reason_is_a_sentence_without_a_stop() {
    let event = PmuEvent::LL_CACHE_RD;
    let reasons = [
        Reason::MispredictTerm(2.0),
        Reason::ExtllcClear(event),
        Reason::WrongNumber("rc".to_owned(), event),
        Reason::Dimension {
            wants: "a share of slots".to_owned(),
            gives: "its value is a number per cycle",
        },
        Reason::WrongDenominator("instructions".to_owned()),
        Reason::Factor(0.01),
        Reason::AboveOne(1.5),
        Reason::NotTiling(1.2),
        Reason::NoL3,
        Reason::Recovery,
        Reason::Unexplained,
    ];
    for reason in reasons {
        let text = reason.to_string();
        assert!(text.len() > 20 && !text.ends_with('.') && !text.contains("  "), "{text}");
    }
}

#[test]
fn compensating_biases_are_found_together() {
    // 50 refills: 30 prefetched, 10 squashed, 10 retired. In addition, 25 accesses waited for
    // pending lines.
    let mut run = run();
    run.l2 = L2Lines { wrong_paths: 10.0, waits: 25.0, ..L2Lines::default() };
    run.truths.set(Truth::L2Misses, 35.0);
    let verdict = verdict_on(&run, 3, "L2D_CACHE_REFILL / INST_RETIRED * 1000", "l2.mpki", "");
    let mut found = codes(&verdict);
    found.sort_unstable();
    assert_eq!(found, ["in-flight", "prefetch-counted", "speculation"]);
    assert!(verdict.rest.is_some_and(|rest| rest.abs() < 1e-9), "{:?}", verdict.rest);
}

#[test]
fn lines_of_streaming_stores_are_not_misses() {
    let mut run = run();
    run.prefetched = Prefetched::default();
    run.l2 = L2Lines { streamed: 30.0, streamed_writes: 35.0, ..L2Lines::default() };
    let verdict = verdict_on(&run, 3, "L2D_CACHE_REFILL / INST_RETIRED * 1000", "l2.mpki", "");
    assert_eq!(codes(&verdict), ["streamed-stores"]);
}

#[test]
fn wrong_path_fetches_are_part_of_the_truth() {
    let mut run = run();
    run.counts.count(L1I_CACHE_REFILL, 40);
    run.retired.count(L1I_CACHE_REFILL, 20);
    run.truths.set(Truth::L1iMisses, 30.0);
    run.prefetched.l1i_lines = 25.0;
    let verdict = verdict_on(&run, 3, "L1I_CACHE_REFILL / INST_RETIRED * 1000", "l1i.mpki", "");
    let mut found = codes(&verdict);
    found.sort_unstable();
    assert_eq!(found, ["in-flight", "prefetch-counted"]);
}

/// Most slots were lost in cycles that dispatched something, and few of those to memory. The ratio
/// of whole cycles does not apply to them.
#[test]
fn memory_cycles_replace_slots_only_where_slots_explain_the_difference() {
    let memory = "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) * STALL_BACKEND_MEM / STALL_BACKEND";
    let core = "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) * (1 - STALL_BACKEND_MEM / STALL_BACKEND)";
    let mut run = run();
    run.counts.count(STALL_BACKEND, 24);
    run.counts.count(STALL_BACKEND_MEM, 20);
    run.truths.set(Truth::MemorySlots, 130.0);
    run.truths.set(Truth::CoreSlots, 1070.0);
    for (formula, claims) in [(memory, "share.memory_bound"), (core, "share.core_bound")] {
        let verdict = verdict_on(&run, 3, formula, claims, "");
        assert_eq!(codes(&verdict), ["cycles-for-slots"], "{claims}");
        assert!(verdict.rest.is_some_and(|rest| rest.abs() < 1e-9), "{:?}", verdict.rest);
        assert_eq!(verdict.corrected, None, "no event counts these slots");
    }
    // The event counts ten times as many cycles as memory cost, so slots are not the only fault.
    run.truths.set(Truth::MemorySlots, 10.0);
    let verdict = verdict_on(&run, 3, memory, "share.memory_bound", "");
    assert_eq!(codes(&verdict), ["cycles-for-slots", "pending-misses"]);
}

#[test]
fn no_correction_is_farther_from_the_truth() {
    // Reads alone are closer, because the totals include write-backs.
    let mut run = run();
    run.counts.count(L2D_CACHE_WR, 60);
    run.counts.count(L1D_CACHE_WB, 60);
    run.truths.set(Truth::L2Accesses, 40.0);
    run.truths.set(Truth::L2Misses, 38.0);
    let verdict = verdict_on(&run, 3, "L2D_CACHE_REFILL / L2D_CACHE_RD", "l2.miss_ratio", "");
    assert!(!verdict.has("subset"), "{:?}", codes(&verdict));
    assert_eq!((verdict.corrected, verdict.corrected_value), (None, None));
    // Here the whole has the same value, so the part is not a fault.
    let mpki = "L2D_CACHE_REFILL_RD / INST_RETIRED * 1000";
    let mut same = run.clone();
    same.counts.count(L2D_CACHE_REFILL_RD, 50);
    same.truths.set(Truth::L2Misses, 50.0);
    let verdict = verdict_on(&same, 3, mpki, "l2.mpki", "");
    assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Right, vec![]));
    // Where the correction is closer, it is offered with its value.
    let verdict = verdict_of("2 * INST_RETIRED / CPU_CYCLES", "ipc");
    assert_eq!(verdict.corrected.as_deref(), Some("INST_RETIRED / CPU_CYCLES"));
    assert_eq!(verdict.corrected_value, Some(2.0));
}

/// The reasons of a faulty formula are the fault, followed by the reasons of the corrected formula.
#[test]
fn a_structural_fault_hides_no_biases() {
    let right = verdict_of("L1D_CACHE_REFILL / L1D_CACHE", "l1d.miss_ratio");
    let biases = codes(&right);
    assert!(biases.contains(&"in-flight"), "{biases:?}");
    for (formula, code) in [
        ("2 * L1D_CACHE_REFILL / L1D_CACHE", "factor"),
        ("(L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD) / L1D_CACHE", "double-count"),
    ] {
        let verdict = verdict_of(formula, "l1d.miss_ratio");
        assert_eq!(codes(&verdict), [&[code], biases.as_slice()].concat(), "{formula}");
        let shifts = |verdict: &Verdict| -> Vec<f64> {
            verdict.findings.iter().filter_map(|finding| finding.shift).collect()
        };
        let pairs = shifts(&verdict).into_iter().zip(shifts(&right));
        assert!(pairs.clone().count() > 0 && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
        let message = verdict.findings[0].reason.to_string();
        assert!(
            !message.contains("what it claims"),
            "it is not a multiple of the truth: {message}"
        );
    }
}

/// Sums and aliases have the counting biases of their equivalents.
#[test]
fn biases_follow_the_identities() {
    let mut run = run();
    run.counts.count(L1D_CACHE_REFILL_INNER, 30);
    run.counts.count(L1D_CACHE_REFILL_OUTER, 10);
    run.retired.count(L1D_CACHE_REFILL_INNER, 22);
    run.retired.count(L1D_CACHE_REFILL_OUTER, 8);
    for (parts, whole, claims) in [
        (
            "(L1D_CACHE_REFILL_INNER + L1D_CACHE_REFILL_OUTER) / L1D_CACHE",
            "L1D_CACHE_REFILL / L1D_CACHE",
            "l1d.miss_ratio",
        ),
        (
            "1 - (STALL_SLOT_FRONTEND + STALL_SLOT_BACKEND) / (5 * CPU_CYCLES)",
            "1 - STALL_SLOT / (5 * CPU_CYCLES)",
            "share.retiring",
        ),
        ("L1I_CACHE_LMISS", "L1I_CACHE_REFILL", "l1i.misses"),
    ] {
        let (parts, whole) =
            (verdict_on(&run, 3, parts, claims, ""), verdict_on(&run, 3, whole, claims, ""));
        assert_eq!(codes(&parts), codes(&whole), "{claims}");
        assert!(!parts.has("unexplained"), "{claims}");
    }
}

#[test]
fn a_factor_is_undone_where_no_formula_is_known() {
    for (formula, claims, right, biases) in [
        ("LD_SPEC*2", "inst.loads", "LD_SPEC", &["speculation"][..]),
        ("1000*LD_SPEC", "inst.loads", "LD_SPEC", &["speculation"]),
        (
            "STALL_SLOT / (5 * CPU_CYCLES)",
            "share.retiring",
            "1 - (STALL_SLOT / (5 * CPU_CYCLES))",
            &["speculation"],
        ),
    ] {
        let verdict = verdict_of(formula, claims);
        let first = if claims == "share.retiring" { "complement" } else { "factor" };
        assert_eq!(codes(&verdict), [&[first], biases].concat(), "{formula}");
        assert_eq!(verdict.corrected.as_deref(), Some(right), "{formula}");
    }
    let mut run = run();
    run.counts.count(BUS_ACCESS_RD, 1200);
    run.truths.set(Truth::BytesMoved, 64.0 * 1200.0);
    let verdict = verdict_on(&run, 3, "BUS_ACCESS*32", "bytes.moved", "");
    assert_eq!(codes(&verdict), ["factor"]);
    assert_eq!(verdict.corrected.as_deref(), Some("BUS_ACCESS*64"));
    assert!(verdict.findings[0].reason.to_string().starts_with("it is 0.5 = 1/2 of the formula"));
}

#[test]
fn corrections_keep_meaningful_numbers() {
    for (formula, claims, scale, right) in [
        (
            "100 * BR_MIS_PRED_RETIRED / INST_RETIRED",
            "branch.mpki",
            "",
            "1000 * BR_MIS_PRED_RETIRED / INST_RETIRED",
        ),
        ("INST_RETIRED*4/(5*CPU_CYCLES)", "ipc", "", "INST_RETIRED / CPU_CYCLES"),
        (
            "OP_RETIRED / CPU_CYCLES * 100 / 3",
            "share.retiring",
            "1percent",
            "OP_RETIRED / CPU_CYCLES * 100 / 5",
        ),
        ("100 * LD_SPEC / CPU_CYCLES", "mix.loads", "1percent", "100 * LD_SPEC / INST_SPEC"),
        ("100 * LD_SPEC", "ops.wasted", "1percent", "100 * (1 - OP_RETIRED / OP_SPEC)"),
    ] {
        let verdict = verdict_on(&run(), 3, formula, claims, scale);
        assert_eq!(verdict.corrected.as_deref(), Some(right), "{formula}");
    }
}

#[test]
fn doubtful_counts_have_no_verdict() {
    let mut run = run();
    run.doubts =
        vec![(L1D_CACHE_REFILL_RD, "no SVE accesses"), (L1D_CACHE_REFILL, "no SVE accesses")];
    let verdict = verdict_on(&run, 3, "L1D_CACHE_REFILL / INST_RETIRED * 1000", "l1d.mpki", "");
    assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Doubtful, vec![]));
    assert_eq!(verdict.doubt, Some("no SVE accesses"));
    assert!(!verdict.alarms() && verdict.value.is_some());
    // A fault that does not depend on counts is still reported.
    let verdict = verdict_on(&run, 3, "L1D_CACHE_REFILL / CPU_CYCLES", "l1d.mpki", "");
    assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Doubtful, vec!["dimension"]));
    assert!(verdict.alarms());
    let verdict = verdict_on(&run, 3, "INST_RETIRED / CPU_CYCLES", "ipc", "");
    assert_eq!((verdict.status, verdict.doubt), (ValidationStatus::Right, None));
}
