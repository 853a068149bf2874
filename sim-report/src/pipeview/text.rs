//! A window for terminals of 80 columns: a row for each operation, a letter for each interval of
//! cycles.
//!
//! Cycles in which no operation of a block changes its stage share a column. The line above a block
//! shows the number of cycles of each column.

use std::io::{self, Write};

use sim_core::{Cycle, Span};

use super::axis::Axis;
use super::notes::notes;
use super::{PipeView, TracedOp};
use crate::perf_stat::grouped;
use crate::symbols::Symbols;

/// Width of a line.
const WIDTH: usize = 80;
/// Width of the stages.
const STAGES: usize = 38;
/// Width of the instruction.
const INSTRUCTION: usize = 27;
/// Width of the operation number.
const NUMBER: usize = 10;
/// Most operations of a block.
const BLOCK: usize = 16;
/// Most causes listed at the end.
const CAUSES: usize = 5;

/// Writes the window.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, view: &PipeView, symbols: &Symbols) -> io::Result<()> {
    writeln!(out, "\n{}\n", wrapped(&view.title(), 1))?;
    let legend: Vec<String> =
        view.stages().iter().map(|stage| format!("{} {}", stage.letter(), stage.label())).collect();
    writeln!(out, "{}", wrapped(&legend.join(", "), 1))?;
    let rest = match view.in_order {
        None => {
            "x squashed; --- wrong path. The row of digits: cycles of each column, + for ten and more."
        }
        Some(_) => "The row of digits: cycles of each column, + for ten and more.",
    };
    writeln!(out, "{}", wrapped(rest, 1))?;
    let mut from = 0;
    while from < view.ops.len() {
        from = write_block(out, view, symbols, from)?;
    }
    write_sum(out, view)
}

/// Writes the operations from this index on whose stages fit next to each other. Returns the index
/// after the last one.
fn write_block(
    out: &mut impl Write,
    view: &PipeView,
    symbols: &Symbols,
    from: usize,
) -> io::Result<usize> {
    let mut axis = Axis::default();
    let mut changes: Vec<Cycle> = Vec::new();
    let mut to = from;
    for op in view.ops[from..].iter().take(BLOCK) {
        changes.extend(op.spans().iter().flat_map(|span| [span.from, span.to]));
        // The squash has a separate column.
        changes.extend(op.is_flushed().then_some(op.end() + 1));
        let wider = Axis::new(changes.clone(), 1);
        if to > from && wider.cells() > STAGES as u64 {
            break;
        }
        axis = wider;
        to += 1;
    }
    let digits: String = axis.pieces().iter().map(|piece| digit(&piece.cycles)).collect();
    let first = axis.pieces().first().map_or(0, |piece| piece.cycles.start);
    let head = format!("from cycle {first}");
    writeln!(out, "\n {head:<width$}  {digits}", width = NUMBER + INSTRUCTION + 1)?;
    let mut inside = None;
    for op in &view.ops[from..to] {
        let pc = op.operation.timeline.pc;
        let function = symbols.function(pc).map(|place| place.function.addr);
        if function != inside {
            inside = function;
            let name = shortened(&symbols.name(pc), WIDTH - NUMBER - 3);
            writeln!(out, " {:NUMBER$} {name}:", "")?;
        }
        write_op(out, view, op, &axis)?;
    }
    Ok(to)
}

fn digit(cycles: &std::ops::Range<Cycle>) -> char {
    u32::try_from(cycles.end - cycles.start)
        .ok()
        .and_then(|n| char::from_digit(n, 10))
        .unwrap_or('+')
}

fn write_op(out: &mut impl Write, view: &PipeView, op: &TracedOp, axis: &Axis) -> io::Result<()> {
    let number = op.number().map_or_else(|| String::from("---"), |number| number.to_string());
    let instruction = shortened(&op.instruction(), INSTRUCTION);
    let strip = strip(op, &op.spans(), axis);
    writeln!(out, " {number:>NUMBER$} {instruction:<INSTRUCTION$}  {strip}")?;
    let notes = notes(view, op);
    if !notes.is_empty() {
        writeln!(out, "{}", wrapped(&notes.join("; "), NUMBER + 4))?;
    }
    Ok(())
}

/// Returns a letter for each column of a stage. Events after the end of the axis are not shown.
fn strip(op: &TracedOp, spans: &[Span], axis: &Axis) -> String {
    let mut cells = vec![' '; axis.cells() as usize + 1];
    for span in spans {
        let columns = axis.position(span.from) as usize..axis.position(span.to) as usize;
        cells[columns].fill(span.stage.letter());
    }
    if op.is_flushed() {
        cells[axis.position(op.end()) as usize] = 'x';
    }
    cells.into_iter().collect::<String>().trim_end().to_owned()
}

fn shortened(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns - 2).chain("..".chars()).collect()
}

/// Breaks a text into lines, each indented by `indent` blanks.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if indent + line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    let blanks = " ".repeat(indent);
    lines.iter().map(|line| format!("{blanks}{line}")).collect::<Vec<_>>().join("\n")
}

fn write_sum(out: &mut impl Write, view: &PipeView) -> io::Result<()> {
    let cycles = view.cycles();
    let correct = view.ops.len() - view.flushed();
    let (correct, length) = (grouped(correct as u64), grouped(cycles.end - cycles.start));
    write!(out, "\n {correct} instructions in {length} cycles")?;
    match view.in_order {
        None => writeln!(out, ", {} on wrong paths", grouped(view.flushed() as u64))?,
        Some(_) => writeln!(out)?,
    }
    let lost = view.lost();
    for (reason, slots) in lost.iter().take(CAUSES) {
        writeln!(out, " {:>12} slots lost: {}", grouped(*slots), reason)?;
    }
    if lost.len() > CAUSES {
        let rest: u64 = lost[CAUSES..].iter().map(|(_, slots)| slots).sum();
        writeln!(out, " {:>12} slots lost: other causes", grouped(rest))?;
    }
    if view.lost_to_none > 0 {
        let slots = grouped(view.lost_to_none);
        writeln!(out, " {slots:>12} slots lost: before a squash, after the last operation")?;
    }
    writeln!(out)
}
