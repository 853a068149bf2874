//! What ran, on which machine, and what a reader should know before any number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The head of a report: enough to repeat the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// Version of n2sim.
    pub version: String,
    /// The trace as named on the command line.
    pub trace: String,
    /// Hash of the trace's content, in hexadecimal.
    pub trace_hash: String,
    /// Name of the configuration, with the overrides in order.
    pub config: String,
    /// Hash of the merged configuration, in hexadecimal.
    pub config_hash: String,
    /// Revision of the core, such as `r0p3`.
    pub revision: String,
    /// Seed of random choices.
    pub seed: u64,
    /// Clock of the modeled core in Hz.
    pub clock_hz: u64,
    /// Instructions of each thread that only warmed the machine.
    pub warmup: u64,
    /// Instructions of each thread that were to be counted; absent: all.
    pub limit: Option<u64>,
    /// Markers between which was counted; absent: everywhere.
    pub roi: Option<String>,
    /// Modeled time of the counted part in seconds, of the core that ran longest.
    pub seconds: f64,
    /// Counted cycles of all cores together.
    pub cycles: u64,
    /// Retired instructions of all cores together.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
    /// Modeled time of a turn on the six counters, in nanoseconds.
    pub tick_ns: u64,
    /// What a reader of the counts should know, one sentence each.
    pub notes: Vec<String>,
    /// Words that the decoder does not know, most executed first.
    pub unknown_words: Vec<UnknownWordCount>,
}

/// A word that the decoder does not know; it ran as an operation of one cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownWordCount {
    /// Address of its first location, in hexadecimal.
    pub address: String,
    /// The word, in hexadecimal.
    pub word: String,
    /// How often it was executed.
    pub executions: u64,
}

/// One thread, which had a core of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadInfo {
    /// Number of its stream in the trace.
    pub thread: u32,
    /// Counted cycles of its core.
    pub cycles: u64,
    /// Retired instructions.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
}
