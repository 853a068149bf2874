//! `docs/conformance.md` says what the scenarios say, and no memory event is without a case.

use sim_tests::conformance::{page, rules_without_case, without_case};
use sim_tests::{read, repository};

#[test]
fn the_page_is_up_to_date() {
    let page = page().unwrap_or_else(|error| panic!("{error}"));
    let kept = read(&repository().join("docs/conformance.md"));
    assert!(page == kept, "run `cargo run -p xtask -- conformance` and commit docs/conformance.md");
}

#[test]
fn no_memory_event_is_without_a_case() {
    let names: Vec<&str> = without_case().iter().map(|event| event.mnemonic()).collect();
    assert!(names.is_empty(), "no case below tests/scenarios holds {}", names.join(", "));
}

#[test]
fn no_rule_of_registers_and_other_cores_is_without_a_case() {
    let rules = rules_without_case();
    assert!(rules.is_empty(), "no case below tests/scenarios holds {}", rules.join(", "));
}
