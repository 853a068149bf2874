//! Which intervals of each group are run: enough of them to say how far the group's members differ.
//!
//! Stratified sampling. A group gets windows by its share of the instructions and by how far its vectors
//! spread (Neyman's allocation). Its members, in the order of time, are cut into as many parts as it gets
//! windows, and of each part any one runs: data grows older while the code stays the same, and every age is to
//! be seen. The one that is nearest to the middle would not do: it is never one of a burst, and such windows differ
//! less than the members do.

use super::cluster::Clustering;
use super::vectors::{DIMENSIONS, Interval, Vector, distance, unit};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Part of the spread of all vectors that every group is taken to have at least: what vectors of code do
/// not see of data.
const LEAST_SPREAD: f64 = 0.25;

/// An interval that is to be run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chosen {
    /// Its number.
    pub(crate) interval: usize,
    /// Its group.
    pub(crate) group: usize,
    /// Instructions of the part of its group that it stands for.
    pub(crate) stands_for: u64,
}

/// About `windows` intervals, in the order of the trace. Each group has two at least, if it has so many.
pub(crate) fn choose(
    intervals: &[Interval],
    groups: &Clustering,
    windows: usize,
    seed: u64,
) -> Vec<Chosen> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut members = vec![Vec::new(); groups.centers.len()];
    for (number, group) in groups.group_of.iter().enumerate() {
        members[*group].push(number);
    }
    let weights = need(intervals, groups, &members);
    let all: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut chosen = Vec::new();
    for (group, (members, weight)) in members.iter().zip(&weights).enumerate() {
        let share = (windows as f64 * weight / all).round() as usize;
        let count = share.max(2).min(members.len());
        chosen.extend((0..count).map(|part| {
            let part = &members[part * members.len() / count..(part + 1) * members.len() / count];
            let stands_for = part.iter().map(|number| intervals[*number].length).sum();
            Chosen { interval: any(part, &mut random), group, stands_for }
        }));
    }
    chosen.sort_by_key(|chosen| chosen.interval);
    chosen
}

/// Instructions of each group times the spread of its vectors.
fn need(intervals: &[Interval], groups: &Clustering, members: &[Vec<usize>]) -> Vec<f64> {
    let spread = |members: &[usize], center: &Vector| {
        let far = members.iter().map(|number| distance(&intervals[*number].vector, center));
        (far.sum::<f64>() / members.len().max(1) as f64).sqrt()
    };
    let everything: Vec<usize> = (0..intervals.len()).collect();
    let least = LEAST_SPREAD * spread(&everything, &middle(intervals, &everything)) + f64::EPSILON;
    let of_group = |(members, center): (&Vec<usize>, &Vector)| {
        let instructions: u64 = members.iter().map(|number| intervals[*number].length).sum();
        instructions as f64 * spread(members, center).max(least)
    };
    members.iter().zip(&groups.centers).map(of_group).collect()
}

/// Any of the members.
fn any(members: &[usize], random: &mut Xoshiro256PlusPlus) -> usize {
    let place = (unit(random) * members.len() as f64) as usize;
    members[place.min(members.len() - 1)]
}

fn middle(intervals: &[Interval], members: &[usize]) -> Vector {
    let mut sum = [0.0; DIMENSIONS];
    for number in members {
        sum.iter_mut().zip(&intervals[*number].vector).for_each(|(sum, part)| *sum += part);
    }
    sum.map(|part| part / members.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::cluster::cluster;
    use super::*;

    /// Ten instructions each, at these places of the space.
    fn intervals(places: &[f64]) -> Vec<Interval> {
        let interval = |(n, place): (usize, &f64)| Interval {
            begin: 10 * n as u64,
            length: 10,
            vector: [*place; DIMENSIONS],
            traits: Default::default(),
        };
        places.iter().enumerate().map(interval).collect()
    }

    #[test]
    fn every_instruction_is_stood_for_once() {
        let places: Vec<f64> =
            (0..90).map(|n| f64::from(n / 30) + f64::from(n % 7) / 1e3).collect();
        let intervals = intervals(&places);
        let vectors: Vec<Vector> = intervals.iter().map(|one| one.vector).collect();
        let groups = cluster(&vectors, 10, 1);
        for windows in [1, 9, 30, 1000] {
            let chosen = choose(&intervals, &groups, windows, 1);
            let all: u64 = chosen.iter().map(|one| one.stands_for).sum();
            assert_eq!(all, 900);
            assert!(chosen.windows(2).all(|pair| pair[0].interval < pair[1].interval));
            let expected = windows.clamp(2 * groups.centers.len(), 90);
            assert!(chosen.len().abs_diff(expected) <= 3, "{} of {expected}", chosen.len());
        }
    }

    #[test]
    fn a_group_of_one_has_one_window() {
        let intervals = intervals(&[0.0, 0.0, 9.0]);
        let groups = Clustering::of(vec![0, 0, 1], &[[0.0; DIMENSIONS], [9.0; DIMENSIONS]]);
        let chosen = choose(&intervals, &groups, 2, 1);
        let found: Vec<(usize, u64)> =
            chosen.iter().map(|one| (one.interval, one.stands_for)).collect();
        assert_eq!(found, [(0, 10), (1, 10), (2, 10)]);
    }
}
