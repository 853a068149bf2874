//! Every event and metric: exact, and as six counters that all events share would have shown it.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::run_report::{EventCount, MetricValue, RunReport, turns_of_a_round};

use super::run::seconds;
use super::{event_cell, percent};

/// The tables.
pub(super) fn body(report: &RunReport) -> Markup {
    html! {
        (explained(report))
        h3 { "Events" }
        (events(report).html())
        h3 { "Metrics" }
        (metrics(report).html())
    }
}

/// What the counts and the estimates are; why there are no estimates.
fn explained(report: &RunReport) -> Markup {
    let all = "The model counts every event all the time. A real core has six counters: with all events asked for at \
               once, each has one for part of the time, and its count is scaled up. ";
    html! {
        p { (all)
            @if report.run.tick_ns.is_some() {
                "The estimate is what " code { "perf" } " would have shown with turns of this length; the error says \
                 how far it is from the exact count."
            } @else {
                "This run of " (seconds(report.run.seconds)) " is too short to estimate that: " code { "perf" }
                " takes turns of 4 ms, Linux of 1 ms at the least, and the events need " (turns_of_a_round())
                " turns to come round once. " code { "--mux-interval" } " estimates with shorter turns."
            }
        }
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
    let is_estimated = report.run.tick_ns.is_some();
    if is_estimated {
        table = table.number("Six counters").number("Counted for").number("Error");
    }
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
            row.chain(six_counters(own).into_iter().filter(|_| is_estimated))
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
    let is_estimated = report.run.tick_ns.is_some();
    let estimated = if is_estimated { ", and the formula over six counters" } else { "" };
    let caption = format!(
        "Built-in metrics: their formula over exact counts, what they claim to be as it really was{estimated}"
    );
    let table = Table::new("metrics", caption).filter().text("Metric").number("Value");
    let mut table = table.number("Truth");
    if is_estimated {
        table = table.number("Six counters");
    }
    let mut table = table.text("Unit").prose("What it says").prose("Formula").text("Groups");
    for metric in &report.metrics {
        let number = |value| Cell::number(value, usize::from(metric.decimals));
        let estimate = is_estimated.then(|| number(metric.six_counters));
        let values = [number(metric.value), number(metric.truth)].into_iter().chain(estimate);
        table.push([name_of(metric)].into_iter().chain(values).chain(told_of(metric)));
    }
    table
}

fn name_of(metric: &MetricValue) -> Cell {
    let name = html! { code id={ "metric-" (metric.metric) } { (metric.metric) } };
    Cell::Markup(name, metric.metric.clone())
}

fn told_of(metric: &MetricValue) -> [Cell; 4] {
    [
        metric.unit.as_str().into(),
        metric.description.as_str().into(),
        super::code_cell(&metric.formula),
        metric.groups.join(", ").into(),
    ]
}
