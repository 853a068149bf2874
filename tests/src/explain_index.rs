//! The index of `n2sim explain`: where the model raises each event, and which cases prove it, as the model
//! itself says when all cases run.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::PmuEvent;
use sim_core::pmu_event::RelationKind;
use sim_machine::ConfigSource;
use sim_machine::scenario::{Verdict, configure, run_case_on};
use sim_report::case_counts;
use sim_report::explain::{EventEvidence, Example, Index, Place, Proof};
use sim_trace::scenario::Reading;

use crate::cases::{FiledCase, all_cases};
use crate::conformance::{bound_of, holding, is_own};
use crate::mutation::{Learner, Site};
use crate::{read, repository};

/// Where the index stands.
pub const FILE: &str = "sim-report/src/explain/index.json";

/// Most cases that an entry names; the rest is a number.
const NAMED: usize = 8;
/// Most events that an example shows beside the one that it is for.
const RELATED: usize = 5;

/// The text of the index as it should stand.
///
/// # Errors
///
/// A case cannot be run, or does not hold.
pub fn text() -> Result<String, String> {
    let index = index()?;
    let text = serde_json::to_string_pretty(&index).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// Runs all cases and writes down what they prove.
fn index() -> Result<Index, String> {
    let cases = all_cases();
    let mut verdicts = Vec::new();
    let mut sites = BTreeSet::new();
    for filed in &cases {
        let (verdict, learner) = run(filed)?;
        verdicts.push(verdict);
        sites.extend(learner.sites);
    }
    let places = places(&sites);
    let entry = |event: PmuEvent| EventEvidence {
        event: event.mnemonic().to_owned(),
        raised: places.get(&event).into_iter().flatten().cloned().collect(),
        ..evidence(event, &cases, &verdicts)
    };
    Ok(Index { events: PmuEvent::ALL.into_iter().map(entry).collect() })
}

fn run(filed: &FiledCase) -> Result<(Verdict, Learner), String> {
    let FiledCase { file, case } = filed;
    let told = |error: &dyn std::fmt::Display| format!("{file}: {}: {error}", case.test);
    let config = configure(case, &ConfigSource::default()).map_err(|error| told(&error))?;
    let (verdict, learner) = run_case_on(case, &config, Reading::Guide, Learner::default())
        .map_err(|error| told(&error))?;
    match verdict.holds() {
        true => Ok((verdict, learner)),
        false => Err(verdict.explain(file, case)),
    }
}

/// The sites by event, with their functions in place of lines: lines move too often to be kept.
fn places(sites: &BTreeSet<Site>) -> BTreeMap<PmuEvent, BTreeSet<Place>> {
    let mut functions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut places: BTreeMap<PmuEvent, BTreeSet<Place>> = BTreeMap::new();
    let top = repository();
    for site in sites {
        let of_lines =
            functions.entry(site.file).or_insert_with(|| by_line(&read(&top.join(site.file))));
        let place = Place {
            event: site.event.mnemonic().to_owned(),
            file: site.file.to_owned(),
            function: of_lines[site.line as usize - 1].clone(),
        };
        places.entry(site.event).or_default().insert(place);
    }
    places
}

/// For each line of a source the function that it stands in.
fn by_line(text: &str) -> Vec<String> {
    let mut function = String::new();
    text.lines()
        .map(|line| {
            let head = line.trim_start().trim_start_matches("pub").trim_start();
            let head =
                head.strip_prefix("(crate) ").or(head.strip_prefix("(super) ")).unwrap_or(head);
            if let Some(name) = head.strip_prefix("fn ") {
                function = name.split(['(', '<']).next().unwrap_or_default().to_owned();
            }
            function.clone()
        })
        .collect()
}

fn evidence(event: PmuEvent, cases: &[FiledCase], verdicts: &[Verdict]) -> EventEvidence {
    let holding = holding(cases, event);
    let proof = |i: &usize| Proof {
        test: cases[*i].case.test.clone(),
        claim: cases[*i].case.claim.clone(),
        file: cases[*i].file.clone(),
    };
    EventEvidence {
        scenarios: holding.iter().take(NAMED).map(proof).collect(),
        more_scenarios: holding.len().saturating_sub(NAMED),
        example: best(event, &holding, cases).map(|i| example(event, &cases[i], &verdicts[i])),
        ..EventEvidence::default()
    }
}

/// The case to show: one that counts the event if any does, its own before others, one that compares steps
/// before one that has but one.
fn best(event: PmuEvent, holding: &[usize], cases: &[FiledCase]) -> Option<usize> {
    let rank = |i: &usize| {
        let case = &cases[*i].case;
        let bound = bound_of(&case.expect, event);
        let is_unrelated = bound.is_none() && case.expect.counters.is_empty();
        let counts = bound.is_some_and(|bound| bound.min > 0) || !case.expect.counters.is_empty();
        let compares = (2..=3).contains(&case.steps.len());
        (is_unrelated, !counts, !is_own(case, event), !compares, case.steps.len())
    };
    holding.iter().copied().min_by_key(rank)
}

/// The command that shows an event and what is tied to it, and its output.
fn example(event: PmuEvent, filed: &FiledCase, verdict: &Verdict) -> Example {
    let mut events = vec![event];
    let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::SubsetOf];
    let kinds = kinds.into_iter().chain([RelationKind::SupersetOf, RelationKind::ImpliedSubsetOf]);
    for other in kinds.filter_map(|kind| event.relation(kind)).flatten() {
        if events.len() <= RELATED && !events.contains(other) {
            events.push(*other);
        }
    }
    let names: Vec<String> = events.iter().map(|event| event.perf_name()).collect();
    let FiledCase { file, case } = filed;
    let command = format!("n2sim check {file} --case '{}' -e {}", case.test, names.join(","));
    let mut output = Vec::new();
    case_counts::write(&mut output, case, verdict, &events).expect("memory can be written");
    Example { command, output: String::from_utf8_lossy(&output).into_owned() }
}
