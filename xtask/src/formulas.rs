//! `cargo xtask formulas`: writes docs/formulas.md, the true meaning of the usual metrics and their
//! errors.

mod known;

use std::fmt::Write;
use std::fs;

use anyhow::Context;
use sim_machine::Profile;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, MetricFormula, Scale};
use sim_metrics::validator::{Evidence, Tolerance, Validator, Verdict};
use sim_metrics::{Truth, TruthUnit};
use sim_tests::formulas::{Part, evidence, traces};
use sim_tests::{read, repository};

use known::{KNOWN, Known};

/// Number of instructions of each thread to count.
const LIMIT: u64 = 2_000_000;
/// The same number as a command line argument.
const LIMIT_TEXT: &str = "2M";
/// Least difference of shares that is explained, in percentage points.
const EXPLAINED_FROM: f64 = 0.5;

/// Runs every committed trace and writes the page.
pub(crate) fn run() -> anyhow::Result<bool> {
    let names = traces();
    let mut runs = Vec::new();
    for trace in &names {
        runs.push(run_of(trace, Profile::Guide, &[])?);
    }
    let mut page = String::from(INTRODUCTION);
    page.push_str(&level_1(&runs)?);
    page.push_str(&published_level_1(&runs)?);
    page.push_str(&metrics(&runs)?);
    page.push_str(&sweep()?);
    page.push_str(&seeded()?);
    let path = repository().join("docs/formulas.md");
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(true)
}

fn run_of(trace: &str, profile: Profile, overrides: &[&str]) -> anyhow::Result<Evidence> {
    let overrides = overrides.iter().map(|&text| text.to_owned()).collect();
    let part = Part { trace, profile, overrides, warmup: 0, limit: Some(LIMIT) };
    evidence(&part).map_err(|error| anyhow::anyhow!("{trace}: {error}"))
}

fn judged(metric: &MetricFormula, catalog: &Catalog, run: &Evidence) -> anyhow::Result<Verdict> {
    judged_within(Tolerance::default(), metric, catalog, run)
}

fn judged_within(
    tolerance: Tolerance,
    metric: &MetricFormula,
    catalog: &Catalog,
    run: &Evidence,
) -> anyhow::Result<Verdict> {
    let judge = Validator::new(metric, catalog, tolerance).map_err(anyhow::Error::msg)?;
    Ok(judge.verdict(run, None))
}

/// Writes the built-in shares beside those of the ledger, on both revisions.
fn level_1(runs: &[Evidence]) -> anyhow::Result<String> {
    let catalog = builtin::catalog();
    let mut text = String::from(LEVEL_1);
    for metric in catalog.named("TopdownL1") {
        for run in runs {
            let sound = judged(metric, &catalog, &Evidence { patch: 3, ..run.clone() })?;
            let erratum = judged(metric, &catalog, &Evidence { patch: 2, ..run.clone() })?;
            let real = sound.real.context("a share of the slots")?;
            let points = |verdict: &Verdict| verdict.difference().map_or(f64::NAN, |d| 100.0 * d);
            writeln!(
                text,
                "| `{}` | {} | {:.2} % | {:+.2} | {:+.2} |",
                metric.name,
                run.trace,
                100.0 * real,
                clean(points(&sound)),
                clean(points(&erratum))
            )?;
        }
    }
    Ok(text)
}

/// Returns the value without the sign of a zero.
fn clean(points: f64) -> f64 {
    (100.0 * points).round() / 100.0 + 0.0
}

/// Writes level 1 with the terms of mispredictions, as published, beside the ledger.
fn published_level_1(runs: &[Evidence]) -> anyhow::Result<String> {
    let mut text = String::from(PUBLISHED);
    let catalog = Catalog::default();
    for known in &KNOWN[..4] {
        let metric = metric_of(known);
        for run in runs {
            let tolerance = Tolerance { relative: 0.0, points: EXPLAINED_FROM };
            let verdict = judged_within(tolerance, &metric, &catalog, run)?;
            let points = 100.0 * verdict.difference().context("both have a value")?;
            if points.abs() < EXPLAINED_FROM {
                continue;
            }
            let (value, real) = (verdict.value.unwrap_or(0.0), verdict.real.unwrap_or(0.0));
            writeln!(
                text,
                "| `{}` | {} | {:.2} % | {:.2} % | {:+.2} | {} |",
                known.name,
                run.trace,
                100.0 * value,
                100.0 * real,
                clean(points),
                words(&verdict)
            )?;
        }
    }
    Ok(text)
}

