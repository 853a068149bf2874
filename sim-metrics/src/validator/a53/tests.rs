use super::*;
use crate::truth::Truths;
use crate::validator::{A53Surplus, ValidationStatus};

fn evidence() -> A53Evidence {
    let mut counts = vec![0.0; A53Event::ALL.len()];
    for (event, count) in [
        (A53Event::CPU_CYCLES, 20_000.0),
        (A53Event::INST_RETIRED, 10_000.0),
        (A53Event::BR_PRED, 2_000.0),
        (A53Event::BR_MIS_PRED, 300.0),
        (A53Event::PC_WRITE_RETIRED, 1_500.0),
        (A53Event::L1D_CACHE, 4_600.0),
        (A53Event::L1D_CACHE_REFILL, 700.0),
        (A53Event::LD_DEP_STALL, 9_000.0),
        (A53Event::ST_RETIRED, 1_200.0),
        (A53Event::L2D_CACHE, 2_500.0),
    ] {
        counts[event as usize] = count;
    }
    let mut truths = Truths::default();
    for (truth, value) in [
        (Truth::Cycles, 20_000.0),
        (Truth::Slots, 40_000.0),
        (Truth::Retired, 10_000.0),
        (Truth::IssuedSlots, 11_000.0),
        (Truth::Stores, 1_000.0),
        (Truth::L2Accesses, 1_000.0),
        (Truth::Branches, 2_000.0),
        (Truth::Mispredicted, 200.0),
        (Truth::L1dAccesses, 4_000.0),
        (Truth::L1dMisses, 600.0),
        (Truth::IdleLoadMiss, 6_000.0),
    ] {
        truths.set(truth, value);
    }
    let surplus = A53Surplus {
        descriptors: 600.0,
        descriptor_misses: 300.0,
        lookups: 4_000.0,
        load_waits: 200.0,
        load_refills: 400.0,
        load_misses: 600.0,
        exception_returns: 100.0,
        failed_exclusives: 200.0,
        abandoned: 1_000.0,
        software_prefetches: 0.0,
        software_lines: 1_500.0,
        ..A53Surplus::default()
    };
    A53Evidence { counts, truths, surplus, cores: 1, seconds: 1.0, ..A53Evidence::default() }
}

fn verdict(text: &str, claims: &str) -> Verdict {
    let mut metric = MetricFormula::new("m", text, "test");
    metric.claims = Some(claims.to_owned());
    let catalog = Catalog::default();
    let judge = A53Validator::new(&metric, &catalog, Tolerance::default()).expect("a claim");
    judge.verdict(&evidence())
}

fn codes(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.reason.code()).collect()
}

#[test]
fn right_formulas_are_right() {
    for (text, claims) in [
        ("INST_RETIRED / CPU_CYCLES", "ipc"),
        ("CPU_CYCLES / INST_RETIRED", "cpi"),
        ("BR_PRED / INST_RETIRED * 1000", "branch.pki"),
    ] {
        let verdict = verdict(text, claims);
        assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Right, vec![]), "{text}");
    }
}

#[test]
fn biases_of_the_events_are_reasons() {
    for (text, claims, reasons) in [
        ("BR_MIS_PRED / BR_PRED", "branch.miss_ratio", &["exception-returns"][..]),
        ("1000 * L1D_CACHE_REFILL / INST_RETIRED", "l1d.mpki", &["walks", "in-flight"]),
        ("L1D_CACHE", "l1d.accesses", &["walks"]),
        ("LD_DEP_STALL / CPU_CYCLES", "share.idle.load_miss", &["stall-overlap"]),
        ("INST_RETIRED / (CPU_CYCLES * #slots)", "share.issued", &["abandoned"]),
        ("ST_RETIRED / INST_RETIRED", "mix.stores", &["failed-exclusives"]),
        ("L2D_CACHE", "l2.accesses", &["software-prefetch"]),
    ] {
        let verdict = verdict(text, claims);
        assert_eq!((verdict.status, codes(&verdict)), (ValidationStatus::Off, reasons.to_vec()));
        assert!(verdict.rest.is_some_and(|rest| rest.abs() < 1e-9), "{text}: {:?}", verdict.rest);
    }
}

