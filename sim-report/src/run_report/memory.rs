//! Caches, TLBs, prefetchers, sizes, latencies: what the memory system did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A count with the event that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCount {
    /// Mnemonic of the event.
    pub event: String,
    /// Its count.
    pub count: u64,
}

/// Lookups of one structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LookupRow {
    /// The structure: `L1D`, `L2 TLB`.
    pub structure: String,
    /// Which lookups: `all`, `read`, `write`.
    pub kind: String,
    /// Its size, for people: `64 KiB, 4-way` or `40 entries`.
    pub size: String,
    /// Lookups.
    pub accesses: NamedCount,
    /// Refills, or what else counts as a miss there.
    pub misses: NamedCount,
    /// Misses of all lookups in percent; absent without lookups.
    pub miss_percent: Option<f64>,
    /// Misses for each 1000 retired instructions.
    pub mpki: Option<f64>,
}

/// What became of the lines that one prefetcher brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrefetcherRow {
    /// Which one: `l1d`, `l1i`, `l2`.
    pub prefetcher: String,
    /// Lines asked for.
    pub issued: u64,
    /// Used after they had come.
    pub useful: u64,
    /// Asked for by the program while they were on their way.
    pub late: u64,
    /// Lost without a use.
    pub useless: u64,
    /// Misses that it did not foresee.
    pub missed: u64,
    /// Used of all whose end is known, in percent.
    pub accuracy_percent: Option<f64>,
    /// Used of all that would have missed, in percent.
    pub coverage_percent: Option<f64>,
}

/// How many accesses would miss in a fully associative memory of other sizes that replaces what was
/// used least recently. Accesses of the right path alone, each thread on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissCurve {
    /// Its name, the same in every report: `data_lines`, `code_lines`, `data_pages`, `code_pages`.
    pub id: String,
    /// What was accessed, for people.
    pub name: String,
    /// Bytes of a unit: a line or a page.
    pub unit_bytes: u64,
    /// Accesses.
    pub accesses: u64,
    /// Different units, of all threads. With `is_cut`: how often a unit came that was not among the
    /// `most_units` used last.
    pub footprint_units: u64,
    /// Units that are remembered for each thread; distances up to here are exact.
    pub most_units: u64,
    /// More units than that were in use: misses at the largest sizes are not only first uses.
    pub is_cut: bool,
    /// Misses by size, smallest first.
    pub points: Vec<CurvePoint>,
    /// The sizes of the modeled machine.
    pub marks: Vec<ModelMark>,
}

/// Misses of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Size in units.
    pub units: u64,
    /// Accesses that would miss.
    pub misses: u64,
    /// Of all accesses, in percent.
    pub miss_percent: f64,
}

/// The size of a structure of the modeled machine, on a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelMark {
    /// The structure: `L1D`.
    pub structure: String,
    /// Its size in units of the curve.
    pub units: u64,
    /// What the curve says at this size.
    pub misses: u64,
    /// Of all accesses, in percent.
    pub miss_percent: f64,
    /// What the model counted in its own one, with its ways, its neighbors and the wrong path; absent where
    /// no event says it.
    pub counted: Option<NamedCount>,
}

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
    /// Mean cycles; absent without loads, as all below.
    pub mean: Option<f64>,
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
