//! Error of windows against the whole run as a figure (SVG): one mark for each event and trace,
//! with the interval of its estimate.

use kuva::plot::ScatterPlot;
use kuva::plot::scatter::MarkerShape;
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::{GREEN, MARKS, base_layout, custom, draw};

/// Width of a figure, in pixels.
const WIDTH: f64 = 1200.0;
/// Height of a figure, in pixels.
const HEIGHT: f64 = 640.0;
/// Margins above and below the axes, in pixels: the names of events are printed aslant below.
const MARGINS: (f64, f64) = (66.0, 106.0);
/// Share of the distance between two events that the marks of one event take.
const SPREAD: f64 = 0.7;
/// Largest error within the axes; a larger one is drawn at the edge.
const ERROR_MAX: f64 = 20.0;
/// Target for the error, in percent.
const AIM: f64 = 3.0;

/// Estimates of one trace.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// Name of the trace.
    pub trace: String,
    /// Error of the estimate and half of its interval for each event, in percent of the run.
    pub events: Vec<(f64, f64)>,
}

/// Draws the errors of these traces, event by event.
pub fn errors(events: &[&str], traces: &[Estimated]) -> String {
    let step = SPREAD / traces.len().max(1) as f64;
    let plot = |(n, one): (usize, &Estimated)| {
        let place = |event: usize| event as f64 + step * (n as f64 + 0.5) - SPREAD / 2.0;
        let limit = |value: f64| value.clamp(-ERROR_MAX, ERROR_MAX);
        let points: Vec<(f64, f64)> = one
            .events
            .iter()
            .enumerate()
            .map(|(at, (error, _))| (place(at), limit(*error)))
            .collect();
        let below = one.events.iter().map(|(error, half)| limit(*error) - limit(error - half));
        let above = one.events.iter().map(|(error, half)| limit(error + half) - limit(*error));
        let bars: Vec<(f64, f64)> = below.zip(above).collect();
        let (color, shape) = MARKS[n % MARKS.len()];
        let shape = if n < MARKS.len() { shape } else { MarkerShape::Triangle };
        let marks = ScatterPlot::new()
            .with_data(points)
            .with_y_err_asymmetric(bars)
            .with_color(color.light)
            .with_marker(shape)
            .with_size(3.5)
            .with_legend(one.trace.clone());
        Plot::Scatter(marks)
    };
    let mut plots: Vec<Plot> = traces.iter().enumerate().map(plot).collect();
    if plots.is_empty() {
        // Without runs, the figure still has its axes.
        plots.push(Plot::Scatter(ScatterPlot::new().with_data(vec![(0.0, 0.0)])));
    }
    let layout = layout(&plots, events);
    draw(plots, layout, "Percent of error of windows against the whole run, event by event")
}

fn layout(plots: &[Plot], events: &[&str]) -> Layout {
    let last = events.len().saturating_sub(1) as f64;
    let labels: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
    let label = move |x: f64| {
        let is_whole = (x - x.round()).abs() < 1e-6 && x >= 0.0;
        let named = is_whole.then(|| labels.get(x.round() as usize).cloned());
        named.flatten().unwrap_or_default()
    };
    // The names of the events label the axis.
    base_layout(plots, "Error of windows against the whole run")
        .with_width(WIDTH)
        .with_height(HEIGHT)
        .with_force_margins_y(MARGINS.0, MARGINS.1)
        .with_subtitle(
            "bars: interval of the estimate; green: 3 %; errors beyond 20 % drawn at the edge",
        )
        .with_title_size(20)
        .with_label_size(15)
        .with_tick_size(11)
        .with_body_size(13)
        .with_y_label("percent of the run")
        .with_x_axis_min(-0.5)
        .with_x_axis_max(last + 0.5)
        .with_y_axis_min(-ERROR_MAX)
        .with_y_axis_max(ERROR_MAX)
        .with_x_tick_step(1.0)
        .with_x_tick_rotate(-35.0)
        .with_x_tick_format(custom(label))
        .with_legend_width(120.0)
        .with_reference_line(ReferenceLine::horizontal(AIM).with_color(GREEN))
        .with_reference_line(ReferenceLine::horizontal(-AIM).with_color(GREEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_is_drawn_and_a_figure_without_traces_has_axes() {
        let events = vec![(1.0, 2.0), (-90.0, 300.0)];
        let one = |trace: &str| Estimated { trace: trace.to_owned(), events: events.clone() };
        let svg = errors(&["CPI", "DTLB_WALK"], &[one("perl"), one("xz")]);
        assert!(["perl", "xz", "CPI", "DTLB_WALK"].iter().all(|name| svg.contains(name)), "{svg}");
        assert!(errors(&[], &[]).contains("<svg"));
    }
}
