//! The counts of a whole trace from those of its parts.

use sim_core::PmuEvent;
use sim_lab::Estimate;
use sim_lab::estimate::Machine;

use crate::grid::{Grid, Point};
use crate::rows::{Counts, Row, Rows};
use crate::windows::Windows;

/// Returns the result of a row of the table: the sum of its runs, or what their windows stand for.
/// If a run failed, so did the row. Returns `None` if a run is missing.
pub(crate) fn of_row(grid: &Grid, row: usize, rows: &Rows) -> Option<Row> {
    let points: Vec<Point> = grid.points_of_row(row).collect();
    let found: Option<Vec<&Row>> = points.iter().map(|point| rows.get(&grid.key(point))).collect();
    let mut parts = Vec::new();
    for part in found? {
        match part {
            Row::Counted(counts) => parts.push(counts),
            Row::Failed { .. } => return Some(part.clone()),
        }
    }
    let first = points.first()?;
    match &grid.trace(first).windows {
        Some(windows) => {
            Some(Row::Counted(estimate(windows, grid.chosen(first).checked.warm, &parts)?))
        }
        None => Some(Row::Counted(sum(&parts)?)),
    }
}

/// Adds up parts that follow each other.
fn sum(parts: &[&Counts]) -> Option<Counts> {
    let (first, others) = parts.split_first()?;
    let mut sum = (*first).clone();
    for part in others {
        // Counts that overflow are those of a damaged journal.
        sum.longest = sum.longest.saturating_add(part.longest);
        for (sum, count) in sum.counts.iter_mut().zip(&part.counts) {
            *sum = sum.saturating_add(*count);
        }
    }
    Some(sum)
}

/// Scales the windows of all parts up to the trace.
fn estimate(windows: &Windows, warm: u64, parts: &[&Counts]) -> Option<Counts> {
    let raised = parts.iter().flat_map(|part| part.counts.chunks_exact(PmuEvent::ALL.len()));
    let counts =
        |raised: &[u64]| sim_core::Counts::default().map_events(|event, _| raised[event as usize]);
    let counted: Vec<sim_core::Counts> = raised.map(counts).collect();
    let machine = Machine { warm, is_warm: windows.begin_in_states(warm) };
    let total = Estimate::of_counts(&counted, &windows.regions, machine)?.outcome.total();
    let counts = PmuEvent::ALL.map(|event| total.value(event)).to_vec();
    Some(Counts { cores: 1, longest: total.value(PmuEvent::CPU_CYCLES), counts })
}
