//! A flow as a picture (SVG): boxes with their events, edges with what was decided and how often.
//!
//! The picture needs nothing but itself: no script, no font, no CSS variable, so that printers and plain
//! viewers show it too. A page takes it over with `page::chart`. An edge that was never taken is dashed, one that was is the thicker the more often.

use std::fmt::Write;

use super::chart::{Chart, ChartBox, ChartEdge, percent};
use super::layout::{self, Course, Layout, Rect, Size, Wire};
use crate::page::palette;
use crate::perf_stat::grouped;

/// Room around the drawing.
const MARGIN: f64 = 16.0;
/// Height of the title above it.
const TITLE: f64 = 34.0;
/// Height of a line of text.
const LINE: f64 = 17.0;
/// Room between the frame of a box and its text.
const PAD: f64 = 9.0;
/// Width of the disc with the number of a box, with the gap behind it.
const DISC: f64 = 25.0;
/// Sizes of letters, as in [`STYLE`].
const TEXT_SIZE: f64 = 13.0;
const CODE_SIZE: f64 = 12.0;
/// Length of an arrow's head.
const HEAD: f64 = 8.0;

/// Letters and lines; the colors are those of the palette.
const STYLE: &str = "\
.flow text{font:13px \"Liberation Sans\",Arial,Helvetica,\"DejaVu Sans\",sans-serif}\
.flow .title{font-size:16px;font-weight:bold}.flow .name,.flow .number{font-weight:bold}\
.flow .code{font:12px \"DejaVu Sans Mono\",Menlo,Consolas,monospace}\
.flow .box{stroke-width:1.2}.flow .unused{stroke-dasharray:4 3}\
.flow .edge{fill:none}.flow .idle{stroke-dasharray:2 4}";

/// One chart as a file of its own.
pub fn alone(chart: &Chart) -> String {
    sheet(std::slice::from_ref(chart))
}

/// Several charts below each other as one file.
pub fn sheet(charts: &[Chart]) -> String {
    file(charts, false)
}

/// One chart for a page with a glossary: its events are links to `#event-NAME`.
pub fn linked(chart: &Chart) -> String {
    file(std::slice::from_ref(chart), true)
}

fn file(charts: &[Chart], is_linked: bool) -> String {
    let drawings: Vec<Drawing<'_>> =
        charts.iter().map(|chart| Drawing::new(chart, is_linked)).collect();
    let sizes: Vec<Size> = drawings.iter().map(Drawing::size).collect();
    let width = sizes.iter().map(|size| size.width).fold(0.0, f64::max);
    let height = sizes.iter().map(|size| size.height).sum();
    let title = match charts {
        [chart] => chart.heading(),
        _ => String::from("Flows of the PMU guide"),
    };
    let mut text = open(Size { width, height }, &title);
    let told: Vec<String> = charts.iter().map(described).collect();
    let (title, told) = (escaped(&title), escaped(&told.join("\n")));
    line(&mut text, format_args!("<title>{title}</title>\n<desc>{told}</desc>"));
    line(&mut text, format_args!("{}<style>{STYLE}</style>", palette::svg_style()));
    line(&mut text, format_args!("<rect class=\"fill-paper\" width=\"100%\" height=\"100%\"/>"));
    let mut top = 0.0;
    for (drawing, size) in drawings.iter().zip(sizes) {
        line(&mut text, format_args!("<g transform=\"translate(0 {top:.0})\">"));
        drawing.write(&mut text);
        line(&mut text, format_args!("</g>"));
        top += size.height;
    }
    text + "</g></svg>\n"
}

fn open(Size { width, height }: Size, label: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"group\" aria-label=\"{}\">\n\
         <g class=\"flow\">\n",
        escaped(label)
    )
}

/// The chart in words, for those who do not see it.
fn described(chart: &Chart) -> String {
    let name = |place: usize| chart.boxes[place].name;
    let told = chart.edges.iter().map(|edge| {
        let label =
            if edge.label.is_empty() { String::new() } else { format!(" ({})", edge.label) };
        let taken = edge.taken.map(|taken| format!(", {} times", grouped(taken)));
        format!("{} to {}{label}{}", name(edge.from), name(edge.to), taken.unwrap_or_default())
    });
    told.collect::<Vec<_>>().join("; ")
}

