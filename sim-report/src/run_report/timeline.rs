//! The run over time: intervals of equal length, with counts and rates in each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use sim_core::{InstId, PmuEvent};
use sim_machine::observe::{CodeTime, Column, Interval, SlotClass, TopDownCategory};

use super::code::{Code, UNKNOWN};
use super::names::class_names;
use super::profiled::N2Profile;
use super::ratio::{over, some_percent};
use super::slots::SlotNode;

/// Run in intervals of counted cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Cycles of an interval; the last interval of a thread may be shorter.
    pub step_cycles: u64,
    /// Length of an interval, in nanoseconds.
    pub step_ns: f64,
    /// Threads; the time of each starts with its first counted cycle.
    pub threads: Vec<ThreadTimeline>,
    /// Counts of each interval over all threads.
    #[serde(default)]
    pub totals: IntervalTotals,
}

/// Counts of each interval, summed over the threads: the first interval of each, the second, and so
/// on. Every list has one value for each interval of the longest thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalTotals {
    /// Slots of each cause with slots, by its place in the slot tree.
    pub slots: Vec<NamedTotals>,
    /// Counts of each event that occurred, by its mnemonic.
    pub events: Vec<NamedTotals>,
    /// Slots charged to the listed instructions, by address; empty on a core that does not record
    /// them.
    pub code: Vec<NamedTotals>,
    /// Slots charged to the code of the listed functions, by name; empty as well.
    pub functions: Vec<NamedTotals>,
}

/// Values of one quantity, one for each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedTotals {
    /// Name of the quantity.
    pub name: String,
    /// Values.
    pub values: Vec<u64>,
}

/// Thread over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTimeline {
    /// Number of its stream in the trace.
    pub thread: u32,
    /// End of each interval, in cycles since the thread's first counted cycle.
    pub ends: Vec<u64>,
    /// Series, each with one value for each interval.
    pub series: Vec<Series>,
}

/// Series with one value for each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Identifier, the same in every report: `ipc`, `l1d_refill_mpki`.
    pub id: String,
    /// Readable name.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Mnemonics of the events that it is computed from.
    pub events: Vec<String>,
    /// Values; null if there is none, such as a rate per instruction without instructions.
    pub values: Vec<Option<f64>>,
}

impl Timeline {
    pub(super) fn of(profile: &N2Profile<'_>, causes: &SlotNode, code: &Code) -> Timeline {
        let observed = profile.observed;
        let (step_cycles, cores) = observed.observer.timelines();
        let outcome = &observed.outcome;
        let threads = outcome.cores.iter().zip(&cores);
        Timeline {
            step_cycles,
            step_ns: step_cycles as f64 * 1e9 / outcome.clock_hz.max(1) as f64,
            threads: threads.map(|(core, all)| ThreadTimeline::of(core.stream, all)).collect(),
            totals: IntervalTotals::of(&cores, profile, causes, code),
        }
    }
}

/// Most instructions with values for each interval.
const CODE: usize = 100;
/// Most functions with values for each interval.
const FUNCTIONS: usize = 40;

impl IntervalTotals {
    fn of(
        cores: &[Vec<Interval>],
        profile: &N2Profile<'_>,
        causes: &SlotNode,
        code: &Code,
    ) -> IntervalTotals {
        let slots = SlotClass::all().map(|class| {
            let values = totals(cores, |interval| interval.slots[class.index()]);
            NamedTotals::new(causes.place_of(&class_names(class).0), values)
        });
        let events = PmuEvent::ALL.into_iter().map(|event| {
            let values = totals(cores, |interval| interval.counts.value(event));
            NamedTotals::new(event.mnemonic().to_owned(), values)
        });
        let (by_code, by_function) = code_totals(cores, profile, code);
        IntervalTotals {
            slots: slots.filter(NamedTotals::is_used).collect(),
            events: events.filter(NamedTotals::is_used).collect(),
            code: by_code,
            functions: by_function,
        }
    }
}

impl NamedTotals {
    pub(super) fn new(name: String, values: Vec<u64>) -> NamedTotals {
        NamedTotals { name, values }
    }

    /// Returns whether any value is not 0.
    pub(super) fn is_used(&self) -> bool {
        self.values.iter().any(|value| *value > 0)
    }
}

/// Returns the sums of a value over the cores, interval by interval.
pub(super) fn totals<I>(cores: &[Vec<I>], value: impl Fn(&I) -> u64) -> Vec<u64> {
    let count = cores.iter().map(Vec::len).max().unwrap_or(0);
    let sum = |at: usize| cores.iter().filter_map(|core| core.get(at)).map(&value).sum();
    (0..count).map(sum).collect()
}

