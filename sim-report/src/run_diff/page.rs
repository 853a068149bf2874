//! Differences between two runs, as a page.

use maud::{Markup, html};
use sim_core::PmuEvent;

use super::text::{changed_by, has_shares, named, printed, signed, time};
use super::{Change, Number, RunDiff, SectionDiff};
use crate::page::{Cell, Chart, Page, Section, Table, event_link, glossary, palette};
use crate::perf_stat::grouped;

/// Returns the page as one file.
pub fn html(diff: &RunDiff) -> String {
    let mut sections = vec![summary(diff)];
    let changed = diff.sections.iter().filter(|section| !section.changes.is_empty());
    sections.extend(changed.map(|section| Section {
        id: section.id.clone(),
        heading: section.title.clone(),
        body: body(section),
    }));
    let events = events(diff);
    if !events.is_empty() {
        let (id, heading) = (String::from("glossary"), String::from("Event glossary"));
        sections.push(Section { id, heading, body: glossary(&events) });
    }
    let title = String::from("Differences between two runs");
    Page { title, lead: lead(diff), sections }.html()
}

fn lead(diff: &RunDiff) -> Markup {
    let unchanged: u64 = diff.sections.iter().map(|section| section.unchanged).sum();
    html! {
        p { "From " strong { (diff.from.name) } " to " strong { (diff.to.name) } "." }
        p.lead { (diff.verdict) }
        p { (grouped(diff.changed() as u64)) " numbers of the reports changed and are listed; "
            (grouped(unchanged)) " are equal." }
    }
}

fn summary(diff: &RunDiff) -> Section {
    let mut runs =
        Table::new("runs", "The two runs").text("Run").text("Trace").text("Configuration");
    runs = runs.number("Cycles").number("Instructions");
    for (word, side) in [("from", &diff.from), ("to", &diff.to)] {
        let texts = [word, &side.trace, &side.config].map(Cell::from);
        runs.push(texts.into_iter().chain([side.cycles.into(), side.instructions.into()]));
    }
    let doubts = [("first", &diff.from), ("second", &diff.to)];
    let mut settings =
        Table::new("settings", "Settings that differ").text("Setting").text("From").text("To");
    for setting in &diff.settings {
        settings.push(
            [&setting.name, &setting.from, &setting.to].map(|text| Cell::from(text.as_str())),
        );
    }
    let body = html! {
        (runs.html())
        @for (word, side) in doubts.iter().filter(|(_, side)| !side.doubts.is_empty()) {
            p { "Data is missing from the trace of the " (word) " run: " (side.doubts.join(", "))
                ". Counts that depend on it are marked; numbers computed from these are doubtful as well." }
        }
        @if settings.is_empty() { p { "Both have the same settings." } } @else { (settings.html()) }
    };
    Section { id: String::from("summary"), heading: String::from("The two runs"), body }
}

fn body(section: &SectionDiff) -> Markup {
    let table = table(section);
    html! {
        @if section.id == "slots" { (chart(section).html()) } @else { (table.html()) }
        p.quiet { (same(section.unchanged))
            @if section.small > 0 { ", " (grouped(section.small)) " changed by less than the minimum" }
            "." }
    }
}

fn same(numbers: u64) -> String {
    match numbers {
        1 => String::from("1 number of this part is equal"),
        n => format!("{} numbers of this part are equal", grouped(n)),
    }
}

fn table(section: &SectionDiff) -> Table {
    let has_rates = section.changes.iter().any(|change| change.rate_percent.is_some());
    let mut table =
        Table::new(format!("{}-changes", section.id), format!("{}: differences", section.title))
            .text("Name")
            .number("From")
            .number("To")
            .number("Change")
            .number("Change in %");
    if has_rates {
        table = table.number("Per instruction, %");
    }
    let has_shares = has_shares(section);
    if has_shares {
        table = table.number("Share of slots, from").number("To");
    }
    let has_doubts = section.changes.iter().any(|change| change.doubt.is_some());
    if has_doubts {
        table = table.text("Doubtful");
    }
    for change in &section.changes {
        let numbers = [cell(change, change.from), cell(change, change.to), difference(change)];
        let mut row: Vec<Cell> = [name(change)].into_iter().chain(numbers).collect();
        row.push(percent(change.percent));
        if has_rates {
            row.push(percent(change.rate_percent));
        }
        if has_shares {
            let share =
                |percent: Option<f64>| percent.map_or(Cell::None, |p| Cell::Share(p / 100.0));
            row.extend([share(change.from_share), share(change.to_share)]);
        }
        if has_doubts {
            row.push(change.doubt.as_deref().map_or(Cell::None, Cell::from));
        }
        table.push(row);
    }
    if section.changes.len() > 8 { table.filter() } else { table }
}

fn name(change: &Change) -> Cell {
    match change.event.as_deref().and_then(|name| PmuEvent::from_name(name).ok()) {
        Some(event) => Cell::Markup(event_link(event), change.name.clone()),
        None => Cell::Text(named(change)),
    }
}

fn cell(change: &Change, number: Option<Number>) -> Cell {
    match number {
        Some(Number::Count(count)) => Cell::Count(count),
        Some(number) => {
            let text = if change.unit == "seconds" { time(number) } else { printed(number) };
            Cell::Markup(html! { (text) }, number.as_f64().to_string())
        }
        None => Cell::None,
    }
}