/// A chart with the place of everything.
pub(super) struct Drawing<'a> {
    chart: &'a Chart,
    pub(super) layout: Layout,
    /// Events are links.
    is_linked: bool,
    /// The most that any edge was taken, for the width of the others.
    most: u64,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(chart: &'a Chart, is_linked: bool) -> Drawing<'a> {
        let boxes: Vec<Size> = (0..chart.boxes.len()).map(|place| box_size(chart, place)).collect();
        let wires = chart.edges.iter().map(|edge| {
            let lines = label_lines(edge);
            let width = lines.iter().map(|line| text_width(line)).fold(0.0, f64::max);
            let size = Size { width: width + 6.0, height: lines.len() as f64 * LINE };
            Wire {
                from: edge.from,
                to: edge.to,
                label: if lines.is_empty() { Size::default() } else { size },
            }
        });
        let layout = layout::place(&boxes, &wires.collect::<Vec<_>>());
        let most = chart.edges.iter().filter_map(|edge| edge.taken).max().unwrap_or(0);
        Drawing { chart, layout, is_linked, most }
    }

    /// Size with title, margins and what is said below.
    fn size(&self) -> Size {
        let title = match self.is_linked {
            true => 0.0,
            false => text_width(&self.chart.heading()) * 1.4,
        };
        let note = self.note().map_or(0.0, |note| text_width(&note));
        let width = self.layout.size.width.max(title).max(note) + 2.0 * MARGIN;
        let below = if self.note().is_some() { LINE + 6.0 } else { 0.0 };
        Size { width, height: self.layout.size.height + self.title_height() + below + 2.0 * MARGIN }
    }

    /// What is not drawn.
    fn note(&self) -> Option<String> {
        let left_out = &self.chart.left_out;
        (!left_out.is_empty()).then(|| format!("Not taken, not drawn: {}", left_out.join(", ")))
    }

    /// Height of the title; a page has it in front of the picture.
    fn title_height(&self) -> f64 {
        if self.is_linked { 0.0 } else { TITLE }
    }

    fn write(&self, text: &mut String) {
        if !self.is_linked {
            let (heading, y) = (escaped(&self.chart.heading()), MARGIN + 16.0);
            line(
                text,
                format_args!(
                    "<text class=\"title fill-ink\" x=\"{MARGIN}\" y=\"{y}\">{heading}</text>"
                ),
            );
        }
        let top = MARGIN + self.title_height();
        line(text, format_args!("<g transform=\"translate({MARGIN} {top})\">"));
        for (edge, course) in self.chart.edges.iter().zip(&self.layout.courses) {
            self.write_edge(text, edge, course);
        }
        for (place, rect) in self.layout.boxes.iter().enumerate() {
            self.write_box(text, &self.chart.boxes[place], rect);
        }
        for (edge, course) in self.chart.edges.iter().zip(&self.layout.courses) {
            write_label(text, edge, &course.label);
        }
        if let Some(note) = self.note() {
            let y = self.layout.size.height + LINE + 2.0;
            line(
                text,
                format_args!(
                    "<text class=\"fill-quiet\" x=\"0\" y=\"{y:.1}\">{}</text>",
                    escaped(&note)
                ),
            );
        }
        line(text, format_args!("</g>"));
    }

    fn write_box(&self, text: &mut String, part: &ChartBox, rect: &Rect) {
        let round = if part.is_entry || part.is_end { 14.0 } else { 4.0 };
        let fill = match part {
            ChartBox { visits: Some(0), .. } => "fill-paper stroke-line",
            ChartBox { is_end: true, .. } => "fill-green-tint stroke-green",
            _ => "fill-panel stroke-line",
        };
        let unused = if part.visits == Some(0) { " unused" } else { "" };
        line(
            text,
            format_args!(
                "<rect class=\"box {fill}{unused}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\"/>",
                rect.left, rect.top, rect.size.width, rect.size.height
            ),
        );
        let middle = rect.middle() - content_width(part) / 2.0;
        let mut left = middle;
        let mut base = rect.top + PAD + 12.0;
        if part.step > 0 {
            let (x, y) = (left + 9.0, base - 4.5);
            line(
                text,
                format_args!("<circle class=\"fill-link\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>"),
            );
            line(
                text,
                format_args!(
                    "<text class=\"number fill-paper\" x=\"{x:.1}\" y=\"{base:.1}\" text-anchor=\"middle\">{}</text>",
                    part.step
                ),
            );
            left += DISC;
        }
        line(
            text,
            format_args!(
                "<text class=\"name fill-ink\" x=\"{left:.1}\" y=\"{base:.1}\">{}</text>",
                escaped(part.name)
            ),
        );
        if let Some(visits) = part.visits {
            base += LINE;
            line(
                text,
                format_args!(
                    "<text class=\"fill-ink\" x=\"{middle:.1}\" y=\"{base:.1}\">{}</text>",
                    grouped(visits)
                ),
            );
        }
        for event in part.events {
            base += LINE;
            let (name, x) = (event.mnemonic(), middle);
            let code = format!(
                "<text class=\"code fill-link\" x=\"{x:.1}\" y=\"{base:.1}\">{name}</text>"
            );
            let linked =
                if self.is_linked { format!("<a href=\"#event-{name}\">{code}</a>") } else { code };
            line(text, format_args!("{linked}"));
        }
    }

    /// The line of an edge, and its head.
    fn write_edge(&self, text: &mut String, edge: &ChartEdge, course: &Course) {
        let idle = edge.taken == Some(0);
        let width = match edge.taken {
            None | Some(0) => 1.3,
            // From 1.3 to 4.2 by the logarithm: one in a million is still seen.
            Some(taken) if self.most > 1 => {
                1.3 + 2.9 * (taken as f64).ln_1p() / (self.most as f64).ln_1p()
            }
            Some(_) => 2.6,
        };
        let (kind, head) = if idle {
            ("edge idle stroke-line", "fill-line")
        } else {
            ("edge stroke-quiet", "fill-quiet")
        };
        for part in parts(edge, course) {
            line(
                text,
                format_args!("<path class=\"{kind}\" stroke-width=\"{width:.1}\" d=\"{part}\"/>"),
            );
        }
        if let Some((x, y)) = course.points.last() {
            let half = (width + 3.0).min(6.0);
            line(
                text,
                format_args!(
                    "<path class=\"{head}\" d=\"M{x:.1} {y:.1}l-{half:.1} -{HEAD}h{:.1}z\"/>",
                    2.0 * half
                ),
            );
        }
    }
}

