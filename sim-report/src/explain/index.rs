//! Evidence for each event from the model itself: the places that raise it, and the scenarios that
//! would fail without it.
//!
//! `cargo run -p xtask -- explain-index` writes `index.json`. A test runs all scenarios again and
//! compares.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;

/// Index of the repository's scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// One entry for each event, in the order of the event table.
    pub events: Vec<Evidence>,
    /// One entry for each built-in metric.
    pub metrics: Vec<Evidence>,
    /// One entry for each flow, by its section.
    pub flows: Vec<Evidence>,
    /// One entry for each cause of an empty slot, by its label.
    pub causes: Vec<Evidence>,
}

/// Evidence for an event, a metric, a flow or a cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Mnemonic, name, section or label.
    pub name: String,
    /// Places in the model that raise the event. Empty for a sum, an alias, an event that never
    /// counts, and for metrics and flows.
    pub raised: Vec<Place>,
    /// Scenarios that prove it, its own first.
    pub scenarios: Vec<Proof>,
    /// Number of further scenarios that count it.
    pub more_scenarios: usize,
    /// Scenario to show.
    pub example: Option<Example>,
}

/// Place in the sources of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Event that is raised there.
    pub event: String,
    /// Source file, from the top of the repository.
    pub file: String,
    /// Function.
    pub function: String,
}

/// Scenario that proves a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Name of the case.
    pub test: String,
    /// Claim of the case, in one sentence.
    pub claim: String,
    /// File, from the top of the repository.
    pub file: String,
}

/// Scenario to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Command for the top directory of the repository.
    pub command: String,
    /// Output of the command.
    pub output: String,
}

impl Index {
    /// Returns the index that belongs to this version of the model.
    pub fn get() -> &'static Index {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            serde_json::from_str(include_str!("index.json"))
                .expect("a test writes and reads the index")
        })
    }

    /// Returns the evidence for an event.
    pub fn event(&self, event: PmuEvent) -> &Evidence {
        &self.events[event as usize]
    }

    /// Returns the evidence for a built-in metric.
    pub fn metric(&self, name: &str) -> Option<&Evidence> {
        self.metrics.iter().find(|known| known.name.eq_ignore_ascii_case(name))
    }

    /// Returns the evidence for a flow.
    pub fn flow(&self, section: &str) -> Option<&Evidence> {
        self.flows.iter().find(|known| known.name == section)
    }

    /// Returns the evidence for a cause.
    pub fn cause(&self, label: &str) -> Option<&Evidence> {
        self.causes.iter().find(|known| known.name == label)
    }
}
