//! Lines that cores take from one another.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{CorePairCount, RunReport, SharedLine, SharedPlace};

use super::parts::{listed_line, percent};
use super::waits;

/// Least share of the cycles of a listed line, in percent.
const LEAST_PERCENT: f64 = 1.0;

/// Returns whether cores took lines from one another, or snooped one another for them.
pub(super) fn has_any(report: &RunReport) -> bool {
    let has_requests = report.core_pairs().iter().any(CorePairCount::has_requests);
    !report.shared_lines.is_empty() || has_requests
}

/// Returns the matrices of cores and lines, and the tables.
pub(super) fn body(report: &RunReport) -> Markup {
    html! {
        (waits::cores(report))
        @if !report.shared_lines.is_empty() {
            h3 { "Lines" }
            (waits::lines(report))
            (lines(report))
        }
    }
}

/// Returns the table of lines.
fn lines(report: &RunReport) -> Markup {
    let caption =
        "Lines of 64 bytes whose data loads got from another core, and the cycles of these loads";
    let table = Table::new("sharing-table", caption).text("Line").text("Sharing").number("Loads");
    let table = table.number("Of new data").number("Cycles").number("Share").number("Cores");
    let mut table = table.number("Writers").text("Loaded at").text("Written at");
    let is_listed = |line: &&SharedLine| line.percent >= LEAST_PERCENT;
    let listed = report.shared_lines.iter().filter(is_listed);
    for line in listed {
        table.push([
            Cell::Markup(name(line), line.address.clone()),
            kind(line).into(),
            line.loads.into(),
            line.data_loads.into(),
            line.cycles.into(),
            percent(line.percent),
            line.cores.into(),
            line.writers.into(),
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
        p.quiet { "Lines with less than 1% of the cycles of all such loads are not listed." }
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
        _ if !line.is_judged() => "too few loads to judge",
        _ if line.is_false_sharing() => "false sharing",
        _ => "sharing of data",
    }
}

/// Returns source lines, or the instructions without one, each once.
fn places(all: &[SharedPlace], report: &RunReport) -> Cell {
    let name = |own: &SharedPlace| own.place.line.clone().unwrap_or(own.place.symbol.clone());
    let mut names: Vec<String> = all.iter().map(name).collect();
    names.dedup();
    let markup = html! { @for (i, own) in names.iter().enumerate() {
        @if i > 0 { br; }
        @if let Some(first) = all.iter().find(|place| name(place) == *own) {
            (listed_line(own, &first.place, &report.listings))
        }
    } };
    Cell::Markup(markup, names.join(", "))
}
