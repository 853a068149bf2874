//! Every event and metric: exact, and as six counters that all events share would have shown it.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{EventCount, MetricValue, RunReport};

use super::{event_cell, percent};

/// The tables.
pub(super) fn body(report: &RunReport) -> Markup {
    html! {
        p { "The model counts every event all the time. A real core has six counters: with all events asked for at \
             once, each has one for part of the time, and its count is scaled up. The estimate is what " code { "perf" }
            " would have shown; the error says how far it is from the exact count." }
        h3 { "Events" }
        (events(report).html())
        h3 { "Metrics" }
        (metrics(report).html())
    }
}

fn events(report: &RunReport) -> Table {
    let table = Table::new("events", "Events, exact and estimated").filter().text("Event");
    let mut table = table.number("Count");
    let has_threads = report.threads.len() > 1;
    if has_threads {
        for thread in &report.threads {
            table = table.number(format!("Thread {}", thread.thread));
        }
    }
    let table = table.number("Six counters").number("Counted for").number("Error");
    let mut table = table.text("Part of the core").text("Guide");
    let has_doubts = report.events.iter().any(|own| own.doubt.is_some());
    if has_doubts {
        table = table.text("Doubtful");
    }
    for own in &report.events {
        let threads = own.by_thread.iter().filter(|_| has_threads).map(|count| Cell::Count(*count));
        let row = [event_cell(&own.event), own.count.into()].into_iter().chain(threads);
        let doubt = own.doubt.as_deref().map_or(Cell::None, Cell::from);
        table.push(
            row.chain(six_counters(own))
                .chain([own.group.as_str().into(), own.section.as_str().into()])
                .chain(has_doubts.then_some(doubt)),
        );
    }
    table
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
    let caption = "Built-in metrics: their formula over exact counts, what they claim to be as it really was, \
                   and the formula over six counters";
    let table = Table::new("metrics", caption).filter().text("Metric").number("Value");
    let table = table.number("Truth").number("Six counters").text("Unit").prose("What it says");
    let mut table = table.prose("Formula").text("Groups");
    for metric in &report.metrics {
        table.push(metric_row(metric));
    }
    table
}

fn metric_row(metric: &MetricValue) -> [Cell; 8] {
    let number = |value| Cell::number(value, usize::from(metric.decimals));
    [
        Cell::Markup(
            html! { code id={ "metric-" (metric.metric) } { (metric.metric) } },
            metric.metric.clone(),
        ),
        number(metric.value),
        number(metric.truth),
        number(metric.six_counters),
        metric.unit.as_str().into(),
        metric.description.as_str().into(),
        super::code_cell(&metric.formula),
        metric.groups.join(", ").into(),
    ]
}
