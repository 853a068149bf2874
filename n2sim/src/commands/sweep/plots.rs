//! Figures of a sweep: a metric over each varied key.

use std::io::Write;
use std::path::Path;

use sim_report::figure::sensitivity::{self, Curve};
use sim_runs::{Grid, Point, Table};

use crate::files::output::Output;

/// Draws a figure for each key that has more than one value.
pub(super) fn draw(prefix: &Path, grid: &Grid, table: &Table, metric: usize) -> anyhow::Result<()> {
    let values = table.metric(metric).unwrap_or_default();
    let name = grid.metrics().nth(metric).unwrap_or_default();
    for (axis, vary) in grid.axes().iter().enumerate().filter(|(_, vary)| vary.values.len() > 1) {
        let curves = curves(grid, axis, values);
        let svg = sensitivity::sensitivity(&vary.key, &vary.values, name, &curves);
        let mut file = prefix.as_os_str().to_owned();
        file.push(format!("-{}.svg", vary.key));
        let mut output = Output::create(Some(Path::new(&file)))?;
        output.write_all(svg.as_bytes())?;
        output.finish()?;
    }
    Ok(())
}

/// Returns the course of a metric over an axis, trace by trace. A point is the geometric mean over
/// all other axes, relative to the value at the first position of the axis.
fn curves(grid: &Grid, axis: usize, values: &[Option<f64>]) -> Vec<Curve> {
    let points: Vec<Point> = grid.first_points().collect();
    let of_trace = points.chunks(points.len() / grid.traces().len());
    let curve = |points: &[Point]| {
        let means: Vec<Option<f64>> = (0..grid.axes()[axis].values.len())
            .map(|place| {
                let here = points.iter().filter(|point| grid.value_index(point, axis) == place);
                mean(here.map(|point| values[point.row]))
            })
            .collect();
        let first = means[0];
        let part = |mean: Option<f64>| Some(mean? / first?);
        let name = short_name(&grid.trace(&points[0]).name);
        Curve { name, values: means.into_iter().map(part).collect() }
    };
    of_trace.map(curve).collect()
}

/// Returns the short name of a trace for a figure, without directory and extension.
fn short_name(name: &str) -> String {
    let stem = Path::new(name).file_stem();
    stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Returns the geometric mean, or `None` if a value is missing or not above 0.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        values.map(|value| value.filter(|value| *value > 0.0).map(f64::ln)).collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::mean;

    #[test]
    fn a_mean_of_nothing_or_of_a_missing_value_is_none() {
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(mean([Some(1.0), None].into_iter()), None);
        assert_eq!(mean([Some(0.0)].into_iter()), None);
        let four = mean([Some(2.0), Some(8.0)].into_iter()).expect("values");
        assert!((four - 4.0).abs() < 1e-12);
    }
}
