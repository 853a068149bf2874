//! Grids of runs: each trace on each combination of configuration values.
//!
//! A [`Grid`] lists its runs as [`Point`]s and checks them all before the first one. A long trace
//! may have several runs, one for each of its parts. [`Grid::run`] makes one run, [`run_all`]
//! several at a time. [`Grid::key`] names a run by what determines its counts, so that any machine
//! may repeat it. A [`Journal`] keeps finished runs on the disk, [`gather`] reads the journals of
//! all [`Shard`]s, and a [`Table`] has a row for each trace and combination.
//!
//! ```
//! use std::path::Path;
//! use sim_core::MemoryBudget;
//! use sim_runs::{Grid, Rows, Table};
//!
//! let text = r#"
//!     traces = ["aes_sha.n2t"]
//!     limit = 1000
//!     events = ["cpu_cycles"]
//!     metrics = ["ipc"]
//!     [[vary]]
//!     key = "pipeline.window.rob"
//!     values = [64, 160]
//! "#;
//! let traces = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../traces"));
//! let memory = MemoryBudget::default();
//! let grid = Grid::from_toml(text, traces, &memory)?;
//! let mut rows = Rows::default();
//! for point in grid.points() {
//!     rows.insert(grid.key(&point), grid.run(&point, &memory)?);
//! }
//! let table = Table::new(&grid, &rows).expect("all runs are there");
//! let csv = String::from_utf8(table.write_csv(Vec::new())?)?;
//! assert!(csv.starts_with("trace,pipeline.window.rob,config-hash,cpu_cycles,ipc\n"));
//! assert_eq!(csv.lines().count(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod gather;
mod grid;
mod grid_file;
mod journal;
mod key;
#[cfg(feature = "parquet")]
mod parquet;
mod part;
mod rows;
mod run;
mod run_core;
mod shard;
mod sum;
mod table;
mod trace;
mod windows;

pub use error::{RunsError, sentence};
pub use gather::{Gathered, LackingShard, OtherRows, gather};
pub use grid::{Axis, Grid, Point};
pub use journal::Journal;
pub use rows::{Counts, Row, Rows};
pub use run::{Ended, run_all};
pub use run_core::SweepCore;
pub use shard::Shard;
pub use table::{Column, Table, Values};
pub use trace::Trace;
