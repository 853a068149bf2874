//! How long loads took, by where their data came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_machine::observe::{Latency, SOURCES};

use super::observed::Observed;
use super::ratio::{over, percent};

/// How long retired loads took from issue to data, of one source of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyHistogram {
    /// Where the data came from: `L1`, `L2`, `system level cache`.
    pub source: String,
    /// Loads.
    pub loads: u64,
    /// Of all loads, in percent.
    pub percent: f64,
    /// Cycles of all of them together.
    pub cycles: u64,
    /// Mean cycles; absent without loads, as all below. The three parts that follow add up to it.
    pub mean: Option<f64>,
    /// Of the mean: waiting for a free refill buffer of the L1 or a place in the queue of the L2.
    #[serde(default)]
    pub mean_buffer_wait: Option<f64>,
    /// Of the mean: waiting for a line that was on its way already, asked for by another access.
    #[serde(default)]
    pub mean_line_wait: Option<f64>,
    /// Of the mean: the rest, translation and the way to the data and back.
    #[serde(default)]
    pub mean_service: Option<f64>,
    /// Loads whose line was on its way already.
    #[serde(default)]
    pub found_on_its_way: u64,
    /// The fastest.
    pub min: Option<u64>,
    /// Half of them took no longer; within the width of a bucket.
    pub median: Option<u64>,
    /// 90 of 100 took no longer; within the width of a bucket.
    pub p90: Option<u64>,
    /// 99 of 100 took no longer; within the width of a bucket.
    pub p99: Option<u64>,
    /// The slowest.
    pub max: Option<u64>,
    /// Loads by cycles, empty buckets left out.
    pub buckets: Vec<LatencyBucket>,
}

/// Loads that took about as long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyBucket {
    /// Fewest cycles of the bucket.
    pub from: u64,
    /// Most cycles of the bucket.
    pub to: u64,
    /// Loads.
    pub loads: u64,
}

impl LatencyHistogram {
    /// Every source that supplied a load, the nearest first.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<LatencyHistogram> {
        let all = observed.observer.latencies();
        let loads = SOURCES.iter().map(|source| all.of(*source).loads).sum();
        let used = SOURCES.into_iter().filter(|source| all.of(*source).loads > 0);
        used.map(|source| LatencyHistogram::of(source.label(), all.of(source), loads)).collect()
    }

    fn of(source: &str, latency: &Latency, loads: u64) -> LatencyHistogram {
        let bucket = |(from, to, loads)| LatencyBucket { from, to, loads };
        let met = (latency.loads > 0).then_some(latency);
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
            min: met.map(|latency| latency.min),
            median: latency.percentile(50),
            p90: latency.percentile(90),
            p99: latency.percentile(99),
            max: met.map(|latency| latency.max),
            buckets: latency.buckets().map(bucket).collect(),
        }
    }
}
