//! Explanations of events, metrics, sections of the guide and causes of empty slots, as data. PMU
//! guide chapters 4 and 5.
//!
//! Meaning, unit and relations come from the event table. The places that raise an event and the
//! scenarios that prove it come from [`Index`], which a test checks against the model.

mod causes;
mod find;
pub mod graph;
mod index;
pub mod markdown;
pub mod metrics;
mod pitfall_table;
mod pitfalls;
mod relations;
mod search;
mod sections;
pub mod text;
pub mod why;

use std::collections::BTreeSet;

use serde::Serialize;
use sim_core::PmuEvent;
use sim_core::pmu_event::Unit;

pub use causes::cause;
pub use find::{FindError, Topic, find};
pub use index::{Evidence, Example, Index, Place, Proof};
pub use metrics::metric;
pub use pitfalls::Pitfall;
pub use relations::{EventRelation, Origin};
pub use sections::section;

/// Kind of the explained subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// PMU event.
    Event,
    /// Formula over events.
    Metric,
    /// Section of the guide: a group of events, or a flow.
    Section,
    /// Cause of an empty rename slot.
    Cause,
}

/// Explanation of one event, metric, section or cause.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Kind of the subject.
    pub kind: Kind,
    /// Mnemonic, name, or number of the section.
    pub name: String,
    /// Number of an event as `perf` writes it (`r0003`); absent for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Short title.
    pub title: String,
    /// Section of the PMU guide.
    pub section: String,
    /// Meaning of one count, or of one unit of the value.
    pub unit: String,
    /// Formula of a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Meaning; for an event each kind of occurrence that counts.
    pub counts: Vec<String>,
    /// Occurrences that a reader might expect to count and that do not.
    pub excludes: Vec<String>,
    /// Relations to other events.
    pub relations: Vec<EventRelation>,
    /// Names of the same event in other published lists.
    pub other_names: Vec<String>,
    /// Common mistakes of readers.
    #[serde(rename = "traps")]
    pub pitfalls: Vec<Pitfall>,
    /// Places in the model that raise the event, or the events of the formula.
    pub raised: Vec<Place>,
    /// Scenarios that prove it, its own first.
    pub scenarios: Vec<Proof>,
    /// Number of further scenarios that count it.
    pub more_scenarios: usize,
    /// Scenario that shows it best: a command and its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// Explains an event.
pub fn event(event: PmuEvent) -> Explanation {
    let info = event.info();
    let evidence = Index::get().event(event);
    Explanation {
        kind: Kind::Event,
        name: info.mnemonic.to_owned(),
        code: Some(format!("r{:04x}", info.code)),
        title: info.title.to_owned(),
        section: info.section.to_owned(),
        unit: unit_name(info.unit).to_owned(),
        formula: None,
        counts: clauses(info.counts),
        excludes: clauses(info.excludes),
        relations: relations::of_event(event),
        other_names: info.other_names.iter().map(|name| (*name).to_owned()).collect(),
        pitfalls: pitfalls::of_event(event),
        raised: raised(event),
        scenarios: evidence.scenarios.clone(),
        more_scenarios: evidence.more_scenarios,
        example: evidence.example.clone(),
    }
}

/// Returns the places that raise an event, its parts or its alias.
fn raised(event: PmuEvent) -> Vec<Place> {
    let mut places = BTreeSet::new();
    for part in relations::parts(event) {
        places.extend(Index::get().event(part).raised.iter().cloned());
        if part == PmuEvent::CHAIN {
            places.insert(carry());
        }
    }
    places.into_iter().collect()
}

/// Returns the place that counts `CHAIN`: inside the PMU, where no scenario sees it as an event.
fn carry() -> Place {
    Place {
        event: PmuEvent::CHAIN.mnemonic().to_owned(),
        file: String::from("sim-pmu/src/counting.rs"),
        function: String::from("step"),
    }
}

/// Returns the clauses of a meaning, which the table separates by semicolons.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for piece in text.split("; ").filter(|piece| !piece.is_empty()) {
        // A semicolon in parentheses does not separate clauses.
        match clauses.last_mut().filter(|last| is_open(last)) {
            Some(last) => *last = format!("{last}; {piece}"),
            None => clauses.push(piece.to_owned()),
        }
    }
    clauses
}

fn is_open(text: &str) -> bool {
    text.matches('(').count() > text.matches(')').count()
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Event => "occurrences",
        Unit::Cycle => "cycles",
        Unit::Slot => "rename slots, five in each cycle",
    }
}
