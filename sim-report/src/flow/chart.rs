//! Content of a flow chart: its boxes, its edges, how often each was taken and its share.

use petgraph::visit::EdgeRef;
use sim_core::flow::{FlowBox, FlowCounts, FlowGraph, FlowInfo, Link};
use sim_core::{A53Event, PmuEvent};

/// Most characters of the subject of a chart: a step of a scenario may name thousands of addresses.
const SUBJECT_MAX: usize = 60;

/// Flow with the counts of its edges.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Section of the guide; empty for a chart of another core.
    pub section: &'static str,
    /// Title of the flow.
    pub title: &'static str,
    /// Boxes, in the order of the declaration.
    pub boxes: Vec<ChartBox>,
    /// Edges, by the positions of their boxes in `boxes`.
    pub edges: Vec<ChartEdge>,
    /// Entries outside the guide's list that were never taken. They, and boxes that only they
    /// reach, are left out.
    pub left_out: Vec<&'static str>,
    /// Subject of a partial flow: a step of a scenario, a trace.
    pub subject: Option<String>,
}

/// Box of a flow.
#[derive(Clone, Copy, Debug)]
pub struct ChartBox {
    /// Number in the guide's list, or 0.
    pub step: u8,
    /// Name, unique in its flow.
    pub name: &'static str,
    /// Events that the box raises.
    pub events: &'static [PmuEvent],
    /// Events that the box raises on a Cortex-A53, with the number of occurrences for each visit.
    pub a53_events: &'static [(A53Event, u64)],
    /// Number of visits, if known.
    pub visits: Option<u64>,
    /// Whether no edge leads to it.
    pub is_entry: bool,
    /// Whether no edge leaves it.
    pub is_end: bool,
}

/// Edge of a flow.
#[derive(Clone, Copy, Debug)]
pub struct ChartEdge {
    /// Position of the box that it leaves.
    pub from: usize,
    /// Position of the box that it enters.
    pub to: usize,
    /// Decision; empty if there is no alternative.
    pub label: &'static str,
    /// Number of times that it was taken, if known.
    pub taken: Option<u64>,
    /// Share of the decisions of its box, if there was more than one.
    pub share: Option<f64>,
}

impl Chart {
    /// Creates the chart of a flow as declared, or with the counts of a run.
    pub fn new(graph: &FlowGraph, counts: Option<&FlowCounts>) -> Chart {
        let nodes = graph.graph();
        let boxes: Vec<ChartBox> = nodes
            .node_indices()
            .map(|node| {
                let FlowBox { name, step, events } = nodes[node];
                let visits = counts.map(|counts| counts.visits(graph, node));
                let (is_entry, is_end) = (graph.is_entry(node), graph.is_end(node));
                ChartBox { step, name, events, a53_events: &[], visits, is_entry, is_end }
            })
            .collect();
        let edges = nodes.edge_references().map(|edge| {
            let (from, link) = (edge.source(), *edge.weight());
            let taken = counts.map(|counts| counts.along(graph, from, link));
            let (label, decides) = match link {
                Link::Reported(edge) => (edge.info().label, true),
                Link::Implied => ("", false),
            };
            let visits = boxes[from.index()].visits.filter(|visits| decides && *visits > 1);
            let share = visits.zip(taken).map(|(visits, taken)| taken as f64 / visits as f64);
            ChartEdge { from: from.index(), to: edge.target().index(), label, taken, share }
        });
        let edges = edges.collect();
        let FlowInfo { section, title, .. } = *graph.flow().info();
        let chart = Chart { section, title, boxes, edges, left_out: Vec::new(), subject: None };
        if counts.is_some() { chart.without_idle_entries() } else { chart }
    }

    /// Returns whether an access went through this flow.
    pub fn was_taken(&self) -> bool {
        self.boxes.iter().any(|part| part.visits.is_some_and(|visits| visits > 0))
    }

    /// Returns section, title and subject.
    pub fn heading(&self) -> String {
        let subject = self.subject.as_ref().map(|subject| format!(": {subject}"));
        format!("{}{}", self.name(), subject.unwrap_or_default())
    }

    /// Returns section and title.
    pub fn name(&self) -> String {
        match self.section {
            "" => self.title.to_owned(),
            section => format!("{section} {}", self.title),
        }
    }

    /// Sets the subject of the chart. A long text is cut.
    #[must_use]
    pub fn of(self, subject: &str) -> Chart {
        let mut short: String = subject.chars().take(SUBJECT_MAX).collect();
        if short.len() < subject.len() {
            short.push('…');
        }
        Chart { subject: Some(short), ..self }
    }

