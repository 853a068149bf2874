//! The run over time: one chart for each unit, for each thread.

use kuva::plot::StackedAreaPlot;
use kuva::render::plots::Plot;
use maud::{Markup, html};

use crate::page::palette::{BLUE, Color, GRAY, GREEN, ORANGE, RED};
use crate::page::plot::{Line, Lines, areas_legend, draw, layout};
use crate::page::{Cell, Chart, Table};
use crate::perf_stat::grouped;
use crate::run_report::{Series, ThreadTimeline, Timeline};

use super::parts::events;

/// Unit of values that add up to 100 percent.
const PARTS_OF_A_WHOLE: &str = "percent of slots";
/// Colors of the parts of the slots, by identifier.
const SLOT_COLORS: [(&str, Color); 5] = [
    ("retiring", GREEN),
    ("issued", GREEN),
    ("bad_speculation", RED),
    ("frontend", BLUE),
    ("backend", ORANGE),
];

/// Returns the charts of all threads. `slots` is the heading of the use of slots.
pub(super) fn body(timeline: &Timeline, slots: &str) -> Markup {
    html! {
        p { "Intervals of " (grouped(timeline.step_cycles)) " cycles of each core." }
        @for thread in &timeline.threads {
            @if timeline.threads.len() > 1 { h3 { "Thread " (thread.thread) } }
            @for unit in units(thread) { (chart(thread, unit, slots)) (sources(thread, unit)) }
        }
    }
}

/// Returns the units in their order.
fn units(thread: &ThreadTimeline) -> Vec<&str> {
    let mut units: Vec<&str> = Vec::new();
    for series in &thread.series {
        if !units.contains(&series.unit.as_str()) {
            units.push(&series.unit);
        }
    }
    units
}

fn of_unit<'a>(thread: &'a ThreadTimeline, unit: &str) -> Vec<&'a Series> {
    thread.series.iter().filter(|series| series.unit == unit).collect()
}

/// Returns the events from which the values are computed.
fn sources(thread: &ThreadTimeline, unit: &str) -> Markup {
    let mut names: Vec<String> = Vec::new();
    for name in of_unit(thread, unit).iter().flat_map(|series| &series.events) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    html! { @if !names.is_empty() { p.quiet { "From " (events(&names)) "." } } }
}

fn chart(thread: &ThreadTimeline, unit: &str, slots: &str) -> Markup {
    let series = of_unit(thread, unit);
    let place = units(thread).iter().position(|own| *own == unit).unwrap_or_default();
    let id = format!("time-{}-{place}", thread.thread);
    let title = match series.as_slice() {
        [one] => format!("{} ({unit})", one.name),
        _ if unit == PARTS_OF_A_WHOLE => format!("{slots}, percent"),
        _ => format!("Events {unit}"),
    };
    let (svg, legend) = if unit == PARTS_OF_A_WHOLE {
        areas(&thread.ends, &series, &title)
    } else {
        lines(&thread.ends, &series, unit, &title)
    };
    let quiet: Vec<&str> = series.iter().filter(|s| is_quiet(s)).map(|s| s.name.as_str()).collect();
    let text = match quiet.as_slice() {
        _ if unit == PARTS_OF_A_WHOLE => String::new(),
        [] => String::new(),
        names => format!("Not drawn, because all values are 0: {}.", names.join(", ")),
    };
    let table = table(&id, &thread.ends, &series, &title);
    Chart { id, title, text, svg, table }.html_with(&legend)
}

/// Returns whether every value is 0 or absent.
fn is_quiet(series: &Series) -> bool {
    series.values.iter().all(|value| value.is_none_or(|value| value == 0.0))
}

fn lines(ends: &[u64], series: &[&Series], unit: &str, title: &str) -> (String, Markup) {
    let mut lines = Lines::new("cycles", unit);
    lines.x_names = Some(short);
    for series in series.iter().filter(|series| !is_quiet(series)) {
        let points = spans(ends).zip(&series.values).filter_map(|(span, value)| {
            let value = (*value)?;
            Some(span.map(|at| (at, value)))
        });
        let points = points.flatten();
        lines.lines.push(Line { name: series.name.clone(), points: points.collect() });
    }
    let values = lines.lines.iter().flat_map(|line| &line.points).map(|(_, y)| *y);
    let most = values.fold(0.0, f64::max);
    lines.y_range = (most > 0.0).then_some((0.0, most * 1.08));
    (lines.svg(title), lines.legend())
}

fn areas(ends: &[u64], series: &[&Series], title: &str) -> (String, Markup) {
    let mut areas = StackedAreaPlot::new()
        .with_strokes(false)
        .with_fill_opacity(0.9)
        .with_x(spans(ends).flatten());
    for series in series {
        areas = areas
            .with_series(series.values.iter().flat_map(|value| [value.unwrap_or(0.0); 2]))
            .with_color(color(series).var());
    }
    let plots = vec![Plot::StackedArea(areas)];
    let layout = layout(&plots)
        .with_x_label("cycles")
        .with_y_label(PARTS_OF_A_WHOLE)
        .with_y_axis_min(0.0)
        .with_y_axis_max(100.0)
        .with_x_tick_format(kuva::render::layout::TickFormat::Custom(std::sync::Arc::new(short)));
    let legend = areas_legend(series.iter().map(|own| (own.name.as_str(), color(own))));
    (draw(plots, layout, title), legend)
}

/// Returns both ends of each interval, between which a value holds.
fn spans(ends: &[u64]) -> impl Iterator<Item = [f64; 2]> + '_ {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| [start as f64, *end as f64])
}

fn color(series: &Series) -> Color {
    let known = SLOT_COLORS.iter().find(|(id, _)| *id == series.id);
    known.map_or(GRAY, |(_, color)| *color)
}

fn table(id: &str, ends: &[u64], series: &[&Series], title: &str) -> Table {
    let mut table = Table::new(format!("{id}-table"), title).number("Up to cycle");
    for series in series {
        table = table.number(series.name.clone());
    }
    for (i, end) in ends.iter().enumerate() {
        let values = series.iter().map(|s| Cell::number(s.values.get(i).copied().flatten(), 3));
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
    }

    #[test]
    fn a_value_holds_for_its_interval() {
        let spans: Vec<[f64; 2]> = spans(&[10, 15]).collect();
        assert_eq!(spans, [[0.0, 10.0], [10.0, 15.0]]);
    }

    #[test]
    fn a_series_of_zeros_is_named_and_not_drawn() {
        let series = |id: &str, values: Vec<Option<f64>>| Series {
            id: id.into(),
            name: format!("name of {id}"),
            unit: "per thousand instructions".into(),
            events: vec!["CPU_CYCLES".into()],
            values,
        };
        let series = vec![series("a", vec![Some(1.0), None]), series("b", vec![Some(0.0), None])];
        let timeline = Timeline {
            step_cycles: 10,
            step_ns: 5.0,
            threads: vec![ThreadTimeline { thread: 0, ends: vec![10, 20], series }],
        };
        let html = body(&timeline, "Slots").into_string();
        assert!(html.contains("all values are 0: name of b."), "{html}");
        assert!(!html.contains("NaN"), "{html}");
    }
}
