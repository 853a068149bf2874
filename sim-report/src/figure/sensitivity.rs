//! Sensitivity of a metric to one key of the configuration: a line for each trace, and their mean.

use kuva::plot::legend::LegendPosition;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::plots::Plot;

use crate::ladder::size_name;

use super::{BLUE, GREEN, ORANGE, PUBLISHED, PURPLE, RED, YELLOW, base_layout, custom, draw};

/// Most traces with a line; the rest count only in the mean.
const SHOWN: usize = 6;
/// Colors of the lines, largest change first.
const COLORS: [&str; SHOWN] = [ORANGE, BLUE, GREEN, PURPLE, YELLOW, RED];
/// Shapes and sizes of the marks, in pixels. Curves that coincide are drawn over one another: of
/// two marks at one place, the smaller one is above.
const MARKS: [(MarkerShape, f64); SHOWN] = [
    (MarkerShape::Square, 8.0),
    (MarkerShape::Circle, 7.0),
    (MarkerShape::Diamond, 6.0),
    (MarkerShape::Triangle, 5.0),
    (MarkerShape::TriangleDown, 4.0),
    (MarkerShape::Plus, 4.0),
];
/// Smallest distance from the value 1 that the vertical axis shows.
const LEAST_SPAN: f64 = 0.02;
/// Most characters of a value below the axis.
const LABEL_CHARS: usize = 14;

/// Metric of one trace over the values of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the trace.
    pub name: String,
    /// Metric at each value of the key, relative to the first value; absent where the metric has
    /// none.
    pub values: Vec<Option<f64>>,
}

/// Draws the metric over the values of the key, relative to its value at the first of them.
pub fn sensitivity(key: &str, values: &[String], metric: &str, curves: &[Curve]) -> String {
    let mut order: Vec<&Curve> = curves.iter().collect();
    order.sort_by(|a, b| span(b).total_cmp(&span(a)));
    let mut plots = Vec::new();
    for ((curve, color), mark) in order.iter().take(SHOWN).zip(COLORS).zip(MARKS) {
        plots.extend(line(curve, color, 1.4, mark));
    }
    let all = Curve { name: String::from("all traces"), values: mean(curves, values.len()) };
    plots.extend(line(&all, PUBLISHED, 2.8, (MarkerShape::Circle, 4.0)));
    let drawn = order.iter().take(SHOWN).copied().chain([&all]);
    let heights: Vec<f64> =
        drawn.flat_map(|curve| curve.values.iter().flatten().copied()).collect();
    let low = heights.iter().copied().fold(1.0 - LEAST_SPAN, f64::min);
    let high = heights.iter().copied().fold(1.0 + LEAST_SPAN, f64::max);
    let margin = (high - low) * 0.05;
    let key = Key::of(key);
    let labels: Vec<String> = values.iter().map(|value| key.value(value)).collect();
    let hidden = curves.len().saturating_sub(SHOWN);
    let first = labels.first().cloned().unwrap_or_default();
    let mut subtitle = format!("1 is its value at {first}");
    if hidden > 0 {
        subtitle += &format!("; {hidden} more traces in the mean");
    }
    let last = values.len().saturating_sub(1) as f64;
    let layout = base_layout(&plots, &format!("Sensitivity of {metric} to the {}", key.words))
        .with_subtitle(subtitle)
        .with_x_label(key.label())
        .with_y_label(format!("{metric}, relative to {first}"))
        .with_x_axis_min(-0.25)
        .with_x_axis_max(last + 0.25)
        .with_x_tick_step(1.0)
        .with_x_tick_format(custom(move |x| label(&labels, x)))
        .with_y_axis_min(low - margin)
        .with_y_axis_max(high + margin)
        .with_legend_width(200.0)
        .with_legend_position(LegendPosition::OutsideRightTop);
    draw(plots, layout, &format!("{metric} over {}, relative to {first}", key.key))
}

fn line(curve: &Curve, color: &str, width: f64, (shape, size): (MarkerShape, f64)) -> [Plot; 2] {
    let points = curve.values.iter().enumerate();
    let points: Vec<(f64, f64)> =
        points.filter_map(|(place, value)| Some((place as f64, (*value)?))).collect();
    let line = LinePlot::new().with_data(points.clone()).with_color(color).with_stroke_width(width);
    let marks = ScatterPlot::new()
        .with_data(points)
        .with_color(color)
        .with_marker(shape)
        .with_size(size)
        .with_legend(curve.name.clone());
    [Plot::Line(line), Plot::Scatter(marks)]
}

