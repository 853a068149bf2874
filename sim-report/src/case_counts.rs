//! Counts of a scenario case, step by step: `n2sim check --case NAME`.

use std::io::{self, Write};

use sim_core::PmuEvent;
use sim_metrics::formula::{Catalog, Machine, MetricFormula};
use sim_scenario::{Bound, Case, Join, StepCounts, Verdict};

use crate::explain;
use crate::perf_stat::grouped;

/// Width of the column of event names.
const NAME_WIDTH: usize = 24;
/// Width of a column of counts.
const COUNT_WIDTH: usize = 8;
/// Most steps that get a column each.
const STEPS_SHOWN: usize = 4;
/// Decimals of the value of a metric.
const DECIMALS: usize = 3;
/// Revision r0p3, the default of a case.
const REVISION: u8 = 3;
/// Longest step text in a column heading.
const STEP_WIDTH: usize = 18;

/// Writes the counts of a case for `events`, or for all events that are not 0 if `events` is empty.
///
/// # Errors
/// The output cannot be written.
pub fn write(
    out: &mut impl Write,
    case: &Case,
    verdict: &Verdict,
    events: &[PmuEvent],
) -> io::Result<()> {
    let outcome = if verdict.holds() { "holds" } else { "FAILS" };
    writeln!(out, "{} {outcome}: {} ({})", case.test, case.claim, case.guide)?;
    let columns = columns(case, verdict);
    write!(out, "  {:<NAME_WIDTH$}", heading(case, &columns))?;
    for (head, _) in &columns {
        write!(out, " {head:>COUNT_WIDTH$}")?;
    }
    writeln!(out, " {:>COUNT_WIDTH$} {:>COUNT_WIDTH$}", "counted", "expected")?;
    for event in shown(verdict, events) {
        write!(out, "  {:<NAME_WIDTH$}", event.mnemonic())?;
        for (head, step) in &columns {
            let width = head.chars().count().max(COUNT_WIDTH);
            write!(out, " {:>width$}", grouped(step.counts.value(event)))?;
        }
        let bound = case.expect.events.iter().find(|known| known.event == event);
        let counted = grouped(verdict.counts.value(event));
        let expected = bound.map_or(String::from("any"), |known| bound_text(known.bound));
        writeln!(out, " {counted:>COUNT_WIDTH$} {expected:>COUNT_WIDTH$}")?;
    }
    write_counters(out, case, verdict)
}

/// Writes the values of metrics computed from the counts of a case.
///
/// # Errors
/// The output cannot be written.
pub fn write_metrics(
    out: &mut impl Write,
    verdict: &Verdict,
    metrics: &[&MetricFormula],
    catalog: &Catalog,
) -> io::Result<()> {
    let machine = Machine::neoverse_n2(REVISION, 1);
    for metric in metrics {
        let count = |event: PmuEvent| verdict.counts.value(event) as f64;
        let value = explain::metrics::value(metric, catalog, &machine, count);
        let value = value.map_or(String::from("no value"), |value| {
            format!("{value:.DECIMALS$} {}", metric.scale.unit)
        });
        writeln!(out, "  {} = {}", metric.name, value.trim_end())?;
    }
    Ok(())
}

fn shown(verdict: &Verdict, events: &[PmuEvent]) -> Vec<PmuEvent> {
    match events {
        [] => PmuEvent::ALL.into_iter().filter(|event| verdict.counts.value(*event) > 0).collect(),
        chosen => chosen.to_vec(),
    }
}

/// Returns the steps that get a column each, with their headings. Returns none for a single step or
/// too many.
fn columns<'a>(case: &Case, verdict: &'a Verdict) -> Vec<(String, &'a StepCounts)> {
    let steps = &verdict.by_step;
    if !(2..=STEPS_SHOWN).contains(&steps.len()) {
        return Vec::new();
    }
    steps.iter().map(|step| (head(case, step), step)).collect()
}

/// Returns the step as written, with its join to the previous step.
fn head(case: &Case, added: &StepCounts) -> String {
    let step = case.steps.iter().find(|step| step.place == added.place);
    let joined = step.is_some_and(|step| step.join == Join::With);
    let text = match step.is_some_and(|step| step.wrong_path) {
        true => format!("[{}]", added.step),
        false => added.step.clone(),
    };
    short(&if joined { format!("& {text}") } else { text })
}

/// Returns the heading above the names: the only step, or the number of steps.
fn heading(case: &Case, columns: &[(String, &StepCounts)]) -> String {
    match case.steps.len() {
        1 => case.steps.iter().map(|step| short(&step.text)).collect(),
        all if columns.is_empty() => format!("{all} steps"),
        _ => String::new(),
    }
}

fn short(step: &str) -> String {
    match step.chars().count() {
        0..=STEP_WIDTH => step.to_owned(),
        _ => step.chars().take(STEP_WIDTH - 2).chain("..".chars()).collect(),
    }
}

/// Writes the counters that a case checks.
fn write_counters(out: &mut impl Write, case: &Case, verdict: &Verdict) -> io::Result<()> {
    for expected in &case.expect.counters {
        let wrong = verdict.wrong_counters.iter().find(|wrong| wrong.expected == *expected);
        let (value, overflowed) = wrong
            .map_or((expected.value, expected.overflowed), |wrong| (wrong.value, wrong.overflowed));
        let flag = if overflowed { ", overflowed" } else { "" };
        let name = format!("counter {}{flag}", expected.counter);
        let (value, wanted) = (grouped(value), grouped(expected.value));
        writeln!(out, "  {name:<NAME_WIDTH$} {value:>COUNT_WIDTH$} {wanted:>COUNT_WIDTH$}")?;
    }
    Ok(())
}

fn bound_text(bound: Bound) -> String {
    match bound.min == bound.max {
        true => grouped(bound.min),
        false => bound.to_string(),
    }
}
