//! Number of times that each edge of the flows was taken, and the box visits that follow from it.

use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::{FlowBox, FlowEdge, FlowGraph, Link, Path};
use crate::pmu_event::PmuEvent;
use crate::sink::{EventSink, Notice};

/// A sink that counts only the edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowCounts {
    taken: [u64; FlowEdge::COUNT],
}

impl Default for FlowCounts {
    fn default() -> Self {
        FlowCounts { taken: [0; FlowEdge::COUNT] }
    }
}

impl EventSink for FlowCounts {
    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        if let Notice::Edge(edge) = notice {
            self.taken[edge as usize] += 1;
        }
    }
}

impl FlowCounts {
    /// Returns the number of times that an edge was taken.
    pub fn taken(&self, edge: FlowEdge) -> u64 {
        self.taken[edge as usize]
    }

    /// Adds `times` passes over an edge.
    pub fn add(&mut self, edge: FlowEdge, times: u64) {
        let taken = &mut self.taken[edge as usize];
        *taken = taken.saturating_add(times);
    }

    /// Adds `times` accesses that take this path.
    pub fn add_path(&mut self, path: &Path, times: u64) {
        path.reported().for_each(|edge| self.add(edge, times));
    }

    /// Returns the counts after `earlier`, an earlier state of the same counts.
    #[must_use]
    pub fn since(&self, earlier: &FlowCounts) -> FlowCounts {
        let mut later = self.clone();
        for (taken, before) in later.taken.iter_mut().zip(earlier.taken) {
            *taken = taken.saturating_sub(before);
        }
        later
    }

    /// Returns the number of times that an edge of the graph was taken, reported or implied.
    pub fn along(&self, graph: &FlowGraph, from: NodeIndex, link: Link) -> u64 {
        match link {
            Link::Reported(edge) => self.taken(edge),
            Link::Implied => self.visits(graph, from),
        }
    }

    /// Returns the number of visits of a box. Every visit that enters a box leaves it. Visits are
    /// the sum of its decisions if it has any, and otherwise the sum of its entries.
    pub fn visits(&self, graph: &FlowGraph, node: NodeIndex) -> u64 {
        let mut ways_out = graph.graph().edges(node).peekable();
        let decides = matches!(ways_out.peek(), Some(edge) if *edge.weight() != Link::Implied);
        if decides {
            return ways_out
                .map(|edge| self.along(graph, node, *edge.weight()))
                .fold(0, u64::saturating_add);
        }
        if !graph.is_entry(node) {
            return self.entered(graph, node);
        }
        // An entry with one way out: the visits of the next box that did not enter from elsewhere.
        let Some(next) = ways_out.next().map(|edge| edge.target()) else { return 0 };
        let others = graph.graph().edges_directed(next, Direction::Incoming);
        let others = others.filter(|edge| edge.source() != node);
        let elsewhere: u64 = others
            .map(|edge| self.along(graph, edge.source(), *edge.weight()))
            .fold(0, u64::saturating_add);
        self.visits(graph, next).saturating_sub(elsewhere)
    }

    fn entered(&self, graph: &FlowGraph, node: NodeIndex) -> u64 {
        let ways_in = graph.graph().edges_directed(node, Direction::Incoming);
        ways_in
            .map(|edge| self.along(graph, edge.source(), *edge.weight()))
            .fold(0, u64::saturating_add)
    }

    /// Returns name, entries and exits of each box for which entries and exits differ. The list is
    /// empty if every decision was reported.
    pub fn unbalanced(&self, graph: &FlowGraph) -> Vec<(&'static str, u64, u64)> {
        let inner = |node: &NodeIndex| !graph.is_entry(*node) && !graph.is_end(*node);
        let sides = |node: NodeIndex| {
            let name = graph.graph()[node].name;
            (name, self.entered(graph, node), self.visits(graph, node))
        };
        let nodes = graph.graph().node_indices().filter(inner).map(sides);
        nodes.filter(|(_, entered, left)| entered != left).collect()
    }

    /// Returns the count of every event of the flow, as the visits of its boxes imply it.
    pub fn events(&self, graph: &FlowGraph) -> Vec<(PmuEvent, u64)> {
        let mut events: Vec<(PmuEvent, u64)> = Vec::new();
        for node in graph.graph().node_indices() {
            let FlowBox { events: raised, .. } = graph.graph()[node];
            let visits = self.visits(graph, node);
            for event in raised {
                match events.iter_mut().find(|(known, _)| known == event) {
                    Some((_, n)) => *n += visits,
                    None => events.push((*event, visits)),
                }
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Flow, Stop};

    fn graph_and_counts(flow: Flow, paths: &[(&[u8], u64)]) -> (FlowGraph, FlowCounts) {
        let graph = FlowGraph::new(flow);
        let mut counts = FlowCounts::default();
        for (numbers, times) in paths {
            let stops: Vec<Stop> = numbers.iter().map(|number| Stop::Step(*number)).collect();
            counts.add_path(&graph.path(&stops).expect("a path of the flow"), *times);
        }
        (graph, counts)
    }

    fn of(events: &[(PmuEvent, u64)], event: PmuEvent) -> u64 {
        events.iter().find(|(known, _)| *known == event).expect("an event of the flow").1
    }

    #[test]
    fn visits_follow_from_the_reported_edges() {
        let (graph, mut counts) = graph_and_counts(
            Flow::LoadTlb,
            &[(&[1, 2], 10), (&[1, 2, 3, 4], 4), (&[1, 2, 3, 5, 6, 4], 2), (&[1, 2, 3, 5], 1)],
        );
        for edge in [FlowEdge::LoadTlbPreloadMiss, FlowEdge::LoadL2TlbHit] {
            counts.notify(Notice::Edge(edge));
        }
        assert_eq!(counts.unbalanced(&graph), []);
        let events = counts.events(&graph);
        assert_eq!(of(&events, PmuEvent::MEM_ACCESS_RD), 17, "the preload is not an access");
        assert_eq!(of(&events, PmuEvent::L1D_TLB_RD), 17);
        assert_eq!(of(&events, PmuEvent::L2D_TLB_RD), 8);
        assert_eq!(of(&events, PmuEvent::DTLB_WALK), 3);
        assert_eq!(of(&events, PmuEvent::L2D_TLB_REFILL_RD), 2);
        assert_eq!(of(&events, PmuEvent::L1D_TLB_REFILL_RD), 7);
    }

    #[test]
    fn an_event_of_two_boxes_adds_them_up() {
        let (graph, mut counts) = graph_and_counts(Flow::L2Write, &[(&[1, 2, 4, 5], 3)]);
        for edge in [FlowEdge::L2WriteMiss, FlowEdge::L2WriteClaim, FlowEdge::L2WriteNoVictim] {
            counts.notify(Notice::Edge(edge));
        }
        assert_eq!(counts.unbalanced(&graph), []);
        let events = counts.events(&graph);
        assert_eq!(of(&events, PmuEvent::L2D_CACHE_REFILL), 4);
        assert_eq!(of(&events, PmuEvent::L2D_CACHE_REFILL_RD), 3);
        assert_eq!(of(&events, PmuEvent::L2D_CACHE_WB_VICTIM), 3);
    }

    #[test]
    fn an_unreported_decision_is_detected() {
        let (graph, mut counts) = graph_and_counts(Flow::L1dRead, &[(&[1, 2, 3], 2)]);
        counts.notify(Notice::Edge(FlowEdge::L1dReadMiss));
        assert_eq!(counts.unbalanced(&graph), [("refill", 3, 2)]);
    }
}
