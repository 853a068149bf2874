//! Picture of the slots: a pipe that splits from all slots into categories, parts and causes. The
//! width of each branch is its number of slots.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::page::palette::Color;
use crate::perf_stat::grouped;
use crate::run_report::{RunReport, SlotNode};

use super::slots::color;

/// Height of all slots, in pixels.
const HEIGHT: f64 = 300.0;
/// Distance between two branches, in pixels.
const GAP: f64 = 6.0;
/// Width of the bar at a branch, in pixels.
const BAR: f64 = 16.0;
/// Least distance between two labels, in pixels.
const LINE: f64 = 17.0;
/// Distance of the first branch from the top, in pixels.
const TOP: f64 = 12.0;
/// Least share of all slots of a branch with its own label, in percent.
const LEAST_PERCENT: f64 = 1.0;

/// One of the two forms: for wide and for narrow screens.
struct Form {
    class: &'static str,
    width: f64,
    /// Left ends of the bars: all slots, categories, parts, causes.
    columns: [f64; 4],
    /// Columns whose branches have labels.
    labels: [bool; 4],
}

const WIDE: Form = Form {
    class: "pipe pipe-wide",
    width: 1000.0,
    columns: [0.0, 130.0, 360.0, 640.0],
    labels: [false, true, true, true],
};
const NARROW: Form = Form {
    class: "pipe pipe-narrow",
    width: 350.0,
    columns: [0.0, 24.0, 48.0, 68.0],
    labels: [false, false, false, true],
};

/// Branch of the pipe.
struct Branch {
    name: String,
    color: Color,
    column: usize,
    /// Index of the branch that it leaves; its own for all slots.
    from: usize,
    /// Places in the slot tree of the causes whose sum it is.
    causes: Vec<String>,
    slots: u64,
    percent: f64,
}

/// Returns the figure.
pub(super) fn figure(report: &RunReport) -> Markup {
    let top = &report.top_down;
    let branches = branches(top);
    let title = format!("Where the {} went", report.slots());
    html! {
        figure #pipe data-live="slots" {
            figcaption {
                strong #pipe-title { (title) }
                ": " span.pipe-total { (grouped(top.slots)) } ", from left to right by category, part and cause. The height of "
                "a branch is its number of slots."
            }
            (patterns())
            ul.legend { @for child in &top.children {
                li { (swatch(color(child))) " " (child.name) " "
                    span.pipe-share data-node=(child.id) { (format!("{:.1}%", child.percent)) } }
            } }
            @for form in [&WIDE, &NARROW] { (PreEscaped(svg(&branches, form, &title))) }
        }
    }
}

/// Returns a sample of the color and pattern of a category.
pub(super) fn swatch(color: Color) -> Markup {
    let fill = pattern(color);
    html! { svg aria-hidden="true" width="16" height="14" { rect width="16" height="14" fill=(fill) {} } }
}

/// Returns the fill of a category, which differs from others by its pattern too. The figure of the
/// page has the patterns.
pub(super) fn pattern(color: Color) -> String {
    format!("url(#pattern-{})", color.name)
}

/// Returns the patterns of all categories.
fn patterns() -> Markup {
    let marks = [
        ("green", ""),
        ("yellow", "M-2 6 6 -2M-2 14 14 -2M2 14 14 2"),
        ("blue", "M3 2v4M9 8v4"),
        ("orange", "M0 3H12M0 9H12"),
        ("gray", "M0 0 12 12M12 0 0 12"),
    ];
    html! {
        svg.patterns aria-hidden="true" width="0" height="0" { defs { @for (name, mark) in marks {
            pattern id={ "pattern-" (name) } width="12" height="12" patternUnits="userSpaceOnUse" {
                rect width="12" height="12" class={ "fill-" (name) } {}
                path d=(mark) class="stroke-paper" stroke-width="2" fill="none" {}
            }
        } } }
    }
}

