//! `n2sim stat --mode`: every output says what a part of the machine does not count, and none says
//! 0.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::Command;

fn n2sim(args: &[&str]) -> (i32, String, String) {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/btree.n2t");
    let args: Vec<&str> = ["stat", trace.to_str().unwrap()].iter().chain(args).copied().collect();
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(&args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the standard output and the messages of a successful run of a part.
fn printed(mode: &str, args: &[&str]) -> (String, String) {
    let args = [&["--mode", mode, "--limit", "50k"], args].concat();
    let (code, out, message) = n2sim(&args);
    assert_eq!(code, 0, "{args:?}: {message}");
    (out, message)
}

#[test]
fn a_mode_says_first_what_it_does_not_give() {
    let (_, message) = printed("memory", &[]);
    assert!(
        message.contains("# mode memory: TLBs, caches and memory in program order"),
        "{message}"
    );
    let missing = message.lines().find(|line| line.starts_with("# not given: ")).unwrap();
    assert!(missing.contains("; branches; ") && missing.contains("; pipeline stalls; "));
    let (_, message) = printed("full", &[]);
    assert!(!message.contains("# mode"), "{message}");
}

#[test]
fn what_is_not_given_is_not_zero() {
    let (short, _) = printed("memory", &[]);
    assert!(!short.contains("stall_") && !short.contains(" retiring"), "left out: {short}");
    assert!(short.contains(" l1d_mpki"), "{short}");
    let (text, _) = printed("memory", &["--all"]);
    let rows = text.lines().filter(|line| line.contains("stall") || line.contains("br_"));
    for line in rows.filter(|line| !line.contains("PMU guide")) {
        assert!(line.contains("<not supported>"), "{line}");
    }
    assert!(text.contains("<not supported> seconds time elapsed"), "{text}");
    let (csv, _) = printed("memory", &["-x,", "-e", "cycles,instructions,l1d_cache"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("<not supported>,,cycles,"), "{csv}");
    assert!(lines[1].starts_with("50000,,instructions,"), "{csv}");
    assert!(lines[2].ends_with("doubtful: correct path only"), "{csv}");
}

#[test]
fn json_names_the_mode_with_every_count() {
    let (json, _) = printed("memory", &["-j", "-e", "cycles,l1d_cache_refill", "--per-thread"]);
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["mode"] == "memory"), "{json}");
    assert_eq!(rows[0]["counter-value"], "<not supported>");
    assert_eq!(rows[1]["doubt"], "correct path only, simple clock");
    let (json, _) = printed("full", &["-j", "-e", "cycles"]);
    assert!(!json.contains("mode"), "{json}");
}

#[test]
fn a_metric_of_what_is_not_given_has_no_value() {
    let (text, message) = printed("memory", &["-M", "ipc,l1d_miss_ratio"]);
    let line = |name: &str| text.lines().rev().find(|line| line.contains(name)).unwrap();
    assert!(line(" ipc").trim_start().starts_with("nan "), "{text}");
    assert!(!line("l1d_miss_ratio").contains("nan"), "{text}");
    assert!(line("l1d_miss_ratio").contains("doubtful: correct path only"), "{text}");
    assert!(message.contains("ipc has no value"), "{message}");
}

#[test]
fn what_needs_time_or_the_pipeline_is_refused() {
    for options in [
        &["--stalls"][..],
        &["-I", "1"],
        &["--prefetch"],
        &["--truth", "-e", "r11"],
        &["--perf-data", "/dev/null"],
    ] {
        let (code, out, message) = n2sim(&[&["--mode", "memory"], options].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{options:?}");
        let wanted = format!("{} needs --mode full: in --mode memory ", options[0]);
        assert!(message.contains(&wanted), "{options:?}: {message}");
    }
    for job in [&["--jobs", "2"][..], &["--plan", "-e", "r11"], &["--per-function"]] {
        let (code, _, message) = n2sim(&[&["--mode", "memory"], job].concat());
        assert_eq!(code, 2, "{job:?}");
        assert!(message.contains("unexpected argument '--mode'"), "{job:?}: {message}");
    }
}

#[test]
fn the_front_end_alone_predicts_and_fetches_and_touches_no_data() {
    let events = "br_mis_pred_retired,br_retired,l1i_cache,l2d_cache_rd,l2d_cache,l1d_cache,cycles";
    let (csv, message) = printed("frontend", &["-x,", "-e", events]);
    assert!(
        message.contains("# mode frontend: prediction and fetch in program order"),
        "{message}"
    );
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with("(doubtful: correct path only)"), "{csv}");
    assert!(lines[1].starts_with(|first: char| first.is_ascii_digit()), "{csv}");
    assert!(lines[3].ends_with("doubtful: instruction fetches only"), "{csv}");
    assert!(lines[4..].iter().all(|line| line.starts_with("<not supported>")), "{csv}");
    let (code, _, message) = n2sim(&["--mode", "frontend", "--stalls"]);
    assert!(
        code == 2 && message.contains("in --mode frontend there are no rename slots"),
        "{message}"
    );
}
