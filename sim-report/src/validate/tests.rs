//! The tables, pages and lines of verdicts.

use serde_json::json;

use super::*;

fn verdict(trace: &str, value: f64, status: ValidationStatus) -> Verdict {
    Verdict {
        trace: trace.to_owned(),
        status,
        truth: Some(Truth::L1dMissRatio),
        real: Some(0.10),
        value: Some(value),
        on_erratum: Some(value),
        on_sound: Some(value),
        on_six: Some(value + 0.02),
        missing: None,
        doubt: None,
        counts: vec![("L1D_CACHE".to_owned(), 12_345.0)],
        corrected: Some("A / B".to_owned()),
        corrected_value: Some(0.0999),
        findings: vec![Finding { reason: Reason::InFlight, shift: Some(0.1 - value) }],
        rest: None,
    }
}

fn judged() -> Judgment {
    let verdicts = vec![
        verdict("traces/a.n2t", 0.09, ValidationStatus::Off),
        verdict("traces/b.n2t run.seed=2", 0.04, ValidationStatus::Off),
        verdict("traces/c,d.n2t", 0.10, ValidationStatus::Right),
    ];
    let runs = verdicts.iter().map(|verdict| RunInfo {
        name: verdict.trace.clone(),
        trace_hash: 0xABC,
        config: "neoverse-n2.toml".to_owned(),
        config_hash: 0xDEF,
    });
    let runs = runs.collect();
    let metric = Judged {
        metric: "l1d".to_owned(),
        formula: "L1D_CACHE_REFILL / L1D_CACHE".to_owned(),
        scale: "100percent".to_owned(),
        verdicts,
        ..Judged::default()
    };
    let command = "n2sim validate traces/a.n2t".to_owned();
    let version = "0.1.0".to_owned();
    Judgment { metrics: vec![metric], runs, command, version, ..Judgment::default() }
}

fn written(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("text")
}

#[test]
fn the_worst_case_is_named_with_its_error() {
    let text = written(|out| write_summary(out, &judged()));
    let row = text.lines().nth(1).expect("a row");
    for part in
        ["l1d.miss_ratio", "-6.00 pp", "4.00 %", "10.00 %", "b.n2t run.seed=2", "in-flight (3)"]
    {
        assert!(row.contains(part), "{part} in {row}");
    }
    assert!(text.contains("waits for a pending line"), "the meaning of the code");
    let text = written(|out| write_markdown(out, &judged()));
    assert!(text.contains("| `l1d` | `l1d.miss_ratio` | 1 | 2 | -6.00 pp |"), "{text}");
}

/// Checks that the text contains the data that a bug report needs.
#[test]
fn every_form_has_formula_counts_hashes_and_correction() {
    let markdown = written(|out| write_markdown(out, &judged()));
    for part in [
        "    L1D_CACHE_REFILL / L1D_CACHE [100percent]",
        "* **Right is** `A / B`",
        "| a.n2t | 9.00 % | 10.00 % | -1.00 pp | in-flight (-1.00 pp) | L1D_CACHE 12,345 |",
        "* **in-flight** (`l1d`): an access that waits",
        "    n2sim validate traces/a.n2t",
        "| a.n2t | 0000000000000abc | neoverse-n2.toml | 0000000000000def |",
    ] {
        assert!(markdown.contains(part), "{part} in {markdown}");
    }
    let text = written(|out| write_summary(out, &judged()));
    for part in ["right is: A / B", "L1D_CACHE 12,345", "trace 0000000000000abc"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = written(|out| write_json(out, &judged()));
    let first: serde_json::Value =
        serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["formula"], "L1D_CACHE_REFILL / L1D_CACHE");
    assert_eq!(first["counts"]["L1D_CACHE"], 12_345.0);
    assert_eq!(
        (&first["trace_hash"], &first["corrected"]),
        (&json!("0000000000000abc"), &json!("A / B"))
    );
    assert!((first["relative"].as_f64().expect("a number") + 0.1).abs() < 1e-9);
}

/// The error of multiplexing is separate from the error of the formula and is not a reason.
#[test]
fn the_error_of_multiplexing_has_a_separate_column() {
    let text = written(|out| write_runs(out, &judged()));
    let row = text.lines().nth(1).expect("a row");
    assert!(row.contains("+2.00 pp") && !text.contains("multiplexing"), "{text}");
}

