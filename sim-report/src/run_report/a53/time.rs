//! A run on a Cortex-A53 over time.

use sim_a53::A53Event::{self, *};
use sim_a53::profile::{A53Cost, Intervals, SlotUse};

use super::A53Observed;
use super::slots::{Category, names};
use crate::run_report::ratio::{over, some_percent};
use crate::run_report::slots::SlotNode;
use crate::run_report::timeline::{
    IntervalTotals, NamedTotals, Series, ThreadTimeline, Timeline, totals,
};

/// Events per thousand instructions with a series.
const PER_THOUSAND: [(&str, &str, A53Event); 7] = [
    ("branch_mpki", "mispredicted branches", BR_MIS_PRED),
    ("l1i_mpki", "L1I refills", L1I_CACHE_REFILL),
    ("l1d_mpki", "L1D refills", L1D_CACHE_REFILL),
    ("l2_mpki", "L2 refills", L2D_CACHE_REFILL),
    ("l1d_tlb_mpki", "data micro-TLB refills", L1D_TLB_REFILL),
    ("l1i_tlb_mpki", "instruction micro-TLB refills", L1I_TLB_REFILL),
    ("prefetch_pki", "prefetched linefills", PREFETCH_LINEFILL),
];

impl Timeline {
    pub(super) fn of_a53(observed: &A53Observed<'_>, causes: &SlotNode) -> Timeline {
        let profile = &observed.profile;
        let step_cycles = profile.time.first().map_or(0, |time| time.step);
        let clock_hz = observed.config.cluster.clock_hz.max(1);
        let threads = profile.cores.iter().zip(&profile.time);
        Timeline {
            step_cycles,
            step_ns: step_cycles as f64 * 1e9 / clock_hz as f64,
            threads: threads.map(|(core, time)| thread(core.stream, core.cycles, time)).collect(),
            totals: interval_totals(observed, causes),
        }
    }
}

/// Returns the slots and the counts of each interval. The model records no instructions there.
fn interval_totals(observed: &A53Observed<'_>, causes: &SlotNode) -> IntervalTotals {
    let profile = &observed.profile;
    let cores = profile.cores.iter().zip(&profile.time);
    let cores: Vec<Vec<&A53Cost>> = cores
        .map(|(core, time)| time.intervals[..interval_count(core.cycles, time)].iter().collect())
        .collect();
    let slots = SlotUse::all().map(|slot| {
        NamedTotals::new(causes.place_of(names(slot).0), totals(&cores, |own| own.slots_of(slot)))
    });
    let events = A53Event::ALL.into_iter().map(|event| {
        NamedTotals::new(event.mnemonic().to_owned(), totals(&cores, |own| own.count(event)))
    });
    IntervalTotals {
        slots: slots.filter(NamedTotals::is_used).collect(),
        events: events.filter(NamedTotals::is_used).collect(),
        ..IntervalTotals::default()
    }
}

/// Returns the number of intervals. A cycle with an event after the last one has no interval of its
/// own.
fn interval_count(cycles: u64, time: &Intervals) -> usize {
    time.intervals.len().min(cycles.div_ceil(time.step.max(1)) as usize)
}

fn thread(thread: u32, cycles: u64, time: &Intervals) -> ThreadTimeline {
    let count = interval_count(cycles, time);
    let intervals = &time.intervals[..count];
    let ends: Vec<u64> = (1..=count as u64).map(|n| (n * time.step).min(cycles)).collect();
    let lengths = ends.iter().scan(0, |last, end| Some(end - std::mem::replace(last, *end)));
    let lengths: Vec<u64> = lengths.collect();
    let instructions = |own: &A53Cost| own.count(INST_RETIRED);
    let ipc =
        intervals.iter().zip(&lengths).map(|(own, cycles)| over(instructions(own), *cycles, 1.0));
    let events = &[INST_RETIRED, CPU_CYCLES];
    let mut series = vec![made(["ipc", "IPC", "per cycle"], events, ipc)];
    for (id, name, event) in PER_THOUSAND {
        let values = intervals.iter().map(|own| over(own.count(event), instructions(own), 1000.0));
        series.push(made([id, name, "per thousand instructions"], &[event, INST_RETIRED], values));
    }
    for category in Category::ALL {
        let (id, name) = category.names();
        let own = |cost: &A53Cost| {
            let slots = SlotUse::all().filter(|slot| Category::of(*slot) == category);
            slots.map(|slot| cost.slots_of(slot)).sum::<u64>()
        };
        let values = intervals.iter().map(|cost| some_percent(own(cost), cost.all_slots()));
        series.push(made([id, name, "percent of slots"], &[], values));
    }
    ThreadTimeline { thread, ends, series }
}

fn made(
    [id, name, unit]: [&str; 3],
    events: &[A53Event],
    values: impl Iterator<Item = Option<f64>>,
) -> Series {
    // A chart shows fewer than four decimals.
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    Series {
        id: id.to_owned(),
        name: name.to_owned(),
        unit: unit.to_owned(),
        events: events.iter().map(|event| event.mnemonic().to_owned()).collect(),
        values: values.map(|value| value.map(rounded)).collect(),
    }
}
