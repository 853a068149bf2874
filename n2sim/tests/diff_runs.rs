//! `n2sim diff` of two runs: what changed, with size and sign, the same in every form.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn trace(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name);
    path.display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty() && !message.contains("panicked"), "{args:?}: {message}");
    message
}

/// Exact counts of a run, by perf's names.
fn counts(trace: &str, profile: &str) -> BTreeMap<String, u64> {
    let lines = printed(&["stat", trace, "--limit", "30k", "-j", "--profile", profile]);
    let count = |line: &str| {
        let row: Value = serde_json::from_str(line).ok()?;
        let value = row["counter-value"].as_str()?.parse::<f64>().ok()? as u64;
        Some((row["event"].as_str()?.to_owned(), value))
    };
    lines.lines().filter_map(count).collect()
}

fn section<'a>(diff: &'a Value, id: &str) -> &'a Vec<Value> {
    let sections = diff["sections"].as_array().unwrap();
    let found = sections.iter().find(|section| section["id"] == id);
    found.unwrap_or_else(|| panic!("no {id}"))["changes"].as_array().unwrap()
}

#[test]
fn two_configurations_differ_by_what_stat_counts_under_each() {
    let trace = trace("btree.n2t");
    let args = ["diff", "--runs", &trace, "--limit", "30k"];
    let diff: Value = serde_json::from_str(&printed(&[&args[..], &["-j"]].concat())).unwrap();
    let (guide, silicon) = (counts(&trace, "guide"), counts(&trace, "silicon"));
    assert_eq!(guide.len(), 147);
    let mut changed = 0;
    let events = section(&diff, "events");
    for (event, from) in &guide {
        let to = silicon[event];
        let message = events.iter().find(|change| change["id"] == event.to_uppercase());
        let expected = i128::from(to) - i128::from(*from);
        match message {
            None => assert_eq!(expected, 0, "{event}"),
            Some(change) => {
                assert_eq!(change["change"].as_i64().map(i128::from), Some(expected), "{event}");
                assert_eq!(change["from"].as_u64(), Some(*from), "{event}");
                changed += 1;
            }
        }
    }
    assert!(changed > 0 && changed == events.len());
    the_page_has_the_same_numbers(&args, &diff);
}

fn the_page_has_the_same_numbers(args: &[&str], diff: &Value) {
    let page = printed(&[args, &["--html"]].concat());
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("http://") && page.len() < 5 << 20
    );
    for change in section(diff, "events") {
        let (name, by) = (change["id"].as_str().unwrap(), change["change"].as_i64().unwrap());
        let row = page.split("<tr>").find(|row| row.contains(&format!("#event-{name}\"")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        let row = row.split("</tr>").next().unwrap();
        assert!(row.contains(&format!("data-value=\"{by}\"")), "{name} {by}: {row}");
        assert_eq!(page.matches(&format!("id=\"event-{name}\"")).count(), 1, "{name}");
    }
    let text = printed(args);
    assert!(text.lines().all(|line| line.chars().count() <= 96), "{text}");
    for change in section(diff, "run") {
        assert!(text.contains(change["name"].as_str().unwrap()), "{change}: {text}");
    }
}

#[test]
fn a_report_differs_in_nothing_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json").display().to_string();
    printed(&["report", &trace("hash.n2t"), "--limit", "20k", "--json", "-o", &path]);
    let diff: Value = serde_json::from_str(&printed(&["diff", &path, &path, "-j"])).unwrap();
    for part in diff["sections"].as_array().unwrap() {
        assert_eq!(part["changes"], Value::Array(Vec::new()), "{}", part["id"]);
    }
    assert!(diff["sections"][0]["unchanged"].as_u64() > Some(0));
    assert!(printed(&["diff", &path, &path]).contains(" 0 numbers changed"));
    // A trace beside a report of it, under the same configuration: nothing but the way it was
    // named.
    let args = ["diff", &path, &trace("hash.n2t"), "--limit", "20k"];
    assert!(printed(&args).contains(" 0 numbers changed"));
}

#[test]
fn two_traces_are_compared_by_rates_too() {
    let (a, b) = (trace("hash.n2t"), trace("btree.n2t"));
    let args = ["diff", "--runs", &a, &b, "--limit", "10k", "-j"];
    let diff: Value = serde_json::from_str(&printed(&args)).unwrap();
    assert_eq!(diff["settings"][0]["name"], "trace");
    let all = section(&diff, "events").len();
    let large: Value =
        serde_json::from_str(&printed(&[&args[..], &["--min-change", "15"]].concat())).unwrap();
    let kept = section(&large, "events");
    assert!(kept.len() < all && !kept.is_empty());
    let small = |change: &Value| change["percent"].as_f64().is_some_and(|p| p.abs() < 15.0);
    assert!(!kept.iter().any(small));
    for change in section(&diff, "run") {
        let sign = |value: &Value| value.as_f64().unwrap_or(0.0).partial_cmp(&0.0);
        assert_eq!(sign(&change["change"]), sign(&change["percent"]), "{change}");
    }
}

