//! Lines that cores take from one another.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{RunReport, SharedLine, SharedPlace};

use super::parts::{file_name, listed};

/// Returns the table.
pub(super) fn body(report: &RunReport) -> Markup {
    let caption =
        "Lines of 64 bytes that loads got from another core, those with most cycles first";
    let table = Table::new("sharing-table", caption).text("Line").number("Loads from another core");
    let table =
        table.number("Of new data").number("Their cycles").number("Cores").number("Writing");
    let mut table = table.text("Sharing").text("Loaded at").text("Written at");
    for line in &report.shared_lines {
        table.push([
            Cell::Markup(name(line), line.address.clone()),
            line.loads.into(),
            line.data_loads.into(),
            line.cycles.into(),
            line.cores.into(),
            line.writers.into(),
            kind(line).into(),
            places(&line.loaded_at, report),
            places(&line.written_at, report),
        ]);
    }
    html! {
        p {
            "A load is of new data if another core wrote some of its bytes since the reader last used the line. Where "
            "cores write the line and most loads are of other bytes, the sharing is false: give the written data a line "
            "of its own. Accesses count from the first time that the line came from another core."
        }
        (table.html())
    }
}

/// Returns the address of a line and its variable.
pub(super) fn name(line: &SharedLine) -> Markup {
    html! { code { (line.address) } @if let Some(variable) = &line.variable { " " code { (variable) } } }
}

/// Returns the kind of sharing.
pub(super) fn kind(line: &SharedLine) -> &'static str {
    match line.writers {
        0 => "not written since",
        _ if line.is_false_sharing() => "false sharing",
        _ => "of data",
    }
}

fn places(all: &[SharedPlace], report: &RunReport) -> Cell {
    let markup = html! { @for (i, own) in all.iter().enumerate() {
        @if i > 0 { br; }
        @if let Some(line) = &own.place.line { code { (file_name(line)) } " " }
        (listed(&own.place, &report.listings))
    } };
    let text = all.iter().map(|own| own.place.symbol.as_str()).collect::<Vec<_>>().join(", ");
    Cell::Markup(markup, text)
}
