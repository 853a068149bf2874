//! Time in the model over time on real machines as a figure (SVG), on logarithmic axes: one mark
//! for each row.

use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::plots::Plot;

use super::{BLUE, GRAY, ORANGE, PUBLISHED, base_layout, custom, draw};

/// Ends of both axes, in powers of ten of a nanosecond: from a vector byte to a random read of
/// memory.
const AXIS: (f64, f64) = (-2.0, 3.0);
/// Relative error up to which the model counts as close.
const NEAR: f64 = 0.15;

/// Row measured on one machine.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Whether it belongs to the first of the two machines.
    pub is_first: bool,
    /// Whether it was held out of fitting.
    pub is_held_out: bool,
    /// Nanoseconds on silicon.
    pub silicon: f64,
    /// Nanoseconds in the model.
    pub model: f64,
}

/// Draws the rows of two machines with these names.
pub fn silicon(machines: [&str; 2], points: &[Point]) -> String {
    let mut plots = vec![
        diagonal(1.0, PUBLISHED, LineStyle::Solid, "equal"),
        diagonal(1.0 + NEAR, GRAY, LineStyle::Dashed, "15 % longer or shorter"),
        diagonal(1.0 - NEAR, GRAY, LineStyle::Dashed, ""),
    ];
    for (machine, color, is_first) in [(machines[0], BLUE, true), (machines[1], ORANGE, false)] {
        for (is_held_out, marker) in [(false, MarkerShape::Circle), (true, MarkerShape::Diamond)] {
            let own =
                |point: &&Point| point.is_first == is_first && point.is_held_out == is_held_out;
            let place = |point: &Point| (point.silicon.log10(), point.model.log10());
            let data: Vec<(f64, f64)> = points.iter().filter(own).map(place).collect();
            if data.is_empty() {
                continue;
            }
            let kind = if is_held_out { "held out" } else { "other rows" };
            let marks = ScatterPlot::new()
                .with_data(data)
                .with_color(color)
                .with_marker(marker)
                .with_size(4.0)
                .with_legend(format!("{machine}, {kind}"));
            plots.push(Plot::Scatter(marks));
        }
    }
    let layout = base_layout(&plots, "Time in the model over time on silicon")
        .with_subtitle(
            "one byte, one node of a chase, one round of a barrier; both axes logarithmic",
        )
        .with_x_label("silicon, ns")
        .with_y_label("model, ns")
        .with_x_axis_min(AXIS.0)
        .with_x_axis_max(AXIS.1)
        .with_y_axis_min(AXIS.0)
        .with_y_axis_max(AXIS.1)
        .with_x_tick_step(1.0)
        .with_y_tick_step(1.0)
        .with_x_tick_format(custom(power_of_ten))
        .with_y_tick_format(custom(power_of_ten))
        .with_legend_width(230.0);
    draw(plots, layout, "Nanoseconds in the model over nanoseconds on silicon")
}

/// Returns the line on which the model takes `factor` times as long.
fn diagonal(factor: f64, color: &str, style: LineStyle, name: &str) -> Plot {
    let ends = [AXIS.0, AXIS.1].map(|x| (x, x + factor.log10()));
    let line = LinePlot::new()
        .with_data(ends.to_vec())
        .with_color(color)
        .with_stroke_width(1.2)
        .with_line_style(style);
    Plot::Line(if name.is_empty() { line } else { line.with_legend(name) })
}

fn power_of_ten(exponent: f64) -> String {
    let value = 10f64.powf(exponent);
    if value < 1.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_machines_are_drawn_and_a_figure_without_rows_has_axes() {
        let point = |is_first| Point { is_first, is_held_out: false, silicon: 1.0, model: 2.0 };
        let svg = silicon(["cobalt-100", "yitian-710"], &[point(true), point(false)]);
        assert!(svg.contains("cobalt-100") && svg.contains("yitian-710"), "{svg}");
        assert!(silicon(["a", "b"], &[]).contains("<svg"));
    }

    #[test]
    fn ticks_are_nanoseconds() {
        assert_eq!([-2.0, -1.0, 0.0, 3.0].map(power_of_ten), ["0.01", "0.10", "1", "1000"]);
    }
}
