//! Commands that a signal, a closed pipe or a full device ends leave no temporary files.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
/// Longer than any machine takes to begin.
const PATIENCE: Duration = Duration::from_secs(120);

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A trace of many copies of a committed one, so that its replay takes long.
fn long(folder: &TempDir) -> PathBuf {
    let mut path = trace("hash.n2t");
    for doubling in 0..4 {
        let next = folder.path().join(format!("{doubling}.n2t"));
        let mut command = Command::new(N2SIM);
        command.args(["trace", "merge", "--level", "1", "--as", "parts"]).arg(&path).arg(&path);
        let output = command.arg("-o").arg(&next).output().unwrap();
        assert!(output.status.success(), "{}", message(&output));
        path = next;
    }
    path
}

/// Starts a command in `folder`, waits until a temporary file is there, and sends the signal.
fn interrupted(folder: &Path, args: &[&str], signal: &str) -> Output {
    // A test that runs in the background of a script would hand down that SIGINT is ignored.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,HUP", N2SIM]).args(args).current_dir(folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !names(folder).iter().any(|name| name.starts_with(".n2sim-")) {
        assert!(start.elapsed() < PATIENCE, "{args:?} makes no temporary file");
        std::thread::sleep(Duration::from_millis(2));
    }
    send(signal, &child);
    child.wait_with_output().unwrap()
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_signal_leaves_no_temporary_file() {
    let long = TempDir::new().unwrap();
    let path = long_path(&long);
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let commands = [
            vec!["report", &path, "-o", "a.html"],
            vec!["trace", "repack", &path, "--level", "19", "-o", "a.n2t"],
            vec!["trace", "regions", &path, "-o", "a.toml"],
        ];
        for args in commands {
            let folder = TempDir::new().unwrap();
            let output = interrupted(folder.path(), &args, signal);
            assert_eq!(output.status.signal(), Some(number), "{args:?} {}", message(&output));
            assert!(names(folder.path()).is_empty(), "{args:?}: {:?}", names(folder.path()));
        }
    }
}

fn long_path(folder: &TempDir) -> String {
    long(folder).display().to_string()
}

#[test]
fn stat_prints_what_it_counted_up_to_a_signal() {
    let long = TempDir::new().unwrap();
    let path = long_path(&long);
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let folder = TempDir::new().unwrap();
        let args = ["stat", &path, "-x,", "-e", "inst_retired", "-o", "a.csv"];
        let output = interrupted(folder.path(), &args, signal);
        assert_eq!(output.status.signal(), Some(number), "{}", message(&output));
        assert_eq!(names(folder.path()), ["a.csv"]);
        let text = fs::read_to_string(folder.path().join("a.csv")).unwrap();
        let count: u64 = text.split(',').next().unwrap().parse().unwrap();
        let said = message(&output);
        let line = said.lines().find(|line| line.contains("stopped by SIG")).expect(&said);
        let done = line.split("after ").nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(done.replace(',', "").parse::<u64>().unwrap(), count, "{line}");
    }
}

#[test]
fn record_writes_a_whole_file_up_to_a_signal() {
    let long = TempDir::new().unwrap();
    let path = long_path(&long);
    let folder = TempDir::new().unwrap();
    let args = ["record", &path, "-o", "p.perf"];
    let output = interrupted(folder.path(), &args, "-INT");
    assert_eq!(output.status.signal(), Some(2), "{}", message(&output));
    assert_eq!(names(folder.path()), ["p.perf", "p.perf.elf"]);
    let file = BufReader::new(File::open(folder.path().join("p.perf")).unwrap());
    assert!(linux_perf_data::PerfFileReader::parse_file(file).is_ok());
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let long = TempDir::new().unwrap();
    let path = long_path(&long);
    let folder = TempDir::new().unwrap();
    interrupted(folder.path(), &["report", &path, "-o", "a.html"], "-KILL");
    assert_eq!(names(folder.path()).len(), 1, "nothing can be done at SIGKILL");
    let mut command = Command::new(N2SIM);
    command.arg("stat").arg(trace("hash.n2t")).args(["--limit", "1k", "-o", "b"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", message(&output));
    assert_eq!(names(folder.path()), ["b"]);
}

#[test]
fn doctor_removes_results_and_offers_recordings_of_killed_processes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(".n2sim-aB3dE9.tmp"), "half").unwrap();
    fs::write(folder.path().join("run.n2t.aB3dE9.partial"), "half").unwrap();
    let output = Command::new(N2SIM).arg("doctor").current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("removed: ./.n2sim-aB3dE9.tmp"), "{text}");
    let offer = "n2sim trace recover ./run.n2t.aB3dE9.partial -o FILE.n2t";
    assert!(text.contains(offer), "{text}");
    assert_eq!(names(folder.path()), ["run.n2t.aB3dE9.partial"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error_for_export() {
    let mut command = Command::new(N2SIM);
    command.args(["trace", "export", "--to", "text"]).arg(trace("hash.n2t"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), message(&output)), (Some(0), String::new()));
}

#[test]
fn a_full_device_is_named_and_not_the_input() {
    let mut command = Command::new(N2SIM);
    command.args(["trace", "export", "--to", "text", "-o", "/dev/full"]).arg(trace("hash.n2t"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = message(&output);
    assert!(said.starts_with("n2sim: cannot write /dev/full: "), "{said}");
    assert!(!said.contains("hash.n2t"), "{said}");
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    for option in ["--help", "--version"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(N2SIM).arg(option).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", message(&output));
        assert!(message(&output).contains("cannot write the output"), "{}", message(&output));
    }
}