/// Returns the branches in the order in which they are drawn: each before those that leave it.
fn branches(top: &SlotNode) -> Vec<Branch> {
    let mut all = vec![Branch::of(top, top.name.clone(), 0, 0, color(top))];
    for category in &top.children {
        let at = all.len();
        let own = color(category);
        all.push(Branch::of(category, category.name.clone(), 1, 0, own));
        let parts: Vec<&SlotNode> =
            if category.is_cause() { vec![category] } else { category.children.iter().collect() };
        for part in parts {
            let part_at = all.len();
            let causes = part.causes();
            // A cause without a part passes the column of the parts.
            let name = if part.is_cause() { String::new() } else { part.name.clone() };
            all.push(Branch::of(part, name, 2, at, own));
            add_causes(&mut all, part_at, &causes, own);
        }
    }
    all
}

/// Adds the large causes of a part, and the sum of the others.
fn add_causes(all: &mut Vec<Branch>, part: usize, causes: &[&SlotNode], color: Color) {
    let is_large = |cause: &&&SlotNode| cause.percent >= LEAST_PERCENT;
    let (mut large, small): (Vec<&SlotNode>, Vec<&SlotNode>) =
        causes.iter().partition(|cause| is_large(cause));
    large.sort_by_key(|cause| std::cmp::Reverse(cause.slots));
    all.extend(large.iter().map(|cause| Branch::of(cause, cause.name.clone(), 3, part, color)));
    if small.iter().any(|cause| cause.slots > 0) {
        let name = match small.as_slice() {
            [one] => one.name.clone(),
            several => format!("{} small causes", several.len()),
        };
        all.push(Branch {
            name,
            color,
            column: 3,
            from: part,
            causes: small.iter().map(|cause| cause.id.clone()).collect(),
            slots: small.iter().map(|cause| cause.slots).sum(),
            percent: small.iter().map(|cause| cause.percent).sum(),
        });
    }
}

impl Branch {
    fn of(node: &SlotNode, name: String, column: usize, from: usize, color: Color) -> Branch {
        Branch {
            name,
            color,
            column,
            from,
            causes: node.causes().iter().map(|cause| cause.id.clone()).collect(),
            slots: node.slots,
            percent: node.percent,
        }
    }
}

/// Position of a branch: top and height of its bar, top of its end at the branch that it leaves,
/// and the line of its label.
#[derive(Clone, Copy, Default)]
struct Place {
    top: f64,
    height: f64,
    start: f64,
    label: Option<f64>,
}

/// Returns the positions of all branches. The script of the page does the same for an interval.
fn places(branches: &[Branch], form: &Form) -> Vec<Place> {
    let all = branches.first().map_or(0, |branch| branch.slots).max(1) as f64;
    let mut next = [TOP; 4];
    let mut last_label = [f64::NEG_INFINITY; 4];
    let mut places: Vec<Place> = Vec::new();
    let mut used: Vec<f64> = Vec::new();
    for (at, branch) in branches.iter().enumerate() {
        let column = branch.column;
        let height = branch.slots as f64 / all * HEIGHT;
        let top = next[column];
        let mut place = Place { top, height, start: top, label: None };
        used.push(top);
        if height > 0.0 {
            next[column] += height + GAP;
            if at > 0 {
                place.start = used[branch.from];
                used[branch.from] += height;
            }
            let has_label = form.labels[column] && !branch.name.is_empty();
            if has_label && branch.percent >= LEAST_PERCENT {
                let line = (top + height / 2.0).max(last_label[column] + LINE);
                last_label[column] = line;
                place.label = Some(line);
            }
        }
        places.push(place);
    }
    places
}

fn svg(branches: &[Branch], form: &Form, title: &str) -> String {
    let places = places(branches, form);
    let lowest = |place: &Place| (place.top + place.height).max(place.label.unwrap_or(0.0) + 4.0);
    let height = places.iter().map(lowest).fold(0.0, f64::max).ceil() + 6.0;
    let columns = form.columns.map(|x| x.to_string()).join(" ");
    let labels = form.labels.map(|has| u8::from(has).to_string()).join(" ");
    let head = html! { (title) }.into_string();
    let mut out = format!(
        "<svg class=\"{}\" role=\"img\" aria-label=\"{head}\" viewBox=\"0 0 {} {height}\" data-columns=\"{columns}\" \
         data-labels=\"{labels}\">",
        form.class, form.width
    );
    for (branch, place) in branches.iter().zip(&places) {
        branch_svg(&mut out, branch, *place, form);
    }
    // Labels are above all branches.
    for (branch, place) in branches.iter().zip(&places) {
        label_svg(&mut out, branch, *place, form);
    }
    out + "</svg>"
}

