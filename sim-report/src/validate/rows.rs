//! Verdicts in machine-readable form: one line for each metric and run, as CSV or as a JSON object.

use std::io::{self, Write};

use serde_json::json;
use sim_metrics::Truth;
use sim_metrics::validator::Verdict;

use super::{Judged, Judgment, RunInfo};

/// Writes one line for each metric and run, after a line of column names.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, judgment: &Judgment, separator: &str) -> io::Result<()> {
    let columns = [
        "metric",
        "run",
        "standing",
        "claims",
        "unit",
        "value",
        "truth",
        "difference",
        "on_r0p2",
        "on_r0p3",
        "on_six_counters",
        "of_multiplexing",
        "reasons",
        "missing",
        "formula",
        "corrected",
        "corrected_value",
        "doubt",
    ];
    writeln!(out, "{}", columns.join(separator))?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for one in &judgment.metrics {
        for verdict in &one.verdicts {
            let reasons: Vec<&str> =
                verdict.findings.iter().map(|finding| finding.reason.code()).collect();
            let fields = [
                one.metric.clone(),
                verdict.trace.clone(),
                verdict.status.word().to_owned(),
                verdict.truth.map_or_else(String::new, |truth| truth.name().to_owned()),
                verdict.truth.map_or_else(String::new, |truth| truth.unit().to_string()),
                number(verdict.value),
                number(verdict.real),
                number(verdict.difference()),
                number(verdict.on_erratum),
                number(verdict.on_sound),
                number(verdict.on_six),
                number(verdict.multiplexing()),
                reasons.join(" "),
                missing(one, verdict).unwrap_or_default().to_owned(),
                one.formula.clone(),
                verdict.corrected.clone().unwrap_or_default(),
                number(verdict.corrected_value),
                verdict.doubt.unwrap_or_default().to_owned(),
            ];
            writeln!(out, "{}", fields.map(|field| quoted(&field, separator)).join(separator))?;
        }
    }
    Ok(())
}

/// Returns what prevents a verdict: a formula that cannot be read, or missing data.
fn missing<'a>(one: &'a Judged, verdict: &'a Verdict) -> Option<&'a str> {
    one.unreadable.as_deref().or(verdict.missing.as_deref())
}

/// Quotes a field that contains the separator, a quote or a line break.
fn quoted(field: &str, separator: &str) -> String {
    if field.contains(separator) || field.contains(['"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Writes one JSON object for each metric and run, each on one line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, judgment: &Judgment) -> io::Result<()> {
    for one in &judgment.metrics {
        if let Some(why) = &one.unreadable {
            let object = json!({"metric": one.metric, "formula": one.formula, "unreadable": why});
            writeln!(out, "{object}")?;
        }
        for (number, verdict) in one.verdicts.iter().enumerate() {
            writeln!(out, "{}", object(one, verdict, judgment.runs.get(number)))?;
        }
    }
    Ok(())
}

/// Returns a verdict with the data that it was computed from.
fn object(one: &Judged, verdict: &Verdict, run: Option<&RunInfo>) -> serde_json::Value {
    let reasons = verdict.findings.iter().map(|finding| {
        let (code, words) = (finding.reason.code(), finding.reason.to_string());
        json!({"reason": code, "words": words, "shift": finding.shift})
    });
    let common = one
        .common
        .iter()
        .map(|reason| json!({"reason": reason.code(), "words": reason.to_string(), "shift": null}));
    let counts: serde_json::Map<String, serde_json::Value> =
        verdict.counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    let hash = |hash: fn(&RunInfo) -> u64| run.map(|run| format!("{:016x}", hash(run)));
    json!({
        "metric": one.metric,
        "formula": one.formula,
        "scale": one.scale,
        "source": one.source,
        "run": verdict.trace,
        "trace_hash": hash(|run| run.trace_hash),
        "config": run.map(|run| &run.config),
        "config_hash": hash(|run| run.config_hash),
        "standing": verdict.status.word(),
        "claims": verdict.truth.map(Truth::name),
        "unit": verdict.truth.map(|truth| truth.unit().to_string()),
        "value": verdict.value,
        "truth": verdict.real,
        "difference": verdict.difference(),
        "relative": verdict.relative(),
        "counts": counts,
        "on_r0p2": verdict.on_erratum,
        "on_r0p3": verdict.on_sound,
        "on_six_counters": verdict.on_six,
        "of_multiplexing": verdict.multiplexing(),
        "missing": missing(one, verdict),
        "doubt": verdict.doubt,
        "reasons": reasons.chain(common).collect::<Vec<_>>(),
        "corrected": verdict.corrected,
        "corrected_value": verdict.corrected_value,
        "alarm": verdict.alarms() || one.common.is_some(),
    })
}
