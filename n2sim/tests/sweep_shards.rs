//! `n2sim sweep --shard` and `--gather`: a sweep over several machines ends with the table of one.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sim_trace::TraceFile;

use crate::sweep::Place;

/// Runs of 50000 instructions: three traces on sixteen machines.
const GRID: &str = r#"
traces = ["TRACES/vector.n2t", "TRACES/aes_sha.n2t", "TRACES/matrix.n2t"]
limit = "50k"
events = ["cpu_cycles", "INST_RETIRED", "l1d_cache_refill"]
metrics = ["ipc", "l1d_mpki"]

[[vary]]
key = "pipeline.window.rob"
values = [64, 96, 128, 160]

[[vary]]
key = "memory.prefetch.l2-degree-lines"
values = [1, 2, 4, 6]
"#;
const SHARES: usize = 16;
/// Runs of a share.
const RUNS: usize = 3;

/// Four runs, two of which fail: `vector` has fewer instructions than the warm-up.
const FAILING_GRID: &str = r#"
traces = ["TRACES/vector.n2t", "TRACES/aes_sha.n2t"]
warmup = "400k"
limit = "1k"
events = ["cpu_cycles"]
metrics = ["ipc"]

[[vary]]
key = "pipeline.window.rob"
values = [64, 96]
"#;

/// Makes the directory of the runs.
fn place_with_runs(grid: &str) -> Place {
    let place = Place::new(grid);
    fs::create_dir(place.file("runs")).unwrap();
    place
}

fn share(place: &Place, number: usize, of: usize) -> String {
    place.swept(&["--shard", &format!("{number}/{of}"), "--runs", "runs"])
}

fn journal(number: usize) -> String {
    format!("runs/{number}-of-{SHARES}.runs")
}

/// Starts a share and kills it when one of its runs is in the journal.
fn interrupt(place: &Place, number: usize) {
    let name = journal(number);
    let shard = format!("{number}/{SHARES}");
    for _ in 0..10 {
        let mut command = place.command(&["--shard", &shard, "--runs", "runs", "--jobs", "1"]);
        let mut child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let lines = || fs::read_to_string(place.file(&name)).map_or(0, |text| text.lines().count());
        while lines() < 2 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if lines() <= RUNS {
            return;
        }
        // A busy host let it end before it was killed.
        fs::remove_file(place.file(&name)).unwrap();
    }
    panic!("share {number} always ended before it was killed");
}

