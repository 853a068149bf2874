//! A window as a figure (SVG): a row for each operation, a bar with a letter for each stage, and
//! lines from results to the operations that waited for them. The figure is self-contained and has
//! no scripts; it has colors for light and dark themes.

use std::fmt::Write;

use sim_core::{Span, Stage};

use super::axis::{Axis, Piece};
use super::notes::notes;
use super::{PipeView, TracedOp};
use crate::page::palette::{self, Color};
use crate::perf_stat::grouped;
use crate::symbols::Symbols;
use crate::xml::escaped;

/// Most operations of a figure; a log viewer serves better for more.
pub const OPERATIONS_MAX: usize = 5000;

/// Width of a cycle, in pixels.
const CELL: u64 = 11;
/// Height of a row, in pixels.
const ROW: u64 = 16;
/// Height of a bar, in pixels.
const BAR: u64 = 13;
/// Most cells of an interval without a change.
const STRETCH: u64 = 16;
/// Upper bound of the width of a character of a label, in pixels.
const LABEL_CHAR: u64 = 7;
/// Upper bound of the width of a character of a note, in pixels.
const NOTE_CHAR: u64 = 7;
/// Most characters of an instruction in a row; the tooltip shows all of them.
const INSTRUCTION: usize = 36;
/// Most characters of the notes in a row; the tooltip shows all of them.
const NOTES: usize = 130;
/// Characters of the operation number.
const NUMBER: usize = 9;
/// Left edge of the bars, after number, instruction and a gap, in pixels.
const LEFT: u64 = 16 + (NUMBER as u64 + 2 + INSTRUCTION as u64) * LABEL_CHAR;
/// Top edge of the first row, below title, legend and axis, in pixels.
const TOP: u64 = 116;
/// Smallest distance between two numbers of the axis, in pixels.
const TICKS_APART: u64 = 84;
/// Rows of each background band.
const SHADE: usize = 2;

/// Styles in addition to the colors of the palette.
const STYLE: &str = "<style>\
text.l{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:11px}\
text.l.title{font-size:14px;font-weight:bold}text.l.note{font-size:11px}text.l.x{font-size:11px}\
.bar{stroke-width:.5;fill-opacity:.65}.wrong{stroke-dasharray:2 1}.gap{fill:none;stroke-dasharray:2 3}.need{fill:none;stroke-opacity:.8}\
.row>.need{visibility:hidden}.row:hover>.need{visibility:visible;stroke-opacity:1;stroke-width:3}.row:hover>text{font-weight:bold}\
</style>";

/// Returns the color of the bars of a stage. Stages of the same color differ in their letters.
fn color(stage: Stage) -> Color {
    match stage {
        Stage::Fetch | Stage::Decode => palette::BLUE_TINT,
        Stage::Queue | Stage::Done | Stage::InOrderQueue | Stage::WaitsForOlder => palette::PAPER,
        Stage::Rename | Stage::Issue0 | Stage::Issue1 => palette::YELLOW_TINT,
        Stage::Wait | Stage::Retire => palette::GRAY_TINT,
        Stage::Execute | Stage::Stages => palette::GREEN_TINT,
        Stage::Translate => palette::PURPLE_TINT,
        Stage::Memory | Stage::Held => palette::ORANGE_TINT,
        Stage::Drain => palette::PANEL,
    }
}

/// Returns the classes of a bar.
fn bar(stage: Stage, is_wrong: bool) -> String {
    match is_wrong {
        true => String::from("bar wrong fill-red-tint stroke-red"),
        false => format!("bar stroke-line fill-{}", color(stage).name),
    }
}

/// Draws the figure.
pub fn draw(view: &PipeView, symbols: &Symbols) -> String {
    let rows: Vec<Row<'_>> = view.ops.iter().map(|op| Row::new(view, op)).collect();
    let changes = rows.iter().flat_map(|row| &row.spans).flat_map(|span| [span.from, span.to]);
    let axis = Axis::new(changes.collect(), STRETCH);
    let ends = rows.iter().map(|row| x_of(&axis, row.op.last()) + 24 + text_width(&row.shown));
    let legend = legend_width(view.stages());
    let width = ends.max().unwrap_or(0).max(legend).max(LEFT + axis.cells() * CELL) + 16;
    let height = TOP + rows.len() as u64 * ROW + 16;
    let mut svg = String::with_capacity(1000 + rows.len() * 700);
    let title = escaped(&view.title());
    push(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{title}</title>\n<desc>{}</desc>\n\
             {}{STYLE}\n<rect class=\"fill-paper\" width=\"{width}\" height=\"{height}\"/>\n\
             <text class=\"l title fill-ink\" x=\"16\" y=\"26\">{title}</text>\n",
            escaped(&description(view)),
            palette::svg_style()
        ),
    );
    draw_legend(&mut svg, view);
    draw_axis(&mut svg, &axis, rows.len() as u64, width);
    // Lines cross other rows: they are below all bars. A row has a copy above, shown at a pointer.
    for (number, row) in rows.iter().enumerate() {
        svg.push_str(&need_line(number, row.op, (view, &axis)).0);
    }
    for (number, row) in rows.iter().enumerate() {
        draw_row(&mut svg, number, row, (view, &axis), symbols);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Content of a row.
struct Row<'a> {
    op: &'a TracedOp,
    spans: Vec<Span>,
    instruction: String,
    notes: String,
    /// Part of the notes that fits in a row.
    shown: String,
}

