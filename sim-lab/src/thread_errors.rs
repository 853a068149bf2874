//! Errors that all windows of a trace of several threads share: their spread does not show them.
//!
//! A window begins where functional warming has brought each thread, with its rough clock. Two
//! things depend on that clock. Which instructions of the threads run side by side: in detail, a
//! thread may be faster than others than functional warming had it, and then the windows have too
//! many of its instructions, which is seen, because the trace has their number. And the time that
//! threads wait for each other on their cores, which no known count confirms.

use crate::estimate::Estimate;
use crate::known_events::{has_shared, known_count, known_events};
use crate::regions::windows::{Region, Regions};
use crate::thread_rates::{FEWEST, ThreadRates};
use sim_core::PmuEvent;
use sim_machine::{MachineError, Outcome, Session};

/// Standard deviation of the time of waits on cores, as a part of it.
const WAITS: f64 = 0.2;
/// Largest relative standard deviation that windows may share.
const MOST: f64 = 0.1;
/// Standard deviation that an event has at least.
const LEAST: f64 = 0.01;
/// Standard deviation that an event of lines has at least.
const LEAST_OF_LINES: f64 = 0.02;
/// Standard deviation of stalls in windows in which each thread has at most [`SHORT`] instructions;
/// it falls with their length. Pipelines are empty where windows begin.
const SEAMS: f64 = 0.1;
const SHORT: f64 = 2000.0;
/// Standard deviation of events that count no lines, in parts of [`ThreadErrors::order`].
const ORDER: f64 = 0.05;
/// Count that is added to both sides of a ratio, so that rare events show no order.
const RARE: f64 = 5.0;
/// Event whose number only the executed instructions determine.
const BRANCHES: PmuEvent = PmuEvent::BR_RETIRED;
/// Fewest refills of the L1 D-cache per instruction that cost time.
const FEW_REFILLS: f64 = 0.001;
/// Largest half of an interval, in percent, of a count that is estimated at all.
const WIDEST: f64 = 100.0;
/// Events that count the time of a wait, with their counts in a cycle.
const TIMES: [(PmuEvent, f64); 7] = [
    (PmuEvent::CPU_CYCLES, 1.0),
    (PmuEvent::BUS_CYCLES, 1.0),
    (PmuEvent::CNT_CYCLES, 1.0),
    (PmuEvent::STALL, 1.0),
    (PmuEvent::STALL_BACKEND, 1.0),
    (PmuEvent::STALL_SLOT, 5.0),
    (PmuEvent::STALL_SLOT_BACKEND, 5.0),
];
/// Events of lines, by parts of their names, with the known events that show whether functional
/// warming has them in the order of the run. The first row that fits is valid.
const LINES: [(&str, &[PmuEvent]); 13] = [
    ("TLB", &[]),
    ("L1D_CACHE_REFILL_WR", &[PmuEvent::L1D_CACHE_REFILL_WR]),
    ("L1D_CACHE_WB", &[PmuEvent::L1D_CACHE_WB_VICTIM, PmuEvent::L1D_CACHE_INVAL]),
    ("L2D_CACHE_WB", &[PmuEvent::L2D_CACHE_WB_VICTIM, PmuEvent::L2D_CACHE_WB_CLEAN]),
    ("L1D_CACHE_INVAL", &[PmuEvent::L1D_CACHE_INVAL]),
    ("L2D_CACHE_INVAL", &[PmuEvent::L2D_CACHE_INVAL]),
    ("LL_CACHE", &[PmuEvent::LL_CACHE_MISS_RD, PmuEvent::L1D_CACHE_INVAL]),
    ("REMOTE_ACCESS", &[PmuEvent::LL_CACHE_MISS_RD, PmuEvent::L1D_CACHE_INVAL]),
    ("BUS_ACCESS", &[PmuEvent::BUS_ACCESS, PmuEvent::BUS_ACCESS_RD, PmuEvent::BUS_ACCESS_WR]),
    ("L1I", &[]),
    ("L2D_CACHE", &[PmuEvent::L2D_CACHE_RD, PmuEvent::L2D_CACHE_WR, PmuEvent::L2D_CACHE_REFILL]),
    ("REFILL", &[PmuEvent::L1D_CACHE_REFILL]),
    ("LMISS", &[PmuEvent::L1D_CACHE_REFILL]),
];

