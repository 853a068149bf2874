//! The errors of metrics over workloads as a picture (SVG): one mark for each run, metrics in colors.

use kuva::backend::svg::SvgBackend;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;

use crate::validate::{Judged, error_of, run_name};

/// Metrics drawn; the others are nearer to their truths.
const SHOWN: usize = 8;
/// Colors that the color-blind can tell apart (Okabe and Ito), and gray.
const COLORS: [&str; SHOWN] =
    ["#D55E00", "#0072B2", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#222222", "#999999"];
/// Size of a picture; it is wider with many runs.
const WIDTH: f64 = 900.0;
const RUN_WIDTH: f64 = 60.0;
const HEIGHT: f64 = 560.0;
/// An error beyond this is drawn at the edge: one wild metric would hide all others.
const ERROR_MAX: f64 = 200.0;

/// The errors of the metrics that are farthest off, over all runs.
pub fn errors(judged: &[Judged]) -> String {
    let mut worst: Vec<&Judged> = judged.iter().filter(|one| size(one) > 0.0).collect();
    worst.sort_by(|a, b| size(b).total_cmp(&size(a)));
    worst.truncate(SHOWN);
    let mut plots = Vec::new();
    for (one, color) in worst.iter().zip(COLORS) {
        let points: Vec<(f64, f64)> = points(one);
        let line = LinePlot::new()
            .with_data(points.clone())
            .with_color(color)
            .with_stroke_width(1.2)
            .with_line_style(LineStyle::Dashed);
        let marks = ScatterPlot::new()
            .with_data(points)
            .with_color(color)
            .with_marker(MarkerShape::Circle)
            .with_size(5.0)
            .with_legend(one.metric.clone());
        plots.extend([Plot::Line(line), Plot::Scatter(marks)]);
    }
    if plots.is_empty() {
        // Nothing is off: an empty picture still has its axes.
        plots.push(Plot::Scatter(ScatterPlot::new().with_data(vec![(0.0, 0.0)])));
    }
    let names: Vec<String> = judged.first().map_or_else(Vec::new, |one| {
        one.verdicts.iter().map(|verdict| run_name(&verdict.trace).to_owned()).collect()
    });
    let layout = layout(&plots, &names);
    let mut svg = SvgBackend.render_scene(&render_multiple(plots, layout));
    svg.push('\n');
    svg
}

/// The largest error of a metric, for the order.
fn size(one: &Judged) -> f64 {
    let errors = one.verdicts.iter().filter_map(error_of);
    errors.fold(0.0, |size, error| size.max(error.abs()))
}

fn points(one: &Judged) -> Vec<(f64, f64)> {
    let errors = one.verdicts.iter().map(error_of).enumerate();
    let point = |(run, error): (usize, Option<f64>)| {
        Some((run as f64, error?.clamp(-ERROR_MAX, ERROR_MAX)))
    };
    errors.filter_map(point).collect()
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
        .with_title("How far metrics are from what truly happened")
        .with_subtitle("the metrics that are farthest off; shares in percentage points, others in percent of the truth")
        .with_title_size(20)
        .with_label_size(15)
        .with_tick_size(12)
        .with_body_size(13)
        .with_x_label("run")
        .with_y_label("value less truth")
        .with_x_axis_min(-0.5)
        .with_x_axis_max(last + 0.5)
        .with_x_tick_step(1.0)
        .with_x_tick_rotate(-35.0)
        .with_x_tick_format(TickFormat::Custom(std::sync::Arc::new(label)))
        .with_legend_width(250.0)
        .with_reference_line(ReferenceLine::horizontal(0.0).with_color("#009E73"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_draw_is_a_picture_all_the_same() {
        assert!(errors(&[]).contains("<svg"));
    }
}
