//! Report about a run on a Cortex-A53: the same form, with this core's slots, events and memory.

mod code;
mod slots;
mod time;

use std::collections::BTreeMap;

use sim_a53::profile::A53Profile;
use sim_a53::{A53Config, A53CoreOutcome, A53Counts, A53Event};
use sim_core::{InstId, Shown};
use sim_isa::Program;
use sim_metrics::builtin;
use sim_trace::TraceFile;

use super::branches::Branches;
use super::code::Code;
use super::counts::{EventCount, MetricValue};
use super::findings::Finding;
use super::listing;
use super::memory::{LookupRow, NamedCount, binary};
use super::profiled::Profiled;
use super::ratio::{over, some_percent};
use super::run::{RunInfo, ThreadInfo};
use super::timeline::Timeline;
use super::{CoreKind, FORMAT, RunReport};
use crate::Symbols;
use crate::a53_counts::with_counts;
use code::{CodeCosts, CodeOfTrace};

/// Revision whose errata the model follows.
const REVISION: &str = "r0p4";
/// Table of the manual that describes the events.
const TABLE: &str = "table 12.28";

/// A run on a Cortex-A53, and what its report says about it.
pub struct A53Observed<'a> {
    /// The trace.
    pub trace: &'a TraceFile,
    /// The trace as named on the command line.
    pub name: String,
    /// Version of n2sim.
    pub version: String,
    /// Configuration.
    pub config: &'a A53Config,
    /// Name of the configuration, with the overrides in order.
    pub config_name: String,
    /// Hash of the merged configuration.
    pub config_hash: u64,
    /// Most instructions of each thread; `None` for all.
    pub limit: Option<u64>,
    /// Notes for readers of the counts, one sentence each.
    pub notes: Vec<String>,
    /// Profile of the run.
    pub profile: A53Profile,
}

impl A53Observed<'_> {
    /// Returns the counts of all cores together.
    fn total(&self) -> A53Counts {
        let mut total = A53Counts::default();
        self.profile.cores.iter().for_each(|core| total.add(&core.counts));
        total
    }
}

impl RunReport {
    /// Creates the report about a run on a Cortex-A53. `symbols` names the code.
    pub fn of_a53(observed: &A53Observed<'_>, symbols: &Symbols) -> RunReport {
        let code = CodeOfTrace::new(observed);
        let costs = code.costs.iter().enumerate().map(|(id, cost)| (id as InstId, cost));
        let profile = Profiled::new(costs.collect(), &code.elsewhere, symbols);
        let top_down = slots::tree(&profile);
        let findings = Finding::all(&top_down);
        let timeline = Timeline::of_a53(observed, &top_down);
        let row = |id, cost: &CodeCosts| code.row(id, cost, &profile);
        let listings = listing::all(&profile, &row, &findings, &[]);
        let code_costs = Code::of(&profile, row);
        RunReport {
            format: FORMAT.to_owned(),
            core: Some(core_kind()),
            run: run_info(observed),
            threads: observed.profile.cores.iter().map(thread).collect(),
            events: events(observed),
            metrics: metrics(observed),
            top_down,
            findings,
            timeline,
            caches: caches(observed),
            tlbs: tlbs(observed),
            prefetchers: Vec::new(),
            flows: Vec::new(),
            miss_curves: Vec::new(),
            load_latencies: Vec::new(),
            shared_lines: Vec::new(),
            mesh: None,
            code: code_costs,
            listings,
            branches: Branches::from_counts(&code.branches(), &profile),
            source: BTreeMap::new(),
        }
    }
}

/// Returns the places of all nodes of the tree of slots.
#[cfg(test)]
pub(super) fn tree_places() -> Vec<String> {
    slots::places()
}

fn core_kind() -> CoreKind {
    CoreKind {
        core: String::from("cortex-a53"),
        name: String::from("Cortex-A53"),
        slots: String::from("issue slots"),
        slots_per_cycle: sim_a53::slots::SLOTS,
    }
}

fn run_info(observed: &A53Observed<'_>) -> RunInfo {
    let cores = &observed.profile.cores;
    let cycles = cores.iter().map(|core| core.cycles).sum();
    let instructions = cores.iter().map(|core| core.instructions).sum();
    let longest = cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let clock_hz = observed.config.cluster.clock_hz;
    let gaps = observed.trace.meta().gaps.iter().map(|gap| gap.shown().to_string());
    RunInfo {
        version: observed.version.clone(),
        trace: observed.name.clone(),
        trace_hash: format!("{:016x}", observed.trace.hash()),
        config: observed.config_name.clone(),
        config_hash: format!("{:016x}", observed.config_hash),
        revision: REVISION.to_owned(),
        seed: observed.config.cluster.seed,
        clock_hz,
        warmup: 0,
        limit: observed.limit,
        roi: None,
        seconds: longest as f64 / clock_hz.max(1) as f64,
        cycles,
        instructions,
        ipc: over(instructions, cycles, 1.0),
        tick_ns: None,
        notes: observed.notes.iter().cloned().chain(gaps).collect(),
        unknown_words: Vec::new(),
    }
}

