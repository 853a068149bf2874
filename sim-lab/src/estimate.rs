//! Estimates the counts of a whole run from windows that represent it, with confidence intervals,
//! or from chunks that cover it.
//!
//! Stratified sampling (Cochran, "Sampling techniques", chapters 5 and 9A): each cluster of windows
//! is a stratum. The spread of its windows' rates determines the error of the cluster's mean; a
//! window that represents only itself adds none. The error does not include the bias of a cold
//! start, which all windows share.

use crate::known_events::known_events;
use crate::regions::windows::{Region, Regions};
pub use crate::regression::Machine;
use crate::regression::{Rate, RegressionEstimate};
use crate::thread_rates::{Count, ThreadRates};
use sim_core::pmu_event::RelationKind;
use sim_core::{Counts, Packed, PmuEvent};
use sim_machine::outcome::{CoreOutcome, Outcome};

/// Two-sided 95 % point of the normal distribution.
pub(crate) const NORMAL_95: f64 = 1.959_964;

/// Largest difference between the instructions that a thread ran and retired in a window, if only
/// edges cause it.
const EDGE: u64 = 2;
/// Standard deviation that an estimated number of instructions has at least.
const LEAST_OF_INSTRUCTIONS: f64 = 0.01;
/// Total raised under an event itself.
const RAISED: Count = Counts::raised;
/// Value of a counter of an event.
const VALUE: Count = Counts::value;

/// Counts of a run, estimated from windows.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// All counts, scaled up.
    pub outcome: Outcome,
    /// Half of each event's 95 % confidence interval, in percent of the count, by event number.
    pub errors: Vec<f64>,
    /// Number of larger clusters with a single window, whose error is unknown.
    pub unknown: usize,
}

/// Adds up the outcomes of parts that cover a run; `None` without parts.
pub fn join(parts: &[Outcome]) -> Option<Outcome> {
    weighted(parts, &vec![1.0; parts.len()])
}

impl Estimate {
    /// Scales the outcomes of windows up to the run that they represent; `None` without windows.
    pub fn new(windows: &[Outcome], regions: &Regions, machine: Machine) -> Option<Estimate> {
        let weight = |region: &Region| region.represents as f64 / region.length as f64;
        let weights: Vec<f64> = regions.windows.iter().map(weight).collect();
        let outcome = weighted(windows, &weights)?;
        let counts: Vec<Counts> = windows.iter().map(Outcome::total).collect();
        let strata = Strata::new(&regions.windows);
        if let Some(known) = RegressionEstimate::new(regions, machine, &counts) {
            let rates = |of: Count| {
                let rate = |event| known.rate(event, &counts, |one| of(one, event));
                PmuEvent::ALL.map(rate)
            };
            return Some(corrected(outcome, [rates(RAISED), rates(VALUE)], regions.instructions));
        }
        let total = outcome.total();
        let percent = |event: PmuEvent| {
            let half = strata.half_interval(|window| counts[window].value(event));
            match total.value(event) {
                0 => 0.0,
                value => 100.0 * half / value as f64,
            }
        };
        let errors = PmuEvent::ALL.into_iter().map(percent).collect();
        Some(Estimate { outcome, errors, unknown: strata.unknown })
    }

