//! Errors that all windows of a trace of several threads share: their spread does not show them.
//!
//! A window begins where functional warming has brought each thread, with its rough clock. Two
//! things depend on that clock. Which instructions of the threads run side by side: in detail, a
//! thread may be faster than others than functional warming had it, and then the windows have too
//! many of its instructions, which is seen, because the trace has their number. And the time that
//! threads wait for each other on their cores, which no known count confirms.

use crate::estimate::Estimate;
use crate::known_events::KNOWN_EVENTS;
use crate::regions::windows::{Region, Regions};
use sim_core::PmuEvent;
use sim_machine::{MachineError, Outcome, Session};

/// Standard deviation of the time of waits on cores, as a part of it.
const WAITS: f64 = 0.2;
/// Largest relative standard deviation that windows may share.
pub(crate) const MOST: f64 = 0.1;
/// Events that windows do not estimate: lines that go from one core to another do so in bursts, and
/// functional warming does not count some of them.
const UNKNOWN: [PmuEvent; 8] = [
    PmuEvent::BUS_ACCESS,
    PmuEvent::L1D_CACHE_WB,
    PmuEvent::L1D_CACHE_WB_CLEAN,
    PmuEvent::L1D_CACHE_WB_VICTIM,
    PmuEvent::L1D_CACHE_INVAL,
    PmuEvent::L2D_CACHE_WB,
    PmuEvent::L2D_CACHE_WB_CLEAN,
    PmuEvent::L2D_CACHE_INVAL,
];
/// Smallest standard deviation of an event with several threads.
const LEAST: f64 = 0.005;
/// Standard deviation of other events and of those of lines, in parts of [`ThreadErrors::order`].
const LINES: (f64, f64) = (0.05, 0.2);
/// Event by which the order of accesses of functional warming is judged, and the fewest per
/// instruction that matter.
const REFILLS: PmuEvent = PmuEvent::L1D_CACHE_REFILL;
const RARE: f64 = 0.001;
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

/// Errors that the windows share, as relative standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThreadErrors {
    /// Share of the instructions that are of other threads than in the trace.
    pub(crate) mix: f64,
    /// Share of the cycles that are waits on cores.
    pub(crate) waits: f64,
    /// Logarithm of the ratio of refills of the L1 D-cache in the windows to those of functional
    /// warming there: threads that take lines from each other do so in another order.
    pub(crate) order: f64,
}

impl ThreadErrors {
    /// Compares the windows with the trace, whose threads have these numbers of instructions.
    pub(crate) fn new(windows: &[Outcome], regions: &[Region], threads: &[u64]) -> ThreadErrors {
        let all: f64 = threads.iter().map(|count| *count as f64).sum();
        let counts: Vec<Vec<f64>> = windows.iter().map(instructions).collect();
        let off = threads.iter().enumerate().map(|(i, count)| {
            let share = *count as f64 / all.max(1.0);
            excess(&counts, regions, i, share)
        });
        let mix = off.sum::<f64>() / 2.0;
        let sum = |of: &dyn Fn(&Outcome) -> u64| -> f64 {
            let weighted = windows.iter().zip(regions).map(|(window, region)| {
                of(window) as f64 * region.represents as f64 / region.length as f64
            });
            weighted.sum()
        };
        let waited = sum(&|window| window.cores.iter().map(|core| core.waits.on_core).sum());
        let cycles = sum(&|window| window.total().value(PmuEvent::CPU_CYCLES));
        let refills = sum(&|window| window.total().value(REFILLS));
        let place = KNOWN_EVENTS.iter().position(|event| *event == REFILLS).unwrap_or(0);
        let known = regions.iter().filter_map(|region| {
            Some(*region.known.get(place)? as f64 * region.represents as f64 / region.length as f64)
        });
        let ratio = (refills + 1.0) / (known.sum::<f64>() + 1.0);
        // Rare refills cost nothing, whatever their number.
        let order = if refills < RARE * all { 0.0 } else { ratio.ln().abs().min(1.0) };
        ThreadErrors { mix, waits: waited / cycles.max(1.0), order }
    }

    /// Returns the errors of windows, or refuses them if they are too large to say anything.
    pub(crate) fn checked(
        windows: &[Outcome],
        regions: &Regions,
        session: &Session,
    ) -> Result<ThreadErrors, MachineError> {
        let streams = session.trace().streams().iter().map(|stream| stream.instructions);
        let threads: Vec<u64> = streams.filter(|count| *count > 0).collect();
        let found = ThreadErrors::new(windows, &regions.windows, &threads);
        let trace = || session.header().trace.clone();
        if found.mix > MOST {
            let percent = (100.0 * found.mix).round() as u64;
            return Err(MachineError::ThreadMix { trace: trace(), percent });
        }
        if WAITS * found.waits > MOST {
            let percent = (100.0 * found.waits).round() as u64;
            return Err(MachineError::ThreadWaits { trace: trace(), percent });
        }
        Ok(found)
    }

