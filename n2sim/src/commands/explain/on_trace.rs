//! `n2sim explain NAME --trace TRACE`: the exact value of the explained event or metric on one run.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use sim_core::flow::Flow;
use sim_core::pmu_event::{Group, RelationKind};
use sim_core::{Counts, PmuEvent, StallCause};
use sim_machine::{Outcome, RunOptions, caveats};
use sim_metrics::formula::{Catalog, Machine};
use sim_report::explain::{Explanation, Topic, metrics};
use sim_report::perf_stat::grouped;
use sim_report::stalls::Ledger;
use sim_trace::MissingData;

use super::ExplainArgs;
use crate::files::open_trace;
use crate::host::progress;

/// An explanation with its values, as one JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    #[serde(flatten)]
    pub(super) explanation: Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) on_trace: Option<OnTrace>,
}

/// Values on one run.
#[derive(Debug, Serialize)]
pub(super) struct OnTrace {
    trace: String,
    configuration: String,
    /// Instructions that retired in the counted part.
    instructions: u64,
    values: Vec<Value>,
}

/// One value.
#[derive(Debug, Serialize)]
struct Value {
    name: String,
    /// `null` where a metric has none.
    value: Option<f64>,
    unit: String,
    /// The value as a share of another count, or as a rate.
    note: String,
}

/// Returns the options of the requested part of the trace.
pub(super) fn options(args: &ExplainArgs) -> RunOptions {
    args.part.run_options()
}

/// Runs the trace and takes the values.
pub(super) fn values(
    args: &ExplainArgs,
    trace: &Path,
    topic: &Topic,
    catalog: &Catalog,
) -> anyhow::Result<OnTrace> {
    let session = open_trace::with(trace, &args.machine)?;
    let options = options(args);
    let (outcome, _) = progress::with_progress(&session, &options, |progress| {
        Ok(session.run(&options, progress)?)
    })?;
    let counts = outcome.total();
    let patch = session.config().core.revision.patch();
    let values = match topic {
        Topic::Event(event) => vec![of_event(*event, &counts, &outcome.header.lacks)],
        Topic::Section(number) => {
            let events = events_of(number).into_iter();
            events.map(|event| of_event(event, &counts, &outcome.header.lacks)).collect()
        }
        Topic::Cause(cause) => vec![of_cause(*cause, &outcome)],
        Topic::Metric(name) => of_metric(name, catalog, &counts, patch, &outcome),
    };
    Ok(OnTrace {
        trace: outcome.header.trace.clone(),
        configuration: outcome.header.config.clone(),
        instructions: counts.value(PmuEvent::INST_RETIRED),
        values,
    })
}

/// Returns the events of a group, or of the boxes of a flow.
fn events_of(section: &str) -> Vec<PmuEvent> {
    if let Some(group) = Group::ALL.into_iter().find(|group| group.section() == section) {
        return PmuEvent::ALL.into_iter().filter(|event| event.info().group == group).collect();
    }
    let boxes = Flow::of_section(section).map_or(&[][..], |flow| flow.info().boxes);
    let mut events: Vec<PmuEvent> = boxes.iter().flat_map(|part| part.events).copied().collect();
    events.sort();
    events.dedup();
    events
}

fn of_event(event: PmuEvent, counts: &Counts, lacks: &[MissingData]) -> Value {
    let count = counts.value(event);
    let instructions = counts.value(PmuEvent::INST_RETIRED);
    let mut notes = Vec::new();
    if instructions > 0 && event != PmuEvent::INST_RETIRED {
        let rate = count as f64 * 1000.0 / instructions as f64;
        notes.push(format!("{rate:.3} per 1,000 instructions"));
    }
    // A share needs the same unit: cycles are not a share of slots.
    let wholes = [RelationKind::SubsetOf, RelationKind::ImpliedSubsetOf];
    let mut wholes = wholes.into_iter().filter_map(|kind| event.relation(kind)).flatten();
    if let Some(whole) = wholes.find(|whole| whole.info().unit == event.info().unit) {
        let all = counts.value(*whole);
        if all > 0 {
            let share = count as f64 / all as f64 * 100.0;
            notes.push(format!("{share:.2} % of {}", whole.mnemonic()));
        }
    }
    let doubt = caveats::doubt(event, lacks);
    notes.extend(doubt.map(|lack| format!("doubtful: {}", lack.label())));
    let (name, unit) = (event.mnemonic().to_owned(), String::new());
    Value { name, value: Some(count as f64), unit, note: notes.join(", ") }
}

fn of_cause(cause: StallCause, outcome: &Outcome) -> Value {
    let ledger = Ledger::new(&outcome.cores);
    let slots = ledger.stalled.of(cause);
    let share = slots as f64 / ledger.offered.max(1) as f64 * 100.0;
    Value {
        name: cause.label().to_owned(),
        value: Some(slots as f64),
        unit: String::from("slots"),
        note: format!("{share:.2} % of all rename slots"),
    }
}

/// Returns the values of the metric and of its events.
fn of_metric(
    name: &str,
    catalog: &Catalog,
    counts: &Counts,
    patch: u8,
    outcome: &Outcome,
) -> Vec<Value> {
    let Some(metric) = catalog.get(name) else { return Vec::new() };
    let machine =
        Machine::neoverse_n2(patch, u32::try_from(outcome.cores.len()).unwrap_or(u32::MAX));
    let count = |event: PmuEvent| counts.value(event) as f64;
    let value = metrics::value(metric, catalog, &machine, count);
    let note = match value {
        Some(_) => String::new(),
        None => String::from("no value: nothing was counted that it could be taken from"),
    };
    let own = Value { name: metric.name.clone(), value, unit: metric.scale.unit.clone(), note };
    let parts = metrics::events(metric, catalog).into_iter();
    std::iter::once(own)
        .chain(parts.map(|event| of_event(event, counts, &outcome.header.lacks)))
        .collect()
}

/// Writes the values for people.
pub(super) fn write(out: &mut impl Write, on: &OnTrace, is_markdown: bool) -> io::Result<()> {
    let instructions = grouped(on.instructions);
    let head = format!("on {} ({}, {instructions} instructions)", on.trace, on.configuration);
    match is_markdown {
        true => writeln!(out, "\n**{head}**\n")?,
        false => writeln!(out, "\n{head}")?,
    }
    for value in &on.values {
        let number = match value.value {
            None => String::from("-"),
            Some(whole) if whole.fract() == 0.0 && ["", "slots"].contains(&value.unit.as_str()) => {
                grouped(whole as u64)
            }
            Some(value) => format!("{value:.3}"),
        };
        let bullet = if is_markdown { "*" } else { " " };
        let note = if value.note.is_empty() { "" } else { "  " };
        let unit = if value.unit.is_empty() { "" } else { " " };
        let Value { name, unit: unit_name, note: text, .. } = value;
        writeln!(out, "{bullet} {name:<24} {number:>16}{unit}{unit_name}{note}{text}")?;
    }
    Ok(())
}