/// Given accesses of a device, when L1D_CACHE is taken for all accesses, then their absence is the
/// reason, and MEM_ACCESS is right.
#[test]
fn accesses_past_the_caches_are_a_reason() {
    let mut evidence = evidence();
    evidence.counts[A53Event::L1D_CACHE as usize] = 3_500.0;
    evidence.counts[A53Event::MEM_ACCESS as usize] = 4_000.0;
    evidence.surplus = A53Surplus { lookups: 3_500.0, uncached: 500.0, ..A53Surplus::default() };
    let judged = |text: &str| {
        let mut metric = MetricFormula::new("m", text, "test");
        metric.claims = Some(String::from("l1d.accesses"));
        let catalog = Catalog::default();
        let judge = A53Validator::new(&metric, &catalog, Tolerance::default()).expect("a claim");
        judge.verdict(&evidence)
    };
    let cached = judged("L1D_CACHE");
    assert_eq!((cached.status, codes(&cached)), (ValidationStatus::Off, vec!["uncached"]));
    assert_eq!(judged("MEM_ACCESS").status, ValidationStatus::Right);
}

#[test]
fn faults_of_a_formula_are_named_and_corrected() {
    for (text, claims, reason, corrected) in [
        ("BR_MIS_PRED / PC_WRITE_RETIRED", "branch.miss_ratio", "subset", "BR_MIS_PRED / BR_PRED"),
        (
            "INST_RETIRED / (5 * CPU_CYCLES)",
            "share.issued",
            "slot-width",
            "INST_RETIRED / (2 * CPU_CYCLES)",
        ),
        ("2 * INST_RETIRED / CPU_CYCLES", "ipc", "factor", "INST_RETIRED / CPU_CYCLES"),
        ("CPU_CYCLES / INST_RETIRED", "ipc", "dimension", "1 / (CPU_CYCLES / INST_RETIRED)"),
        ("1 - BR_MIS_PRED / BR_PRED", "branch.miss_ratio", "complement", "BR_MIS_PRED / BR_PRED"),
        (
            "L1D_CACHE_REFILL / INST_RETIRED",
            "l1d.miss_ratio",
            "wrong-denominator",
            "L1D_CACHE_REFILL / L1D_CACHE",
        ),
    ] {
        let verdict = verdict(text, claims);
        assert_eq!(codes(&verdict).first(), Some(&reason), "{text}");
        assert_eq!(verdict.corrected.as_deref(), Some(corrected), "{text}");
    }
}

#[test]
fn events_of_another_core_are_answered_clearly() {
    let verdict = verdict("STALL_SLOT / (5 * CPU_CYCLES)", "share.issued");
    assert_eq!(
        (verdict.status, codes(&verdict)),
        (ValidationStatus::NoValue, vec!["absent-event"])
    );
    let words = verdict.findings[0].reason.to_string();
    assert!(words.contains("STALL_SLOT (0x3F) is an event of the Neoverse N2"), "{words}");
    let missing = self::verdict("ipc / 2", "share.issued");
    assert!(missing.missing.is_some_and(|why| why.contains("ipc is the name of a metric")));
}

#[test]
fn a_claim_of_another_core_is_refused() {
    let error = |claims: &str| {
        let mut metric = MetricFormula::new("m", "1", "test");
        metric.claims = Some(claims.to_owned());
        let catalog = Catalog::default();
        let judge = A53Validator::new(&metric, &catalog, Tolerance::default());
        judge.map(|_| ()).expect_err("refused")
    };
    assert!(error("slots.frontend").ends_with("only of the Neoverse N2"));
    assert!(error("l1d.luck").contains("l1d.misses"));
}
