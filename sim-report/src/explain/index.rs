//! What the model itself says of each event: where it is raised, and which scenarios would fail without it.
//!
//! `index.json` is written by `cargo run -p xtask -- explain-index`; a test runs all scenarios again and compares.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;

/// The index of the repository's scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// One entry for each event, in the order of the event table.
    pub events: Vec<Evidence>,
    /// One entry for each metric that the program brings with it.
    pub metrics: Vec<Evidence>,
    /// One entry for each flow, by its section.
    pub flows: Vec<Evidence>,
    /// One entry for each cause of an empty slot, by its label.
    pub causes: Vec<Evidence>,
}

/// What proves an event, a metric, a flow or a cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Mnemonic, name, section or label.
    pub name: String,
    /// Where the model raises it; none for a sum, an alias, what never counts, and for
    /// metrics and flows.
    pub raised: Vec<Place>,
    /// Scenarios that hold it, its own first.
    pub scenarios: Vec<Proof>,
    /// How many more scenarios count it.
    pub more_scenarios: usize,
    /// The one to show.
    pub example: Option<Example>,
}

/// A place in the sources of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The event that is raised there.
    pub event: String,
    /// Source file, from the top of the repository.
    pub file: String,
    /// Function.
    pub function: String,
}

/// A scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Name of the case.
    pub test: String,
    /// What it proves, in one sentence.
    pub claim: String,
    /// File, from the top of the repository.
    pub file: String,
}

/// A scenario to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// What to type at the top of the repository.
    pub command: String,
    /// What it prints.
    pub output: String,
}

impl Index {
    /// The index that belongs to this version of the model.
    pub fn get() -> &'static Index {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            serde_json::from_str(include_str!("index.json"))
                .expect("a test writes and reads the index")
        })
    }

    /// What proves an event.
    pub fn event(&self, event: PmuEvent) -> &Evidence {
        &self.events[event as usize]
    }

    /// What proves a metric of the program's own.
    pub fn metric(&self, name: &str) -> Option<&Evidence> {
        self.metrics.iter().find(|known| known.name.eq_ignore_ascii_case(name))
    }

    /// What proves a flow.
    pub fn flow(&self, section: &str) -> Option<&Evidence> {
        self.flows.iter().find(|known| known.name == section)
    }

    /// What proves a cause.
    pub fn cause(&self, label: &str) -> Option<&Evidence> {
        self.causes.iter().find(|known| known.name == label)
    }
}
