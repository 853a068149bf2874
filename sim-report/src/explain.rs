//! What an event, a metric, a section of the guide or a cause of an empty slot is: everything that a reader
//! may ask about it, as data. Guide: chapters 4 and 5.
//!
//! Meaning, unit and relations come from the event table; the places that raise an event and the scenarios that
//! prove it come from [`Index`], which a test holds against the model.

mod causes;
mod find;
pub mod graph;
mod index;
pub mod markdown;
pub mod metrics;
mod pitfall_table;
mod pitfalls;
mod relations;
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

/// What is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A PMU event.
    Event,
    /// A formula over events.
    Metric,
    /// A section of the guide: a group of events, or a flow.
    Section,
    /// Why a rename slot stayed empty.
    Cause,
}

/// Everything that is known of one event, metric, section or cause.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// What it is.
    pub kind: Kind,
    /// Its mnemonic, its name, or the number of the section.
    pub name: String,
    /// Number of the event, as `perf` writes it (`r0003`); none for anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A short title.
    pub title: String,
    /// Section of the PMU guide.
    pub section: String,
    /// What one count, or one unit of the value, stands for.
    pub unit: String,
    /// The formula of a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// What it means: for an event each kind of occurrence that counts.
    pub counts: Vec<String>,
    /// What one might expect in it that is not.
    pub excludes: Vec<String>,
    /// How it is tied to others.
    pub relations: Vec<EventRelation>,
    /// Names of the same thing in other published lists.
    pub other_names: Vec<String>,
    /// Where readers of it go wrong.
    #[serde(rename = "traps")]
    pub pitfalls: Vec<Pitfall>,
    /// Where the model raises it, or the events that it is made of.
    pub raised: Vec<Place>,
    /// Scenarios that prove it, its own first.
    pub scenarios: Vec<Proof>,
    /// How many more scenarios count it.
    pub more_scenarios: usize,
    /// The scenario that shows it best: a command to run, and what it prints.
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

/// The places of an event and of those that it is the sum or another name of.
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

/// Where `CHAIN` counts: within the PMU, which no scenario hears as an event.
fn carry() -> Place {
    Place {
        event: PmuEvent::CHAIN.mnemonic().to_owned(),
        file: String::from("sim-pmu/src/counting.rs"),
        function: String::from("step"),
    }
}

/// The clauses of a meaning: the table separates them by semicolons.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for piece in text.split("; ").filter(|piece| !piece.is_empty()) {
        // A semicolon within brackets separates nothing.
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
