//! Sizes and latencies of the core. The values with their sources are in
//! `configs/cortex-a53/machine.toml`.

use serde::Deserialize;
use sim_core::config::Problem;

/// Largest latency or delay in cycles that makes sense.
const LONGEST: u64 = 10_000;
/// Longest division in cycles.
pub(crate) const MAX_DIVIDE: u64 = 200;
/// Largest instruction queue.
pub(crate) const MAX_QUEUE: usize = 64;

/// Pipeline of one core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PipelineConfig {
    /// Instructions that the front end fetches per cycle.
    pub fetch_width: u64,
    /// Entries of the instruction queue.
    pub queue_entries: usize,
    /// Cycles from the fetch of an instruction to its earliest issue.
    pub decode_cycles: u64,
    /// Cycles without a fetch after a direct branch or a return that is predicted taken.
    pub taken_bubble: u64,
    /// Cycles without a fetch after `BR` with a predicted target. `BLR` has one more.
    pub indirect_bubble: u64,
    /// Cycles that `UDIV W` and `SDIV W` occupy the divider.
    pub divide_32: u64,
    /// Cycles that `UDIV X` and `SDIV X` occupy the divider.
    pub divide_64: u64,
    /// Additional latency of an unaligned load.
    pub unaligned_load: u64,
    /// Cycles without vector work after which the vector unit goes into retention; 0 is never.
    pub vector_retention_cycles: u64,
    /// False issues one instruction per cycle (`CPUACTLR.DIDIS`).
    pub dual_issue: bool,
    /// Loads and branches after a mispredicted branch execute until it resolves.
    pub wrong_paths: bool,
    /// Branch prediction.
    pub branch: BranchConfig,
    /// Costs that are left out.
    pub ideal: IdealPipeline,
}

/// `[pipeline.ideal]`: costs that are left out, to measure what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdealPipeline {
    /// Every branch but an exception return is predicted right.
    pub prediction: bool,
    /// Fetch delays nothing, except after a misprediction or an exception.
    pub fetch: bool,
    /// A result is ready in the next cycle, and its unit as well.
    pub latency: bool,
    /// Any two instructions issue together, and a wide access takes one cycle.
    pub issue: bool,
}

/// Branch predictor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BranchConfig {
    /// Two-bit counters of the pattern table.
    pub pattern_entries: usize,
    /// Outcomes in the global history.
    pub history_bits: u32,
    /// Entries of the table of indirect targets.
    pub target_entries: usize,
    /// Entries of the return stack.
    pub return_entries: usize,
}

impl PipelineConfig {
    /// Returns all faults of the values.
    pub fn problems(&self) -> Vec<Problem> {
        let branch = &self.branch;
        let sizes = [
            ("pipeline.fetch-width", self.fetch_width, 1, 4),
            ("pipeline.queue-entries", self.queue_entries as u64, 2, MAX_QUEUE as u64),
            ("pipeline.decode-cycles", self.decode_cycles, 2, LONGEST),
            ("pipeline.taken-bubble", self.taken_bubble, 0, LONGEST),
            ("pipeline.indirect-bubble", self.indirect_bubble, 0, LONGEST),
            ("pipeline.divide-32", self.divide_32, 1, MAX_DIVIDE),
            ("pipeline.divide-64", self.divide_64, 1, MAX_DIVIDE),
            ("pipeline.unaligned-load", self.unaligned_load, 0, LONGEST),
            ("pipeline.vector-retention-cycles", self.vector_retention_cycles, 0, 1 << 32),
            ("pipeline.branch.pattern-entries", branch.pattern_entries as u64, 1, 1 << 20),
            ("pipeline.branch.history-bits", branch.history_bits.into(), 0, 32),
            ("pipeline.branch.target-entries", branch.target_entries as u64, 1, 1 << 20),
            ("pipeline.branch.return-entries", branch.return_entries as u64, 1, 256),
        ];
        let wrong = sizes.into_iter().filter(|(_, value, low, high)| value < low || value > high);
        let problem = |(key, value, low, high): (&str, u64, u64, u64)| {
            Problem::new(key, format!("{value} is outside {low} to {high}"))
        };
        wrong.map(problem).collect()
    }
}
