//! Tables of caches, TLBs and prefetchers (PMU guide 4.1 to 4.5).

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{LookupRow, NamedCount, RunReport};

use super::parts::{event, percent, term};

/// Returns the tables.
pub(super) fn body(report: &RunReport) -> Markup {
    let has_kinds = report.core.is_none();
    let caches = match has_kinds {
        true => {
            "Lookups and misses of the caches. By the guide, an L2 refill for a store counts as a read too, so \
             its reads and its writes have no separate ratios"
        }
        false => "Lookups and misses of the caches",
    };
    html! {
        h3 { "Caches" }
        (lookups("cache-table", caches, &report.caches, has_kinds).html())
        h3 { "TLBs" }
        (lookups("tlb-table", "Lookups and misses of the TLBs", &report.tlbs, has_kinds).html())
        @if !report.prefetchers.is_empty() {
            h3 { "Prefetchers" }
            (prefetchers(report).html())
        }
    }
}

fn lookups(id: &str, caption: &str, rows: &[LookupRow], has_kinds: bool) -> Table {
    let mut table = Table::new(id, caption).text("Structure");
    if has_kinds {
        table = table.text("Lookups");
    }
    let table = table.text("Size");
    let table = table.number("Accesses").live("accesses").number("Misses").live("misses");
    let table = table.number("Miss ratio").live("miss-ratio").number("MPKI").live("mpki");
    let mut table = table.text("Events");
    for row in rows {
        let kind = has_kinds.then(|| row.kind.as_str().into());
        let named = [term(&row.structure).into()].into_iter().chain(kind);
        table.push(named.chain([
            row.size.as_str().into(),
            row.accesses.count.into(),
            row.misses.count.into(),
            percent(row.miss_percent),
            Cell::number(row.mpki, 3),
            both(&row.misses, &row.accesses),
        ]));
    }
    table
}

/// Returns the events of a ratio.
fn both(misses: &NamedCount, accesses: &NamedCount) -> Cell {
    let markup = html! { (event(&misses.event)) " of " (event(&accesses.event)) };
    Cell::Markup(markup, format!("{} of {}", misses.event, accesses.event))
}

fn prefetchers(report: &RunReport) -> Table {
    let caption = "Outcome of prefetched lines; accuracy: used share of lines with a known outcome, \
                   coverage: prefetched share of lines that would have missed";
    let table = Table::new("prefetch-table", caption).text("Prefetcher").number("Issued");
    let table = table.number("Useful").number("Late").number("Useless").number("Uncovered misses");
    let mut table = table.number("Accuracy").number("Coverage");
    for row in &report.prefetchers {
        table.push([
            row.prefetcher.as_str().into(),
            row.issued.into(),
            row.useful.into(),
            row.late.into(),
            row.useless.into(),
            row.missed.into(),
            percent(row.accuracy_percent),
            percent(row.coverage_percent),
        ]);
    }
    table
}