/// Parts of the names of events of lines that go from core to core, or from one to all. Their
/// number depends on which instructions of the threads run side by side, which waits change.
const SHARED_LINES: [&str; 8] = [
    "_WB",
    "INVAL",
    "BUS_ACCESS",
    "LL_CACHE",
    "REMOTE_ACCESS",
    "REFILL_WR",
    "REFILL_OUTER",
    "L2D_CACHE_WR",
];

/// Errors that the windows share, as relative standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThreadErrors {
    /// Share of the instructions that are of other threads than in the trace.
    pub(crate) mix: f64,
    /// Logarithm of the ratio of branches in the windows to those of the trace: the windows have
    /// other instructions of the same threads.
    pub(crate) code: f64,
    /// Share of the cycles that are waits on cores.
    pub(crate) waits: f64,
    /// Logarithm of the ratio of refills of the L1 D-cache in the windows to those of functional
    /// warming there, if they cost time: threads that take lines from each other do so in another
    /// order.
    pub(crate) order: f64,
    /// Such logarithms for each known event.
    lines: Vec<(PmuEvent, f64)>,
    /// Standard deviation of stalls.
    seams: f64,
}

impl ThreadErrors {
    /// Compares the windows with the trace, whose threads have these numbers of instructions.
    pub(crate) fn new(windows: &[Outcome], regions: &Regions, threads: &[u64]) -> ThreadErrors {
        let all: f64 = threads.iter().map(|count| *count as f64).sum();
        let counts: Vec<Vec<f64>> = windows.iter().map(instructions).collect();
        let off = threads.iter().enumerate().map(|(i, count)| {
            let share = *count as f64 / all.max(1.0);
            excess(&counts, &regions.windows, i, share)
        });
        let mix = off.sum::<f64>() / 2.0;
        let rates = ThreadRates::new(windows, &regions.windows, threads);
        let sum = |of: &dyn Fn(&Outcome) -> f64| -> f64 {
            windows.iter().zip(&regions.windows).map(|(one, region)| weight(region) * of(one)).sum()
        };
        let waited = sum(&|window| window.cores.iter().map(|core| core.waits.on_core as f64).sum());
        let cycles = sum(&|window| window.total().value(PmuEvent::CPU_CYCLES) as f64);
        let lines = ratios(windows, regions);
        let of =
            |event: PmuEvent| lines.iter().find(|(one, _)| *one == event).map_or(0.0, |one| one.1);
        let refills = sum(&|window| window.total().value(PmuEvent::L1D_CACHE_REFILL) as f64);
        let costs = refills >= FEW_REFILLS * all;
        let order = if costs { of(PmuEvent::L1D_CACHE_REFILL) } else { 0.0 };
        let branches = sum(&|window| rates.scaled(window, BRANCHES));
        let place = known_events(regions.known.len()).position(|event| event == BRANCHES);
        let known = place.map_or(branches, |place| regions.known[place] as f64);
        let code = ratio(branches, known, RARE);
        let counted: f64 = regions.windows.iter().map(|one| one.length as f64).sum();
        let of_thread = counted / (windows.len() * threads.len()).max(1) as f64;
        let seams = SEAMS * (SHORT / of_thread.max(1.0)).min(1.0);
        ThreadErrors { mix, code, waits: waited / cycles.max(1.0), order, lines, seams }
    }

    /// Returns the errors of windows that [`check_windows`] admits, or refuses them if they are too
    /// large to say anything.
    pub(crate) fn checked(
        windows: &[Outcome],
        regions: &Regions,
        session: &Session,
    ) -> Result<ThreadErrors, MachineError> {
        let threads = session.instructions_of_threads();
        let found = ThreadErrors::new(windows, regions, &threads);
        let trace = || session.header().trace.clone();
        let percent = |share: f64| (100.0 * share).round() as u64;
        if found.mix > MOST {
            return Err(MachineError::ThreadMix { trace: trace(), percent: percent(found.mix) });
        }
        if found.code > MOST {
            let percent = percent(found.code.exp() - 1.0);
            return Err(MachineError::ThreadCode { trace: trace(), percent });
        }
        if WAITS * found.waits > MOST {
            return Err(MachineError::ThreadWaits {
                trace: trace(),
                percent: percent(found.waits),
            });
        }
        Ok(found)
    }

