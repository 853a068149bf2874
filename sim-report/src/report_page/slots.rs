//! Top-down: the rename slots as a tree whose branches open, down to single causes and the
//! instructions with the largest cost (PMU guide 4.7 and 4.12).

use maud::{Markup, html};

use crate::page::palette::{BLUE, Color, GRAY, GREEN, ORANGE, RED};
use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{RunReport, SlotNode};

use super::parts::{code_cell, events, percent, place_cell};

/// Colors of the top-down categories, by their nodes in the tree.
const COLORS: [(&str, Color); 5] = [
    ("slots.retiring", GREEN),
    ("slots.issued", GREEN),
    ("slots.bad_speculation", RED),
    ("slots.frontend", BLUE),
    ("slots.backend", ORANGE),
];

/// Returns the strip of categories and the tree below it.
pub(super) fn body(top: &SlotNode) -> Markup {
    html! {
        p { (top.meaning) " Total: " strong { (grouped(top.slots)) } "." }
        (strip(top))
        p.quiet #tree-help {
            "Open a branch to see its parts. With the keyboard: up and down move, right opens, left closes."
        }
        ul.tree aria-describedby="tree-help" {
            @for child in &top.children { li { (node(child, &opened(top))) } }
        }
    }
}

/// Returns a sentence on the largest loss: the cause with most slots, and the instruction that it
/// is charged to.
pub(super) fn look_first(report: &RunReport) -> Markup {
    let path = report.top_down.worst();
    let slots = report.slots();
    let Some(cause) = path.last() else {
        return html! { p.first { "No " (slots.trim_end_matches('s')) " was lost." } };
    };
    let names: Vec<&str> = path.iter().map(|node| node.name.as_str()).collect();
    html! {
        p.first {
            strong { "Look first at: " }
            a href={ "#" (element_id(&cause.id)) } { (names.join(", ")) }
            ", " (format!("{:.1}%", cause.percent)) " of all " (slots) "."
            @if let Some(hot) = cause.hottest.first() {
                " The largest part of it, " (format!("{:.1}%", hot.percent)) ", is charged to "
                code { (hot.place.symbol) }
                @if let Some(line) = &hot.place.line { " (" (line) ")" }
                "."
            }
        }
    }
}

/// Returns the branches of the tree that are initially open: those above the cause with most slots.
fn opened(top: &SlotNode) -> Vec<&str> {
    top.worst().into_iter().map(|node| node.id.as_str()).collect()
}

/// Returns the first level as one strip. The tree has the same content in words.
fn strip(top: &SlotNode) -> Markup {
    html! {
        div.strip aria-hidden="true" { @for child in &top.children { @if child.percent > 0.0 {
            span style=(format!("width:{:.3}%;background:{}", child.percent, color(child).var())) {}
        } } }
    }
}

fn color(node: &SlotNode) -> Color {
    let known = COLORS.iter().find(|(id, _)| node.id.starts_with(id));
    known.map_or(GRAY, |(_, color)| *color)
}

fn node(node: &SlotNode, open: &[&str]) -> Markup {
    let has_more = !node.children.is_empty() || !node.hottest.is_empty();
    html! {
        @if has_more {
            details id=(element_id(&node.id)) data-slots=(node.slots)
                open[open.contains(&node.id.as_str())] {
                summary { (line(node)) }
                p { (node.meaning)
                    @if !node.events.is_empty() { " Events: " (events(&node.events)) "." } }
                @if !node.children.is_empty() {
                    ul { @for child in &node.children { li { (self::node(child, open)) } } }
                }
                @if !node.hottest.is_empty() { (hottest(node).html()) }
            }
        } @else {
            div.leaf id=(element_id(&node.id)) data-slots=(node.slots) title=(node.meaning) { (line(node)) }
        }
    }
}

/// Returns name, bar, share and slots of a node.
fn line(node: &SlotNode) -> Markup {
    let bar =
        format!("width:{:.3}%;background:{}", node.percent.clamp(0.0, 100.0), color(node).var());
    html! {
        span.name { (node.name) }
        span.bar aria-hidden="true" { span style=(bar) {} }
        span.share { (format!("{:.2}%", node.percent)) }
        span.slots { (grouped(node.slots)) span.unit { " slots" } }
    }
}

fn element_id(id: &str) -> String {
    id.replace('.', "-")
}

fn hottest(node: &SlotNode) -> Table {
    let caption = format!("Instructions with most slots of: {}", node.name);
    let table = Table::new(format!("hottest-{}", element_id(&node.id)), caption);
    let mut table =
        table.text("Instruction").text("Address").number("Slots").number("Share of cause");
    for hot in &node.hottest {
        let address = code_cell(&hot.place.address);
        table.push([place_cell(&hot.place), address, Cell::Count(hot.slots), percent(hot.percent)]);
    }
    table
}
