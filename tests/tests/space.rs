//! The space of possible counts: all counts of the model are inside, and tables with an error that
//! happens in practice are outside, each by an inequality that every real table keeps.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use sim_core::Counts;
use sim_core::pmu_event::{PmuEvent, Unit};
use sim_machine::{ConfigSource, MachineConfig, Profile, RunHeader, RunOptions, Session};
use sim_metrics::Count;
use sim_metrics::identities::{self, Assumptions};
use sim_space::{Inequality, Membership, Space, Table};
use sim_tests::cases::{RecordedCase, recorded_cases};
use sim_tests::{files_below, repository};

mod falsified;

/// Instructions of each thread that are run here.
const LIMIT: u64 = 1_000_000;

type Values = BTreeMap<PmuEvent, u64>;

fn space() -> Space {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    Space::new(&assumptions, |_| None)
}

fn table(values: &Values) -> Table {
    Table::new(values.iter().map(|(event, count)| (*event, Count::from(*count))), 0.0)
}

fn values(counts: &Counts) -> Values {
    PmuEvent::ALL.into_iter().map(|event| (event, counts.value(event))).collect()
}

/// Returns the counts of every core of the committed traces, as the guide counts them.
fn counts_of_traces() -> &'static [(String, Values)] {
    static COUNTED: OnceLock<Vec<(String, Values)>> = OnceLock::new();
    COUNTED.get_or_init(|| run_traces(Profile::Guide))
}

fn run_traces(profile: Profile) -> Vec<(String, Values)> {
    let mut all = Vec::new();
    for path in files_below(&repository().join("traces"), "n2t") {
        let source = ConfigSource { profile, ..ConfigSource::default() };
        let document = source.document().expect("an embedded configuration");
        let config = MachineConfig::from_document(&document).expect("a machine");
        let session = Session::open(&path, config, RunHeader::default()).expect("a trace");
        let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
        let outcome = session.run(&options, &mut |_| {}).expect("a run");
        for core in &outcome.cores {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            all.push((name, values(&core.counts.unpack())));
        }
    }
    all
}

/// Returns the counts of every scenario, without events of the core's clock where it does not run.
fn counts_of_scenarios() -> Vec<(String, Values)> {
    let of_case = |ran: &RecordedCase| {
        let mut own = values(&ran.recorded.counts);
        if !ran.clock_runs() {
            own.retain(|event, _| event.info().unit == Unit::Event);
        }
        (ran.case.test.clone(), own)
    };
    recorded_cases().iter().map(of_case).collect()
}

fn outside(space: &Space, all: &[(String, Values)]) -> Vec<String> {
    let faults = all.iter().filter_map(|(name, values)| match space.test(&table(values)) {
        Membership::Inside => None,
        Membership::Outside(inequality) => {
            let sides = inequality.values(|event| values.get(&event).copied());
            Some(format!("{name}: {inequality}: {sides:?}"))
        }
        Membership::Undecided => Some(format!("{name}: undecided")),
    });
    faults.collect()
}

#[test]
fn the_counts_of_every_scenario_are_inside() {
    let all = counts_of_scenarios();
    assert!(all.len() > 1000, "{}", all.len());
    let faults = outside(&space(), &all);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Both profiles: the space covers every reading of the guide.
#[test]
fn the_counts_of_every_trace_are_inside() {
    let silicon = run_traces(Profile::Silicon);
    for (profile, all) in [("guide", counts_of_traces()), ("silicon", &silicon)] {
        assert!(all.len() >= 11, "profile {profile}: {}", all.len());
        let faults = outside(&space(), all);
        let (number, list) = (faults.len(), faults.join("\n"));
        assert!(faults.is_empty(), "profile {profile}: {number} faults:\n{list}");
    }
}

/// Returns the inequality that a table violates.
fn refutation(space: &Space, values: &Values) -> Option<Inequality> {
    match space.test(&table(values)) {
        Membership::Outside(inequality) => Some(inequality),
        Membership::Inside | Membership::Undecided => None,
    }
}

fn old_check_finds(values: &Values) -> bool {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    let check = identities::check(|event| values.get(&event).copied(), &assumptions);
    !check.violations.is_empty()
}

#[test]
fn errors_that_happen_in_practice_are_outside() {
    let (space, real) = (space(), counts_of_traces());
    let cases = counts_of_scenarios();
    let (mut faults, mut found_before) = (Vec::new(), 0);
    for row in falsified::OUTSIDE {
        let values = row.values(real);
        found_before += usize::from(old_check_finds(&values));
        let Some(inequality) = refutation(&space, &values) else {
            faults.push(format!("{}: inside", row.error));
            continue;
        };
        if inequality.to_string() != row.inequality {
            faults.push(format!("{}: {inequality}", row.error));
        }
        if inequality.holds(|event| values.get(&event).copied()) {
            faults.push(format!("{}: {inequality} holds", row.error));
        }
        for (name, real) in real.iter().chain(&cases) {
            if !inequality.holds(|event| real.get(&event).copied()) {
                faults.push(format!("{}: {inequality} is wrong for {name}", row.error));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!((falsified::OUTSIDE.len(), found_before), (30, 3), "docs/space.md has both");
}

/// Errors that cannot be refuted are written down, too.
#[test]
fn some_errors_stay_inside() {
    let (space, real) = (space(), counts_of_traces());
    let mut faults = Vec::new();
    for row in falsified::INSIDE {
        let values = row.values(real);
        if let Some(inequality) = refutation(&space, &values) {
            faults.push(format!("{}: now {inequality} refutes it", row.error));
        }
        assert!(!old_check_finds(&values), "{}", row.error);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
