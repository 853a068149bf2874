//! The flows of PMU guide chapter 5 for the eye: as they are declared, or with the counts of a run.
//!
//! A [`Chart`] is what all forms show: [`svg`] draws it with a layout of its own, in which labels are places
//! like boxes and so cannot overlap; [`text`] writes it for a terminal, [`dot`] for Graphviz, [`page`] for a
//! browser. [`steps`] is a scenario step by step.

mod chart;
mod dot;
mod layout;
pub mod page;
mod ranks;
pub mod steps;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;

pub use chart::{Chart, ChartBox, ChartEdge};
pub use dot::dot;

use sim_core::flow::{FlowCounts, FlowEdge, FlowGraph};

use crate::run_report::FlowCount;

/// A flow as a picture that needs nothing but itself, with the counts of a run if there are some.
pub fn svg(graph: &FlowGraph, counts: Option<&FlowCounts>) -> String {
    svg::alone(&Chart::new(graph, counts))
}

/// The counts of the edges in a report's flows, for a picture of them.
pub fn counts_of(flows: &[FlowCount]) -> FlowCounts {
    let mut counts = FlowCounts::default();
    for edge in FlowEdge::ALL {
        let info = edge.info();
        let of_flow = flows.iter().filter(|flow| flow.section == info.flow.info().section);
        let told = of_flow.flat_map(|flow| &flow.edges);
        let taken = told.filter(|told| {
            (told.from.as_str(), told.to.as_str(), told.label.as_str())
                == (info.from, info.to, info.label)
        });
        counts.add(*edge, taken.map(|told| told.taken).fold(0, u64::saturating_add));
    }
    counts
}
