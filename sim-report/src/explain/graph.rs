//! Relations of an event, metric, section or cause as a figure: DOT, or self-contained SVG.
//!
//! The SVG is drawn directly: one box with its relations in rows needs no layout library.

use std::fmt::Write;

use sim_core::PmuEvent;

use super::text::label;
use super::{EventRelation, Explanation};
use crate::page::palette::svg_style;
use crate::xml::escaped;

/// Height of a box, in pixels.
const BOX_HEIGHT: usize = 26;
/// Distance between boxes, in pixels.
const GAP: usize = 8;
/// Margin around the figure, in pixels.
const MARGIN: usize = 16;
/// Distance of the related boxes from the subject, in pixels: room for the arrows.
const ARROWS: usize = 70;
/// Width of a letter of a name (monospaced), in pixels.
const NAME_LETTER: usize = 8;
/// Width of a letter of a label, in pixels, with a reserve.
const WORD_LETTER: usize = 8;
/// Space at both sides of a name in its box, in pixels.
const PADDING: usize = 10;

/// Returns the graph in the DOT language.
pub fn dot(of: &Explanation) -> String {
    let mut text = format!("digraph \"{}\" {{\n", quoted(&of.name));
    text += "    rankdir=LR;\n    node [shape=box, fontname=\"monospace\"];\n";
    let _ = writeln!(text, "    \"{}\" [penwidth=2];", quoted(&of.name));
    for relation in &of.relations {
        for other in &relation.others {
            let (name, other, label) = (quoted(&of.name), quoted(other), quoted(&label(relation)));
            let _ = writeln!(text, "    \"{name}\" -> \"{other}\" [label=\"{label}\"];");
        }
    }
    text + "}\n"
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Rectangle with text in it, or the space of a line of text.
struct Label {
    x: usize,
    y: usize,
    width: usize,
    text: String,
    is_name: bool,
}

impl Label {
    fn middle(&self) -> usize {
        self.y + BOX_HEIGHT / 2
    }
}

/// Draws the graph as SVG: the subject at the left, its relations at the right, each with its
/// label.
pub fn svg(of: &Explanation) -> String {
    let labels = layout(of);
    let width = labels.iter().map(|label| label.x + label.width).max().unwrap_or(0) + MARGIN;
    let height = labels.iter().map(|label| label.y + BOX_HEIGHT).max().unwrap_or(0) + MARGIN;
    let name = escaped(&of.name);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\"><title>Relations of {name}</title><desc>{}</desc>{}\
         <style>.mono{{font-family:ui-monospace,Consolas,'DejaVu Sans Mono',monospace}}</style>\
         <rect class=\"fill-paper\" width=\"100%\" height=\"100%\"/>",
        escaped(&description(of)),
        svg_style(),
    );
    let (subject, rest) = labels.split_first().expect("the subject is always there");
    for label in rest.iter().filter(|label| label.is_name) {
        arrow(&mut svg, subject, label);
    }
    for label in &labels {
        draw(&mut svg, label, std::ptr::eq(label, subject));
    }
    svg + "</svg>\n"
}

/// Returns the position of every label; the subject comes first.
fn layout(of: &Explanation) -> Vec<Label> {
    let name_width = |text: &str| text.chars().count() * NAME_LETTER + 2 * PADDING;
    let width = name_width(&of.name);
    let x = MARGIN + width + ARROWS;
    let mut labels = Vec::new();
    let mut y = MARGIN;
    for relation in drawn(of) {
        let words = self::label(relation);
        let width = words.chars().count() * WORD_LETTER;
        labels.push(Label { x, y, width, text: words, is_name: false });
        y += BOX_HEIGHT + 2;
        for other in &relation.others {
            let width = name_width(other);
            labels.push(Label { x, y, width, text: other.clone(), is_name: true });
            y += BOX_HEIGHT;
            if let Some(parts) = parts(other, of) {
                let width = parts.chars().count() * WORD_LETTER;
                labels.push(Label { x: x + PADDING, y, width, text: parts, is_name: false });
                y += BOX_HEIGHT;
            }
            y += GAP;
        }
        y += GAP;
    }
    let middle = if y > MARGIN { (MARGIN + y - 2 * GAP - BOX_HEIGHT) / 2 } else { MARGIN };
    let y = middle.max(MARGIN);
    labels.insert(0, Label { x: MARGIN, y, width, text: of.name.clone(), is_name: true });
    labels
}

