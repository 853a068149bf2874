//! Values of a key that fit as well as the best one, if the other keys follow.

use nalgebra::{DMatrix, DVector};

use crate::fit::{Best, Search, weight};
use crate::lattice::Quadratic;
use crate::residual;
use crate::runs::{Model, RunError, Runs, Wanted};
use crate::slope::Slopes;

/// Increase of the sum of squares at the ends of an interval: three standard deviations.
const INCREASE: f64 = 9.0;

const FITTED: Wanted = Wanted::Fitted;

/// Positions of a key that the counts do not exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Least position.
    pub low: usize,
    /// Greatest position.
    pub high: usize,
}

/// One end of an interval during the search for it.
struct End {
    /// Column of the key.
    column: usize,
    /// -1 or 1.
    sign: f64,
    /// Steps that are not excluded.
    reached: usize,
    /// Steps to try next; `None` if the end is known.
    next: Option<usize>,
}

/// Intervals of all active keys, or a better place that was found on the way.
pub(crate) enum Profiles {
    /// One interval for each active key.
    Known(Vec<Interval>),
    /// The search had not found the best place.
    Better(Best),
}

/// Limits of the search for intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    /// Variance of the part of each fitted point in the cost of a place.
    pub(crate) luck: &'a [f64],
    /// A better place ends the search.
    pub(crate) may_restart: bool,
}

impl Limits<'_> {
    /// Returns the standard deviation of the difference of the costs of two places by luck alone:
    /// of points that differ there at all.
    fn luck_between(self, fitted: &[usize], one: &[f64], other: &[f64]) -> f64 {
        let both = fitted.iter().zip(self.luck);
        let changed = both.filter(|(at, _)| one[**at] != other[**at]);
        (2.0 * changed.map(|(_, luck)| luck).sum::<f64>()).sqrt()
    }
}

/// Slopes and covariances around the best place.
pub(crate) struct Surroundings {
    /// Slopes of all points.
    pub(crate) slopes: Slopes,
    /// Variance of a residual: 1 if the counts differ by noise alone.
    scale: f64,
    /// Slopes of the fitted points.
    rows: DMatrix<f64>,
    /// Their squares, with something small on the diagonal.
    normal: DMatrix<f64>,
    /// Covariances of the keys, in steps.
    pub(crate) covariance: DMatrix<f64>,
}

impl Surroundings {
    /// Describes the surroundings by the slopes and the residuals at the best place.
    pub(crate) fn new(
        search: &Search<'_>,
        slopes: Slopes,
        residuals: &[f64],
    ) -> Option<Surroundings> {
        let scale = residual::scale(residuals);
        let rows = slopes.rows(search.fitted);
        // As in the fit, a count that the model does not explain has little weight.
        let mut weighted = rows.clone();
        for (mut row, residual) in weighted.row_iter_mut().zip(residuals) {
            row *= weight(*residual);
        }
        let mut normal = rows.tr_mul(&weighted);
        for (column, key) in search.active.iter().enumerate() {
            // The range limits the key, too: as a normal distribution over all of it.
            normal[(column, column)] += scale * (search.keys[*key].last() as f64).powi(-2);
        }
        let covariance = normal.clone().cholesky()?.inverse() * scale;
        Some(Surroundings { slopes, scale, rows, normal, covariance })
    }

    /// Returns the standard deviation of the prediction of each point, in standard deviations of
    /// its count.
    pub(crate) fn spread(&self) -> Vec<f64> {
        let slopes = &self.slopes.of_points;
        let moved = slopes * &self.covariance;
        let variance = |row: usize| moved.row(row).dot(&slopes.row(row));
        (0..slopes.nrows()).map(|row| variance(row).max(0.0).sqrt()).collect()
    }

    /// Returns the best places, if one key moves by exactly these steps.
    fn places(
        &self,
        search: &Search<'_>,
        place: &[usize],
        predicted: &[f64],
        (column, steps): (usize, i64),
        most: usize,
    ) -> Vec<Vec<usize>> {
        let residuals = search.points.residuals(search.fitted, predicted);
        let residuals = residuals.iter().map(|residual| residual * weight(*residual));
        let residuals = DVector::from_iterator(search.fitted.len(), residuals);
        let mut bounds = search.bounds(place);
        bounds[column] = (steps, steps);
        let normal = self.normal.clone();
        let gradient = self.rows.tr_mul(&residuals);
        let best = Quadratic { normal, gradient, bounds }.best_steps(most);
        best.iter().map(|steps| search.moved(place, steps)).collect()
    }
}

