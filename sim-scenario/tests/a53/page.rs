//! `docs/cortex-a53-events.md`: each row of the manual's table, where the model raises it, and the
//! cases that prove it, or why it cannot occur. `N2SIM_BLESS=1 cargo test -p sim-scenario page::`
//! writes the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sim_a53::{A53Condition, A53Event};
use sim_pmu::other_core::{CORTEX_A53, OtherEvent};
use sim_scenario::a53::Measure;

use super::mutation::{Raised, TABLES, raising_lines};
use super::{FiledCase, all_cases, repository};

/// Largest number of cases that a row names; the rest is a number.
const NAMED: usize = 4;

const HEAD: &str = "# Events of the Cortex-A53: where raised, and by what proved

A test keeps this page up to date (`N2SIM_BLESS=1 cargo test -p sim-scenario page::` writes it). Rows are those of table 12.28 of the
Cortex-A53 manual; bits are those of the event bus. Files are below `sim-a53/src`, cases below `tests/scenarios-a53`; `n2sim check
tests/scenarios-a53` runs them. `cargo test -p sim-scenario mutation::` makes each place that raises an event silent, then double, and
requires that a case fails.

| Number | Bit | Event | Raised in | Cases, or why it cannot occur |
| --- | --- | --- | --- | --- |
";

/// Returns the measure of a row of the table; `None` for the row without number and bit.
fn measure_of(row: &OtherEvent) -> Option<Measure> {
    match (row.code, row.bus_bit) {
        (Some(code), _) => A53Event::from_code(code).map(Measure::Event),
        (None, Some(8)) => Some(Measure::TwoRetired),
        (None, Some(26)) => Some(Measure::Condition(A53Condition::L2Error)),
        (None, Some(27)) => Some(Measure::Condition(A53Condition::SnoopFilterError)),
        (None, Some(28)) => Some(Measure::Condition(A53Condition::VectorRetention)),
        _ => None,
    }
}

/// Returns the files that raise what is measured.
fn files_of(measure: Measure) -> BTreeSet<String> {
    let raised = match measure {
        Measure::Event(event) => Raised::Event(event),
        Measure::Condition(condition) => Raised::Condition(condition),
        // The core counts the pair where it retires the instructions.
        _ => Raised::Event(A53Event::INST_RETIRED),
    };
    let mut files = BTreeSet::new();
    for (file, _, code, named) in raising_lines() {
        let row = TABLES.iter().find(|row| file.ends_with(row.0) && code.contains(row.1));
        let listed = row.is_some_and(|row| row.2.iter().any(|e| Raised::Event(*e) == raised));
        if named.contains(&raised) || listed {
            files.insert(file.trim_start_matches("sim-a53/src/").to_owned());
        }
    }
    files
}

/// Returns the cases that are named after what is measured, then those that expect it to count.
fn cases_of(measure: Measure, cases: &[FiledCase]) -> Vec<&str> {
    let is_own = |test: &str| {
        let id = test.split(' ').next().and_then(|id| id.strip_prefix("T."));
        id.and_then(|id| id.split('.').next()) == Some(measure.name())
    };
    let counts = |filed: &&FiledCase| {
        let of = |own: &&sim_scenario::a53::Expected| own.measure == measure && own.bound.min > 0;
        !is_own(&filed.case.test) && filed.case.expect.iter().any(|own| of(&own))
    };
    let own = cases.iter().filter(|filed| is_own(&filed.case.test));
    let others = cases.iter().filter(counts);
    own.chain(others).map(|filed| filed.case.test.as_str()).collect()
}

/// Returns the page, and the rows with neither a proof nor a reason.
fn page() -> (String, Vec<String>) {
    let cases = all_cases();
    let (mut text, mut unproved) = (HEAD.to_owned(), Vec::new());
    for row in CORTEX_A53.events {
        let number = row.code.map_or("-".to_owned(), |code| format!("0x{code:02X}"));
        let bit = row.bus_bit.map_or("-".to_owned(), |bit| bit.to_string());
        let measure = measure_of(row);
        let reason = match measure {
            Some(Measure::Event(event)) => sim_a53::event::never_raised(event),
            Some(_) => None,
            None => Some(
                "it has neither a number nor a bit, and a trace does not say how long a core sleeps",
            ),
        };
        let name = match measure {
            Some(measure) => format!("`{}`: {}", measure.name(), row.title),
            None => row.title.to_owned(),
        };
        let (files, proof) = match (reason, measure) {
            (None, Some(measure)) => {
                let (files, names) = (files_of(measure), cases_of(measure, &cases));
                if files.is_empty() || names.is_empty() {
                    unproved.push(name.clone());
                }
                let mut shown: Vec<String> =
                    names.iter().take(NAMED).map(|name| (*name).to_owned()).collect();
                if names.len() > NAMED {
                    shown.push(format!("and {} more", names.len() - NAMED));
                }
                let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
                (files.join(", "), shown.join("; "))
            }
            (reason, _) => ("-".to_owned(), reason.unwrap_or_default().to_owned()),
        };
        let _ = writeln!(text, "| {number} | {bit} | {name} | {files} | {proof} |");
    }
    (text, unproved)
}

#[test]
fn the_page_is_up_to_date() {
    let path = repository().join("docs/cortex-a53-events.md");
    let (page, _) = page();
    if std::env::var_os("N2SIM_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == kept, "write it with N2SIM_BLESS=1 cargo test -p sim-scenario page::");
}

/// Every row is raised and proved, or says why it cannot occur.
#[test]
fn every_row_has_a_case_or_a_reason() {
    let (_, unproved) = page();
    assert!(unproved.is_empty(), "neither raised and proved nor excused: {}", unproved.join("; "));
}
