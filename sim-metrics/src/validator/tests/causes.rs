//! Tests of the chosen reason where several are close, and of its wording.

use super::borders::{codes_on, run_with};
use super::*;

/// Returns a run without prefetches.
fn plain(counts: &[(PmuEvent, u64)], truths: &[(Truth, f64)]) -> Evidence {
    Evidence { prefetched: Prefetched::default(), ..run_with(counts, truths) }
}

#[test]
fn a_metric_with_missing_data_has_no_value() {
    let verdict = verdict_of("ipc / #slots", "share.retiring");
    assert_eq!((verdict.status, verdict.value), (ValidationStatus::Missing, None));
    assert_eq!(codes(&verdict_of("l3d_cache_mpki", "")), [""; 0]);
}

/// Formulas that are equal by the rules between events: slots are operations and stalled slots, and
/// a double count multiplied by 0 has no effect.
#[test]
fn a_known_formula_has_no_fault_in_any_form() {
    for formula in [
        "5 * INST_RETIRED / (OP_SPEC + STALL_SLOT)",
        "INST_RETIRED / CPU_CYCLES + 0 * (L1D_CACHE + L1D_CACHE_RD)",
    ] {
        assert_eq!(codes(&verdict_of(formula, "ipc")), [""; 0], "{formula}");
    }
}

#[test]
fn corrections_are_offered_only_for_faults_and_closer_values() {
    let verdict = verdict_of("(INST_RETIRED + ST_SPEC) / CPU_CYCLES", "ipc");
    assert_eq!((verdict.status, verdict.corrected), (ValidationStatus::Right, None));
    let verdict = verdict_of("25 * LD_SPEC / (36 * OP_SPEC)", "mix.loads");
    assert_eq!(codes(&verdict), ["wrong-denominator"]);
    assert_eq!(verdict.corrected, None, "the known formula is farther from the truth");
    let none = plain(&[(BR_RETIRED, 0)], &[]);
    let empty = Evidence { counts: Counts::default(), ..none };
    let mut cycles = empty.clone();
    cycles.counts.count(INST_RETIRED, 2000);
    let per = "BR_MIS_PRED_RETIRED / INST_RETIRED";
    let verdict = verdict_on(&cycles, 3, per, "branch.miss_ratio", "");
    assert_eq!((verdict.value, verdict.corrected), (Some(0.0), None), "it has no value here");
    // An inverted quotient has no other fault to undo.
    assert_eq!(verdict_of("CPU_CYCLES / INST_RETIRED", "ipc").rest, None);
}

#[test]
fn wrong_paths_are_not_a_cause_where_slots_are_claimed() {
    let run = run_with(&[], &[(Truth::BackendSlots, 2000.0)]);
    let found = codes_on(&run, 3, "OP_SPEC / (5 * CPU_CYCLES)", "share.backend");
    assert!(!found.contains(&"speculation"), "{found:?}");
}

#[test]
fn write_backs_are_removed_from_writes_only() {
    let counts = [(L2D_CACHE_WR, 60), (L1D_CACHE_WB, 60)];
    let mut run = plain(&counts, &[(Truth::L2Accesses, 80.0), (Truth::L2Misses, 50.0)]);
    run.retired = run.counts.clone();
    let found = codes_on(&run, 3, "L2D_CACHE_REFILL / L2D_CACHE", "l2.miss_ratio");
    assert_eq!(found, ["write-backs"]);
}

#[test]
fn claimed_lines_move_no_bytes() {
    let mut run = plain(&[], &[(Truth::BytesRead, 64.0 * 30.0)]);
    run.l2.claimed = 20.0;
    assert_eq!(codes_on(&run, 3, "64 * L2D_CACHE_REFILL", "bytes.read"), ["streamed-stores"]);
    let name = Truth::ReadBandwidth.name();
    assert_eq!(codes_on(&run, 3, "L2D_CACHE_REFILL * 64 / CPU_CYCLES", name), ["streamed-stores"]);
}

