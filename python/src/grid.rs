//! The runs of a sweep.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sim_core::MemoryBudget;
use sim_runs::{Counts, Point, Row, Rows, RunsError, Table, Values};

use crate::{interrupt, refused};

/// A row as Python has it: cores, cycles of the longest, counts, and why the run failed.
type PyRow = (u32, u64, Vec<u64>, Option<String>);

/// The runs of a sweep, checked.
#[pyclass(frozen, module = "n2sim._n2sim")]
pub(crate) struct Grid {
    grid: Arc<sim_runs::Grid>,
    /// The account of all runs.
    memory: MemoryBudget,
}

#[pymethods]
impl Grid {
    /// Reads the text of a grid, whose names of files are relative to a directory.
    #[new]
    fn new(py: Python<'_>, text: String, directory: PathBuf) -> PyResult<Grid> {
        let memory = n2sim::memory();
        let account = memory.clone();
        let read = move |_| sim_runs::Grid::from_toml(&text, &directory, &account);
        let grid = interrupt::wait_for(py, read)?.map_err(wrong)?;
        Ok(Grid { grid: Arc::new(grid), memory })
    }

    fn __len__(&self) -> usize {
        self.grid.len()
    }

    /// Returns the key of each run: what determines its counts.
    fn keys(&self) -> Vec<String> {
        self.grid.points().map(|point| self.grid.key(&point)).collect()
    }

    /// Returns name and place of each trace.
    fn traces(&self) -> Vec<(String, PathBuf)> {
        let traces = self.grid.traces().iter();
        traces.map(|trace| (trace.name.clone(), trace.path.clone())).collect()
    }

    /// Returns the number of the trace of each run.
    fn traces_of_runs(&self) -> Vec<usize> {
        self.grid.points().map(|point| point.trace).collect()
    }

    /// Makes one run.
    fn run(&self, py: Python<'_>, number: usize) -> PyResult<PyRow> {
        let (grid, memory, point) = (self.grid.clone(), self.memory.clone(), self.point(number)?);
        let row = interrupt::wait_for(py, move |_| grid.run(&point, &memory))?;
        Ok(of_row(row.map_err(wrong)?))
    }

    /// Makes runs in parallel and passes each row to `done`. Returns runs without a row, and why.
    fn run_all(
        &self,
        py: Python<'_>,
        numbers: Vec<usize>,
        jobs: usize,
        done: Py<PyAny>,
    ) -> PyResult<Vec<(usize, String)>> {
        let points = numbers.into_iter().map(|number| self.point(number));
        let points: Vec<Point> = points.collect::<PyResult<_>>()?;
        let (grid, memory) = (self.grid.clone(), self.memory.clone());
        let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
        let keep = Arc::clone(&raised);
        let ended = interrupt::wait_for(py, move |stop| {
            sim_runs::run_all(&grid, &points, jobs, &memory, &|point: Point, row| {
                if stop.load(Ordering::SeqCst) {
                    return Err(RunsError::Wrong(String::from("interrupted")));
                }
                let row = (point.number, of_row(row));
                Python::attach(|py| done.call1(py, row)).map(drop).map_err(|error| {
                    *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    RunsError::Wrong(String::from("the row was not accepted"))
                })
            })
        })?;
        if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let refused = ended.map_err(wrong)?.refused.into_iter();
        Ok(refused.map(|(point, error)| (point.number, error.sentence())).collect())
    }

    /// Returns the columns of the table of all runs: name, kind and values.
    fn table<'py>(&self, rows: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyList>> {
        let mut all = Rows::default();
        for point in self.grid.points() {
            let key = self.grid.key(&point);
            let Some(row) = rows.get_item(&key)? else { continue };
            let row = row_of(row.extract()?);
            if !self.grid.fits(&point, &row) {
                let why = "has not the counts of this n2sim: remove its part of the journal";
                return Err(refused(format!("the row with the key {key} {why}")));
            }
            all.insert(key, row);
        }
        let table = Table::new(&self.grid, &all);
        let table = table.ok_or_else(|| refused("a run of the sweep has no row"))?;
        let columns = PyList::empty(rows.py());
        for column in table.columns() {
            let name = &column.name;
            match &column.values {
                Values::Text(values) => columns.append((name, "text", values))?,
                Values::Count(values) => columns.append((name, "count", values))?,
                Values::Number(values) => columns.append((name, "number", values))?,
            }
        }
        Ok(columns)
    }
}

impl Grid {
    fn point(&self, number: usize) -> PyResult<Point> {
        self.grid.point(number).ok_or_else(|| refused(format!("the grid has no run {number}")))
    }
}

fn wrong(error: RunsError) -> PyErr {
    refused(error.sentence())
}

fn of_row(row: Row) -> PyRow {
    match row {
        Row::Counted(Counts { cores, longest, counts }) => (cores, longest, counts, None),
        Row::Failed { error } => (0, 0, Vec::new(), Some(error)),
    }
}

fn row_of((cores, longest, counts, error): PyRow) -> Row {
    match error {
        Some(error) => Row::Failed { error },
        None => Row::Counted(Counts { cores, longest, counts }),
    }
}