impl<'a> Row<'a> {
    fn new(view: &PipeView, op: &'a TracedOp) -> Row<'a> {
        let notes = notes(view, op).join("; ");
        let shown = cut(&notes, NOTES);
        Row { op, spans: op.spans(), instruction: op.instruction(), notes, shown }
    }
}

fn description(view: &PipeView) -> String {
    let lost: u64 = view.lost().iter().map(|(_, slots)| slots).sum();
    if view.in_order.is_some() {
        let (count, lost) = (grouped(view.ops.len() as u64), grouped(lost));
        return format!(
            "A row for each instruction in the order of issue, with a bar for each stage over the \
             cycles. {count} instructions; {lost} issue slots lost."
        );
    }
    format!(
        "A row for each operation in the order of rename, with a bar for each stage over the cycles. \
         {} operations, {} of them on wrong paths; {} rename slots lost.",
        grouped(view.ops.len() as u64),
        grouped(view.flushed() as u64),
        grouped(lost)
    )
}

fn push(svg: &mut String, text: std::fmt::Arguments<'_>) {
    svg.write_fmt(text).expect("a String takes any text");
}

fn text_width(text: &str) -> u64 {
    text.chars().count() as u64 * NOTE_CHAR
}

fn x_of(axis: &Axis, cycle: sim_core::Cycle) -> u64 {
    LEFT + axis.position(cycle) * CELL
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['\u{2026}']).collect()
}

/// Returns the width of an entry of the legend, in pixels: swatch, text, gap.
fn entry_width(label: &str) -> u64 {
    CELL + 8 + label.chars().count() as u64 * LABEL_CHAR + 14
}

/// Legend of a bar on a wrong path.
const WRONG: &str = "wrong path, squashed";
/// Legend of a line between two rows.
const NEED: &str = "waited for this result";

fn legend_width(stages: &[Stage]) -> u64 {
    let stages: u64 = stages.iter().map(|stage| entry_width(stage.label())).sum();
    16 + stages.max(entry_width(WRONG) + entry_width(NEED))
}

fn draw_legend(svg: &mut String, view: &PipeView) {
    let mut x = 16;
    for stage in view.stages().iter().copied() {
        let (letter, label, class) = (stage.letter(), stage.label(), bar(stage, false));
        let (text, inner) = (x + CELL + 6, x + 2);
        push(
            svg,
            format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"38\" width=\"{CELL}\" height=\"{BAR}\"/>\
                 <text class=\"l x fill-ink\" x=\"{inner}\" y=\"48\">{letter}</text>\
                 <text class=\"l fill-ink\" x=\"{text}\" y=\"49\">{label}</text>\n"
            ),
        );
        x += entry_width(label);
    }
    let mut line = 16;
    if view.in_order.is_none() {
        let text = 16 + CELL + 6;
        line += entry_width(WRONG);
        push(
            svg,
            format_args!(
                "<rect class=\"bar wrong fill-red-tint stroke-red\" x=\"16\" y=\"58\" width=\"{CELL}\" height=\"{BAR}\"/>\
                 <text class=\"l fill-ink\" x=\"{text}\" y=\"69\">{WRONG}</text>"
            ),
        );
    }
    let (end, words) = (line + CELL, line + CELL + 6);
    push(
        svg,
        format_args!(
            "<path class=\"need stroke-orange\" d=\"M{line} 60L{end} 69\"/>{}<text class=\"l fill-ink\" x=\"{words}\" y=\"69\">{NEED}</text>\n",
            head(end, 69)
        ),
    );
}

/// Draws the background bands, the cycle numbers, and marks for shortened intervals.
fn draw_axis(svg: &mut String, axis: &Axis, rows: u64, width: u64) {
    for row in (0..rows).filter(|row| row / SHADE as u64 % 2 == 1) {
        let y = TOP + row * ROW;
        push(
            svg,
            format_args!(
                "<rect class=\"fill-panel\" y=\"{y}\" width=\"{width}\" height=\"{ROW}\"/>\n"
            ),
        );
    }
    let bottom = TOP + rows * ROW;
    let (unit_x, unit_y) = (LEFT - 8, TOP - 10);
    push(
        svg,
        format_args!(
            "<text class=\"l note fill-quiet\" x=\"{unit_x}\" y=\"{unit_y}\" text-anchor=\"end\">cycle of the run</text>\n"
        ),
    );
    let mut free_from = 0;
    for piece in axis.pieces() {
        let x = LEFT + piece.at * CELL;
        if piece.is_shortened() {
            draw_gap(svg, piece, bottom);
        }
        if x < free_from {
            continue;
        }
        let label = grouped(piece.cycles.start);
        free_from = x + (text_width(&label) + 12).max(TICKS_APART);
        let (top, y) = (TOP - 6, TOP - 10);
        push(
            svg,
            format_args!(
                "<path class=\"stroke-grid\" d=\"M{x} {top}V{bottom}\"/>\
                 <text class=\"l note fill-quiet\" x=\"{x}\" y=\"{y}\">{label}</text>\n"
            ),
        );
    }
}

