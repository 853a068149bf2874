//! Annotated listings: the instructions of each expensive function by address, with disassembly,
//! source line and cost, and the callers of the function.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{Listing, ListingRow, RunReport};

use super::parts::{left_out, line_cell, listed, percent, row_id};

/// Returns the listings; that of the most expensive function is open.
pub(super) fn all(report: &RunReport) -> Markup {
    html! {
        h3 { "Annotated listings" }
        p.quiet { "Functions with at least 1% of the slots, and those that a finding names. Each has its executed "
            "instructions by address; the bar is the share of the function's slots." }
        @for (number, listing) in report.listings.iter().enumerate() { (one(number, listing, report)) }
    }
}

fn one(number: usize, listing: &Listing, report: &RunReport) -> Markup {
    html! {
        details.fold.listing id={ "listing-" (number) } open[number == 0] {
            summary { code { (listing.function) } " "
                strong { (format!("{:.1}%", listing.percent)) } " of all slots, " (grouped(listing.slots)) }
            (callers(number, listing, report))
            (rows(number, listing, report).html())
            (left_out(listing.rows_left_out, "executed instructions, the cheapest"))
        }
    }
}

fn callers(number: usize, listing: &Listing, report: &RunReport) -> Markup {
    let is_n2 = report.core.is_none();
    if listing.callers.is_empty() {
        return html! { p.quiet {
            @if is_n2 { "No call of it was recorded." } @else { "The model of this core does not record callers." }
        } };
    }
    let caption = format!(
        "Callers of {}; cycles until it returns or the run ends, without calls inside it",
        listing.function
    );
    let table = Table::new(format!("callers-{number}"), caption).text("Called from");
    let mut table = table.number("Calls").number("Cycles").text("Line");
    for caller in &listing.callers {
        let site = listed(&caller.place, &report.listings);
        let place = Cell::Markup(site, caller.place.symbol.clone());
        let line = caller.place.line.as_deref();
        let line = line.map_or(Cell::None, |line| line_cell(line, report));
        table.push([place, caller.calls.into(), caller.cycles.into(), line]);
    }
    html! { (table.html()) (left_out(listing.callers_left_out, "callers")) }
}

fn rows(number: usize, listing: &Listing, report: &RunReport) -> Table {
    let caption = format!("Instructions of {} by address", listing.function);
    let has_lines = listing.rows.iter().any(|row| row.line.is_some());
    let mut table = Table::new(format!("listing-{number}-rows"), caption).filter().tall();
    table = table.text("Address").text("Instruction");
    if has_lines {
        table = table.prose("Line").number("Slots of the line");
    }
    table = table.prose("Lost most to");
    table = table.number("Slots").live("slots").number("Share").live("share");
    table = table.number("Cycles").number("Executed");
    for (at, row) in listing.rows.iter().enumerate() {
        let named = [
            Cell::Markup(html! { code { (row.address) } }, row.address.clone()),
            text(row, listing),
        ];
        let cost = [
            cause(row),
            row.slots.into(),
            percent(row.percent),
            row.cycles.into(),
            row.executions.into(),
        ];
        let line = has_lines.then(|| line_cells(at, &listing.rows, report)).into_iter().flatten();
        table.push_named(row_id(&row.address), named.into_iter().chain(line).chain(cost));
    }
    table
}

/// Returns the instruction over a bar of its share of the function.
fn text(row: &ListingRow, listing: &Listing) -> Cell {
    let share = row.slots as f64 * 100.0 / listing.slots.max(1) as f64;
    let markup = html! {
        @if row.skipped > 0 { span.skipped { "… " (grouped(row.skipped)) " not listed" } }
        span.heat style=(format!("--share:{share:.1}%")) { code { (row.text) } }
    };
    Cell::Markup(markup, row.text.clone())
}

fn cause(row: &ListingRow) -> Cell {
    let share = row.cause_slots as f64 * 100.0 / row.slots.max(1) as f64;
    row.cause.as_ref().map_or(Cell::None, |name| Cell::Text(format!("{name} {share:.0}%")))
}

/// Returns the source line and the slots of all its instructions, at the first instruction of each
/// run of instructions of one line.
fn line_cells(at: usize, rows: &[ListingRow], report: &RunReport) -> [Cell; 2] {
    let line = &rows[at].line;
    match line {
        Some(name) if at == 0 || rows[at - 1].line != *line => {
            let slots = rows.iter().filter(|row| row.line == *line).map(|row| row.slots).sum();
            [line_cell(name, report), Cell::Count(slots)]
        }
        _ => [Cell::None, Cell::None],
    }
}