/// The line of an edge as far as it is drawn in one go: it stops above its label and goes on below.
fn parts(edge: &ChartEdge, course: &Course) -> Vec<String> {
    let mut points = course.points.clone();
    if let Some((_, y)) = points.last_mut() {
        *y -= HEAD - 1.0;
    }
    let has_label = !label_lines(edge).is_empty();
    let mut parts = Vec::new();
    let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for (i, two) in points.windows(2).enumerate() {
        let ((x, y), (to_x, to_y)) = (two[0], two[1]);
        if i % 2 == 1 {
            // Through a layer: the first one is that of the label.
            if i == 1 && has_label {
                let (above, below) = (course.label.top, course.label.bottom() + 1.0);
                write!(path, "V{above:.1}").expect("a string takes any text");
                parts.push(std::mem::replace(&mut path, format!("M{x:.1} {below:.1}")));
            }
            write!(path, "V{to_y:.1}").expect("a string takes any text");
        } else {
            let middle = (y + to_y) / 2.0;
            write!(path, "C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}")
                .expect("a string takes any text");
        }
    }
    parts.push(path);
    parts
}

fn write_label(text: &mut String, edge: &ChartEdge, place: &Rect) {
    let kind = if edge.taken == Some(0) { "fill-quiet" } else { "fill-ink" };
    for (i, words) in label_lines(edge).iter().enumerate() {
        let (x, y) = (place.middle(), place.top + LINE * (i as f64 + 1.0) - 4.0);
        let words = escaped(words);
        line(
            text,
            format_args!(
                "<text class=\"{kind}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{words}</text>"
            ),
        );
    }
}

/// What stands on an edge.
fn label_lines(edge: &ChartEdge) -> Vec<String> {
    let mut lines = Vec::new();
    if !edge.label.is_empty() {
        lines.push(edge.label.to_owned());
    }
    if let Some(taken) = edge.taken.filter(|_| !edge.label.is_empty()) {
        let share = edge.share.map(|share| format!("  ({})", percent(share)));
        lines.push(format!("{}{}", grouped(taken), share.unwrap_or_default()));
    }
    lines
}

/// Room for the text of a box and for the edges at its sides.
fn box_size(chart: &Chart, place: usize) -> Size {
    let part = &chart.boxes[place];
    let into = chart.edges.iter().filter(|edge| edge.to == place).count();
    let sides = into.max(chart.ways_out(place).count()) as f64 * 26.0;
    let lines = 1 + part.events.len() + usize::from(part.visits.is_some());
    let width = (content_width(part) + 2.0 * PAD).max(sides);
    Size { width, height: lines as f64 * LINE + 2.0 * PAD - 2.0 }
}

/// Width of the widest line in a box.
fn content_width(part: &ChartBox) -> f64 {
    let disc = if part.step > 0 { DISC } else { 0.0 };
    let visits = part.visits.map(|visits| text_width(&grouped(visits)));
    let events = part.events.iter().map(|event| code_width(event.mnemonic()));
    events.chain(visits).fold(disc + text_width(part.name) * 1.08, f64::max)
}

/// Width of a text, no less than in any of the usual fonts.
fn text_width(text: &str) -> f64 {
    let em = |letter: char| match letter {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '(' | ')' | 'I' => 0.40,
        'f' | 't' | 'r' | '-' => 0.45,
        'm' | 'w' | 'M' | 'W' | '%' | '<' | '>' => 0.98,
        'A'..='Z' => 0.78,
        _ => 0.645,
    };
    text.chars().map(em).sum::<f64>() * TEXT_SIZE
}

/// Width of the name of an event.
fn code_width(text: &str) -> f64 {
    text.chars().count() as f64 * 0.62 * CODE_SIZE
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes any text");
}

/// Text as XML wants it.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
