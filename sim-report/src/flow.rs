//! The flows of PMU guide chapter 5 for the eye: as they are declared, or with the counts of a run.
//!
//! A [`Chart`] is what all forms show; [`svg`] draws it with a layout of its own, in which labels are places
//! like boxes and so cannot overlap.

mod chart;
mod layout;
mod ranks;
pub mod svg;
#[cfg(test)]
mod tests;

pub use chart::{Chart, ChartBox, ChartEdge};

use sim_core::flow::{FlowCounts, FlowGraph};

/// A flow as a picture that needs nothing but itself, with the counts of a run if there are some.
pub fn svg(graph: &FlowGraph, counts: Option<&FlowCounts>) -> String {
    svg::alone(&Chart::new(graph, counts))
}
