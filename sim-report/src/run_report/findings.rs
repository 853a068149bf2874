//! Findings: parts of the slot tree that lost more slots than a threshold, with their meaning and
//! the next step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ratio::percent;
use super::slots::{SlotNode, SlotPlace};

/// Loss over its threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Place in the slot tree: `slots.backend.memory.load_dram`.
    pub node: String,
    /// Name, in a few words.
    pub title: String,
    /// Slots lost.
    pub slots: u64,
    /// Share of all slots, in percent.
    pub percent: f64,
    /// Least share that makes it a finding, in percent.
    pub threshold_percent: f64,
    /// Meaning, in one or two sentences.
    pub meaning: String,
    /// Next step: a place to examine, or a change to try.
    pub next: String,
    /// Instruction that most of the slots are charged to, with its share of them; absent if the
    /// slots belong to none.
    pub place: Option<SlotPlace>,
}

/// Rule that makes a node a finding.
struct Rule {
    /// Place in the tree of a Neoverse N2 or a core in order.
    node: &'static str,
    /// Least share of all slots, in percent.
    threshold: f64,
    title: &'static str,
    next: &'static str,
}

const fn rule(node: &'static str, threshold: f64, title: &'static str, next: &'static str) -> Rule {
    Rule { node, threshold, title, next }
}

