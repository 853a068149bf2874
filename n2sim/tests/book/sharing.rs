//! The lines of `perf c2c report` that the chapter on sharing shows are those that perf prints of
//! the same samples.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{book, repository};
use crate::recording::{N2SIM, in_path, must_not_be_required};

#[test]
fn perf_finds_the_shared_line_that_the_book_shows() {
    let event = ["-e", "arm_spe_0//", "-c", "1024"];
    check("threads/atomic_adjacent.n2t", &event, "[.] work", 2);
}

#[test]
fn perf_finds_the_readers_that_the_book_shows() {
    let program = repository().join("traces/parallel/readers_adjacent.elf").display().to_string();
    let event = "arm_spe_0/load_filter=1,store_filter=1/";
    let args = ["--elf", &program, "-e", event, "-c", "1024"];
    check("parallel/readers_adjacent.n2t", &args, "[.] look_up", 6);
}

/// The lines of the chapter with this symbol are those that `perf c2c report` prints of a record.
fn check(trace: &str, args: &[&str], symbol: &str, lines: usize) {
    let Some(perf) = in_path("perf") else {
        must_not_be_required("perf");
        return;
    };
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("sharing.data");
    let mut record = Command::new(N2SIM);
    record.arg("record").arg(repository().join("traces").join(trace)).args(args);
    assert!(record.arg("-o").arg(&data).output().unwrap().status.success());
    let mut report = Command::new(perf);
    report.args(["c2c", "report", "--stdio", "-i"]).arg(&data).current_dir(folder.path());
    let output = report.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Vec<&str>> = printed
        .lines()
        .filter(|line| line.contains(symbol))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), lines, "{printed}");
    let chapter = fs::read_to_string(book().join("src/12-sharing.md")).unwrap();
    let shown: Vec<&str> = chapter.lines().filter(|line| line.contains(symbol)).collect();
    assert_eq!(shown.len(), rows.len());
    for (line, row) in shown.iter().zip(rows) {
        // The book leaves out columns: what it shows is in perf's row, in this order.
        let mut rest = row.iter();
        for word in line.split_whitespace() {
            assert!(rest.any(|own| *own == word), "{word} of {line} is not in {row:?}");
        }
    }
}
