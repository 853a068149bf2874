//! The flows of PMU guide chapter 5 for the eye: as they are declared, or with the counts of a run.
//!
//! A [`Chart`] is what all forms show: [`svg()`] draws it with a layout of its own, in which labels are places
//! like boxes and so cannot overlap; [`text`] writes it for a terminal, [`dot()`] for Graphviz, [`page`] for a
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

use sim_core::flow::{FlowCounts, FlowGraph};

/// A flow as a picture that needs nothing but itself, with the counts of a run if there are some.
pub fn svg(graph: &FlowGraph, counts: Option<&FlowCounts>) -> String {
    svg::alone(&Chart::new(graph, counts))
}
