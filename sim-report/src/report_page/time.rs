//! The run over time: for each thread one figure of panels over a common axis of cycles, and the
//! numbers from which the script of the page makes those of an interval.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::page::palette::{BLUE, Color, GRAY, GREEN, ORANGE, YELLOW};
use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{NamedTotals, RunReport, Series, ThreadTimeline};

use super::parts::{events, folded};
use super::picture::{pattern, swatch};

/// Unit of values that add up to 100 percent.
const PARTS_OF_A_WHOLE: &str = "percent of slots";
/// Colors of the parts of the slots, by identifier.
const SLOT_COLORS: [(&str, Color); 5] = [
    ("retiring", GREEN),
    ("issued", GREEN),
    ("bad_speculation", YELLOW),
    ("frontend", BLUE),
    ("backend", ORANGE),
];
/// Height of the drawing of a panel in its own units; its width is [`WIDTH`] units.
const HEIGHT: f64 = 100.0;
const WIDTH: f64 = 1000.0;
/// Most ticks on the axis of cycles.
const MOST_TICKS: f64 = 6.0;
/// Part of the axis that has marks: later ones have no room for their numbers.
const LAST_MARK: f64 = 0.95;
/// A last interval shorter than this part of the others is not drawn.
const LEAST_PART: f64 = 0.5;

/// Returns the figures of all threads.
pub(super) fn body(report: &RunReport) -> Markup {
    let timeline = &report.timeline;
    html! {
        p { "Intervals of " (grouped(timeline.step_cycles)) " cycles of each core. Each panel has its own scale." }
        p.quiet #interval-help {
            "Drag over a panel, or set the two ends below, to see an interval alone: slots, events, caches and TLBs"
            @if !timeline.totals.code.is_empty() { ", hot functions and instructions" }
            " then show that part of the time, over all threads. Headings of the other parts say that they show the "
            "whole run."
        }
        div #interval-tools aria-describedby="interval-help" {}
        @for (number, thread) in timeline.threads.iter().enumerate() {
            @if number == 0 { (figure(thread, timeline.threads.len() > 1)) } @else {
                (folded(&format!("Thread {}", thread.thread), &figure(thread, true)))
            }
        }
        (data(report))
    }
}

/// Numbers for the script, as JSON.
#[derive(Serialize)]
struct Data<'a> {
    ends: &'a [u64],
    slots: Vec<Values<'a>>,
    events: Vec<Values<'a>>,
    code: Vec<Values<'a>>,
    functions: Vec<Values<'a>>,
    instructions: &'static str,
}

/// Name of a quantity and its values.
#[derive(Serialize)]
struct Values<'a>(&'a str, &'a [u64]);

/// Returns the numbers of each interval in an element that browsers do not show.
fn data(report: &RunReport) -> Markup {
    let totals = &report.timeline.totals;
    let longest =
        report.timeline.threads.iter().map(|thread| &thread.ends).max_by_key(|ends| ends.len());
    let data = Data {
        ends: longest.map_or(&[], Vec::as_slice),
        slots: named(&totals.slots),
        events: named(&totals.events),
        code: named(&totals.code),
        functions: named(&totals.functions),
        instructions: "INST_RETIYELLOW",
    };
    let text = serde_json::to_string(&data).unwrap_or_default();
    // Names of functions may contain the end of the element.
    let text = text.replace('<', "\\u003c");
    html! { script #interval-data type="application/json" { (PreEscaped(text)) } }
}

fn named(all: &[NamedTotals]) -> Vec<Values<'_>> {
    all.iter().map(|own| Values(&own.name, &own.values)).collect()
}

fn figure(thread: &ThreadTimeline, is_named: bool) -> Markup {
    let id = format!("time-{}", thread.thread);
    let title = match is_named {
        true => format!("Thread {} over time", thread.thread),
        false => String::from("The run over time"),
    };
    let all = || thread.series.iter().enumerate();
    let quiet = all().filter(|(_, series)| is_quiet(series));
    let is_part = |series: &Series| series.unit == PARTS_OF_A_WHOLE;
    let drawn = |wanted: bool| -> Vec<(usize, &Series)> {
        all().filter(|(_, own)| !is_quiet(own) && is_part(own) == wanted).collect()
    };
    let (parts, lines) = (drawn(true), drawn(false));
    let ends = drawn_ends(&thread.ends);
    let last = ends.last().copied().unwrap_or(0);
    let names: Vec<&str> = quiet.map(|(_, series)| series.name.as_str()).collect();
    html! {
        figure.time id=(id) data-end=(last) aria-labelledby={ (id) "-title" } {
            figcaption { strong id={ (id) "-title" } { (title) }
                @if ends.len() < thread.ends.len() { " The last interval is short and not drawn." }
                @if !names.is_empty() { " Not drawn, because all values are 0: " (names.join(", ")) "." }
            }
            div.panels {
                @if !parts.is_empty() { (areas(ends, &parts)) }
                @for (number, series) in &lines { (line(ends, *number, series)) }
                (axis(last))
            }
            details.aside { summary { "Numbers of: " (title) } (table(&id, thread, &title).html()) }
        }
    }
}

