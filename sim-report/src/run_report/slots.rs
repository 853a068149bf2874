//! Where the rename slots went, as a tree whose branches add up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::{PmuEvent, RootCause, StallCause};
use sim_machine::observe::{InstCost, SlotClass};

use super::code::Place;
use super::names::{cause_id, class_names};
use super::profiled::Profiled;
use super::ratio::percent;
use super::slot_tree::{Shape, TREE, events_of, meaning_of, meaning_of_cause};

/// Slots with one class, and what they consist of. The children add up to their parent; a node without
/// any is a single cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotNode {
    /// Its place in the tree, the same in every report: `slots.backend.memory.load_dram`.
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

/// The part of the tree that is no loss.
const RETIRING: &str = "slots.retiring";

/// Instructions that are named under a cause.
const HOTTEST: usize = 5;

impl SlotNode {
    /// The tree of a run.
    pub(super) fn of(profile: &Profiled<'_>) -> SlotNode {
        SlotNode::grown(&TREE, "", profile)
    }

    fn grown(shape: &Shape, above: &str, profile: &Profiled<'_>) -> SlotNode {
        match shape {
            Shape::Cause(SlotClass::Stalled(root)) => SlotNode::root(*root, above, profile),
            Shape::Cause(class) => SlotNode::leaf(*class, above, profile),
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

    fn leaf(class: SlotClass, above: &str, profile: &Profiled<'_>) -> SlotNode {
        let (id, name) = class_names(class);
        let slots = profile.total.slots[class.index()];
        SlotNode {
            id: joined(above, &id),
            name: name.to_owned(),
            meaning: meaning_of(class).to_owned(),
            slots,
            percent: percent(slots, profile.all_slots()),
            events: mnemonics(events_of(class)),
            children: Vec::new(),
            hottest: hottest(class, slots, profile),
        }
    }

    /// A root of the back end, and the structures that were full when it held the core up.
    fn root(root: RootCause, above: &str, profile: &Profiled<'_>) -> SlotNode {
        let leaf = SlotNode::leaf(SlotClass::Stalled(root), above, profile);
        let causes = StallCause::ALL.into_iter().filter(|cause| !cause.is_frontend());
        let seen_as = |cause: StallCause| SlotNode {
            id: joined(&leaf.id, &cause_id(cause)),
            name: format!("seen as: {}", cause.label()),
            meaning: meaning_of_cause(cause).to_owned(),
            slots: profile.stalls.at(cause, root),
            percent: percent(profile.stalls.at(cause, root), profile.all_slots()),
            events: Vec::new(),
            children: Vec::new(),
            hottest: Vec::new(),
        };
        let mut children: Vec<SlotNode> = causes.map(seen_as).filter(|c| c.slots > 0).collect();
        children.sort_by_key(|child| std::cmp::Reverse(child.slots));
        SlotNode { children, ..leaf }
    }

    /// True for a single cause: below it stand at most the structures that it was seen in.
    pub fn is_cause(&self) -> bool {
        self.children.is_empty() || !self.hottest.is_empty()
    }

    /// The way to the single cause that cost most slots, from below the root down to it; slots of operations
    /// that retired are no loss. Empty if nothing was lost.
    pub fn worst(&self) -> Vec<&SlotNode> {
        if self.is_cause() {
            return Vec::new();
        }
        let losses = self.children.iter().filter(|node| node.id != RETIRING);
        let ways = losses.map(|node| [vec![node], node.worst()].concat());
        let lost = |way: &Vec<&SlotNode>| way.last().map_or(0, |cause| cause.slots);
        // Of as large ones the first.
        ways.filter(|way| lost(way) > 0).rev().max_by_key(lost).unwrap_or_default()
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

/// The instructions with most slots of this class.
fn hottest(class: SlotClass, all: u64, profile: &Profiled<'_>) -> Vec<SlotPlace> {
    let of = |cost: &InstCost| cost.slots[class.index()];
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
