//! The native part of the Python package `n2sim`: the program, its commands, and counts as values.
//! `python/n2sim` makes Python's own types of them.
//!
//! Work runs on a thread of its own while the interpreter serves others; Ctrl-C ends the wait for
//! it.

mod grid;
mod interrupt;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

create_exception!(n2sim, Error, PyValueError, "What n2sim refuses, with its own message.");

/// Module of the functions below.
#[pymodule]
mod _n2sim {
    #[pymodule_export]
    use super::{Error, call, count, grid::Grid, program, trace, version};
}

/// Returns an error of n2sim.
fn refused(message: impl ToString) -> PyErr {
    Error::new_err(message.to_string())
}

/// Returns the version of n2sim.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Runs the program as if these were the words of its command line, and returns its exit code. The
/// words of `starter` start it again.
#[pyfunction]
fn program(py: Python<'_>, words: Vec<OsString>, starter: Vec<OsString>) -> u8 {
    n2sim::started_by(starter);
    py.detach(|| n2sim::program(words))
}

/// Runs a command. Returns its exit code, its output and its notes.
#[pyfunction]
fn call(py: Python<'_>, words: Vec<OsString>) -> PyResult<(u8, Bound<'_, PyBytes>, String)> {
    let done = interrupt::wait_for(py, move |stop| n2sim::call(words, stop))?;
    let n2sim::Called { code, output, notes } = done.map_err(refused)?;
    Ok((code, PyBytes::new(py, &output), notes))
}

/// Replays a trace and returns its counts, metrics and slots.
#[pyfunction]
fn count(py: Python<'_>, words: Vec<OsString>) -> PyResult<Bound<'_, PyDict>> {
    let done = interrupt::wait_for(py, move |stop| n2sim::count(words, stop))?;
    let counted = done.map_err(refused)?;
    let all = PyDict::new(py);
    let counts = PyDict::new(py);
    for (name, count) in &counted.counts {
        if let Some(count) = count {
            counts.set_item(name, count)?;
        }
    }
    let metrics = PyDict::new(py);
    for metric in &counted.metrics {
        metrics.set_item(&metric.name, (metric.value, &metric.unit))?;
    }
    let slots = counted.slots.iter().map(|slot| (slot.part, slot.cause, slot.slots));
    all.set_item("trace", &counted.trace)?;
    all.set_item("core", &counted.core)?;
    all.set_item("cores", counted.cores)?;
    all.set_item("seconds", counted.seconds)?;
    all.set_item("counts", counts)?;
    all.set_item("metrics", metrics)?;
    all.set_item("slots", PyList::new(py, slots.collect::<Vec<_>>())?)?;
    all.set_item("notes", &counted.notes)?;
    Ok(all)
}

/// Opens a trace and returns its description.
#[pyfunction]
fn trace(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let file = interrupt::wait_for(py, move |_| n2sim::open(&path))?.map_err(refused)?;
    let meta = file.meta();
    let threads: Vec<u64> = file.streams().iter().map(|stream| stream.instructions).collect();
    let all = PyDict::new(py);
    all.set_item("instructions", file.instructions())?;
    all.set_item("threads", threads)?;
    all.set_item("command", &meta.command)?;
    all.set_item("producer", &meta.producer)?;
    all.set_item("engine", &meta.engine)?;
    all.set_item("cpu", &meta.cpu)?;
    all.set_item("full_system", meta.machine.full_system)?;
    all.set_item("hash", format!("{:016x}", file.hash()))?;
    all.set_item("bytes", file.file_bytes())?;
    all.set_item("notes", &meta.notes)?;
    Ok(all)
}
