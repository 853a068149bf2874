//! The index of `n2sim explain`: the places in the model that raise each event, and the cases that
//! prove it, as observed when all cases run.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::flow::Flow;
use sim_core::pmu_event::RelationKind;
use sim_core::{PmuEvent, StallCause};
use sim_machine::ConfigSource;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, Machine, MetricFormula};
use sim_report::case_counts;
use sim_report::explain::{Evidence, Example, Index, Place, Proof, metrics};
use sim_scenario::{Reading, Verdict, configure, run_case_on};

use crate::cases::{FiledCase, all_cases};
use crate::conformance::{bound_of, holding, is_own};
use crate::mutation::{Learner, Site};
use crate::{files_below, read, repository};

/// Path of the index.
pub const FILE: &str = "sim-report/src/explain/index.json";

/// Largest number of cases that an entry names; the rest is a number.
const NAMED: usize = 8;
/// Largest number of events that an example shows beside its own.
const RELATED: usize = 5;

/// Returns the current text of the index.
///
/// # Errors
///
/// A case cannot be run, or does not hold.
pub fn text() -> Result<String, String> {
    let index = index()?;
    let text = serde_json::to_string_pretty(&index).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// Every case with its results.
struct Ran {
    cases: &'static [FiledCase],
    verdicts: Vec<Verdict>,
    /// The causes for which each case lost slots.
    lost: Vec<BTreeSet<StallCause>>,
    sites: BTreeSet<Site>,
}

/// Runs all cases and records their proofs.
fn index() -> Result<Index, String> {
    let (mut verdicts, mut lost, mut sites) = (Vec::new(), Vec::new(), BTreeSet::new());
    let cases = all_cases();
    for filed in cases {
        let (verdict, learner) = run(filed)?;
        verdicts.push(verdict);
        lost.push(learner.lost);
        sites.extend(learner.sites);
    }
    let ran = Ran { cases, verdicts, lost, sites };
    let places = places(&ran.sites);
    let of_event = |event: PmuEvent| Evidence {
        raised: places.get(&event).into_iter().flatten().cloned().collect(),
        ..ran.event(event)
    };
    let catalog = builtin::catalog();
    let metrics = catalog.metrics().iter().map(|metric| ran.metric(metric, &catalog));
    Ok(Index {
        events: PmuEvent::ALL.into_iter().map(of_event).collect(),
        metrics: metrics.collect(),
        flows: Flow::ALL.into_iter().map(|flow| ran.flow(flow)).collect(),
        causes: StallCause::ALL.into_iter().map(|cause| ran.cause(cause)).collect(),
    })
}

fn run(filed: &FiledCase) -> Result<(Verdict, Learner), String> {
    let FiledCase { file, case } = filed;
    let located = |error: &dyn std::fmt::Display| format!("{file}: {}: {error}", case.test);
    let config = configure(case, &ConfigSource::default()).map_err(|error| located(&error))?;
    let (verdict, learner) = run_case_on(case, &config, Reading::Guide, Learner::default())
        .map_err(|error| located(&error))?;
    match verdict.holds() {
        true => Ok((verdict, learner)),
        false => Err(verdict.explain(file, case)),
    }
}

/// Returns the sites by event, with their functions in place of lines: lines change too often.
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

/// Returns the enclosing function for each line of a source.
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

impl Ran {
    /// Returns an entry that names the first of these cases, and shows one.
    fn evidence(&self, name: &str, holding: &[usize], example: Option<Example>) -> Evidence {
        let proof = |i: &usize| Proof {
            test: self.cases[*i].case.test.clone(),
            claim: self.cases[*i].case.claim.clone(),
            file: self.cases[*i].file.clone(),
        };
        Evidence {
            name: name.to_owned(),
            raised: Vec::new(),
            scenarios: holding.iter().take(NAMED).map(proof).collect(),
            more_scenarios: holding.len().saturating_sub(NAMED),
            example,
        }
    }

    fn event(&self, event: PmuEvent) -> Evidence {
        let holding = holding(self.cases, event);
        let shown = best(event, &holding, self.cases);
        let example = shown.map(|i| self.example(i, &related(event), &[]));
        self.evidence(event.mnemonic(), &holding, example)
    }

    /// Returns the evidence for a metric: the cases that state every event of the metric exactly,
    /// so that its value can be computed by hand, and in which the value is not 0.
    fn metric(&self, metric: &MetricFormula, catalog: &Catalog) -> Evidence {
        let events = metrics::events(metric, catalog);
        let is_exact = |i: &usize| {
            let case = &self.cases[*i].case;
            let bound = |event: &PmuEvent| bound_of(&case.expect, *event);
            case.given.set.is_empty()
                && events
                    .iter()
                    .all(|event| bound(event).is_some_and(|bound| bound.exact().is_some()))
        };
        let value = |i: &usize| {
            let count = |event: PmuEvent| self.verdicts[*i].counts.value(event) as f64;
            metrics::value(metric, catalog, &Machine::neoverse_n2(3, 1), count)
        };
        let has_value = |i: &usize| value(i).is_some_and(|value| value != 0.0);
        let mut holding: Vec<usize> =
            (0..self.cases.len()).filter(is_exact).filter(has_value).collect();
        let own = format!("M.{}", metric.name);
        holding.sort_by_key(|i| {
            let case = &self.cases[*i].case;
            let compares = (2..=3).contains(&case.steps.len());
            (case.test != own, case.test.starts_with("M."), !compares, case.steps.len())
        });
        let example = holding.first().map(|i| self.example(*i, &events, &[metric]));
        self.evidence(&metric.name, &holding, example)
    }

    /// Returns the evidence for a flow: the cases that state the path of an access through it.
    fn flow(&self, flow: Flow) -> Evidence {
        let walks = |i: &usize| self.cases[*i].case.ways.iter().any(|way| way.flow == flow);
        let own = format!("F.{}.", flow.info().section);
        let mut holding: Vec<usize> = (0..self.cases.len()).filter(walks).collect();
        holding.sort_by_key(|i| !self.cases[*i].case.test.starts_with(&own));
        let mut events: Vec<PmuEvent> = Vec::new();
        for event in flow.info().boxes.iter().flat_map(|part| part.events) {
            if !events.contains(event) {
                events.push(*event);
            }
        }
        // The longest path covers most boxes.
        let counted = |i: &usize| {
            events.iter().filter(|event| self.verdicts[*i].counts.value(**event) > 0).count()
        };
        let shown = holding.iter().copied().max_by_key(counted);
        let example = shown.map(|i| self.example(i, &events, &[]));
        self.evidence(flow.info().section, &holding, example)
    }

    /// Returns the evidence for a cause: the cases that lose slots for it, fewest other losses
    /// first.
    fn cause(&self, cause: StallCause) -> Evidence {
        let mut holding: Vec<usize> =
            (0..self.cases.len()).filter(|i| self.lost[*i].contains(&cause)).collect();
        holding.sort_by_key(|i| (self.lost[*i].len(), self.cases[*i].case.steps.len()));
        let end = match cause.is_frontend() {
            true => [PmuEvent::STALL_SLOT_FRONTEND, PmuEvent::STALL_FRONTEND],
            false => [PmuEvent::STALL_SLOT_BACKEND, PmuEvent::STALL_BACKEND],
        };
        let example = holding.first().map(|i| self.example(*i, &end, &[]));
        Evidence { raised: deciding(cause), ..self.evidence(cause.label(), &holding, example) }
    }

    /// Returns the command that shows a case, and its output.
    fn example(&self, i: usize, events: &[PmuEvent], metrics: &[&MetricFormula]) -> Example {
        let FiledCase { file, case } = &self.cases[i];
        let names: Vec<String> = events.iter().map(|event| event.perf_name()).collect();
        let chosen: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let what = match chosen.as_slice() {
            [] => format!("-e {}", names.join(",")),
            _ => format!("-M {}", chosen.join(",")),
        };
        let command = format!("n2sim check {file} --case '{}' {what}", case.test);
        let (verdict, catalog) = (&self.verdicts[i], builtin::catalog());
        let mut output = Vec::new();
        case_counts::write(&mut output, case, verdict, events)
            .and_then(|()| case_counts::write_metrics(&mut output, verdict, metrics, &catalog))
            .expect("memory can be written");
        Example { command, output: String::from_utf8_lossy(&output).into_owned() }
    }
}

/// Returns the functions of the core that name a cause.
fn deciding(cause: StallCause) -> Vec<Place> {
    let top = repository();
    let mut places = BTreeSet::new();
    for path in files_below(&top.join("sim-pipeline/src"), "rs") {
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let functions = by_line(code);
        for (i, line) in code.lines().enumerate() {
            let named = line.split(&format!("StallCause::{cause:?}")).nth(1);
            let is_named = named.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            if is_named && !line.trim_start().starts_with("//") {
                let function = match functions[i].as_str() {
                    "" => "the table at its head",
                    function => function,
                };
                places.insert(Place {
                    event: cause.label().to_owned(),
                    file: path.strip_prefix(&top).unwrap_or(&path).display().to_string(),
                    function: function.to_owned(),
                });
            }
        }
    }
    places.into_iter().collect()
}

/// Returns the case to show. Cases that count the event come first, then cases named after it, then
/// cases with several steps to compare.
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

/// Returns the event and its related events.
fn related(event: PmuEvent) -> Vec<PmuEvent> {
    let mut events = vec![event];
    let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::SubsetOf];
    let kinds = kinds.into_iter().chain([RelationKind::SupersetOf, RelationKind::ImpliedSubsetOf]);
    for other in kinds.filter_map(|kind| event.relation(kind)).flatten() {
        if events.len() <= RELATED && !events.contains(other) {
            events.push(*other);
        }
    }
    events
}