#[test]
fn a_report_of_version_1_equals_the_same_report_of_version_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (new, old) = (path("new.json"), path("old.json"));
    printed(&["report", &trace("hash.n2t"), "--limit", "300k", "--json", "-o", &new]);
    let mut text = std::fs::read_to_string(&new).unwrap();
    for (name, before) in [
        ("n2sim-report/2", "n2sim-report/1"),
        ("squashed_by_branch", "behind_branch"),
        ("squashed_other", "thrown_away"),
        ("\"squashed\"", "\"thrown_away\""),
        ("frontend.idle", "frontend.no_work"),
    ] {
        assert!(text.contains(name), "{name}");
        text = text.replace(name, before);
    }
    std::fs::write(&old, text).unwrap();
    assert!(printed(&["diff", &old, &new]).contains(" 0 numbers changed"));
}

#[test]
fn a_file_that_is_not_a_report_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = folder.path().join("good.json").display().to_string();
    printed(&["report", &trace("hash.n2t"), "--limit", "2k", "--json", "-o", &good]);
    let text = std::fs::read_to_string(&good).unwrap();
    let cut = file("cut.json", &text[..text.len() / 2]);
    let other = file("other.json", &text.replacen("n2sim-report/2", "n2sim-report/9", 1));
    let object = file("object.json", "{}");
    let deep = file("deep.json", &"{\"a\":".repeat(100_000));
    for wrong in [&cut, &other, &object, &deep] {
        assert!(refused(&["diff", wrong, &good]).contains(wrong.as_str()));
        assert!(refused(&["diff", &good, wrong]).contains(wrong.as_str()));
    }
    let empty = file("empty.json", "");
    assert!(refused(&["diff", &good, &empty]).contains("empty.json"));
    assert!(refused(&["diff", &good]).contains("second report"));
    assert!(refused(&["diff", &good, &good, &good]).contains("3 files"));
    assert!(refused(&["diff", &good, &good, "--limit", "5"]).contains("--limit"));
    assert!(refused(&["diff", &good, &good, "-x", ";", "--html"]).contains("cannot be used with"));
    let summary = printed(&["diff", &good, &good, "--markdown"]);
    assert!(summary.starts_with("### n2sim: ") && summary.contains("same number of cycles"));
    assert!(refused(&["diff", &good, "/nowhere/b.json"]).contains("/nowhere/b.json"));
}

#[test]
fn a_comparison_begins_with_its_verdict_and_names_units_and_shares() {
    let trace = trace("btree.n2t");
    let args = ["diff", "--runs", &trace, "--limit", "30k"];
    let text = printed(&args);
    let verdict = text.lines().position(|line| line.starts_with(" The second run takes ")).unwrap();
    let first = text.lines().position(|line| line.starts_with(" The run")).unwrap();
    assert!(verdict < first, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("more cycles (7,945 -> 12,664). It loses more rename slots to \""),
        "{text}"
    );
    assert!(!text.contains(".. "), "no name is cut: {text}");
    assert!(text.contains("Rename slots (top-down) "), "{text}");
    assert!(text.contains(" % of slots") && text.contains("->"), "{text}");
    assert!(text.contains("Functions (slots)"), "{text}");
    let time = text.lines().find(|line| line.starts_with(" modeled time")).unwrap();
    assert!(time.contains(" us "), "{time}");
    let page = printed(&[&args[..], &["--html"]].concat());
    assert!(page.contains("The second run takes ") && page.contains("Share of slots, from"));
    assert!(!page.contains(">1 numbers of this part"));
}

#[test]
fn separated_values_have_every_number_of_the_json_form() {
    let trace = trace("btree.n2t");
    let args = ["diff", "--runs", &trace, "--limit", "10k"];
    let table = printed(&[&args[..], &["-x", ";"]].concat());
    let diff: Value = serde_json::from_str(&printed(&[&args[..], &["-j"]].concat())).unwrap();
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("section;id;name;unit;from;to;change;"), "{table}");
    let changes: usize = diff["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["changes"].as_array().unwrap().len())
        .sum();
    assert_eq!(lines.clone().count(), changes);
    assert!(lines.all(|line| line.split(';').count() == 11), "{table}");
    for change in section(&diff, "slots") {
        let share =
            change["to"].as_f64().unwrap() / section(&diff, "slots")[0]["to"].as_f64().unwrap();
        let message = change["to_share"].as_f64().unwrap();
        assert!((message - share * 100.0).abs() < 1e-9, "{change}");
    }
}
