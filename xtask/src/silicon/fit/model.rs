//! The model as the fit sees it: values of the keys in, cycles of a row out.

use std::path::PathBuf;

use anyhow::{Context, Error, Result};
use rayon::prelude::*;
use sim_calibrate::{Key, Model, Point, Points, Sample};
use sim_core::config::Document;
use sim_machine::MachineConfig;

use super::super::replay;
use super::super::rows::{Row, Unit};
use super::kept::Kept;

/// Share by which a figure of one run differs by chance. The OpenSSL rows of the two machines
/// spread by 1.0 % each around the ratio of the clocks; streams and chases vary more.
pub(super) const NOISE: f64 = 0.02;

/// A row with its recording.
#[derive(Clone)]
pub(super) struct Replayed<'a> {
    pub(super) row: &'a Row,
    pub(super) path: PathBuf,
    /// Share of the row's work that the recording counts.
    pub(super) share: f64,
}

impl Replayed<'_> {
    /// Returns the cycles of a unit of work: 1024 bytes, a node or a round. `None` if the model has
    /// no such machine.
    fn cycles(&self, document: &Document, kept: &Kept) -> Result<Option<f64>> {
        let Ok(config) = MachineConfig::from_document(document) else { return Ok(None) };
        let described = format!("{} {}", self.path.display(), document.canonical());
        let make = || Ok(unit(self.row) / self.share / replay::rate(self.row, &self.path, config)?);
        kept.or_make(&described, make).with_context(|| self.row.name.clone()).map(Some)
    }
}

/// Returns the bytes, nodes or rounds of a unit of work.
fn unit(row: &Row) -> f64 {
    if row.unit == Unit::BytesPerSecond { 1024.0 } else { 1.0 }
}

/// Returns the cycles of a unit of work on the machine.
pub(super) fn measured(row: &Row, clock_hz: f64) -> f64 {
    match row.unit {
        Unit::BytesPerSecond => unit(row) * clock_hz / row.silicon,
        Unit::NanosecondsPerNode => row.silicon * clock_hz / 1e9,
        Unit::CyclesPerRound => row.silicon,
    }
}

/// Returns the points of some rows.
pub(super) fn points(rows: &[Replayed<'_>], clock_hz: f64) -> Points {
    let point = |(kernel, replayed): (usize, &Replayed<'_>)| Point {
        kernel,
        event: "CPU_CYCLES".to_owned(),
        counted: Some(Sample { mean: measured(replayed.row, clock_hz), deviation: 0.0 }),
        step: 0.0,
        held_out: replayed.row.is_held_out(),
    };
    Points {
        kernels: rows.iter().map(|replayed| replayed.row.name.clone()).collect(),
        all: rows.iter().enumerate().map(point).collect(),
        noise: NOISE,
    }
}

/// The rows of a machine, replayed with other values of the keys.
pub(super) struct Rows<'a> {
    document: Document,
    /// Values of the document.
    start: Vec<i64>,
    keys: Vec<Key>,
    pub(super) rows: Vec<Replayed<'a>>,
    kept: &'a Kept,
}

impl<'a> Rows<'a> {
    /// Returns the rows on the machine of `document`, whose keys have the values that they start
    /// with.
    pub(super) fn new(
        document: Document,
        keys: Vec<Key>,
        rows: Vec<Replayed<'a>>,
        kept: &'a Kept,
    ) -> Rows<'a> {
        let start = keys.iter().map(|key| key.value(key.start)).collect();
        Rows { document, start, keys, rows, kept }
    }

    /// Returns the configuration with these values.
    pub(super) fn with(&self, values: &[i64]) -> Result<Document> {
        let moved = (0..values.len()).filter(|at| values[*at] != self.start[*at]);
        moved.into_iter().try_fold(self.document.clone(), |document, at| {
            Ok(document.set(&format!("{}={}", self.keys[at].name, values[at]))?)
        })
    }
}

impl Model for Rows<'_> {
    type Error = Error;

    fn predict(&self, row: usize, values: &[i64]) -> Result<Option<Vec<f64>>> {
        let cycles = self.rows[row].cycles(&self.with(values)?, self.kept)?;
        Ok(cycles.map(|cycles| vec![cycles]))
    }
}

/// Returns the error of each row, replayed with all values: the time of the model over that of
/// the machine, less one.
pub(super) fn errors(
    rows: &[Replayed<'_>],
    document: &Document,
    clock_hz: f64,
    kept: &Kept,
) -> Result<Vec<f64>> {
    let error = |replayed: &Replayed<'_>| {
        let cycles = replayed.cycles(document, kept)?.context("the model has no such machine")?;
        Ok(cycles / measured(replayed.row, clock_hz) - 1.0)
    };
    rows.par_iter().map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::rows;
    use super::*;

    fn all() -> Vec<Row> {
        rows::read(&sim_tests::repository().join("xtask/silicon")).expect("they are tables")
    }

    #[test]
    fn rows_of_every_unit_become_cycles() {
        let rows = all();
        let row = |name: &str| {
            rows.iter().find(|row| row.name == name && row.machine == rows::MACHINES[0])
        };
        let cycles = |name| measured(row(name).expect("the row exists"), 3.4e9);
        // 1.77 ns at 3.4 GHz; 32 bytes a cycle or a little less; cycles as they are.
        assert!((cycles("membench.tsv/latency/32") - 6.018).abs() < 1e-9);
        assert!((32.0..33.0).contains(&cycles("membench.tsv/write/32")));
        assert_eq!(cycles("barrier.tsv/str;dmb ish;ldr"), 15.0);
    }

    #[test]
    fn held_out_rows_are_not_fitted() {
        let rows = all();
        let replayed: Vec<_> =
            rows.iter().map(|row| Replayed { row, path: PathBuf::new(), share: 1.0 }).collect();
        let points = points(&replayed, 3.4e9);
        assert_eq!(points.all.len(), points.kernels.len());
        assert!(points.all.iter().any(|point| point.held_out));
        for (point, row) in points.all.iter().zip(&rows) {
            assert_eq!(point.held_out, row.is_held_out(), "{}", row.name);
        }
    }
}