/// Draws the number of cycles of a shortened interval, on a separate line above the cycle numbers.
fn draw_gap(svg: &mut String, piece: &Piece, bottom: u64) {
    let from = LEFT + piece.at * CELL;
    let (to, y) = (from + piece.cells * CELL, TOP - 20);
    let (middle, text) = (from.midpoint(to), y - 4);
    let cycles = grouped(piece.cycles.end - piece.cycles.start);
    push(
        svg,
        format_args!(
            "<path class=\"gap stroke-line\" d=\"M{from} {bottom}V{y}H{to}V{bottom}\"/>\
             <text class=\"l note fill-quiet\" x=\"{middle}\" y=\"{text}\" text-anchor=\"middle\">{cycles} cycles</text>\n"
        ),
    );
}

fn draw_row(
    svg: &mut String,
    number: usize,
    row: &Row<'_>,
    (view, axis): (&PipeView, &Axis),
    symbols: &Symbols,
) {
    let op = row.op;
    let top = TOP + number as u64 * ROW;
    let base = top + 11;
    let name = op.number().map_or_else(|| String::from("wrong"), |number| number.to_string());
    let is_wrong = op.operation.timeline.wrong_path;
    let ink = if is_wrong { "red" } else { "ink" };
    let full = format!("{name} {}: {}", symbols.name(op.operation.timeline.pc), row.instruction);
    let full = if row.notes.is_empty() { full } else { format!("{full}; {}", row.notes) };
    let right = 16 + NUMBER as u64 * LABEL_CHAR;
    push(
        svg,
        format_args!(
            "<g class=\"row\"><title>{}</title><text class=\"l fill-{ink}\" x=\"{right}\" y=\"{base}\" text-anchor=\"end\">{name}</text>\
             <text class=\"l fill-{ink}\" x=\"{}\" y=\"{base}\">{}</text>",
            escaped(&full),
            right + 2 * LABEL_CHAR,
            escaped(&cut(&row.instruction, INSTRUCTION))
        ),
    );
    draw_bars(svg, &row.spans, axis, top, is_wrong);
    let (line, arrow) = need_line(number, op, (view, axis));
    svg.push_str(&line);
    svg.push_str(&arrow);
    let mut x = x_of(axis, op.last()) + 4;
    if op.is_flushed() {
        push(svg, format_args!("<text class=\"l fill-red\" x=\"{x}\" y=\"{base}\">\u{d7}</text>"));
    }
    x += 12;
    if !row.shown.is_empty() {
        let text = escaped(&row.shown);
        push(
            svg,
            format_args!("<text class=\"l note fill-quiet\" x=\"{x}\" y=\"{base}\">{text}</text>"),
        );
    }
    svg.push_str("</g>\n");
}

/// Draws the bars of a row, and their letters in one text.
fn draw_bars(svg: &mut String, spans: &[Span], axis: &Axis, top: u64, is_wrong: bool) {
    let (mut places, mut letters) = (String::new(), String::new());
    let y = top + 1;
    for span in spans {
        let (x, end) = (x_of(axis, span.from), x_of(axis, span.to));
        let letter = span.stage.letter();
        let class = bar(span.stage, is_wrong);
        let width = end - x;
        push(
            svg,
            format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\"/>"
            ),
        );
        push(&mut places, format_args!("{} ", x + 2));
        letters.push(letter);
    }
    let places = places.trim_end();
    push(
        svg,
        format_args!(
            "<text class=\"l x fill-ink\" x=\"{places}\" y=\"{}\">{letters}</text>",
            top + 10
        ),
    );
}

/// Returns the line from the cycle in which a result was ready to the issue of the operation that
/// waited for it, and the head of its arrow; both are empty if it waited for none.
fn need_line(row: usize, op: &TracedOp, (view, axis): (&PipeView, &Axis)) -> (String, String) {
    let Some(need) = view.waited_for(op) else { return (String::new(), String::new()) };
    let ready = need.ready.min(op.end());
    let (from, to) = (x_of(axis, ready), x_of(axis, op.operation.timeline.issue.max(ready)));
    let middle = |row: usize| TOP + row as u64 * ROW + ROW / 2;
    let (start, end) = (middle(need.place), middle(row));
    let line = format!("<path class=\"need stroke-orange\" d=\"M{from} {start}L{to} {end}\"/>");
    (line, head(to, end))
}

/// Returns the head of an arrow that ends at this place, pointing down.
fn head(x: u64, y: u64) -> String {
    let (left, right, top) = (x.saturating_sub(3), x + 3, y.saturating_sub(6));
    format!("<path class=\"fill-orange\" d=\"M{left} {top}H{right}L{x} {y}z\"/>")
}