/// Label of a relation that a sum implies.
const AT_LEAST_EACH: &str = "at least each of";
/// Label of a sum.
const SUM: &str = "sum of";

/// Returns the relations that are drawn: a sum is at least each of its parts, so that this relation
/// to the same events is left out.
fn drawn(of: &Explanation) -> impl Iterator<Item = &EventRelation> {
    let is_sum = |relation: &&EventRelation| relation.label.starts_with(SUM);
    let parts: Vec<&String> =
        of.relations.iter().filter(is_sum).flat_map(|sum| &sum.others).collect();
    of.relations.iter().filter(move |relation| {
        relation.label != AT_LEAST_EACH || !relation.others.iter().all(|own| parts.contains(&own))
    })
}

/// Returns the parts of a related event that is itself a sum, unless the subject is one of them.
fn parts(other: &str, of: &Explanation) -> Option<String> {
    let own = super::event(PmuEvent::from_name(other).ok()?);
    let sum = own.relations.iter().find(|relation| relation.label.starts_with(SUM))?;
    let is_above = sum.others.contains(&of.name);
    (!is_above).then(|| format!("= {}", sum.others.join(" + ")))
}

fn arrow(svg: &mut String, from: &Label, to: &Label) {
    let (x1, y1, x2, y2) = (from.x + from.width, from.middle(), to.x, to.middle());
    let bend = (x1 + x2) / 2;
    let _ = write!(
        svg,
        "<path class=\"stroke-line\" fill=\"none\" d=\"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}\"/>"
    );
}

fn draw(svg: &mut String, label: &Label, is_subject: bool) {
    let Label { x, y, width, .. } = label;
    let (text, baseline) = (escaped(&label.text), label.y + BOX_HEIGHT - 8);
    if !label.is_name {
        let _ = write!(
            svg,
            "<text class=\"fill-quiet\" x=\"{x}\" y=\"{baseline}\" font-size=\"13\">{text}</text>"
        );
        return;
    }
    let fill = if is_subject { "fill-blue-tint" } else { "fill-panel" };
    let text_x = x + PADDING;
    let _ = write!(
        svg,
        "<rect class=\"{fill} stroke-line\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{BOX_HEIGHT}\" rx=\"4\"/><text class=\"fill-ink mono\" x=\"{text_x}\" \
         y=\"{baseline}\" font-size=\"13\">{text}</text>"
    );
}

fn description(of: &Explanation) -> String {
    let relation =
        |relation: &EventRelation| format!("{}: {}", label(relation), relation.others.join(", "));
    of.relations.iter().map(relation).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_labels_overlap() {
        for event in PmuEvent::ALL {
            let labels = layout(&super::super::event(event));
            for (i, a) in labels.iter().enumerate() {
                for b in &labels[i + 1..] {
                    let apart = a.x + a.width <= b.x
                        || b.x + b.width <= a.x
                        || a.y + BOX_HEIGHT <= b.y
                        || b.y + BOX_HEIGHT <= a.y;
                    assert!(apart, "{event:?}: {} and {}", a.text, b.text);
                }
            }
        }
    }

    #[test]
    fn every_relation_is_drawn() {
        let of = super::super::event(PmuEvent::L1D_CACHE_REFILL);
        let (dot, svg) = (dot(&of), svg(&of));
        for other in of.relations.iter().flat_map(|relation| &relation.others) {
            assert!(dot.contains(&format!("-> \"{other}\"")), "{dot}");
            assert!(svg.contains(&format!(">{other}</text>")), "{svg}");
        }
    }
}
