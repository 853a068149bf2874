//! A flow as a figure (SVG): boxes with their events, edges with decisions and counts.
//!
//! The figure is self-contained, without scripts, fonts and CSS variables, so that printers and
//! simple viewers show it too. `page::chart` embeds it in a page. An edge that was never taken is
//! dashed; the width of an edge grows with its count.

use std::fmt::Write;

use super::chart::{Chart, ChartBox, ChartEdge, percent};
use super::layout::{self, Layout, Rect, Route, Size, Wire};
use crate::page::palette;
use crate::perf_stat::grouped;
use crate::xml::escaped;

/// Margin around the drawing, in pixels.
const MARGIN: f64 = 16.0;
/// Height of the title above the drawing, in pixels.
const TITLE: f64 = 34.0;
/// Height of a line of text, in pixels.
const LINE: f64 = 17.0;
/// Padding between the frame of a box and its text, in pixels.
const PAD: f64 = 9.0;
/// Width of the disc with the number of a box, with the gap after it, in pixels.
const DISC: f64 = 25.0;
/// Size of the letters of text in pixels, as in [`STYLE`].
const TEXT_SIZE: f64 = 13.0;
/// Size of the letters of event names in pixels, as in [`STYLE`].
const CODE_SIZE: f64 = 12.0;
/// Length of an arrowhead, in pixels.
const HEAD: f64 = 8.0;

/// Style of letters and lines; the colors come from the palette.
const STYLE: &str = "\
.flow text{font:13px \"Liberation Sans\",Arial,Helvetica,\"DejaVu Sans\",sans-serif}\
.flow .title{font-size:16px;font-weight:bold}.flow .name,.flow .number{font-weight:bold}\
.flow .code{font:12px \"DejaVu Sans Mono\",Menlo,Consolas,monospace}\
.flow .box{stroke-width:1.2}.flow .unused{stroke-dasharray:4 3}\
.flow .edge{fill:none}.flow .idle{stroke-dasharray:2 4}";

/// Returns one chart as a separate file.
pub fn single(chart: &Chart) -> String {
    sheet(std::slice::from_ref(chart))
}

/// Returns several charts below each other as one file.
pub fn sheet(charts: &[Chart]) -> String {
    file(charts, false)
}

/// Returns one chart for a page with entries of events: those of visited boxes are links to
/// `#event-NAME`. The page has the background, the title and the note on entries that are not
/// drawn.
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
        [chart, ..] if chart.section.is_empty() => String::from("Flows of the Cortex-A53"),
        _ => String::from("Flows of the PMU guide"),
    };
    let mut text = open(Size { width, height }, &title);
    let descriptions: Vec<String> = charts.iter().map(described).collect();
    let (title, description) = (escaped(&title), escaped(&descriptions.join("\n")));
    line(&mut text, format_args!("<title>{title}</title>\n<desc>{description}</desc>"));
    line(&mut text, format_args!("{}<style>{STYLE}</style>", palette::svg_style()));
    if !is_linked {
        let paper = "<rect class=\"fill-paper\" width=\"100%\" height=\"100%\"/>";
        line(&mut text, format_args!("{paper}"));
    }
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

/// Returns the chart in words, for screen readers.
fn described(chart: &Chart) -> String {
    let name = |place: usize| chart.boxes[place].name;
    let edges = chart.edges.iter().map(|edge| {
        let label =
            if edge.label.is_empty() { String::new() } else { format!(" ({})", edge.label) };
        let taken = edge.taken.map(|taken| format!(", {} times", grouped(taken)));
        format!("{} to {}{label}{}", name(edge.from), name(edge.to), taken.unwrap_or_default())
    });
    edges.collect::<Vec<_>>().join("; ")
}

