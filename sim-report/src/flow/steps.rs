//! A scenario step by step: the accesses of each step, its paths through the flows, and its other
//! counts.

use std::io::{self, Write};

use sim_core::flow::FlowGraph;
use sim_core::operation::{AccessKind, AccessShape, OperationKind};
use sim_core::pmu_event::RelationKind;
use sim_core::{DataSource, OpTimeline, Operation, PmuEvent};
use sim_scenario::Walked;

use super::chart::Chart;
use super::text;
use crate::perf_stat::grouped;

/// Most accesses of a step that are listed one by one.
const SHOWN: usize = 8;

/// Returns the charts of the flows that a step entered, in the order of entry.
pub fn charts(walked: &Walked) -> Vec<Chart> {
    let charts = walked
        .order
        .iter()
        .map(|flow| Chart::new(&FlowGraph::new(*flow), Some(&walked.flows)).of(&walked.step.text));
    charts.filter(Chart::was_taken).collect()
}

/// Returns a summary of the accesses of a step: source of the data, cycles.
pub fn summary(walked: &Walked) -> Vec<String> {
    let accesses =
        walked.operations.iter().filter(|one| one.timeline.addr != 0 && one.timeline.mops > 0);
    let mut summary: Vec<String> = accesses.map(access).collect();
    summary.dedup();
    if summary.len() > SHOWN {
        summary.truncate(SHOWN);
        summary.push(String::from("and so on"));
    }
    if summary.is_empty() && !walked.order.is_empty() {
        summary.push(format!("all work is done after {}", in_cycles(walked.cycles)));
    }
    summary
}

fn access(operation: &Operation) -> String {
    let OpTimeline { addr, issue, complete, source, outcome, translation_cycles, .. } =
        operation.timeline;
    let cycles = in_cycles(complete.saturating_sub(issue));
    let translation = format!("translation {}", grouped(translation_cycles.into()));
    let source = source_name(source);
    let is_load =
        matches!(operation.kind, OperationKind::Access(AccessShape { kind: AccessKind::Load, .. }));
    if outcome.abort().is_some() {
        format!("0x{addr:x}: faults {cycles} after issue ({translation})")
    } else if is_load {
        format!("0x{addr:x}: data from {source}, {cycles} after issue ({translation})")
    } else {
        format!("0x{addr:x}: line from {source}; executed in {cycles} ({translation})")
    }
}

/// Reason why a step that waits counts stalls of the front end, line by line.
const NOTHING_YOUNGER: [&str; 3] = [
    "Nothing is fetched after a step: while it waits, empty slots count as",
    "STALL_FRONTEND. In a program younger instructions fill the window, and",
    "the wait counts as STALL_BACKEND.",
];

/// Returns a note on the stalls of the steps, line by line. The note is empty if no step waited.
pub fn note(walked: &[Walked]) -> &'static [&'static str] {
    let waits = |step: &Walked| {
        !step.operations.is_empty() && step.counts.value(PmuEvent::STALL_FRONTEND) > 0
    };
    if walked.iter().any(waits) { &NOTHING_YOUNGER } else { &[] }
}

fn in_cycles(cycles: u64) -> String {
    format!("{} {}", grouped(cycles), if cycles == 1 { "cycle" } else { "cycles" })
}

/// Note for a step whose time is counted with a later one.
pub const TIME_WITH_LATER: &str =
    "its cycles and stalls are counted with the last step joined by &";

/// Returns the name of a data source, as in the scenarios.
pub fn source_name(source: DataSource) -> &'static str {
    match source {
        DataSource::StoreQueue => "an older store",
        DataSource::L1 => "the L1",
        DataSource::L2 => "the L2",
        DataSource::Slc => "the system level cache",
        DataSource::Peer => "another core",
        DataSource::Remote => "another chip",
        DataSource::Dram => "DRAM",
        DataSource::Device => "a device or uncached memory",
    }
}

/// Returns the counts of the step that belong to no visited box.
pub fn others(walked: &Walked) -> Vec<(PmuEvent, u64)> {
    let charts = charts(walked);
    let boxes = charts.iter().flat_map(|chart| &chart.boxes);
    let at_boxes: Vec<PmuEvent> = boxes
        .filter(|part| part.visits.is_some_and(|visits| visits > 0))
        .flat_map(|part| part.events)
        .copied()
        .collect();
    PmuEvent::ALL
        .into_iter()
        .filter(|event| !at_boxes.contains(event))
        .map(|event| (event, walked.counts.value(event)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Writes one step as text.
pub fn write_step(out: &mut impl Write, walked: &Walked) -> io::Result<()> {
    let wrong_path = if walked.step.wrong_path { "  (wrong path)" } else { "" };
    writeln!(out, "{}{wrong_path}", walked.step.text)?;
    for words in summary(walked) {
        writeln!(out, "  {words}")?;
    }
    if walked.time_with_later {
        writeln!(out, "  {TIME_WITH_LATER}")?;
    }
    for chart in charts(walked) {
        // The step is the heading above.
        text::write_path(out, &Chart { subject: None, ..chart })?;
    }
    let (derived, others): (Vec<_>, Vec<_>) =
        others(walked).into_iter().partition(|(event, _)| is_derived(*event));
    write_events(out, "  therefore:", &derived)?;
    write_events(out, "  also:", &others)?;
    writeln!(out)
}

/// Returns whether the event is a sum or another name of an event.
fn is_derived(event: PmuEvent) -> bool {
    let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
    kinds.into_iter().any(|kind| event.relation(kind).is_some())
}

fn write_events(out: &mut impl Write, head: &str, events: &[(PmuEvent, u64)]) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let words = events.iter().map(|(event, count)| match count {
        1 => event.mnemonic().to_owned(),
        _ => format!("{} {}", event.mnemonic(), grouped(*count)),
    });
    text::write_wrapped(out, head, words)
}
