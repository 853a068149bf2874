//! Branches: mispredictions by kind and by branch (PMU guide 4.10).

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{Branches, RunReport};

use super::parts::{code_cell, event, left_out, percent, place_cell};

/// Returns the tables.
pub(super) fn body(report: &RunReport) -> Markup {
    let branches = &report.branches;
    let is_n2 = report.core.is_none();
    html! {
        p {
            strong { (grouped(branches.retired)) } " branches retired"
            @if is_n2 { " (" (event("BR_RETIRED")) ")" }
            ", " strong { (grouped(branches.mispredicted)) } " of them were mispredicted ("
            (event(if is_n2 { "BR_MIS_PRED_RETIRED" } else { "BR_MIS_PRED" })) ")."
        }
        (kinds(branches).html())
        @if !branches.sites.is_empty() { (sites(branches, is_n2).html()) }
        (left_out(branches.sites_left_out, "branches with mispredictions"))
    }
}

fn kinds(branches: &Branches) -> Table {
    let table = Table::new("branch-kinds", "Branches by kind").text("Kind").number("Retired");
    let mut table = table.number("Taken").number("Mispredicted").number("Miss ratio");
    for kind in &branches.kinds {
        table.push([
            kind.kind.as_str().into(),
            kind.retired.into(),
            kind.taken.into(),
            kind.mispredicted.into(),
            percent(kind.miss_percent),
        ]);
    }
    table
}

fn sites(branches: &Branches, is_n2: bool) -> Table {
    let caption = match is_n2 {
        true => "Mispredicted branches; slots: squashed, and empty during the refill",
        false => "Mispredicted branches; slots: empty during the refill",
    };
    let table = Table::new("branch-sites", caption).filter().tall().text("Branch").text("Address");
    let table = table.text("Kind").number("Retired").number("Taken").number("Mispredicted");
    let mut table = table.number("Miss ratio").number("Share of misses").number("Slots");
    for site in &branches.sites {
        table.push([
            place_cell(&site.place),
            code_cell(&site.place.address),
            site.kind.as_str().into(),
            site.retired.into(),
            Cell::share(site.taken, site.retired),
            site.mispredicted.into(),
            percent(site.miss_percent),
            percent(site.share_percent),
            site.bad_slots.into(),
        ]);
    }
    table
}
