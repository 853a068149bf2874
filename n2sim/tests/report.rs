//! `n2sim report --json` as a user meets it: its numbers are those of `n2sim stat`.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs the program; gives its exit code, what it printed and what it said.
fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    let (printed, said) = (text(output.stdout), text(output.stderr));
    assert!(!said.contains("panicked"), "{said}");
    (code, printed, said)
}

fn trace(name: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    top.join(format!("traces/{name}.n2t")).display().to_string()
}

fn report(args: &[&str]) -> Value {
    let (code, printed, said) = run(&[&["report", "--json"], args].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&printed).unwrap()
}

/// The JSON lines of `n2sim stat`.
fn stat(args: &[&str]) -> Vec<Value> {
    let (code, printed, said) = run(&[&["stat", "--json"], args].concat());
    assert_eq!(code, 0, "{said}");
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(row: &Value) -> u64 {
    row["counter-value"].as_str().unwrap().parse::<f64>().unwrap() as u64
}

#[test]
fn every_count_is_that_of_stat() {
    let path = trace("atomics");
    for machine in [&["--profile", "silicon"][..], &["--set", "core.revision=r0p1"]] {
        let args = [&[&*path, "--warmup", "5k", "--limit", "30k"], machine].concat();
        let (report, rows) = (report(&args), stat(&args));
        let events = report["events"].as_array().unwrap();
        assert_eq!(events.len(), rows.len());
        for (event, row) in events.iter().zip(&rows) {
            assert_eq!(event["perf_name"], row["event"]);
            assert_eq!(event["count"], count(row), "{}", event["event"]);
        }
        let by_thread = stat(&[&args[..], &["--per-thread"]].concat());
        let of_thread = events.iter().flat_map(|event| event["by_thread"].as_array().unwrap());
        let counted: Vec<u64> = of_thread.map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(counted, by_thread.iter().map(count).collect::<Vec<u64>>());
    }
}

#[test]
fn metrics_and_functions_are_those_of_stat() {
    let args = [&*trace("hash"), "--limit", "60k"];
    let report = report(&args);
    let rows = stat(&[&args[..], &["-M", "ipc,backend_bound,l1d_mpki", "--no-multiplex"]].concat());
    for name in ["ipc", "backend_bound", "l1d_mpki"] {
        let is_own = |row: &&Value| {
            let unit = row["metric-unit"].as_str().unwrap_or_default();
            unit.ends_with(&format!(" {name}"))
        };
        let row = rows.iter().find(is_own).unwrap();
        let printed: f64 = row["metric-value"].as_str().unwrap().parse().unwrap();
        let metrics = report["metrics"].as_array().unwrap();
        let own = metrics.iter().find(|metric| metric["metric"] == name).unwrap();
        assert!((own["value"].as_f64().unwrap() - printed).abs() < 1e-3, "{own} {row}");
    }
    let rows = stat(&[&args[..], &["--per-function", "-e", "cycles"]].concat());
    // A function that only an abandoned path met has counts, but no time.
    let cycles: Vec<u64> = rows.iter().map(count).filter(|cycles| *cycles > 0).collect();
    let functions = report["code"]["functions"].as_array().unwrap();
    let mut reported: Vec<u64> =
        functions.iter().map(|own| own["cost"]["cycles"].as_u64().unwrap()).collect();
    reported.retain(|cycles| *cycles > 0);
    reported.sort_unstable_by_key(|cycles| std::cmp::Reverse(*cycles));
    assert_eq!(reported, cycles);
}

#[test]
fn wrong_use_is_reported_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json").display().to_string();
    for args in [
        &["report"][..],
        &["report", "--json", "nowhere.n2t", "-o", &file],
        &["report", "--json", &trace("hash"), "--roi", "1", "-o", &file],
        &["report", "--json", &trace("hash"), "--limit", "0", "-o", &file],
        &["report", "--json", &trace("hash"), "--warmup", "1G", "--limit", "1k", "-o", &file],
        &["report", "--json", &trace("hash"), "--elf", "/dev/null", "-o", &file],
        &["report", "--json", &trace("hash"), "--limit", "1k", "-o", "/nowhere/report.json"],
        &["report", "--json", &trace("hash"), "--mux-interval", "-1ms", "-o", &file],
        &["report", "--schema", &trace("hash")],
    ] {
        let (code, printed, said) = run(args);
        assert_eq!((code, &*printed), (2, ""), "{args:?}: {said}");
        assert!(said.len() > 20, "{args:?}: {said}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{args:?}");
    }
}