/// Returns the largest distance of the curve from 1.
fn span(curve: &Curve) -> f64 {
    curve.values.iter().flatten().fold(0.0, |span, value| f64::max(span, (value - 1.0).abs()))
}

/// Returns the geometric mean of the curves at each position, over the curves that have a value
/// there.
fn mean(curves: &[Curve], places: usize) -> Vec<Option<f64>> {
    let at = |place: usize| {
        let values = curves.iter().filter_map(|curve| curve.values.get(place).copied().flatten());
        let logs: Vec<f64> = values.filter(|value| *value > 0.0).map(f64::ln).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    (0..places).map(at).collect()
}

/// Returns the value at a position of the axis, or an empty label between two values.
fn label(labels: &[String], x: f64) -> String {
    let is_whole = (x - x.round()).abs() < 1e-6 && x >= 0.0;
    let label = labels.get(x.round() as usize).filter(|_| is_whole);
    label.cloned().unwrap_or_default()
}

/// Key of the configuration in readable form.
struct Key<'a> {
    key: &'a str,
    /// Words of the key: `l2 size` for `memory.l2.size-bytes`.
    words: String,
    /// Unit of the numbers, if the key contains it.
    unit: Option<&'static str>,
}

/// Units at the end of keys.
const UNITS: [&str; 5] = ["bytes", "cycles", "entries", "hz", "percent"];

impl Key<'_> {
    fn of(key: &str) -> Key<'_> {
        let parts: Vec<&str> = key.split(['.', '-']).collect();
        let unit = UNITS.into_iter().find(|unit| parts.len() > 2 && parts.last() == Some(unit));
        let end = parts.len() - usize::from(unit.is_some());
        // The first part only selects pipeline or memory.
        let begin = usize::from(end > 1);
        Key { key, words: parts[begin..end].join(" "), unit }
    }

    /// Returns the label of the axis.
    fn label(&self) -> String {
        match self.unit {
            // Sizes show their unit at each value.
            Some("bytes") | None => self.key.to_owned(),
            Some("hz") => format!("{}, Hz", self.key),
            Some(unit) => format!("{}, {unit}", self.key),
        }
    }

    /// Returns the label of a value on the axis.
    fn value(&self, value: &str) -> String {
        match (self.unit, value.parse::<u64>()) {
            (Some("bytes"), Ok(bytes)) => size_name(bytes),
            _ => short(value),
        }
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(LABEL_CHARS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_names_the_key_its_values_and_the_traces() {
        let curve = |name: &str, last: f64| Curve {
            name: name.to_owned(),
            values: vec![Some(1.0), None, Some(last)],
        };
        let values = ["524288", "1048576", "a value much longer than its place"].map(str::to_owned);
        let curves = [curve("hash", 1.2), curve("sort", 0.9)];
        let svg = sensitivity("memory.l2.size-bytes", &values, "ipc", &curves);
        for expected in [
            "Sensitivity of ipc to the l2 size",
            "ipc, relative to 512 KiB",
            "1 is its value at 512 KiB",
            "memory.l2.size-bytes",
            "512 KiB",
            "1 MiB",
            "a value much l…",
            "hash",
            "sort",
            "all traces",
        ] {
            assert!(svg.contains(expected), "{expected}");
        }
    }

    #[test]
    fn a_key_is_read_as_words_and_a_unit() {
        let text = |key: &str, value: &str| {
            let key = Key::of(key);
            (key.words.clone(), key.label(), key.value(value))
        };
        let expected = |all: [&str; 3]| (all[0].to_owned(), all[1].to_owned(), all[2].to_owned());
        assert_eq!(
            text("memory.l2.size-bytes", "262144"),
            expected(["l2 size", "memory.l2.size-bytes", "256 KiB"])
        );
        assert_eq!(
            text("memory.dram.access-cycles", "200"),
            expected(["dram access", "memory.dram.access-cycles, cycles", "200"])
        );
        assert_eq!(text("seed", "7"), expected(["seed", "seed", "7"]));
    }

    #[test]
    fn traces_without_values_leave_an_empty_figure() {
        let curve = Curve { name: "idle".to_owned(), values: vec![None, None] };
        let svg = sensitivity("k", &["1".to_owned(), "2".to_owned()], "ipc", &[curve]);
        assert!(svg.contains("idle"));
    }
}