/// Thresholds: a twentieth of all slots for a wait that software can avoid, a tenth for limits of
/// the core that remain in good code.
const RULES: [Rule; 36] = [
    rule(
        "slots.bad_speculation.mispredicts",
        5.0,
        "Mispredicted branches",
        "Make the outcome depend less on data: sort or group the input, replace the branch by a conditional \
         select, or move the decision out of the loop.",
    ),
    rule(
        "slots.bad_speculation.other_flushes",
        2.0,
        "Flushes without a branch",
        "Look for a load that runs before the older store that it reads from, and for exceptions.",
    ),
    rule(
        "slots.frontend.latency.fetch_l1i_miss",
        5.0,
        "Code misses the L1 I-cache",
        "Keep hot functions together and small: less inlining and unrolling, cold paths moved out of line.",
    ),
    rule(
        "slots.frontend.latency.fetch_itlb_miss",
        3.0,
        "Code misses the instruction TLB",
        "Use larger pages for code, or place hot functions on fewer pages.",
    ),
    rule(
        "slots.frontend.latency.fetch_resteer",
        5.0,
        "Taken branches unknown to prediction",
        "The code has more taken branches than the branch target buffers keep: make cold branches fall through.",
    ),
    rule(
        "slots.frontend.latency.fetch_btb_bubble",
        5.0,
        "Taken branches wait for the main BTB",
        "Take fewer branches: let the frequent path fall through, and unroll short loops.",
    ),
    rule(
        "slots.frontend.latency.fetch_mop_switch",
        5.0,
        "Switches out of the MOP cache",
        "The hot code exceeds the MOP cache or jumps often into lines that it does not hold.",
    ),
    rule(
        "slots.frontend.latency.fetch_serialize",
        5.0,
        "Serializing instructions",
        "Look for ISB and system register writes on a frequent path.",
    ),
    rule(
        "slots.frontend.latency.fetch_exception",
        5.0,
        "Exceptions",
        "Look at the rate of system calls, faults and interrupts.",
    ),
    rule(
        "slots.frontend.bandwidth",
        10.0,
        "Fetch delivers too few operations in a cycle",
        "Short blocks between taken branches fill fetch badly: unroll, or let the frequent path fall through.",
    ),
    rule(
        "slots.frontend.idle",
        10.0,
        "The core had nothing to fetch",
        "It slept, or the thread had not begun or had ended: compare the lengths of the threads.",
    ),
    rule(
        "slots.backend.memory.load_l2",
        5.0,
        "Loads wait for the L2",
        "The data in use exceeds the L1 D-cache: work in smaller blocks, or make the data denser.",
    ),
    rule(
        "slots.backend.memory.load_slc",
        5.0,
        "Loads wait for the system level cache",
        "The data in use exceeds the L2: work in smaller blocks, or prefetch far enough ahead. If threads share \
         lines, a line that another core wrote and a third one has read comes from there, too.",
    ),
    rule(
        "slots.backend.memory.load_peer",
        3.0,
        "Loads wait for a line of another core",
        "Threads share a line that one of them writes: give each its own line, or write it less often.",
    ),
    rule(
        "slots.backend.memory.load_remote",
        3.0,
        "Loads wait for another chip",
        "Keep threads and their memory on one chip.",
    ),
    rule(
        "slots.backend.memory.load_dram",
        5.0,
        "Loads wait for DRAM",
        "Dependent loads cannot overlap: shorten chains of pointers, make the data denser, or prefetch. \
         The miss-ratio curves show the size that would hold it.",
    ),
    rule(
        "slots.backend.memory.load_device",
        3.0,
        "Loads read a device",
        "Read devices less often; such a load cannot be prefetched or repeated.",
    ),
    rule(
        "slots.backend.memory.translation",
        5.0,
        "Data misses the TLBs",
        "Use larger pages, or place data that is used together on fewer pages.",
    ),
    rule(
        "slots.backend.memory.store_drain",
        5.0,
        "Stores wait to be written",
        "Stores that miss fill the store queue: write whole lines in order, or write less.",
    ),
    rule(
        "slots.backend.core.load_l1",
        10.0,
        "Chains of loads that hit",
        "Each load needs the result of the one before it: keep values in registers, or work on several chains.",
    ),
    rule(
        "slots.backend.core.forwarding",
        5.0,
        "Loads wait for an older store",
        "A value goes through memory: keep it in a register, and read with the width that was written.",
    ),
    rule(
        "slots.backend.core.unpipelined",
        5.0,
        "Divides and square roots",
        "Replace a division by a constant or by a multiplication, or take it out of the loop.",
    ),
    rule(
        "slots.backend.core.latency",
        10.0,
        "A chain of dependent operations",
        "Split the chain: several accumulators, or a shorter recurrence.",
    ),
    rule(
        "slots.backend.core.pipe",
        10.0,
        "Operations wait for a busy pipe",
        "One kind of operation dominates: mix kinds, or use wider vectors.",
    ),
    rule(
        "slots.backend.core.barrier",
        5.0,
        "Barriers and ordered accesses",
        "Use acquire and release instead of full barriers, and fewer of them.",
    ),
    rule(
        "slots.backend.core.system",
        5.0,
        "System registers or maintenance",
        "Look for system register accesses and cache maintenance on a frequent path.",
    ),
    rule(
        "slots.backend.core.dispatch",
        10.0,
        "Too many operations of one type",
        "Dispatch accepts few of one type in a cycle: mix them with others.",
    ),
    rule(
        "slots.backend.core.other_thread",
        5.0,
        "Waits for another thread",
        "Hold locks for a shorter time, or give each thread its own data.",
    ),
    rule(
        "slots.bad_speculation",
        5.0,
        "Mispredicted branches",
        "Make the outcome depend less on data, or move the decision out of the loop.",
    ),
    rule(
        "slots.frontend",
        10.0,
        "The instruction queue was empty",
        "Keep hot code small and together, and let the frequent path fall through.",
    ),
    rule(
        "slots.backend.write_back.load_miss",
        5.0,
        "Loads that miss hold write-back",
        "Make the data smaller or denser, or prefetch it: the core cannot run past the miss.",
    ),
    rule(
        "slots.backend.write_back.store",
        5.0,
        "Stores or barriers hold write-back",
        "Write whole lines in order, and use fewer barriers.",
    ),
    rule(
        "slots.backend.interlock.address_interlock",
        5.0,
        "Addresses are computed too late",
        "Compute an address several instructions before its use.",
    ),
    rule(
        "slots.backend.interlock.simd_interlock",
        10.0,
        "Vector results are used too early",
        "Put independent instructions between a vector operation and the use of its result.",
    ),
    rule(
        "slots.backend.interlock.other_interlock",
        10.0,
        "Results are used too early",
        "Put independent instructions between an operation and the use of its result.",
    ),
    rule(
        "slots.backend.issue_limits",
        15.0,
        "Instructions cannot issue in pairs",
        "Alternate kinds of instructions, so that two neighbors can issue together.",
    ),
];

