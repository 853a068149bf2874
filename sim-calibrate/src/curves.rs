//! Predictions as sums of the changes of single keys.
//!
//! Each key runs at some positions of its range, with all others at one place. Changes between
//! these positions are interpolated, and those of several keys are added: the cost of every place
//! follows without a run. Latencies of a kernel do add up, so that the sum is often near; a run
//! then decides.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::fit::{Best, Search, robust};
use crate::point::log_ratio;
use crate::runs::{Model, RunError, Runs, Wanted};

/// Positions of each key that are tried, besides those near the present one.
const TRIED: usize = 20;
/// Searches that start anywhere, besides the one from the present place.
const STARTS: u64 = 4;
/// Moves of one search at most.
const MOST_MOVES: usize = 200;
/// Decrease of the cost, as a share, that makes a move worthwhile.
const LEAST_GAIN: f64 = 1e-4;

/// Changes of the fitted points with single keys.
pub(crate) struct Curves {
    /// Predictions of the fitted points at the present place.
    base: Vec<f64>,
    /// The present position of each active key.
    center: Vec<usize>,
    /// One for each active key.
    of_key: Vec<Curve>,
}

/// Changes with one key.
#[derive(Clone, Default)]
struct Curve {
    /// Changes of all fitted points, by position.
    at: BTreeMap<usize, Vec<f64>>,
    /// Points that change at all.
    points: Vec<usize>,
}

/// A place without a run.
#[derive(Clone)]
struct Guess {
    /// Position of each active key.
    place: Vec<usize>,
    predicted: Vec<f64>,
    /// Cost of each point.
    costs: Vec<f64>,
    cost: f64,
}

impl Curves {
    /// Returns curves without a measured position.
    pub(crate) fn new(search: &Search<'_>) -> Curves {
        let of_key = vec![Curve::default(); search.active.len()];
        Curves { base: Vec::new(), center: vec![0; search.active.len()], of_key }
    }

    /// Measures each key at some positions around a place. Positions that were measured around
    /// another place before stay as they are. Returns false if the model has no machine there.
    pub(crate) fn measure<M: Model>(
        &mut self,
        search: &Search<'_>,
        runs: &mut Runs<'_, M>,
        best: &Best,
        positions: &dyn Fn(usize, usize) -> Vec<usize>,
    ) -> Result<bool, RunError<M::Error>> {
        let Some(here) = runs.one(&best.place, Wanted::Fitted)? else { return Ok(false) };
        self.base = search.fitted.iter().map(|at| here[*at]).collect();
        let center = search.active.iter().map(|key| best.place[*key]);
        self.center = center.collect();
        let mut places = Vec::new();
        for (column, key) in search.active.iter().enumerate() {
            let last = search.keys[*key].last();
            for position in positions(self.center[column], last) {
                let mut place = best.place.clone();
                place[*key] = position.min(last);
                places.push((column, place));
            }
        }
        let all: Vec<Vec<usize>> = places.iter().map(|(_, place)| place.clone()).collect();
        let predicted = runs.at(&all, Wanted::Fitted)?;
        for (curve, center) in self.of_key.iter_mut().zip(&self.center) {
            curve.recenter(*center, self.base.len());
        }
        for ((column, place), predicted) in places.iter().zip(predicted) {
            let Some(predicted) = predicted else { continue };
            let changes = search.fitted.iter().zip(&self.base);
            let changes = changes.map(|(at, base)| predicted[*at] - base).collect();
            self.of_key[*column].at.insert(place[search.active[*column]], changes);
        }
        self.of_key.iter_mut().for_each(Curve::find_points);
        Ok(true)
    }

    /// Returns the places that cost least by the curves, and some on the way to them.
    pub(crate) fn least<M: Model>(
        &self,
        search: &Search<'_>,
        runs: &Runs<'_, M>,
        place: &[usize],
    ) -> Vec<Vec<usize>> {
        let starts: Vec<Option<u64>> = std::iter::once(None).chain((0..STARTS).map(Some)).collect();
        let ways = runs.in_parallel(|| {
            let way = |start: &Option<u64>| self.way(search, *start);
            starts.par_iter().map(way).collect::<Vec<_>>()
        });
        let mut all = Vec::new();
        for (start, way) in starts.iter().zip(ways) {
            let Some(end) = way.last() else { continue };
            if start.is_none() {
                all.extend(
                    (0..).map(|power| 1 << power).map_while(|at: usize| way.get(at)).cloned(),
                );
            }
            all.push(end.iter().zip(&self.center).map(|(to, from)| (to + from) / 2).collect());
            all.push(end.clone());
        }
        let whole = |positions: &Vec<usize>| {
            let mut whole = place.to_vec();
            for (key, position) in search.active.iter().zip(positions) {
                whole[*key] = *position;
            }
            whole
        };
        all.iter().map(whole).collect()
    }

    /// Goes down from the center, or from a random place. Returns all places on the way.
    fn way(&self, search: &Search<'_>, start: Option<u64>) -> Vec<Vec<usize>> {
        let mut guess = self.guess(search);
        if let Some(seed) = start {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            for (column, key) in search.active.iter().enumerate() {
                let position = random.random_range(0..=search.keys[*key].last());
                self.go(search, &mut guess, column, position);
            }
        }
        let mut way = vec![guess.place.clone()];
        for _ in 0..MOST_MOVES {
            let least = guess.cost * (1.0 - LEAST_GAIN);
            if !self.move_one(search, &mut guess, least)
                && !self.move_two(search, &mut guess, least)
            {
                break;
            }
            way.push(guess.place.clone());
        }
        way
    }

