//! The run over time: intervals of equal length, with counts and rates in each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_machine::observe::{Column, Interval, TopDownCategory};

use super::observed::Observed;
use super::ratio::{over, some_percent};

/// Run in intervals of counted cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Cycles of an interval; the last interval of a thread may be shorter.
    pub step_cycles: u64,
    /// Length of an interval, in nanoseconds.
    pub step_ns: f64,
    /// Threads; the time of each starts with its first counted cycle.
    pub threads: Vec<ThreadTimeline>,
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
    pub(super) fn of(observed: &Observed<'_>) -> Timeline {
        let (step_cycles, cores) = observed.observer.timelines();
        let outcome = &observed.outcome;
        let threads = outcome.cores.iter().zip(&cores);
        Timeline {
            step_cycles,
            step_ns: step_cycles as f64 * 1e9 / outcome.clock_hz.max(1) as f64,
            threads: threads.map(|(core, all)| ThreadTimeline::of(core.stream, all)).collect(),
        }
    }
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
        let instructions = |interval: &Interval| interval.columns[Column::Instructions as usize];
        let ipc = |own: &Interval| over(instructions(own), own.cycles, 1.0);
        let events = &[PmuEvent::INST_RETIRED, PmuEvent::CPU_CYCLES];
        let mut series = vec![Series::of(["ipc", "IPC", "per cycle"], events, intervals, ipc)];
        for (id, name, column) in PER_THOUSAND {
            let events = &[column.event(), PmuEvent::INST_RETIRED];
            let unit = "per thousand instructions";
            series.push(Series::of([id, name, unit], events, intervals, |own| {
                over(own.columns[column as usize], instructions(own), 1000.0)
            }));
        }
        for (id, name, share, events) in SHARES {
            series.push(Series::of([id, name, "percent of slots"], events, intervals, |own| {
                some_percent(own.slots[share as usize], own.slots.iter().sum())
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
