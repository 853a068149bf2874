//! Head of the report: the run, the machine, and notes that apply to all numbers.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{RunInfo, RunReport};

use super::parts::code_cell;

/// Returns the run in a sentence, and the notes.
pub(super) fn lead(report: &RunReport) -> Markup {
    let run = &report.run;
    html! {
        p.lead {
            strong { (grouped(run.instructions)) } " instructions in "
            strong { (grouped(run.cycles)) } " cycles"
            @if let Some(ipc) = run.ipc { ": " strong { (format!("{ipc:.2}")) } " per cycle" }
            @if report.threads.len() > 1 { ", " (report.threads.len()) " threads" }
            "."
        }
        (notes(report))
    }
}

/// Returns the notes: open if they make counts doubtful, else a line that opens.
fn notes(report: &RunReport) -> Markup {
    let notes = &report.run.notes;
    let is_doubtful = report.events.iter().any(|event| event.doubt.is_some());
    let number = match notes.len() {
        1 => String::from("1 note"),
        many => format!("{many} notes"),
    };
    html! { @if !notes.is_empty() {
        details.aside.notes open[is_doubtful] {
            summary { (number) " on the recording and the run" }
            @for note in notes {
                @if is_doubtful { p.note { strong { "Note: " } (note) } } @else { p.quiet { (note) } }
            }
        }
    } }
}

/// Returns facts and threads.
pub(super) fn body(report: &RunReport) -> Markup {
    let run = &report.run;
    html! {
        (facts(report))
        @if report.threads.len() > 1 { (threads(report).html()) }
        @if !run.unknown_words.is_empty() { (unknown_words(run).html()) }
    }
}

fn facts(report: &RunReport) -> Markup {
    let run = &report.run;
    let frequency = run.clock_hz as f64 / 1e9;
    html! {
        dl.facts {
            dt { "Trace" } dd { code { (run.trace) } }
            dt { "Configuration" } dd { code { (run.config) } }
            dt { "Core" } dd { (report.core_name()) " " (run.revision) " at " (format!("{frequency:.2}")) " GHz" }
            dt { "Modeled time" } dd { (seconds(run.seconds)) }
            dt { "Counted" } dd { (counted(run)) }
            @if report.core.is_none() { dt { "Multiplexed" } dd { (six_counters(run)) } }
            dt { "Seed" } dd { (run.seed) }
            dt { "Hashes" }
            dd { "trace " code { (run.trace_hash) } ", configuration " code { (run.config_hash) } }
            dt { "Created by" } dd { "n2sim " (run.version) }
        }
    }
}

fn six_counters(run: &RunInfo) -> String {
    match run.tick_ns {
        Some(tick) => format!("estimates with time slices of {}", seconds(tick as f64 / 1e9)),
        None => String::from("the run is too short for estimates"),
    }
}

/// Returns which part of the trace was counted, with its number of instructions.
fn counted(run: &RunInfo) -> String {
    let mut text = match (&run.roi, run.limit) {
        (None, None) => String::from("the whole trace"),
        (Some(roi), None) => roi.clone(),
        (None, Some(limit)) => at_most(limit),
        (Some(roi), Some(limit)) => format!("{roi}, {}", at_most(limit)),
    };
    if run.warmup > 0 {
        text += &format!(", after {} of warm-up", grouped(run.warmup));
    }
    text + &format!(": {} instructions", grouped(run.instructions))
}

fn at_most(limit: u64) -> String {
    format!("at most {} of each thread", grouped(limit))
}

fn threads(report: &RunReport) -> Table {
    let table = Table::new("threads", "Threads, one per core");
    let mut table = table.text("Thread").number("Cycles").number("Instructions").number("IPC");
    for thread in &report.threads {
        let name = Cell::Text(thread.thread.to_string());
        let ipc = Cell::number(thread.ipc, 2);
        table.push([name, thread.cycles.into(), thread.instructions.into(), ipc]);
    }
    table
}

fn unknown_words(run: &RunInfo) -> Table {
    let caption = "Unknown instruction words, each executed as an operation of one cycle";
    let table = Table::new("unknown-words", caption);
    let mut table = table.text("Address").text("Word").number("Executions");
    for word in &run.unknown_words {
        table.push([code_cell(&word.address), code_cell(&word.word), word.executions.into()]);
    }
    table
}

/// Formats a time in the unit that makes it short.
pub(super) fn seconds(seconds: f64) -> String {
    crate::figure::multiplexing::time_name(seconds * 1e9)
}
