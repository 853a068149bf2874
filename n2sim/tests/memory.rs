//! `--max-memory`: what does not fit is refused in one sentence.

#![allow(missing_docs)]

use std::path::Path;
use std::process::{Command, Output};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/matrix.n2t");

const REPORT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/over-the-limit.html");

fn n2sim(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(words).output().expect("the program runs")
}

#[test]
fn a_replay_over_the_limit_is_refused_with_needed_size_limit_and_option() {
    for words in [
        &["stat", TRACE, "--limit", "1k", "--max-memory", "300k"][..],
        &["--max-memory=300k", "report", TRACE, "-o", REPORT],
        &["trace", "verify", TRACE, "--max-memory", "20k"],
    ] {
        let output = n2sim(words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.contains("of memory in total, the limit is"), "{words:?}: {message}");
        assert!(message.ends_with("raise it with --max-memory\n"), "{words:?}: {message}");
        assert!(output.stdout.is_empty());
    }
    assert!(!Path::new(REPORT).exists(), "nothing half-written stays");
}

#[test]
fn a_replay_within_the_limit_runs() {
    let output = n2sim(&["stat", TRACE, "--limit", "1k", "--max-memory", "100M"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_memory_at_all_is_no_limit_that_can_be_given() {
    let output = n2sim(&["stat", TRACE, "--max-memory", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("such as 500M or 4G"));
}