impl Finding {
    /// Returns all findings of a run, the largest loss first.
    pub(super) fn all(top: &SlotNode) -> Vec<Finding> {
        let nodes = RULES.iter().filter_map(|rule| Some((rule, top.find(rule.node)?)));
        // A rule of a part applies where no rule applies inside it.
        let has_inner = |rule: &Rule| {
            let inner = format!("{}.", rule.node);
            let within = RULES.iter().filter(|other| other.node.starts_with(&inner));
            within.into_iter().any(|other| top.find(other.node).is_some())
        };
        let over = nodes.filter(|(rule, node)| {
            node.slots > 0 && node.percent >= rule.threshold && !has_inner(rule)
        });
        let mut all: Vec<Finding> = over.map(|(rule, node)| Finding::of(rule, node)).collect();
        all.sort_by_key(|finding| std::cmp::Reverse(finding.slots));
        all
    }

    fn of(rule: &Rule, node: &SlotNode) -> Finding {
        Finding {
            node: node.id.clone(),
            title: rule.title.to_owned(),
            slots: node.slots,
            percent: node.percent,
            threshold_percent: rule.threshold,
            meaning: node.meaning.clone(),
            next: rule.next.to_owned(),
            place: hottest(node),
        }
    }

    /// Returns the address of its instruction.
    pub(super) fn pc(&self) -> Option<u64> {
        let address = &self.place.as_ref()?.place.address;
        u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()
    }

    /// Returns the least threshold of any finding, in percent.
    pub fn least_threshold() -> f64 {
        RULES.iter().map(|rule| rule.threshold).fold(f64::INFINITY, f64::min)
    }
}

/// Returns the instruction with most slots of a node: the sum over its causes.
fn hottest(node: &SlotNode) -> Option<SlotPlace> {
    let mut places: Vec<SlotPlace> = Vec::new();
    for own in node.causes().iter().flat_map(|cause| &cause.hottest) {
        match places.iter_mut().find(|known| known.place.address == own.place.address) {
            Some(known) => known.slots += own.slots,
            None => places.push(own.clone()),
        }
    }
    let most = places.into_iter().rev().max_by_key(|place| place.slots)?;
    Some(SlotPlace { percent: percent(most.slots, node.slots), ..most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::slot_tree;

    fn node(id: &str, slots: u64, children: Vec<SlotNode>) -> SlotNode {
        SlotNode {
            id: id.into(),
            name: id.into(),
            meaning: "Meaning.".into(),
            slots,
            percent: slots as f64 / 10.0,
            events: vec![],
            children,
            hottest: vec![],
        }
    }

    fn tree(dram: u64, mispredicts: u64) -> SlotNode {
        let memory = node(
            "slots.backend.memory",
            dram,
            vec![node("slots.backend.memory.load_dram", dram, vec![])],
        );
        let backend = node("slots.backend", dram, vec![memory]);
        let wrong = node("slots.bad_speculation.mispredicts", mispredicts, vec![]);
        let bad = node("slots.bad_speculation", mispredicts, vec![wrong]);
        node("slots", 1000, vec![bad, backend])
    }

    #[test]
    fn every_rule_names_a_node_of_a_tree() {
        let mut nodes = slot_tree::places(&slot_tree::TREE);
        nodes.extend(super::super::a53::tree_places());
        for rule in &RULES {
            assert!(nodes.iter().any(|node| node == rule.node), "{}", rule.node);
            assert!(rule.threshold > 0.0 && rule.next.ends_with('.'), "{}", rule.node);
        }
    }

    #[test]
    fn only_losses_over_their_thresholds_are_findings() {
        let found = |dram, mispredicts| -> Vec<String> {
            let all = Finding::all(&tree(dram, mispredicts));
            all.into_iter().map(|finding| finding.title).collect()
        };
        assert_eq!(found(49, 49), [""; 0]);
        assert_eq!(found(50, 49), ["Loads wait for DRAM"]);
        assert_eq!(found(50, 60), ["Mispredicted branches", "Loads wait for DRAM"]);
    }
}
