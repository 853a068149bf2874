//! Cells and texts that several sections of the report page share.

use maud::{Markup, html};
use sim_core::PmuEvent;
use sim_core::a53_event::A53Event;

use crate::page::{Cell, event_link, named_link};
use crate::run_report::{Listing, Place, RunReport};

/// Returns an event by its mnemonic: a link, if the glossary of a core's page has it.
pub(super) fn event(name: &str) -> Markup {
    match PmuEvent::from_name(name) {
        Ok(event) => event_link(event),
        Err(_) if A53Event::from_mnemonic(name).is_some() => named_link(name),
        Err(_) => html! { code { (name) } },
    }
}

/// Returns an event as a cell.
pub(super) fn event_cell(name: &str) -> Cell {
    Cell::Markup(event(name), name.to_owned())
}

/// Returns events with commas between them.
pub(super) fn events(names: &[String]) -> Markup {
    html! { @for (i, name) in names.iter().enumerate() { @if i > 0 { ", " } (event(name)) } }
}

/// Returns a place in the program as a cell: symbol, address, line.
pub(super) fn place_cell(place: &Place) -> Cell {
    let markup = html! {
        code { (place.symbol) }
        @if let Some(line) = &place.line { " " span.quiet title=(line) { (file_name(line)) } }
    };
    Cell::Markup(markup, place.symbol.clone())
}

/// Returns code as a cell.
pub(super) fn code_cell(text: &str) -> Cell {
    Cell::Markup(html! { code { (text) } }, text.to_owned())
}

/// Returns the last component of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Returns a source line, `file.c:12`, as a cell: short, with its text if the report has it.
pub(super) fn line_cell(line: &str, report: &RunReport) -> Cell {
    let markup = html! {
        code title=(line) { (file_name(line)) }
        @if let Some(text) = report.source_text(line) { " " code.source { (text.trim_start()) } }
    };
    Cell::Markup(markup, line.to_owned())
}

/// Returns a value in percent as a cell.
pub(super) fn percent(value: impl Into<Option<f64>>) -> Cell {
    value
        .into()
        .filter(|value| value.is_finite())
        .map_or(Cell::None, |value| Cell::Share(value / 100.0))
}

/// Returns the place of an instruction as a link to its row in a listing, if it has one.
pub(super) fn listed(place: &Place, listings: &[Listing]) -> Markup {
    let mut rows = listings.iter().flat_map(|listing| &listing.rows);
    let Some(row) = rows.find(|row| row.address == place.address) else {
        return html! { code { (place.symbol) } };
    };
    html! { a href={ "#" (row_id(&row.address)) } { code { (place.symbol) } } " " code { (row.text) } }
}

/// Returns the source line of an instruction, short, as a link to its row in a listing, if it has
/// one.
pub(super) fn listed_line(line: &str, place: &Place, listings: &[Listing]) -> Markup {
    let mut rows = listings.iter().flat_map(|listing| &listing.rows);
    let name = html! { code { (file_name(line)) } };
    match rows.find(|row| row.address == place.address) {
        Some(row) => html! { a href={ "#" (row_id(&row.address)) } { (name) } },
        None => name,
    }
}

/// Returns the id of the row of an instruction in a listing.
pub(super) fn row_id(address: &str) -> String {
    format!("at-{address}")
}

/// Returns the term of the page for a part of the memory system.
pub(super) fn term(name: &str) -> &str {
    match name {
        "system level cache" => "system level cache (SLC)",
        "memory" => "DRAM",
        other => other,
    }
}

/// Returns content that is initially closed.
pub(super) fn folded(summary: &str, body: &Markup) -> Markup {
    html! { details.fold { summary { (summary) } (body) } }
}

/// Returns a note on the number of rows that a table does not list.
pub(super) fn left_out(count: u64, what: &str) -> Markup {
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
