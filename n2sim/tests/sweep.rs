//! `n2sim sweep`: a row for each run, the same whether or not it was interrupted.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Runs of 2000 instructions.
const GRID: &str = r#"
traces = ["TRACES/hash.n2t", "TRACES/sort.n2t"]
limit = "2k"
events = ["cpu_cycles", "INST_RETIRED", "l1d_cache_refill"]
metrics = ["ipc", "l1d_mpki"]

[[vary]]
key = "pipeline.window.rob"
values = [64, 96, 128, 160]

[[vary]]
key = "memory.prefetch.l2-stream"
values = [true, false]

[[vary]]
key = "memory.prefetch.l2-degree-lines"
values = [1, 2, 4, 6, 8]

[[vary]]
key = "pipeline.window.retire-width"
values = [2, 4, 6, 8, 10]
"#;
const RUNS: usize = 400;

/// Three runs.
const SMALL_GRID: &str = r#"
traces = ["TRACES/hash.n2t"]
limit = "2k"

[[vary]]
key = "pipeline.window.rob"
values = [64, 80, 96]
"#;

/// A directory with a grid.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new(grid: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
        let grid = grid.replace("TRACES", &traces.display().to_string());
        std::fs::write(folder.path().join("grid.toml"), grid).unwrap();
        Place { folder }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
        command.args(["sweep", "grid.toml"]).args(args).current_dir(self.folder.path());
        command
    }

    pub(crate) fn sweep(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn swept(&self, args: &[&str]) -> String {
        let output = self.sweep(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{message}");
        message
    }

    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.sweep(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(!message.contains("panicked") && message.lines().count() <= 6, "{message}");
        message
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }
}

/// Starts a sweep and kills it when some of its runs are in the journal.
fn interrupt(place: &Place, table: &str, after: usize) {
    let journal = place.file(&format!("{table}.runs"));
    let mut child =
        place.command(&["-o", table]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while lines() < after {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_interrupted_sweep_ends_with_the_table_of_an_uninterrupted_one() {
    let place = Place::new(GRID);
    let message = place.swept(&["-o", "whole.csv"]);
    assert!(message.contains(&format!("{RUNS} runs in whole.csv")), "{message}");
    for after in [5, 60] {
        interrupt(&place, "parts.csv", after);
    }
    assert!(!place.file("parts.csv").exists(), "no half of a table");
    // What a kill may leave: a line that is not whole.
    let journal = place.file("parts.csv.runs");
    let kept = place.text("parts.csv.runs");
    let cut = kept.trim_end().len() - 40;
    std::fs::write(&journal, &kept[..cut]).unwrap();
    let message = place.swept(&["-o", "parts.csv", "--jobs", "1"]);
    let there = message.split(" of ").next().unwrap().trim_start_matches("n2sim: ");
    let there: usize = there.parse().unwrap();
    // Of sixty lines one is the head, and one was cut.
    assert!((58..RUNS).contains(&there), "{message}");
    assert_eq!(place.text("parts.csv"), place.text("whole.csv"));
    assert!(!journal.exists(), "nothing is left to be kept");
}

#[test]
fn a_row_has_what_stat_counts_on_that_configuration() {
    let grid = GRID.replace("[64, 96, 128, 160]", "[96]").replace("[1, 2, 4, 6, 8]", "[2]");
    let place = Place::new(&grid);
    place.swept(&["--plots", "plot"]);
    let table = place.text("grid.csv");
    let mut lines = table.lines();
    assert_eq!(
        lines.next().unwrap(),
        "trace,pipeline.window.rob,memory.prefetch.l2-stream,memory.prefetch.l2-degree-lines,\
         pipeline.window.retire-width,config-hash,cpu_cycles,inst_retired,l1d_cache_refill,ipc,l1d_mpki"
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 20);
    let row = &rows[13];
    assert!(row[0].ends_with("sort.n2t"));
    assert_eq!(row[1..5], ["96", "true", "2", "8"]);
    let mut stat = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    stat.args(["stat", row[0], "-j", "--limit", "2k", "--set", "pipeline.window.rob=96"]);
    stat.args(["--set", "memory.prefetch.l2-degree-lines=2"]);
    let printed = String::from_utf8(stat.output().unwrap().stdout).unwrap();
    let count = |event: &str| {
        let rows = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let row = rows.into_iter().find(|row| row["event"] == event).unwrap();
        row["counter-value"].as_str().unwrap().parse::<f64>().unwrap()
    };
    for (column, event) in [(6, "cpu_cycles"), (7, "inst_retired"), (8, "l1d_cache_refill")] {
        assert_eq!(row[column].parse::<f64>().unwrap(), count(event), "{event}");
    }
    let ipc: f64 = row[9].parse().unwrap();
    assert!((ipc - count("inst_retired") / count("cpu_cycles")).abs() < 1e-12);
    let drawn = place.text("plot-pipeline.window.retire-width.svg");
    for piece in
        [">Sensitivity of ipc to the window retire width<", ">pipeline.window.retire-width<"]
    {
        assert!(drawn.contains(piece), "no '{piece}' in {drawn}");
    }
    assert!(!place.file("plot-pipeline.window.rob.svg").exists(), "one value is not a curve");
}

#[test]
fn runs_of_another_sweep_are_not_mixed_in() {
    let place = Place::new(GRID);
    interrupt(&place, "t.csv", 3);
    let other = place.text("grid.toml").replace("\"2k\"", "\"3k\"");
    std::fs::write(place.file("grid.toml"), other.replace("[64, 96, 128, 160]", "[64]")).unwrap();
    let message = place.refused(&["-o", "t.csv"]);
    assert!(message.contains("t.csv.runs: remove it, give another -o"), "{message}");
    assert!(message.contains("another grid"), "{message}");
    let small = place.text("grid.toml").replace("[1, 2, 4, 6, 8]", "[2]");
    std::fs::write(place.file("grid.toml"), small).unwrap();
    let message = place.swept(&["-o", "t.csv", "--restart"]);
    assert!(message.contains("20 runs in t.csv"), "{message}");
}

#[test]
fn a_wrong_grid_is_refused_before_the_first_run() {
    let wrong = |from: &str, to: &str, args: &[&str]| {
        let place = Place::new(&GRID.replace(from, to));
        let message = place.refused(args);
        assert!(
            !place.file("grid.csv").exists() && !place.file("grid.csv.runs").exists(),
            "{message}"
        );
        message
    };
    for (from, to, expected) in [
        ("rob\"", "robb\"", "robb"),
        ("[64, 96, 128, 160]", "[64, 0]", "rob"),
        ("[64, 96, 128, 160]", "[]", "vary pipeline.window.rob: it has no values"),
        ("[64, 96, 128, 160]", "[64, 64]", "the value 64 is there twice"),
        ("[64, 96, 128, 160]", "[[64]]", "is not a single value"),
        ("pipeline.window.rob", "pipeline.window.retire-width", "varies twice"),
        ("hash.n2t", "hush.n2t", "hush.n2t"),
        ("\"2k\"", "\"2x\"", "limit: give a number of instructions"),
        ("\"2k\"", "0", "limit: give at least one instruction"),
        ("\"ipc\"", "\"icp\"", "metrics: none is called 'icp'"),
        ("\"cpu_cycles\"", "\"cpu_cycle\"", "events: "),
        ("limit", "limits", "limits"),
        ("traces = [", "traces = []\nset = [", "it has no trace"),
    ] {
        let message = wrong(from, to, &[]);
        assert!(message.contains(expected) && message.contains("grid.toml"), "{to}: {message}");
    }
    let message = wrong("", "", &["--plots", "p", "--plot-metric", "cpi"]);
    assert!(
        message.contains("--plot-metric cpi: the grid has the metrics [ipc, l1d_mpki]"),
        "{message}"
    );
    let message = wrong("", "", &["-o", "nowhere/t.csv"]);
    assert!(message.contains("there is no directory nowhere"), "{message}");
}

#[test]
#[cfg(debug_assertions)]
fn a_run_that_is_refused_memory_runs_again_after_the_others() {
    let place = Place::new(SMALL_GRID);
    let message = |args: &[&str], variable: &str, value: &str| {
        let output = place.command(args).env(variable, value).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let whole = message(&["-o", "whole.csv"], "N2SIM_COUNT_CALLS", "1");
    assert!(!whole.contains("--max-memory"), "{whole}");
    let made = whole.lines().find_map(|line| line.strip_suffix(" reservations of memory"));
    let last = made.expect(&whole).trim_start_matches("n2sim: ");
    // The last reservation is one of the runs; it is refused, as if other runs had the memory.
    let message = message(&["-o", "again.csv"], "N2SIM_REFUSE_MEMORY", last);
    let again = "1 of 3 runs did not fit beside the others and ran again alone; lower --jobs or raise --max-memory";
    assert!(message.contains(again), "{message}");
    assert_eq!(place.text("again.csv"), place.text("whole.csv"));
}

#[test]
fn a_run_that_does_not_fit_the_memory_alone_ends_the_sweep() {
    let place = Place::new(SMALL_GRID);
    let message = place.refused(&["--max-memory", "1M", "-o", "none.csv"]);
    assert!(
        message.contains("hash.n2t") && message.contains("raise it with --max-memory"),
        "{message}"
    );
}
