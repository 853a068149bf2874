//! Keys that the counts do not distinguish.

use nalgebra::{DVector, SymmetricEigen};

use crate::fit::{Best, Search};
use crate::interval::{Interval, Surroundings};
use crate::slope::Slopes;

/// Correlation, without sign, from which two open keys are in one tie.
const CORRELATED: f64 = 0.7;
/// Share of the largest part of a direction below which a key does not take part in it.
const LEAST_PART: f64 = 0.15;

/// Keys that can move together while no count changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// Numbers of the keys, and how many positions each moves.
    pub moves: Vec<(usize, f64)>,
    /// For two keys: the combination of their values that is known.
    pub known: Option<Known>,
    /// A kernel that was not fitted and that changes by the move: its number, an event, and the
    /// change as a share of the count.
    pub separated_by: Option<(usize, String, f64)>,
}

/// A combination of two values, `first + factor * second`, that the counts determine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Factor of the second key; 1 for a sum.
    pub factor: f64,
    /// Value of the combination.
    pub value: f64,
    /// Three standard deviations of it.
    pub deviation: f64,
}

/// Finds the ties of the keys whose intervals have more than one value.
pub(crate) fn ties(
    search: &Search<'_>,
    best: &Best,
    near: &Surroundings,
    intervals: &[Interval],
) -> Vec<Tie> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let open: Vec<usize> =
        (0..intervals.len()).filter(|at| intervals[*at].low < intervals[*at].high).collect();
    for column in open {
        let is_tied = |other: &usize| correlation(near, column, *other).abs() > CORRELATED;
        let (tied, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group: &Vec<usize>| group.iter().any(is_tied));
        groups = others;
        groups.push(tied.into_iter().flatten().chain([column]).collect());
    }
    groups.retain(|group| group.len() > 1);
    groups.iter().map(|group| tie(search, best, near, group)).collect()
}

fn correlation(near: &Surroundings, one: usize, other: usize) -> f64 {
    let covariance = &near.covariance;
    covariance[(one, other)] / (covariance[(one, one)] * covariance[(other, other)]).sqrt()
}

/// Describes the tie of some columns.
fn tie(search: &Search<'_>, best: &Best, near: &Surroundings, group: &[usize]) -> Tie {
    let own = near.covariance.select_rows(group).select_columns(group);
    let eigen = SymmetricEigen::new(own);
    let weakest = eigen.eigenvalues.imax();
    let direction = eigen.eigenvectors.column(weakest) * (3.0 * eigen.eigenvalues[weakest].sqrt());
    let largest = direction.amax();
    let takes_part = |(at, _): &(usize, &f64)| direction[*at].abs() > LEAST_PART * largest;
    let parts: Vec<(usize, f64)> = direction
        .iter()
        .enumerate()
        .filter(takes_part)
        .map(|(at, steps)| (group[at], *steps))
        .collect();
    let mut all = DVector::zeros(search.active.len());
    for (column, steps) in &parts {
        all[*column] = *steps;
    }
    Tie {
        known: known(search, best, near, &parts),
        separated_by: separating(search, &near.slopes, &all),
        moves: parts.iter().map(|(column, steps)| (search.active[*column], *steps)).collect(),
    }
}

/// Returns the combination of two keys that does not change with the move.
fn known(
    search: &Search<'_>,
    best: &Best,
    near: &Surroundings,
    parts: &[(usize, f64)],
) -> Option<Known> {
    let [(first, first_steps), (second, second_steps)] = *parts else { return None };
    let key = |column: usize| &search.keys[search.active[column]];
    let is_linear = |column: usize| key(column).range.steps == sim_core::config::Steps::Ones;
    if !is_linear(first) || !is_linear(second) {
        return None;
    }
    let value = |column: usize| {
        let position = best.place[search.active[column]];
        key(column).value(position) as f64
    };
    // The factor is not determined better than this: 1 where it is near.
    let factor = -first_steps / second_steps;
    let factor = if (0.8..1.25).contains(&factor) { 1.0 } else { (factor * 10.0).round() / 10.0 };
    let covariance = &near.covariance;
    let variance = covariance[(first, first)]
        + factor * factor * covariance[(second, second)]
        + 2.0 * factor * covariance[(first, second)];
    let deviation = 3.0 * variance.max(0.0).sqrt();
    Some(Known { factor, value: value(first) + factor * value(second), deviation })
}

/// Returns the point outside of the fit that changes most with a move, if that shows.
fn separating(
    search: &Search<'_>,
    slopes: &Slopes,
    steps: &DVector<f64>,
) -> Option<(usize, String, f64)> {
    let changes = slopes.along(steps);
    let points = search.points;
    let is_outside = |at: &usize| points.all[*at].counted.is_none() || points.all[*at].held_out;
    let outside = (0..points.all.len()).filter(is_outside);
    let most =
        outside.max_by(|one, other| changes[*one].abs().total_cmp(&changes[*other].abs()))?;
    let point = &points.all[most];
    let shows = changes[most].abs() > 3.0;
    let deviation = point.counted.map_or(points.noise, |sample| points.deviation(point, sample));
    shows.then(|| (point.kernel, point.event.clone(), (changes[most] * deviation).exp_m1()))
}