/// Returns a difference as printed, with the exact value for sorting.
fn difference(change: &Change) -> Cell {
    let Some(number) = change.change else { return Cell::None };
    let exact = match number {
        Number::Difference(difference) => difference.to_string(),
        other => other.as_f64().to_string(),
    };
    Cell::Markup(html! { (changed_by(number, &change.unit)) }, exact)
}

fn percent(percent: Option<f64>) -> Cell {
    percent.map_or(Cell::None, |p| Cell::Markup(html! { (format!("{p:+.2}")) }, p.to_string()))
}

/// Returns the events that the page names.
fn events(diff: &RunDiff) -> Vec<PmuEvent> {
    let changes = diff.sections.iter().flat_map(|section| &section.changes);
    changes.filter_map(|change| PmuEvent::from_name(change.event.as_deref()?).ok()).collect()
}

/// Measures of the picture of slots, in pixels.
#[derive(Clone, Copy)]
struct Measures {
    /// Width of the names before the bars; 0 if each name is above its bar.
    names: u64,
    /// Width for bars on each side.
    side: u64,
    /// Width of the numbers after the bars on each side.
    numbers: u64,
    /// Height of a row.
    row: u64,
}

/// Names before the bars.
const WIDE: Measures = Measures { names: 250, side: 120, numbers: 150, row: 22 };
/// Names above the bars, for narrow screens.
const NARROW: Measures = Measures { names: 0, side: 74, numbers: 88, row: 42 };
/// Height of a bar, in pixels.
const BAR: u64 = 14;

impl Measures {
    fn width(self) -> u64 {
        self.names + 2 * (self.side + self.numbers)
    }

    /// Returns the place of the line that bars start from.
    fn zero(self) -> u64 {
        self.names + self.numbers + self.side
    }
}

/// Shows the narrow picture on narrow screens, and the wide one on all others.
const FOR_SCREENS: &str = "svg.narrow{display:none!important}@media(max-width:46rem){\
    svg.narrow{display:block!important}svg.wide-only{display:none!important}}";

/// Draws more or fewer slots as bars to the right or to the left of a line.
fn chart(section: &SectionDiff) -> Chart {
    let changes: Vec<&Change> =
        section.changes.iter().filter(|change| change.change.is_some()).collect();
    let drawing = html! {
        (drawing(&changes, WIDE, "wide-only")) (drawing(&changes, NARROW, "narrow"))
    };
    Chart {
        id: String::from("slots-chart"),
        title: String::from("Slots by cause: more to the right, fewer to the left."),
        text: String::from(
            "Each line is a part of the line above it with less indentation. Percent: change of its share \
             of all slots, in percentage points.",
        ),
        svg: drawing.into_string(),
        table: table(section),
    }
}

fn drawing(changes: &[&Change], measures: Measures, class: &str) -> Markup {
    let size = |change: &Change| change.change.map_or(0.0, |number| number.as_f64());
    let largest = changes.iter().map(|change| size(change).abs()).fold(1.0, f64::max);
    let (width, zero) = (measures.width(), measures.zero());
    let height = changes.len() as u64 * measures.row + 40;
    html! {
        svg class=(class) width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } role="img" aria-label="Change of slots by cause" {
            title { "Change of slots by cause" }
            (maud::PreEscaped(palette::svg_style())) style { (maud::PreEscaped(FOR_SCREENS)) }
            text.fill-quiet x=(zero - 10) y="16" font-size="12" text-anchor="end" { "fewer slots" }
            text.fill-quiet x=(zero + 10) y="16" font-size="12" { "more slots" }
            line.stroke-line x1=(zero) y1="22" x2=(zero) y2=(height - 8) {}
            @for (row, change) in changes.iter().enumerate() {
                (bar(change, 26 + row as u64 * measures.row, measures, size(change) / largest))
            }
        }
    }
}

/// Returns the change of the share of all slots, in percentage points.
fn points(change: &Change) -> String {
    match (change.from_share, change.to_share) {
        (Some(from), Some(to)) => format!(" ({:+.2} %)", to - from),
        _ => String::new(),
    }
}

fn bar(change: &Change, top: u64, measures: Measures, part: f64) -> Markup {
    let zero = measures.zero();
    let length = (part.abs() * measures.side as f64).round() as u64;
    let (x, anchor, at, fill) = match part < 0.0 {
        true => (zero - length, "end", zero - length - 6, "fill-blue"),
        false => (zero, "start", zero + length + 6, "fill-orange"),
    };
    let is_above = measures.names == 0;
    let y = if is_above { top + 19 } else { top + 2 };
    let name = change.name.trim_start();
    let indent = (change.name.len() - name.len()) as u64 * 3;
    html! {
        @if is_above {
            rect.fill-paper x="0" y=(top) width=(measures.width()) height="18" {}
            text.fill-ink x=(4 + indent) y=(top + 13) font-size="12" { (name) (points(change)) }
        } @else {
            text.fill-ink x=(8 + indent) y=(y + 11) font-size="12" { (name) }
        }
        rect class=(fill) x=(x) y=(y) width=(length.max(1)) height=(BAR) {}
        text.fill-ink x=(at) y=(y + 11) font-size="12" text-anchor=(anchor) {
            (change.change.map_or_else(String::new, signed)) @if !is_above { (points(change)) }
        }
    }
}
