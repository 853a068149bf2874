//! Where the rename slots went, as a tree whose branches add up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::Place;

/// Slots with one fate, and what they consist of. The children add up to their parent; a node without
/// any is a single cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotNode {
    /// Its place in the tree, the same in every report: `slots.backend.memory.rob_memory`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it means, in one sentence.
    pub meaning: String,
    /// Slots.
    pub slots: u64,
    /// Their part of all slots, in percent.
    pub percent: f64,
    /// Events that tell of them, mnemonics.
    pub events: Vec<String>,
    /// What they consist of.
    pub children: Vec<SlotNode>,
    /// Of a single cause: the instructions that cost most of its slots.
    pub hottest: Vec<SlotPlace>,
}

/// Slots of one cause that one instruction cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotPlace {
    /// The instruction.
    pub place: Place,
    /// Slots.
    pub slots: u64,
    /// Their part of the slots of the cause, in percent.
    pub percent: f64,
}
