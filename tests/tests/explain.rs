//! `n2sim explain` matches the model: the index is up to date, and every entry has a proof.

use sim_core::PmuEvent;
use sim_core::flow::Flow;
use sim_metrics::builtin;
use sim_report::explain::{self, Explanation};
use sim_tests::{explain_index, read, repository};

#[test]
fn the_index_matches_the_scenarios() {
    let fresh = explain_index::text().unwrap_or_else(|error| panic!("{error}"));
    let kept = read(&repository().join(explain_index::FILE));
    let differing = fresh.lines().zip(kept.lines()).find(|(fresh, kept)| fresh != kept);
    assert!(
        fresh == kept,
        "run `cargo run -p xtask -- explain-index`; first difference (now, kept): {differing:?}"
    );
}

#[test]
fn every_event_has_a_definition_and_a_proof() {
    for event in PmuEvent::ALL {
        let Explanation { name, counts, raised, scenarios, example, .. } = explain::event(event);
        assert_eq!(name, event.mnemonic());
        assert_eq!(counts.is_empty(), event.never_counts(), "{name}: what counts");
        assert!(!scenarios.is_empty(), "{name} has no scenario");
        let example = example.unwrap_or_else(|| panic!("{name} has no example"));
        assert!(example.output.contains("holds"), "{name}: {}", example.output);
        assert_eq!(raised.is_empty(), event.never_counts(), "{name}: where it is raised");
    }
}

/// Every named place exists.
#[test]
fn every_place_is_a_function_of_the_model() {
    for event in PmuEvent::ALL {
        for place in explain::event(event).raised {
            let text = read(&repository().join(&place.file));
            let head = format!("fn {}", place.function);
            assert!(text.contains(&head), "{}: no `{head}`", place.file);
        }
    }
}

/// Each built-in metric has a scenario whose counts state every event of its formula, and a value
/// there.
#[test]
fn every_metric_is_proved_by_counts_from_which_it_can_be_computed() {
    let catalog = builtin::catalog();
    for metric in catalog.metrics() {
        let Explanation { name, counts, relations, scenarios, example, .. } =
            explain::metric(metric, &catalog);
        assert!(!counts.is_empty() && !relations.is_empty(), "{name}");
        assert!(!scenarios.is_empty(), "{name} has no scenario");
        let output = example.map(|example| example.output).unwrap_or_default();
        let line = output.lines().find(|line| line.contains(&format!("  {name} = ")));
        let line = line.unwrap_or_else(|| panic!("{name} has no value: {output}"));
        assert!(!line.contains("no value") && !line.contains("= 0.000 "), "{line}");
    }
}

#[test]
fn every_flow_has_a_scenario_that_follows_it() {
    for flow in Flow::ALL {
        let explained = explain::section(flow.info().section).expect("a flow");
        assert!(!explained.scenarios.is_empty(), "{}", explained.name);
    }
}
