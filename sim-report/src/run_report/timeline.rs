//! The run over time: intervals of equal length, counts and rates in each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run in intervals of counted cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Cycles of an interval; the last one of a thread may be shorter.
    pub step_cycles: u64,
    /// The same in nanoseconds.
    pub step_ns: f64,
    /// Each thread on its own; the time of each begins with its first counted cycle.
    pub threads: Vec<ThreadTimeline>,
}

/// One thread over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTimeline {
    /// Number of its stream in the trace.
    pub thread: u32,
    /// End of each interval in cycles since the thread's first counted one.
    pub ends: Vec<u64>,
    /// What is shown over time, each with one value for an interval.
    pub series: Vec<Series>,
}

/// One value for each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Its name, the same in every report: `ipc`, `l1d_refill_mpki`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Events that it is computed from, mnemonics.
    pub events: Vec<String>,
    /// The values; null where there is none, such as a rate per instruction without instructions.
    pub values: Vec<Option<f64>>,
}