    /// Scales the outcomes of windows of several threads up to the run that they represent, thread
    /// by thread; `None` without windows. `threads` has the number of instructions of each.
    pub fn of_threads(
        windows: &[Outcome],
        regions: &Regions,
        machine: Machine,
        threads: &[u64],
    ) -> Option<Estimate> {
        let rates = ThreadRates::new(windows, &regions.windows, threads);
        let weight = |region: &Region| region.represents as f64 / region.length as f64;
        let weights: Vec<f64> = regions.windows.iter().map(weight).collect();
        let mut outcome = weighted(windows, &weights)?;
        for (thread, core) in outcome.cores.iter_mut().enumerate() {
            scale(core, rates.factor(thread));
        }
        let tables = [RAISED, VALUE].map(|of| rates.rates(windows, of));
        // Functional warming of several threads comes before each window, in states or without.
        let machine = Machine { is_warm: true, ..machine };
        let mispredicted = &tables[0][PmuEvent::BR_MIS_PRED_RETIRED as usize];
        let known = RegressionEstimate::of(regions, machine, mispredicted).for_threads();
        let rare = rates.errors_of_rare(windows, VALUE);
        let found = tables.map(|table| {
            PmuEvent::ALL.map(|event| {
                let rate = known.rate_of(event, &table[event as usize]);
                Rate { error: rate.error.hypot(rare[event as usize]), ..rate }
            })
        });
        let errors = found[1].map(|rate| rate.error);
        let mut estimate = corrected(outcome, found, regions.instructions);
        estimate.mark_uncertain_zeros(&errors, regions);
        if !set_instructions(&mut estimate.outcome, windows, threads) {
            estimate.note_instructions(&errors, regions.instructions);
        }
        estimate.outcome.describe_windows();
        Some(estimate)
    }

    /// Marks counts of 0 that may be none as not estimated.
    fn mark_uncertain_zeros(&mut self, errors: &[f64], regions: &Regions) {
        let total = self.outcome.total();
        let known: Vec<PmuEvent> = known_events(regions.known.len())
            .zip(&regions.known)
            .filter(|(_, count)| **count > 0)
            .map(|(event, _)| event)
            .collect();
        for event in PmuEvent::ALL {
            let may_be_more = errors[event as usize] > 0.0 || known.contains(&event);
            if total.value(event) == 0 && may_be_more {
                self.errors[event as usize] = f64::INFINITY;
            }
        }
    }

    /// Gives the number of instructions, which is not that of the trace here, its error.
    fn note_instructions(&mut self, errors: &[f64], instructions: u64) {
        let event = PmuEvent::INST_RETIRED;
        let count = (self.outcome.total().value(event) as f64).max(1.0);
        let error = errors[event as usize] * instructions as f64 / count;
        self.errors[event as usize] = 100.0 * NORMAL_95 * error.hypot(LEAST_OF_INSTRUCTIONS);
    }

    /// Scales up windows of which only the counts are known, as [`Estimate::new`] does.
    pub fn of_counts(windows: &[Counts], regions: &Regions, machine: Machine) -> Option<Estimate> {
        let windows: Vec<Outcome> = windows.iter().map(outcome).collect();
        Estimate::new(&windows, regions, machine)
    }
}

/// Returns the outcome of a window of which only the counts are known.
fn outcome(counts: &Counts) -> Outcome {
    let counts = Packed::from(counts);
    let core = CoreOutcome { is_counted: true, counts, ..CoreOutcome::default() };
    Outcome { cores: vec![core], clock_hz: 1, ..Outcome::default() }
}

/// Sets the number of instructions of each thread, which is known. In windows a few instructions at
/// the edges count on the other side; threads that retired fewer for another reason keep their
/// estimates, and then this returns false.
fn set_instructions(outcome: &mut Outcome, windows: &[Outcome], threads: &[u64]) -> bool {
    let mut all_set = true;
    for (thread, all) in threads.iter().enumerate() {
        let off = windows.iter().map(|window| {
            let core = &window.cores[thread];
            core.counts.raised(PmuEvent::INST_RETIRED).abs_diff(core.instructions)
        });
        if off.max().is_none_or(|off| off > EDGE) {
            all_set = false;
            continue;
        }
        let change = |event, count| if is_exact(event) { *all } else { count };
        outcome.cores[thread].change_counts(|counts| *counts = counts.map_events(change));
    }
    all_set
}