    /// Widens the intervals of an estimate by these errors, and marks counts whose interval is
    /// wider than the count as not estimated. `normal` is half of an interval in standard errors.
    pub(crate) fn widen(&self, estimate: &mut Estimate, normal: f64) {
        let total = estimate.outcome.total();
        let cycles = total.value(PmuEvent::CPU_CYCLES) as f64;
        let exact = PmuEvent::INST_RETIRED;
        for event in PmuEvent::ALL.into_iter().filter(|event| *event != exact) {
            let per_cycle = TIMES.iter().find(|(one, _)| *one == event).map_or(0.0, |(_, n)| *n);
            let count = (total.value(event) as f64).max(1.0);
            let waits = (WAITS * self.waits * per_cycle * cycles / count).min(WAITS);
            let least = if is_of_lines(event) { LEAST_OF_LINES } else { LEAST };
            let seams = if event.mnemonic().contains("STALL") { self.seams } else { 0.0 };
            let own = least.hypot(self.mix).hypot(self.code).hypot(waits).hypot(seams);
            // A count that is too low by a factor is so by more percent of itself.
            let order = (normal * self.order_of(event)).exp() - 1.0;
            let percent = &mut estimate.errors[event as usize];
            if total.value(event) == 0 {
                // Nothing to widen; it is known whether the count is certain.
                continue;
            }
            *percent = percent.hypot(100.0 * normal * own).hypot(100.0 * order);
            if *percent > WIDEST {
                *percent = f64::INFINITY;
            }
        }
    }

    /// Returns the standard deviation of an event for the order of accesses.
    fn order_of(&self, event: PmuEvent) -> f64 {
        let own = |known: &PmuEvent| {
            self.lines.iter().find(|(one, _)| one == known).map_or(self.order, |(_, ratio)| *ratio)
        };
        let row = LINES.iter().find(|(part, _)| event.mnemonic().contains(part));
        let Some((_, known)) = row.filter(|(_, known)| !known.is_empty()) else {
            return ORDER * self.order;
        };
        let order = known.iter().map(own).fold(0.0, f64::max);
        let is_shared = SHARED_LINES.iter().any(|part| event.mnemonic().contains(part));
        if is_shared { order.hypot(self.waits) } else { order }
    }
}

/// Refuses too few windows of several threads.
pub(crate) fn check_number(windows: usize, session: &Session) -> Result<(), MachineError> {
    if windows >= FEWEST {
        return Ok(());
    }
    Err(MachineError::FewWindows { trace: session.header().trace.clone(), windows, least: FEWEST })
}

/// Refuses windows of several threads of which too little is known.
pub(crate) fn check_windows(regions: &Regions, session: &Session) -> Result<(), MachineError> {
    check_number(regions.windows.len(), session)?;
    if has_shared(regions.known.len()) {
        return Ok(());
    }
    Err(MachineError::UnknownWindows { trace: session.header().trace.clone() })
}

/// Returns true if an event counts lines of the data caches.
fn is_of_lines(event: PmuEvent) -> bool {
    let row = LINES.iter().find(|(part, _)| event.mnemonic().contains(part));
    row.is_some_and(|(_, known)| !known.is_empty())
}

/// Returns the number of instructions that a window represents, in parts of its length.
fn weight(region: &Region) -> f64 {
    region.represents as f64 / region.length as f64
}

/// Returns the logarithm of a ratio without its sign, near 0 if both counts are below `rare`.
fn ratio(one: f64, other: f64, rare: f64) -> f64 {
    ((one + rare) / (other + rare)).ln().abs()
}

