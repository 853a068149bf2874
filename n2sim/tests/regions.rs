//! Windows that stand for a trace, and chunks of one, on the command line.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

fn trace(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name).display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> (String, String) {
    let output = n2sim(args);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {told}");
    (String::from_utf8(output.stdout).unwrap(), told)
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
    assert!(!told.contains("panicked"), "{told}");
    assert_eq!(output.stdout, b"", "{args:?}");
    told
}

/// A file of windows of the trace, in a folder of its own.
fn windows(folder: &tempfile::TempDir, name: &str) -> String {
    let file = folder.path().join("windows.toml").display().to_string();
    let options =
        ["--interval", "10k", "--windows", "20", "--warmup", "10k", "--functional-warmup", "50k"];
    let trace = trace(name);
    let args = [&["trace", "regions", &trace, "-o", &file][..], &options[..]].concat();
    let (told, _) = printed(&args);
    assert!(told.contains(" windows of ") && told.contains("10,000 each to warm up"), "{told}");
    file
}

#[test]
fn windows_are_run_in_all_forms_of_stat() {
    let folder = tempfile::tempdir().unwrap();
    let (file, trace) = (windows(&folder, "lz.n2t"), trace("lz.n2t"));
    let (text, told) = printed(&["stat", &trace, "--regions", &file]);
    assert!(text.contains("% )\n") && text.contains("  ( +-"), "{text}");
    assert!(told.contains("note: estimated from "), "{told}");
    let (csv, _) =
        printed(&["stat", &trace, "--regions", &file, "-x,", "-e", "cycles,instructions"]);
    let fields: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(fields[1][..4], ["5335524", "", "instructions", "0.00%"], "{csv}");
    assert!(fields[0][3].ends_with('%') && fields[0][3] != "0.00%", "{csv}");
    let json = ["stat", &trace, "--regions", &file, "-j", "-M", "ipc", "-e", "cycles"];
    let (json, _) = printed(&json);
    assert!(json.contains("\"event\" : \"cycles\"") && json.contains("\"variance\" : "), "{json}");
    let args = ["stat", &trace, "--regions", &file, "-j"];
    assert_eq!(printed(&args).0, printed(&args).0, "the same each time");
}

#[test]
fn chunks_are_counted_together() {
    let trace = trace("matrix.n2t");
    let (csv, told) = printed(&["stat", &trace, "--jobs", "2", "-x,", "-e", "instructions"]);
    assert!(csv.starts_with("8897235,,instructions,"), "{csv}");
    assert!(told.contains("counted in 2 parts"), "{told}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lz, matrix) = (windows(&folder, "lz.n2t"), trace("lz.n2t"), trace("matrix.n2t"));
    let told = refused(&["stat", &matrix, "--regions", &file]);
    assert!(
        told.contains("these windows are of ") && told.contains("n2sim trace regions"),
        "{told}"
    );
    let text = std::fs::read_to_string(&file).unwrap();
    let broken = folder.path().join("broken.toml").display().to_string();
    for (damaged, expected) in [
        (text.replacen("length = ", "length = 99999999", 1), "window 1: "),
        (text.replacen("warmup", "warm-up", 1), "unknown field `warm-up`"),
        (text[..text.len() / 2].to_owned(), "broken.toml: "),
        (String::new(), "missing field"),
        (String::from("\u{0}"), "it is no text"),
    ] {
        std::fs::write(&broken, damaged).unwrap();
        let told = refused(&["stat", &lz, "--regions", &broken]);
        assert!(told.contains(expected), "{told}");
    }
    let told = refused(&["stat", &lz, "--regions", "/nowhere.toml"]);
    assert!(told.contains("/nowhere.toml: the windows cannot be read"), "{told}");
    for more in [["--limit", "1k"], ["--jobs", "2"], ["-I", "1"]] {
        let told = refused(&[&["stat", &lz, "--regions", &file][..], &more[..]].concat());
        assert!(told.contains("cannot be used with"), "{told}");
    }
    refused(&["stat", &lz, "--jobs", "0"]);
    let told = refused(&["stat", &trace("atomics.n2t"), "--jobs", "2"]);
    assert!(told.contains("2 threads have instructions"), "{told}");
    let out = folder.path().join("x.toml").display().to_string();
    let told = refused(&["trace", "regions", &lz, "-o", &out, "--interval", "1"]);
    assert!(told.contains("give longer ones"), "{told}");
    assert!(!Path::new(&out).exists(), "nothing is left behind");
    let told = refused(&["trace", "regions", &lz, "-o", &lz]);
    assert!(told.contains("give another file to write"), "{told}");
}

/// `stat` of a trace in windows.
fn count(trace: &str, file: &str, more: &[&str]) -> (String, String) {
    printed(&[&["stat", trace, "--regions", file, "-x,", "-e", "cycles"][..], more].concat())
}

#[test]
fn windows_begin_in_the_states_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let (file, trace) = (windows(&folder, "lz.n2t"), trace("lz.n2t"));
    let states = folder.path().join("windows.states");
    assert!(std::fs::read(&states).unwrap().starts_with(b"N2STATES"));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\nstates = \"windows.states\"\n"), "{text}");
    let (in_states, told) = count(&trace, &file, &[]);
    assert!(!told.contains("lesson"), "{told}");
    let lessons = folder.path().join("lessons.toml").display().to_string();
    std::fs::write(&lessons, text.replace("states = \"windows.states\"\n", "")).unwrap();
    let (behind_lessons, _) = count(&trace, &lessons, &[]);
    assert_ne!(in_states, behind_lessons, "the states are used");
    // Another reorder buffer begins in the same states, another L2 does not.
    let (_, told) = count(&trace, &file, &["--set", "pipeline.window.rob=64"]);
    assert!(!told.contains("lesson"), "{told}");
    let (_, told) = count(&trace, &file, &["--set", "memory.l2.size-bytes=524288"]);
    assert!(told.contains("windows.states: taken on another machine"), "{told}");
    assert!(told.contains("behind a lesson"), "{told}");
}