/// Returns what a command says that ends with this status.
fn said(place: &Place, args: &[&str], status: i32) -> String {
    let output = place.sweep(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

#[test]
fn shares_that_were_killed_and_lost_are_named_and_made_again() {
    let place = place_with_runs(GRID);
    place.swept(&["-o", "whole.csv"]);
    for number in 1..=SHARES {
        match number {
            3 | 8 | 13 => interrupt(&place, number),
            _ => assert!(share(&place, number, SHARES).contains("3 runs in runs/")),
        }
    }
    fs::remove_file(place.file(&journal(11))).unwrap();
    // What a kill may leave: a line that is not whole.
    let kept = place.text(&journal(8));
    fs::write(place.file(&journal(8)), &kept[..kept.len() - 40]).unwrap();

    let gather = ["--gather", "runs", "-o", "parts.csv"];
    let message = said(&place, &gather, 2);
    let named: Vec<&str> = message
        .lines()
        .filter_map(|line| line.trim().strip_prefix("share "))
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(named, ["3/16", "8/16", "11/16", "13/16"], "{message}");
    assert!(message.contains("share 11/16: 3 of 3 runs missing, no 11-of-16.runs"), "{message}");
    assert!(message.contains("missing: ") && message.contains("pipeline.window.rob="), "{message}");
    assert!(!place.file("parts.csv").exists(), "no half of a table");

    let before = [3, 13].map(|number| (number, place.text(&journal(number))));
    let commands: Vec<&str> =
        message.lines().filter_map(|line| line.trim().strip_prefix("n2sim sweep ")).collect();
    assert_eq!(commands.len(), 4, "{message}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "grid.toml");
        place.swept(&words[1..]);
    }
    for (number, before) in before {
        let after = place.text(&journal(number));
        assert!(after.starts_with(&before), "runs of the killed process are kept");
        assert_eq!(after.lines().count(), 1 + RUNS, "and not made again");
    }
    let message = said(&place, &gather, 0);
    assert!(message.contains("48 runs in parts.csv"), "{message}");
    assert_eq!(place.text("parts.csv"), place.text("whole.csv"));
    assert!(place.file(&journal(1)).exists(), "the runs stay");
}

#[test]
fn shares_of_different_numbers_make_one_table() {
    let place = place_with_runs(&GRID.replace("50k", "2k"));
    place.swept(&["-o", "whole.csv", "--plots", "whole"]);
    for (number, of) in [(1, 2), (2, 3), (3, 3), (50, 50)] {
        share(&place, number, of);
    }
    said(&place, &["--gather", "runs", "-o", "parts.csv", "--plots", "parts"], 0);
    assert_eq!(place.text("parts.csv"), place.text("whole.csv"));
    let figure = |prefix| place.text(&format!("{prefix}-pipeline.window.rob.svg"));
    assert_eq!(figure("parts"), figure("whole"));
    // More shares than runs: some have none, and say so.
    let message = share(&place, 1, 50);
    assert!(message.contains("share 1/50: 0 runs in runs/1-of-50.runs"), "{message}");
}

#[test]
fn failed_runs_are_rows_with_their_error() {
    let place = place_with_runs(FAILING_GRID);
    let message = said(&place, &["-o", "whole.csv"], 1);
    assert!(message.contains("2 of 4 rows failed: the column error"), "{message}");
    let table = place.text("whole.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "trace,pipeline.window.rob,config-hash,cpu_cycles,ipc,error");
    for line in &lines[1..3] {
        assert!(line.contains(",,,"), "no counts: {line}");
        assert!(line.contains("vector.n2t: --warmup 400000 leaves nothing to count"), "{line}");
    }
    assert!(lines[3..].iter().all(|line| line.ends_with(',')), "no error: {table}");
    for number in 1..=2 {
        share(&place, number, 2);
    }
    said(&place, &["--gather", "runs", "-o", "parts.csv"], 1);
    assert_eq!(place.text("parts.csv"), table);
}

#[test]
fn wrong_shares_and_options_are_refused() {
    let place = place_with_runs(GRID);
    let refused = |args: &[&str]| said(&place, args, 2);
    for (shard, message) in [
        ("0/4", "there is no share 0 of 4: I is from 1 to 4"),
        ("5/4", "there is no share 5 of 4: I is from 1 to 4"),
        ("1/0", "N is 0: give at least one share"),
        ("x", "give share I of N as I/N, such as 3/16"),
    ] {
        let error = refused(&["--shard", shard, "--runs", "runs"]);
        assert!(error.contains(message), "{shard}: {error}");
    }
    for (args, message) in [
        (&["--shard", "1/4"][..], "--runs"),
        (&["--runs", "runs"], "--shard"),
        (&["--shard", "1/4", "--runs", "runs", "-o", "t.csv"], "cannot be used with"),
        (&["--shard", "1/4", "--runs", "runs", "--plots", "p"], "cannot be used with"),
        (&["--shard", "1/4", "--runs", "runs", "--gather", "runs"], "cannot be used with"),
        (&["--gather", "runs", "--restart"], "cannot be used with"),
        (&["--gather", "runs", "--jobs", "2"], "cannot be used with"),
        (&["--shard", "1/4", "--runs", "none"], "there is no directory none"),
        (&["--gather", "none"], "cannot read the directory none"),
        (&["--gather", "runs", "-o", "none/t.csv"], "there is no directory none"),
    ] {
        let error = refused(args);
        assert!(error.contains(message), "{args:?}: {error}");
    }
    assert_eq!(place.file("runs").read_dir().unwrap().count(), 0, "nothing was written");
    let error = refused(&["--gather", "runs"]);
    assert!(
        error.contains("the directory runs lacks 48 of 48 runs; grid.csv is not written"),
        "{error}"
    );
    assert!(error.contains("n2sim sweep grid.toml --shard 1/1 --runs runs"), "{error}");
}

#[test]
fn files_of_runs_that_are_damaged_or_of_another_grid_are_named() {
    let place = place_with_runs(&GRID.replace("50k", "2k"));
    share(&place, 1, 8);
    let good = place.text("runs/1-of-8.runs");
    fs::write(place.file("runs/1-of-8.runs"), good.replacen("cores", "cares", 1)).unwrap();
    let message = said(&place, &["--gather", "runs"], 2);
    assert!(
        message.contains("1-of-8.runs: remove it and run its share again: line 2"),
        "{message}"
    );
    let message = said(&place, &["--shard", "1/8", "--runs", "runs"], 2);
    assert!(message.contains("runs/1-of-8.runs: remove it, give another --runs"), "{message}");
    fs::write(place.file("runs/1-of-8.runs"), &good).unwrap();

    // The same run with another count.
    let counts = good.find("\"counts\":[").unwrap() + "\"counts\":[".len();
    let other = format!("{}9{}", &good[..counts], &good[counts..]);
    fs::write(place.file("runs/copy.runs"), other).unwrap();
    let message = said(&place, &["--gather", "runs"], 2);
    assert!(message.contains("1-of-8.runs and runs/copy.runs disagree"), "{message}");
    fs::remove_file(place.file("runs/copy.runs")).unwrap();

    let grid = place.text("grid.toml").replace("\"2k\"", "\"3k\"");
    fs::write(place.file("grid.toml"), grid).unwrap();
    let message = said(&place, &["--shard", "1/8", "--runs", "runs"], 2);
    assert!(message.contains("another grid, other traces or another version"), "{message}");
    for number in 2..=8 {
        share(&place, number, 8);
    }
    let message = said(&place, &["--gather", "runs"], 2);
    assert!(message.contains("1-of-8.runs: ignored rows of another grid: 6"), "{message}");
    assert!(message.contains("share 1/8: 6 of 6 runs missing, no 1-of-8.runs"), "{message}");
    place.swept(&["--shard", "1/8", "--runs", "runs", "--restart"]);
    said(&place, &["--gather", "runs"], 0);
}

/// Damages a byte of the first instructions of a trace, which is found when they are read.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let found = (0..bytes.len()).rev().any(|place| {
        bytes[place] ^= 0xFF;
        fs::write(path, &bytes).unwrap();
        let is_found = TraceFile::open(path).is_ok_and(|file| {
            let reader = file.reader(0);
            reader.and_then(|mut reader| reader.next_batch(&mut Vec::new())).is_err()
        });
        bytes[place] ^= 0xFF;
        is_found
    });
    assert!(found, "no byte of an instruction");
}

