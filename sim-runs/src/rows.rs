//! Results of runs, by their keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The counts of a run.
///
/// A run of windows ([`crate::Grid`] with `regions`) has the counts of each window, one after the
/// other, as raised ([`sim_core::Counts::raised`]): sums follow when all windows are there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Cores that ran.
    pub cores: u32,
    /// Cycles of the core that ran longest; of all windows together.
    pub longest: u64,
    /// Counts of all cores together, in the order of the core's events.
    pub counts: Vec<u64>,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// Its counts.
    Counted(Counts),
    /// The run fails on every machine: trace and configuration do not fit each other.
    Failed {
        /// The reason, as one sentence without the name of the trace.
        error: String,
    },
}

/// Rows by the keys of their runs ([`crate::Grid::key`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(BTreeMap<String, Row>);

impl Rows {
    /// Returns the row of a run.
    pub fn get(&self, key: &str) -> Option<&Row> {
        self.0.get(key)
    }

    /// Adds the row of a run and returns the one that was there.
    pub fn insert(&mut self, key: String, row: Row) -> Option<Row> {
        self.0.insert(key, row)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
