//! `n2sim diff --fail-on`: a change of a program is judged by its counts.

use crate::recording::{Bench, COMPILER, HERE, N2SIM};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LIMITS: [&str; 4] = ["--fail-on", "l1d_cache_refill>+5%", "--fail-on", "cycles>+2%"];

fn compile(stride: &str, bias: &str, program: &Path) {
    let status = Command::new(COMPILER)
        .args(["-O1", "-g", "-ffreestanding", "-nostdlib", "-static", "-no-pie", "-fno-pic"])
        .args(["-fno-stack-protector", "-Wl,--build-id=none"])
        .args([format!("-DSTRIDE={stride}"), format!("-DBIAS={bias}")])
        .arg("-o")
        .arg(program)
        .arg(format!("{HERE}/tests/programs/gate.c"))
        .status()
        .expect("the compiler runs");
    assert!(status.success(), "the test program does not compile");
}

/// Records the program, and writes the report of its run to `folder`.
fn report(folder: &Path, name: &str, stride: &str, bias: &str) -> Option<PathBuf> {
    let bench = Bench::made(|program| compile(stride, bias, program))?;
    bench.record(&[]);
    let path = folder.join(name);
    let program = bench.folder.path().join("program");
    let status = Command::new(N2SIM)
        .args(["report", "--json", "--elf"])
        .args([&program, &bench.trace()])
        .arg("-o")
        .arg(&path)
        .status()
        .expect("n2sim runs");
    assert!(status.success());
    Some(path)
}

fn diff(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(N2SIM)
        .current_dir(folder)
        .arg("diff")
        .args(words)
        .output()
        .expect("n2sim runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

/// Given a base, when one function loads with a larger distance, then the gate is closed and names
/// that function and its line; when a constant changes, it is open.
#[test]
fn a_change_that_misses_more_is_refused_and_its_function_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let Some(_) = report(folder, "base.json", "1", "7") else { return };
    report(folder, "harmless.json", "1", "9").expect("the tools are there");
    report(folder, "worse.json", "8", "7").expect("the tools are there");

    let harmless = [&["base.json", "harmless.json", "--markdown"][..], &LIMITS].concat();
    let (code, text, error) = diff(folder, &harmless);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.starts_with("### n2sim: all 2 limits hold\n"), "{text}");

    let files = ["--junit", "gate.xml", "--sarif", "gate.sarif"];
    let worse = [&["base.json", "worse.json"][..], &LIMITS, &files].concat();
    let (code, text, _) = diff(folder, &[&worse[..], &["--markdown"]].concat());
    assert_eq!(code, Some(1));
    assert!(text.starts_with("### n2sim: 2 of 2 limits are broken\n"), "{text}");
    let place = text.lines().find(|line| line.starts_with("| `walk` |")).expect("the function");
    assert!(!text.contains("`mix`"), "{text}");
    assert!(text.contains("gate.c:9` |") || text.contains("gate.c:10` |"), "{place}: {text}");
    let (_, text, _) = diff(folder, &worse);
    assert!(text.contains("   BROKEN  l1d_cache_refill>+5%: L1D_CACHE_REFILL "), "{text}");
    assert!(text.contains("walk: L1D_CACHE_REFILL "), "{text}");

    let (code, text, _) = diff(folder, &["base.json", "worse.json", "--fail-on", "ipc<-3%"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("walk: cycles "), "{text}");
    let slots = ["base.json", "worse.json", "--fail-on", "slots>+1000"];
    assert_eq!(diff(folder, &slots).0, Some(1), "a name of the slot tree");

    let junit = std::fs::read_to_string(folder.join("gate.xml")).expect("a file");
    assert!(junit.contains("tests=\"2\" failures=\"2\"") && junit.contains("walk: "), "{junit}");
    assert!(junit.contains("name=\"cycles&gt;+2%\""), "{junit}");
    let sarif = std::fs::read_to_string(folder.join("gate.sarif")).expect("a file");
    let sarif: serde_json::Value = serde_json::from_str(&sarif).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&sarif["version"], &result["ruleId"]), (&"2.1.0".into(), &LIMITS[1].into()));
    let place = &result["locations"][0]["physicalLocation"];
    let file = place["artifactLocation"]["uri"].as_str().expect("a file");
    assert!(file.ends_with("gate.c") && place["region"]["startLine"].as_u64() > Some(7), "{place}");
}

#[test]
fn limits_that_cannot_be_judged_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = format!("{HERE}/../traces/hash.n2t");
    let runs = ["--runs", &trace, "--to", "guide", "--limit", "20k"];
    for (limit, message) in [
        ("l1d_cache_refill", "write NAME>+5%"),
        ("nothing>+5%", "--fail-on 'nothing>+5%': the reports have no number 'nothing'"),
        ("cycles>+x%", "'cycles>+x%': write NAME>+5%"),
    ] {
        let (code, text, error) = diff(folder.path(), &[&runs[..], &["--fail-on", limit]].concat());
        assert_eq!((code, text.as_str()), (Some(2), ""), "{limit}: {error}");
        assert!(error.contains(message), "{limit}: {error}");
    }
    let limited = [&runs[..], &["--fail-on", "cycles>+0%", "--junit", "absent/a.xml"]].concat();
    let (code, text, error) = diff(folder.path(), &limited);
    assert_eq!((code, text.as_str()), (Some(2), ""), "{error}");
    let (code, _, error) = diff(folder.path(), &[&runs[..], &["--junit", "a.xml"]].concat());
    assert_eq!(code, Some(2), "{error}");
    let same = [&runs[..], &["--fail-on", "cycles>+0%", "--fail-on", "ipc<-0%", "-j"]].concat();
    let (code, text, error) = diff(folder.path(), &same);
    assert_eq!(code, Some(0), "{error}");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&value["limits"][0]["holds"], &value["limits"][1]["holds"]),
        (&true.into(), &true.into())
    );
}

/// Given a repository with a baseline, when a service runs the gate on a change, then its status
/// and its results are those of the comparison.
#[test]
fn the_gate_of_a_service_records_compares_and_keeps_the_results() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gate = |stride: &str, bias: &str, update: &str| {
        let bench = Bench::made(|program| compile(stride, bias, program))?;
        let output = Command::new(format!("{HERE}/../packaging/gate/gate"))
            .arg("--")
            .arg(bench.folder.path().join("program"))
            .env("N2SIM", N2SIM)
            .env("LIMITS", "l1d_cache_refill>+5%\n\ncycles>+2%")
            .env("UPDATE", update)
            .current_dir(folder.path())
            .output()
            .expect("the script runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Some((output.status.code(), text(output.stdout), text(output.stderr)))
    };
    let Some((code, _, said)) = gate("1", "7", "") else { return };
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no baseline n2sim-baseline.json: run with UPDATE=1"), "{said}");
    let ran = |stride, bias, update| gate(stride, bias, update).expect("the tools are there");
    assert_eq!(ran("1", "7", "1").0, Some(0));
    let (code, text, said) = ran("1", "9", "");
    assert_eq!(code, Some(0), "{said}");
    assert!(text.starts_with("### n2sim: all 2 limits hold\n"), "{text}");
    let (code, text, _) = ran("8", "7", "");
    assert_eq!(code, Some(1));
    assert!(text.starts_with("### n2sim: 2 of 2 limits are broken\n"), "{text}");
    assert!(text.contains("| `walk` |") && text.contains("gate.c:"), "{text}");
    for name in ["new.n2t", "new.json", "summary.md", "gate.xml", "gate.sarif"] {
        assert!(folder.path().join("n2sim-gate").join(name).is_file(), "{name}");
    }
}
