//! Latency of a chase over the bandwidth of the streams beside it as a figure (SVG): one curve for
//! each machine, supplier of the lines, and set of limits.

use kuva::plot::{LinePlot, LineStyle};
use kuva::render::plots::Plot;
use sim_lab::membench::loaded::Point;

use super::{BLUE, GREEN, ORANGE, PURPLE, base_layout, draw};

/// Colors of the curves, pair by pair.
const COLORS: [&str; 4] = [BLUE, ORANGE, GREEN, PURPLE];
/// Longest latency within the axes, in nanoseconds.
const LATENCY_MAX: f64 = 600.0;

/// Curve of one machine and supplier, without and with the limits of the mesh.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name for the legend, such as `cobalt-100, memory`.
    pub name: String,
    /// Points without limits.
    pub free: Vec<Point>,
    /// Points with limits.
    pub limited: Vec<Point>,
}

/// Draws the curves, dashed without the limits of the mesh and solid with them.
pub fn loaded(curves: &[Curve]) -> String {
    let mut plots = Vec::new();
    for (curve, color) in curves.iter().zip(COLORS.iter().cycle()) {
        let of = |points: &[Point], style, width, name: String| {
            let place = |point: &Point| (point.over_the_mesh, point.nanoseconds.min(LATENCY_MAX));
            let line = LinePlot::new()
                .with_data(points.iter().map(place).collect::<Vec<_>>())
                .with_color(*color)
                .with_stroke_width(width)
                .with_line_style(style)
                .with_legend(name);
            Plot::Line(line)
        };
        let with = format!("{}, limits", curve.name);
        plots.push(of(&curve.limited, LineStyle::Solid, 2.6, with));
        plots.push(of(&curve.free, LineStyle::Dashed, 1.6, format!("{}, none", curve.name)));
    }
    let layout = base_layout(&plots, "Latency under load")
        .with_subtitle("a chase beside 63 streams of reads; cache: cores with an L2 of 256 KiB; dashed: without the limits of the mesh")
        .with_x_label("lines that come to cores over the mesh, GB/s")
        .with_y_label("nanoseconds per read of the chase")
        .with_x_axis_min(0.0)
        .with_y_axis_min(0.0)
        .with_y_axis_max(LATENCY_MAX)
        .with_legend_width(230.0);
    draw(plots, layout, "Latency of a chase over the bandwidth of streams beside it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_twice_and_named() {
        let point = |over_the_mesh, nanoseconds| Point {
            pause: 2,
            gigabytes_per_second: over_the_mesh,
            over_the_mesh,
            nanoseconds,
        };
        let curve = Curve {
            name: "cobalt-100, memory".to_owned(),
            free: vec![point(1.0, 120.0), point(300.0, 150.0)],
            limited: vec![point(1.0, 120.0), point(280.0, 900.0)],
        };
        let svg = loaded(&[curve]);
        for part in ["cobalt-100, memory, limits", "cobalt-100, memory, none", "GB/s"] {
            assert!(svg.contains(part), "{part}");
        }
    }
}
