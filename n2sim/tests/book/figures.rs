//! The flows in the book are drawn from what the model walks: with the counts of chapter 1's two
//! loads. The traffic between cores is drawn from runs of the recorded programs.

use std::fs;
use std::path::Path;
use std::process::Command;

use sim_core::flow::{Flow, FlowGraph};
use sim_machine::ConfigSource;
use sim_report::{RunReport, flow, report_page};
use sim_scenario::{self as scenario, Reading, Recorded, configure, run_case_on};

use super::{book, repository};

/// Flows that a chapter shows, with their files.
const FIGURES: [(Flow, &str); 3] = [
    (Flow::LoadTlb, "flow-5-1.svg"),
    (Flow::L1dRead, "flow-5-4.svg"),
    (Flow::L2Read, "flow-5-7.svg"),
];

#[test]
fn flows_are_drawn_as_the_model_walks_them() {
    let file = book().join("scenarios/1-path.toml");
    let cases = scenario::parse("1-path.toml", &fs::read_to_string(file).unwrap()).unwrap();
    let config = configure(&cases[0], &ConfigSource::default()).unwrap();
    let (_, recorded) =
        run_case_on(&cases[0], &config, Reading::Guide, Recorded::default()).unwrap();
    for (shown, name) in FIGURES {
        let picture = flow::svg(&FlowGraph::new(shown), Some(&recorded.flows));
        expect_picture(&book().join("src/figures").join(name), &picture);
    }
}

/// Compares a picture with its file, or writes the file.
fn expect_picture(path: &Path, picture: &str) {
    if std::env::var_os("N2SIM_BLESS").is_some() {
        fs::write(path, picture).unwrap();
    }
    let is_same = fs::read_to_string(path).is_ok_and(|old| old == picture);
    assert!(is_same, "{} is another one", path.display());
}

/// Returns the report of a committed trace of several threads.
fn report(name: &str) -> RunReport {
    let trace = repository().join("traces/parallel").join(name);
    let mut report = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    let done = report.arg("report").arg(trace).arg("--json").output().unwrap();
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn traffic_between_cores_is_drawn_as_the_programs_cause_it() {
    let (adjacent, padded) = (report("readers_adjacent.n2t"), report("readers_padded.n2t"));
    let both = [("readers_adjacent", &adjacent), ("readers_padded", &padded)];
    expect_picture(&book().join("src/figures/waits.svg"), &report_page::waits_file(&both));
    let map = report_page::map_file(adjacent.mesh.as_ref().unwrap());
    expect_picture(&repository().join("docs/figures/mesh.svg"), &map);
}

#[test]
fn the_speed_up_of_the_readers_is_drawn_as_the_command_draws_it() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = folder.path().join("scaling.svg");
    let trace = repository().join("traces/parallel/readers_adjacent.n2t");
    let mut scaling = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    let done = scaling.arg("scaling").arg(trace).arg("--plot").arg(&drawn).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let picture = fs::read_to_string(drawn).unwrap();
    expect_picture(&repository().join("docs/figures/scaling.svg"), &picture);
}
