//! Speed-up of a program over the number of its cores as a figure (SVG), below what the cores could
//! reach, with the parts that are lost between both.

use kuva::plot::legend::LegendPosition;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::plots::Plot;
use sim_lab::scaling::Scaling;

use super::{BLUE, GRAY, GREEN, ORANGE, PURPLE, base_layout, draw};

/// Draws the speed-up and its bounds. `name` is that of the program.
///
/// The bounds are averages over the run: all cores, then without idle ones and those that change
/// their thread, then without those that wait, then without further cycles of the same
/// instructions. The last is the speed-up if the first run has no idle time and no switches.
pub fn scaling(name: &str, scaling: &Scaling) -> String {
    let most = scaling.rows.iter().map(|row| row.cores).max().unwrap_or(1) as f64;
    let first = scaling.rows.first().map_or(1.0, |row| row.cores as f64);
    let curve = |height: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        let rows = scaling.rows.iter().enumerate();
        rows.map(|(place, row)| (row.cores as f64, height(place))).collect()
    };
    let cores = |place: usize| scaling.rows[place].cores as f64 / first;
    let time = |place: usize| scaling.core_time(&scaling.rows[place]);
    let left = |place: usize, lost: f64| cores(place) * (1.0 - lost);
    let away = |place: usize| time(place).idle + time(place).switching;
    let waits = |place: usize| away(place) + time(place).waiting;
    let lines = [
        (GRAY, "all cores", curve(&cores)),
        (ORANGE, "without idle and switching ones", curve(&|at| left(at, away(at)))),
        (PURPLE, "without waiting ones", curve(&|at| left(at, waits(at)))),
        (GREEN, "without slower work", curve(&|at| left(at, waits(at) + time(at).slower))),
    ];
    let mut plots: Vec<Plot> = lines
        .into_iter()
        .map(|(color, name, points)| {
            let line = LinePlot::new().with_data(points).with_color(color).with_stroke_width(1.8);
            Plot::Line(line.with_line_style(LineStyle::Dashed).with_legend(name))
        })
        .collect();
    let speed_up = curve(&|place| scaling.speed_up(&scaling.rows[place]));
    let highest = speed_up.iter().map(|(_, height)| *height).fold(most / first, f64::max);
    let line = LinePlot::new().with_data(speed_up.clone()).with_color(BLUE).with_stroke_width(2.8);
    plots.push(Plot::Line(line.with_legend("speed-up")));
    let marks = ScatterPlot::new().with_data(speed_up).with_color(BLUE);
    plots.push(Plot::Scatter(marks.with_marker(MarkerShape::Circle).with_size(6.0)));
    let base = if first > 1.0 { format!("{first} cores") } else { "one core".to_owned() };
    let layout = base_layout(&plots, &format!("Speed-up of {name} over cores"))
        .with_subtitle(format!(
            "speed-up: against the time on {base}; dashed: cores, on average over the run"
        ))
        .with_x_label("cores")
        .with_y_label(format!("times faster than on {base}"))
        .with_x_axis_min(0.0)
        .with_x_axis_max(most)
        .with_x_tick_step((most / 8.0).ceil())
        .with_y_axis_min(0.0)
        .with_y_axis_max(highest)
        .with_legend_width(250.0)
        .with_legend_position(LegendPosition::InsideTopLeft);
    draw(plots, layout, &format!("Speed-up of {name} over the number of cores"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_lab::scaling::ScalingRow;

    #[test]
    fn speed_up_and_bounds_are_drawn_and_named() {
        let row = |cores, cycles| ScalingRow {
            cores,
            cycles,
            busy: 900,
            waiting: 50,
            queued: 0,
            switches: 0,
            switching: 0,
            migrations: 0,
        };
        let svg = super::scaling("sort", &Scaling { rows: vec![row(1, 1000), row(2, 600)] });
        for part in
            ["Speed-up of sort", "without idle", "without waiting", "without slower", "one core"]
        {
            assert!(svg.contains(part), "{part}");
        }
    }
}
