//! Scenario files: the counts of each case, and whether it holds.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::{Counts, PmuEvent};
use sim_scenario::{Case, parse, run_case};

use crate::machine::Choice;

/// Counts by mnemonic; events that did not count are left out.
pub(crate) type Counted = BTreeMap<&'static str, u64>;

/// Result of a case.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    test: String,
    claim: String,
    holds: bool,
    /// Reasons if it does not hold.
    why: String,
    counts: Counted,
}

/// Runs every case of a file.
pub(crate) fn check(file: &str, text: &str, machine: &Choice) -> Result<Vec<Checked>, String> {
    let cases = parse(file, text).map_err(|error| error.to_string())?;
    machine.with(|source| {
        let run = |case: &Case| {
            let verdict = run_case(case, source).map_err(|error| error.to_string())?;
            let holds = verdict.holds();
            Ok(Checked {
                test: case.test.clone(),
                claim: case.claim.clone(),
                holds,
                why: if holds { String::new() } else { verdict.explain(file, case) },
                counts: counted(&verdict.counts),
            })
        };
        cases.iter().map(run).collect()
    })
}

/// Returns the values of all events that counted, sums and aliases included.
pub(crate) fn counted(counts: &Counts) -> Counted {
    let value = |event: PmuEvent| (event.mnemonic(), counts.value(event));
    PmuEvent::ALL.into_iter().map(value).filter(|(_, n)| *n > 0).collect()
}