#[test]
fn a_damaged_trace_ends_the_sweep_after_the_other_runs() {
    let place = place_with_runs(&GRID.replace("50k", "2k"));
    let text = place.text("grid.toml");
    let first = text.split('"').nth(1).unwrap();
    fs::copy(first, place.file("damaged.n2t")).unwrap();
    damage(&place.file("damaged.n2t"));
    fs::write(place.file("grid.toml"), text.replace(first, "damaged.n2t")).unwrap();
    for args in [&["--shard", "1/1", "--runs", "runs"][..], &["-o", "t.csv"]] {
        let message = said(&place, args, 2);
        assert!(message.contains("16 of 48 runs could not be made"), "{message}");
        assert!(message.contains("damaged.n2t pipeline.window.rob=64"), "{message}");
    }
    assert_eq!(place.text("runs/1-of-1.runs").lines().count(), 1 + 32, "the others are kept");
    assert!(!place.file("t.csv").exists(), "no half of a table");
    fs::copy(first, place.file("damaged.n2t")).unwrap();
    let message = place.swept(&["-o", "t.csv"]);
    assert!(message.contains("32 of 48 runs are there already"), "{message}");
}

#[test]
fn a_table_is_parquet_if_its_name_says_so() {
    let place = place_with_runs(&GRID.replace("50k", "1k").replace("[64, 96, 128, 160]", "[64]"));
    if cfg!(feature = "parquet") {
        place.swept(&["-o", "whole.parquet"]);
        share(&place, 1, 1);
        said(&place, &["--gather", "runs", "-o", "parts.parquet"], 0);
        let whole = fs::read(place.file("whole.parquet")).unwrap();
        assert!(whole.starts_with(b"PAR1"));
        assert_eq!(fs::read(place.file("parts.parquet")).unwrap(), whole);
        return;
    }
    for args in [&["-o", "t.parquet"][..], &["--gather", "runs", "-o", "t.parquet"]] {
        let message = said(&place, args, 2);
        assert!(message.contains("cannot write t.parquet: this n2sim was built without Parquet"));
    }
}

/// Given one trace in three parts on three machines, then the row has the counts of
/// `estimate --jobs 3`.
#[test]
fn one_long_trace_spreads_over_machines() {
    let place = place_with_runs(
        "traces = [\"TRACES/aes_sha.n2t\"]\nparts = 3\nevents = [\"cpu_cycles\", \"l1d_cache\"]\n",
    );
    for number in 1..=3 {
        assert!(share(&place, number, 3).contains("counted in 3 parts"));
    }
    let message = place.swept(&["--gather", "runs", "-o", "table.csv"]);
    assert!(message.contains("3 runs in table.csv; rows: 1"), "{message}");
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/aes_sha.n2t");
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.arg("estimate").arg(trace).args(["--jobs", "3", "-x,", "-e", "cpu_cycles,l1d_cache"]);
    let counts = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let counts: Vec<&str> = counts.lines().map(|line| line.split(',').next().unwrap()).collect();
    let row = place.text("table.csv");
    assert!(row.trim_end().ends_with(&format!(",{}", counts.join(","))), "{row} {counts:?}");
}
