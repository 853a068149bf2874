//! Errors of metrics over workloads as a figure (SVG): one mark for each run, one color for each
//! metric.
//!
//! Runs have no order, so no line joins their marks. A triangle at the edge is an error beyond it.

use kuva::plot::ScatterPlot;
use kuva::plot::scatter::MarkerShape;
use kuva::render::annotations::{ReferenceLine, TextAnnotation};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use crate::drawing_file;
use crate::figure::MARKS;
use crate::page::palette::GREEN;
use crate::validate::{Judged, error_of, run_name};

/// Most metrics drawn; the rest have smaller errors.
const SHOWN: usize = MARKS.len();
/// Smallest width of a figure, in pixels.
const WIDTH: f64 = 900.0;
/// Width of each run, in pixels.
const RUN_WIDTH: f64 = 60.0;
/// Height of a figure, in pixels.
const HEIGHT: f64 = 560.0;
/// Largest error within the axes. A larger one is marked at the edge with its size, so that one
/// metric does not hide all others.
const ERROR_MAX: f64 = 200.0;

/// Draws the errors of the metrics with the largest errors, over all runs.
pub fn errors(judged: &[Judged]) -> String {
    let mut worst: Vec<&Judged> = judged.iter().filter(|one| size(one) > 0.0).collect();
    worst.sort_by(|a, b| size(b).total_cmp(&size(a)));
    worst.truncate(SHOWN);
    let mut plots = Vec::new();
    let mut beyond = Vec::new();
    for (place, (one, (color, shape))) in worst.iter().zip(MARKS).enumerate() {
        let points = points(one, offset(place, worst.len()));
        let (inside, outside): (Vec<Point>, Vec<Point>) =
            points.into_iter().partition(|(_, error)| error.abs() <= ERROR_MAX);
        let marks = ScatterPlot::new()
            .with_data(inside)
            .with_color(color.light)
            .with_marker(shape)
            .with_size(5.0)
            .with_legend(one.metric.clone());
        plots.push(Plot::Scatter(marks));
        plots.extend(clipped(&outside, color.light).into_iter().map(Plot::Scatter));
        beyond.extend(outside);
    }
    if plots.is_empty() {
        // Without errors, the figure still has its axes.
        plots.push(Plot::Scatter(ScatterPlot::new().with_data(vec![(0.0, 0.0)])));
    }
    let names: Vec<String> = judged.first().map_or_else(Vec::new, |one| {
        one.verdicts.iter().map(|verdict| run_name(&verdict.trace).to_owned()).collect()
    });
    let layout = beyond
        .iter()
        .fold(layout(&plots, &names), |layout, point| layout.with_annotation(size_beyond(*point)));
    drawing_file::plots(plots, layout, "Errors of metrics in percent or percentage points, by run")
}

/// Returns the largest error of a metric, for sorting.
fn size(one: &Judged) -> f64 {
    let errors = one.verdicts.iter().filter_map(error_of);
    errors.fold(0.0, |size, error| size.max(error.abs()))
}

/// Position of a run and its error.
type Point = (f64, f64);

/// Returns the offset of the marks of a metric within the width of a run.
fn offset(place: usize, metrics: usize) -> f64 {
    const SPREAD: f64 = 0.5;
    SPREAD * ((place as f64 + 0.5) / metrics as f64 - 0.5)
}

fn points(one: &Judged, offset: f64) -> Vec<Point> {
    let errors = one.verdicts.iter().map(error_of).enumerate();
    errors.filter_map(|(run, error)| Some((run as f64 + offset, error?))).collect()
}

/// Draws triangles at the edge for errors beyond it.
fn clipped(points: &[Point], color: &str) -> Vec<ScatterPlot> {
    let sides = [(MarkerShape::Triangle, 1.0), (MarkerShape::TriangleDown, -1.0)];
    let marks = |(marker, sign): (MarkerShape, f64)| {
        let own = points.iter().filter(|(_, error)| error.signum() == sign);
        let own: Vec<Point> = own.map(|(run, _)| (*run, sign * ERROR_MAX)).collect();
        let plot = ScatterPlot::new().with_color(color).with_marker(marker).with_size(8.0);
        (!own.is_empty()).then(|| plot.with_data(own))
    };
    sides.into_iter().filter_map(marks).collect()
}

/// Returns the size of an error as a label at its triangle.
fn size_beyond((run, error): Point) -> TextAnnotation {
    let inside = 0.94 * ERROR_MAX * error.signum();
    TextAnnotation::new(format!("{error:+.0}"), run, inside)
}

fn layout(plots: &[Plot], names: &[String]) -> Layout {
    let last = names.len().saturating_sub(1) as f64;
    let labels = names.to_vec();
    let label = move |x: f64| {
        let is_whole = (x - x.round()).abs() < 1e-6 && x >= 0.0;
        if is_whole {
            labels.get(x.round() as usize).cloned().unwrap_or_default()
        } else {
            String::new()
        }
    };
    Layout::auto_from_plots(plots)
        .with_width(WIDTH.max(RUN_WIDTH * (names.len() as f64 + 5.0)))
        .with_height(HEIGHT)
        .with_title("Errors of metrics against ground-truth values")
        .with_subtitle(
            "largest errors; shares in percentage points, others in percent; \
             triangles: beyond the edge",
        )
        .with_title_size(20)
        .with_label_size(15)
        .with_tick_size(12)
        .with_body_size(13)
        .with_x_label("run")
        .with_y_label("value minus true value (%, percentage points)")
        .with_x_axis_min(-0.5)
        .with_x_axis_max(last + 0.5)
        .with_x_tick_step(1.0)
        .with_x_tick_rotate(-35.0)
        .with_x_tick_format(TickFormat::Custom(std::sync::Arc::new(label)))
        .with_legend_width(250.0)
        .with_reference_line(ReferenceLine::horizontal(0.0).with_color(GREEN.light))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_without_errors_is_still_a_figure() {
        assert!(errors(&[]).contains("<svg"));
    }

    #[test]
    fn an_error_beyond_the_edge_is_marked_with_its_size_and_nothing_is_joined() {
        let verdict = |value| sim_metrics::validator::Verdict {
            trace: "a.n2t".to_owned(),
            status: sim_metrics::validator::ValidationStatus::Off,
            truth: Some(sim_metrics::Truth::L2Mpki),
            real: Some(1.0),
            value: Some(value),
            on_erratum: None,
            on_sound: None,
            on_six: None,
            missing: None,
            doubt: None,
            counts: Vec::new(),
            corrected: None,
            corrected_value: None,
            findings: Vec::new(),
            rest: None,
        };
        let one = Judged {
            metric: "l2".to_owned(),
            verdicts: vec![verdict(7.139), verdict(1.5), verdict(1.25)],
            ..Judged::default()
        };
        let svg = errors(&[one]);
        assert!(svg.contains("+614"), "the size of what is beyond the edge");
        assert!(!svg.contains("stroke-dasharray=\"8"), "no dashes between runs");
        assert_eq!(points(&Judged::default(), 0.0), []);
        assert_eq!(clipped(&[(0.0, 613.9), (1.0, -300.0)], "#000000").len(), 2);
    }
}
