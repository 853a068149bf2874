//! The flows of PMU guide chapter 5 with what the run sent through them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowCount {
    /// Section of the guide: `5.1`.
    pub section: String,
    /// What is walked through.
    pub title: String,
    /// Its boxes, in the order of their declaration.
    pub boxes: Vec<BoxCount>,
    /// Its edges.
    pub edges: Vec<EdgeCount>,
}

/// One box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoxCount {
    /// Name, unique in its flow.
    pub name: String,
    /// Number in the guide's list; 0 for a box that the list does not have.
    pub step: u8,
    /// How often it was visited.
    pub visits: u64,
    /// Events that are raised here.
    pub events: Vec<BoxEvent>,
}

/// An event of a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoxEvent {
    /// Its mnemonic.
    pub event: String,
    /// Its count in the whole run, from this box and any other.
    pub count: u64,
}

/// One edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeCount {
    /// Name of the decision, the same in every report; absent where the box has no other way out.
    pub edge: Option<String>,
    /// Box that it leaves.
    pub from: String,
    /// Box that it enters.
    pub to: String,
    /// What was decided; empty where nothing is.
    pub label: String,
    /// How often it was taken.
    pub taken: u64,
    /// Of all that left its box, in percent; absent if nothing did.
    pub percent: Option<f64>,
}