fn words(verdict: &Verdict) -> String {
    let reasons: Vec<String> =
        verdict.findings.iter().map(|finding| finding.reason.to_string()).collect();
    if reasons.is_empty() { String::from("within the tolerance") } else { reasons.join("; ") }
}

fn metric_of(known: &Known) -> MetricFormula {
    MetricFormula {
        claims: Some(known.claims.to_owned()),
        scale: Scale::parse(known.scale).unwrap_or_default(),
        ..MetricFormula::new(known.name, known.formula, "docs/formulas.md")
    }
}

/// Writes one section for each of the twenty metrics.
fn metrics(runs: &[Evidence]) -> anyhow::Result<String> {
    let mut text = String::from("\n## The twenty most used metrics\n");
    for known in &KNOWN {
        let metric = metric_of(known);
        let catalog = Catalog::default();
        let verdicts: Vec<Verdict> =
            runs.iter().map(|run| judged(&metric, &catalog, run)).collect::<Result<_, _>>()?;
        let truth = Truth::from_name(known.claims).context("a truth")?;
        writeln!(text, "\n### {}\n\n    {}\n", known.name, known.formula)?;
        writeln!(text, "* **Claims** `{}`: {}", truth.name(), truth.definition())?;
        writeln!(text, "* **Measures**: {}", known.measures)?;
        writeln!(text, "* **Misleads**: {}", known.misleads)?;
        text.push_str(&largest(known, truth, &verdicts)?);
    }
    Ok(text)
}

/// Writes the largest error, with the command that shows it.
fn largest(known: &Known, truth: Truth, verdicts: &[Verdict]) -> anyhow::Result<String> {
    let error = |verdict: &Verdict| match truth.unit() {
        TruthUnit::Share => verdict.difference().map(|points| 100.0 * points),
        _ => verdict.relative().map(|part| 100.0 * part),
    };
    let size = |verdict: &&Verdict| error(verdict).map_or(-1.0, f64::abs);
    let worst = verdicts.iter().max_by(|a, b| size(a).total_cmp(&size(b))).context("a run")?;
    let is_share = truth.unit() == TruthUnit::Share;
    let unit = if is_share { "percentage points" } else { "%" };
    let shown = |value: Option<f64>| match value {
        None => String::from("no value"),
        Some(value) if is_share => format!("{:.2} %", 100.0 * value),
        Some(value) => format!("{value:.3}"),
    };
    let right = verdicts.iter().filter(|verdict| !verdict.alarms()).count();
    let mut text = String::new();
    writeln!(
        text,
        "* **Largest error**: {:+.2} {unit}, on `{}`: {} for {}. Right on {right} of {} traces. {}",
        clean(error(worst).unwrap_or(0.0)),
        worst.trace,
        shown(worst.value),
        shown(worst.real),
        verdicts.len(),
        sentence(worst)
    )?;
    writeln!(
        text,
        "\n      n2sim validate traces/{}.n2t --limit {LIMIT_TEXT} --formula '{}' --scale '{}' --claims {}",
        worst.trace, known.formula, known.scale, known.claims
    )?;
    Ok(text)
}

fn sentence(verdict: &Verdict) -> String {
    let reasons: Vec<&str> = verdict.findings.iter().map(|finding| finding.reason.code()).collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!("Found: {}.", reasons.join(", ")),
    }
}

