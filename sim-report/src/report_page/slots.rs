//! Top-down: the rename slots as a tree whose branches open, down to single causes and the
//! instructions with the largest cost (PMU guide 4.7 and 4.12).

use maud::{Markup, html};

use crate::page::palette::{BLUE, Color, GRAY, GREEN, ORANGE, YELLOW};
use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::SlotNode;

use super::parts::{code_cell, events, percent, place_cell};

/// Colors of the top-down categories, by their nodes in the tree: neighbors differ for color-blind
/// readers too.
const COLORS: [(&str, Color); 5] = [
    ("slots.retiring", GREEN),
    ("slots.issued", GREEN),
    ("slots.bad_speculation", YELLOW),
    ("slots.frontend", BLUE),
    ("slots.backend", ORANGE),
];

/// Returns the tree.
pub(super) fn body(top: &SlotNode) -> Markup {
    html! {
        p { (top.meaning) " Total: " strong { (grouped(top.slots)) } "." }
        p.quiet #tree-help {
            "Open a branch to see its parts. With the keyboard: up and down move, right opens, left closes."
        }
        ul.tree data-live="slots" aria-describedby="tree-help" {
            @for child in &top.children { li { (node(child, &opened(top))) } }
        }
    }
}

/// Returns the branches of the tree that are initially open: those above the cause with most slots.
fn opened(top: &SlotNode) -> Vec<&str> {
    top.worst().into_iter().map(|node| node.id.as_str()).collect()
}

/// Returns the color of a node's category.
pub(super) fn color(node: &SlotNode) -> Color {
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
        span.name style=(format!("--depth:{}", node.id.matches('.').count().saturating_sub(1))) { (node.name) }
        span.bar aria-hidden="true" { span style=(bar) {} }
        span.share { (format!("{:.2}%", node.percent)) }
        span.slots { (grouped(node.slots)) span.unit { " slots" } }
    }
}

pub(super) fn element_id(id: &str) -> String {
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
