//! Flows in the DOT language of Graphviz: one cluster for each flow.

use std::fmt::Write;

use super::chart::{Chart, ChartEdge, percent};
use crate::perf_stat::grouped;

/// Returns all charts as one directed graph.
pub fn dot(charts: &[Chart]) -> String {
    let mut text = String::from("digraph flows {\n");
    text += "    node [shape=box, fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\"];\n";
    for (number, chart) in charts.iter().enumerate() {
        write_chart(&mut text, number, chart);
    }
    text + "}\n"
}

fn write_chart(text: &mut String, number: usize, chart: &Chart) {
    let mut line = |words: String| writeln!(text, "    {words}").expect("a string takes any text");
    line(format!("subgraph cluster{number} {{"));
    line(format!("    label=\"{}\";", escaped(&chart.heading())));
    for (place, part) in chart.boxes.iter().enumerate() {
        let mut label = vec![escaped(&part.title())];
        label.extend(part.visits.map(grouped));
        label.extend(part.event_names());
        let style = match (part.visits, part.is_entry || part.is_end) {
            (Some(0), _) => ", style=dashed",
            (_, true) => ", style=rounded",
            _ => "",
        };
        line(format!("    n{number}_{place} [label=\"{}\"{style}];", label.join("\\n")));
    }
    for edge in &chart.edges {
        let style = if edge.taken == Some(0) { ", style=dashed" } else { "" };
        let (from, to) = (edge.from, edge.to);
        let label = label(edge);
        line(format!("    n{number}_{from} -> n{number}_{to} [label=\"{label}\"{style}];"));
    }
    line(String::from("}"));
}

fn label(edge: &ChartEdge) -> String {
    let mut lines = vec![escaped(edge.label)];
    if !edge.label.is_empty() {
        let share = edge.share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
        lines.extend(edge.taken.map(|taken| grouped(taken) + &share));
    }
    lines.join("\\n")
}

/// Escapes a text for use inside quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