/// Sets the scaled counts to estimated rates: those of the events themselves, and those of their
/// counters.
fn corrected(
    mut outcome: Outcome,
    [raised, values]: [[Rate; PmuEvent::ALL.len()]; 2],
    instructions: u64,
) -> Estimate {
    let total = outcome.total();
    let all = instructions as f64;
    let factors: Vec<f64> = PmuEvent::ALL
        .into_iter()
        .map(|event| match total.raised(event) {
            0 => 1.0,
            count => raised[event as usize].mean * all / count as f64,
        })
        .collect();
    let change = |event: PmuEvent, count: u64| {
        if is_exact(event) {
            count
        } else {
            (count as f64 * factors[event as usize]).round() as u64
        }
    };
    for core in &mut outcome.cores {
        core.change_counts(|counts| *counts = counts.map_events(change));
    }
    let total = outcome.total();
    let error = |event: PmuEvent| values[event as usize].error;
    let percent = |event: PmuEvent| match total.value(event) {
        0 => 0.0,
        _ if is_exact(event) => 0.0,
        value => {
            // The error of a sum is at most the sum of its parts' errors.
            let parts = event.relation(RelationKind::SumOf).unwrap_or_default();
            let of_parts = parts.iter().map(|part| error(*part)).sum::<f64>();
            let whole = error(event);
            let error = if parts.is_empty() { whole } else { whole.min(of_parts) };
            100.0 * NORMAL_95 * error * all / value as f64
        }
    };
    Estimate { errors: PmuEvent::ALL.into_iter().map(percent).collect(), outcome, unknown: 0 }
}

/// Returns true for the count of instructions, which is known exactly.
fn is_exact(event: PmuEvent) -> bool {
    event == PmuEvent::INST_RETIRED
}

/// Windows by cluster.
struct Strata<'a> {
    regions: &'a [Region],
    clusters: Vec<Vec<usize>>,
    unknown: usize,
    /// Half a confidence interval in standard errors.
    factor: f64,
}

impl<'a> Strata<'a> {
    fn new(regions: &'a [Region]) -> Strata<'a> {
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|window| regions[*window].cluster);
        let same = |a: &usize, b: &usize| regions[*a].cluster == regions[*b].cluster;
        let clusters: Vec<Vec<usize>> = order.chunk_by(same).map(<[usize]>::to_vec).collect();
        let is_unknown = |windows: &&Vec<usize>| match windows[..] {
            [one] => regions[one].represents > regions[one].length,
            _ => false,
        };
        let unknown = clusters.iter().filter(is_unknown).count();
        // First term of Student's distribution, with one degree of freedom per window less one per
        // cluster.
        let degrees = (regions.len() - clusters.len()).max(1) as f64;
        let factor = NORMAL_95 * (1.0 + (NORMAL_95 * NORMAL_95 + 1.0) / (4.0 * degrees));
        Strata { regions, clusters, unknown, factor }
    }

    /// Returns half of the confidence interval of a total whose parts the windows counted.
    fn half_interval(&self, count: impl Fn(usize) -> u64) -> f64 {
        let variance = |windows: &Vec<usize>| {
            let n = windows.len() as f64;
            if n < 2.0 {
                return 0.0;
            }
            let represents = |window: &usize| self.regions[*window].represents as f64;
            let rate = |window: &usize| count(*window) as f64 / self.regions[*window].length as f64;
            let all: f64 = windows.iter().map(represents).sum();
            let mean =
                windows.iter().map(|one| represents(one) * rate(one)).sum::<f64>() / all.max(1.0);
            let off = |one: &usize| {
                (represents(one) * (rate(one) - mean)).powi(2) * self.regions[*one].left_out()
            };
            n / (n - 1.0) * windows.iter().map(off).sum::<f64>()
        };
        self.factor * self.clusters.iter().map(variance).sum::<f64>().sqrt()
    }
}

/// Returns the weighted sum of the parts.
fn weighted(parts: &[Outcome], weights: &[f64]) -> Option<Outcome> {
    let mut parts = parts.iter().zip(weights);
    let (first, weight) = parts.next()?;
    let mut sum = first.clone();
    sum.cores.iter_mut().for_each(|core| scale(core, *weight));
    for (part, weight) in parts {
        for (sum, core) in sum.cores.iter_mut().zip(&part.cores) {
            let mut core = core.clone();
            scale(&mut core, *weight);
            add(sum, core);
        }
        let new: Vec<String> =
            part.notes.iter().filter(|note| !sum.notes.contains(note)).cloned().collect();
        sum.notes.extend(new);
    }
    Some(sum)
}

