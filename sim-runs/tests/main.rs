//! Grids, keys, journals and tables, one module for each subject.

mod gather;
mod keys;
mod parts;
mod runs;

use std::path::{Path, PathBuf};

use sim_core::{MemoryBudget, PmuEvent};
use sim_runs::{Counts, Grid, Row, RunsError};

/// Six runs.
const GRID: &str = r#"
traces = ["aes_sha.n2t", "matrix.n2t"]
limit = 1000
events = ["cpu_cycles", "inst_retired"]
metrics = ["ipc"]

[[vary]]
key = "pipeline.window.rob"
values = [64, 96, 160]
"#;

/// Returns the directory of the committed traces.
fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces")
}

/// Reads a grid whose traces are in a directory.
fn grid_in(directory: &Path, text: &str) -> Result<Grid, RunsError> {
    Grid::from_toml(text, directory, &MemoryBudget::default())
}

/// Reads a grid of committed traces.
fn grid(text: &str) -> Grid {
    grid_in(&traces(), text).expect("a good grid")
}

/// Returns the keys of all runs of a grid.
fn keys(grid: &Grid) -> Vec<String> {
    grid.points().map(|point| grid.key(&point)).collect()
}

/// Returns a row that no run gave, for tests of files.
fn row(cycles: u64) -> Row {
    let mut counts = vec![0; PmuEvent::ALL.len()];
    counts[PmuEvent::CPU_CYCLES as usize] = cycles;
    counts[PmuEvent::INST_RETIRED as usize] = 1000;
    Row::Counted(Counts { cores: 1, longest: cycles, counts })
}
