//! The page of `n2sim playground`: one file that needs nothing else, and in a browser the counts of
//! the program.
//!
//! The last needs Chromium, its driver and Python's selenium; without them it has nothing to ask
//! and passes. With `N2SIM_TOOLS=required`, as in CI, it fails. A compiler without WebAssembly
//! builds no page, and there is nothing to test; `rustup target add wasm32-unknown-unknown`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use sim_playground::Playground;

/// Largest page in bytes.
const MOST_BYTES: usize = 3_000_000;
/// Traces whose counts are compared, and the instructions of each thread.
const TRACES: [(&str, u64); 3] = [("matrix", 100_000), ("search", 100_000), ("atomics", 20_000)];

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().expect("n2sim starts")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn are_tools_required() -> bool {
    std::env::var_os("N2SIM_TOOLS").is_some_and(|value| value == "required")
}

/// Returns the page, or `None` if the compiler could not build the model.
fn page() -> Option<String> {
    let written = n2sim(&["playground"]);
    if written.status.success() {
        return Some(String::from_utf8(written.stdout).expect("a page is text"));
    }
    let said = String::from_utf8_lossy(&written.stderr).into_owned();
    assert!(said.contains("rustup target add wasm32-unknown-unknown"), "{said}");
    assert_eq!(written.status.code(), Some(2));
    assert!(!has_target(), "the compiler has the target, and the build left the model out");
    None
}

/// Returns whether the compiler has the standard library for WebAssembly.
fn has_target() -> bool {
    let folder = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"])
        .output()
        .expect("a compiler");
    Path::new(String::from_utf8_lossy(&folder.stdout).trim()).is_dir()
}