fn branch_svg(out: &mut String, branch: &Branch, place: Place, form: &Form) {
    let (x, column) = (form.columns[branch.column], branch.column);
    let from_x = form.columns[column.saturating_sub(1)] + BAR;
    let Place { top, height, start, .. } = place;
    let name = html! { (branch.name) }.into_string();
    let _ = write!(
        out,
        "<g class=\"branch\" data-from=\"{}\" data-column=\"{column}\" data-causes=\"{}\" data-name=\"{name}\">",
        branch.from,
        branch.causes.join(" "),
    );
    let _ = write!(
        out,
        "<title>{name}: {} slots, {:.2}%</title>",
        grouped(branch.slots),
        branch.percent
    );
    let band = match column {
        0 => String::new(),
        _ => {
            let middle = f64::midpoint(from_x, x);
            let (a, b) = (start + height, top + height);
            format!(
                "M{from_x} {start:.1}C{middle} {start:.1} {middle} {top:.1} {x} {top:.1}V{b:.1}C{middle} {b:.1} \
                 {middle} {a:.1} {from_x} {a:.1}Z"
            )
        }
    };
    let hidden = if height > 0.0 { "" } else { " display=\"none\"" };
    let _ = write!(
        out,
        "<path d=\"{band}\" class=\"fill-{}-tint\"{hidden}/><rect x=\"{x}\" y=\"{top:.1}\" width=\"{BAR}\" \
         height=\"{:.1}\" fill=\"{}\"{hidden}/></g>",
        branch.color.name,
        height.max(0.5),
        pattern(branch.color),
    );
}

/// Draws the label of a branch, and the line that leads to it.
fn label_svg(out: &mut String, branch: &Branch, place: Place, form: &Form) {
    let name = html! { (branch.name) }.into_string();
    let (left, middle) = (form.columns[branch.column] + BAR, place.top + place.height / 2.0);
    let (line, shown) = (place.label.unwrap_or(middle), place.label.is_some());
    let hidden = if shown { "" } else { " display=\"none\"" };
    let text = if shown { format!("{name} {:.1}%", branch.percent) } else { String::new() };
    let _ = write!(
        out,
        "<g class=\"label\"{hidden}><path d=\"M{left} {middle:.1}L{} {line:.1}\" class=\"stroke-line\"/>\
         <text x=\"{}\" y=\"{:.1}\" class=\"fill-ink\">{text}</text></g>",
        left + 7.0,
        left + 10.0,
        line + 4.0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::palette::GREEN;

    fn branch(column: usize, from: usize, slots: u64) -> Branch {
        let causes = vec![format!("cause-{slots}")];
        let (name, percent) = (format!("branch of {slots}"), slots as f64 / 10.0);
        Branch { name, color: GREEN, column, from, causes, slots, percent }
    }

    #[test]
    fn heights_are_slots_and_labels_do_not_overlap() {
        let all = [
            branch(0, 0, 1000),
            branch(1, 0, 600),
            branch(1, 0, 400),
            branch(3, 1, 580),
            branch(3, 1, 10),
            branch(3, 1, 10),
            branch(3, 2, 400),
        ];
        let places = places(&all, &WIDE);
        let heights: Vec<f64> = places.iter().map(|place| place.height.round()).collect();
        assert_eq!(heights, [300.0, 180.0, 120.0, 174.0, 3.0, 3.0, 120.0]);
        assert!((places[2].start - (TOP + 180.0)).abs() < 1e-9, "it leaves after the first one");
        let labels: Vec<f64> = places[3..].iter().filter_map(|place| place.label).collect();
        assert_eq!(labels.len(), 4);
        assert!(labels.windows(2).all(|pair| pair[1] - pair[0] >= LINE), "{labels:?}");
        let svg = svg(&all, &NARROW, "a & b");
        assert!(svg.contains("a &amp; b") && svg.contains("branch of 580 58.0%"), "{svg}");
        assert!(!svg.contains("branch of 600 60.0%"), "only causes have labels there: {svg}");
    }
}
