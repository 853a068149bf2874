//! Windows of one trace, with known counts of each and of the whole trace.

use sim_machine::Window;

/// Most windows of a file.
pub const MOST_WINDOWS: usize = 10_000;

/// A window that represents a part of the trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Region {
    /// Cluster of intervals that it belongs to.
    pub cluster: u32,
    /// Number of instructions before the window.
    pub begin: u64,
    /// Length of the window in instructions.
    pub length: u64,
    /// Number of instructions of the trace that the window represents.
    #[serde(rename = "stands-for")]
    pub represents: u64,
    /// Counts of functional warming in the window, in the order of [`Regions::known`].
    #[serde(default)]
    pub known: Vec<u64>,
}

impl Region {
    /// Returns the part of the represented instructions that did not run.
    pub(crate) fn left_out(&self) -> f64 {
        (1.0 - self.length as f64 / self.represents as f64).max(0.0)
    }
}

/// Windows of one trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Regions {
    /// Name of the trace file when it was read.
    pub trace: String,
    /// Hash of the trace's content, in hexadecimal.
    pub trace_hash: String,
    /// Number of instructions of the trace.
    pub instructions: u64,
    /// Number of uncounted instructions before each window.
    pub warmup: u64,
    /// Number of instructions of functional warming before the warm-up.
    #[serde(rename = "lesson")]
    pub functional_warmup: u64,
    /// Hash of the configuration of functional warming in hexadecimal
    /// ([`Session::warm_hash`](sim_machine::Session::warm_hash)).
    #[serde(default)]
    pub known_on: Option<String>,
    /// Name of the file of saved states, in the directory of this one. Without it, windows start
    /// after functional warming.
    #[serde(default)]
    pub states: Option<String>,
    /// Counts of functional warming in the whole trace; empty if unknown.
    #[serde(default)]
    pub known: Vec<u64>,
    /// The windows, in trace order.
    #[serde(rename = "window")]
    pub windows: Vec<Region>,
}

impl Regions {
    /// Returns the windows in the form that a session runs.
    pub(crate) fn windows(&self) -> Vec<Window> {
        let window = |one: &Region| Window {
            begin: one.begin,
            length: one.length,
            warmup: self.warmup,
            functional_warmup: self.functional_warmup,
        };
        self.windows.iter().map(window).collect()
    }
}
