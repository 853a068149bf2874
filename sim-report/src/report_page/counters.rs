//! Every event and metric: exact, and as estimated if all events share six counters.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{EventCount, MetricValue, RunReport, slices_per_round};

use super::parts::{code_cell, event_cell, percent};
use super::run::seconds;

/// Returns the tables.
pub(super) fn body(report: &RunReport) -> Markup {
    html! {
        @if report.core.is_none() { (explained(report)) }
        h3 { "Events" }
        (events(report).html())
        @if !report.metrics.is_empty() {
            h3 { "Metrics" }
            (metrics(report).html())
        }
    }
}

/// Explains the counts and the estimates, or why there are no estimates.
fn explained(report: &RunReport) -> Markup {
    let all = "The model counts every event all the time. A real core has six counters: if all events are requested at \
               once, each counts for part of the time, and its count is scaled up. ";
    html! {
        p { (all)
            @if report.run.tick_ns.is_some() {
                "The estimate is what " code { "perf" } " would have shown with time slices of this length; the error is its \
                 difference from the exact count."
                @if is_too_short(report) { strong {
                    " These time slices are shorter than perf can use, or give an event few turns, so large errors say "
                    "little about perf on a longer run."
                } }
            } @else {
                "This run of " (seconds(report.run.seconds)) " is too short to estimate that: " code { "perf" }
                " uses time slices of 4 ms, Linux at least 1 ms, and the events need " (slices_per_round())
                " time slices for one round. " code { "--mux-interval" } " sets shorter time slices."
            }
        }
    }
}

/// Time slices of each event below which an estimate is marked.
const FEW_SLICES: f64 = 8.0;
/// Shortest time slice that Linux accepts, in nanoseconds.
const SHORTEST_NS: u64 = 1_000_000;

/// Returns whether the estimates are of a run too short for them, because the reader asked for
/// them.
fn is_too_short(report: &RunReport) -> bool {
    let Some(tick) = report.run.tick_ns else { return false };
    let slices = report.run.seconds * 1e9 / (tick.max(1) * slices_per_round()) as f64;
    tick < SHORTEST_NS || slices < FEW_SLICES
}

fn events(report: &RunReport) -> Table {
    let is_n2 = report.core.is_none();
    let caption = if is_n2 { "Events, exact and estimated" } else { "Events, exact" };
    let table = Table::new("events", caption).filter().tall().text("Event");
    let mut table = table.number("Count").live("event");
    let has_threads = report.threads.len() > 1;
    if has_threads {
        for thread in &report.threads {
            table = table.number(format!("Thread {}", thread.thread));
        }
    }
    let is_estimated = report.run.tick_ns.is_some();
    if is_estimated {
        table = table.number("Multiplexed").number("Time running").number("Error");
    }
    let mut table = table.text("Part of the core").text(if is_n2 { "Guide" } else { "Number" });
    let has_doubts = report.events.iter().any(|own| own.doubt.is_some());
    if has_doubts {
        table = table.text("Doubtful");
    }
    for own in &report.events {
        let threads = own.by_thread.iter().filter(|_| has_threads).map(|count| Cell::Count(*count));
        let row = [event_cell(&own.event), own.count.into()].into_iter().chain(threads);
        let doubt = own.doubt.as_deref().map_or(Cell::None, Cell::from);
        table.push(
            row.chain(six_counters(own).into_iter().filter(|_| is_estimated))
                .chain([own.group.as_str().into(), source(own, is_n2)])
                .chain(has_doubts.then_some(doubt)),
        );
    }
    table
}

/// Returns the section of the guide, or the number on a core whose manual has one table.
fn source(own: &EventCount, is_n2: bool) -> Cell {
    if is_n2 { own.section.as_str().into() } else { code_cell(&format!("0x{:02X}", own.code)) }
}

fn six_counters(own: &EventCount) -> [Cell; 3] {
    match own.six_counters {
        Some(six) => {
            [six.estimate.into(), percent(six.percent_running), percent(six.percent_error)]
        }
        None => [Cell::None, Cell::None, Cell::None],
    }
}

fn metrics(report: &RunReport) -> Table {
    let is_estimated = report.run.tick_ns.is_some();
    let estimated = if is_estimated { ", and the formula over six counters" } else { "" };
    let has_truth = report.metrics.iter().any(|metric| metric.truth.is_some());
    let truth = if has_truth { ", ground-truth value of the claim" } else { "" };
    let caption = format!("Built-in metrics: formula over exact counts{truth}{estimated}");
    let mut table = Table::new("metrics", caption).filter().tall().text("Metric").number("Value");
    if has_truth {
        table = table.number("Ground truth");
    }
    if is_estimated {
        table = table.number("Multiplexed");
    }
    let mut table = table.text("Unit").prose("Description").prose("Formula").text("Groups");
    for metric in &report.metrics {
        let number = |value| Cell::number(value, usize::from(metric.decimals));
        let estimate = is_estimated.then(|| number(metric.six_counters));
        let truth = has_truth.then(|| number(metric.truth));
        let values = [number(metric.value)].into_iter().chain(truth).chain(estimate);
        table.push([name_of(metric)].into_iter().chain(values).chain(texts_of(metric)));
    }
    table
}

fn name_of(metric: &MetricValue) -> Cell {
    let name = html! { code id={ "metric-" (metric.metric) } { (metric.metric) } };
    Cell::Markup(name, metric.metric.clone())
}

fn texts_of(metric: &MetricValue) -> [Cell; 4] {
    [
        metric.unit.as_str().into(),
        metric.description.as_str().into(),
        code_cell(&metric.formula),
        metric.groups.join(", ").into(),
    ]
}