#[test]
fn a_metric_with_missing_data_has_no_verdict() {
    let mut judgment = judged();
    judgment.metrics[0].verdicts.truncate(1);
    judgment.runs.truncate(1);
    let verdict = &mut judgment.metrics[0].verdicts[0];
    verdict.status = ValidationStatus::Missing;
    verdict.missing = Some("give the lists".to_owned());
    verdict.findings.clear();
    type Form = fn(&mut Vec<u8>, &Judgment) -> io::Result<()>;
    let forms: [Form; 3] = [write_runs, write_summary, write_markdown];
    for write in forms {
        let text = written(|out| write(out, &judgment));
        assert!(text.contains("no verdict: give the lists"), "{text}");
        assert!(!text.contains("in-flight") && !text.contains("9.00 %"), "{text}");
    }
    assert!(!judgment.metrics[0].alarms());
}

type Form = fn(&mut Vec<u8>, &Judgment) -> io::Result<()>;
const CSV: Form = |out, judgment| write_csv(out, judgment, ";");

#[test]
fn every_form_marks_a_doubtful_verdict() {
    let mut judgment = judged();
    for verdict in &mut judgment.metrics[0].verdicts {
        verdict.status = ValidationStatus::Doubtful;
        verdict.doubt = Some("no SVE accesses");
        verdict.findings.clear();
    }
    for write in [write_runs, write_summary, write_markdown, write_json, CSV] {
        let text = written(|out| write(out, &judgment));
        assert!(text.contains("doubtful") && text.contains("no SVE accesses"), "{text}");
    }
    assert!(judgment.metrics[0].is_doubtful() && !judgment.metrics[0].alarms());
}

#[test]
fn an_unreadable_formula_is_listed_separately_with_its_fault() {
    let mut judgment = judged();
    let one = &mut judgment.metrics[0];
    one.unreadable = Some("column 4: a value is missing".to_owned());
    one.formula.clear();
    for verdict in &mut one.verdicts {
        verdict.status = ValidationStatus::NoValue;
        verdict.findings.clear();
    }
    for write in [write_runs, write_summary, write_markdown, CSV] {
        let text = written(|out| write(out, &judgment));
        assert!(text.contains("column 4: a value is missing"), "{text}");
        assert!(!text.contains("that are off") && !text.contains("### `l1d`"), "{text}");
    }
}

/// One of the runs does not offer the correction, which is farther from the true value there.
#[test]
fn a_correction_that_is_nearer_in_some_runs_only_is_not_called_right() {
    let mut judgment = judged();
    for (number, verdict) in judgment.metrics[0].verdicts.iter_mut().enumerate() {
        verdict.findings = vec![Finding { reason: Reason::Multiple(2.0), shift: None }];
        if number == 2 {
            verdict.corrected = None;
        }
    }
    let text = written(|out| write_summary(out, &judgment));
    assert!(text.contains("nearer in 2 of 3 runs: A / B (9.99 % in b.n2t run.seed=2)"), "{text}");
    let text = written(|out| write_markdown(out, &judgment));
    assert!(text.contains("* **Nearer in 2 of 3 runs** `A / B`"), "{text}");
}

#[test]
fn machine_readable_forms_have_every_run() {
    let text = written(|out| write_csv(out, &judged(), ","));
    assert_eq!(text.lines().count(), 4);
    assert!(text.lines().nth(3).expect("the third run").contains("\"traces/c,d.n2t\""));
    let text = written(|out| write_json(out, &judged()));
    let first: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["reasons"][0]["reason"], "in-flight");
    assert_eq!(
        (first["claims"].as_str(), first["alarm"].as_bool()),
        (Some("l1d.miss_ratio"), Some(true))
    );
    let text = written(|out| write_runs(out, &judged()));
    assert!(text.contains("in-flight (-1.00 pp)"), "{text}");
}

#[test]
fn a_value_is_in_the_unit_of_its_truth() {
    assert_eq!(value_text(Some(Truth::Ipc), Some(1.5)), "1.500");
    assert_eq!(value_text(Some(Truth::BytesRead), Some(1234567.0)), "1,234,567");
    assert_eq!(value_text(Some(Truth::BytesRead), Some(-3.0)), "-3");
    assert_eq!(value_text(None, None), "-");
    for (value, text) in [
        (3e-7, "3.000e-7"),
        (0.0, "0.000"),
        (0.0314159, "0.03142"),
        (0.19, "0.1900"),
        (1000.0, "1000.000"),
        (2e16, "2.000e16"),
    ] {
        assert_eq!(value_text(None, Some(value)), text);
    }
    assert_eq!(value_text(Some(Truth::BytesRead), Some(0.25)), "0.2500", "a ratio");
    assert_eq!(value_text(Some(Truth::BytesRead), Some(2e16)), "2.000e16");
}
