//! Rates of each thread in windows of a trace of several threads.
//!
//! A window begins where functional warming has brought each thread, so the windows may have more
//! instructions of one thread, and fewer of another one, than the trace, which has their number. A
//! count is thus estimated thread by thread: its rate in the windows times the instructions of the
//! thread (a combined ratio estimate; Cochran, "Sampling techniques", chapter 6). What a window
//! counts beyond the rates of its threads determines the error, so that deviations of threads in
//! one window add up or cancel out as they do in the window.

use crate::regions::windows::Region;
use sim_core::{Counts, PmuEvent};
use sim_machine::Outcome;

/// Number of events.
const EVENTS: usize = PmuEvent::ALL.len();
/// Fewest windows whose spread says something, of a trace and of a thread with a rate of its own.
/// Threads with fewer share one rate. If they share fewer windows too, the difference of their rate
/// from that of the others is an error: the spread shows none.
pub(crate) const FEWEST: usize = 10;
/// Smallest and largest share of its instructions that a thread with a rate of its own may have in
/// the windows, scaled up.
const SHARES: (f64, f64) = (0.2, 5.0);

/// Instructions of the threads in the windows and in the trace.
pub(crate) struct ThreadRates {
    /// Factor of the counts of each thread.
    factors: Vec<f64>,
    /// Group of each thread, whose rate it has.
    groups: Vec<usize>,
    /// Variance of the mean of the last group in that of a window, if its windows are too few to
    /// show how much its rate varies and other threads have more.
    rare: Option<f64>,
    /// Weights of the windows: what they represent, in parts of their length.
    weights: Vec<f64>,
    /// Instructions of each window, by thread.
    instructions: Vec<Vec<f64>>,
    /// Represented instructions.
    all: f64,
    /// Counted instructions of each window.
    lengths: Vec<f64>,
}

impl ThreadRates {
    /// Creates the rates of windows of a trace whose threads have these numbers of instructions.
    pub(crate) fn new(windows: &[Outcome], regions: &[Region], threads: &[u64]) -> ThreadRates {
        let weights: Vec<f64> =
            regions.iter().map(|one| one.represents as f64 / one.length as f64).collect();
        let of = |window: &Outcome| -> Vec<f64> {
            window.cores.iter().map(|core| core.instructions as f64).collect()
        };
        let instructions: Vec<Vec<f64>> = windows.iter().map(of).collect();
        let in_windows = |thread: usize| -> f64 {
            let parts = instructions.iter().zip(&weights).map(|(own, weight)| own[thread] * weight);
            parts.sum()
        };
        let found: Vec<f64> = (0..threads.len()).map(in_windows).collect();
        let threads: Vec<f64> = threads.iter().map(|count| *count as f64).collect();
        let has_rate = |thread: usize| {
            let parts = instructions.iter().zip(&weights).map(|(own, weight)| own[thread] * weight);
            effective(parts) >= FEWEST as f64 && is_near(found[thread], threads[thread])
        };
        let own: Vec<bool> = (0..threads.len()).map(has_rate).collect();
        let of_rest = |of: &Vec<f64>| -> f64 {
            of.iter().zip(&own).filter(|one| !one.1).map(|one| one.0).sum()
        };
        let rest = instructions.iter().zip(&weights).map(|(of, weight)| weight * of_rest(of));
        let is_rare = own.contains(&true) && effective(rest.clone()) < FEWEST as f64;
        let left_out: Vec<f64> = regions.iter().map(Region::left_out).collect();
        let rare = is_rare.then(|| variance_of_mean(rest.zip(left_out)));
        let group = |thread: usize| if own[thread] { thread } else { threads.len() };
        ThreadRates {
            factors: factors(&threads, &found, &own),
            groups: (0..threads.len()).map(group).collect(),
            rare,
            weights,
            instructions,
            all: regions.iter().map(|one| one.represents as f64).sum::<f64>().max(1.0),
            lengths: regions.iter().map(|one| one.length as f64).collect(),
        }
    }

    /// Returns the factor of the counts of a thread in the windows.
    pub(crate) fn factor(&self, thread: usize) -> f64 {
        self.factors[thread]
    }

    /// Returns the count of an event in a window, scaled thread by thread.
    pub(crate) fn scaled(&self, window: &Outcome, event: PmuEvent) -> f64 {
        let cores = window.cores.iter().zip(&self.factors);
        cores.map(|(core, factor)| factor * core.counts.value(event) as f64).sum()
    }

