//! Page of `n2sim report` about one run. Every number comes from the [`RunReport`]; the page lays
//! it out and links each event to its glossary entry.

mod branches;
mod code;
mod counters;
mod curves;
mod flows;
mod latencies;
mod memory;
mod run;
mod slots;
mod time;

use maud::{Markup, html};
use sim_core::PmuEvent;

use crate::page::{Cell, Page, Section, event_link, glossary};
use crate::run_report::{Place, RunReport};

/// Returns the whole file.
pub fn html(report: &RunReport) -> String {
    let section = |id: &str, heading: &str, body: Markup| Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        body,
    };
    let sections = vec![
        section("run", "The run", run::body(report)),
        section("slots", "Rename slots (top-down)", slots::body(&report.top_down)),
        section("time", "Over time", time::body(&report.timeline)),
        section("caches", "Caches and TLBs", memory::body(report)),
        section("latencies", "Load latencies", latencies::body(&report.load_latencies)),
        section("curves", "Miss-ratio curves", curves::body(&report.miss_curves)),
        section("flows", "Flows of the PMU guide", flows::body(&report.flows)),
        section("code", "Hot code", code::body(&report.code)),
        section("branches", "Branches", branches::body(&report.branches)),
        section("counters", "Events and metrics", counters::body(report)),
        section("glossary", "Event glossary", glossary(&PmuEvent::ALL)),
    ];
    let title = format!("n2sim report: {}", file_name(&report.run.trace));
    Page { title, lead: run::lead(report), sections }.html()
}

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Returns an event by its mnemonic: a link, if the guide defines it.
fn event(name: &str) -> Markup {
    match PmuEvent::from_name(name) {
        Ok(event) => event_link(event),
        Err(_) => html! { code { (name) } },
    }
}

/// Returns an event as a cell.
fn event_cell(name: &str) -> Cell {
    Cell::Markup(event(name), name.to_owned())
}

/// Returns events with commas between them.
fn events(names: &[String]) -> Markup {
    html! { @for (i, name) in names.iter().enumerate() { @if i > 0 { ", " } (event(name)) } }
}

/// Returns a place in the program as a cell: symbol, address, line.
fn place_cell(place: &Place) -> Cell {
    let markup = html! {
        code { (place.symbol) }
        @if let Some(line) = &place.line { " " span.quiet { (line) } }
    };
    Cell::Markup(markup, place.symbol.clone())
}

/// Returns code as a cell.
fn code_cell(text: &str) -> Cell {
    Cell::Markup(html! { code { (text) } }, text.to_owned())
}

/// Returns a value in percent as a cell.
fn percent(value: impl Into<Option<f64>>) -> Cell {
    value
        .into()
        .filter(|value| value.is_finite())
        .map_or(Cell::None, |value| Cell::Share(value / 100.0))
}

/// Returns a note on the number of rows that a table does not list.
fn left_out(count: u64, what: &str) -> Markup {
    html! { @if count > 0 { p.quiet { "Not listed: " (crate::perf_stat::grouped(count)) " more " (what) "." } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_to_its_file_name() {
        assert_eq!(file_name("traces/hash.n2t"), "hash.n2t");
        assert_eq!(file_name("hash.n2t"), "hash.n2t");
        assert_eq!(file_name("odd/"), "odd/");
    }

    #[test]
    fn an_unknown_name_is_not_a_link() {
        assert_eq!(event("L1D_<b>").into_string(), "<code>L1D_&lt;b&gt;</code>");
        assert!(event("CPU_CYCLES").into_string().starts_with("<a"));
    }
}
