//! Flows of PMU guide chapter 5 with the counts of the run.

use petgraph::visit::EdgeRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::flow::{FlowCounts, FlowGraph, Link};
use sim_core::{Counts, Flow, FlowEdge, PmuEvent};

use super::observed::Observed;
use super::ratio::some_percent;

/// Flow with its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowCount {
    /// Section of the guide: `5.1`.
    pub section: String,
    /// Title.
    pub title: String,
    /// Boxes, in the order of the declaration.
    pub boxes: Vec<BoxCount>,
    /// Edges.
    pub edges: Vec<EdgeCount>,
}

/// Box with its visits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoxCount {
    /// Name, unique in its flow.
    pub name: String,
    /// Number in the guide's list; 0 for a box that is not in it.
    pub step: u8,
    /// Number of visits.
    pub visits: u64,
    /// Events that the box raises.
    pub events: Vec<BoxEvent>,
}

/// Event of a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoxEvent {
    /// Mnemonic.
    pub event: String,
    /// Count in the whole run, from this box and any other.
    pub count: u64,
}

/// Edge with its count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeCount {
    /// Name of the decision, the same in every report; absent if the box has a single exit.
    pub edge: Option<String>,
    /// Box that it leaves.
    pub from: String,
    /// Box that it enters.
    pub to: String,
    /// Decision; empty if there is none.
    pub label: String,
    /// Number of times that it was taken.
    pub taken: u64,
    /// Share of the visits of its box, in percent; absent without visits.
    pub percent: Option<f64>,
}

impl FlowCount {
    /// Returns every flow.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<FlowCount> {
        let total = observed.outcome.total();
        let counts = observed.observer.flows();
        Flow::ALL.into_iter().map(|flow| FlowCount::of(flow, counts, &total)).collect()
    }

    fn of(flow: Flow, counts: &FlowCounts, total: &Counts) -> FlowCount {
        let (info, graph) = (flow.info(), FlowGraph::new(flow));
        let visits = |node| counts.visits(&graph, node);
        let boxes = graph.graph().node_indices().map(|node| {
            let part = &graph.graph()[node];
            let event = |event: &PmuEvent| BoxEvent {
                event: event.mnemonic().to_owned(),
                count: total.value(*event),
            };
            BoxCount {
                name: part.name.to_owned(),
                step: part.step,
                visits: visits(node),
                events: part.events.iter().map(event).collect(),
            }
        });
        let boxes = boxes.collect();
        let edges = graph.graph().edge_references().map(|edge| {
            let taken = counts.along(&graph, edge.source(), *edge.weight());
            let reported = match edge.weight() {
                Link::Reported(edge) => Some(*edge),
                Link::Implied => None,
            };
            EdgeCount {
                edge: reported.map(|edge| format!("{edge:?}")),
                from: graph.graph()[edge.source()].name.to_owned(),
                to: graph.graph()[edge.target()].name.to_owned(),
                label: reported.map_or("", |edge| edge.info().label).to_owned(),
                taken,
                percent: some_percent(taken, visits(edge.source())),
            }
        });
        let (section, title) = (info.section.to_owned(), info.title.to_owned());
        FlowCount { section, title, boxes, edges: edges.collect() }
    }

    /// Returns the counts of these flows, for drawing.
    pub fn counts(flows: &[FlowCount]) -> FlowCounts {
        let mut counts = FlowCounts::default();
        for edge in flows.iter().flat_map(|flow| &flow.edges) {
            let is_it = |known: &&FlowEdge| edge.edge.as_deref() == Some(&*format!("{known:?}"));
            if let Some(known) = FlowEdge::ALL.iter().find(is_it) {
                counts.add(*known, edge.taken);
            }
        }
        counts
    }
}
