//! `docs/conformance.md` is up to date with the scenarios, and every memory event has a case.

use sim_tests::conformance::{page, rules_without_case, without_case};
use sim_tests::{read, repository};

#[test]
fn the_page_is_up_to_date() {
    let page = page().unwrap_or_else(|error| panic!("{error}"));
    let kept = read(&repository().join("docs/conformance.md"));
    assert!(page == kept, "run `cargo run -p xtask -- conformance` and commit docs/conformance.md");
}

#[test]
fn every_memory_event_has_a_case() {
    let names: Vec<&str> = without_case().iter().map(|event| event.mnemonic()).collect();
    assert!(names.is_empty(), "no case below tests/scenarios holds {}", names.join(", "));
}

#[test]
fn every_rule_of_registers_and_other_cores_has_a_case() {
    let rules = rules_without_case();
    assert!(rules.is_empty(), "no case below tests/scenarios holds {}", rules.join(", "));
}