    /// Returns the predictions at the center.
    fn guess(&self, search: &Search<'_>) -> Guess {
        let cost = |(at, predicted): (usize, &f64)| point_cost(search, at, *predicted);
        let costs: Vec<f64> = self.base.iter().enumerate().map(cost).collect();
        let (place, predicted) = (self.center.clone(), self.base.clone());
        Guess { place, predicted, cost: costs.iter().sum(), costs }
    }

    /// Moves one key to the position that lowers the cost most, below `least`. Returns false if
    /// there is none.
    fn move_one(&self, search: &Search<'_>, guess: &mut Guess, least: f64) -> bool {
        let mut best = (least, None);
        for (column, key) in search.active.iter().enumerate() {
            for position in tried(guess.place[column], search.keys[*key].last()) {
                let cost = self.cost_after(search, guess, column, position);
                if cost < best.0 {
                    best = (cost, Some((column, position)));
                }
            }
        }
        let Some((column, position)) = best.1 else { return false };
        self.go(search, guess, column, position);
        true
    }

    /// Moves two keys together, as [`Curves::move_one`] does one.
    fn move_two(&self, search: &Search<'_>, guess: &mut Guess, least: f64) -> bool {
        let mut best = (least, None);
        for first in 0..search.active.len() {
            for position in self.near(search, guess, first) {
                let mut moved = guess.clone();
                self.go(search, &mut moved, first, position);
                for second in first + 1..search.active.len() {
                    for other in self.near(search, guess, second) {
                        let cost = self.cost_after(search, &moved, second, other);
                        if cost < best.0 {
                            best = (cost, Some([(first, position), (second, other)]));
                        }
                    }
                }
            }
        }
        let Some(both) = best.1 else { return false };
        for (column, position) in both {
            self.go(search, guess, column, position);
        }
        true
    }

    /// Returns positions a step, and an eighth of the range, away.
    fn near(&self, search: &Search<'_>, guess: &Guess, column: usize) -> Vec<usize> {
        let (here, last) = (guess.place[column], search.keys[search.active[column]].last());
        let mut near = Vec::new();
        for step in [1, (last / 8).max(1)] {
            near.extend([here.saturating_sub(step), (here + step).min(last)]);
        }
        near.sort_unstable();
        near.dedup();
        near.retain(|position| *position != here);
        near
    }

    /// Returns the cost if one key moves.
    fn cost_after(
        &self,
        search: &Search<'_>,
        guess: &Guess,
        column: usize,
        position: usize,
    ) -> f64 {
        let curve = &self.of_key[column];
        let (from, to) = (curve.between(guess.place[column]), curve.between(position));
        let change = |at: &usize| {
            let predicted = guess.predicted[*at] + to.change(*at) - from.change(*at);
            point_cost(search, *at, predicted) - guess.costs[*at]
        };
        guess.cost + curve.points.iter().map(change).sum::<f64>()
    }

    /// Moves one key.
    fn go(&self, search: &Search<'_>, guess: &mut Guess, column: usize, position: usize) {
        let curve = &self.of_key[column];
        let (from, to) = (curve.between(guess.place[column]), curve.between(position));
        for at in &curve.points {
            guess.predicted[*at] += to.change(*at) - from.change(*at);
            let cost = point_cost(search, *at, guess.predicted[*at]);
            guess.cost += cost - guess.costs[*at];
            guess.costs[*at] = cost;
        }
        guess.place[column] = position;
    }
}

impl Curve {
    /// Makes all changes those from another position.
    fn recenter(&mut self, center: usize, points: usize) {
        if !self.at.is_empty() {
            let between = self.between(center);
            let own: Vec<f64> = (0..points).map(|at| between.change(at)).collect();
            for changes in self.at.values_mut() {
                changes.iter_mut().zip(&own).for_each(|(change, own)| *change -= own);
            }
        }
        self.at.insert(center, vec![0.0; points]);
    }

    fn find_points(&mut self) {
        let points = self.at.values().next().map_or(0, Vec::len);
        let changes = |at: &usize| self.at.values().any(|changes| changes[*at].abs() > 1e-9);
        self.points = (0..points).filter(changes).collect();
    }

    /// Returns the changes at a position.
    fn between(&self, position: usize) -> Between<'_> {
        let before = self.at.range(..=position).next_back();
        let after = self.at.range(position..).next();
        match (before, after) {
            (Some((low, before)), Some((high, after))) if high > low => {
                let share = (position - low) as f64 / (high - low) as f64;
                Between { before, after, share }
            }
            (Some((_, one)), _) | (None, Some((_, one))) => {
                Between { before: one, after: one, share: 0.0 }
            }
            (None, None) => Between { before: &[], after: &[], share: 0.0 },
        }
    }
}

/// Changes between two measured positions.
struct Between<'a> {
    before: &'a [f64],
    after: &'a [f64],
    share: f64,
}

impl Between<'_> {
    fn change(&self, at: usize) -> f64 {
        let before = self.before[at];
        before + (self.after[at] - before) * self.share
    }
}

/// Returns the cost of the fitted point of this number.
fn point_cost(search: &Search<'_>, number: usize, predicted: f64) -> f64 {
    let (logarithm, deviation) = search.targets[number];
    robust((log_ratio(predicted.max(0.0), 1.0) - logarithm) / deviation)
}

/// Returns positions of a range of all sizes of steps.
fn tried(here: usize, last: usize) -> Vec<usize> {
    let spread = (0..TRIED).map(|number| number * last / (TRIED - 1));
    let near = [1, 2, 4].into_iter().flat_map(|step| [here.saturating_sub(step), here + step]);
    let mut all: Vec<usize> = spread.chain(near).map(|position| position.min(last)).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|position| *position != here);
    all
}
