//! `n2sim counterfactual`, the ideals as configuration keys, and `n2sim trace kernels`.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

fn trace() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/btree.n2t").display().to_string()
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

/// Rows of `-x ;`: name and cycles.
fn rows(text: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(';').collect();
        assert_eq!(fields.len(), 7, "{line}");
        (fields[0].to_owned(), fields[1].parse().unwrap())
    };
    text.lines().map(row).collect()
}

/// Cycles of a run with these overrides.
fn cycles(overrides: &[&str]) -> u64 {
    let trace = trace();
    let mut args = vec!["stat", &trace, "--limit", "30k", "-e", "cpu_cycles", "-x", ";"];
    overrides.iter().for_each(|text| args.extend(["--set", text]));
    printed(&args).split(';').next().unwrap().parse().unwrap()
}

#[test]
fn each_row_is_the_run_that_its_configuration_key_gives() {
    let trace = trace();
    let text = printed(&["stat", &trace, "--limit", "30k", "--counterfactual", "-x", ";"]);
    let rows = rows(&text);
    let of = |name: &str| rows.iter().find(|(own, _)| own == name).unwrap().1;
    for (name, overrides) in [
        ("none", &[][..]),
        ("beyond-l1", &["memory.ideal.data=beyond-l1"]),
        ("translation", &["memory.ideal.translation=true"]),
        ("prediction", &["pipeline.branch.direction=perfect"]),
        ("fetch", &["pipeline.ideal.fetch=true"]),
        ("window", &["pipeline.ideal.window=true"]),
        ("latency", &["pipeline.ideal.latency=true"]),
    ] {
        assert_eq!(of(name), cycles(overrides), "{name}");
    }
    assert!(of("beyond-l1") < of("none") && of("all") < of("beyond-l1"), "{text}");
    assert!(rows.iter().any(|(name, _)| name.contains('+')), "pairs were run: {text}");
}

#[test]
fn text_and_json_say_the_same() {
    let trace = trace();
    let args = ["stat", trace.as_str(), "--limit", "30k", "--counterfactual"];
    let text = printed(&args);
    let json = printed(&[&args[..], &["-j"]].concat());
    for line in json.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(row["cycles"].is_u64() && row["saved-percent"].is_f64(), "{line}");
    }
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["ideal"], "none");
    let row = text.lines().find(|line| line.contains("nothing (as modeled)")).unwrap();
    let found: String = row.chars().filter(char::is_ascii_digit).collect();
    assert!(found.starts_with(&first["cycles"].to_string()), "{row}");
}

#[test]
fn what_has_no_cycles_is_refused() {
    let output = n2sim(&["stat", &trace(), "--mode", "memory", "--counterfactual"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("unexpected argument '--mode'"), "{message}");
    let output = n2sim(&["stat", &trace(), "--set", "memory.ideal.data=l1"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("beyond-l1"), "{message}");
}

#[test]
fn kernels_are_traces_that_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    let text = printed(&["trace", "kernels", &place]);
    assert_eq!(text.lines().count(), 11, "{text}");
    let kernel = folder.path().join("multiply-chain.n2t").display().to_string();
    let args = ["stat", &kernel, "--roi", "40,41", "-e", "cpu_cycles", "-x", ";"];
    let cycles: u64 = printed(&args).split(';').next().unwrap().parse().unwrap();
    let expected = 4_000 * 16 * 2;
    assert!(cycles.abs_diff(expected) < 200, "64,000 multiplications of two cycles: {cycles}");
}

/// A share of memory-bound slots is held against what a run without memory saves, on request.
#[test]
fn a_formula_is_held_against_either_truth() {
    let trace = trace();
    let formula =
        ["--formula", "stall_slot_backend / stall_slot", "--claims", "share.memory_bound"];
    let judged = |truth: &str| {
        let args = ["validate", trace.as_str(), "--limit", "30k", "-j", "--truth", truth];
        let text = printed(&[&args[..], &formula[..]].concat());
        let row: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        row["truth"].as_f64().unwrap()
    };
    let saved = 1.0
        - cycles(&["memory.ideal.data=beyond-l1", "memory.ideal.translation=true"]) as f64
            / cycles(&[]) as f64;
    let (ledger, counterfactual) = (judged("ledger"), judged("counterfactual"));
    assert!((counterfactual - saved).abs() < 1e-6, "{counterfactual} is not {saved}");
    assert!((ledger - counterfactual).abs() > 1e-6, "another run, another number");
}