#[test]
fn states_are_left_out_on_request_and_where_no_file_can_stand_beside() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lz) = (folder.path().join("a.toml"), trace("lz.n2t"));
    let shown = file.display().to_string();
    printed(&["trace", "regions", &lz, "-o", &shown, "--no-states"]);
    let files = || folder.path().read_dir().unwrap().count();
    assert_eq!(files(), 1, "the windows alone");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("states ="));
    let (text, told) = printed(&["trace", "regions", &lz, "-o", "/dev/stdout"]);
    assert!(told.contains("no file of states can stand beside it"), "{told}");
    assert!(text.contains("[[window]]") && !text.contains("states ="), "{text}");
    // Names that differ in their endings have states of their own.
    let odd = folder.path().join("b.1").display().to_string();
    printed(&["trace", "regions", &lz, "-o", &odd, "--profile", "silicon"]);
    assert!(folder.path().join("b.1.states").exists());
    let (_, told) = count(&lz, &odd, &["--profile", "silicon"]);
    assert!(!told.contains("lesson"), "{told}");
    // The states would be written over the trace.
    let copy = folder.path().join("c.states");
    std::fs::copy(&lz, &copy).unwrap();
    let (copy, windows) = (copy.display().to_string(), folder.path().join("c.toml"));
    let told = refused(&["trace", "regions", &copy, "-o", &windows.display().to_string()]);
    assert!(told.contains("c.states: give another file to write"), "{told}");
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lz) = (windows(&folder, "lz.n2t"), trace("lz.n2t"));
    let states = folder.path().join("windows.states");
    let (text, bytes) = (std::fs::read_to_string(&file).unwrap(), std::fs::read(&states).unwrap());
    let told = || refused(&["stat", &lz, "--regions", &file]);
    for length in [0, 20, 60, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&states, &bytes[..length]).unwrap();
        let told = told();
        assert!(told.contains("windows.states: "), "{length}: {told}");
        assert!(told.contains("find the windows again") || told.contains("no file of states"));
    }
    std::fs::write(&states, &bytes).unwrap();
    std::fs::write(&file, text.replacen("warmup = 10000", "warmup = 9999", 1)).unwrap();
    assert!(told().contains("these states are of other windows"), "{}", told());
    std::fs::write(&file, &text).unwrap();
    std::fs::write(&states, b"[[window]]").unwrap();
    assert!(told().contains("windows.states: no file of states"), "{}", told());
    std::fs::remove_file(&states).unwrap();
    let told = told();
    assert!(told.contains("windows.states: the states that ") && told.contains("take its line"));
}
