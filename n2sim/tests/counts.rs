//! Count tables, true and falsified: each falsification is found and its cause is named, true
//! tables raise no alarm, damaged ones are refused with file and line.
//!
//! A table says in comments of its own what must be found:
//! `# options:` of the command line, `# expect:` a finding or `nothing`, `# cause:` of it,
//! `# refused:` a message.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The expected result of a table, from its comments.
struct Expected {
    options: Vec<String>,
    findings: Vec<String>,
    causes: Vec<String>,
    refused: Option<String>,
}

fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/counts");
    let entries = std::fs::read_dir(&folder).expect("tests/counts holds the tables");
    let mut tables: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    tables.sort();
    tables
}

fn expected(table: &Path) -> Expected {
    let text = std::fs::read_to_string(table).expect("a table");
    let all = |key: &str| -> Vec<String> {
        let head = format!("# {key}: ");
        text.lines().filter_map(|line| line.strip_prefix(&head)).map(str::to_owned).collect()
    };
    let mut findings = all("expect");
    let is_true = findings == ["nothing"];
    let refused = all("refused").pop();
    let name = table.display();
    assert!(!findings.is_empty() || refused.is_some(), "{name} says what must be found");
    if is_true {
        findings.clear();
    }
    let options =
        all("options").iter().flat_map(|line| line.split(' ')).map(str::to_owned).collect();
    Expected { options, findings, causes: all("cause"), refused }
}

/// Compares what the program says of a table with what the table says of itself.
fn faults(table: &Path) -> Vec<String> {
    let expected = expected(table);
    let run = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .arg("check")
        .arg(table)
        .args(&expected.options)
        .output()
        .expect("the program runs");
    let (message, error) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let code = match (&expected.refused, expected.findings.is_empty()) {
        (Some(_), _) => 2,
        (None, true) => 0,
        (None, false) => 1,
    };
    let mut faults = Vec::new();
    if run.status.code() != Some(code) {
        faults.push(format!("exit code {:?}, not {code}", run.status.code()));
    }
    if expected.refused.is_some_and(|message| !error.contains(&message)) {
        faults.push(format!("refused with: {error}"));
    }
    for text in expected.findings.iter().chain(&expected.causes) {
        if !message.contains(text.as_str()) {
            faults.push(format!("not reported: {text}"));
        }
    }
    let is_finding = |line: &&str| line.contains(" does not hold: ") || line.contains("doubtful: ");
    let found = message.lines().filter(is_finding).count();
    if found != expected.findings.len() {
        faults.push(format!("{found} findings, {} expected", expected.findings.len()));
    }
    if !faults.is_empty() {
        faults.push(format!("of {}, which message:\n{message}", table.display()));
    }
    faults
}

#[test]
fn every_falsification_is_found_and_true_tables_raise_no_alarm() {
    let tables = tables();
    let count = |head: &str| {
        let is_kind = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(head))
        };
        tables.iter().filter(is_kind).count()
    };
    assert_eq!((count("true-"), count("false-"), count("damaged-")), (16, 26, 7));
    let faults: Vec<String> = tables.iter().flat_map(|table| faults(table)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn scenarios_and_options_of_tables_do_not_mix() {
    let scenario =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios/100-branches.toml");
    let run = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .arg("check")
        .arg(scenario)
        .args(["--extllc", "true"])
        .output()
        .expect("the program runs");
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("in two calls"));
}
