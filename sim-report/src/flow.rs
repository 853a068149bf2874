//! Charts of the flows of PMU guide chapter 5 and of the Cortex-A53, as declared or with the counts
//! of a run.
//!
//! A [`Chart`] holds the content of all output formats. [`svg()`] draws it with a layout in which
//! labels are laid out like boxes and so cannot overlap. [`text`] writes it for a terminal,
//! [`dot()`] for Graphviz, and [`page`] for a browser. [`steps`] shows a scenario step by step.

mod a53;
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

pub use a53::a53_chart;
pub use chart::{Chart, ChartBox, ChartEdge};
pub use dot::dot;

use sim_core::flow::{FlowCounts, FlowGraph};

/// Returns a flow as a self-contained figure, with the counts of a run if given.
pub fn svg(graph: &FlowGraph, counts: Option<&FlowCounts>) -> String {
    svg::single(&Chart::new(graph, counts))
}
