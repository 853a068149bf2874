//! Chooses the intervals to run.
//!
//! Rare events come in bursts: a few intervals contain half of a trace's table walks or of its
//! waits for memory. So each interval is sampled with a probability by its activity (Hansen and
//! Hurwitz, 1943): a burst always runs, a quiet interval represents many. Intervals are ordered by
//! cluster, then by time, and sampled systematically (Madow, 1949). So every cluster and every
//! phase of the trace gets its share.

use super::cluster::Clustering;
use super::vectors::{Interval, unit};
use crate::known_events::KNOWN_EVENTS;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use sim_core::PmuEvent;

/// Events of an interval's activity; events that are known well without windows are left out.
const ACTIVITY: [PmuEvent; 7] = [
    PmuEvent::CPU_CYCLES,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L1D_TLB_REFILL,
    PmuEvent::L2D_CACHE_RD,
    PmuEvent::L2D_CACHE_REFILL,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
];
/// Smallest activity of an interval of mean length, in units of the mean.
const LEAST_ACTIVITY: f64 = 1.0;

/// An interval that is to be run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chosen {
    /// Number of the interval.
    pub(crate) interval: usize,
    /// Cluster of the interval.
    pub(crate) group: usize,
    /// Instructions that it represents by its sampling probability, its own included.
    pub(crate) represents: f64,
}

/// Chooses about `windows` intervals, in trace order.
pub(crate) fn choose(
    intervals: &[Interval],
    groups: &Clustering,
    windows: usize,
    seed: u64,
) -> Vec<Chosen> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let chances = chances(&activity(intervals), windows);
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|number| groups.group_of[*number]);
    let mut chosen = Vec::new();
    // An interval is taken when the sum of the probabilities passes the next integer.
    let mut sum = unit(&mut random);
    for number in order {
        let (before, chance) = (sum.floor(), chances[number]);
        sum += chance;
        if sum.floor() > before {
            let represents = intervals[number].length as f64 / chance;
            chosen.push(Chosen { interval: number, group: groups.group_of[number], represents });
        }
    }
    if chosen.is_empty() && !intervals.is_empty() {
        // Rounding may leave the sum of all probabilities slightly below one.
        let (interval, group) = (intervals.len() - 1, groups.group_of[intervals.len() - 1]);
        let all: u64 = intervals.iter().map(|one| one.length).sum();
        chosen.push(Chosen { interval, group, represents: all as f64 });
    }
    chosen.sort_by_key(|chosen| chosen.interval);
    chosen
}

/// Returns the activity of each interval, in units of the mean.
fn activity(intervals: &[Interval]) -> Vec<f64> {
    let count = intervals.len().max(1) as f64;
    let columns = KNOWN_EVENTS.iter().enumerate().filter(|(_, event)| ACTIVITY.contains(event));
    let means: Vec<(usize, f64)> = columns
        .map(|(at, _)| {
            let counts = intervals.iter().map(|one| one.features[at] * one.length as f64);
            (at, counts.sum::<f64>() / count)
        })
        .filter(|(_, mean)| *mean > 0.0)
        .collect();
    let length = intervals.iter().map(|one| one.length as f64).sum::<f64>() / count;
    let of_one = |one: &Interval| {
        let parts = means.iter().map(|(at, mean)| (one.features[*at] * length / mean).powi(2));
        let square = parts.sum::<f64>() / means.len().max(1) as f64;
        one.length as f64 / length * (square + LEAST_ACTIVITY * LEAST_ACTIVITY).sqrt()
    };
    intervals.iter().map(of_one).collect()
}

/// Returns the probability of each interval: by its size, at most 1, about `windows` in all.
fn chances(sizes: &[f64], windows: usize) -> Vec<f64> {
    let mut certain = vec![false; sizes.len()];
    loop {
        let wanted =
            windows as f64 - certain.iter().filter(|is_certain| **is_certain).count() as f64;
        let open = sizes.iter().zip(&certain).filter(|(_, is_certain)| !**is_certain);
        let all: f64 = open.map(|(size, _)| size).sum();
        let scale = wanted.max(0.0) / all.max(f64::MIN_POSITIVE);
        let mut has_grown = false;
        for (size, is_certain) in sizes.iter().zip(&mut certain) {
            let becomes = !*is_certain && size * scale >= 1.0;
            *is_certain |= becomes;
            has_grown |= becomes;
        }
        if !has_grown {
            let chance =
                |(size, is_certain): (&f64, &bool)| if *is_certain { 1.0 } else { size * scale };
            return sizes.iter().zip(&certain).map(chance).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::cluster;
    use super::super::vectors::{DIMENSIONS, Vector};
    use super::*;

    /// Returns intervals of ten instructions each at these places of the feature space.
    fn intervals(places: &[f64]) -> Vec<Interval> {
        let interval = |(n, place): (usize, &f64)| Interval {
            begin: 10 * n as u64,
            length: 10,
            vector: [*place; DIMENSIONS],
            features: Default::default(),
        };
        places.iter().enumerate().map(interval).collect()
    }

    fn groups(intervals: &[Interval]) -> Clustering {
        let vectors: Vec<Vector> = intervals.iter().map(|one| one.vector).collect();
        cluster(&vectors, 10, 1)
    }

    #[test]
    fn the_requested_number_runs_and_each_cluster_has_its_share() {
        let places: Vec<f64> =
            (0..90).map(|n| f64::from(n / 30) + f64::from(n % 7) / 1e3).collect();
        let intervals = intervals(&places);
        let groups = groups(&intervals);
        for windows in [1, 9, 30, 1000] {
            let chosen = choose(&intervals, &groups, windows, 1);
            assert!(chosen.windows(2).all(|pair| pair[0].interval < pair[1].interval));
            assert_eq!(chosen.len(), windows.min(90));
            let all: f64 = chosen.iter().map(|one| one.represents).sum();
            assert!((all - 900.0).abs() < 1e-6, "{all}");
        }
        let chosen = choose(&intervals, &groups, 9, 1);
        for third in 0..3 {
            let found = chosen.iter().filter(|one| one.interval / 30 == third).count();
            assert!(found.abs_diff(3) <= 1, "{found} of third {third}");
        }
    }

    #[test]
    fn a_burst_always_runs_and_represents_itself() {
        let mut intervals = intervals(&[0.0; 100]);
        let waits = KNOWN_EVENTS.iter().position(|event| *event == PmuEvent::STALL_BACKEND);
        intervals[37].features[waits.expect("it is known")] = 5.0;
        let groups = groups(&intervals);
        for seed in 1..20 {
            let chosen = choose(&intervals, &groups, 10, seed);
            let burst = chosen.iter().find(|one| one.interval == 37).expect("it runs");
            assert!((burst.represents - 10.0).abs() < 1e-9, "{burst:?}");
            assert!(chosen.len().abs_diff(10) <= 1, "{}", chosen.len());
        }
    }

    #[test]
    fn a_request_for_too_many_windows_takes_all_intervals() {
        assert_eq!(chances(&[1.0, 9.0, 3.0], 5), [1.0; 3]);
        assert!(choose(&[], &Clustering::of(Vec::new(), &[]), 5, 1).is_empty());
    }
}
