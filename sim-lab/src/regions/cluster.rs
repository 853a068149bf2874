//! Clusters similar intervals: k-means with k-means++ seeding; the Bayesian information criterion
//! determines the number of clusters, as in SimPoint.
//!
//! It is our own code: shorter than the dependencies of a crate, and deterministic on every host.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::vectors::{DIMENSIONS, Vector, distance, unit};

/// Attempts for each number of clusters, with different seeds; the best is kept.
const TRIES: u64 = 3;
/// Rounds of one attempt; the last ones change almost nothing.
const ROUNDS: usize = 40;
/// Required part of the way from the worst to the best criterion for the smallest accepted number.
const GOOD_ENOUGH: f64 = 0.9;
/// Variance below which points are equal.
const SAME: f64 = 1e-12;

/// Assignment of points to clusters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clustering {
    /// Cluster of each point.
    pub(crate) group_of: Vec<usize>,
    /// Center of each cluster; none is empty.
    pub(crate) centers: Vec<Vector>,
    /// Sum of the squared distances of all points to their centers.
    error: f64,
}

#[cfg(test)]
impl Clustering {
    /// Creates a clustering from a given assignment.
    pub(crate) fn of(group_of: Vec<usize>, centers: &[Vector]) -> Clustering {
        Clustering { group_of, centers: centers.to_vec(), error: 0.0 }
    }
}

/// Returns the best clustering with at most `most` clusters.
pub(crate) fn cluster(points: &[Vector], most: usize, seed: u64) -> Clustering {
    let mut tried: Vec<(f64, Clustering)> = Vec::new();
    for groups in numbers_of_groups(most.min(points.len()).max(1)) {
        let found = best_of(points, groups, seed);
        tried.push((criterion(points, &found), found));
    }
    let values = || tried.iter().map(|(value, _)| *value);
    let (worst, best) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let limit = worst + GOOD_ENOUGH * (best - worst);
    let chosen = values().position(|value| value >= limit).unwrap_or(0);
    tried.swap_remove(chosen).1
}

/// Returns 1, 2, 3, 4, 6, 8, 12, ... up to `most`: finer steps change little.
fn numbers_of_groups(most: usize) -> Vec<usize> {
    let halves = (0..usize::BITS - 1).flat_map(|n| [1 << n, (1 << n) + (1 << n) / 2]).skip(1);
    let mut numbers: Vec<usize> = halves.take_while(|n| *n < most).collect();
    numbers.push(most);
    numbers
}

fn best_of(points: &[Vector], groups: usize, seed: u64) -> Clustering {
    let tries = (0..TRIES).map(|number| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ (groups as u64) << 32 ^ number);
        k_means(points, seeds(points, groups, &mut random))
    });
    let best = tries.min_by(|a, b| a.error.total_cmp(&b.error));
    best.expect("there is more than no try")
}

