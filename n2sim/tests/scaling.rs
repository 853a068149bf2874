//! `n2sim scaling`, and threads that share cores in other commands.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

fn trace(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name).display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.env("N2SIM_PROGRESS", "off").args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the message of wrong input.
fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn rows_are_the_runs_on_so_many_cores() {
    let (trace, folder) = (trace("threads/plain_padded.n2t"), tempfile::tempdir().unwrap());
    let figure = folder.path().join("scaling.svg");
    let text = printed(&["scaling", &trace, "-x", ",", "--plot", figure.to_str().unwrap()]);
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0].len(), 13);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "2"]);
    for row in &rows {
        let cores = format!("threads.cores={}", row[0]);
        let run = ["stat", &trace, "-e", "cpu_cycles", "-x", ",", "--set", &cores];
        let counted = printed(&run);
        let counted: f64 = counted.split(',').next().unwrap().parse().unwrap();
        let [cores, cycles, switching, idle]: [f64; 4] =
            [0, 1, 8, 9].map(|at| row[at].parse().unwrap());
        let on_cores = cores * cycles * (1.0 - (idle + switching) / 100.0);
        assert!(switching >= 0.0 && (0.0..50.0).contains(&idle), "{row:?}");
        assert!((on_cores - counted).abs() < counted * 0.001, "{on_cores} of {counted}: {row:?}");
    }
    let speed_up: f64 = rows[1][3].parse().unwrap();
    assert!((1.5..2.05).contains(&speed_up), "two threads that share nothing: {text}");
    let drawn = std::fs::read_to_string(figure).unwrap();
    assert!(drawn.contains("Speed-up of plain_padded over cores"));
}

#[test]
fn wrong_input_is_named() {
    let threads = trace("threads/plain_padded.n2t");
    let of = |args: &[&str]| refused(&[&["scaling"], args].concat());
    assert!(of(&[&trace("hash.n2t")]).contains("a scaling curve needs a trace of several"));
    assert!(of(&[&trace("absent.n2t")]).contains("absent.n2t"));
    assert!(of(&[&threads, "--cores", "2,1"]).contains("must ascend"));
    assert!(of(&[&threads, "--cores", "0"]).contains("give numbers from 1 to 2"));
    assert!(of(&[&threads, "--cores", "3"]).contains("give numbers from 1 to 2"));
    assert!(of(&[&threads, "--cores", "two"]).contains("'two'"));
    let slice = ["--set", "threads.slice-cycles=0"];
    assert!(of(&[&[threads.as_str()][..], &slice].concat()).contains("slice of 0 cycles"));
    let system = trace("system.n2t");
    assert!(of(&[&system]).contains("system"));
}

#[test]
fn every_command_takes_threads_that_share_a_core() {
    let trace = trace("parallel/queue.n2t");
    let shared = ["--set", "threads.cores=2"];
    let with = |args: &[&str]| printed(&[args, &shared].concat());
    let whole = ["stat", &trace, "-e", "inst_retired,l1d_cache_refill", "-x", ","];
    let retired = |text: &str| text.split(',').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(retired(&printed(&whole)), retired(&with(&whole)), "the same instructions");
    for mode in ["memory", "frontend"] {
        let args = ["stat", &trace, "--mode", mode, "-e", "inst_retired", "-x", ","];
        assert_eq!(retired(&printed(&args)), retired(&with(&args)), "{mode}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (page, data) = (file("page.html"), file("perf.data"));
    with(&["report", &trace, "-o", &page]);
    with(&["record", &trace, "-o", &data]);
    with(&["functions", &trace]);
    with(&["stat", &trace, "-I", "1"]);
    with(&["stat", &trace, "-M", "Mesh"]);
}
