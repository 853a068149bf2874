//! The windows of one trace, with what was counted in them and in the whole trace.

use sim_machine::Window;

/// Most windows of a file.
pub const MOST_WINDOWS: usize = 10_000;

/// A window that stands for a part of the trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Region {
    /// The group of intervals that it is of.
    pub cluster: u32,
    /// Instructions before it.
    pub begin: u64,
    /// Its instructions.
    pub length: u64,
    /// Instructions of the trace that it stands for.
    pub stands_for: u64,
    /// What the machine without a pipeline counted in it, as [`Regions::known`].
    #[serde(default)]
    pub known: Vec<u64>,
}

impl Region {
    /// The part of what it stands for that did not run.
    pub(crate) fn left_out(&self) -> f64 {
        (1.0 - self.length as f64 / self.stands_for as f64).max(0.0)
    }
}

/// The windows of one trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Regions {
    /// Name of the trace's file when it was read.
    pub trace: String,
    /// Hash of the trace's content, in hexadecimal.
    pub trace_hash: String,
    /// Instructions of the trace.
    pub instructions: u64,
    /// Instructions that run in front of each window and are not counted.
    pub warmup: u64,
    /// Instructions in front of those that go through caches, TLBs, prefetchers and branch predictors in order.
    pub lesson: u64,
    /// Hash of the machine without a pipeline ([`MachineConfig::warm_hash`](sim_machine::MachineConfig::warm_hash)), in
    /// hexadecimal.
    #[serde(default)]
    pub known_on: Option<String>,
    /// Name of the file of states in which the windows begin, in the folder of this one; without it they begin
    /// behind a lesson.
    #[serde(default)]
    pub states: Option<String>,
    /// What that machine counted in the whole trace; empty where nobody knows.
    #[serde(default)]
    pub known: Vec<u64>,
    /// The windows, in the order of the trace.
    #[serde(rename = "window")]
    pub windows: Vec<Region>,
}

impl Regions {
    /// Returns the windows as a machine runs them, each behind its warm-up.
    pub(crate) fn windows(&self) -> Vec<Window> {
        let window = |one: &Region| Window {
            begin: one.begin,
            length: one.length,
            warmup: self.warmup,
            lesson: self.lesson,
        };
        self.windows.iter().map(window).collect()
    }
}