#[test]
fn the_page_is_one_file_that_needs_no_network() {
    let Some(page) = page() else { return };
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for wrong in ["/* STYLE */", "/* MODEL */", "/* DATA */", "/* SCRIPTS */", "https://", "fetch("]
    {
        assert!(!page.contains(wrong), "the page has {wrong}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_one_sentence() {
    if page().is_none() {
        return;
    }
    let refused = n2sim(&["playground", "-o", "missing/play.html"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("there is no directory missing"), "{said}");
}

/// A trace of several threads, with events that take turns.
const SHARED: &str = r#"
title        = "Turns of two threads"
minutes      = 5
level        = "advanced"
text         = "x"
trace        = "atomics.n2t"
instructions = 20000
counters     = 2
interval     = 1

[[question]]
ask    = "Estimate?"
metric = "estimate.INST_RETIRED"
why    = "{estimate.L1D_CACHE} {estimate.L1D_CACHE_REFILL} {estimate.BR_RETIRED} of {BR_RETIRED}"
"#;

/// Returns the answer and the explanation of each question, by `course --check`.
fn answers_of_kit(folder: &Path, name: &str, text: &str) -> Vec<(Value, Value)> {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("the lesson");
    let printed = n2sim(&["course", "--json", "--check", &file.display().to_string()]);
    assert!(printed.status.success(), "{name}: {}", String::from_utf8_lossy(&printed.stderr));
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let solved = printed["solved"].as_array().expect("answers").iter();
    solved.map(|one| (one["shown"].clone(), one["why"].clone())).collect()
}

#[test]
fn the_page_and_the_kit_give_the_same_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = repository().join("traces");
    let mut playground = Playground::default();
    std::fs::copy(traces.join("atomics.n2t"), folder.path().join("atomics.n2t")).expect("a copy");
    for trace in ["matrix.n2t", "interp.n2t", "atomics.n2t"] {
        playground.set_trace(std::fs::read(traces.join(trace)).expect("a committed trace"));
        let kept = playground.answer(&json!({"ask": "keep", "name": trace}).to_string());
        assert!(kept.contains("\"ok\""), "{kept}");
    }
    let mut ok = |request: Value| -> Value {
        let answer: Value =
            serde_json::from_str(&playground.answer(&request.to_string())).expect("JSON");
        assert!(answer.get("error").is_none(), "{request}: {answer}");
        answer["ok"].clone()
    };
    let lessons = sim_course::LESSONS.iter().copied().chain([("shared.toml", SHARED)]);
    for (file, text) in lessons {
        let kit = answers_of_kit(folder.path(), file, text);
        assert!(!kit.is_empty(), "{file}");
        for (question, (shown, why)) in kit.into_iter().enumerate() {
            let request = json!({"ask": "guess", "name": file, "text": text, "question": question});
            let given_up = ok(request);
            assert_eq!(
                (&given_up["truth"], &given_up["why"]),
                (&shown, &why),
                "{file}: {question}"
            );
        }
    }
}

#[test]
fn the_page_and_the_kit_read_typed_answers_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = [
        ("02-line", 2, "1/8", true),
        ("02-line", 2, "12.5%", true),
        ("02-line", 2, "12.5 %", true),
        ("02-line", 2, "0,125", false),
        ("01-first-touch", 3, "the L1 D-cache", true),
        ("01-first-touch", 3, "L2 cache", false),
        ("02-line", 0, "8/1", true),
        ("02-line", 0, "0,008", false),
        ("03-set-conflict", 1, "B", true),
    ];
    let mut playground = Playground::default();
    for (lesson, question, typed, is_right) in answers {
        let request = json!({"ask": "guess", "name": lesson, "question": question, "typed": typed});
        let judged: Value =
            serde_json::from_str(&playground.answer(&request.to_string())).expect("JSON");
        assert_eq!(judged["ok"]["right"], json!(is_right), "page: {lesson}: {typed}: {judged}");
        let sheet = folder.path().join("sheet.toml");
        let number = question + 1;
        let text = format!("student = \"Ada\"\n[{lesson}]\nanswer{number} = \"{typed}\"\n");
        std::fs::write(&sheet, text).expect("a sheet");
        let graded = n2sim(&["course", "--json", "--grade", &sheet.display().to_string()]);
        let graded: Value = serde_json::from_slice(&graded.stdout).expect("JSON");
        assert_eq!(
            graded["points"],
            json!(u64::from(is_right)),
            "kit: {lesson}: {typed}: {graded}"
        );
    }
}

/// Returns the exact counts of a trace by `stat --all`.
fn counts_of_stat(trace: &Path, limit: u64) -> BTreeMap<String, u64> {
    let limit = limit.to_string();
    let trace = trace.display().to_string();
    let printed = n2sim(&["stat", "--all", "-j", "--limit", &limit, &trace]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let text = String::from_utf8(printed.stdout).expect("text");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let name = row["event"].as_str().expect("a name").to_uppercase();
        let value = row["counter-value"].as_str().expect("a number").parse::<f64>();
        (name, value.expect("a number") as u64)
    };
    text.lines().map(row).collect()
}

/// Returns what the page must answer: requests and answers, and counts of traces.
fn expected() -> Value {
    let mut playground = Playground::default();
    let mut checks = Vec::new();
    let folder = repository().join("tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("scenarios")
        .map(|entry| entry.expect("it").path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("text");
        if text.contains("\ncore = ") {
            continue;
        }
        let request = json!({"ask": "check", "file": name, "text": text});
        let answer: Value =
            serde_json::from_str(&playground.answer(&request.to_string())).expect("JSON");
        assert!(answer.get("error").is_none(), "{name}: {answer}");
        checks.push(json!({"request": request, "answer": answer["ok"]}));
    }
    let traces: Vec<Value> = TRACES
        .into_iter()
        .map(|(name, limit)| {
            let path = repository().join("traces").join(format!("{name}.n2t"));
            let counts = counts_of_stat(&path, limit);
            assert_eq!(counts.len(), 147, "stat --all has every event");
            json!({"path": path, "limit": limit, "counts": counts})
        })
        .collect();
    json!({"checks": checks, "traces": traces})
}

#[test]
fn a_browser_counts_what_the_program_counts() {
    let has = |program: &str, argument: &str| {
        Command::new(program).arg(argument).output().is_ok_and(|done| done.status.success())
    };
    let python = "/usr/bin/python3";
    let has_selenium = Command::new(python)
        .args(["-c", "import selenium"])
        .output()
        .is_ok_and(|done| done.status.success());
    let is_ready = has_selenium && has("chromium", "--version") && has("chromedriver", "--version");
    if !is_ready {
        assert!(!are_tools_required(), "apt-get install chromium-driver python3-selenium");
        return;
    }
    let Some(page) = page() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (file, wanted) = (folder.path().join("play.html"), folder.path().join("expected.json"));
    std::fs::write(&file, page).expect("the page");
    std::fs::write(&wanted, expected().to_string()).expect("the answers");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browse_playground.py");
    let done = Command::new(python).arg(script).arg(&file).arg(&wanted).output().expect("python");
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}
