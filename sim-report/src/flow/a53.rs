//! Charts of the flows of a Cortex-A53.

use sim_a53::flow::{A53Flow, Steps};

use super::chart::{Chart, ChartBox, ChartEdge};

/// Returns the chart of a flow as declared, or with the steps of a run.
pub fn a53_chart(flow: &A53Flow, steps: Option<&Steps>) -> Chart {
    let place = |name: &str| flow.boxes.iter().position(|own| own.name == name);
    let boxes: Vec<ChartBox> = flow
        .boxes
        .iter()
        .map(|own| ChartBox {
            step: 0,
            name: own.name,
            events: &[],
            a53_events: own.events,
            visits: steps.map(|steps| (own.visits)(steps)),
            is_entry: flow.edges.iter().all(|edge| edge.to != own.name),
            is_end: flow.edges.iter().all(|edge| edge.from != own.name),
        })
        .collect();
    let edges = flow.edges.iter().filter_map(|edge| {
        let (from, to) = (place(edge.from)?, place(edge.to)?);
        let taken = steps.map(|steps| (edge.taken)(steps));
        let visits = boxes[from].visits.filter(|visits| !edge.label.is_empty() && *visits > 1);
        let share = visits.zip(taken).map(|(visits, taken)| taken as f64 / visits as f64);
        Some(ChartEdge { from, to, label: edge.label, taken, share })
    });
    let edges = edges.collect();
    Chart { section: "", title: flow.title, boxes, edges, left_out: Vec::new(), subject: None }
}
