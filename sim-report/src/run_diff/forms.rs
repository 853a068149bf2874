//! Results of limits for other programs: text, Markdown for a comment, JUnit and SARIF for services
//! that run checks.

use std::io::{self, Write};

use maud::{PreEscaped, html};
use serde_json::{Value, json};

use super::limits::{ChangedCode, Checked};
use super::{Number, RunDiff};
use crate::perf_stat::grouped;

fn shown(number: Number) -> String {
    match number {
        Number::Count(count) => grouped(count),
        other => format!("{:.4}", other.as_f64()),
    }
}

fn change(checked: &Checked) -> String {
    let percent = checked.percent.map(|percent| format!(" ({percent:+.2} %)"));
    let (from, to) = (shown(checked.from), shown(checked.to));
    format!("{from} -> {to}{}", percent.unwrap_or_default())
}

fn code(place: &ChangedCode, measure: &str) -> String {
    let (from, to) = (grouped(place.from), grouped(place.to));
    let cause = place.cause.as_ref().map(|cause| format!("; more slots lost to: {cause}"));
    format!("{}: {measure} {from} -> {to}{}", place.name, cause.unwrap_or_default())
}

/// Writes the results after a comparison for people.
///
/// # Errors
/// The output cannot be written.
pub fn write_limits(out: &mut impl Write, all: &[Checked]) -> io::Result<()> {
    writeln!(out, " Limits")?;
    for checked in all {
        let word = if checked.holds { "holds" } else { "BROKEN" };
        writeln!(out, "   {word:<7} {}: {} {}", checked.limit, checked.name, change(checked))?;
        for place in checked.functions.iter().chain(&checked.lines) {
            writeln!(out, "             {}", code(place, &checked.measure))?;
        }
    }
    writeln!(out)
}

/// Writes a summary of a comparison in Markdown: the verdict, the limits, and the code and causes
/// of broken ones.
///
/// # Errors
/// The output cannot be written.
pub fn write_summary(out: &mut impl Write, diff: &RunDiff, all: &[Checked]) -> io::Result<()> {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let broken = all.iter().filter(|checked| !checked.holds).count();
    match (all.is_empty(), broken) {
        (true, _) => writeln!(out, "### n2sim: {} and {}\n", diff.from.name, diff.to.name)?,
        (_, 0) => writeln!(out, "### n2sim: all {} limits hold\n", all.len())?,
        _ => writeln!(out, "### n2sim: {broken} of {} limits are broken\n", all.len())?,
    }
    writeln!(out, "{}\n", diff.verdict)?;
    if !all.is_empty() {
        writeln!(
            out,
            "| limit | result | from | to | change |\n| --- | --- | ---: | ---: | ---: |"
        )?;
    }
    for checked in all {
        let percent = checked.percent.map(|percent| format!("{percent:+.2} %"));
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            cell(&checked.limit),
            if checked.holds { "holds" } else { "**broken**" },
            shown(checked.from),
            shown(checked.to),
            percent.unwrap_or_default()
        )?;
    }
    for checked in all.iter().filter(|checked| !checked.holds) {
        if checked.functions.is_empty() {
            continue;
        }
        let measure = &checked.measure;
        let of = if *measure == checked.name { "" } else { ", of " };
        let measure = if of.is_empty() { "" } else { measure };
        writeln!(out, "\n{} by function and line{of}{measure}\n", checked.name)?;
        writeln!(out, "| code | from | to | more slots lost to |\n| --- | ---: | ---: | --- |")?;
        for place in checked.functions.iter().chain(&checked.lines) {
            let cause = place.cause.as_deref().unwrap_or_default();
            let (from, to) = (grouped(place.from), grouped(place.to));
            writeln!(out, "| `{}` | {from} | {to} | {} |", cell(&place.name), cell(cause))?;
        }
    }
    writeln!(out)
}

fn message(checked: &Checked) -> String {
    let places = checked.functions.iter().chain(&checked.lines);
    let places: Vec<String> = places.map(|place| code(place, &checked.measure)).collect();
    let lines = [vec![format!("{} {}", checked.name, change(checked))], places].concat();
    lines.join("\n")
}

/// Returns the results as JUnit XML: a test case for each limit.
pub fn junit(all: &[Checked]) -> String {
    let failures = all.iter().filter(|checked| !checked.holds).count();
    let body = html! {
        testsuite name="n2sim diff" tests=(all.len()) failures=(failures) errors="0" skipped="0" {
            @for checked in all {
                testcase classname="n2sim.diff" name=(checked.limit) {
                    @if !checked.holds {
                        failure message=(change(checked)) type="limit" { (message(checked)) }
                    }
                }
            }
        }
    };
    let head = PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    html! { (head) (body) }.into_string() + "\n"
}

/// Returns the broken limits as SARIF 2.1.0, at the source lines, or the functions, that moved.
pub fn sarif(all: &[Checked], version: &str) -> Value {
    let rule = |checked: &Checked| {
        json!({
            "id": checked.limit,
            "shortDescription": { "text": format!("limit {}", checked.limit) },
        })
    };
    let result = |checked: &Checked| {
        let lines = checked.lines.iter().filter_map(|place| place.line.as_ref());
        let physical = lines.map(|place| {
            json!({ "physicalLocation": {
                "artifactLocation": { "uri": place.file },
                "region": { "startLine": place.line },
            } })
        });
        let mut locations: Vec<Value> = physical.collect();
        if locations.is_empty() {
            let functions = checked.functions.iter().map(
                |place| json!({ "logicalLocations": [{ "name": place.name, "kind": "function" }] }),
            );
            locations = functions.collect();
        }
        json!({
            "ruleId": checked.limit,
            "level": "error",
            "message": { "text": message(checked) },
            "locations": locations,
        })
    };
    let broken = all.iter().filter(|checked| !checked.holds);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "n2sim",
                "version": version,
                "rules": all.iter().map(rule).collect::<Vec<_>>(),
            } },
            "results": broken.map(result).collect::<Vec<_>>(),
        }],
    })
}
