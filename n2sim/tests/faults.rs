//! Every call of the system that a writing command makes fails once: nothing half-written gets a
//! final name, nothing else is left but a whole recording that could not be renamed, inputs stay as
//! they are, and the message names a file.
//!
//! Only builds with debug assertions make calls fail.
#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::recording::{COMPILER, N2SIM, compile, in_path, must_not_be_required};
use tempfile::TempDir;

/// EIO, which every injected fault is.
const FAULT: &str = "Input/output error (os error 5)";
/// Calls that are made to fail of a command, at equal distances if it makes more.
const MOST_CALLS: u64 = 40;
/// Instructions of the recorded program.
const INSTRUCTIONS: u64 = 4022;
/// The names in a message about a failed call.
const NAMES: [&str; 7] =
    ["in.", "grid.", "out", "/tmp", "libsim_capture", "qemu", "memory shared with the plugin"];

/// A folder with a short trace of another tool, the same as a trace, and a grid.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: TempDir::new().unwrap() };
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
        let trace = traces.join("hash.n2t").display().to_string();
        let slice = ["trace", "slice", &trace, "--count", "3k", "-o", "in.n2t"];
        let export = ["trace", "export", "--to", "text", "in.n2t", "-o", "in.txt"];
        for args in [&slice[..], &export[..]] {
            let output = place.run(args, None);
            assert!(output.status.success(), "{}", message(&output));
        }
        let grid = "traces = [\"in.n2t\"]\nlimit = \"1k\"\nmetrics = [\"ipc\"]\n\
                    [[vary]]\nkey = \"pipeline.window.rob\"\nvalues = [64, 128]\n";
        fs::write(place.path().join("grid.toml"), grid).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(N2SIM);
        command.args(args).current_dir(self.path()).env("N2SIM_COUNT_CALLS", "1");
        command.env_remove("N2SIM_PLUGIN");
        command
    }

    /// Runs a command of which one call fails: the one with this number, or of a kind with a number
    /// (`Sync 2`).
    fn run(&self, args: &[&str], fail: Option<&str>) -> Output {
        let mut command = self.command(args);
        if let Some(call) = fail {
            command.env("N2SIM_FAIL_CALL", call);
        }
        command.output().unwrap()
    }

    /// Runs a command whose reservation of memory with this number is refused.
    fn run_refused(&self, args: &[&str], number: u64) -> Output {
        self.command(args).env("N2SIM_REFUSE_MEMORY", number.to_string()).output().unwrap()
    }

    /// All files with their content, those of directories included.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut open) = (BTreeMap::new(), vec![self.path().to_owned()]);
        while let Some(directory) = open.pop() {
            for entry in directory.read_dir().unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => open.push(path),
                    path => drop(files.insert(path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        files
    }

    fn clear(&self, inputs: &BTreeMap<PathBuf, Vec<u8>>) {
        for path in self.files().keys().filter(|path| !inputs.contains_key(*path)) {
            fs::remove_file(path).unwrap();
            // A directory that is empty now, and only such a one.
            let parents = path.ancestors().skip(1).take_while(|parent| *parent != self.path());
            parents.for_each(|parent| drop(fs::remove_dir(parent)));
        }
    }
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The calls that a run made, and the kind of the one that failed.
fn calls(output: &Output) -> (u64, String) {
    let said = message(output);
    let line = said.lines().find(|line| line.contains(" calls of the system, failed: "));
    let (made, failed) = line.expect(&said).split_once(" calls of the system, failed: ").unwrap();
    (made.trim_start_matches("n2sim: ").parse().unwrap(), failed.to_owned())
}

/// Calls [`fail_each_in`] for a command whose results are the same to the last byte, in a folder of
/// its own.
fn fail_each(args: &[&str], check: impl Fn(&Place, &BTreeMap<PathBuf, Vec<u8>>)) {
    fail_each_in(&Place::new(), args, &EQUAL, check);
}

/// The checks of a command.
#[derive(Clone, Copy)]
struct Way {
    /// Every run makes the same calls, so that each requested number is one of them.
    is_steady: bool,
    /// Kinds of calls without which it may do its work another way.
    survives: &'static [&'static str],
    /// True if a result, with its name, is as good as the one of an undisturbed run.
    is_whole: fn(&Path, &[u8], &[u8]) -> bool,
}

/// Results are the same to the last byte. A trace whose index cannot be read is read without it.
const EQUAL: Way =
    Way { is_steady: true, survives: &["Read"], is_whole: |_, content, whole| content == whole };

/// Makes calls of a command fail, one after another, in a folder with its inputs. `check` sees what
/// each failed run left beside them.
fn fail_each_in(
    place: &Place,
    args: &[&str],
    way: &Way,
    check: impl Fn(&Place, &BTreeMap<PathBuf, Vec<u8>>),
) {
    let inputs = place.files();
    let (good, whole) = run_whole(place, args);
    place.clear(&inputs);
    let (made, failed) = calls(&good);
    assert!(made > 3 && failed == "none", "{args:?}: {made} calls");
    let step = made.div_ceil(MOST_CALLS).max(1);
    // The last calls, which give files their names, are all among them.
    let numbers = (1..=made).step_by(step as usize).chain(made.saturating_sub(4)..=made);
    let numbers: BTreeSet<u64> = numbers.filter(|number| *number > 0).collect();
    let mut failed = 0;
    for number in &numbers {
        failed += usize::from(fail_one(place, args, &number.to_string(), way, (&inputs, &whole)));
        check(place, &whole);
        place.clear(&inputs);
    }
    let least = if way.is_steady { numbers.len() } else { 1 };
    assert!(failed >= least, "{args:?}: {failed} of {} calls failed", numbers.len());
}

/// Makes each call of a kind fail, for a command whose calls of other kinds are not always as many.
fn fail_each_of_kind(place: &Place, args: &[&str], kind: &str, way: &Way) -> u64 {
    let inputs = place.files();
    let (_, whole) = run_whole(place, args);
    place.clear(&inputs);
    let mut number = 1;
    while fail_one(place, args, &format!("{kind} {number}"), way, (&inputs, &whole)) {
        place.clear(&inputs);
        number += 1;
    }
    place.clear(&inputs);
    number - 1
}

/// Files with their content: inputs, and all after a run without a fault.
type Files<'a> = (&'a BTreeMap<PathBuf, Vec<u8>>, &'a BTreeMap<PathBuf, Vec<u8>>);

/// Makes one call fail and holds what the command says and leaves. False if it made no such call.
fn fail_one(place: &Place, args: &[&str], call: &str, way: &Way, (inputs, whole): Files) -> bool {
    let output = place.run(args, Some(call));
    let said = message(&output);
    let (made, failed) = calls(&output);
    let place_of = format!("{args:?}, call {call} of {made} ({failed}): {said}");
    if failed == "none" {
        assert_eq!(output.status.code(), Some(0), "{place_of}");
        return false;
    }
    // A recording goes on without the functions of a file, and says so.
    let is_named = |line: &str| line.contains("the functions of ") && line.contains(FAULT);
    let is_survived = way.survives.contains(&&*failed) || said.lines().any(is_named);
    if output.status.code() == Some(0) && is_survived {
        assert!(place.files().keys().eq(whole.keys()), "{place_of}");
    } else {
        assert_eq!(output.status.code(), Some(2), "{place_of}");
        let message = said.lines().find(|line| line.contains(FAULT)).expect(&place_of);
        assert!(NAMES.iter().any(|name| message.contains(name)), "{place_of}");
    }
    if said.contains("the recording is kept") {
        let is_to_be_checked = said.contains("`n2sim trace verify`, then rename it");
        assert_eq!(is_to_be_checked, failed == "Sync", "{place_of}");
        assert!(!said.contains("check space"), "{place_of}");
    }
    assert_clean(place, (inputs, whole), way, &said, &place_of);
    true
}

/// Returns the output and the files of a command when nothing fails.
fn run_whole(place: &Place, args: &[&str]) -> (Output, BTreeMap<PathBuf, Vec<u8>>) {
    let good = place.run(args, None);
    assert_eq!(good.status.code(), Some(0), "{args:?}: {}", message(&good));
    (good, place.files())
}

/// Inputs are as they were; beside them are whole results, or the finished runs of a sweep.
fn assert_clean(place: &Place, (inputs, whole): Files, way: &Way, said: &str, place_of: &str) {
    assert!(!said.contains("panicked"), "{place_of}");
    let mut left = place.files();
    for (path, content) in inputs {
        assert_eq!(left.remove(path).as_ref(), Some(content), "{place_of}");
    }
    for (path, content) in &left {
        // The file itself, or the directory that it is in.
        let inside = path.strip_prefix(place.path()).unwrap();
        let name = inside.iter().next().unwrap().to_string_lossy();
        if name.ends_with(".partial") {
            assert!(said.contains(&*name), "the message does not name {name}; {place_of}");
            assert!(sim_trace::verify(path).unwrap().is_good(), "{name}; {place_of}");
            continue;
        }
        assert!(name.starts_with("out"), "{name} is left; {place_of}");
        let is_good = whole.get(path).is_some_and(|whole| (way.is_whole)(path, content, whole));
        assert!(name.ends_with(".runs") || is_good, "{name}; {place_of}");
    }
}

/// Returns how often a run reserved memory.
fn reservations(output: &Output) -> u64 {
    let said = message(output);
    let count = said.lines().find_map(|line| line.strip_suffix(" reservations of memory"));
    count.expect(&said).trim_start_matches("n2sim: ").parse().unwrap()
}

/// Refuses reservations of memory that a command makes, one in each run: the first ones all, later
/// ones at growing distances, and the last.
fn refuse_each(args: &[&str]) {
    let place = Place::new();
    let inputs = place.files();
    let (good, whole) = run_whole(&place, args);
    place.clear(&inputs);
    let made = reservations(&good);
    assert!(made > 5, "{args:?}: only {made} reservations");
    let numbers = std::iter::successors(Some(1), |number| Some(number + 1 + number / 4));
    for number in numbers.take_while(|number| *number < made).chain([made]) {
        let output = place.run_refused(args, number);
        let said = message(&output);
        let place_of = format!("{args:?}, reservation {number}: {said}");
        assert_eq!(output.status.code(), Some(2), "{place_of}");
        assert!(said.contains("in.n2t") && said.contains("--max-memory"), "{place_of}");
        assert_clean(&place, (&inputs, &whole), &EQUAL, &said, &place_of);
        place.clear(&inputs);
    }
}

#[test]
fn stat_fails_cleanly_at_every_call() {
    fail_each(&["stat", "in.n2t", "-x,", "-o", "out.csv"], |_, _| {});
}

#[test]
fn record_fails_cleanly_at_every_call() {
    fail_each(&["record", "in.n2t", "-o", "out.perf"], |place, _| {
        let files = place.files();
        let has = |name: &str| files.contains_key(&place.path().join(name));
        assert_eq!(has("out.perf"), has("out.perf.elf"), "one without the other");
    });
}

#[test]
fn files_for_viewers_fail_cleanly_at_every_call() {
    fail_each(&["record", "in.n2t", "--format", "firefox", "-o", "out.json"], |_, _| {});
    fail_each(&["pipeline", "in.n2t", "--perfetto", "-o", "out.pftrace"], |_, _| {});
}

#[test]
fn report_fails_cleanly_at_every_call() {
    fail_each(&["report", "in.n2t", "--json", "-o", "out.json"], |_, _| {});
}

#[test]
fn import_fails_cleanly_at_every_call() {
    fail_each(&["trace", "import", "in.txt", "-o", "out.n2t"], |_, _| {});
}

#[test]
fn the_playground_fails_cleanly_at_every_call() {
    fail_each(&["playground", "-o", "out.html"], |_, _| {});
}

#[test]
fn a_course_kit_appears_whole_or_not_at_all() {
    let place = Place::new();
    let lessons = place.path().join("lessons");
    fs::create_dir(&lessons).unwrap();
    let lesson = "title = \"T\"\nminutes = 5\nlevel = \"beginner\"\ntext = \"t\"\ngiven = \"K1\"\n\
                  do = \"LD8 0x8000\"\n[[question]]\nask = \"a\"\ncount = \"L1D_CACHE\"\nwhy = \"w\"\n";
    fs::write(lessons.join("in.toml"), lesson).unwrap();
    let args = ["course", "out.kit", "--lessons", "lessons"];
    fail_each_in(&place, &args, &EQUAL, |place, _| {
        let has_part = place.path().join("out.kit").exists();
        assert!(!has_part || place.path().join("out.kit/README.md").exists(), "a part of a kit");
    });
}

#[test]
fn a_book_appears_whole_or_not_at_all() {
    let place = Place::new();
    fail_each_in(&place, &["book", "-o", "out.book"], &EQUAL, |place, whole| {
        let left = place.files();
        let has_part = left.keys().any(|path| path.starts_with(place.path().join("out.book")));
        assert!(!has_part || left.keys().eq(whole.keys()), "a part of a book");
        let directory = place.path().join("out.book");
        assert!(has_part || !directory.exists(), "an empty directory");
    });
}

#[test]
fn a_program_of_cases_appears_whole_or_not_at_all() {
    let place = Place::new();
    fail_each_in(&place, &["litmus", "export", "out.cases"], &EQUAL, |place, _| {
        let has_part = place.path().join("out.cases").exists();
        assert!(!has_part || place.path().join("out.cases/litmus.c").exists(), "a part of it");
    });
}

#[test]
fn regions_fail_cleanly_at_every_call() {
    let args =
        ["trace", "regions", "in.n2t", "--interval", "1k", "--windows", "2", "-o", "out.toml"];
    fail_each(&args, |place, _| {
        let files = place.files();
        let has = |name: &str| files.contains_key(&place.path().join(name));
        assert_eq!(has("out.toml"), has("out.states"), "one without the other");
    });
}

#[test]
fn a_sweep_resumes_after_every_failed_call() {
    let args = ["sweep", "grid.toml", "-j", "1", "-o", "out.csv"];
    let way = Way { is_steady: false, ..EQUAL };
    fail_each_in(&Place::new(), &args, &way, |place, whole| {
        let resumed = place.run(&args, None);
        assert_eq!(resumed.status.code(), Some(0), "{}", message(&resumed));
        assert_eq!(&place.files(), whole, "the same as without a failure");
    });
}

/// A place with a program that can be recorded; none where the tools are absent and need not be
/// there.
fn with_program() -> Option<Place> {
    for tool in [COMPILER, "qemu-aarch64"] {
        if in_path(tool).is_none() {
            must_not_be_required(tool);
            return None;
        }
    }
    let place = Place::new();
    compile("PLAIN", &place.path().join("in.program"));
    Some(place)
}

#[test]
fn capture_fails_cleanly_at_every_call() {
    let Some(place) = with_program() else { return };
    let args = ["capture", "-o", "out.n2t", "--", "./in.program"];
    // Where memory cannot be sealed the plugin goes into a temporary file. No two recordings have
    // equal bytes.
    let way = Way {
        is_steady: false,
        survives: &["Read", "Memory", "Write"],
        is_whole: |path, _, _| {
            let report = sim_trace::verify(path).unwrap();
            report.is_good() && report.instructions == INSTRUCTIONS
        },
    };
    fail_each_in(&place, &args, &way, |_, _| {});
    for kind in ["Open", "Write", "Sync", "Rename", "Spawn", "Memory"] {
        let made = fail_each_of_kind(&place, &args, kind, &way);
        assert!(made > 0, "no call of the kind {kind}");
    }
}

#[test]
fn run_fails_cleanly_at_every_call() {
    let Some(place) = with_program() else { return };
    let args = ["run", "-x,", "-o", "out.csv", "--", "./in.program"];
    let way = Way { is_steady: false, survives: &["Read", "Memory", "Write"], ..EQUAL };
    fail_each_in(&place, &args, &way, |_, _| {});
    for kind in ["Open", "Write", "Sync", "Rename", "Spawn", "Memory"] {
        let made = fail_each_of_kind(&place, &args, kind, &way);
        assert!(made > 0, "no call of the kind {kind}");
    }
}

#[test]
fn memory_that_is_refused_ends_a_command_cleanly() {
    for args in [
        &["stat", "in.n2t", "-o", "out.csv"][..],
        &["record", "in.n2t", "-o", "out.perf"],
        &["report", "in.n2t", "--json", "-o", "out.json"],
        &["trace", "regions", "in.n2t", "--interval", "1k", "--windows", "2", "-o", "out.toml"],
    ] {
        refuse_each(args);
    }
}
