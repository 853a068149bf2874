//! Page of flows: each figure with its numbers in a table, and events that link to the glossary.

use maud::{Markup, html};
use sim_a53::flow::A53Account;
use sim_core::PmuEvent;
use sim_core::flow::Account;
use sim_machine::caveats;
use sim_scenario::Walked;
use sim_trace::MissingData;

use super::chart::Chart;
use super::text::{A53_DIFFERENCE, difference};
use super::{steps, svg};
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
            body: figure(&format!("chart-{number}"), chart, caption(chart)),
        })
        .collect();
    if !accounts.is_empty() {
        sections.push(Section {
            id: "account".into(),
            heading: "Events of the boxes".into(),
            body: account_table(accounts, lacks).html(),
        });
    }
    sections.push(glossary_of(events_of(charts)));
    Page { title, lead: html! { p { (lead) } p { (LEGEND) } }, sections }.html()
}

/// Returns a page of the flows of a Cortex-A53, as declared or with the counts of a run.
pub fn a53_flows(title: String, lead: &str, charts: &[Chart], accounts: &[A53Account]) -> String {
    let section = |(number, chart): (usize, &Chart)| Section {
        id: format!("flow-{number}"),
        heading: chart.heading(),
        body: figure(&format!("chart-{number}"), chart, caption(chart)),
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
    Page { title, lead: html! { p { (lead) } p { (A53_LEGEND) } }, sections }.html()
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

/// Returns a page of a scenario, step by step.
pub fn walk(title: String, lead: &str, walked: &[Walked]) -> String {
    let mut events = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    for (number, step) in walked.iter().enumerate() {
        let charts = steps::charts(step);
        let others = steps::others(step);
        events.extend(events_of(&charts));
        events.extend(others.iter().map(|(event, _)| *event));
        sections.push(Section {
            id: format!("step-{number}"),
            heading: format!("{}: {}", number + 1, step.step.text),
            body: step_body(number, step, &charts, &others),
        });
    }
    sections.push(glossary_of(events));
    let note = steps::note(walked).join(" ");
    let lead = html! { p { (lead) } p { (LEGEND) } @if !note.is_empty() { p { (note) } } };
    Page { title, lead, sections }.html()
}

fn step_body(number: usize, step: &Walked, charts: &[Chart], others: &[(PmuEvent, u64)]) -> Markup {
    html! {
        @for words in steps::summary(step) { p { (words) } }
        @if step.time_with_later { p.quiet { (steps::TIME_WITH_LATER) "." } }
        @for (flow, chart) in charts.iter().enumerate() {
            (figure(&format!("step-{number}-flow-{flow}"), chart, &section_title(chart)))
        }
        @if charts.is_empty() { p { "It passes none of the flows." } }
        @if !others.is_empty() {
            p { "Also counted: " @for (i, (event, count)) in others.iter().enumerate() {
                @if i > 0 { ", " }
                (event_link(*event)) " " (crate::perf_stat::grouped(*count))
            } "." }
        }
    }
}

/// Returns the caption of a flow, whose name is in the heading.
fn caption(chart: &Chart) -> &'static str {
    match chart.boxes.iter().any(|part| part.visits.is_some()) {
        true => "Counts of each edge",
        false => "The flow as declared",
    }
}

fn section_title(chart: &Chart) -> String {
    chart.name()
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
    let (id, title, text) = (id.to_owned(), title.to_owned(), String::new());
    page::Chart { id, title, text, svg: svg::linked(chart), table }.html()
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

fn events_of(charts: &[Chart]) -> Vec<PmuEvent> {
    charts.iter().flat_map(|chart| &chart.boxes).flat_map(|part| part.events).copied().collect()
}

/// Returns the entries of every event of the page, and of the events that these entries link to.
fn glossary_of(mut events: Vec<PmuEvent>) -> Section {
    let mut at = 0;
    // Relations of an entry are links too: their events need entries.
    while let Some(event) = events.get(at) {
        let related = event.info().relations.iter().flat_map(|relation| relation.others);
        let more: Vec<PmuEvent> =
            related.filter(|other| !events.contains(other)).copied().collect();
        events.extend(more);
        at += 1;
    }
    Section { id: "events".into(), heading: "Events".into(), body: glossary(&events) }
}
