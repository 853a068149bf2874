//! The search for the values with the least differences.
//!
//! The differences are logarithms of ratios in standard deviations. Large ones count as their size,
//! not as their square, so that an event which the model does not explain moves the values less.

use nalgebra::{DMatrix, DVector};

use crate::curves::Curves;
use crate::key::Key;
use crate::lattice::Quadratic;
use crate::point::{Points, log_ratio};
use crate::runs::{Model, RunError, Runs, Wanted};
use crate::slope::{Distance, Slopes};

/// Residual, in standard deviations, from which a difference counts as its size.
const ROBUST: f64 = 2.0;
/// Dampings of one step, tried together.
const DAMPINGS: [f64; 5] = [1e-2, 0.1, 1.0, 10.0, 100.0];
/// Rounds of [`Curves`], each with more positions near the best place.
const ROUNDS: usize = 6;

/// Data of a search.
pub(crate) struct Search<'a> {
    pub(crate) keys: &'a [Key],
    pub(crate) points: &'a Points,
    /// Numbers of the fitted points.
    pub(crate) fitted: &'a [usize],
    /// Numbers of the keys that may move.
    pub(crate) active: &'a [usize],
    /// Logarithm and standard deviation of each fitted count.
    pub(crate) targets: Vec<(f64, f64)>,
    /// Runs after which no new round begins.
    pub(crate) most_runs: usize,
}

/// A place and its cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) place: Vec<usize>,
    pub(crate) cost: f64,
}