#[test]
fn prefetches_are_hidden_or_counted_depending_on_the_machine() {
    let with = |is_counted_in_l2, truths: &[(Truth, f64)], formula: &str, claims: &str| {
        let prefetched = Prefetched { l2_lines: 30.0, is_counted_in_l2, ..Prefetched::default() };
        codes_on(&Evidence { prefetched, ..run_with(&[], truths) }, 3, formula, claims)
    };
    let bytes = [(Truth::BytesRead, 64.0 * 80.0)];
    let of_bytes = |is_counted| with(is_counted, &bytes, "64 * L2D_CACHE_REFILL", "bytes.read");
    assert_eq!(of_bytes(false), ["prefetch-hidden"]);
    assert!(!of_bytes(true).contains(&"prefetch-hidden"));
    let mpki = "L2D_CACHE_REFILL / INST_RETIRED * 1000";
    assert!(with(true, &[], mpki, "l2.mpki").contains(&"prefetch-counted"));
    assert!(!with(false, &[], mpki, "l2.mpki").contains(&"prefetch-counted"));
}

#[test]
fn an_access_in_two_parts_counts_twice() {
    let mut run = plain(&[], &[(Truth::L1dAccesses, 500.0)]);
    run.retired = run.counts.clone();
    let name = Truth::L1dAccesses.name();
    assert_eq!(codes_on(&run, 3, "L1D_CACHE", name), ["fragments"]);
}

#[test]
fn a_factor_or_a_rest_that_does_not_fit_is_not_a_cause() {
    let near = run_with(&[(ST_SPEC, 25)], &[(Truth::Loads, 20.0)]);
    let found = codes_on(&near, 3, "20 * ST_SPEC / INST_SPEC", "mix.loads");
    assert!(!found.contains(&"factor"), "near to nothing every factor fits: {found:?}");
    let moved = run_with(&[(BUS_ACCESS_RD, 1200)], &[(Truth::BytesMoved, 64.0 * 1200.0)]);
    let found = codes_on(&moved, 3, "BUS_ACCESS*48", "bytes.moved");
    assert!(!found.contains(&"factor"), "48 is not a unit: {found:?}");
    let slow = run_with(&[], &[(Truth::Retired, 400.0)]);
    let found = codes_on(&slow, 3, "OP_RETIRED * 3 / (10 * CPU_CYCLES)", "ipc");
    assert!(!found.contains(&"complement"), "a number per cycle has no rest: {found:?}");
    let less = codes(&verdict_of(
        "(STALL_SLOT_BACKEND - OP_RETIRED / 4) / (5 * CPU_CYCLES)",
        "share.backend",
    ));
    assert_eq!(less, ["unexplained"]);
    let percent = "100 * STALL_SLOT / (5 * CPU_CYCLES)";
    let verdict = verdict_on(&run(), 3, percent, "share.retiring", "1percent");
    assert!(verdict.has("complement"), "{:?}", codes(&verdict));
    let corrected = verdict.corrected.unwrap_or_default();
    assert!(!corrected.starts_with("1 - (100"), "{corrected}");
}

#[test]
fn reasons_describe_their_numbers() {
    for (reason, sentence) in [
        (Reason::Factor(2.0), "it is 2 times what it claims, in every run: counted twice"),
        (Reason::Factor(3.0), "it is 3 times what it claims, in every run"),
        (Reason::Factor(1.25), "it is 1.25 = 5/4 times what it claims, in every run"),
        (Reason::Factor(0.8), "it is 0.8 = 4/5 of what it claims, in every run"),
        (Reason::Factor(6.013), "it is 6.01 times what it claims, in every run"),
        (Reason::Factor(1.0 / 6.013), "it is 1/6.01 of what it claims, in every run"),
        (Reason::DoubleCount(L1D_CACHE, L1D_CACHE), "L1D_CACHE is added to itself"),
        (
            Reason::DoubleCount(L1D_CACHE, L1D_CACHE_RD),
            "counted twice: L1D_CACHE counts all that L1D_CACHE_RD counts",
        ),
    ] {
        assert_eq!(reason.to_string(), sentence);
    }
    assert!(Reason::MispredictTerm(3.0).to_string().contains("charges 3 times"));
    assert!(!Reason::MispredictTerm(f64::INFINITY).to_string().contains("inf"));
}