/// Finds the intervals of all active keys around the best place, or a better place.
pub(crate) fn profiles<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    best: &Best,
    near: &Surroundings,
    limits: Limits<'_>,
) -> Result<Profiles, RunError<M::Error>> {
    let mut ends = Vec::new();
    for column in 0..search.active.len() {
        let likely = 3.0 * near.covariance[(column, column)].sqrt();
        for sign in [-1.0, 1.0] {
            let room = room(search, best, column, sign);
            let first = (likely.ceil() as usize).clamp(1, room.max(1));
            ends.push(End { column, sign, reached: 0, next: (room > 0).then_some(first) });
        }
    }
    let scale = near.scale;
    while ends.iter().any(|end| end.next.is_some()) {
        let costs = costs_of(search, runs, best, near, &ends)?;
        for (end, cost) in ends.iter_mut().zip(costs) {
            let Some(tried) = end.next else { continue };
            let Some(found) = cost else {
                // No place could be computed: nothing is excluded.
                (end.reached, end.next) = (room(search, best, end.column, end.sign), None);
                continue;
            };
            let cost = found.cost;
            let pair = (runs.one(&found.place, FITTED)?, runs.one(&best.place, FITTED)?);
            let luck = match pair {
                (Some(one), Some(other)) => limits.luck_between(search.fitted, &one, &other),
                _ => 0.0,
            };
            if limits.may_restart && cost < best.cost - 0.5 * scale - luck {
                return Ok(Profiles::Better(found));
            }
            let room = room(search, best, end.column, end.sign);
            let is_excluded = cost > best.cost + INCREASE * scale + 3.0 * luck;
            end.reached = if is_excluded { tried - 1 } else { tried };
            end.next = (!is_excluded && tried < room).then(|| (2 * tried).min(room));
        }
    }
    let interval = |(column, pair): (usize, &[End])| {
        let position = best.place[search.active[column]];
        Interval { low: position - pair[0].reached, high: position + pair[1].reached }
    };
    Ok(Profiles::Known(ends.chunks(2).enumerate().map(interval).collect()))
}

/// Returns the steps between the best position of a key and the end of its range.
fn room(search: &Search<'_>, best: &Best, column: usize, sign: f64) -> usize {
    let key = search.active[column];
    if sign < 0.0 { best.place[key] } else { search.keys[key].last() - best.place[key] }
}

/// Returns the least cost that was found for the next step of each end.
fn costs_of<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    best: &Best,
    near: &Surroundings,
    ends: &[End],
) -> Result<Vec<Option<Best>>, RunError<M::Error>> {
    let Some(best_predicted) = runs.one(&best.place, FITTED)? else {
        return Ok(vec![None; ends.len()]);
    };
    let mut found: Vec<Option<Best>> = vec![None; ends.len()];
    let from_best = |end: &End| {
        let steps = (end.next? as f64 * end.sign) as i64;
        Some(near.places(search, &best.place, &best_predicted, (end.column, steps), 3))
    };
    let first: Vec<_> = ends.iter().map(from_best).collect();
    keep_least(search, runs, &first, &mut found)?;
    // The model is not a quadratic form: once more from what was found.
    let mut second = Vec::new();
    for (end, least) in ends.iter().zip(&found) {
        let Some(Best { place, .. }) = least else {
            second.push(None);
            continue;
        };
        let predicted = runs.one(place, FITTED)?;
        second.push(predicted.map(|run| near.places(search, place, &run, (end.column, 0), 2)));
    }
    keep_least(search, runs, &second, &mut found)?;
    Ok(found)
}

/// Runs some places for each end and keeps the cheapest one.
fn keep_least<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    places: &[Option<Vec<Vec<usize>>>],
    found: &mut [Option<Best>],
) -> Result<(), RunError<M::Error>> {
    let flat: Vec<Vec<usize>> = places.iter().flatten().flatten().cloned().collect();
    let mut predicted = runs.at(&flat, FITTED)?.into_iter();
    for (places, found) in places.iter().zip(found) {
        for place in places.iter().flatten() {
            let run = predicted.next().flatten();
            let cost = run.map_or(f64::INFINITY, |run| search.cost(&run));
            if found.as_ref().is_none_or(|least| cost < least.cost) {
                *found = Some(Best { place: place.clone(), cost });
            }
        }
    }
    Ok(())
}