/// Returns the ends of the intervals without a short last one, whose rates would look like peaks.
fn drawn_ends(ends: &[u64]) -> &[u64] {
    let step = ends.first().copied().unwrap_or(0) as f64;
    match ends {
        [rest @ .., before, last] if ((last - before) as f64) < step * LEAST_PART => {
            &ends[..rest.len() + 1]
        }
        _ => ends,
    }
}

/// Returns whether every value is 0 or absent.
fn is_quiet(series: &Series) -> bool {
    series.values.iter().all(|value| value.is_none_or(|value| value == 0.0))
}

/// Returns a panel: its name, the drawing, and a place for the value under the pointer.
fn panel(name: &Markup, scale: &str, height: u32, drawing: &str) -> Markup {
    html! {
        div.panel {
            div.panel-name { (name) }
            div.panel-scale aria-hidden="true" { span { (scale) } span { "0" } }
            div.panel-plot style=(format!("height:{height}px")) {
                svg aria-hidden="true" viewBox="0 0 1000 100" preserveAspectRatio="none" { (PreEscaped(drawing)) }
            }
        }
    }
}

/// Returns the panel of values that add up to 100 percent, the first at the bottom. Each series
/// has its number; its column in the table of numbers follows that of the cycles.
fn areas(ends: &[u64], parts: &[(usize, &Series)]) -> Markup {
    let last = ends.last().copied().unwrap_or(1).max(1) as f64;
    let mut below = vec![0.0; ends.len()];
    let mut drawing = String::new();
    for (_, series) in parts {
        let lower = below.clone();
        for (sum, value) in below.iter_mut().zip(&series.values) {
            *sum += value.unwrap_or(0.0);
        }
        let mut path = String::from("M");
        for ((from, to), top) in spans(ends).zip(&below) {
            let y = HEIGHT - top.min(100.0);
            let _ = write!(path, "{:.1} {y:.1}H{:.1}L", from / last * WIDTH, to / last * WIDTH);
        }
        for ((from, to), bottom) in spans(ends).zip(&lower).collect::<Vec<_>>().into_iter().rev() {
            let y = HEIGHT - bottom.min(100.0);
            let _ = write!(path, "{:.1} {y:.1}H{:.1}L", to / last * WIDTH, from / last * WIDTH);
        }
        let path = path.trim_end_matches('L');
        let fill = pattern(color(series));
        let _ = write!(
            drawing,
            "<path fill=\"{fill}\" class=\"stroke-paper\" vector-effect=\"non-scaling-stroke\" d=\"{path}Z\"/>"
        );
    }
    let name = html! {
        "slots, from the bottom:"
        ul { @for (number, series) in parts {
            li data-series=(number + 1) {
                (swatch(color(series))) " " (series.name) " " output {} }
        } }
    };
    panel(&name, "100%", 120, &drawing)
}

/// Returns the panel of one series.
fn line(ends: &[u64], number_of: usize, series: &Series) -> Markup {
    let last = ends.last().copied().unwrap_or(1).max(1) as f64;
    let values = series.values.iter().take(ends.len()).filter_map(|value| *value);
    let most = values.fold(0.0, f64::max);
    let scale = scale_end(most);
    let mut path = String::new();
    let mut is_open = false;
    for ((from, to), value) in spans(ends).zip(&series.values) {
        let Some(value) = value else {
            is_open = false;
            continue;
        };
        let y = HEIGHT - value / scale * HEIGHT;
        let start = if is_open { 'L' } else { 'M' };
        let _ = write!(path, "{start}{:.1} {y:.1}H{:.1}", from / last * WIDTH, to / last * WIDTH);
        is_open = true;
    }
    let drawing =
        format!("<path class=\"panel-line\" vector-effect=\"non-scaling-stroke\" d=\"{path}\"/>");
    let name = html! {
        span data-series=(number_of + 1) { (series.name) " " span.quiet { (series.unit) } " " output {} }
        @if !series.events.is_empty() { details.aside { summary { "Events" } (events(&series.events)) } }
    };
    panel(&name, &number(scale), 56, &drawing)
}