fn scale(core: &mut CoreOutcome, weight: f64) {
    let times = |n: u64| (n as f64 * weight).round() as u64;
    core.change_counts(|counts| *counts = counts.map(times));
    let mut stalls = core.stalls.unpack();
    stalls.change(times);
    core.stalls = Packed::from(&stalls);
    core.prefetches = core.prefetches.map(times);
    core.memory = core.memory.map(times);
}

fn add(sum: &mut CoreOutcome, core: CoreOutcome) {
    sum.is_counted |= core.is_counted;
    sum.add_counts(&core);
    sum.prefetches = sum.prefetches.plus(&core.prefetches);
    sum.memory = sum.memory.plus(&core.memory);
    // Each part lists the unknown words from the trace's begin on.
    if core.unknown_words.len() > sum.unknown_words.len() {
        sum.unknown_words = core.unknown_words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cycles: u64) -> Counts {
        let mut counts = Counts::default();
        sim_core::EventSink::count(&mut counts, PmuEvent::CPU_CYCLES, cycles);
        counts
    }

    fn regions(windows: &[(u32, u64, u64)]) -> Regions {
        let region = |&(cluster, length, represents): &(u32, u64, u64)| Region {
            cluster,
            begin: 0,
            length,
            represents,
            known: Vec::new(),
        };
        Regions {
            trace: String::new(),
            trace_hash: String::new(),
            instructions: windows.iter().map(|window| window.2).sum(),
            warmup: 0,
            functional_warmup: 0,
            known_on: None,
            states: None,
            known: Vec::new(),
            windows: windows.iter().map(region).collect(),
        }
    }

    fn cycles(cycles: &[u64], windows: &[(u32, u64, u64)]) -> (u64, f64, usize) {
        let counted: Vec<Counts> = cycles.iter().map(|cycles| counts(*cycles)).collect();
        let machine = Machine { warm: 0, is_warm: false };
        let estimate =
            Estimate::of_counts(&counted, &regions(windows), machine).expect("there are windows");
        let count = estimate.outcome.total().value(PmuEvent::CPU_CYCLES);
        (count, estimate.errors[PmuEvent::CPU_CYCLES as usize], estimate.unknown)
    }

    #[test]
    fn windows_count_for_the_part_that_they_represent() {
        let windows = [(0, 10, 100), (1, 10, 10), (0, 10, 100)];
        assert_eq!(cycles(&[20, 7, 20], &windows), (407, 0.0, 0));
    }

    #[test]
    fn differences_within_a_cluster_determine_the_error() {
        // Rates 1 and 3: s = sqrt(2), two of twenty windows: 200 * sqrt(2 / 2 * 0.9), one degree of
        // freedom.
        let (count, percent, _) = cycles(&[10, 30], &[(0, 10, 100), (0, 10, 100)]);
        let factor = NORMAL_95 * (1.0 + (NORMAL_95 * NORMAL_95 + 1.0) / 4.0);
        let expected = 100.0 * factor * 200.0 * 0.9f64.sqrt() / 400.0;
        assert_eq!(count, 400);
        assert!((percent - expected).abs() < 1e-9, "{percent}, not {expected}");
        let (_, whole, _) = cycles(&[10, 30], &[(0, 100, 100), (0, 100, 100)]);
        assert_eq!(whole, 0.0, "all of the cluster ran");
    }

    #[test]
    fn a_larger_cluster_with_one_window_has_an_unknown_error() {
        assert_eq!(cycles(&[10, 30], &[(0, 10, 100), (1, 10, 10)]).2, 1);
    }

    #[test]
    fn outcomes_of_chunks_are_added() {
        let sum = join(&[outcome(&counts(5)), outcome(&counts(7))]).expect("two parts");
        assert_eq!(sum.total().value(PmuEvent::CPU_CYCLES), 12);
        assert!(join(&[]).is_none());
    }
}
