//! The head of the report: what ran, on which machine, and what to know before any number.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{RunInfo, RunReport};

use super::code_cell;

/// The run in a sentence.
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
    }
}

/// Facts, threads, notes.
pub(super) fn body(report: &RunReport) -> Markup {
    let run = &report.run;
    html! {
        (facts(run))
        @for note in &run.notes { p.note { strong { "Note: " } (note) } }
        @if report.threads.len() > 1 { (threads(report).html()) }
        @if !run.unknown_words.is_empty() { (unknown_words(run).html()) }
    }
}

fn facts(run: &RunInfo) -> Markup {
    let frequency = run.clock_hz as f64 / 1e9;
    html! {
        dl.facts {
            dt { "Trace" } dd { code { (run.trace) } }
            dt { "Configuration" } dd { code { (run.config) } }
            dt { "Core" } dd { "Neoverse N2 " (run.revision) " at " (format!("{frequency:.2}")) " GHz" }
            dt { "Modeled time" } dd { (seconds(run.seconds)) }
            dt { "Counted" } dd { (counted(run)) }
            dt { "Six counters" } dd { "estimates with turns of " (seconds(run.tick_ns as f64 / 1e9)) }
            dt { "Seed" } dd { (run.seed) }
            dt { "Hashes" }
            dd { "trace " code { (run.trace_hash) } ", configuration " code { (run.config_hash) } }
            dt { "Made by" } dd { "n2sim " (run.version) }
        }
    }
}

fn counted(run: &RunInfo) -> String {
    let mut text = match run.limit {
        None => String::from("the whole trace"),
        Some(limit) => format!("{} instructions of each thread", grouped(limit)),
    };
    if run.warmup > 0 {
        text += &format!(", after {} that only warmed the machine", grouped(run.warmup));
    }
    if let Some(roi) = &run.roi {
        text += &format!(", between the markers {roi}");
    }
    text
}

fn threads(report: &RunReport) -> Table {
    let table = Table::new("threads", "Threads, each on a core of its own");
    let mut table = table.text("Thread").number("Cycles").number("Instructions").number("IPC");
    for thread in &report.threads {
        let name = Cell::Text(thread.thread.to_string());
        let ipc = Cell::number(thread.ipc, 2);
        table.push([name, thread.cycles.into(), thread.instructions.into(), ipc]);
    }
    table
}

fn unknown_words(run: &RunInfo) -> Table {
    let caption = "Words that the decoder does not know; each ran as an operation of one cycle";
    let table = Table::new("unknown-words", caption);
    let mut table = table.text("Address").text("Word").number("Executions");
    for word in &run.unknown_words {
        table.push([code_cell(&word.address), code_cell(&word.word), word.executions.into()]);
    }
    table
}

/// A time with the unit that makes it short.
fn seconds(seconds: f64) -> String {
    crate::figure::turns::time_name(seconds * 1e9)
}
