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
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    (String::from_utf8(output.stdout).unwrap(), message)
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(output.stdout, b"", "{args:?}");
    message
}

/// A file of windows of the trace, in a folder of its own.
fn windows(folder: &tempfile::TempDir, name: &str) -> String {
    let file = folder.path().join("windows.toml").display().to_string();
    let options =
        ["--interval", "10k", "--windows", "20", "--warmup", "10k", "--functional-warmup", "50k"];
    let trace = trace(name);
    let args = [&["trace", "regions", &trace, "-o", &file][..], &options[..]].concat();
    let (message, _) = printed(&args);
    assert!(
        message.contains(" windows of ") && message.contains("10,000 each to warm up"),
        "{message}"
    );
    file
}

#[test]
fn windows_are_run_in_all_forms_of_stat() {
    let folder = tempfile::tempdir().unwrap();
    let (file, trace) = (windows(&folder, "lz.n2t"), trace("lz.n2t"));
    let (text, message) = printed(&["stat", &trace, "--regions", &file]);
    assert!(text.contains("% )\n") && text.contains("  ( +-"), "{text}");
    assert!(message.contains("note: estimated from "), "{message}");
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
    let (csv, message) = printed(&["stat", &trace, "--jobs", "2", "-x,", "-e", "instructions"]);
    assert!(csv.starts_with("8897235,,instructions,"), "{csv}");
    assert!(message.contains("counted in 2 parts"), "{message}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lz, matrix) = (windows(&folder, "lz.n2t"), trace("lz.n2t"), trace("matrix.n2t"));
    let message = refused(&["stat", &matrix, "--regions", &file]);
    assert!(
        message.contains("these windows are of ") && message.contains("n2sim trace regions"),
        "{message}"
    );
    let text = std::fs::read_to_string(&file).unwrap();
    let broken = folder.path().join("broken.toml").display().to_string();
    for (damaged, expected) in [
        (text.replacen("length = ", "length = 99999999", 1), "window 1: "),
        (text.replacen("warmup", "warm-up", 1), "unknown field `warm-up`"),
        (text[..text.len() / 2].to_owned(), "broken.toml: "),
        (String::new(), "missing field"),
        (String::from("\u{0}"), "it is not text"),
    ] {
        std::fs::write(&broken, damaged).unwrap();
        let message = refused(&["stat", &lz, "--regions", &broken]);
        assert!(message.contains(expected), "{message}");
    }
    let message = refused(&["stat", &lz, "--regions", "/nowhere.toml"]);
    assert!(message.contains("/nowhere.toml: the windows cannot be read"), "{message}");
    for (more, fault) in [
        (["--limit", "1k"], "unexpected argument"),
        (["--jobs", "2"], "cannot be used with"),
        (["-I", "1"], "unexpected argument"),
    ] {
        let message = refused(&[&["stat", &lz, "--regions", &file][..], &more[..]].concat());
        assert!(message.contains(fault), "{message}");
    }
    refused(&["stat", &lz, "--jobs", "0"]);
    let message = refused(&["stat", &trace("atomics.n2t"), "--jobs", "2"]);
    assert!(message.contains("2 threads have instructions"), "{message}");
    let out = folder.path().join("x.toml").display().to_string();
    let message = refused(&["trace", "regions", &lz, "-o", &out, "--interval", "1"]);
    assert!(message.contains("give longer ones"), "{message}");
    assert!(!Path::new(&out).exists(), "no file is left");
    let message = refused(&["trace", "regions", &lz, "-o", &lz]);
    assert!(message.contains("give another file to write"), "{message}");
}

/// A file of windows of a trace of several threads.
fn thread_windows(folder: &tempfile::TempDir, name: &str) -> String {
    let file = folder.path().join("threads.toml").display().to_string();
    let (message, _) = printed(&["trace", "regions", &trace(name), "-o", &file]);
    assert!(message.contains("threads.states: the states in which they begin"), "{message}");
    file
}

#[test]
fn windows_of_several_threads_are_estimated_together() {
    let folder = tempfile::tempdir().unwrap();
    let name = "parallel/readers_adjacent.n2t";
    let (file, trace) = (thread_windows(&folder, name), trace(name));
    let args = ["estimate", &trace, "--regions", &file, "-x,"];
    let events = "cycles,instructions,l1d_cache_refill";
    let (csv, message) = printed(&[&args[..], &["-e", events]].concat());
    let fields: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let (whole, _) = printed(&["stat", &trace, "-x,", "-e", events]);
    let whole: Vec<Vec<&str>> = whole.lines().map(|line| line.split(',').collect()).collect();
    let number = |text: &str| text.parse::<f64>().unwrap();
    let percent = number(fields[0][3].trim_end_matches('%'));
    let off = 100.0 * (number(fields[0][0]) / number(whole[0][0]) - 1.0);
    assert!(off.abs() <= percent && percent < 20.0, "{off} % +- {percent} %");
    assert_eq!((fields[1][0], fields[1][3]), (whole[1][0], "0.00%"), "{csv}");
    assert_eq!((fields[2][0], fields[2][3]), ("<not counted>", ""), "{csv}");
    assert!(
        message.contains("note: not estimated, because") && message.contains("L1D_CACHE_REFILL")
    );
    let message = refused(&[&args[..], &["--per-thread"]].concat());
    assert!(message.contains("windows estimate all threads together"), "{message}");
    let message = refused(&[&args[..], &["--set", "threads.cores=2"]].concat());
    assert!(message.contains("threads.cores=2 makes threads share cores"), "{message}");
    std::fs::write(folder.path().join("threads.states"), b"N2STATES").unwrap();
    assert!(refused(&args).contains("threads.states: header: the file ends inside it"));
}

#[test]
fn threads_that_windows_cannot_represent_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (queue, counts) = (trace("parallel/queue.n2t"), folder.path().join("counts.csv"));
    let file = thread_windows(&folder, "parallel/queue.n2t");
    let to = counts.display().to_string();
    let message = refused(&["estimate", &queue, "--regions", &file, "-x,", "-o", &to]);
    assert!(message.contains("threads wait for each other so much"), "{message}");
    assert!(!counts.exists(), "nothing is written");
    let [out, states] = ["x.toml", "x.states"].map(|name| folder.path().join(name));
    let to = out.display().to_string();
    let short = trace("threads/atomic_padded.n2t");
    for (args, fault) in [
        (vec!["trace", "regions", &short, "-o", &to], "windows of several threads; 10 at least"),
        (
            vec!["trace", "regions", &queue, "-o", &to, "--set", "threads.cores=2"],
            "threads.cores=2 makes threads share cores",
        ),
    ] {
        let message = refused(&args);
        assert!(message.contains(fault), "{message}");
        assert!(!out.exists() && !states.exists(), "no file is left");
    }
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, format!("traces = [{queue:?}]\nregions = [{file:?}]\n")).unwrap();
    let table = folder.path().join("table.csv").display().to_string();
    let message = refused(&["sweep", &grid.display().to_string(), "-o", &table]);
    assert!(message.contains("8 threads have instructions; chunks and the windows"), "{message}");
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
    let (in_states, message) = count(&trace, &file, &[]);
    assert!(!message.contains("lesson"), "{message}");
    let lessons = folder.path().join("lessons.toml").display().to_string();
    std::fs::write(&lessons, text.replace("states = \"windows.states\"\n", "")).unwrap();
    let (after_warmup, _) = count(&trace, &lessons, &[]);
    assert_ne!(in_states, after_warmup, "the states are used");
    // Another reorder buffer begins in the same states, another L2 does not.
    let (_, message) = count(&trace, &file, &["--set", "pipeline.window.rob=64"]);
    assert!(!message.contains("lesson"), "{message}");
    let (_, message) = count(&trace, &file, &["--set", "memory.l2.size-bytes=524288"]);
    assert!(message.contains("windows.states: taken on another machine"), "{message}");
    assert!(message.contains("after functional warm-up"), "{message}");
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
    let (text, message) = printed(&["trace", "regions", &lz, "-o", "/dev/stdout"]);
    assert!(message.contains("no file of states can stand beside it"), "{message}");
    assert!(text.contains("[[window]]") && !text.contains("states ="), "{text}");
    // Names that differ in their endings have states of their own.
    let odd = folder.path().join("b.1").display().to_string();
    printed(&["trace", "regions", &lz, "-o", &odd, "--profile", "silicon"]);
    assert!(folder.path().join("b.1.states").exists());
    let (_, message) = count(&lz, &odd, &["--profile", "silicon"]);
    assert!(!message.contains("lesson"), "{message}");
    // The states would be written over the trace.
    let copy = folder.path().join("c.states");
    std::fs::copy(&lz, &copy).unwrap();
    let (copy, windows) = (copy.display().to_string(), folder.path().join("c.toml"));
    let message = refused(&["trace", "regions", &copy, "-o", &windows.display().to_string()]);
    assert!(message.contains("c.states: give another file to write"), "{message}");
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, lz) = (windows(&folder, "lz.n2t"), trace("lz.n2t"));
    let states = folder.path().join("windows.states");
    let (text, bytes) = (std::fs::read_to_string(&file).unwrap(), std::fs::read(&states).unwrap());
    let message = || refused(&["stat", &lz, "--regions", &file]);
    for length in [0, 20, 60, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&states, &bytes[..length]).unwrap();
        let message = message();
        assert!(message.contains("windows.states: "), "{length}: {message}");
        assert!(
            message.contains("run n2sim trace regions again")
                || message.contains("not a states file")
        );
    }
    std::fs::write(&states, &bytes).unwrap();
    std::fs::write(&file, text.replacen("warmup = 10000", "warmup = 9999", 1)).unwrap();
    assert!(message().contains("these states are of other windows"), "{}", message());
    std::fs::write(&file, &text).unwrap();
    std::fs::write(&states, b"[[window]]").unwrap();
    assert!(message().contains("windows.states: not a states file"), "{}", message());
    std::fs::remove_file(&states).unwrap();
    let message = message();
    assert!(
        message.contains("windows.states: the states that ") && message.contains("take its line")
    );
}
