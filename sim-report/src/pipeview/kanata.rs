//! Log for the pipeline viewer Konata: "Kanata" format, version 4. The file has tab-separated lines
//! in order of time: `C` advances the cycle, and every other line belongs to the present cycle.

use std::io::{self, Write};

use sim_core::{Cycle, Lost, Stage, StallCause};
use sim_machine::observe::Need;

use super::notes::notes;
use super::{PipeView, TracedOp};
use crate::symbols::Symbols;

/// Lane of the stages.
const STAGES: u8 = 0;
/// Lane above, for stall causes.
const STALLS: u8 = 1;

/// Lines with their cycles.
#[derive(Default)]
struct Lines(Vec<(Cycle, String)>);

impl Lines {
    fn put(&mut self, cycle: Cycle, line: String) {
        self.0.push((cycle, line));
    }
}

/// Returns the indices of the operations in the order of fetch, in which the file numbers them from
/// 0.
fn by_fetch(view: &PipeView) -> Vec<usize> {
    let mut order: Vec<usize> = (0..view.ops.len()).collect();
    order.sort_by_key(|&place| view.ops[place].operation.timeline.fetch);
    order
}

/// Writes the log.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, view: &PipeView, symbols: &Symbols) -> io::Result<()> {
    let order = by_fetch(view);
    let mut ids = vec![0; order.len()];
    for (id, place) in order.iter().enumerate() {
        ids[*place] = id;
    }
    let mut retired = 0_u64;
    let mut retire_ids = vec![0; order.len()];
    for (id, op) in retire_ids.iter_mut().zip(&view.ops) {
        *id = retired;
        retired += u64::from(!op.is_flushed());
    }
    let mut lines = Lines::default();
    for (id, &place) in order.iter().enumerate() {
        let op = &view.ops[place];
        declare(&mut lines, view, op, id, symbols);
        write_stages(&mut lines, op, id);
        let at = op.operation.timeline.issue.clamp(op.operation.timeline.fetch, op.end() - 1);
        // An arrow from the end of execution would be wrong for a base register, which was ready
        // long before.
        let is_drawn = |need: &&Need| {
            let timeline = &view.ops[need.place].operation.timeline;
            timeline.fetch <= at && need.ready >= timeline.complete
        };
        for need in op.needs.iter().filter(is_drawn) {
            lines.put(at, format!("W\t{id}\t{}\t0", ids[need.place]));
        }
        let flushed = u8::from(op.is_flushed());
        lines.put(op.end(), format!("R\t{id}\t{}\t{flushed}", retire_ids[place]));
    }
    write_in_time(out, lines)
}

/// Writes the texts of an operation in the cycle of its fetch: the left pane, then the tooltip.
fn declare(lines: &mut Lines, view: &PipeView, op: &TracedOp, id: usize, symbols: &Symbols) {
    let timeline = &op.operation.timeline;
    let (at, number) = (timeline.fetch, op.operation.number);
    let wrong = if timeline.wrong_path { " (wrong path)" } else { "" };
    let text = one_line(&format!("{number}{wrong} {:x} {}", timeline.pc, op.instruction()));
    lines.put(at, format!("I\t{id}\t{number}\t{}", view.thread));
    lines.put(at, format!("L\t{id}\t0\t{text}"));
    let place = view.place(op, symbols);
    let hover = [place].into_iter().chain(notes(view, op));
    for note in hover
        .chain((timeline.written > 0).then(|| format!("written in cycle {}", timeline.written)))
    {
        lines.put(at, format!("L\t{id}\t1\t{}\\n", one_line(&note)));
    }
}

/// Replaces control characters: names come from user files, and a tab or a line end would start
/// another field.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Writes the stages, and the stall above them.
fn write_stages(lines: &mut Lines, op: &TracedOp, id: usize) {
    for span in op.spans().iter().filter(|span| span.stage != Stage::Drain) {
        lines.put(span.from, format!("S\t{id}\t{STAGES}\t{}", span.stage.short()));
    }
    let Some(Lost { cause, .. }) = op.lost.iter().max_by_key(|lost| lost.slots) else { return };
    let timeline = &op.operation.timeline;
    let until = timeline.rename.min(op.end());
    let held =
        if cause.is_frontend() { timeline.fetch } else { timeline.front_end.max(timeline.fetch) };
    if held < until {
        let name = stall_name(*cause);
        lines.put(held, format!("S\t{id}\t{STALLS}\t{name}"));
        lines.put(until, format!("E\t{id}\t{STALLS}\t{name}"));
    }
}

fn stall_name(cause: StallCause) -> &'static str {
    if cause.is_frontend() { "fe" } else { "be" }
}

fn write_in_time(out: &mut impl Write, mut lines: Lines) -> io::Result<()> {
    lines.0.sort_by_key(|(cycle, _)| *cycle);
    let mut now = lines.0.first().map_or(0, |(cycle, _)| *cycle);
    writeln!(out, "Kanata\t0004\nC=\t{now}")?;
    for (cycle, line) in lines.0 {
        if cycle > now {
            writeln!(out, "C\t{}", cycle - now)?;
            now = cycle;
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}
