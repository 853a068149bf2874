//! A flow of PMU guide chapter 5 as a graph: boxes are nodes, and possible next steps are edges.

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{Flow, FlowBox, FlowEdge, IMPLIED};

/// Evidence that an edge was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The model reports it.
    Reported(FlowEdge),
    /// The box has no other way out.
    Implied,
}

/// One stop of a path as a reader writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A box by its number in the guide's list.
    Step(u8),
    /// A box by its name, for boxes without a number.
    Named(String),
}

/// A path through a flow, from an entry to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    nodes: Vec<NodeIndex>,
    links: Vec<Link>,
}

/// One flow as a graph.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    flow: Flow,
    graph: DiGraph<FlowBox, Link>,
}

impl FlowGraph {
    /// Returns the graph of `flow`.
    ///
    /// # Panics
    ///
    /// Never for the declared flows: a test builds all of them.
    pub fn new(flow: Flow) -> FlowGraph {
        let boxes = flow.info().boxes;
        let mut graph = DiGraph::new();
        for part in boxes {
            graph.add_node(*part);
        }
        let node = |name: &str| {
            let place = boxes.iter().position(|known| known.name == name);
            NodeIndex::new(place.expect("edges connect boxes that their flow declares"))
        };
        for edge in FlowEdge::ALL.iter().filter(|edge| edge.info().flow == flow) {
            let info = edge.info();
            graph.add_edge(node(info.from), node(info.to), Link::Reported(*edge));
        }
        for (_, from, to) in IMPLIED.iter().filter(|(known, ..)| *known == flow) {
            graph.add_edge(node(from), node(to), Link::Implied);
        }
        FlowGraph { flow, graph }
    }

    /// Returns the flow that the graph represents.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// Returns the boxes with their edges, for drawing or traversal.
    pub fn graph(&self) -> &DiGraph<FlowBox, Link> {
        &self.graph
    }

    /// Returns true for a box without incoming edges.
    pub fn is_entry(&self, node: NodeIndex) -> bool {
        self.graph.edges_directed(node, Direction::Incoming).next().is_none()
    }

    /// Returns true for a box without outgoing edges.
    pub fn is_end(&self, node: NodeIndex) -> bool {
        self.graph.edges(node).next().is_none()
    }

    /// Returns every path from an entry to an end.
    pub fn paths(&self) -> Vec<Path> {
        let mut found = Vec::new();
        for entry in self.graph.node_indices().filter(|node| self.is_entry(*node)) {
            let mut path = Path { nodes: vec![entry], links: Vec::new() };
            self.extend(&mut path, &mut found);
        }
        found
    }

    fn extend(&self, path: &mut Path, found: &mut Vec<Path>) {
        let last = *path.nodes.last().expect("a path begins with its entry");
        if self.is_end(last) {
            found.push(path.clone());
            return;
        }
        for edge in self.graph.edges(last) {
            path.nodes.push(edge.target());
            path.links.push(*edge.weight());
            self.extend(path, found);
            path.nodes.pop();
            path.links.pop();
        }
    }

    /// Returns the path that stops at exactly these numbered boxes, in this order, and at the named
    /// ones. Of several, returns the one through the fewest other boxes. Returns `None` without
    /// stops.
    pub fn path(&self, stops: &[Stop]) -> Option<Path> {
        if stops.is_empty() {
            return None;
        }
        let fits = |path: &Path| self.fits(path, stops);
        self.paths().into_iter().filter(fits).min_by_key(|path| path.nodes.len())
    }

    fn fits(&self, path: &Path, stops: &[Stop]) -> bool {
        let mut wanted = stops.iter().peekable();
        for node in &path.nodes {
            let part = &self.graph[*node];
            let here = wanted.next_if(|stop| match stop {
                Stop::Step(number) => *number == part.step,
                Stop::Named(name) => name == part.name,
            });
            if here.is_none() && part.step != 0 {
                return false;
            }
        }
        wanted.next().is_none()
    }
}

impl Path {
    /// Returns the boxes of the path.
    pub fn boxes<'a>(&'a self, graph: &'a FlowGraph) -> impl Iterator<Item = &'a FlowBox> {
        self.nodes.iter().map(|node| &graph.graph[*node])
    }