/// Writes the errors of a metric over configurations.
fn sweep() -> anyhow::Result<String> {
    const TRACES: [&str; 4] = ["hash", "sort", "matrix", "btree"];
    const METRICS: [&str; 3] = ["l1d_cache_mpki", "l2_cache_mpki", "l2_cache_miss_ratio"];
    let machines: [(&str, Profile, &[&str]); 3] = [
        ("guide", Profile::Guide, &[]),
        ("silicon", Profile::Silicon, &[]),
        (
            "no prefetch",
            Profile::Guide,
            &[
                "memory.prefetch.l1d=false",
                "memory.prefetch.l1i-next-line=false",
                "memory.prefetch.l2-stream=false",
                "memory.prefetch.stores=false",
            ],
        ),
    ];
    let mut text = String::from(SWEEP);
    for name in METRICS {
        let known = KNOWN.iter().find(|known| known.name == name).context("one of the twenty")?;
        let metric = metric_of(known);
        for trace in TRACES {
            write!(text, "| `{name}` | {trace} |")?;
            for (_, profile, overrides) in machines {
                let run = run_of(trace, profile, overrides)?;
                let verdict = judged(&metric, &Catalog::default(), &run)?;
                let is_share = verdict.truth.is_some_and(|truth| truth.unit() == TruthUnit::Share);
                let error = if is_share { verdict.difference() } else { verdict.relative() };
                let unit = if is_share { "pp" } else { "%" };
                let error = error.map_or_else(
                    || String::from("-"),
                    |error| format!("{:+.1} {unit}", clean(100.0 * error)),
                );
                let found: Vec<&str> =
                    verdict.findings.iter().map(|finding| finding.reason.code()).collect();
                write!(text, " {error} {} |", found.join(", "))?;
            }
            writeln!(text)?;
        }
    }
    Ok(text)
}

/// Writes the list of seeded mistakes.
fn seeded() -> anyhow::Result<String> {
    let cases: toml::Table = read(&repository().join("tests/formulas/seeded.toml")).parse()?;
    let cases = cases.get("case").and_then(toml::Value::as_array).context("cases")?;
    let forms: toml::Table = read(&repository().join("tests/formulas/forms.toml")).parse()?;
    let forms = forms.get("wrong").and_then(toml::Value::as_array).context("forms")?;
    let mut text = String::from(SEEDED);
    let seeded = cases.iter().map(|case| (case, "wrong"));
    for (case, formula) in seeded.chain(forms.iter().map(|form| (form, "formula"))) {
        let field = |name: &str| case.get(name).and_then(toml::Value::as_str).unwrap_or_default();
        let code = |name: &str| match field(name) {
            "" => String::new(),
            text => format!("`{}`", text.replace('|', "\\|")),
        };
        writeln!(
            text,
            "| {} | {} | {} | {} |",
            field("name"),
            code(formula),
            field("reason"),
            code("right")
        )?;
    }
    Ok(text)
}

const INTRODUCTION: &str = "# Meaning and errors of metric formulas

Written by `cargo run -p xtask -- formulas` from runs of the first 2 million instructions of every committed trace
on the profile `guide`, except where a section says otherwise. A metric is not compared with another count but with
a ground-truth value from the model's own ledger (`n2sim validate --list-truths` prints every value with its
definition). Errors of shares are in percentage points; others are relative to the true value. They are errors of
the formula on this model; the counting biases of the underlying events are those of the guide.
";

const LEVEL_1: &str = "
## Top-down level 1: events against the ledger

The shares of the slots by the metrics of n2sim (`n2sim stat -M TopdownL1`), whose terms are events alone. The table
has the value of the ledger, and the difference in percentage points on r0p3 and on r0p2, which counts a surplus slot
per cycle. `bad_speculation` is the share of squashed operations; `frontend_bound` includes the refill after them.

| metric | trace | ledger | r0p3, pp | r0p2, pp |
| --- | --- | ---: | ---: | ---: |
";

const PUBLISHED: &str = "
## Published top-down level 1

The published formulas move a fixed number of cycles for each mispredicted branch from the front and back end to bad
speculation. The ledger moves the real cost of the refill. Every difference of 0.5 points or more, with its reason:

| metric | trace | value | ledger | pp | reason |
| --- | --- | ---: | ---: | ---: | --- |
";

const SWEEP: &str = "
## When a formula breaks: prefetch and its counting

The error of three metrics on machines that differ in prefetch and in the events that count it. `n2sim validate` does
this for any key: `--sweep memory.prefetch.l1d=true,false`, with `--plot errors.svg` as a figure.

| metric | trace | guide | silicon | no prefetch |
| --- | --- | --- | --- | --- |
";

const SEEDED: &str = "
## Detected mistakes

Formulas with typical mistakes. Tests require that `validate` finds each mistake on a committed trace with this reason
and with no reason outside its list, and that it accepts the correct formula. The last twenty formulas are judged on
every trace, together with twenty correct ones in unusual forms (`tests/formulas/forms.toml`); the correct form in the
table is the one that `validate` offers.

| mistake | formula | reason | right |
| --- | --- | --- | --- |
";