impl<'a> Search<'a> {
    /// Describes a search.
    pub(crate) fn new(
        keys: &'a [Key],
        points: &'a Points,
        fitted: &'a [usize],
        active: &'a [usize],
        most_runs: usize,
    ) -> Search<'a> {
        let target = |at: &usize| {
            let point = &points.all[*at];
            point.counted.map_or((0.0, f64::INFINITY), |sample| {
                (log_ratio(sample.mean, 1.0), points.deviation(point, sample))
            })
        };
        let targets = fitted.iter().map(target).collect();
        Search { keys, points, fitted, active, targets, most_runs }
    }

    /// Returns the cost of predictions.
    pub(crate) fn cost(&self, predicted: &[f64]) -> f64 {
        self.points.residuals(self.fitted, predicted).iter().map(|residual| robust(*residual)).sum()
    }

    /// Returns true if noise alone costs as much.
    pub(crate) fn is_noise(&self, cost: f64) -> bool {
        let fitted = self.fitted.iter().map(|at| &self.points.all[*at]);
        let counted = fitted.filter_map(|point| Some((point, point.counted?)));
        let squares = counted.map(|(point, sample)| self.points.expected(point, sample).powi(2));
        let noise: f64 = squares.sum();
        cost <= noise + 3.0 * (2.0 * noise).sqrt()
    }

    /// Searches from a place.
    pub(crate) fn run<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        start: &[usize],
    ) -> Result<Best, RunError<M::Error>> {
        let mut best = self.evaluate(runs, &[start.to_vec()])?.remove(0);
        loop {
            let before = best.cost;
            self.follow_curves(runs, &mut best)?;
            self.descend(runs, &mut best, 32)?;
            self.polish(runs, &mut best)?;
            if best.cost >= before * 0.999 || runs.made() > self.most_runs {
                return Ok(best);
            }
        }
    }

    /// Goes where the sums of the changes of single keys lead, as long as that helps.
    fn follow_curves<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &mut Best,
    ) -> Result<(), RunError<M::Error>> {
        let mut curves = Curves::new(self);
        for round in 0..ROUNDS {
            let positions = |center: usize, last: usize| positions(center, last, round);
            let before = best.cost;
            if !curves.measure(self, runs, best, &positions)? {
                return Ok(());
            }
            let places = curves.least(self, runs, &best.place);
            self.go_to_best(runs, best, &places)?;
            let is_over = best.cost >= before * 0.999 && round > 1;
            if is_over || runs.made() > self.most_runs {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the places with their costs; a place without a machine costs infinitely much.
    fn evaluate<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        places: &[Vec<usize>],
    ) -> Result<Vec<Best>, RunError<M::Error>> {
        let predicted = runs.at(places, Wanted::Fitted)?;
        let cost = |run: Option<&Vec<f64>>| run.map_or(f64::INFINITY, |run| self.cost(run));
        let both = places.iter().zip(predicted);
        Ok(both
            .map(|(place, run)| Best { place: place.clone(), cost: cost(run.as_deref()) })
            .collect())
    }

    /// Tries places and goes to the best one. Returns true if it is better than `best`.
    fn go_to_best<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &mut Best,
        places: &[Vec<usize>],
    ) -> Result<bool, RunError<M::Error>> {
        let tried = self.evaluate(runs, places)?;
        let least = tried.into_iter().min_by(|one, other| one.cost.total_cmp(&other.cost));
        match least {
            Some(least) if least.cost < best.cost => {
                runs.found(least.cost / self.fitted.len() as f64);
                *best = least;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Goes down with slopes over a share of each range, and then over smaller ones, down to one
    /// step.
    fn descend<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &mut Best,
        mut share: usize,
    ) -> Result<(), RunError<M::Error>> {
        while runs.made() <= self.most_runs {
            let steps = self.active.iter().map(|key| (self.keys[*key].last() / share).max(1));
            let steps: Vec<usize> = steps.collect();
            let is_finest = steps.iter().all(|step| *step == 1);
            let improved = self.go_down(runs, best, &Distance::OneSided(steps))?;
            if is_finest && !improved {
                return Ok(());
            }
            share *= 4;
        }
        Ok(())
    }

    /// Levenberg and Marquardt's steps with the slopes here, as long as they lead down by much.
    /// Returns true if they led down at all.
    fn go_down<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &mut Best,
        distance: &Distance,
    ) -> Result<bool, RunError<M::Error>> {
        let (keys, points) = (self.keys, self.points);
        let slopes = Slopes::measure(
            runs,
            keys,
            points,
            self.active,
            &best.place,
            (distance, Wanted::Fitted),
        )?;
        let mut improved = false;
        loop {
            let before = best.cost;
            let places = self.steps_down(runs, best, &slopes)?;
            let found = self.go_to_best(runs, best, &places)?;
            improved |= found;
            if !found || best.cost >= before * 0.9 {
                return Ok(improved);
            }
        }
    }

    /// Returns the places to which each damping leads.
    fn steps_down<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &Best,
        slopes: &Slopes,
    ) -> Result<Vec<Vec<usize>>, RunError<M::Error>> {
        let Some(here) = runs.one(&best.place, Wanted::Fitted)? else { return Ok(Vec::new()) };
        let residuals = self.points.residuals(self.fitted, &here);
        let weights = residuals.iter().map(|residual| weight(*residual).sqrt());
        let weights = DVector::from_iterator(residuals.len(), weights);
        let mut rows = slopes.rows(self.fitted);
        for mut column in rows.column_iter_mut() {
            column.component_mul_assign(&weights);
        }
        let right = -DVector::from_vec(residuals).component_mul(&weights);
        let normal = rows.tr_mul(&rows);
        let right = rows.tr_mul(&right);
        let mut places: Vec<Vec<usize>> = Vec::new();
        let quadratic = Quadratic {
            normal: &normal + DMatrix::identity(normal.nrows(), normal.ncols()) * 1e-6,
            gradient: -&right,
            bounds: self.bounds(&best.place),
        };
        places.extend(quadratic.best_steps(2).iter().map(|steps| self.moved(&best.place, steps)));
        for damping in DAMPINGS {
            places.push(self.step(&best.place, &normal, &right, damping));
        }
        places.retain(|place| *place != best.place);
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    /// Returns the steps down and up that each active key has room for.
    pub(crate) fn bounds(&self, place: &[usize]) -> Vec<(i64, i64)> {
        let room = |key: &usize| {
            let position = place[*key] as i64;
            (-position, self.keys[*key].last() as i64 - position)
        };
        self.active.iter().map(room).collect()
    }

    /// Returns a place moved by steps of the active keys.
    pub(crate) fn moved(&self, place: &[usize], steps: &[i64]) -> Vec<usize> {
        let mut moved = place.to_vec();
        for (key, steps) in self.active.iter().zip(steps) {
            moved[*key] = self.keys[*key].moved(moved[*key], *steps as f64);
        }
        moved
    }

    /// Returns the place after a step, with keys that would leave their range at its end.
    fn step(
        &self,
        place: &[usize],
        normal: &DMatrix<f64>,
        right: &DVector<f64>,
        damping: f64,
    ) -> Vec<usize> {
        let mut free: Vec<usize> = (0..self.active.len()).collect();
        let mut moved = place.to_vec();
        let mut fixed = DVector::zeros(self.active.len());
        while !free.is_empty() {
            let right = (right - normal * &fixed).select_rows(&free);
            let mut square = normal.select_rows(&free).select_columns(&free);
            for at in 0..free.len() {
                let own = square[(at, at)];
                square[(at, at)] = own * (1.0 + damping) + 1e-9;
            }
            let Some(steps) = square.cholesky().map(|factors| factors.solve(&right)) else { break };
            let mut outside = Vec::new();
            for (at, number) in free.iter().enumerate() {
                let key = self.active[*number];
                let (from, last) = (place[key] as f64, self.keys[key].last() as f64);
                moved[key] = self.keys[key].moved(place[key], steps[at]);
                if !(-0.5..=last + 0.5).contains(&(from + steps[at])) {
                    fixed[*number] = moved[key] as f64 - from;
                    outside.push(*number);
                }
            }
            if outside.is_empty() {
                break;
            }
            free.retain(|number| !outside.contains(number));
        }
        moved
    }

    /// Moves single keys by a step, and together those that are better alone, as long as it helps.
    fn polish<M: Model>(
        &self,
        runs: &mut Runs<'_, M>,
        best: &mut Best,
    ) -> Result<(), RunError<M::Error>> {
        while runs.made() <= self.most_runs {
            let here = best.clone();
            let mut places = Vec::new();
            for key in self.active {
                for steps in [-1.0, 1.0] {
                    let mut place = here.place.clone();
                    place[*key] = self.keys[*key].moved(place[*key], steps);
                    places.push(place);
                }
            }
            let tried = self.evaluate(runs, &places)?;
            let mut together = here.place.clone();
            for (at, key) in self.active.iter().enumerate() {
                let pair = &tried[2 * at..2 * at + 2];
                let better = pair.iter().filter(|one| one.cost < here.cost);
                if let Some(one) = better.min_by(|one, other| one.cost.total_cmp(&other.cost)) {
                    together[*key] = one.place[*key];
                }
            }
            places.push(together);
            if !self.go_to_best(runs, best, &places)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Returns the cost of a residual: its square if it is small.
pub(crate) fn robust(residual: f64) -> f64 {
    2.0 * ROBUST * ROBUST * ((1.0 + (residual / ROBUST).powi(2)).sqrt() - 1.0)
}

/// Returns the weight of a residual in a sum of squares that has the slope of [`robust`].
pub(crate) fn weight(residual: f64) -> f64 {
    1.0 / (1.0 + (residual / ROBUST).powi(2)).sqrt()
}

/// Returns the positions of a key that a round of curves measures: all over its range at first,
/// and then around the present one.
fn positions(center: usize, last: usize, round: usize) -> Vec<usize> {
    let mut all = vec![center.saturating_sub(1), center + 1];
    match round {
        0 => all.extend((0..=5).map(|number| number * last / 5)),
        _ => {
            let step = (last >> (round + 2)).max(1);
            all.extend([step, 3 * step].map(|by| center.saturating_sub(by)));
            all.extend([step, 3 * step].map(|by| center + by));
        }
    }
    all.iter_mut().for_each(|position| *position = (*position).min(last));
    all.sort_unstable();
    all.dedup();
    all.retain(|position| *position != center);
    all
}
