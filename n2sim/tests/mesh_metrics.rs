//! Metrics of the mesh as a user meets them: computed, checked without a run, and validated.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::process::Command;

use serde_json::Value;

const READERS: &str = "traces/parallel/readers_adjacent.n2t";

/// Runs the program; gives its exit code, what it printed and what it said.
fn run(args: &[&str]) -> (i32, String, String) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    let output = command.current_dir(root).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (printed, said) = (text(output.stdout), text(output.stderr));
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code().unwrap(), printed, said)
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A file in the form of Linux' and one in the form of Arm's, with entries of this test's own.
struct Files {
    _folder: tempfile::TempDir,
    linux: String,
    arm: String,
    broken: String,
}

impl Files {
    fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        let with = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let linux = with(
            "linux.json",
            r#"[{"MetricName": "slc_miss_rate", "MetricExpr": "hnf_cache_miss / hnf_slc_sf_cache_access",
                 "ScaleUnit": "100%", "Unit": "arm_cmn", "MetricGroup": "cmn"},
                {"MetricName": "mc_message_retry_rate", "MetricExpr": "hnf_mc_retries / hnf_mc_reqs",
                 "ScaleUnit": "100%", "Unit": "arm_cmn", "MetricGroup": "cmn"}]"#,
        );
        let arm = with(
            "arm.json",
            r#"{"product_configuration": {"product_name": "A mesh", "minor_revision": "0"},
                "events": {"SYS_FREQUENCY": {}},
                "metrics": {"cmn_bw_peer_cpu_cache":
                    {"formula": "forwards * 64 * SYS_FREQUENCY", "units": "Bytes per second"}},
                "components": {"HNF": {"metrics": {"forwards":
                    {"formula": "PMU_HNF_SNP_FWDED / SYS_CMN_CYCLES * 1000", "units": "Snoops per 1K clks"}}}}}"#,
        );
        let broken = with("broken.json", r#"{"components": {"HNF": {"metrics": "#);
        Files { _folder: folder, linux, arm, broken }
    }
}

#[test]
fn stat_computes_metrics_of_the_mesh() {
    let args = ["stat", READERS, "-M", "Mesh,ipc", "-j"];
    let (code, printed, said) = run(&args);
    assert_eq!(code, 0, "{said}");
    let value = |name: &str| -> f64 {
        let is_named = |row: &&Value| row["metric-unit"].as_str().unwrap_or("").ends_with(name);
        let rows = objects(&printed);
        let row = rows.iter().find(is_named).unwrap_or_else(|| panic!("{name}"));
        row["metric-value"].as_str().unwrap().parse().unwrap()
    };
    let parts = ["mesh_from_slc", "mesh_from_cores", "mesh_from_memory"].map(value);
    assert!((parts.iter().sum::<f64>() - 100.0).abs() < 1e-9, "{parts:?}");
    assert!(parts.iter().all(|part| *part > 1.0), "{parts:?}");
    let lines = value("mesh_lines_to_cores");
    assert_eq!(lines.fract(), 0.0);
    assert!(value("ipc") > 0.0, "metrics of cores and of the mesh in one run");
    assert!(
        said.contains("PMU_HNF_POCQ_RETRY is always 0: a home node takes any number"),
        "{said}"
    );
    let (_, limited, _) = run(&[&args[..], &["--set", "memory.slc.queue-entries=2"]].concat());
    let rows = objects(&limited);
    let retries =
        rows.iter().find(|row| row["metric-unit"].as_str().unwrap_or("").contains("retry"));
    let retries: f64 = retries.unwrap()["metric-value"].as_str().unwrap().parse().unwrap();
    assert!(retries > 0.0, "{limited}");
}

#[test]
fn built_in_metrics_of_the_mesh_agree_with_the_machine() {
    let traces = ["queue", "samplesort", "readers_adjacent"];
    let traces = traces.map(|name| format!("traces/parallel/{name}.n2t"));
    let mut args = vec!["validate", "-M", "Mesh", "-j", "--tolerance", "0.1", "--points", "0.05"];
    args.extend(traces.iter().map(String::as_str));
    let (code, printed, said) = run(&args);
    let rows = objects(&printed);
    // 1: home nodes accept every request here, so that the retry ratio has no verdict.
    assert_eq!((code, rows.len()), (1, 10 * traces.len()), "{printed} {said}");
    for row in rows {
        let (metric, standing) = (&row["metric"], row["standing"].as_str().unwrap());
        let expected = if metric == "mesh_retry_ratio" { "no verdict" } else { "right" };
        assert_eq!(standing, expected, "{row} {said}");
    }
}