/// Returns the built-in metrics of the core.
fn metrics(observed: &A53Observed<'_>) -> Vec<MetricValue> {
    let catalog = builtin::a53_catalog();
    let clock_hz = observed.config.cluster.clock_hz;
    let value = |metric| {
        with_counts(&observed.profile.cores, clock_hz, |counts| {
            MetricValue::of_a53(metric, &catalog, counts)
        })
    };
    catalog.metrics().iter().filter_map(value).collect()
}

fn thread(core: &A53CoreOutcome) -> ThreadInfo {
    ThreadInfo {
        thread: core.stream,
        cycles: core.cycles,
        instructions: core.instructions,
        ipc: over(core.instructions, core.cycles, 1.0),
    }
}

fn events(observed: &A53Observed<'_>) -> Vec<EventCount> {
    let total = observed.total();
    let cores = &observed.profile.cores;
    let row = |event: A53Event| EventCount {
        event: event.mnemonic().to_owned(),
        perf_name: event.mnemonic().to_ascii_lowercase(),
        code: event.code(),
        section: TABLE.to_owned(),
        group: group(event).to_owned(),
        count: total.value(event),
        by_thread: cores.iter().map(|core| core.counts.value(event)).collect(),
        six_counters: None,
        doubt: None,
    };
    A53Event::ALL.into_iter().map(row).collect()
}

/// Returns the part of the core that raises an event.
fn group(event: A53Event) -> &'static str {
    let name = event.mnemonic();
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match () {
        () if name.ends_with("_STALL") || name.starts_with("STALL") => "stalls",
        () if begins(&["BR_", "PC_"]) => "branches",
        () if begins(&["EXC_"]) => "exceptions",
        () if begins(&["BUS_ACCESS", "EXT_MEM"]) => "bus",
        () if begins(&["CPU_CYCLES", "BUS_CYCLES"]) => "cycles",
        () if begins(&["L1", "L2", "TLB", "MEM", "PREFETCH", "READ", "EXT_SNOOP", "SCU"]) => {
            "caches and TLBs"
        }
        () => "instructions",
    }
}

/// Rows of structures: name, size, event of the lookups, event of the misses.
type Structure = (&'static str, String, A53Event, A53Event);

fn caches(observed: &A53Observed<'_>) -> Vec<LookupRow> {
    let memory = &observed.config.memory;
    let size = |bytes, ways| format!("{}, {ways}-way", binary(bytes));
    let (l1d, l1i, l2) = (&memory.l1d, &memory.l1i, &memory.l2);
    let mut rows: Vec<Structure> = vec![
        ("L1D", size(l1d.size_bytes, l1d.ways), A53Event::L1D_CACHE, A53Event::L1D_CACHE_REFILL),
        ("L1I", size(l1i.size_bytes, l1i.ways), A53Event::L1I_CACHE, A53Event::L1I_CACHE_REFILL),
    ];
    if l2.size_bytes > 0 {
        let size = size(l2.size_bytes, l2.ways);
        rows.push(("L2", size, A53Event::L2D_CACHE, A53Event::L2D_CACHE_REFILL));
    }
    lookups(observed, rows)
}

fn tlbs(observed: &A53Observed<'_>) -> Vec<LookupRow> {
    let entries = |count| format!("{count} entries");
    let micro = &observed.config.memory.micro_tlb;
    let (data, code) = (entries(micro.data_entries), entries(micro.instruction_entries));
    let rows = vec![
        ("data micro-TLB", data, A53Event::MEM_ACCESS, A53Event::L1D_TLB_REFILL),
        ("instruction micro-TLB", code, A53Event::L1I_CACHE, A53Event::L1I_TLB_REFILL),
    ];
    lookups(observed, rows)
}

fn lookups(observed: &A53Observed<'_>, rows: Vec<Structure>) -> Vec<LookupRow> {
    let total = observed.total();
    let instructions = total.value(A53Event::INST_RETIRED);
    let named = |event: A53Event| NamedCount {
        event: event.mnemonic().to_owned(),
        count: total.value(event),
    };
    let row = |(structure, size, accesses, misses): Structure| LookupRow {
        structure: structure.to_owned(),
        kind: String::from("all"),
        size,
        accesses: named(accesses),
        misses: named(misses),
        miss_percent: some_percent(total.value(misses), total.value(accesses)),
        mpki: over(total.value(misses), instructions, 1000.0),
    };
    rows.into_iter().map(row).collect()
}

/// Returns the decoded instructions of a trace, with their numbers in it.
fn decoded(trace: &TraceFile) -> (Program, Vec<InstId>) {
    let mut program = Program::new();
    let insts = trace.statics().insts().iter();
    let ids = insts.map(|inst| program.intern(inst.pc, inst.word)).collect();
    (program, ids)
}
