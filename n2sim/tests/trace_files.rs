//! `n2sim trace` as a user meets it: looking into traces, cutting, merging, recovering and mapping
//! them.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A committed trace of a real program.
fn trace() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    path.display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs the program, demands success, gives what it printed.
fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs the program, demands exit code 2 and no output, gives the message.
fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{args:?}");
    let message = stderr(&output);
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn file_with(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_trace_can_be_looked_into() {
    let trace = trace();
    assert!(printed(&["trace", "info", &trace]).contains("hash"));
    assert!(printed(&["trace", "verify", &trace]).ends_with("  intact\n"));
    let dump = printed(&["trace", "dump", &trace, "--start", "10", "--count", "5"]);
    let insts =
        dump.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(insts.count(), 5, "{dump}");
    assert!(refused(&["trace", "dump", &trace, "--stream", "77"]).contains("no stream 77"));
}

#[test]
fn a_part_of_a_trace_can_be_kept_and_parts_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (trace, first, second, both) = (trace(), file("1.n2t"), file("2.n2t"), file("both.n2t"));
    printed(&["trace", "slice", &trace, "--count", "1000", "-o", &first]);
    printed(&["trace", "slice", &trace, "--start", "1k", "--count", "1k", "-o", &second]);
    let text = printed(&["trace", "merge", "--as", "parts", &first, &second, "-o", &both]);
    assert!(text.contains("2000 instructions"), "{text}");
    let verified = printed(&["trace", "verify", &both]);
    assert!(verified.contains("1 gaps") && verified.ends_with("  intact\n"), "{verified}");
    // Positions differ by the slice's start, lines by nothing else.
    let lines = |trace: &str, start: &str| -> Vec<String> {
        let text = printed(&["trace", "dump", trace, "--start", start, "--count", "9"]);
        text.lines().map(|line| line.trim_start().split_once(' ').unwrap().1.to_owned()).collect()
    };
    assert_eq!(lines(&trace, "1500"), lines(&second, "500"));
    let message = refused(&["trace", "slice", &first, "--start", "1k", "-o", &both]);
    assert!(message.contains("the trace has no instructions 1000 and later"), "{message}");
    let message = refused(&["trace", "merge", "--as", "rows", &first, &second, "-o", &both]);
    assert!(message.contains("parts, threads"), "{message}");
    let message = refused(&["trace", "merge", "--as", "parts", &first, &second, "-o", &first]);
    assert!(message.contains("give another file"), "{message}");
}

#[test]
fn the_good_part_of_a_cut_trace_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(trace()).unwrap();
    let cut = folder.path().join("cut.n2t").display().to_string();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let message = refused(&["stat", &cut]);
    assert!(message.contains("n2sim trace recover"), "{message}");

    let good = folder.path().join("good.n2t").display().to_string();
    let text = printed(&["trace", "recover", &cut, "-o", &good]);
    assert!(text.contains("cut.n2t: chunk "), "{text}");
    let counts = printed(&["stat", &good, "-x,", "-e", "inst_retired", "--limit", "1k"]);
    assert!(counts.starts_with("1000,,inst_retired,"), "{counts}");
    assert!(refused(&["trace", "repack", &good, "-o", &good]).contains("give another file"));
    assert!(printed(&["trace", "verify", &good]).ends_with("  intact\n"));
}

#[test]
fn a_trace_can_be_given_a_page_map() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mapped.n2t").display().to_string();
    let bad = file_with(&folder, "bad.csv", "0x400000,4096,0,shared\n");
    let message = refused(&["trace", "map", &trace(), &bad, "-o", &out]);
    assert!(
        message.contains(&format!("{bad}: no page map: line 1: unknown attribute")),
        "{message}"
    );
    let good = "granule,16384\n0x400000,16384,0x80000000,execute # code\n";
    let good = file_with(&folder, "good.csv", good);
    printed(&["trace", "map", &trace(), &good, "-o", &out]);
    let info = printed(&["trace", "info", &out]);
    assert!(info.contains("page map      1 entries, 16384 bytes mapped, granule 16384"), "{info}");
    let message = refused(&["stat", &out]);
    assert!(message.contains("run it with --set memory.pages.page-bytes=16384"), "{message}");
    let set = ["stat", &out, "--limit", "1000", "--set", "memory.pages.page-bytes=16384"];
    assert!(printed(&set).contains("inst_retired"));
}

/// The smallest committed trace.
fn atomics() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/atomics.n2t")
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.n2t");
    let bytes = std::fs::read(atomics()).unwrap();
    std::fs::write(&own, &bytes).unwrap();
    let own = own.display().to_string();
    let ways: [&[&str]; 13] = [
        &["stat", &own, "-o", &own],
        &["stat", &own, "--perf-data", &own],
        &["stat", &own, "-x,", "-o", &own],
        &["report", &own, "-o", &own],
        &["report", &own, "-j", "-o", &own],
        &["event-bus", &own, "-o", &own],
        &["record", &own, "-o", &own],
        &["pipeline", &own, "--window", "0..100", "-o", &own],
        &["flow", &own, "-o", &own],
        &["validate", &own, "-o", &own],
        &["validate", &own, "--plot", &own],
        &["diff", &own, "-o", &own],
        &["trace", "repack", &own, "-o", &own],
    ];
    for way in ways {
        let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(way).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{way:?}: {message}");
        assert!(message.contains("give another file to write"), "{way:?}: {message}");
        assert!(std::fs::read(&own).unwrap() == bytes, "{way:?} changed its input");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{way:?} left something");
    }
}

#[test]
fn a_name_that_is_no_text_is_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.n2t"));
    std::fs::copy(atomics(), &own).unwrap();
    let data = folder.path().join(std::ffi::OsStr::from_bytes(b"\xfe.data"));
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .args(["stat", "--limit", "100", "--perf-data"])
        .args([&data, &own])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(data.is_file());
}

#[test]
fn code_of_the_current_folder_is_never_taken_for_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("target/release");
    std::fs::create_dir_all(&release).unwrap();
    std::fs::write(release.join("libsim_capture.so"), "not ours").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .arg("doctor")
        .current_dir(folder.path())
        .env_remove("N2SIM_PLUGIN")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(message.contains("plugin"), "{message}");
    assert!(!message.contains(&folder.path().display().to_string()), "{message}");
}
