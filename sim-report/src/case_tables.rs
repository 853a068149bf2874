//! Tables of the counts of scenario cases, for `n2sim check --show`: for inspection before a claim
//! is written. Events follow the order of the guide, so that a load reads from the TLBs to memory.

use std::io::{self, Write};

use sim_core::pmu_event::Group;
use sim_core::{Counts, PmuEvent};
use sim_scenario::{Case, StepCounts, Verdict};

/// Columns of numbers that fit in 80 characters.
const COLUMNS: usize = 7;
/// Characters of one column of numbers.
const NUMBER: usize = 6;
/// Characters of the column of event names; only two names are longer.
const NAME: usize = 22;
/// Clocks, which advance between steps.
const CLOCKS: [PmuEvent; 3] = [PmuEvent::CPU_CYCLES, PmuEvent::BUS_CYCLES, PmuEvent::CNT_CYCLES];

/// Heading and counts of a column.
type Column<'a> = (String, &'a Counts);

/// Writes the counts of the cases of a file. Cases of one step each share a table, side by side.
/// Otherwise each case has a table with its steps side by side.
///
/// A table lists the `chosen` events, even if they are 0. By default it lists every event that
/// counted, without clocks and stalls, which depend on the waiting between steps.
///
/// # Errors
/// The output cannot be written.
pub fn write(
    out: &mut impl Write,
    cases: &[(&Case, &Verdict)],
    chosen: Option<&[PmuEvent]>,
) -> io::Result<()> {
    let is_table = cases.len() > 1 && cases.iter().all(|(_, verdict)| verdict.by_step.len() == 1);
    if !is_table {
        return cases
            .iter()
            .try_for_each(|(case, verdict)| write_steps(out, case, verdict, chosen));
    }
    writeln!(out)?;
    let mut columns: Vec<Column<'_>> = Vec::new();
    for (number, (case, verdict)) in (1..).zip(cases) {
        let Case { test, claim, place, .. } = case;
        writeln!(
            out,
            "  {number:>4}  {test}: {} (line {})",
            step_text(&verdict.by_step[0]),
            place.line
        )?;
        writeln!(out, "        {claim}")?;
        columns.push((number.to_string(), &verdict.counts));
    }
    write_table(out, &events(chosen, &columns), &columns)
}

fn write_steps(
    out: &mut impl Write,
    case: &Case,
    verdict: &Verdict,
    chosen: Option<&[PmuEvent]>,
) -> io::Result<()> {
    writeln!(out, "\n  {} (line {})\n  {}", case.test, case.place.line, case.claim)?;
    for (number, step) in (1..).zip(&verdict.by_step) {
        writeln!(out, "  {number:>4}  {}", step_text(step))?;
    }
    let late = late(verdict);
    let mut columns = vec![(String::from("all"), &verdict.counts)];
    let steps = (1..).zip(&verdict.by_step);
    columns.extend(steps.map(|(number, step)| (number.to_string(), &step.counts)));
    let events = events(chosen, &columns);
    if events.iter().any(|event| late.value(*event) > 0) {
        columns.push((String::from("late"), &late));
    }
    write_table(out, &events, &columns)
}

fn step_text(step: &StepCounts) -> String {
    let StepCounts { step, times, .. } = step;
    let first = format!(" (1 of {times})");
    match step.strip_suffix(&first) {
        Some(step) => format!("{step}, {times} times"),
        None => step.clone(),
    }
}

/// Returns the counts after the last step: pending refills, and cycles until all work is done.
fn late(verdict: &Verdict) -> Counts {
    let mut of_steps = Counts::default();
    for StepCounts { counts, .. } in &verdict.by_step {
        of_steps.add(counts);
    }
    verdict.counts.since(&of_steps)
}

/// Returns the events of a table.
fn events(chosen: Option<&[PmuEvent]>, columns: &[Column<'_>]) -> Vec<PmuEvent> {
    if let Some(events) = chosen {
        return events.to_vec();
    }
    let is_shown = |event: &PmuEvent| {
        let is_time = event.info().group == Group::Pipeline || CLOCKS.contains(event);
        !is_time && columns.iter().any(|(_, counts)| counts.value(*event) > 0)
    };
    let mut events: Vec<PmuEvent> = PmuEvent::ALL.into_iter().filter(is_shown).collect();
    events.sort_by_key(|event| event.info().group);
    events
}

fn write_table(
    out: &mut impl Write,
    events: &[PmuEvent],
    columns: &[Column<'_>],
) -> io::Result<()> {
    for columns in columns.chunks(COLUMNS) {
        write!(out, "\n        {:NAME$}", "")?;
        for (name, _) in columns {
            write!(out, " {name:>NUMBER$}")?;
        }
        writeln!(out)?;
        for event in events {
            write!(out, "        {:NAME$}", event.mnemonic())?;
            for (_, counts) in columns {
                match counts.value(*event) {
                    0 => write!(out, " {:>NUMBER$}", ".")?,
                    n => write!(out, " {n:>NUMBER$}")?,
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
