//! Rename slots as a tree whose branches add up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::{PmuEvent, RootCause, StallCause};
use sim_machine::observe::SlotClass;

use super::code::Place;
use super::names::{cause_id, class_names};
use super::profiled::{CodeCost, N2Profile, Profiled};
use super::ratio::percent;
use super::slot_tree::{Shape, TREE, events_of, meaning_of, meaning_of_cause};

/// Node of the slot tree. The children add up to their parent; a node without children is a single
/// cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotNode {
    /// Place in the tree, the same in every report: `slots.backend.memory.load_dram`.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description, in one or two sentences.
    pub meaning: String,
    /// Number of slots.
    pub slots: u64,
    /// Share of all slots, in percent.
    pub percent: f64,
    /// Mnemonics of events that count them.
    pub events: Vec<String>,
    /// Parts of the node.
    pub children: Vec<SlotNode>,
    /// Instructions with most slots of a single cause.
    pub hottest: Vec<SlotPlace>,
}

/// Slots of one cause that are charged to one instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlotPlace {
    /// Place of the instruction.
    pub place: Place,
    /// Number of slots.
    pub slots: u64,
    /// Share of the slots of the cause, in percent.
    pub percent: f64,
}

/// Nodes of the trees that are not a loss, on the Neoverse N2 and on a core in order.
const USED: [&str; 2] = ["slots.retiring", "slots.issued"];

/// Most instructions listed for a cause.
const HOTTEST: usize = 5;

impl SlotNode {
    /// Returns the tree of a run.
    pub(super) fn of(profile: &N2Profile<'_>) -> SlotNode {
        SlotNode::grown(&TREE, "", profile)
    }

    fn grown(shape: &Shape, above: &str, profile: &N2Profile<'_>) -> SlotNode {
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

    fn leaf(class: SlotClass, above: &str, profile: &N2Profile<'_>) -> SlotNode {
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
            hottest: hottest(profile, slots, |cost| cost.slots[class.index()]),
        }
    }

    /// Returns the node of a back-end root cause, with the full structures in which it appeared.
    fn root(root: RootCause, above: &str, profile: &N2Profile<'_>) -> SlotNode {
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

    /// Returns whether the node is a single cause; its children are at most the structures in which
    /// it appeared.
    pub fn is_cause(&self) -> bool {
        self.children.is_empty() || !self.hottest.is_empty()
    }

    /// Returns whether the node has used slots, which are no loss.
    pub fn is_used(&self) -> bool {
        USED.iter().any(|used| self.id.starts_with(used))
    }

    /// Returns the path to the cause with most slots, from below the root down to it. Retired
    /// operations are not a loss. The path is empty if no slot was lost.
    pub fn worst(&self) -> Vec<&SlotNode> {
        if self.is_cause() {
            return Vec::new();
        }
        let losses = self.children.iter().filter(|node| !node.is_used());
        let paths = losses.map(|node| [vec![node], node.worst()].concat());
        let lost = |path: &Vec<&SlotNode>| path.last().map_or(0, |cause| cause.slots);
        // The first of several equal ones is returned.
        paths.filter(|path| lost(path) > 0).rev().max_by_key(lost).unwrap_or_default()
    }

    /// Returns the single causes below the node, or the node itself.
    pub fn causes(&self) -> Vec<&SlotNode> {
        if self.is_cause() {
            return vec![self];
        }
        self.children.iter().flat_map(SlotNode::causes).collect()
    }

    /// Returns the place of the cause with this identifier; the identifier itself if the tree does
    /// not list it, because it has no slots.
    pub(super) fn place_of(&self, cause: &str) -> String {
        let is_it = |node: &&&SlotNode| node.id.rsplit('.').next() == Some(cause);
        self.causes().iter().find(is_it).map_or_else(|| cause.to_owned(), |node| node.id.clone())
    }

    /// Returns the node with this place in the tree.
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

/// Returns the instructions with most slots of one cause, which has `all` slots.
pub(super) fn hottest<C: CodeCost>(
    profile: &Profiled<'_, C>,
    all: u64,
    of: impl Fn(&C) -> u64,
) -> Vec<SlotPlace> {
    let mut charged: Vec<_> =
        profile.instructions.iter().map(|(_, cost)| *cost).filter(|cost| of(cost) > 0).collect();
    charged.sort_by_key(|cost| (std::cmp::Reverse(of(cost)), cost.pc()));
    let place = |cost: &&C| SlotPlace {
        place: profile.place(cost),
        slots: of(cost),
        percent: percent(of(cost), all),
    };
    charged.iter().take(HOTTEST).map(place).collect()
}