/// Returns the slots of the listed instructions and functions in each interval.
fn code_totals(
    cores: &[Vec<Interval>],
    profile: &N2Profile<'_>,
    code: &Code,
) -> (Vec<NamedTotals>, Vec<NamedTotals>) {
    let count = cores.iter().map(Vec::len).max().unwrap_or(0);
    let named = |name: String| NamedTotals::new(name, vec![0; count]);
    let mut by_code: Vec<NamedTotals> = Vec::new();
    let is_unique =
        |name: &str| code.functions.iter().filter(|own| own.name == name).nth(1).is_none();
    let listed = code.functions.iter().take(FUNCTIONS).filter(|own| is_unique(&own.name));
    let mut by_function: Vec<NamedTotals> = listed.map(|own| named(own.name.clone())).collect();
    let numbers: HashMap<String, usize> =
        by_function.iter().enumerate().map(|(at, own)| (own.name.clone(), at)).collect();
    // For each static instruction: its row, and that of its function.
    let mut rows: HashMap<InstId, (Option<usize>, Option<usize>)> = HashMap::new();
    for (at, (id, cost)) in profile.instructions.iter().enumerate() {
        let own = (at < CODE).then(|| {
            by_code.push(named(format!("{:#x}", cost.pc)));
            at
        });
        let function = profile.symbols.function(cost.pc).map(|place| place.function.name.as_str());
        rows.insert(*id, (own, numbers.get(function.unwrap_or(UNKNOWN)).copied()));
    }
    for (at, own) in cores.iter().flat_map(|core| core.iter().enumerate()) {
        for CodeTime { inst, slots } in &own.code {
            let (own, function) = rows.get(inst).copied().unwrap_or_default();
            if let Some(row) = own {
                by_code[row].values[at] += slots;
            }
            if let Some(row) = function {
                by_function[row].values[at] += slots;
            }
        }
    }
    (by_code, by_function)
}

/// Events per thousand instructions with a series.
const PER_THOUSAND: [(&str, &str, Column); 7] = [
    ("branch_mpki", "mispredicted branches", Column::BranchMisses),
    ("l1i_mpki", "L1I refills", Column::L1iRefills),
    ("l1d_mpki", "L1D refills", Column::L1dRefills),
    ("l2_mpki", "L2 refills", Column::L2Refills),
    ("ll_mpki", "system level cache read misses", Column::LlMisses),
    ("dtlb_walk_pki", "data table walks", Column::DtlbWalks),
    ("itlb_walk_pki", "instruction table walks", Column::ItlbWalks),
];

/// Shares of the slots with a series.
const SHARES: [(&str, &str, TopDownCategory, &[PmuEvent]); TopDownCategory::COUNT] = [
    ("retiring", "retiring", TopDownCategory::Retiring, &[PmuEvent::OP_RETIRED]),
    (
        "bad_speculation",
        "bad speculation",
        TopDownCategory::BadSpeculation,
        &[PmuEvent::OP_SPEC, PmuEvent::OP_RETIRED],
    ),
    ("frontend", "front end", TopDownCategory::Frontend, &[PmuEvent::STALL_SLOT_FRONTEND]),
    ("backend", "back end", TopDownCategory::Backend, &[PmuEvent::STALL_SLOT_BACKEND]),
];

impl ThreadTimeline {
    fn of(thread: u32, intervals: &[Interval]) -> ThreadTimeline {
        let mut end = 0;
        let ends = intervals.iter().map(|interval| {
            end += interval.cycles;
            end
        });
        let ends = ends.collect();
        let instructions = |interval: &Interval| interval.column(Column::Instructions);
        let ipc = |own: &Interval| over(instructions(own), own.cycles, 1.0);
        let events = &[PmuEvent::INST_RETIRED, PmuEvent::CPU_CYCLES];
        let mut series = vec![Series::of(["ipc", "IPC", "per cycle"], events, intervals, ipc)];
        for (id, name, column) in PER_THOUSAND {
            let events = &[column.event(), PmuEvent::INST_RETIRED];
            let unit = "per thousand instructions";
            series.push(Series::of([id, name, unit], events, intervals, |own| {
                over(own.column(column), instructions(own), 1000.0)
            }));
        }
        for (id, name, share, events) in SHARES {
            series.push(Series::of([id, name, "percent of slots"], events, intervals, |own| {
                some_percent(own.category(share), own.slots.iter().sum())
            }));
        }
        ThreadTimeline { thread, ends, series }
    }
}

impl Series {
    fn of(
        [id, name, unit]: [&str; 3],
        events: &[PmuEvent],
        intervals: &[Interval],
        value: impl Fn(&Interval) -> Option<f64>,
    ) -> Series {
        // A chart shows fewer than four decimals.
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        Series {
            id: id.to_owned(),
            name: name.to_owned(),
            unit: unit.to_owned(),
            events: events.iter().map(|event| event.mnemonic().to_owned()).collect(),
            values: intervals.iter().map(|own| value(own).map(rounded)).collect(),
        }
    }
}
