//! Formulas and ground-truth values: top-down level 1 is exact, and every seeded mistake is found
//! for its reason.

use std::collections::BTreeMap;

use serde::Deserialize;
use sim_machine::Profile;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, MetricFormula, Scale};
use sim_metrics::validator::{Evidence, Tolerance, ValidationStatus, Validator, Verdict};
use sim_tests::formulas::{Part, evidence, traces};
use sim_tests::{read, repository};

/// Number of instructions to count, and of those before them.
const LIMIT: u64 = 200_000;
const WARMUP: u64 = 300_000;
/// Number of instructions while all caches are cold.
const COLD: u64 = 3_000;
/// Least number of seeded formulas.
const CASES_MIN: usize = 25;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    name: String,
    wrong: String,
    scale: Option<String>,
    claims: String,
    reason: String,
    #[serde(default)]
    also: Vec<String>,
    right: String,
    right_claims: Option<String>,
    right_scale: Option<String>,
    right_name: Option<String>,
    run: String,
}

#[derive(Debug, Deserialize)]
struct Cases {
    case: Vec<Case>,
}

fn part<'a>(trace: &'a str, overrides: &[&str]) -> Part<'a> {
    Part {
        trace,
        profile: Profile::Guide,
        overrides: overrides.iter().map(|&text| text.to_owned()).collect(),
        warmup: WARMUP,
        limit: Some(LIMIT),
    }
}

/// Returns a run by its name in the cases.
fn run(name: &str) -> Evidence {
    let (trace, kind) = name.split_once(' ').expect("a trace and a kind of run");
    let part = match kind {
        "r0p3" if trace == "cold" => Part { warmup: 0, limit: Some(COLD), ..part("interp", &[]) },
        "r0p3" => part(trace, &[]),
        "r0p2" => part(trace, &["core.revision=r0p2"]),
        "silicon" => Part { profile: Profile::Silicon, ..part(trace, &[]) },
        "without llc" => part(trace, &["semantics.extllc=false"]),
        other => panic!("no such kind of run: {other}"),
    };
    evidence(&part).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn judged(formula: &str, name: &str, claims: &str, scale: Option<&str>, run: &Evidence) -> Verdict {
    let metric = MetricFormula {
        claims: (!claims.is_empty()).then(|| claims.to_owned()),
        scale: scale.map_or_else(Scale::default, |scale| Scale::parse(scale).expect("a scale")),
        ..MetricFormula::new(name, formula, "seeded")
    };
    let catalog = Catalog::default();
    let judge = Validator::new(&metric, &catalog, Tolerance::default()).expect("a truth");
    judge.verdict(run, None)
}

fn codes(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.reason.code()).collect()
}

/// Returns the fault in the validation of a case, if there is one.
fn complaint(case: &Case, run: &Evidence) -> Option<String> {
    let name = if case.reason == "no-l3" { "l3_miss_ratio" } else { "seeded" };
    let wrong = judged(&case.wrong, name, &case.claims, case.scale.as_deref(), run);
    let found = codes(&wrong);
    // The reasons of the formula without its fault may follow the fault.
    let undone = judged(&case.right, name, &case.claims, case.scale.as_deref(), run);
    let undone_codes = codes(&undone);
    let is_allowed = |code: &&str| {
        **code == case.reason
            || case.also.iter().any(|own| own == *code)
            || (case.right_claims.is_none() && undone_codes.contains(code))
    };
    let farther = |verdict: &Verdict| {
        let real = verdict.real?;
        Some((verdict.corrected_value? - real).abs() > (verdict.value? - real).abs() + 1e-9)
    };
    if farther(&wrong) == Some(true) {
        return Some(format!("{}: {:?} is farther from the truth", case.name, wrong.corrected));
    }
    if !found.contains(&case.reason.as_str()) || !found.iter().all(is_allowed) {
        let (value, real) = (wrong.value, wrong.real);
        return Some(format!("{}: found {found:?} ({value:?} of {real:?})", case.name));
    }
    if !wrong.alarms() {
        return Some(format!("{}: no alarm", case.name));
    }
    let claims = case.right_claims.as_ref().unwrap_or(&case.claims);
    let name = case.right_name.as_deref().unwrap_or("right");
    let scale = case.right_scale.as_deref().or(case.scale.as_deref());
    let right = judged(&case.right, name, claims, scale, run);
    let (value, real, found) = (right.value, right.real, codes(&right));
    right.alarms().then(|| format!("{}, right: {found:?} ({value:?} of {real:?})", case.name))
}

#[test]
fn every_seeded_mistake_is_found_and_right_formulas_raise_no_alarm() {
    let text = read(&repository().join("tests/formulas/seeded.toml"));
    let cases: Cases = toml::from_str(&text).expect("the seeded formulas are TOML");
    assert!(cases.case.len() >= CASES_MIN);
    let mut runs: BTreeMap<&str, Evidence> = BTreeMap::new();
    for case in &cases.case {
        runs.entry(&case.run).or_insert_with(|| run(&case.run));
    }
    let complaints: Vec<String> =
        cases.case.iter().filter_map(|case| complaint(case, &runs[case.run.as_str()])).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The four shares from events equal those of the ledger, to the rounding of numbers.
#[test]
fn top_down_level_1_is_the_ledger_on_every_trace_and_revision() {
    let catalog = builtin::catalog();
    let level_1 = catalog.named("TopdownL1");
    assert_eq!(level_1.len(), 4);
    for trace in traces() {
        for revision in ["core.revision=r0p2", "core.revision=r0p3"] {
            let run = evidence(&part(&trace, &[revision])).expect("a committed trace");
            for metric in &level_1 {
                let judge =
                    Validator::new(metric, &catalog, Tolerance::default()).expect("a truth");
                let verdict = judge.verdict(&run, None);
                assert_eq!(
                    verdict.status,
                    ValidationStatus::Right,
                    "{trace} {revision} {}",
                    metric.name
                );
                let error = verdict.difference().expect("both have a value").abs();
                assert!(error < 1e-9, "{trace} {revision} {}: {error}", metric.name);
            }
        }
    }
}

/// Half of a 64-byte line for each refill is wrong by the same factor on every run, and is found on
/// each run alone.
#[test]
fn a_factor_is_found_on_every_run() {
    for name in ["chase r0p3", "hash r0p3", "btree r0p3"] {
        let run = run(name);
        let formula = "32 * LL_CACHE_RD / CPU_CYCLES";
        let verdict = judged(formula, "m", "bytes.read_per_cycle", None, &run);
        assert_eq!(codes(&verdict), ["factor"], "{name}");
    }
}
