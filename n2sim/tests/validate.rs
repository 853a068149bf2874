//! `n2sim validate` and `n2sim lint` as a project's CI uses them: exit codes, tables that programs read.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn n2sim(args: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.current_dir(root).args(args).output().expect("the program runs")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

/// A validation of one formula on the start of a trace.
fn judged(formula: &str, claims: &str, more: &[&str]) -> Output {
    let base = ["validate", "traces/sort.n2t", "--limit", "50k", "--formula", formula];
    n2sim(&[&base[..], &["--claims", claims], more].concat())
}

/// A file of this test's own, gone when the test is.
struct OwnFile(PathBuf);

impl OwnFile {
    fn new(name: &str, text: &str) -> OwnFile {
        let path = std::env::temp_dir().join(format!("n2sim-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        OwnFile(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_right_formula_passes_and_a_wrong_one_fails() {
    let right = judged("INST_RETIRED / CPU_CYCLES", "ipc", &["--tolerance", "0.1"]);
    assert_eq!(code(&right), Some(0), "{right:?}");
    let wrong = judged("CPU_CYCLES / INST_RETIRED", "ipc", &["--tolerance", "0.1", "-j"]);
    assert_eq!(code(&wrong), Some(1), "{wrong:?}");
    let rows = objects(&wrong);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["standing"], "off");
    assert_eq!(rows[0]["reasons"][0]["reason"], "dimension");
}

#[test]
fn the_tolerance_decides_and_only_if_it_is_stated() {
    let formula = "L1D_CACHE_REFILL / INST_RETIRED * 1000";
    let exit = |more: &[&str]| code(&judged(formula, "l1d.mpki", more));
    assert_eq!(exit(&[]), Some(0));
    assert_eq!(exit(&["--tolerance", "0.1"]), Some(1));
    assert_eq!(exit(&["--tolerance", "1000"]), Some(0));
}

#[test]
fn wrong_input_is_told_with_its_place() {
    for (output, told) in [
        (judged("1 +", "ipc", &[]), "--formula"),
        (judged("INST_RETIRED", "luck", &[]), "luck"),
        (n2sim(&["validate", "/dev/null"]), "/dev/null"),
        (n2sim(&["validate", "traces/sort.n2t", "-M", "luck"]), "luck"),
        (n2sim(&["validate", "traces/sort.n2t", "--tolerance", "-1"]), "--tolerance"),
        (n2sim(&["validate", "traces/sort.n2t", "--metrics", "no-such-file"]), "no-such-file"),
        (n2sim(&["lint", "no-such-file"]), "no-such-file"),
    ] {
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), Some(2), "{words}");
        assert!(words.contains(told), "{words}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn lint_finds_without_a_run_what_is_wrong() {
    let good = n2sim(&["lint", "--formula", "INST_RETIRED / CPU_CYCLES", "-j"]);
    assert_eq!(code(&good), Some(0), "{good:?}");
    let wrong = n2sim(&["lint", "--formula", "INST_RETIRED / UOPS_ISSUED", "-j"]);
    assert_eq!(code(&wrong), Some(1), "{wrong:?}");
    let findings = objects(&wrong);
    assert!(findings.iter().any(|finding| finding["severity"] == "error"), "{findings:?}");
    assert!(findings.iter().all(|finding| finding["message"].is_string()));
}

#[test]
fn both_take_a_file_and_every_form_of_table_is_complete() {
    let file = OwnFile::new(
        "own.json",
        r#"[{"MetricName": "ipc", "MetricExpr": "INST_RETIRED / CPU_CYCLES", "ScaleUnit": "1per cycle"},
            {"MetricName": "loads", "MetricExpr": "LD_SPEC / INST_SPEC", "ScaleUnit": "100%"}]"#,
    );
    assert_eq!(code(&n2sim(&["lint", "--quiet", file.path()])), Some(0));
    let base = ["validate", "traces/hash.n2t", "--limit", "20k", "--metrics", file.path()];
    for form in [&["-j"][..], &["-x", ";"], &["--markdown"], &["--runs"]] {
        let output = n2sim(&[&base[..], form].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(code(&output), Some(0), "{output:?}");
        assert!(text.contains("ipc") && text.contains("loads"), "{form:?}: {text}");
    }
}
