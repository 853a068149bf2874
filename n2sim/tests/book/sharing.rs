//! The lines of `perf c2c report` that the chapter on sharing shows are those that perf prints of
//! the same samples.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{book, repository};
use crate::recording::{N2SIM, in_path, must_not_be_required};

#[test]
fn perf_finds_the_shared_line_that_the_book_shows() {
    let Some(perf) = in_path("perf") else {
        must_not_be_required("perf");
        return;
    };
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("sharing.data");
    let trace = repository().join("traces/threads/atomic_adjacent.n2t");
    let mut record = Command::new(N2SIM);
    record.arg("record").arg(trace).args(["-e", "arm_spe_0//", "-c", "1024", "-o"]).arg(&data);
    assert!(record.output().unwrap().status.success());
    let mut report = Command::new(perf);
    report.args(["c2c", "report", "--stdio", "-i"]).arg(&data).current_dir(folder.path());
    let output = report.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Vec<&str>> = printed
        .lines()
        .filter(|line| line.contains("] work"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 2, "{printed}");
    let chapter = fs::read_to_string(book().join("src/12-sharing.md")).unwrap();
    let shown: Vec<&str> = chapter.lines().filter(|line| line.ends_with("] work")).collect();
    assert_eq!(shown.len(), rows.len());
    for (line, row) in shown.iter().zip(rows) {
        // The book leaves out columns: what it shows is in perf's row, in this order.
        let mut rest = row.iter();
        for word in line.split_whitespace() {
            assert!(rest.any(|own| *own == word), "{word} of {line} is not in {row:?}");
        }
    }
}
