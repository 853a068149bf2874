//! Explanations of metrics: formula, events, claim, and a scenario from whose counts the value can
//! be computed by hand.

use sim_core::PmuEvent;
use sim_metrics::Truth;
use sim_metrics::formula::{Catalog, EventUse, Linked, Machine, MetricFormula, lint};

use super::{EventRelation, Explanation, Index, Kind, Origin, Pitfall, pitfalls, raised};

/// Pitfalls of an event that every formula over it inherits.
const INHERITED: [&str; 6] =
    ["never counts", "alias", "EXTLLC", "needs tagging", "needs profiling", "erratum"];

/// Explains a metric of the catalog. A metric that is not built in has no scenario.
pub fn metric(metric: &MetricFormula, catalog: &Catalog) -> Explanation {
    let events = events(metric, catalog);
    let evidence = Index::get().metric(&metric.name).cloned().unwrap_or_default();
    let formula = match &metric.formula {
        Ok(formula) => formula.text().to_owned(),
        Err(error) => format!("cannot be read: {error}"),
    };
    let mut sections: Vec<&str> = events.iter().map(|event| event.info().section).collect();
    sections.sort_unstable();
    sections.dedup();
    Explanation {
        kind: Kind::Metric,
        name: metric.name.clone(),
        code: None,
        title: metric.groups.join(", "),
        section: sections.join(", "),
        unit: unit(metric),
        formula: Some(formula),
        counts: meaning(metric),
        excludes: Vec::new(),
        relations: relations(metric, &events, catalog),
        other_names: Vec::new(),
        pitfalls: pitfalls(metric, &events, catalog),
        raised: places(&events),
        scenarios: evidence.scenarios,
        more_scenarios: evidence.more_scenarios,
        example: evidence.example,
    }
}

/// Returns the value of a metric for given counts, or `None` if the formula has none for them.
pub fn value(
    metric: &MetricFormula,
    catalog: &Catalog,
    machine: &Machine,
    count: impl Fn(PmuEvent) -> f64,
) -> Option<f64> {
    let linked = linked(metric, catalog)?;
    let of_use = |event: &EventUse| event.event().map(&count);
    let evaluation = linked.evaluate(machine, of_use);
    let value = metric.scale.factor * evaluation.value;
    (evaluation.nan_reason.is_none() && value.is_finite()).then_some(value)
}

/// Returns the events of a metric, including those of the metrics that it uses.
pub fn events(metric: &MetricFormula, catalog: &Catalog) -> Vec<PmuEvent> {
    linked(metric, catalog).map_or(Vec::new(), |linked| linked.core_events())
}

fn linked(metric: &MetricFormula, catalog: &Catalog) -> Option<Linked> {
    let formula = metric.formula.as_ref().ok()?;
    Linked::named(&metric.name, formula, catalog).ok()
}

fn unit(metric: &MetricFormula) -> String {
    match (metric.scale.factor, metric.scale.unit.as_str()) {
        (_, "") => String::from("a number without a unit"),
        (1.0, unit) => unit.to_owned(),
        (factor, unit) => format!("{unit}: the formula times {factor}"),
    }
}

fn meaning(metric: &MetricFormula) -> Vec<String> {
    let mut meaning = vec![metric.description.clone()];
    let truth = metric.claims.as_deref().and_then(Truth::from_name);
    meaning.extend(
        truth.map(|truth| format!("claims to be {}: {}", truth.name(), truth.definition())),
    );
    meaning.retain(|clause| !clause.is_empty());
    meaning
}

fn relations(metric: &MetricFormula, events: &[PmuEvent], catalog: &Catalog) -> Vec<EventRelation> {
    let relation = |label: &str, others: Vec<String>| EventRelation {
        label: label.to_owned(),
        origin: Origin::Formula,
        others,
    };
    let text = |other: &MetricFormula| {
        other.formula.as_ref().map_or(String::new(), |formula| formula.text().to_owned())
    };
    let names = |text: &str, name: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.split(|c: char| !is_letter(c)).any(|word| word.eq_ignore_ascii_case(name))
    };
    let own = text(metric);
    let others = || catalog.metrics().iter().filter(|other| other.name != metric.name);
    let parts = others().filter(|other| names(&own, &other.name));
    let users = others().filter(|other| names(&text(other), &metric.name));
    let list = |found: Vec<&MetricFormula>| found.iter().map(|other| other.name.clone()).collect();
    let relations = [
        relation("computed from", events.iter().map(|event| event.mnemonic().to_owned()).collect()),
        relation("uses the metrics", list(parts.collect())),
        relation("used by the metrics", list(users.collect())),
    ];
    relations.into_iter().filter(|relation: &EventRelation| !relation.others.is_empty()).collect()
}

fn pitfalls(metric: &MetricFormula, events: &[PmuEvent], catalog: &Catalog) -> Vec<Pitfall> {
    let findings = lint(metric, catalog, None);
    let mut pitfalls: Vec<Pitfall> =
        findings.into_iter().map(|finding| Pitfall::new("lint", finding.message)).collect();
    for event in events {
        let inherited = pitfalls::of_event(*event).into_iter();
        let inherited = inherited.filter(|pitfall| INHERITED.contains(&pitfall.title.as_str()));
        pitfalls.extend(inherited.map(|pitfall| {
            Pitfall::new(&pitfall.title, format!("{}: {}", event.mnemonic(), pitfall.text))
        }));
    }
    pitfalls
}

fn places(events: &[PmuEvent]) -> Vec<super::Place> {
    let mut places: Vec<super::Place> = events.iter().flat_map(|event| raised(*event)).collect();
    places.sort();
    places.dedup();
    places
}
