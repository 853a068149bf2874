//! Paths of an access through the flows of the guide, from flow to flow, with their events.

use std::collections::BTreeMap;

use sim_core::flow::{Flow, FlowEdge, FlowGraph, NEXT, Next, Path, TIES, Tie};
use sim_core::pmu_event::PmuEvent;

use crate::other_counts::{ALSO, OTHER_ENTRIES, UP_TO};

/// Events of a path, each with the number of times that it counts.
pub(crate) type Tally = BTreeMap<PmuEvent, u64>;

/// One path, through one flow or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// Sections of the flows with the decisions taken, such as `5.4 miss, L2 hit; 5.7 hit`.
    pub(crate) name: String,
    /// Events that count.
    pub(crate) events: Tally,
    /// Decisions in its first flow.
    edges: Vec<FlowEdge>,
    /// The flow ended where a cache follows.
    is_translated: bool,
}

impl Trail {
    fn and(&self, other: &Trail) -> Trail {
        let mut both = self.clone();
        both.name = format!("{}; {}", self.name, other.name);
        for (event, times) in &other.events {
            *both.events.entry(*event).or_default() += times;
        }
        both
    }
}

/// Returns every path of an access, from its first flow to its last.
pub(crate) fn trails() -> Vec<Trail> {
    let mut found = Vec::new();
    for flow in Flow::ALL {
        let is_followed = NEXT.iter().any(|next| next.to == flow);
        let first = flow.info().boxes[0].name;
        for trail in entered_at(flow, |entry| !is_followed || entry != first) {
            found.extend(continued(flow, &trail));
            found.push(trail);
        }
    }
    found
}

/// Returns the paths of an access that the caches serve after its translation.
fn continued(flow: Flow, translation: &Trail) -> Vec<Trail> {
    let Some(next) = NEXT.iter().find(|next| next.from == flow) else { return Vec::new() };
    if !translation.is_translated {
        return Vec::new();
    }
    let mut caches = demand(next.to);
    if flow != Flow::FetchTlb {
        caches.extend(atomics());
    }
    caches.iter().map(|cache| translation.and(cache)).collect()
}

/// Returns the paths of an atomic in the L1 D-cache. It reads and writes the line after one
/// translation, and its write finds the line.
fn atomics() -> Vec<Trail> {
    let writes = demand(Flow::L1dWrite);
    let is_hit = |write: &&Trail| write.edges.contains(&FlowEdge::L1dWriteHit);
    let hits: Vec<&Trail> = writes.iter().filter(is_hit).collect();
    let reads = demand(Flow::L1dRead);
    reads.iter().flat_map(|read| hits.iter().map(|hit| read.and(hit))).collect()
}

/// Returns the paths that enter a flow at its first box.
fn demand(flow: Flow) -> Vec<Trail> {
    let first = flow.info().boxes[0].name;
    entered_at(flow, |entry| entry == first)
}

/// Returns the paths through a flow and those that it enters, from the accepted entries.
fn entered_at(flow: Flow, accepts: impl Fn(&str) -> bool) -> Vec<Trail> {
    let graph = FlowGraph::new(flow);
    let mut found = Vec::new();
    for path in graph.paths() {
        let entry = path.boxes(&graph).next().map_or("", |part| part.name);
        if accepts(entry) {
            let trails = with_more(own(&graph, &path), flow, &graph, &path);
            found.extend(trails.into_iter().flat_map(with_next));
        }
    }
    found
}

/// Returns a path within its own flow.
fn own(graph: &FlowGraph, path: &Path) -> Trail {
    let flow = graph.flow();
    let mut trail = Trail::default();
    for part in path.boxes(graph) {
        let also = ALSO.iter().filter(|(known, name, _)| *known == flow && *name == part.name);
        let events = part.events.iter().copied().chain(also.map(|(.., event)| *event));
        for event in events.filter(|event| is_counted_in(flow, *event)) {
            *trail.events.entry(event).or_default() += 1;
        }
        let is_end = |next: &Next| next.from == flow && next.at == part.name;
        trail.is_translated = NEXT.iter().any(is_end);
    }
    // Only an access of the program goes on to the caches.
    let first = flow.info().boxes[0].name;
    trail.is_translated &= path.boxes(graph).next().is_some_and(|part| part.name == first);
    trail.edges = path.reported().collect();
    let outcomes: Vec<&str> = trail.edges.iter().map(|edge| edge.info().outcome()).collect();
    trail.name = format!("{} {}", flow.info().section, outcomes.join(", "));
    trail
}

/// Returns a path without and with the events that its boxes may raise in addition. Everything
/// between is a mix of both.
fn with_more(trail: Trail, flow: Flow, graph: &FlowGraph, path: &Path) -> Vec<Trail> {
    let passes = |name: &str| path.boxes(graph).any(|part| part.name == name);
    let more = UP_TO.iter().find(|(known, name, ..)| *known == flow && passes(name));
    let Some((_, _, event, times)) = more else { return vec![trail] };
    let mut most = trail.clone();
    *most.events.entry(*event).or_default() += times;
    most.name = format!("{}, tables kept", trail.name);
    vec![trail, most]
}

/// Returns whether a visit of the flow's boxes counts the event.
fn is_counted_in(flow: Flow, event: PmuEvent) -> bool {
    match TIES.iter().find(|(tied, ..)| *tied == event) {
        Some((_, Tie::Apart, _)) => false,
        Some((_, Tie::VisitsIn(own), _)) => *own == flow,
        Some((_, Tie::Visits | Tie::AtLeast, _)) | None => true,
    }
}

/// Returns a path with every path through the flows that its edges enter.
fn with_next(trail: Trail) -> Vec<Trail> {
    let has = |trail: &Trail, edges: &[FlowEdge]| trail.edges.iter().any(|own| edges.contains(own));
    // Data of the L2 was found there; data of a line in flight comes from outside (A03).
    let is_found = has(&trail, &[FlowEdge::L1dReadInner, FlowEdge::L1dWriteInner]);
    let edges = trail.edges.clone();
    let mut found = vec![trail];
    for edge in edges {
        let Some(flow) = edge.info().enters() else { continue };
        let mut nexts = demand(flow);
        let others = OTHER_ENTRIES.iter().filter(|(other, ..)| *other == edge);
        nexts.extend(others.flat_map(|(_, flow, _)| demand(*flow)));
        if is_found && [FlowEdge::L1dReadMiss, FlowEdge::L1dWriteMiss].contains(&edge) {
            nexts.retain(|next| has(next, &[FlowEdge::L2ReadHit, FlowEdge::L2WriteHit]));
        }
        found = found.iter().flat_map(|own| nexts.iter().map(|next| own.and(next))).collect();
    }
    found
}
