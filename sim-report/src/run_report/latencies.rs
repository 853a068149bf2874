//! Load latencies by data source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_machine::observe::{Latency, SOURCES};

use super::observed::Observed;
use super::ratio::{over, percent};

/// Latencies of retired loads with one data source, from issue to data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyHistogram {
    /// Data source: `L1`, `L2`, `system level cache`.
    pub source: String,
    /// Number of loads.
    pub loads: u64,
    /// Share of all loads, in percent.
    pub percent: f64,
    /// Sum of the latencies, in cycles.
    pub cycles: u64,
    /// Mean latency in cycles, the sum of the following three parts; absent without loads, as are
    /// all values below.
    pub mean: Option<f64>,
    /// Part of the mean: waiting for a free refill buffer of the L1 or a place in the queue of the
    /// L2.
    #[serde(default)]
    pub mean_buffer_wait: Option<f64>,
    /// Part of the mean: waiting for a pending line that another access requested.
    #[serde(default)]
    pub mean_line_wait: Option<f64>,
    /// Part of the mean: the rest, with translation and transfer.
    #[serde(default)]
    pub mean_service: Option<f64>,
    /// Loads that found their line pending.
    #[serde(default)]
    pub found_on_its_way: u64,
    /// Smallest latency.
    pub min: Option<u64>,
    /// Median, to the width of a bucket.
    pub median: Option<u64>,
    /// 90th percentile, to the width of a bucket.
    pub p90: Option<u64>,
    /// 99th percentile, to the width of a bucket.
    pub p99: Option<u64>,
    /// Largest latency.
    pub max: Option<u64>,
    /// Loads by latency, without empty buckets.
    pub buckets: Vec<LatencyBucket>,
}

/// Loads with latencies in one range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyBucket {
    /// Smallest latency of the bucket, in cycles.
    pub from: u64,
    /// Largest latency of the bucket, in cycles.
    pub to: u64,
    /// Number of loads.
    pub loads: u64,
}

impl LatencyHistogram {
    /// Returns every source that supplied a load, the nearest first.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<LatencyHistogram> {
        let all = observed.observer.latencies();
        let loads = SOURCES.iter().map(|source| all.of(*source).loads).sum();
        let used = SOURCES.into_iter().filter(|source| all.of(*source).loads > 0);
        used.map(|source| LatencyHistogram::of(source.label(), all.of(source), loads)).collect()
    }

    fn of(source: &str, latency: &Latency, loads: u64) -> LatencyHistogram {
        let bucket = |(from, to, loads)| LatencyBucket { from, to, loads };
        let used = (latency.loads > 0).then_some(latency);
        LatencyHistogram {
            source: source.to_owned(),
            loads: latency.loads,
            percent: percent(latency.loads, loads),
            cycles: latency.cycles,
            mean: over(latency.cycles, latency.loads, 1.0),
            mean_buffer_wait: over(latency.buffer_wait, latency.loads, 1.0),
            mean_line_wait: over(latency.line_wait, latency.loads, 1.0),
            mean_service: over(
                latency.cycles.saturating_sub(latency.buffer_wait + latency.line_wait),
                latency.loads,
                1.0,
            ),
            found_on_its_way: latency.found_on_its_way,
            min: used.map(|latency| latency.min),
            median: latency.percentile(50),
            p90: latency.percentile(90),
            p99: latency.percentile(99),
            max: used.map(|latency| latency.max),
            buckets: latency.buckets().map(bucket).collect(),
        }
    }
}