    /// Returns, for each event by its number, a rate per instruction for each window whose mean,
    /// weighted by what the windows represent, is the estimate, and whose deviations from it are
    /// those of the window from the rates of its threads.
    pub(crate) fn rates(&self, windows: &[Outcome], of: Count) -> Vec<Vec<f64>> {
        let totals = self.totals(windows, of);
        let mut rates = vec![Vec::new(); EVENTS];
        for ((window, own), length) in windows.iter().zip(&self.instructions).zip(&self.lengths) {
            let mut beyond = vec![0.0; EVENTS];
            for (thread, core) in window.cores.iter().enumerate() {
                let (counts, factor) = (core.counts.unpack(), self.factors[thread]);
                let of_group = &totals.rates[self.groups[thread]];
                for (event, beyond) in PmuEvent::ALL.into_iter().zip(&mut beyond) {
                    let expected = of_group[event as usize] * own[thread];
                    *beyond += factor * (of(&counts, event) as f64 - expected);
                }
            }
            let parts = rates.iter_mut().zip(&totals.means).zip(&beyond);
            parts.for_each(|((rates, mean), beyond)| rates.push(mean + beyond / length));
        }
        rates
    }

    /// Returns, for each event by its number, the standard error of the rate of all threads because
    /// some are in few windows.
    pub(crate) fn errors_of_rare(&self, windows: &[Outcome], of: Count) -> Vec<f64> {
        let Some(variance) = self.rare else { return vec![0.0; EVENTS] };
        let (totals, last) = (self.totals(windows, of), self.groups.len());
        let is_in = |thread: &usize| self.groups[*thread] == last;
        let found = |thread: usize| -> f64 {
            let parts = self.instructions.iter().zip(&self.weights);
            parts.map(|(own, weight)| own[thread] * weight).sum::<f64>() * self.factors[thread]
        };
        let part = (0..last).filter(is_in).map(found).sum::<f64>() / self.all;
        let others = |mean: f64, own: f64| (mean - part * own) / (1.0 - part).max(1e-9);
        let error = |(mean, own): (&f64, &f64)| part * (own - others(*mean, *own)).abs();
        let errors = totals.means.iter().zip(&totals.rates[last]).map(error);
        errors.map(|error| error * variance.sqrt()).collect()
    }

    /// Returns the rates of each group of threads, and the estimated rates of all.
    fn totals(&self, windows: &[Outcome], of: Count) -> Totals {
        let groups = self.groups.len() + 1;
        let (mut rates, mut means) = (vec![vec![0.0; EVENTS]; groups], vec![0.0; EVENTS]);
        let mut run = vec![0.0; groups];
        for ((window, own), weight) in windows.iter().zip(&self.instructions).zip(&self.weights) {
            for (thread, core) in window.cores.iter().enumerate() {
                let (counts, group) = (core.counts.unpack(), self.groups[thread]);
                run[group] += weight * own[thread];
                for event in PmuEvent::ALL {
                    let count = weight * of(&counts, event) as f64;
                    rates[group][event as usize] += count;
                    means[event as usize] += self.factors[thread] * count / self.all;
                }
            }
        }
        for (rates, run) in rates.iter_mut().zip(&run) {
            rates.iter_mut().for_each(|rate| *rate /= run.max(1.0));
        }
        Totals { rates, means }
    }
}

/// Returns the number of equal parts that would say as much as these (Kish, "Survey sampling",
/// chapter 11.7).
fn effective(parts: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) =
        parts.fold((0.0, 0.0), |(sum, squares), part| (sum + part, squares + part * part));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// Returns the variance of a mean over parts in that of one, if only what these leave out varies.
fn variance_of_mean(parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, squares) = parts.fold((0.0, 0.0), |(sum, squares), (part, left_out)| {
        (sum + part, squares + part * part * left_out)
    });
    if sum > 0.0 { squares / (sum * sum) } else { 0.0 }
}

/// Returns true if the windows, scaled up, have about as many instructions as the trace.
fn is_near(found: f64, all: f64) -> bool {
    (SHARES.0..=SHARES.1).contains(&(found / all.max(1.0)))
}

/// Returns the factors of threads with these numbers of instructions in the trace and in the
/// windows. Threads without a rate of their `own` have that of their group, or that of all others
/// if the windows have too few of their instructions.
fn factors(threads: &[f64], found: &[f64], own: &[bool]) -> Vec<f64> {
    let rest =
        |of: &[f64]| -> f64 { of.iter().zip(own).filter(|one| !one.1).map(|one| one.0).sum() };
    let (all, group) = (rest(threads), rest(found));
    let has_group = is_near(group, all);
    let measured = threads.iter().zip(own).filter(|one| *one.1 || has_group).map(|one| one.0);
    let seen = measured.sum::<f64>();
    let missing = if seen > 0.0 { threads.iter().sum::<f64>() / seen } else { 1.0 };
    let factor = |thread: usize| match own[thread] {
        true => missing * threads[thread] / found[thread],
        false if has_group => missing * all / group,
        false => 0.0,
    };
    (0..threads.len()).map(factor).collect()
}

/// Rates by event.
struct Totals {
    /// Rate of each group of threads per instruction of these.
    rates: Vec<Vec<f64>>,
    /// Estimated rates per instruction of all threads.
    means: Vec<f64>,
}