#[test]
fn published_metrics_have_a_verdict_or_the_reason_for_none() {
    let files = Files::new();
    let args = ["validate", READERS, "--metrics", &files.linux, "--metrics", &files.arm, "-j"];
    let (code, printed, said) = run(&args);
    assert_eq!(code, 0, "{said}");
    let rows = objects(&printed);
    let of = |name: &str| rows.iter().find(|row| row["metric"] == name).unwrap();
    assert_eq!(of("slc_miss_rate")["standing"], "right");
    assert_eq!(of("slc_miss_rate")["claims"], "mesh.slc.miss_ratio");
    let missing = of("mc_message_retry_rate")["missing"].as_str().unwrap();
    assert!(missing.contains("never raises arm_cmn_0/hnf_mc_retries/"), "{missing}");
    let bandwidth = of("cmn_bw_peer_cpu_cache");
    assert_eq!(bandwidth["standing"], "off");
    assert_eq!(bandwidth["reasons"][0]["reason"], "unit-factor");
    let (value, truth) =
        (bandwidth["value"].as_f64().unwrap(), bandwidth["truth"].as_f64().unwrap());
    assert!((value / truth - 1000.0).abs() < 1.0, "{value} {truth}");
    let (_, text, _) = run(&args[..args.len() - 1]);
    assert!(text.contains("GB/s"), "{text}");
}

#[test]
fn writes_that_memory_sends_back_have_a_verdict() {
    let files = Files::new();
    let mut args = vec!["validate", READERS, "--metrics", &files.linux, "-j"];
    for set in [
        "memory.slc.queue-entries=4",
        "memory.dram.write-entries=1",
        "memory.slc.slice-bytes=1024",
        "memory.slc.ways=2",
        "memory.dram.channels=1",
        "memory.dram.line-cycles=32",
    ] {
        args.extend(["--set", set]);
    }
    let (_, printed, said) = run(&args);
    let rows = objects(&printed);
    let row = rows.iter().find(|row| row["metric"] == "mc_message_retry_rate").unwrap();
    assert_eq!(row["claims"], "mesh.memory.sent_back_ratio", "{said}");
    assert_eq!(row["standing"], "right", "{row} {said}");
    assert!(row["truth"].as_f64().unwrap() > 0.0, "{row}");
}

#[test]
fn the_unit_is_checked_without_a_run() {
    let files = Files::new();
    let (code, printed, _) = run(&["lint", &files.arm, "-q"]);
    assert_eq!(code, 1);
    let fault = "cmn_bw_peer_cpu_cache: error [unit-factor]: it adds 64000 bytes for each";
    assert!(printed.contains(fault) && printed.contains("1000 times too much"), "{printed}");
    assert_eq!(run(&["lint", &files.linux, "-q"]).0, 0);
    let (code, printed, _) = run(&["lint", "--formula", "PMU_HNF_CACHE_MIS / SYS_CMN_CYCLES"]);
    assert_eq!((code, printed.contains("PMU_HNF_CACHE_MISS")), (1, true), "{printed}");
    assert!(run(&["list", "metrics"]).1.contains("mesh_slc_miss_ratio"));
    assert!(run(&["validate", "--list-truths"]).1.contains("mesh.supply.slc"));
}

#[test]
fn what_has_no_counts_of_the_mesh_says_so() {
    let files = Files::new();
    let refused: [(&[&str], &str); 8] = [
        (&["stat", READERS, "-M", "mesh_slc_mis_ratio"], "no metric or group is called"),
        (&["stat", READERS, "-M", "Mesh", "--per-thread"], "--per-thread has no metric"),
        (&["stat", READERS, "-M", "Mesh", "--mode", "memory"], "--mode memory has no metric"),
        (&["stat", READERS, "-M", "Mesh", "-I", "1"], "cannot be used with"),
        (&["stat", READERS, "-M", "x", "--metrics", &files.broken], "broken.json: EOF"),
        (&["validate", READERS, "--metrics", &files.broken], "broken.json: EOF"),
        (&["plan", READERS, "-M", "Mesh"], "plan has no metric"),
        (&["estimate", READERS, "-M", "Mesh", "--jobs", "2"], "estimate has no metric"),
    ];
    for (args, message) in refused {
        let (code, _, said) = run(args);
        assert!(code == 2 && said.contains(message), "{args:?}: {code} {said}");
    }
    let alone = "has one thread: the mesh serves one core, and none shares lines";
    let one = ["traces/hash.n2t", "-M", "Mesh", "--limit", "20k"];
    for command in ["stat", "validate"] {
        let (code, _, said) = run(&[&[command], &one[..]].concat());
        assert!(code == 0 && said.contains(alone), "{command}: {said}");
    }
}