    /// Returns the numbers of the boxes, as the guide lists them.
    pub fn steps<'a>(&'a self, graph: &'a FlowGraph) -> impl Iterator<Item = u8> + 'a {
        self.boxes(graph).map(|part| part.step).filter(|step| *step != 0)
    }

    /// Returns the reported edges of the path.
    pub fn reported(&self) -> impl Iterator<Item = FlowEdge> {
        self.links.iter().filter_map(|link| match link {
            Link::Reported(edge) => Some(*edge),
            Link::Implied => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(numbers: &[u8]) -> Vec<Stop> {
        numbers.iter().map(|number| Stop::Step(*number)).collect()
    }

    #[test]
    fn every_box_lies_on_a_path_and_only_implied_edges_have_no_sibling() {
        for flow in Flow::ALL {
            let graph = FlowGraph::new(flow);
            let paths = graph.paths();
            for node in graph.graph.node_indices() {
                let name = graph.graph[node].name;
                assert!(paths.iter().any(|path| path.nodes.contains(&node)), "{flow:?} {name}");
                let links: Vec<Link> = graph.graph.edges(node).map(|e| *e.weight()).collect();
                if links.contains(&Link::Implied) {
                    assert_eq!(links.len(), 1, "{flow:?} {name}: a decision must be reported");
                }
            }
            assert!(!petgraph::algo::is_cyclic_directed(&graph.graph), "{flow:?}");
        }
    }

    #[test]
    fn the_paths_of_the_guide_are_paths_of_the_graphs() {
        let printed: [(Flow, &[&[u8]]); 8] = [
            (Flow::LoadTlb, &[&[1, 2], &[1, 2, 3, 4], &[1, 2, 3, 5, 6, 4], &[1, 2, 3, 5]]),
            (Flow::StoreTlb, &[&[1, 2], &[1, 2, 3, 4], &[1, 2, 3, 5, 6, 4], &[1, 2, 3, 5]]),
            (Flow::FetchTlb, &[&[1], &[1, 3, 4], &[1, 3, 5, 6, 4], &[1, 3, 5]]),
            (Flow::L1dRead, &[&[1], &[1, 2], &[1, 2, 3], &[1, 2, 4], &[1, 2, 3, 4]]),
            (Flow::L1dWrite, &[&[1], &[1, 2], &[1, 2, 3], &[1, 2, 4], &[1, 2, 3, 4]]),
            (Flow::L1i, &[&[1], &[1, 2]]),
            (Flow::L2Read, &[&[1], &[1, 2, 4], &[1, 2, 3, 4], &[1, 2, 4, 5], &[1, 2, 3, 4, 5]]),
            (Flow::L2Write, &[&[1], &[1, 2, 4], &[1, 2, 3, 4], &[1, 2, 4, 5], &[1, 2, 3, 4, 5]]),
        ];
        for (flow, paths) in printed {
            let graph = FlowGraph::new(flow);
            for numbers in paths {
                let path = graph.path(&steps(numbers)).expect("the guide prints it");
                assert_eq!(path.steps(&graph).collect::<Vec<u8>>(), *numbers, "{flow:?}");
            }
        }
    }

    #[test]
    fn a_path_that_the_flow_does_not_have_is_none() {
        let graph = FlowGraph::new(Flow::LoadTlb);
        for numbers in [&[1, 2, 4][..], &[2], &[1, 2, 3, 5, 4], &[1, 2, 3, 5, 6, 4, 4], &[]] {
            assert_eq!(graph.path(&steps(numbers)), None, "{numbers:?}");
        }
    }

    #[test]
    fn unnumbered_boxes_select_a_path_by_name() {
        let graph = FlowGraph::new(Flow::L1dWrite);
        let hit = graph.path(&steps(&[1])).expect("a hit");
        assert_eq!(hit.reported().collect::<Vec<_>>(), [FlowEdge::L1dWriteHit]);
        let stops = [Stop::Step(1), Stop::Named("write to the L2".to_owned())];
        let streamed = graph.path(&stops).expect("a whole line");
        assert_eq!(streamed.reported().collect::<Vec<_>>(), [FlowEdge::L1dWriteStream]);
    }
}
