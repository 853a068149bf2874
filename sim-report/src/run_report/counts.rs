//! Events and metrics: exact, and as six counters would have shown them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventCount {
    /// Mnemonic of Arm, such as `L1D_CACHE_REFILL`.
    pub event: String,
    /// Its name in perf, such as `l1d_cache_refill`; `n2sim stat -j` prints this one.
    pub perf_name: String,
    /// Its number as programmed into an event counter.
    pub code: u16,
    /// Section of the PMU guide.
    pub section: String,
    /// Heading under which the guide lists it.
    pub group: String,
    /// The exact count of all cores together.
    pub count: u64,
    /// The same, thread by thread.
    pub by_thread: Vec<u64>,
    /// What perf would have read, had it asked for all events at once; absent where it was never on a
    /// counter, or cannot be counted.
    pub six_counters: Option<SixCounters>,
}

/// A reading of one of six counters that all events share in turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SixCounters {
    /// What was counted, scaled up by enabled over running time.
    pub estimate: u64,
    /// Part of the time for which it was on a counter, in percent.
    pub percent_running: f64,
    /// How far the estimate is from the exact count, in percent of that; absent if that is 0 and the
    /// estimate is not.
    pub percent_error: Option<f64>,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// Its name, as `n2sim stat -M` takes it.
    pub metric: String,
    /// What it says.
    pub description: String,
    /// Groups that it belongs to.
    pub groups: Vec<String>,
    /// Unit of its values.
    pub unit: String,
    /// Digits behind the point that make sense.
    pub decimals: u8,
    /// Its formula as text.
    pub formula: String,
    /// Its value from exact counts; absent where it has none, such as a ratio over nothing.
    pub value: Option<f64>,
    /// What it claims to be, as it really was; absent if nothing is known of that.
    pub truth: Option<f64>,
    /// Its value from six counters that all events share in turns.
    pub six_counters: Option<f64>,
}