/// Count of an event in a window.
pub(crate) type Count = fn(&Counts, PmuEvent) -> u64;

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::regions::windows::Regions;
    use sim_core::{EventSink, Packed};
    use sim_machine::CoreOutcome;

    /// A window of two threads with these instructions and cycles of waits.
    pub(crate) fn window(threads: [(u64, u64); 2]) -> Outcome {
        let core = |(instructions, waited): (u64, u64)| {
            let mut counts = Counts::default();
            counts.count(PmuEvent::INST_RETIRED, instructions);
            counts.count(PmuEvent::CPU_CYCLES, instructions + waited);
            let counts = Packed::from(&counts);
            let mut core = CoreOutcome { counts, instructions, ..Default::default() };
            core.waits.on_core = waited;
            core
        };
        Outcome { cores: threads.map(core).to_vec(), clock_hz: 1, ..Outcome::default() }
    }

    /// Windows of ten instructions.
    pub(crate) fn regions(represents: &[u64]) -> Regions {
        let region = |(n, represents): (usize, &u64)| Region {
            cluster: 0,
            begin: 10 * n as u64,
            length: 10,
            represents: *represents,
            known: Vec::new(),
        };
        Regions {
            trace: String::new(),
            trace_hash: String::new(),
            instructions: represents.iter().sum(),
            warmup: 0,
            functional_warmup: 0,
            known_on: None,
            states: None,
            known: Vec::new(),
            windows: represents.iter().enumerate().map(region).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{regions, window};
    use super::*;

    const CYCLES: usize = PmuEvent::CPU_CYCLES as usize;

    fn found(windows: &[Outcome], threads: &[u64]) -> (ThreadRates, Vec<f64>) {
        let regions = regions(&vec![100; windows.len()]);
        let rates = ThreadRates::new(windows, &regions.windows, threads);
        let cycles = rates.rates(windows, Counts::value).swap_remove(CYCLES);
        (rates, cycles)
    }

    #[test]
    fn each_thread_is_scaled_to_its_instructions() {
        // Rates 1 and 3; the windows have 8 to 2 instructions, the trace as many of both.
        let windows = vec![window([(8, 0), (2, 4)]); 12];
        let (rates, cycles) = found(&windows, &[600, 600]);
        assert!((rates.factor(0) - 600.0 / 960.0).abs() < 1e-9);
        assert!((rates.factor(1) - 600.0 / 240.0).abs() < 1e-9);
        assert!(cycles.iter().all(|rate| (rate - 2.0).abs() < 1e-9), "{cycles:?}");
    }

    #[test]
    fn other_shares_of_threads_in_a_window_are_no_deviation() {
        let mut windows = vec![window([(8, 0), (2, 4)]); 8];
        windows.extend(vec![window([(2, 0), (8, 16)]); 8]);
        let (_, cycles) = found(&windows, &[800, 800]);
        assert!(cycles.iter().all(|rate| (rate - 2.0).abs() < 1e-9), "{cycles:?}");
    }

    #[test]
    fn deviations_of_the_threads_of_a_window_add_up() {
        let windows = |other: [u64; 2]| {
            let two = [window([(5, 0), (5, other[0])]), window([(5, 10), (5, other[1])])];
            (0..6).flat_map(|_| two.clone()).collect::<Vec<_>>()
        };
        let spread = |other| {
            let (_, cycles) = found(&windows(other), &[600, 600]);
            (cycles[1] - cycles[0]).abs()
        };
        assert!(spread([10, 0]) < 1e-9, "one waits when the other does not");
        assert!((spread([0, 10]) - 2.0).abs() < 1e-9, "both wait in the same windows");
    }

    #[test]
    fn no_thread_is_rare_beside_none() {
        // Ten windows of different weights say less than ten equal ones, of both threads.
        let windows = vec![window([(5, 5), (5, 0)]); 10];
        let represents: Vec<u64> = (0..10).map(|n| 100 + 10 * n).collect();
        let half = represents.iter().sum::<u64>() / 2;
        let rates = ThreadRates::new(&windows, &regions(&represents).windows, &[half, half]);
        assert_eq!(rates.errors_of_rare(&windows, Counts::value)[CYCLES], 0.0);
    }

    #[test]
    fn threads_in_few_windows_share_a_rate() {
        let mut windows = vec![window([(10, 0), (0, 0)]); 11];
        windows.push(window([(5, 0), (5, 5)]));
        let (rates, cycles) = found(&windows, &[1150, 50]);
        assert!((rates.factor(1) - 1.0).abs() < 1e-9);
        assert!((cycles[11] - cycles[0]).abs() < 1e-9, "its only window is as its rate");
        // 50 of 1200 instructions, of which each may take a cycle less; a tenth of them ran.
        let errors = rates.errors_of_rare(&windows, Counts::value);
        let expected = 50.0 / 1200.0 * 0.9f64.sqrt();
        assert!((errors[CYCLES] - expected).abs() < 1e-9, "{}", errors[CYCLES]);
        // A thread without instructions in the windows is as the others.
        let windows = vec![window([(10, 0), (0, 0)]); 12];
        let (rates, cycles) = found(&windows, &[1100, 100]);
        assert!((rates.factor(0) - 1.0).abs() < 1e-9 && (cycles[0] - 1.0).abs() < 1e-9);
    }
}
