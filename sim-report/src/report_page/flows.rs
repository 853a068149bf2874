//! Flows of PMU guide chapter 5 with the counts of the run: as figures and as tables.

use maud::{Markup, html};
use sim_core::flow::{Flow, FlowGraph};

use crate::flow::{Chart, svg};
use crate::page::{Cell, Table, drawing};
use crate::perf_stat::grouped;
use crate::run_report::FlowCount;

use super::parts::{event_cell, percent};

/// Returns every flow that an access entered, and the names of the others.
pub(super) fn body(flows: &[FlowCount]) -> Markup {
    let (taken, idle): (Vec<&FlowCount>, Vec<&FlowCount>) =
        flows.iter().partition(|flow| entered(flow) > 0);
    html! {
        p { "An access moves from box to box. The numbers count the moves, and the events of a box are raised there. \
             Open a flow to see it." }
        @for flow in &taken { (one(flow, flows)) }
        @if !idle.is_empty() {
            p.quiet { "Not entered: "
                @for (i, flow) in idle.iter().enumerate() {
                    @if i > 0 { ", " }
                    (flow.section) " " (flow.title)
                } "." }
        }
    }
}

/// Returns the visits of the busiest box, which are 0 if no access entered the flow.
fn entered(flow: &FlowCount) -> u64 {
    flow.boxes.iter().map(|part| part.visits).max().unwrap_or(0)
}

fn one(flow: &FlowCount, flows: &[FlowCount]) -> Markup {
    let id = format!("flow-{}", flow.section.replace('.', "-"));
    let name_id = format!("{id}-name");
    let heading = format!("{} {}", flow.section, flow.title);
    html! {
        details.flow-of-run id=(id) {
            summary {
                strong id=(name_id) { (heading) }
                " " span.quiet { (grouped(entered(flow))) " at its busiest box" }
            }
            @if let Some(known) = Flow::ALL.into_iter().find(|known| known.info().section == flow.section) {
                @let graph = FlowGraph::new(known);
                @let chart = Chart::new(&graph, Some(&FlowCount::counts(flows)));
                (drawing(&name_id, &svg::linked(&chart)))
            }
            (edges(&id, &heading, flow).html())
            (boxes(&id, &heading, flow).html())
        }
    }
}

fn edges(id: &str, heading: &str, flow: &FlowCount) -> Table {
    let table = Table::new(format!("{id}-edges"), format!("{heading}: edges taken"));
    let mut table =
        table.text("From").text("Decision").text("To").number("Taken").number("Share of box");
    for edge in &flow.edges {
        table.push([
            edge.from.as_str().into(),
            if edge.label.is_empty() { Cell::None } else { edge.label.as_str().into() },
            edge.to.as_str().into(),
            edge.taken.into(),
            percent(edge.percent),
        ]);
    }
    table
}

fn boxes(id: &str, heading: &str, flow: &FlowCount) -> Table {
    let caption = format!("{heading}: events of its boxes, with the counts of the whole run");
    let table = Table::new(format!("{id}-boxes"), caption);
    let mut table = table.text("Box").number("Visits").text("Event").number("Count");
    for part in &flow.boxes {
        for own in &part.events {
            let count = own.count.into();
            table.push([
                part.name.as_str().into(),
                part.visits.into(),
                event_cell(&own.event),
                count,
            ]);
        }
    }
    table
}
