//! Pages of scenarios, step by step: one case, or several beside one another.

use maud::{Markup, html};
use sim_core::{Counts, PmuEvent};
use sim_scenario::Walked;

use super::{LEGEND, figure, folded, style, visited_events};
use crate::flow::steps;
use crate::page::{Cell, Page, Section, Table, event_link};
use crate::perf_stat::grouped;

/// Case with its description and its steps.
#[derive(Clone, Debug)]
pub struct WalkedCase {
    /// Name.
    pub name: String,
    /// Claim or state, in one sentence.
    pub text: String,
    /// Steps in order.
    pub steps: Vec<Walked>,
}

impl WalkedCase {
    /// Returns the counts of all steps.
    fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.steps.iter().for_each(|step| total.add(&step.counts));
        total
    }

    /// Returns the events that counted, or whose boxes were visited.
    fn events(&self) -> Vec<PmuEvent> {
        let of_step = |step: &Walked| {
            let others = steps::others(step);
            let others = others.into_iter().map(|(event, _)| event);
            visited_events(&steps::charts(step)).into_iter().chain(others).collect::<Vec<_>>()
        };
        self.steps.iter().flat_map(of_step).collect()
    }
}

/// Returns a page of one case, a section for each step.
pub fn walk(case: &WalkedCase) -> String {
    let section = |(number, step): (usize, &Walked)| Section {
        id: format!("step-{number}"),
        heading: format!("{}: {}", number + 1, step.step.text),
        body: step_body(&format!("step-{number}"), step),
    };
    let mut sections: Vec<Section> = case.steps.iter().enumerate().map(section).collect();
    sections.push(folded(case.events()));
    let note = steps::note(&case.steps).join(" ");
    let lead = html! {
        (style())
        p { (case.text) } p { (LEGEND) } @if !note.is_empty() { p { (note) } }
    };
    Page { title: case.name.clone(), lead, sections }.html()
}

/// Returns a page of several cases: their counts in one table, and their steps in columns.
pub fn walks(title: String, cases: &[WalkedCase]) -> String {
    let mut sections = vec![Section {
        id: "counts".into(),
        heading: "Counts of the cases".into(),
        body: html! {
            p { "All steps of a case together. Rows in which the cases differ are marked by ≠." }
            (counts_table(cases).html())
        },
    }];
    sections.push(Section {
        id: "steps".into(),
        heading: "Steps beside one another".into(),
        body: html! { div.cases { @for (number, case) in cases.iter().enumerate() {
            article aria-labelledby={ "case-" (number) } {
                h3 id={ "case-" (number) } { (case.name) }
                p { (case.text) }
                @for (at, step) in case.steps.iter().enumerate() {
                    h4 { (at + 1) ": " (step.step.text) }
                    (step_body(&format!("case-{number}-step-{at}"), step))
                }
            }
        } } },
    });
    sections.push(folded(cases.iter().flat_map(WalkedCase::events).collect()));
    let note = cases.iter().map(|case| steps::note(&case.steps)).find(|note| !note.is_empty());
    let note = note.map(|note| note.join(" "));
    let lead = html! { (style()) p { (LEGEND) } @if let Some(note) = note { p { (note) } } };
    Page { title, lead, sections }.html()
}

/// Returns the counts of each event in each case, those that differ first.
fn counts_table(cases: &[WalkedCase]) -> Table {
    let mut table = Table::new("case-counts", "Counts of each event, by case").text("Event");
    for case in cases {
        table = table.number(&case.name);
    }
    let totals: Vec<Counts> = cases.iter().map(WalkedCase::total).collect();
    let of = |event: PmuEvent| totals.iter().map(|total| total.value(event)).collect::<Vec<u64>>();
    let rows = PmuEvent::ALL.map(|event| (event, of(event)));
    let differs = |counts: &[u64]| counts.iter().any(|count| *count != counts[0]);
    let mut rows: Vec<_> =
        rows.into_iter().filter(|(_, counts)| counts.iter().any(|count| *count > 0)).collect();
    rows.sort_by_key(|(_, counts)| !differs(counts));
    let shown: Vec<PmuEvent> = cases.iter().flat_map(WalkedCase::events).collect();
    for (event, counts) in rows {
        let mark = if differs(&counts) { " ≠" } else { "" };
        let name = match shown.contains(&event) {
            true => html! { (event_link(event)) (mark) },
            false => html! { code { (event.mnemonic()) } (mark) },
        };
        let name = Cell::Markup(name, event.mnemonic().to_owned());
        table.push(std::iter::once(name).chain(counts.into_iter().map(Cell::Count)));
    }
    table.filter()
}

fn step_body(id: &str, step: &Walked) -> Markup {
    let (charts, others) = (steps::charts(step), steps::others(step));
    html! {
        @for words in steps::summary(step) { p { (words) } }
        @if step.time_with_later { p.quiet { (steps::TIME_WITH_LATER) "." } }
        div.flows { @for (flow, chart) in charts.iter().enumerate() {
            (figure(&format!("{id}-flow-{flow}"), chart, &chart.name()))
        } }
        @if charts.is_empty() { p { "It passes none of the flows." } }
        @if !others.is_empty() {
            p { "Also counted: " @for (i, (event, count)) in others.iter().enumerate() {
                @if i > 0 { ", " }
                (event_link(*event)) " " (grouped(*count))
            } "." }
        }
    }
}