/// Returns for each known event how its count in the windows differs from that of functional
/// warming there.
fn ratios(windows: &[Outcome], regions: &Regions) -> Vec<(PmuEvent, f64)> {
    let totals: Vec<_> = windows.iter().map(Outcome::total).collect();
    let of_event = |(n, event): (usize, PmuEvent)| {
        let (mut found, mut known) = (0.0, 0.0);
        for (counts, region) in totals.iter().zip(&regions.windows) {
            found += weight(region) * known_count(event, counts) as f64;
            known += weight(region) * region.known.get(n).copied().unwrap_or(0) as f64;
        }
        let weights: f64 = regions.windows.iter().map(weight).sum();
        (event, ratio(found, known, RARE * weights / windows.len().max(1) as f64))
    };
    known_events(regions.known.len()).enumerate().map(of_event).collect()
}

/// Returns the instructions of each thread in a window.
fn instructions(window: &Outcome) -> Vec<f64> {
    window.cores.iter().map(|core| core.instructions as f64).collect()
}

/// Returns by how much the windows' share of a thread in all instructions differs from `share`,
/// beyond what their spread explains.
fn excess(counts: &[Vec<f64>], regions: &[Region], thread: usize, share: f64) -> f64 {
    let all: f64 = regions.iter().map(|region| region.represents as f64).sum();
    let part = |region: &Region| region.represents as f64 / all.max(1.0);
    let of_window = |counts: &Vec<f64>| {
        let own = counts.get(thread).copied().unwrap_or(0.0);
        own / counts.iter().sum::<f64>().max(1.0)
    };
    let windows = || counts.iter().map(of_window).zip(regions);
    let mean: f64 = windows().map(|(own, region)| part(region) * own).sum();
    let off =
        |(own, region): (f64, &Region)| (part(region) * (own - mean)).powi(2) * region.left_out();
    let n = counts.len() as f64;
    let variance = n / (n - 1.0).max(1.0) * windows().map(off).sum::<f64>();
    ((mean - share).abs() - variance.sqrt()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_rates::testing::{regions, window};

    fn errors(windows: &[Outcome], represents: &[u64], threads: &[u64]) -> ThreadErrors {
        ThreadErrors::new(windows, &regions(represents), threads)
    }

    #[test]
    fn instructions_of_other_threads_than_in_the_trace_are_an_error() {
        let windows = [window([(8, 0), (2, 0)]), window([(8, 0), (2, 0)])];
        let whole = errors(&windows, &[10, 10], &[10, 10]);
        assert!((whole.mix - 0.3).abs() < 1e-9, "{whole:?}");
        // The same in all windows is no chance, however few of the instructions they have.
        let windows = vec![window([(8, 0), (2, 0)]); 12];
        let same = errors(&windows, &[100; 12], &[600, 600]);
        assert!((same.mix - 0.3).abs() < 1e-9, "{same:?}");
        // Windows that represent more, and whose mean is that of the trace.
        let windows = [window([(8, 0), (2, 0)]), window([(2, 0), (8, 0)])];
        let part = errors(&windows, &[100, 100], &[100, 100]);
        assert_eq!(part.mix, 0.0);
    }

    #[test]
    fn waits_are_a_share_of_the_cycles() {
        let windows = [window([(5, 5), (5, 0)]), window([(5, 0), (5, 5)])];
        let found = errors(&windows, &[10, 10], &[10, 10]);
        assert!((found.waits - 10.0 / 30.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn events_of_shared_lines_are_as_uncertain_as_waits_and_order_together() {
        let lines = vec![(PmuEvent::L1D_CACHE_INVAL, 0.3), (PmuEvent::L1D_CACHE_REFILL, 0.2)];
        let found = ThreadErrors { mix: 0.0, code: 0.0, waits: 0.4, order: 0.2, lines, seams: 0.0 };
        let of = |event| (100.0 * found.order_of(event)).round();
        assert_eq!(of(PmuEvent::L1D_CACHE_INVAL), 50.0);
        assert_eq!(of(PmuEvent::L1D_CACHE_REFILL_RD), 20.0, "private lines too");
        assert_eq!(of(PmuEvent::CPU_CYCLES), 1.0);
        assert_eq!(of(PmuEvent::L1D_TLB_REFILL), 1.0, "no line of a cache");
    }

    #[test]
    fn ratios_of_rare_events_say_nothing() {
        assert!(ratio(1.0, 0.0, RARE) < 0.2);
        assert!((ratio(1e6, 2e6, RARE) - 2f64.ln()).abs() < 1e-4);
    }
}
