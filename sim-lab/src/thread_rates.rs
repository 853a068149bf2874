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
/// Fewest windows with instructions of a thread for a rate of its own. Threads with fewer share one
/// rate: a thread in a single window would seem to have no error.
const FEWEST: usize = 10;
/// Smallest and largest share of its instructions that a thread with a rate of its own may have in
/// the windows, scaled up.
const SHARES: (f64, f64) = (0.2, 5.0);

/// Instructions of the threads in the windows and in the trace.
pub(crate) struct ThreadRates {
    /// Factor of the counts of each thread.
    factors: Vec<f64>,
    /// Group of each thread, whose rate it has.
    groups: Vec<usize>,
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
        let count = |thread: usize| threads[thread] as f64;
        let has_rate = |thread: usize| {
            let windows = instructions.iter().filter(|own| own[thread] > 0.0).count();
            let share = in_windows(thread) / count(thread).max(1.0);
            windows >= FEWEST && (SHARES.0..=SHARES.1).contains(&share)
        };
        let own: Vec<bool> = (0..threads.len()).map(has_rate).collect();
        // Threads without a rate of their own share that of a group: their number, or of all if
        // they have no instruction in the windows.
        let rest = || (0..threads.len()).filter(|thread| !own[*thread]);
        let (known, found): (f64, f64) =
            rest().fold((0.0, 0.0), |(a, b), one| (a + count(one), b + in_windows(one)));
        let has_group = found > 0.0 && (SHARES.0..=SHARES.1).contains(&(known / found));
        let total: f64 = (0..threads.len()).map(count).sum();
        let measured = |thread: &usize| own[*thread] || has_group;
        let seen: f64 = (0..threads.len()).filter(measured).map(count).sum();
        let missing = if seen > 0.0 { total / seen } else { 1.0 };
        let factor = |thread: usize| match own[thread] {
            true => missing * count(thread) / in_windows(thread),
            false if has_group => missing * known / found,
            false => 0.0,
        };
        let factors = (0..threads.len()).map(factor).collect();
        let group = |thread: usize| if own[thread] { thread } else { threads.len() };
        ThreadRates {
            factors,
            groups: (0..threads.len()).map(group).collect(),
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
        let mut rates = vec![Vec::with_capacity(windows.len()); EVENTS];
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

/// Rates by event.
struct Totals {
    /// Rate of each group of threads per instruction of these.
    rates: Vec<Vec<f64>>,
    /// Estimated rates per instruction of all threads.
    means: Vec<f64>,
}

/// Count of an event in a window.
pub(crate) type Count = fn(&Counts, PmuEvent) -> u64;
