//! Error of multiplexed estimates over the time slice.

use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::annotations::ReferenceLine;
use kuva::render::plots::Plot;

use super::{BLUE, GRAY, GREEN, ORANGE, base_layout, custom, draw};

/// Smallest percentage drawn: the axis is logarithmic, and smaller values are drawn at this one.
const LEAST_PERCENT: f64 = 0.1;
/// Ends of the axis of time slices, in powers of ten of a nanosecond: 100 ns to 10 ms.
const SLICES: (f64, f64) = (2.0, 7.0);
/// Ends of the axis of errors, in powers of ten of a percent: 0.1 to 1000 percent.
const PERCENTS: (f64, f64) = (-1.0, 3.0);

/// Errors of the estimates with one time slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceErrors {
    /// Time slice, in nanoseconds of modeled time.
    pub slice_ns: u64,
    /// Median error, in percent of the true count; absent without estimates.
    pub median_percent: Option<f64>,
    /// 90th percentile of the error, in percent of the true count; absent without estimates.
    pub p90_percent: Option<f64>,
    /// Events that were never counted, in percent of all events.
    pub never_percent: f64,
}

/// Returns a number on a logarithmic axis.
fn on_axis(percent: f64) -> f64 {
    percent.max(LEAST_PERCENT).log10()
}

/// Draws the error over the time slice, both axes logarithmic.
pub fn errors(points: &[SliceErrors], default_slice_ns: u64) -> String {
    let curve = |of: fn(&SliceErrors) -> Option<f64>, color: &str, name: &str| {
        let at = |point: &SliceErrors| Some(((point.slice_ns as f64).log10(), on_axis(of(point)?)));
        LinePlot::new()
            .with_data(points.iter().filter_map(at).collect::<Vec<_>>())
            .with_color(color)
            .with_stroke_width(2.6)
            .with_legend(name.to_owned())
    };
    let never = curve(|point| Some(point.never_percent), GRAY, "events never counted");
    let plots = vec![
        Plot::Line(curve(|point| point.p90_percent, ORANGE, "90th percentile of the error")),
        Plot::Line(curve(|point| point.median_percent, BLUE, "median error")),
        Plot::Line(never.with_line_style(LineStyle::Dashed)),
    ];
    let default = ReferenceLine::vertical((default_slice_ns as f64).log10())
        .with_color(GREEN)
        .with_label(String::from("perf: 4 ms"));
    let layout = base_layout(&plots, "147 events multiplexed on six counters")
        .with_subtitle("all committed traces, most of about a millisecond; both axes logarithmic")
        .with_x_label("time slice")
        .with_y_label("percent")
        .with_x_axis_min(SLICES.0)
        .with_x_axis_max(SLICES.1)
        .with_x_tick_step(1.0)
        .with_x_tick_format(custom(|x| time_name(10f64.powf(x))))
        .with_y_axis_min(PERCENTS.0)
        .with_y_axis_max(PERCENTS.1)
        .with_y_tick_step(1.0)
        .with_y_tick_format(custom(|y| format!("{}", (10f64.powf(y) * 10.0).round() / 10.0)))
        .with_legend_width(250.0)
        .with_legend_position(LegendPosition::InsideBottomRight)
        .with_reference_line(default);
    draw(plots, layout, "Percent of error of multiplexed counts over the time slice")
}

/// Formats a time in the unit that makes it short.
pub fn time_name(ns: f64) -> String {
    let (number, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999_500.0 => (ns / 1e3, "us"),
        ns => (ns / 1e6, "ms"),
    };
    format!("{} {unit}", (number * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_names_its_axes_and_the_default() {
        let point = |slice_ns, median_percent| SliceErrors {
            slice_ns,
            median_percent: Some(median_percent),
            p90_percent: Some(10.0 * median_percent),
            never_percent: 0.0,
        };
        let svg = errors(&[point(100, 0.5), point(10_000, 5.0)], 4_000_000);
        for part in ["<svg", "time slice", "percent", "perf: 4 ms", "10 us", "never counted"] {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn times_have_short_names() {
        let cases = [(100.0, "100 ns"), (1_000.0, "1 us"), (1.03e6, "1.03 ms"), (2e5, "200 us")];
        for (ns, name) in cases {
            assert_eq!(time_name(ns), name);
        }
    }
}