    /// Widens the intervals of an estimate by these errors. `normal` is half of an interval in
    /// standard errors.
    pub(crate) fn widen(&self, estimate: &mut Estimate, normal: f64) {
        let total = estimate.outcome.total();
        let cycles = total.value(PmuEvent::CPU_CYCLES) as f64;
        let exact = PmuEvent::INST_RETIRED;
        for event in PmuEvent::ALL.into_iter().filter(|event| *event != exact) {
            let per_cycle = TIMES.iter().find(|(one, _)| *one == event).map_or(0.0, |(_, n)| *n);
            let count = (total.value(event) as f64).max(1.0);
            let waits = (WAITS * self.waits * per_cycle * cycles / count).min(WAITS);
            let order = if is_of_lines(event) { LINES.1 } else { LINES.0 } * self.order + LEAST;
            let order = if UNKNOWN.contains(&event) { 1.0 } else { order };
            let percent = &mut estimate.errors[event as usize];
            *percent = percent.hypot(100.0 * normal * self.mix.hypot(waits).hypot(order));
        }
    }
}

/// Returns true if an event counts lines that go from cache to cache.
fn is_of_lines(event: PmuEvent) -> bool {
    let name = event.mnemonic();
    let parts = ["REFILL", "LMISS", "_WB", "INVAL", "L2D_CACHE", "BUS_ACCESS", "LL_CACHE", "_MEM"];
    parts.iter().any(|part| name.contains(part)) && !name.starts_with("L1I")
}

/// Returns the instructions of each thread in a window.
fn instructions(window: &Outcome) -> Vec<f64> {
    let of = |core: &sim_machine::CoreOutcome| core.counts.raised(PmuEvent::INST_RETIRED) as f64;
    window.cores.iter().map(of).collect()
}

/// Returns by how much the windows' share of a thread in all instructions differs from `share`,
/// beyond what their spread explains.
fn excess(counts: &[Vec<f64>], regions: &[Region], thread: usize, share: f64) -> f64 {
    let all: f64 = regions.iter().map(|region| region.represents as f64).sum();
    let (mut off, mut variance) = (0.0, 0.0);
    for (counts, region) in counts.iter().zip(regions) {
        let own = counts.get(thread).copied().unwrap_or(0.0);
        let sum: f64 = counts.iter().sum();
        let difference = region.represents as f64 / all.max(1.0) * (own / sum.max(1.0) - share);
        off += difference;
        variance += difference * difference * region.left_out();
    }
    (off.abs() - variance.sqrt()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Counts, EventSink, Packed};
    use sim_machine::CoreOutcome;

    /// A window of two threads with these instructions and cycles of waits.
    fn window(threads: [(u64, u64); 2]) -> Outcome {
        let core = |(instructions, waited): (u64, u64)| {
            let mut counts = Counts::default();
            counts.count(PmuEvent::INST_RETIRED, instructions);
            counts.count(PmuEvent::CPU_CYCLES, instructions + waited);
            let mut core = CoreOutcome { counts: Packed::from(&counts), ..Default::default() };
            core.waits.on_core = waited;
            core
        };
        Outcome { cores: threads.map(core).to_vec(), clock_hz: 1, ..Outcome::default() }
    }

    fn region(represents: u64) -> Region {
        Region { cluster: 0, begin: 0, length: 10, represents, known: Vec::new() }
    }

    #[test]
    fn instructions_of_other_threads_than_in_the_trace_are_an_error() {
        let windows = [window([(8, 0), (2, 0)]), window([(8, 0), (2, 0)])];
        let whole = ThreadErrors::new(&windows, &[region(10), region(10)], &[10, 10]);
        assert!((whole.mix - 0.3).abs() < 1e-9, "{whole:?}");
        // Windows that represent more, and whose mean is that of the trace.
        let windows = [window([(8, 0), (2, 0)]), window([(2, 0), (8, 0)])];
        let part = ThreadErrors::new(&windows, &[region(100), region(100)], &[100, 100]);
        assert_eq!(part.mix, 0.0);
    }

    #[test]
    fn waits_are_a_share_of_the_cycles() {
        let windows = [window([(5, 5), (5, 0)]), window([(5, 0), (5, 5)])];
        let found = ThreadErrors::new(&windows, &[region(10), region(10)], &[10, 10]);
        assert!((found.waits - 10.0 / 30.0).abs() < 1e-9, "{found:?}");
    }
}
