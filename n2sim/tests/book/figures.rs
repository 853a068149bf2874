//! The flows in the book are drawn from what the model walks: with the counts of chapter 1's two
//! loads.

use std::fs;

use sim_core::flow::{Flow, FlowGraph};
use sim_machine::ConfigSource;
use sim_report::flow;
use sim_scenario::{self as scenario, Reading, Recorded, configure, run_case_on};

use super::book;

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
        let path = book().join("src/figures").join(name);
        let picture = flow::svg(&FlowGraph::new(shown), Some(&recorded.flows));
        if std::env::var_os("N2SIM_BLESS").is_some() {
            fs::write(&path, &picture).unwrap();
        }
        assert!(fs::read_to_string(path).is_ok_and(|old| old == picture), "{name} is another one");
    }
}
