//! Everything that a report about one run shows, as data: the page, the JSON form and comparisons of runs
//! read it, and compute nothing but shapes. PMU guide chapters 4 and 5; slots 4.7 and 4.12.
//!
//! Counts are those of `n2sim stat`. Slots tile: the nodes of [`SlotNode`] add up to their parents, and the
//! costs of all code with [`Code::elsewhere`] add up to the root. `docs/report.schema.json` describes the
//! JSON form.

mod branches;
mod code;
mod counts;
mod flows;
mod memory;
mod run;
mod slots;
mod timeline;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use branches::{BranchKindCount, BranchSite, Branches};
pub use code::{CauseSlots, Code, Cost, HotFunction, HotInstruction, HotLine, Place, SourceCount};
pub use counts::{EventCount, MetricValue, SixCounters};
pub use flows::{BoxCount, BoxEvent, EdgeCount, FlowCount};
pub use memory::{
    CurvePoint, LatencyBucket, LatencyHistogram, LookupRow, MissCurve, ModelMark, NamedCount,
    PrefetcherRow,
};
pub use run::{RunInfo, ThreadInfo, UnknownWordCount};
pub use slots::{SlotNode, SlotPlace};
pub use timeline::{Series, ThreadTimeline, Timeline};

/// Name and version of the form: the number changes when a reader of the old one would misread.
pub const FORMAT: &str = "n2sim-report/1";

/// The report about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// Name and version of this form: `n2sim-report/1`.
    pub format: String,
    /// What ran, on which machine.
    pub run: RunInfo,
    /// The threads, each on a core of its own.
    pub threads: Vec<ThreadInfo>,
    /// Every event, in the order of the PMU guide, with its exact count.
    pub events: Vec<EventCount>,
    /// Every built-in metric, from exact counts.
    pub metrics: Vec<MetricValue>,
    /// Where the rename slots went: five per cycle, down to single causes.
    pub top_down: SlotNode,
    /// The run over time.
    pub timeline: Timeline,
    /// Lookups and misses of caches.
    pub caches: Vec<LookupRow>,
    /// Lookups and misses of TLBs.
    pub tlbs: Vec<LookupRow>,
    /// What became of prefetched lines.
    pub prefetchers: Vec<PrefetcherRow>,
    /// The flows of PMU guide chapter 5 with their counts.
    pub flows: Vec<FlowCount>,
    /// How many accesses would miss in caches and TLBs of other sizes.
    pub miss_curves: Vec<MissCurve>,
    /// How long retired loads took, by where their data came from.
    pub load_latencies: Vec<LatencyHistogram>,
    /// Functions, lines and instructions with what they cost.
    pub code: Code,
    /// Branches and their mispredictions.
    pub branches: Branches,
}
