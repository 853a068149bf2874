//! Every directed case of `tests/scenarios`, each on a machine of its own.

use sim_machine::{ConfigSource, Profile};
use sim_scenario::run_case;
use sim_tests::{files_below, read, repository};

/// Runs all cases of all files on a machine of the guide.
#[test]
fn every_scenario_holds() {
    every_scenario_holds_in(Profile::Guide);
}

/// Runs all cases on a machine of the profile silicon, with its expectations.
#[test]
fn every_scenario_holds_in_profile_silicon() {
    every_scenario_holds_in(Profile::Silicon);
}

/// Runs all cases of all files and fails with every wrong count of every case.
fn every_scenario_holds_in(profile: Profile) {
    let source = ConfigSource { profile, ..ConfigSource::default() };
    let top = repository();
    let mut cases = 0;
    let mut failures = Vec::new();
    for path in files_below(&top.join("tests/scenarios"), "toml") {
        let file = path.strip_prefix(&top).unwrap_or(&path).display().to_string();
        match sim_scenario::parse(&file, &read(&path)) {
            Err(error) => failures.push(error.to_string()),
            Ok(parsed) => {
                for case in parsed {
                    cases += 1;
                    match run_case(&case, &source) {
                        Ok(verdict) if verdict.holds() => {}
                        Ok(verdict) => failures.push(verdict.explain(&file, &case)),
                        Err(error) => failures.push(format!("{file}: {error}")),
                    }
                }
            }
        }
    }
    assert!(cases > 120, "only {cases} cases were found below tests/scenarios");
    let failed = failures.len();
    assert!(failures.is_empty(), "{failed} of {cases} cases fail:\n{}", failures.join("\n"));
}

/// A million steps from one line of text: work that grows with their square would never end.
#[test]
fn a_million_steps_are_set_up_one_by_one() {
    let text = "guide = 'g'\nclaim = 'c'\ntest = 't'\ngiven = 'K3'\nothers = 'any'\n\
        do = 'LD8 0x8000 step 64 x 1000000'\nexpect = 'LD_SPEC 1000000'\n";
    let cases = sim_scenario::parse("million.toml", text).expect("a case");
    let verdict = run_case(&cases[0], &ConfigSource::default()).expect("it runs");
    assert!(verdict.holds(), "{}", verdict.explain("million.toml", &cases[0]));
}

/// A case must compare something, and no two cases of a file share a name.
#[test]
fn every_case_compares_something_and_has_its_own_name() {
    let top = repository();
    for path in files_below(&top.join("tests/scenarios"), "toml") {
        let file = path.display().to_string();
        let cases =
            sim_scenario::parse(&file, &read(&path)).unwrap_or_else(|error| panic!("{error}"));
        for (i, case) in cases.iter().enumerate() {
            let looks = !case.expect.events.is_empty()
                || !case.expect.counters.is_empty()
                || !case.expect.registers.is_empty()
                || !case.expect.profile.is_empty()
                || !case.expect.statements.is_empty()
                || !case.mesh.is_empty();
            assert!(looks, "{file}: {} expects nothing", case.test);
            let twin = cases[..i].iter().any(|other| other.test == case.test);
            assert!(!twin, "{file}: two cases are called {}", case.test);
        }
    }
}

/// The runner must be able to fail: a vector that belongs to another state is refuted, with the
/// step that counted too much.
#[test]
fn a_wrong_expectation_is_refuted_with_event_step_and_place() {
    let text = "guide = '5.4'\nclaim = 'wrong on purpose'\ntest = 'wrong'\ngiven = 'K2'\n\
        do = 'LD8 0x8000'\nexpect = 'V3'\n";
    let case = sim_scenario::parse("wrong.toml", text).expect("it can be read").remove(0);
    let source = ConfigSource { profile: Profile::Guide, ..ConfigSource::default() };
    let verdict = run_case(&case, &source).expect("it can be run");
    assert!(!verdict.holds());
    let printed = verdict.explain("wrong.toml", &case);
    for part in [
        "wrong.toml:1: wrong fails: wrong on purpose (5.4)",
        "L2D_CACHE_RD: expected 0, counted 1",
        "1 by LD8 0x8000 (wrong.toml:5:7)",
    ] {
        assert!(printed.contains(part), "{part}\nis not in\n{printed}");
    }
}
