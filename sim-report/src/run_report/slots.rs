//! Where the rename slots went, as a tree whose branches add up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_machine::observe::{Fate, InstCost};

use super::code::Place;
use super::names::fate_names;
use super::profiled::Profiled;
use super::ratio::percent;
use super::slot_tree::{Shape, TREE, events_of, meaning_of};

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

/// Instructions that are named under a cause.
const HOTTEST: usize = 5;

impl SlotNode {
    /// The tree of a run.
    pub(super) fn of(profile: &Profiled<'_>) -> SlotNode {
        SlotNode::grown(&TREE, "", profile)
    }

    fn grown(shape: &Shape, above: &str, profile: &Profiled<'_>) -> SlotNode {
        match shape {
            Shape::Cause(fate) => SlotNode::leaf(*fate, above, profile),
            Shape::Part { id, name, meaning, events, parts } => {
                let id = joined(above, id);
                let children = parts.iter().map(|part| SlotNode::grown(part, &id, profile));
                let mut children: Vec<SlotNode> = children.collect();
                children.retain(|child| !child.children.is_empty() || child.slots > 0);
                let slots = children.iter().map(|child| child.slots).sum();
                let (name, meaning) = ((*name).to_owned(), (*meaning).to_owned());
                let (percent, events) = (percent(slots, profile.all_slots()), mnemonics(events));
                SlotNode { id, name, meaning, slots, percent, events, children, hottest: vec![] }
            }
        }
    }

    fn leaf(fate: Fate, above: &str, profile: &Profiled<'_>) -> SlotNode {
        let (id, name) = fate_names(fate);
        let slots = profile.total.slots[fate.index()];
        SlotNode {
            id: joined(above, &id),
            name: name.to_owned(),
            meaning: meaning_of(fate).to_owned(),
            slots,
            percent: percent(slots, profile.all_slots()),
            events: mnemonics(events_of(fate)),
            children: Vec::new(),
            hottest: hottest(fate, slots, profile),
        }
    }

    /// The node with this place in the tree.
    pub fn find(&self, id: &str) -> Option<&SlotNode> {
        if self.id == id {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(id))
    }
}

fn joined(above: &str, id: &str) -> String {
    if above.is_empty() { id.to_owned() } else { format!("{above}.{id}") }
}

fn mnemonics(events: &[PmuEvent]) -> Vec<String> {
    events.iter().map(|event| event.mnemonic().to_owned()).collect()
}

/// The instructions with most slots of this fate.
fn hottest(fate: Fate, all: u64, profile: &Profiled<'_>) -> Vec<SlotPlace> {
    let of = |cost: &InstCost| cost.slots[fate.index()];
    let mut charged: Vec<_> =
        profile.instructions.iter().map(|(_, cost)| *cost).filter(|cost| of(cost) > 0).collect();
    charged.sort_by_key(|cost| (std::cmp::Reverse(of(cost)), cost.pc));
    let place = |cost: &&InstCost| SlotPlace {
        place: profile.place(cost),
        slots: of(cost),
        percent: percent(of(cost), all),
    };
    charged.iter().take(HOTTEST).map(place).collect()
}