/// Returns the axis of cycles.
fn axis(last: u64) -> Markup {
    let step = nice(last as f64 / MOST_TICKS).max(1.0);
    let end = last as f64 * LAST_MARK;
    let ticks = (0..).map(|n| f64::from(n) * step).take_while(|at| *at <= end);
    html! { div.panel.axis aria-hidden="true" {
        div.panel-name { "cycles" } div.panel-scale {}
        div.panel-plot { @for at in ticks {
            span style=(format!("left:{:.2}%", at / last.max(1) as f64 * 100.0)) { (short(at)) }
        } }
    } }
}

/// Returns the next number of the form 1, 2 or 5 times a power of ten.
fn nice(number: f64) -> f64 {
    if number <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(number.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= number * 0.999);
    step.unwrap_or(10.0) * power
}

/// Returns the end of a scale: the largest value or little more, with two digits.
fn scale_end(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let unit = 10f64.powf(most.log10().floor() - 1.0);
    (most / unit).ceil() * unit
}

/// Formats the end of a scale.
fn number(value: f64) -> String {
    match value {
        v if v >= 1000.0 => grouped(v.round() as u64),
        v if v >= 10.0 => format!("{v:.0}"),
        v => format!("{}", (v * 1000.0).round() / 1000.0),
    }
}

/// Returns both ends of each interval, between which a value holds.
fn spans(ends: &[u64]) -> impl Iterator<Item = (f64, f64)> + '_ {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| (start as f64, *end as f64))
}

fn color(series: &Series) -> Color {
    let known = SLOT_COLORS.iter().find(|(id, _)| *id == series.id);
    known.map_or(GRAY, |(_, color)| *color)
}

/// Returns the numbers of all panels; the script reads the value under the pointer from it.
fn table(id: &str, thread: &ThreadTimeline, title: &str) -> Table {
    let mut table = Table::new(format!("{id}-table"), title).tall().number("Up to cycle");
    for series in &thread.series {
        table = table.number(format!("{}, {}", series.name, series.unit));
    }
    for (i, end) in thread.ends.iter().enumerate() {
        let values = thread.series.iter();
        let values = values.map(|s| Cell::number(s.values.get(i).copied().flatten(), 3));
        table.push([Cell::Count(*end)].into_iter().chain(values));
    }
    table
}

/// Formats a number of cycles on an axis, such as `1.5M`.
fn short(number: f64) -> String {
    let (scaled, unit) = match number.abs() {
        n if n >= 1e9 => (number / 1e9, "G"),
        n if n >= 1e6 => (number / 1e6, "M"),
        n if n >= 1e3 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    format!("{}{unit}", (scaled * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_an_axis_are_short() {
        let names = [0.0, 950.0, 1500.0, 2e6, 1.25e9].map(short);
        assert_eq!(names, ["0", "950", "1.5k", "2M", "1.25G"]);
        assert_eq!([0.7, 13.0, 400_001.0].map(nice), [1.0, 20.0, 500_000.0]);
        assert_eq!(
            [0.0, 3.21, 26.5, 1234.0].map(|n| number(scale_end(n))),
            ["1", "3.3", "27", "1,300"]
        );
    }

    #[test]
    fn a_value_holds_for_its_interval() {
        let spans: Vec<(f64, f64)> = spans(&[10, 15]).collect();
        assert_eq!(spans, [(0.0, 10.0), (10.0, 15.0)]);
    }

    #[test]
    fn a_short_last_interval_is_not_drawn() {
        assert_eq!(drawn_ends(&[10, 20, 24]), [10, 20]);
        assert_eq!(drawn_ends(&[10, 20, 26]), [10, 20, 26]);
        assert_eq!(drawn_ends(&[4]), [4]);
        assert!(drawn_ends(&[]).is_empty());
    }

    fn series(id: &str, values: Vec<Option<f64>>) -> Series {
        Series {
            id: id.into(),
            name: format!("name of {id}"),
            unit: "per thousand instructions".into(),
            events: vec!["CPU_CYCLES".into()],
            values,
        }
    }

    #[test]
    fn a_series_of_zeros_is_named_and_not_drawn_and_a_gap_is_a_gap() {
        let gap = vec![Some(1.0), None, Some(2.0)];
        let series = vec![series("a", gap), series("b", vec![Some(0.0), None, None])];
        let thread = ThreadTimeline { thread: 0, ends: vec![10, 20, 30], series };
        let html = figure(&thread, false).into_string();
        assert!(html.contains("all values are 0: name of b."), "{html}");
        assert!(html.contains("M0.0 50.0H333.3M666.7 0.0H1000.0"), "{html}");
        assert!(!html.contains("NaN"), "{html}");
    }
}