    /// Returns the edges that leave a box, in the order of the declaration.
    pub fn edges_out(&self, place: usize) -> impl Iterator<Item = &ChartEdge> {
        self.edges.iter().filter(move |edge| edge.from == place)
    }

    /// Leaves out entries outside the guide's list that were never taken.
    #[must_use]
    pub fn without_idle_entries(self) -> Chart {
        let is_idle = |part: &ChartBox| {
            part.is_entry && part.step == 0 && part.visits.is_some_and(|visits| visits == 0)
        };
        let mut reached: Vec<bool> =
            self.boxes.iter().map(|part| part.is_entry && !is_idle(part)).collect();
        for _ in 0..self.boxes.len() {
            for edge in self.edges.iter().filter(|edge| reached[edge.from]).collect::<Vec<_>>() {
                reached[edge.to] = true;
            }
        }
        let idle = self.boxes.iter().filter(|part| is_idle(part));
        let left_out = idle.map(|part| part.name).collect();
        let place: Vec<usize> = (0..reached.len())
            .map(|i| reached[..i].iter().filter(|is_reached| **is_reached).count())
            .collect();
        let boxes = self.boxes.iter().zip(&reached).filter(|(_, is_reached)| **is_reached);
        let edges = self.edges.iter().filter(|edge| reached[edge.from]);
        let edges = edges.map(|e| ChartEdge { from: place[e.from], to: place[e.to], ..*e });
        Chart {
            section: self.section,
            title: self.title,
            boxes: boxes.map(|(part, _)| *part).collect(),
            edges: edges.collect(),
            left_out,
            subject: None,
        }
    }
}

impl ChartBox {
    /// Returns the names of the events of the box; `x 4` follows one that occurs four times.
    pub fn event_names(&self) -> Vec<String> {
        let of_a53 = self.a53_events.iter().map(|(event, times)| match times {
            1 => event.mnemonic().to_owned(),
            times => format!("{} x {times}", event.mnemonic()),
        });
        self.events.iter().map(|event| event.mnemonic().to_owned()).chain(of_a53).collect()
    }

    /// Returns `3: L2 TLB lookup`, without the number if the guide has none.
    pub fn title(&self) -> String {
        match self.step {
            0 => self.name.to_owned(),
            step => format!("{step}: {}", self.name),
        }
    }
}

/// Formats a share such as `97.2 %`. A share between none and all is never rounded to either.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent > 0.0 && percent < 0.05 => String::from("<0.1 %"),
        _ if percent > 99.95 && percent < 100.0 => String::from(">99.9 %"),
        _ => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use sim_core::flow::Flow;

    use super::*;

    #[test]
    fn a_share_between_none_and_all_is_not_rounded_to_either() {
        assert_eq!(percent(1.0), "100.0 %");
        assert_eq!(percent(0.999_999), ">99.9 %");
        assert_eq!(percent(0.000_001), "<0.1 %");
        assert_eq!(percent(0.0), "0.0 %");
    }

    #[test]
    fn a_long_subject_is_cut() {
        let chart = Chart::new(&FlowGraph::new(Flow::L1i), None);
        assert_eq!(chart.clone().of("IF 0x8000").heading(), "5.6 L1 I-cache: IF 0x8000");
        let long = chart.of(&"é".repeat(1000)).heading();
        assert_eq!(long.chars().count(), "5.6 L1 I-cache: ".len() + SUBJECT_MAX + 1);
    }

    #[test]
    fn unused_entries_outside_the_guides_list_are_left_out_when_there_are_counts() {
        let graph = FlowGraph::new(Flow::LoadTlb);
        let declared = Chart::new(&graph, None);
        assert_eq!((declared.boxes.len(), declared.left_out.len()), (14, 0));
        let mut counts = FlowCounts::default();
        let stops = [1, 2].map(sim_core::flow::Stop::Step);
        counts.add_path(&graph.path(&stops).expect("a hit"), 3);
        let chart = Chart::new(&graph, Some(&counts));
        assert_eq!(
            chart.left_out,
            ["preload or prefetch", "L2 TLB lookup by AT", "address of a descriptor"]
        );
        assert_eq!(chart.boxes.len(), 8);
        for edge in &chart.edges {
            assert!(edge.from < chart.boxes.len() && edge.to < chart.boxes.len());
        }
        let hit = chart.edges.iter().find(|edge| edge.label == "hit").expect("drawn");
        assert_eq!((chart.boxes[hit.from].name, hit.taken), ("L1 TLB lookup", Some(3)));
    }
}
