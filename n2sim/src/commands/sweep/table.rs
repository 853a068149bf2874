//! The table of a sweep: a row for each run in the order of the grid, with the varied values, the
//! metrics and the events.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use sim_metrics::formula::event_use::{Levels, Time};
use sim_metrics::formula::{EventUse, Quantity};
use sim_report::figure::sensitivity::Curve;

use super::grid::{Grid, Metric, Point};
use super::journal::Row;

/// The columns of one run.
pub(super) struct Record<'a> {
    pub(super) point: Point<'a>,
    pub(super) counts: Vec<u64>,
    /// Values of the metrics; `None` for a metric without a value.
    pub(super) metrics: Vec<Option<f64>>,
}

/// All runs with all columns.
pub(super) struct Table<'a> {
    pub(super) grid: &'a Grid,
    pub(super) records: Vec<Record<'a>>,
}

impl<'a> Table<'a> {
    /// Returns the table of rows, one for each point of the grid.
    pub(super) fn new(grid: &'a Grid, rows: &[Row]) -> Table<'a> {
        let record = |(point, row): (Point<'a>, &Row)| Record {
            point,
            counts: grid.events.iter().map(|event| row.counts[event.place]).collect(),
            metrics: grid.metrics.iter().map(|metric| value(grid, metric, &point, row)).collect(),
        };
        Table { grid, records: grid.points().zip(rows).map(record).collect() }
    }

    /// Returns the names of the columns before the counts.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let varied = self.grid.axes.iter().map(|axis| axis.key.as_str());
        std::iter::once("trace").chain(varied).chain(["config-hash"]).collect()
    }

    /// Returns the values of those columns.
    pub(super) fn key_values(&self, record: &Record<'a>) -> Vec<String> {
        let Point { trace, combination, .. } = record.point;
        let varied = self.grid.axes.iter().zip(&combination.chosen);
        let varied = varied.map(|(axis, value)| axis.values[*value].clone());
        let hash = format!("{:016x}", combination.hash);
        std::iter::once(trace.name.clone()).chain(varied).chain([hash]).collect()
    }

    /// Writes the table as CSV and returns the output.
    pub(super) fn write_csv<W: Write>(&self, out: W) -> anyhow::Result<W> {
        let mut writer = csv::Writer::from_writer(out);
        let events = self.grid.events.iter().map(|event| event.name.clone());
        let metrics = self.grid.metrics.iter().map(|metric| metric.name.clone());
        let keys = self.keys().into_iter().map(str::to_owned);
        writer.write_record(keys.chain(events).chain(metrics))?;
        for record in &self.records {
            let counts = record.counts.iter().map(u64::to_string);
            let number =
                |value: &Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let metrics = record.metrics.iter().map(number);
            writer
                .write_record(self.key_values(record).into_iter().chain(counts).chain(metrics))?;
        }
        writer.into_inner().map_err(|error| error.into_error()).context("cannot write the table")
    }

    /// Returns the course of a metric over an axis, trace by trace. A point is the geometric mean
    /// over all other axes, relative to the value at the first position of the axis.
    pub(super) fn curves(&self, axis: usize, metric: usize) -> Vec<Curve> {
        let places = self.grid.axes[axis].values.len();
        let curve = |(number, trace): (usize, &super::grid::Trace)| {
            let each = self.grid.combinations.len();
            let records = &self.records[number * each..(number + 1) * each];
            let means: Vec<Option<f64>> = (0..places)
                .map(|place| {
                    let here =
                        |record: &&Record<'_>| record.point.combination.chosen[axis] == place;
                    let values = records.iter().filter(here).map(|record| record.metrics[metric]);
                    mean(values)
                })
                .collect();
            let first = means[0];
            let part = |mean: Option<f64>| Some(mean? / first?);
            Curve { name: short_name(&trace.name), values: means.into_iter().map(part).collect() }
        };
        self.grid.traces.iter().enumerate().map(curve).collect()
    }
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

/// Returns the value of a metric from exact counts, if it has one.
fn value(grid: &Grid, metric: &Metric, point: &Point<'_>, row: &Row) -> Option<f64> {
    let machine = grid.core.machine(point.combination.patch, row.cores);
    let count = |event: &EventUse| match event.quantity {
        _ if event.is_of_core() && event.levels == Levels::ALL => {
            Some(row.counts[grid.core.place(event)?] as f64)
        }
        Quantity::Time(Time::Duration) => {
            Some(row.longest as f64 / point.combination.clock_hz as f64)
        }
        _ => None,
    };
    let value = metric.factor * metric.linked.evaluate(&machine, count).value;
    value.is_finite().then_some(value)
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
