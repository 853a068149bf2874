//! `n2sim run`: the counts of a program in one step, and no file but those that were asked for.

use crate::recording::{Bench, N2SIM};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A program in a folder of its own, and a folder of temporary files.
struct Place {
    bench: Bench,
    temporary: tempfile::TempDir,
}

impl Place {
    fn new(pitfall: &str) -> Option<Place> {
        let bench = Bench::new(pitfall)?;
        Some(Place { bench, temporary: tempfile::tempdir().expect("a temporary folder") })
    }

    fn folder(&self) -> &Path {
        self.bench.folder.path()
    }

    /// `n2sim` in the folder of the program.
    fn n2sim(&self, words: &[&str]) -> Command {
        let mut command = Command::new(N2SIM);
        command.env_remove("N2SIM_PLUGIN").env("TMPDIR", self.temporary.path()).args(words);
        command.current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.n2sim(words).output().expect("n2sim runs")
    }

    /// The standard output of a command that succeeds.
    fn printed(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Checks that nothing is left in the folders but the program and `others`.
    fn assert_left(&self, others: &[&str]) {
        let names = |folder: &Path| {
            let entries = folder.read_dir().expect("readable");
            let name = |path: PathBuf| path.file_name().expect("a name").to_owned();
            let mut names: Vec<_> =
                entries.map(|entry| name(entry.expect("it is there").path())).collect();
            names.sort();
            names
        };
        let mut wanted = [&["program"], others].concat();
        wanted.sort_unstable();
        assert_eq!(names(self.folder()), wanted);
        assert_eq!(names(self.temporary.path()), [""; 0], "temporary files");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_counts_are_those_of_a_recording_that_is_replayed() {
    let Some(place) = Place::new("PLAIN") else { return };
    let recorded = place.output(&["capture", "-o", "recorded.n2t", "--", "./program", "a"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", said(&recorded));
    for options in [
        &["-x,"][..],
        &["-e", "cycles,instructions,l1d_cache_refill", "-M", "ipc", "-x", ";"],
        &["--core", "cortex-a53", "-j"],
        &["--set", "memory.l1d.size-bytes=32K", "--machine", "cobalt-100", "-j"],
    ] {
        let run = [&["run"], options, &["--", "./program", "a"]].concat();
        let stat = [&["stat"], options, &["recorded.n2t"]].concat();
        let (run, stat) = (place.printed(&run), place.printed(&stat));
        assert_eq!(run, stat, "{options:?}");
        assert!(run.lines().count() >= 3, "{run}");
    }
    place.assert_left(&["recorded.n2t"]);
}

#[test]
fn a_report_names_the_command_and_the_kept_trace_gives_it_again() {
    let Some(place) = Place::new("PLAIN") else { return };
    let output = place.output(&["run", "--per-thread", "--keep", "kept.n2t", "./program", "-a"]);
    let (report, said) = (String::from_utf8_lossy(&output.stdout), said(&output));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(report.contains("Performance counter stats for './program -a':"), "{report}");
    assert!(report.contains(" program-0 "), "{report}");
    assert!(said.contains("./program -a: ") && said.contains("exit status 7"), "{said}");
    assert!(said.contains("# trace ./program -a (hash "), "{said}");
    let again = place.printed(&["stat", "--per-thread", "kept.n2t"]);
    let counts = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("stats for"));
        lines.map(|line| line.replace("program-0", "kept-0")).collect::<Vec<_>>()
    };
    let squeezed = |text: &str| {
        let line = |line: String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        counts(text).into_iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(squeezed(&report), squeezed(&again));
    place.assert_left(&["kept.n2t"]);
}

#[test]
fn what_cannot_be_counted_is_refused_before_the_program_runs() {
    let Some(place) = Place::new("PLAIN") else { return };
    for (words, reason) in [
        (&["./absent"][..], "no program \"./absent\""),
        (&["--keep", "kept.n2t", "-e", "nonsense", "./program"], "unknown event 'nonsense'"),
        (&["--keep", "kept.n2t", "-M", "nonsense", "./program"], "'nonsense'"),
        (&["--keep", "kept.n2t", "--set", "no.key=1", "./program"], "no.key"),
        (&["--keep", "kept.n2t", "-o", "absent/out", "./program"], "no directory absent"),
        (&["--keep", "kept.n2t", "--core", "neoverse-v2", "./program"], "no timing model"),
        (
            &["--keep", "kept.n2t", "--core", "cortex-a53", "--prefetch", "./program"],
            "--prefetch works with",
        ),
        (&["--keep", "kept.n2t", "-I", "0", "./program"], "milliseconds of modeled time"),
        (&["--keep", "kept.n2t", "-o", ".", "./program"], "cannot write ."),
        (&["--keep", "k", "-o", "k", "./program"], "--keep and -o name the same file, k"),
        (&["--engine", "./absent", "./program"], "./absent"),
    ] {
        let output = place.output(&[&["run"], words].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.starts_with("n2sim: ") && said.contains(reason), "{words:?}: {said}");
        assert!(output.stdout.is_empty(), "{words:?}");
        place.assert_left(&[]);
    }
    let absent = said(&place.output(&["run", "./absent"]));
    assert_eq!(absent.lines().count(), 1, "{absent}");
    let empty = tempfile::tempdir().expect("a temporary folder");
    let output = place.n2sim(&["run", "./program"]).env("PATH", empty.path()).output();
    let said = said(&output.expect("n2sim runs"));
    assert!(said.contains("`apt-get install qemu-user`"), "{said}");
}

#[test]
fn a_program_that_is_interrupted_is_counted_up_to_there() {
    let Some(place) = Place::new("SPIN") else { return };
    let mut command = place.n2sim(&[
        "run",
        "-x,",
        "-o",
        "counts",
        "--limit",
        "100k",
        "-e",
        "instructions",
        "./program",
    ]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("n2sim runs");
    let mut ready = [0; 6];
    let stdout = child.stdout.as_mut().expect("it is piped");
    std::io::Read::read_exact(stdout, &mut ready).expect("the program says that it is ready");
    let status = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
    assert!(status.expect("kill runs").success());
    let output = child.wait_with_output().expect("n2sim ends");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("the recording was interrupted"), "{said}");
    assert!(!said.contains("the results are of these"), "the replay is whole: {said}");
    let counts = std::fs::read_to_string(place.folder().join("counts")).expect("counts");
    let instructions = counts.split(',').next().and_then(|count| count.parse::<u64>().ok());
    assert!(instructions.is_some_and(|count| count > 1000), "{counts}");
    place.assert_left(&["counts"]);
}

#[test]
fn a_limit_ends_the_program() {
    let Some(place) = Place::new("SPIN") else { return };
    let words =
        ["run", "--record-limit", "1M", "--limit", "100k", "-x,", "-o", "counts", "./program"];
    let output = place.output(&words);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("ended at its instruction limit"), "{said}");
    let report = std::fs::read_to_string(place.folder().join("counts")).expect("counts");
    let line = report.lines().find(|line| line.contains("inst_retired")).expect("a count");
    assert!(line.starts_with("100000,"), "{line}");
    place.assert_left(&["counts"]);
}