/// Returns initial centers far from each other: each next one is drawn with a probability by the
/// square of its distance to the earlier ones.
fn seeds(points: &[Vector], groups: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vector> {
    let first = (unit(random) * points.len() as f64) as usize;
    let mut centers = vec![points[first.min(points.len() - 1)]];
    let mut nearest: Vec<f64> = points.iter().map(|point| distance(point, &centers[0])).collect();
    while centers.len() < groups {
        let mut left = unit(random) * nearest.iter().sum::<f64>();
        let chosen = nearest.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // All remaining points are centers already.
        let Some(chosen) = chosen else { break };
        let center = points[chosen];
        for (known, point) in nearest.iter_mut().zip(points) {
            *known = known.min(distance(point, &center));
        }
        centers.push(center);
    }
    centers
}

fn k_means(points: &[Vector], mut centers: Vec<Vector>) -> Clustering {
    let mut group_of = vec![usize::MAX; points.len()];
    for _ in 0..ROUNDS {
        let mut moved = false;
        for (group, point) in group_of.iter_mut().zip(points) {
            let own = nearest(point, &centers);
            moved |= *group != own;
            *group = own;
        }
        if !moved {
            break;
        }
        centers = middles(points, &mut group_of, centers.len());
    }
    let error = group_of.iter().zip(points).map(|(group, point)| distance(point, &centers[*group]));
    let error = error.sum();
    Clustering { group_of, centers, error }
}

fn nearest(point: &Vector, centers: &[Vector]) -> usize {
    let mut best = (0, f64::MAX);
    for (group, center) in centers.iter().enumerate() {
        let far = distance(point, center);
        if far < best.1 {
            best = (group, far);
        }
    }
    best.0
}

/// Returns the center of each cluster. Removes empty clusters and renumbers the others.
fn middles(points: &[Vector], group_of: &mut [usize], groups: usize) -> Vec<Vector> {
    let mut sums = vec![([0.0; DIMENSIONS], 0usize); groups];
    for (group, point) in group_of.iter().zip(points) {
        let (sum, count) = &mut sums[*group];
        sum.iter_mut().zip(point).for_each(|(sum, part)| *sum += part);
        *count += 1;
    }
    let mut places = Vec::with_capacity(groups);
    let mut centers = Vec::with_capacity(groups);
    for (sum, count) in sums {
        places.push(centers.len());
        if count > 0 {
            centers.push(sum.map(|part| part / count as f64));
        }
    }
    group_of.iter_mut().for_each(|group| *group = places[*group]);
    centers
}

/// Returns the Bayesian information criterion of spherical clusters of one variance (Pelleg and
/// Moore, 2000); larger is better.
fn criterion(points: &[Vector], found: &Clustering) -> f64 {
    let (n, k, d) = (points.len() as f64, found.centers.len() as f64, DIMENSIONS as f64);
    let variance = (found.error / (d * (n - k).max(1.0))).max(SAME);
    let mut sizes = vec![0.0; found.centers.len()];
    found.group_of.iter().for_each(|group| sizes[*group] += 1.0);
    let shares: f64 = sizes.iter().map(|size: &f64| size * (size / n).ln()).sum();
    let spread = n * d / 2.0 * (std::f64::consts::TAU * variance).ln() + d * (n - k) / 2.0;
    shares - spread - k * (d + 1.0) / 2.0 * n.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `count` points around each place, at a distance of at most 0.01.
    fn clouds(places: &[f64], count: usize) -> Vec<Vector> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut near =
            |place: f64| std::array::from_fn(|_| place + (unit(&mut random) - 0.5) / 50.0);
        (0..count).flat_map(|_| places.to_vec()).map(&mut near).collect()
    }

    #[test]
    fn clusters_are_found_and_no_more() {
        let points = clouds(&[0.0, 1.0, 5.0], 100);
        let found = cluster(&points, 20, 1);
        assert_eq!(found.centers.len(), 3);
        for place in 0..3 {
            let group = found.group_of[place];
            assert!(found.group_of.iter().skip(place).step_by(3).all(|other| *other == group));
            let near = distance(&found.centers[group], &[[0.0, 1.0, 5.0][place]; DIMENSIONS]);
            assert!(near < 0.001, "{near}");
        }
        assert_eq!(cluster(&points, 20, 1), found, "the same seed");
    }

    #[test]
    fn equal_points_form_one_cluster() {
        for count in [1, 2, 50] {
            let found = cluster(&vec![[0.25; DIMENSIONS]; count], 8, 3);
            assert_eq!((found.centers.len(), found.error), (1, 0.0));
            assert_eq!(found.group_of, vec![0; count]);
        }
    }

    #[test]
    fn tried_numbers_of_clusters_grow_by_halves() {
        assert_eq!(numbers_of_groups(1), [1]);
        assert_eq!(numbers_of_groups(14), [1, 2, 3, 4, 6, 8, 12, 14]);
    }
}
