//! The table of a grid: a row for each trace and combination in the order of the grid, with the
//! varied values, the events and the metrics.

use std::io::Write;

use sim_metrics::formula::event_use::{Levels, Time};
use sim_metrics::formula::{EventUse, Quantity};

use crate::error::RunsError;
use crate::grid::{Grid, Point};
use crate::rows::{Counts, Row, Rows};
use crate::run_core::MetricColumn;
use crate::sum;

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words: the trace, varied values, the hash of the configuration, errors.
    Text(Vec<String>),
    /// Counts of an event; `None` for a run that failed.
    Count(Vec<Option<u64>>),
    /// A metric; `None` for a run that failed, and where the metric has no value.
    Number(Vec<Option<f64>>),
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name: `trace`, a varied key, `config-hash`, an event, a metric or `error`.
    pub name: String,
    /// Values.
    pub values: Values,
}

/// All rows with all columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
    failed: usize,
    /// Index of the first column with a metric.
    first_metric: usize,
}

impl Table {
    /// Returns the table of a grid: trace, varied values, hash of the configuration, events and
    /// metrics. A last column `error` is there only if a run failed. Returns `None` if a run has no
    /// row.
    pub fn new(grid: &Grid, rows: &Rows) -> Option<Table> {
        let points: Vec<Point> = grid.first_points().collect();
        let rows: Vec<Row> =
            points.iter().map(|point| sum::of_row(grid, point.row, rows)).collect::<Option<_>>()?;
        let mut columns = keys(grid, &points);
        let counts: Vec<Option<&Counts>> = rows.iter().map(counts).collect();
        columns.extend(grid.events.iter().map(|event| {
            let count = |row: &Option<&Counts>| row.map(|row| row.counts[event.place]);
            let values = Values::Count(counts.iter().map(count).collect());
            Column { name: event.name.clone(), values }
        }));
        let first_metric = columns.len();
        columns.extend(grid.metrics.iter().map(|metric| {
            let values = points.iter().zip(&counts);
            let values = values.map(|(point, row)| value(grid, metric, point, (*row)?));
            Column { name: metric.name.clone(), values: Values::Number(values.collect()) }
        }));
        let failed = counts.iter().filter(|row| row.is_none()).count();
        if failed > 0 {
            let errors = points.iter().zip(&rows).map(|(point, row)| match row {
                Row::Counted(_) => String::new(),
                Row::Failed { error } => format!("{}: {error}", grid.trace(point).name),
            });
            let values = Values::Text(errors.collect());
            columns.push(Column { name: String::from("error"), values });
        }
        Some(Table { columns, rows: rows.len(), failed, first_metric })
    }

    /// Returns the columns, in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows that failed.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Returns the values of a metric by its place among the metrics of the grid.
    pub fn metric(&self, index: usize) -> Option<&[Option<f64>]> {
        match &self.columns.get(self.first_metric + index)?.values {
            Values::Number(values) => Some(values),
            _ => None,
        }
    }

    /// Writes the table as CSV and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_csv<W: Write>(&self, out: W) -> Result<W, RunsError> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|column| &column.name))?;
        for row in 0..self.rows {
            writer.write_record(self.columns.iter().map(|column| column.values.shown(row)))?;
        }
        writer.into_inner().map_err(|error| RunsError::Table(error.into_error()))
    }

    /// Writes the table as Parquet and returns the output: words as text, counts as whole numbers
    /// of 64 bits, metrics as fractions. Only in a build with the feature `parquet`.
    ///
    /// # Errors
    /// The output cannot be written.
    #[cfg(feature = "parquet")]
    pub fn write_parquet<W: Write + Send>(&self, out: W) -> Result<W, RunsError> {
        Ok(crate::parquet::write(self, out)?)
    }
}

impl Values {
    /// Returns a value as the table shows it; no value is empty.
    fn shown(&self, row: usize) -> String {
        match self {
            Values::Text(values) => values[row].clone(),
            Values::Count(values) => values[row].map(|value| value.to_string()).unwrap_or_default(),
            Values::Number(values) => {
                values[row].map(|value| value.to_string()).unwrap_or_default()
            }
        }
    }
}

/// Returns the columns before the events.
fn keys(grid: &Grid, points: &[Point]) -> Vec<Column> {
    let column = |name: &str, of: &dyn Fn(&Point) -> String| Column {
        name: name.to_owned(),
        values: Values::Text(points.iter().map(of).collect()),
    };
    let mut columns = vec![column("trace", &|point| grid.trace(point).name.clone())];
    for (number, axis) in grid.axes.iter().enumerate() {
        columns.push(column(&axis.key, &|point| grid.values(point)[number].to_owned()));
    }
    columns.push(column("config-hash", &|point| format!("{:016x}", grid.chosen(point).hash)));
    columns
}

fn counts(row: &Row) -> Option<&Counts> {
    match row {
        Row::Counted(counts) => Some(counts),
        Row::Failed { .. } => None,
    }
}

/// Returns the value of a metric from exact counts, if it has one.
fn value(grid: &Grid, metric: &MetricColumn, point: &Point, row: &Counts) -> Option<f64> {
    let chosen = grid.chosen(point);
    let machine = grid.core.machine(chosen.checked.patch, row.cores);
    let count = |event: &EventUse| match event.quantity {
        _ if event.is_of_core() && event.levels == Levels::ALL => {
            Some(row.counts[grid.core.place(event)?] as f64)
        }
        Quantity::Time(Time::Duration) => Some(row.longest as f64 / chosen.checked.clock_hz as f64),
        _ => None,
    };
    let value = metric.factor * metric.linked.evaluate(&machine, count).value;
    value.is_finite().then_some(value)
}