/// Chart with its layout.
pub(super) struct Drawing<'a> {
    chart: &'a Chart,
    pub(super) layout: Layout,
    /// Whether events are links.
    is_linked: bool,
    /// Count of the edge that was taken most often, for the relative width of the others.
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

    /// Returns the size with title, margins and the note below.
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

    /// Returns the note on entries that are not drawn.
    fn note(&self) -> Option<String> {
        let left_out = &self.chart.left_out;
        (!left_out.is_empty() && !self.is_linked)
            .then(|| format!("Not taken, not drawn: {}", left_out.join(", ")))
    }

    /// Returns the height of the title; a page has it above the figure.
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
        for (edge, route) in self.chart.edges.iter().zip(&self.layout.routes) {
            self.write_edge(text, edge, route);
        }
        for (place, rect) in self.layout.boxes.iter().enumerate() {
            self.write_box(text, &self.chart.boxes[place], rect);
        }
        for (edge, route) in self.chart.edges.iter().zip(&self.layout.routes) {
            write_label(text, edge, &route.label);
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
            ChartBox { is_end: true, is_entry: false, .. } => "fill-green-tint stroke-green",
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
        for name in part.event_names() {
            base += LINE;
            let x = middle;
            let code = format!(
                "<text class=\"code fill-link\" x=\"{x:.1}\" y=\"{base:.1}\">{name}</text>"
            );
            let has_entry = part.a53_events.is_empty() && part.visits != Some(0);
            let linked = if self.is_linked && has_entry {
                format!("<a href=\"#event-{name}\">{code}</a>")
            } else {
                code
            };
            line(text, format_args!("{linked}"));
        }
    }

    /// Writes the line of an edge and its arrowhead.
    fn write_edge(&self, text: &mut String, edge: &ChartEdge, route: &Route) {
        let idle = edge.taken == Some(0);
        let width = match edge.taken {
            None | Some(0) => 1.3,
            // From 1.3 to 4.2 by the logarithm: one in a million stays visible.
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
        for part in parts(edge, route) {
            line(
                text,
                format_args!("<path class=\"{kind}\" stroke-width=\"{width:.1}\" d=\"{part}\"/>"),
            );
        }
        if let Some((x, y)) = route.points.last() {
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

/// Returns the unbroken pieces of the line of an edge: it stops above its label and continues
/// below.
fn parts(edge: &ChartEdge, route: &Route) -> Vec<String> {
    let mut points = route.points.clone();
    if let Some((_, y)) = points.last_mut() {
        *y -= HEAD - 1.0;
    }
    let has_label = !label_lines(edge).is_empty();
    let mut parts = Vec::new();
    let mut path = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for (i, two) in points.windows(2).enumerate() {
        let ((x, y), (to_x, to_y)) = (two[0], two[1]);
        if i % 2 == 1 {
            // Through a layer: the first layer is the one of the label.
            if i == 1 && has_label {
                let (above, below) = (route.label.top, route.label.bottom() + 1.0);
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

/// Returns the label of an edge, line by line.
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

/// Returns the size of a box for its text and for the edges at its sides.
fn box_size(chart: &Chart, place: usize) -> Size {
    let part = &chart.boxes[place];
    let into = chart.edges.iter().filter(|edge| edge.to == place).count();
    let sides = into.max(chart.edges_out(place).count()) as f64 * 26.0;
    let lines = 1 + part.event_names().len() + usize::from(part.visits.is_some());
    let width = (content_width(part) + 2.0 * PAD).max(sides);
    Size { width, height: lines as f64 * LINE + 2.0 * PAD - 2.0 }
}

/// Returns the width of the widest line in a box.
fn content_width(part: &ChartBox) -> f64 {
    let disc = if part.step > 0 { DISC } else { 0.0 };
    let visits = part.visits.map(|visits| text_width(&grouped(visits)));
    let names = part.event_names();
    let events = names.iter().map(|name| code_width(name));
    events.chain(visits).fold(disc + text_width(part.name) * 1.08, f64::max)
}

/// Returns an upper bound of the width of a text in the usual fonts, in pixels.
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

/// Returns the width of the name of an event, in pixels.
fn code_width(text: &str) -> f64 {
    text.chars().count() as f64 * 0.62 * CODE_SIZE
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes any text");
}
