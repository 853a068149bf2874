//! Page of flows: each figure with its numbers in a table, and events that link to the glossary.

mod walks;

pub use walks::{WalkedCase, walk, walks};

use maud::{Markup, PreEscaped, html};
use sim_a53::flow::A53Account;
use sim_core::PmuEvent;
use sim_core::flow::Account;
use sim_machine::caveats;
use sim_trace::MissingData;

use super::chart::Chart;
use super::svg;
use super::text::{A53_DIFFERENCE, difference};
use crate::page::{self, Cell, Page, Section, Table, event_link, glossary};

/// Legend of the figures.
const LEGEND: &str = "Numbers in discs are those of the guide's lists. With counts, the width of an edge shows how often \
    it was taken; a dashed edge never was.";

/// Legend of the figures of a Cortex-A53.
const A53_LEGEND: &str =
    "With counts, the width of an edge shows how often it was taken; a dashed edge never was.";

/// Returns a page of flows as declared, or with the counts of a run and the counts of the events.
/// Counts that the trace makes doubtful are marked.
pub fn flows(
    title: String,
    lead: &str,
    charts: &[Chart],
    accounts: &[Account],
    lacks: &[MissingData],
) -> String {
    let mut sections: Vec<Section> = charts
        .iter()
        .enumerate()
        .map(|(number, chart)| Section {
            id: format!("flow-{number}"),
            heading: chart.heading(),
            body: html! { div.flows { (figure(&format!("chart-{number}"), chart, caption(chart))) } },
        })
        .collect();
    if !accounts.is_empty() {
        sections.push(Section {
            id: "account".into(),
            heading: "Events of the boxes".into(),
            body: account_table(accounts, lacks).html(),
        });
    }
    let counted = accounts.iter().map(|account| account.event);
    sections.push(folded(visited_events(charts).into_iter().chain(counted).collect()));
    Page { title, lead: html! { (style()) p { (lead) } p { (LEGEND) } }, sections }.html()
}

/// Returns a page of the flows of a Cortex-A53, as declared or with the counts of a run.
pub fn a53_flows(title: String, lead: &str, charts: &[Chart], accounts: &[A53Account]) -> String {
    let section = |(number, chart): (usize, &Chart)| Section {
        id: format!("flow-{number}"),
        heading: chart.heading(),
        body: html! { div.flows { (figure(&format!("chart-{number}"), chart, caption(chart))) } },
    };
    let mut sections: Vec<Section> = charts.iter().enumerate().map(section).collect();
    if !accounts.is_empty() {
        let body = a53_account_table(accounts).html();
        sections.push(Section {
            id: "account".into(),
            heading: "Events of the boxes".into(),
            body,
        });
    }
    Page { title, lead: html! { (style()) p { (lead) } p { (A53_LEGEND) } }, sections }
        .html_on("Cortex-A53")
}

fn a53_account_table(accounts: &[A53Account]) -> Table {
    let caption = "Visits of the boxes that name an event, and its count";
    let mut table = Table::new("accounts", caption)
        .text("Event")
        .number("Visits")
        .number("Counted")
        .text("Reason for the difference")
        .filter();
    for account in accounts {
        let is_same = account.visits == account.counted;
        let why = if is_same { Cell::from("") } else { A53_DIFFERENCE.into() };
        let event = Cell::from(account.event.mnemonic());
        table.push([event, account.visits.into(), account.counted.into(), why]);
    }
    table
}

/// Returns the caption of a flow, whose name is in the heading.
fn caption(chart: &Chart) -> &'static str {
    match chart.boxes.iter().any(|part| part.visits.is_some()) {
        true => "Counts of each edge",
        false => "The flow as declared",
    }
}

fn figure(id: &str, chart: &Chart, title: &str) -> Markup {
    let mut table = Table::new(format!("{id}-numbers"), format!("Edges of {}", chart.heading()))
        .text("From")
        .text("Decision")
        .text("To");
    let has_counts = chart.boxes.iter().any(|part| part.visits.is_some());
    if has_counts {
        table = table.number("Taken").number("Share");
    }
    for edge in &chart.edges {
        let name = |place: usize| Cell::from(chart.boxes[place].title());
        let mut row = vec![name(edge.from), edge.label.into(), name(edge.to)];
        if has_counts {
            row.push(edge.taken.map_or(Cell::None, Cell::Count));
            row.push(edge.share.map_or(Cell::None, Cell::Share));
        }
        table.push(row);
    }
    let text = match chart.left_out.as_slice() {
        [] => String::new(),
        names => format!("Not taken, not drawn: {}.", names.join(", ")),
    };
    let (id, title) = (id.to_owned(), title.to_owned());
    let svg = svg::linked(chart);
    let width = svg.split(" width=\"").nth(1).and_then(|rest| rest.split('"').next());
    let width = format!("--width: {}px", width.unwrap_or("600"));
    html! { div.flow-figure style=(width) { (page::Chart { id, title, text, svg, table }.html()) } }
}

fn account_table(accounts: &[Account], lacks: &[MissingData]) -> Table {
    let caption = "Visits of the boxes that name an event, and its count";
    let mut table = Table::new("accounts", caption)
        .text("Event")
        .number("Visits")
        .number("Counted")
        .text("Reason for the difference");
    if !lacks.is_empty() {
        table = table.text("Doubtful");
    }
    table = table.filter();
    for account in accounts {
        let name = account.event.mnemonic().to_owned();
        let is_same = account.visits == account.counted;
        let why = if is_same { Cell::from("") } else { difference(account).into() };
        let event = Cell::Markup(event_link(account.event), name);
        let doubt = caveats::doubt(account.event, lacks).map(|lack| Cell::from(lack.label()));
        let row = [event, account.visits.into(), account.counted.into(), why].into_iter();
        table.push(row.chain((!lacks.is_empty()).then(|| doubt.unwrap_or(Cell::None))));
    }
    table
}

/// Returns the events of the boxes that were visited; of all boxes of a flow without counts.
fn visited_events(charts: &[Chart]) -> Vec<PmuEvent> {
    let boxes = charts.iter().flat_map(|chart| &chart.boxes);
    let visited = boxes.filter(|part| part.visits != Some(0));
    visited.flat_map(|part| part.events).copied().collect()
}

/// Returns the style of pages of flows, which places figures side by side where there is room.
fn style() -> Markup {
    html! { style { (PreEscaped(include_str!("page/flows.css"))) } }
}

/// Returns the entries of these events, each closed. A link to an entry opens it.
fn folded(mut events: Vec<PmuEvent>) -> Section {
    events.sort_by_key(|event| event.mnemonic());
    events.dedup();
    let body = html! { div.folded { @for event in events {
        details.aside {
            summary { code { (event.mnemonic()) } " " (event.info().title) }
            (glossary(&[event]))
        }
    } } };
    Section { id: "events".into(), heading: "Events of this page".into(), body }
}
