//! Flows as a page: each picture with its numbers in a table behind it, events that lead to the glossary.

use maud::{Markup, html};
use sim_core::PmuEvent;
use sim_core::flow::Account;
use sim_machine::caveats;
use sim_scenario::Walked;
use sim_trace::Lack;

use super::chart::Chart;
use super::text::difference;
use super::{steps, svg};
use crate::page::{self, Cell, Page, Section, Table, event_link, glossary};

/// How to read the pictures.
const LEGEND: &str = "Numbers in discs are those of the guide's lists. With counts, an edge is the thicker the more often \
    it was taken, and dashed if it never was.";

/// A page of flows as they are declared, or with the counts of a run and what they say of the events; what
/// a trace that lacks something makes doubtful is marked.
pub fn flows(
    title: String,
    lead: &str,
    charts: &[Chart],
    accounts: &[Account],
    lacks: &[Lack],
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

/// A page of a scenario step by step.
pub fn walk(title: String, lead: &str, walked: &[Walked]) -> String {
    let mut events = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    for (number, step) in walked.iter().enumerate() {
        let charts = steps::charts(step);
        let besides = steps::besides(step);
        events.extend(events_of(&charts));
        events.extend(besides.iter().map(|(event, _)| *event));
        sections.push(Section {
            id: format!("step-{number}"),
            heading: format!("{}: {}", number + 1, step.step.text),
            body: step_body(number, step, &charts, &besides),
        });
    }
    sections.push(glossary_of(events));
    let note = steps::note(walked).join(" ");
    let lead = html! { p { (lead) } p { (LEGEND) } @if !note.is_empty() { p { (note) } } };
    Page { title, lead, sections }.html()
}

fn step_body(
    number: usize,
    step: &Walked,
    charts: &[Chart],
    besides: &[(PmuEvent, u64)],
) -> Markup {
    html! {
        @for words in steps::summary(step) { p { (words) } }
        @if step.time_with_later { p.quiet { (steps::TIME_WITH_LATER) "." } }
        @for (flow, chart) in charts.iter().enumerate() {
            (figure(&format!("step-{number}-flow-{flow}"), chart, &section_title(chart)))
        }
        @if charts.is_empty() { p { "It goes through none of the flows." } }
        @if !besides.is_empty() {
            p { "Counted besides: " @for (i, (event, count)) in besides.iter().enumerate() {
                @if i > 0 { ", " }
                (event_link(*event)) " " (crate::perf_stat::grouped(*count))
            } "." }
        }
    }
}

/// What there is to see in a flow whose name stands above.
fn caption(chart: &Chart) -> &'static str {
    match chart.boxes.iter().any(|part| part.visits.is_some()) {
        true => "How often each way was taken",
        false => "The flow as it is declared",
    }
}

fn section_title(chart: &Chart) -> String {
    let info = chart.flow.info();
    format!("{} {}", info.section, info.title)
}

fn figure(id: &str, chart: &Chart, title: &str) -> Markup {
    let mut table = Table::new(format!("{id}-numbers"), format!("Edges of {}", chart.heading()))
        .text("From")
        .text("Decided")
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

fn account_table(accounts: &[Account], lacks: &[Lack]) -> Table {
    let caption = "Visits of the boxes that name an event, and its count";
    let mut table = Table::new("accounts", caption)
        .text("Event")
        .number("Visits")
        .number("Counted")
        .text("Why they differ");
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

/// What every event of the page is, and those that they lead to.
fn glossary_of(mut events: Vec<PmuEvent>) -> Section {
    let mut at = 0;
    // Relations of an entry are links too: what they name needs an entry.
    while let Some(event) = events.get(at) {
        let related = event.info().relations.iter().flat_map(|relation| relation.others);
        let more: Vec<PmuEvent> =
            related.filter(|other| !events.contains(other)).copied().collect();
        events.extend(more);
        at += 1;
    }
    Section { id: "events".into(), heading: "Events".into(), body: glossary(&events) }
}
