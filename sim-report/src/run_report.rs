//! Data of a report about one run. The page, the JSON form and comparisons of runs read it and only
//! format it. PMU guide chapters 4 and 5; slots 4.7 and 4.12.
//!
//! Counts are those of `n2sim stat`. The nodes of [`SlotNode`] add up to their parents, and the
//! costs of all code with [`Code::elsewhere`] add up to the root. `docs/report.schema.json`
//! describes the JSON form.

mod a53;
mod branches;
mod code;
mod counts;
mod findings;
mod flows;
mod latencies;
mod line_sharing;
mod listing;
mod memory;
mod mesh;
mod miss_curves;
mod names;
mod observed;
mod older;
mod profiled;
mod ratio;
mod run;
mod shared_lines;
mod slot_tree;
mod slots;
mod source;
mod timeline;

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Symbols;

pub use a53::A53Observed;
pub use branches::{BranchKindCount, BranchSite, Branches};
pub use code::{CauseSlots, Code, Cost, HotFunction, HotInstruction, HotLine, Place, SourceCount};
pub use counts::{EventCount, MetricValue, SixCounters};
pub use findings::Finding;
pub use flows::{BoxCount, BoxEvent, EdgeCount, FlowCount};
pub use latencies::{LatencyBucket, LatencyHistogram};
pub use listing::{Caller, Listing, ListingRow};
pub use memory::{LookupRow, NamedCount, PrefetcherRow};
pub use mesh::{ChannelFlits, CorePairCount, HomeNode, MeshAgent, MeshLink, MeshTraffic};
pub use miss_curves::{CurvePoint, MissCurve, ModelMark};
pub(crate) use observed::slices_per_round;
pub use observed::{Observed, fitting_tick};
pub use older::FORMAT_1;
use profiled::N2Profile;
pub use run::{RunInfo, ThreadInfo, UnknownWordCount};
pub use shared_lines::{LineUse, SharedLine, SharedPlace};
pub use slots::{SlotNode, SlotPlace};
pub use timeline::{IntervalTotals, NamedTotals, Series, ThreadTimeline, Timeline};

/// Name and version of the form. The number increases when a reader of the previous form would
/// fail.
pub const FORMAT: &str = "n2sim-report/2";

/// Report about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// Name and version of this form: `n2sim-report/2`.
    pub format: String,
    /// Core of the run; absent for a Neoverse N2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreKind>,
    /// Trace, configuration and length of the run.
    pub run: RunInfo,
    /// Threads, one per core.
    pub threads: Vec<ThreadInfo>,
    /// Every event, in the order of the core's manual, with its exact count.
    pub events: Vec<EventCount>,
    /// Every built-in metric, from exact counts.
    pub metrics: Vec<MetricValue>,
    /// Rename slots, five per cycle, or the issue slots of another core, as a tree down to single
    /// causes.
    pub top_down: SlotNode,
    /// Largest losses over their thresholds, the largest first; empty if there are none.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Run over time.
    pub timeline: Timeline,
    /// Lookups and misses of caches.
    pub caches: Vec<LookupRow>,
    /// Lookups and misses of TLBs.
    pub tlbs: Vec<LookupRow>,
    /// Outcome of prefetched lines.
    pub prefetchers: Vec<PrefetcherRow>,
    /// Flows of PMU guide chapter 5 with their counts.
    pub flows: Vec<FlowCount>,
    /// Miss-ratio curves for caches and TLBs of other sizes.
    pub miss_curves: Vec<MissCurve>,
    /// Latencies of retired loads by data source.
    pub load_latencies: Vec<LatencyHistogram>,
    /// Lines whose data loads got from another core, those with most cycles first.
    #[serde(default)]
    pub shared_lines: Vec<SharedLine>,
    /// Traffic on the mesh; absent in a run of one thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshTraffic>,
    /// Costs of functions, lines and instructions.
    pub code: Code,
    /// Annotated listings of the functions with most slots, and of those that a finding names.
    #[serde(default)]
    pub listings: Vec<Listing>,
    /// Branches and their mispredictions.
    pub branches: Branches,
    /// Text of source lines that the report names, by place: `file.c:12`; empty if the files are
    /// not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub source: BTreeMap<String, String>,
}

/// Kind of core, as far as a reader of its report needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKind {
    /// Name on the command line, such as `cortex-a53`.
    pub core: String,
    /// Name in texts, such as `Cortex-A53`.
    pub name: String,
    /// Slots whose use the report explains, such as `issue slots`.
    pub slots: String,
    /// Slots of a cycle.
    pub slots_per_cycle: u64,
}

impl RunReport {
    /// Creates the report about a run. `symbols` names the code.
    pub fn new(observed: &Observed<'_>, symbols: &Symbols) -> RunReport {
        let profile = N2Profile::new(observed, symbols);
        let top_down = SlotNode::of(&profile);
        let findings = Finding::all(&top_down);
        let row = |id, cost: &_| HotInstruction::of(id, cost, &profile);
        let calls = observed.observer.calls().all();
        let listings = listing::all(&profile, &row, &findings, calls);
        let code = Code::of(&profile, row);
        RunReport {
            format: FORMAT.to_owned(),
            core: None,
            run: RunInfo::of(observed),
            threads: observed.outcome.cores.iter().map(ThreadInfo::of).collect(),
            events: EventCount::all(observed),
            metrics: MetricValue::all(observed),
            timeline: Timeline::of(&profile, &top_down, &code),
            top_down,
            findings,
            caches: LookupRow::caches(observed),
            tlbs: LookupRow::tlbs(observed),
            prefetchers: PrefetcherRow::all(observed),
            flows: FlowCount::all(observed),
            miss_curves: MissCurve::all(observed),
            load_latencies: LatencyHistogram::all(observed),
            shared_lines: SharedLine::all(&profile),
            mesh: MeshTraffic::of(observed),
            code,
            listings,
            branches: Branches::of(&profile),
            source: BTreeMap::new(),
        }
    }

    /// Returns the name of the core in texts.
    pub fn core_name(&self) -> &str {
        self.core.as_ref().map_or("Neoverse N2", |core| &core.name)
    }

    /// Returns the name of the slots whose use the report explains.
    pub fn slots(&self) -> &str {
        self.core.as_ref().map_or("rename slots", |core| &core.slots)
    }

    /// Returns the heading of the use of these slots.
    pub fn slots_heading(&self) -> &'static str {
        if self.core.is_some() { "Issue slots" } else { "Rename slots (top-down)" }
    }

    /// Returns the exact count of an event, by its mnemonic.
    pub fn count(&self, event: &str) -> Option<u64> {
        self.events.iter().find(|own| own.event == event).map(|own| own.count)
    }

    /// Returns the pairs of cores; none if the mesh was not counted.
    pub fn core_pairs(&self) -> &[CorePairCount] {
        self.mesh.as_ref().map_or(&[], |mesh| &mesh.core_pairs)
    }

    /// Writes the report as one JSON document.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Returns the JSON schema of the form, as text.
    pub fn schema() -> String {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(RunReport));
        schema.expect("a schema is plain data") + "\n"
    }
}
