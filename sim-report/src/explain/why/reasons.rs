//! Reasons why an execution raised its events: the box of a flow that it passed, or the kind of
//! instruction.

use serde::Serialize;
use sim_core::access::AccessOutcome;
use sim_core::flow::{Flow, FlowBox, FlowCounts, FlowGraph, Link};
use sim_core::operation::AccessKind;
use sim_core::pmu_event::{Group, RelationKind};
use sim_core::{Counts, DataSource, Operation, OperationKind, PmuEvent};

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::{Execution, Variant};
use crate::explain::{Index, Place};

/// Event that was raised.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    /// Mnemonic.
    pub event: String,
    /// Number of occurrences.
    pub n: u64,
    /// Reason.
    pub because: String,
    /// Places in the model that raise it: `file: function`.
    pub places: Vec<String>,
}

/// Returns whether the operation ran on a squashed path.
pub(super) fn is_squashed(operation: &Operation) -> bool {
    !operation.timeline.retired
        && !operation.exception
        && !operation.timeline.outcome.has(AccessOutcome::FAULT)
}

/// Returns every event that was raised, in the order of the event table.
pub(super) fn raised(execution: &Execution) -> Vec<Reason> {
    let of_event = |event: PmuEvent| {
        let n = execution.counts.raised(event);
        (n > 0).then(|| Reason {
            event: event.mnemonic().to_owned(),
            n,
            because: because(event, execution),
            places: places(event, execution),
        })
    };
    PmuEvent::ALL.into_iter().filter_map(of_event).collect()
}

/// Returns the places in the model that raise the event for work of this kind. Atomics,
/// maintenance, and the rename slots of scenarios have separate functions.
fn places(event: PmuEvent, execution: &Execution) -> Vec<String> {
    let is_atomic = execution.operation.is_some_and(|operation| match operation.kind {
        OperationKind::Access(shape) => !matches!(shape.kind, AccessKind::Load | AccessKind::Store),
        _ => false,
    });
    let is_plain =
        matches!(execution.operation, Some(operation) if operation.kind != OperationKind::Other);
    let text = |place: &Place| format!("{}: {}", place.file, place.function);
    let all = &Index::get().event(event).raised;
    let fitting = all.iter().filter(|place| {
        let of_others = ["maintenance.rs", "system_ops.rs", "rename_slots.rs", "snoop.rs"];
        place.file.contains("atomic") <= is_atomic
            && !(is_plain && of_others.iter().any(|file| place.file.ends_with(file)))
    });
    let fitting: Vec<String> = fitting.map(text).collect();
    if fitting.is_empty() { all.iter().map(text).collect() } else { fitting }
}

/// Returns the events that count the raised events through their parts, or under another name.
pub(super) fn derived(counts: &Counts) -> Vec<String> {
    let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
    let is_derived = |event: &PmuEvent| {
        kinds.into_iter().any(|kind| event.relation(kind).is_some())
            && counts.raised(*event) == 0
            && counts.value(*event) > 0
    };
    let text = |event: PmuEvent| format!("{} {}", event.mnemonic(), counts.value(event));
    PmuEvent::ALL.into_iter().filter(is_derived).map(text).collect()
}

fn because(event: PmuEvent, execution: &Execution) -> String {
    let info = event.info();
    match event {
        PmuEvent::INST_SPEC => return String::from("it was executed"),
        PmuEvent::OP_SPEC => return String::from("it took this many rename slots"),
        PmuEvent::INST_RETIRED | PmuEvent::OP_RETIRED | PmuEvent::BR_RETIRED => {
            return String::from("it retired");
        }
        PmuEvent::BR_PRED => return String::from("every branch counts, well predicted or not"),
        PmuEvent::BR_MIS_PRED => {
            return String::from("it was mispredicted, or had no prediction");
        }
        PmuEvent::BR_MIS_PRED_RETIRED => {
            return String::from(
                "it was mispredicted and retired: all younger operations are squashed",
            );
        }
        PmuEvent::LL_CACHE_RD => return String::from("a cacheable read left the core"),
        PmuEvent::LL_CACHE_MISS_RD => {
            return String::from("its data came from beyond the system level cache");
        }
        PmuEvent::PC_WRITE_SPEC => return String::from("it changed the PC"),
        _ => {}
    }
    let kinds = [Group::LoadStore, Group::Instruction, Group::Branch, Group::Simd];
    if kinds.contains(&info.group) {
        return format!("kind of instruction: {}", lower(info.title));
    }
    let boxes: Vec<String> =
        Flow::ALL.into_iter().flat_map(|flow| boxes_of(flow, event, &execution.flows)).collect();
    match boxes.is_empty() {
        true => lower(info.title),
        false => boxes.join(", and "),
    }
}

/// Returns the boxes of a flow that raised an event, each with the decision that led to it.
fn boxes_of(flow: Flow, event: PmuEvent, flows: &FlowCounts) -> Vec<String> {
    let graph = FlowGraph::new(flow);
    let shape = graph.graph();
    let section = flow.info().section;
    let is_its_own =
        |node: &NodeIndex| shape[*node].events.contains(&event) && flows.visits(&graph, *node) > 0;
    let text = |node: NodeIndex| {
        let FlowBox { name, .. } = shape[node];
        let led =
            shape.edges_directed(node, Direction::Incoming).find_map(|edge| match edge.weight() {
                Link::Reported(taken) if flows.taken(*taken) > 0 => {
                    Some(format!("{}: {}", shape[edge.source()].name, taken.info().label))
                }
                _ => None,
            });
        let led = led.map_or(String::new(), |led| format!(" ({led})"));
        format!("flow {section}, {name}{led}")
    };
    shape.node_indices().filter(is_its_own).map(text).collect()
}

/// Returns the paths through the flows: the decisions in each flow with an edge taken.
pub(super) fn ways(flows: &FlowCounts) -> Vec<String> {
    Flow::ALL.into_iter().filter_map(|flow| way(flow, flows)).collect()
}

fn way(flow: Flow, flows: &FlowCounts) -> Option<String> {
    let graph = FlowGraph::new(flow);
    let shape = graph.graph();
    let mut steps = Vec::new();
    for edge in shape.edge_references() {
        let Link::Reported(taken) = edge.weight() else { continue };
        let times = match flows.taken(*taken) {
            0 => continue,
            1 => String::new(),
            n => format!(" x{n}"),
        };
        let info = taken.info();
        steps.push(format!("{} -> {} ({}{times})", info.from, info.to, info.label));
    }
    let info = flow.info();
    (!steps.is_empty()).then(|| format!("{} {}: {}", info.section, info.title, steps.join("; ")))
}

/// Returns path, data source and time in a sentence.
pub(super) fn summary(variant: &Variant) -> String {
    let Some(operation) = &variant.first.operation else {
        return String::from("no instruction: work of the memory system for others");
    };
    let mut parts = vec![String::from(path(operation))];
    if matches!(operation.kind, OperationKind::Access(_)) {
        parts.push(source(operation).to_owned());
    }
    if operation.timeline.mispredicted {
        parts.push(String::from("mispredicted"));
    }
    let (least, most, sum) = variant.latency;
    let mean = sum as f64 / variant.times as f64;
    parts.push(match least == most {
        true => format!("{least} cycles from issue to result"),
        false => format!("{mean:.1} cycles from issue to result ({least} to {most})"),
    });
    parts.join(", ")
}

fn path(operation: &Operation) -> &'static str {
    match operation {
        _ if operation.timeline.retired => "correct path",
        _ if is_squashed(operation) => "wrong path, squashed",
        _ => "ended in an exception",
    }
}

/// Returns the source of the data of an access.
fn source(operation: &Operation) -> &'static str {
    if operation.timeline.outcome.has(AccessOutcome::FAULT) {
        return "no data";
    }
    match operation.timeline.source {
        DataSource::StoreQueue => "data from the store queue",
        DataSource::L1 => "data from the L1 D-cache",
        DataSource::L2 => "data from the L2",
        DataSource::Slc => "data from the system level cache",
        DataSource::Peer => "data from another core",
        DataSource::Remote => "data from another chip",
        DataSource::Dram => "data from DRAM",
        DataSource::Device => "memory that is not cached",
    }
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}
