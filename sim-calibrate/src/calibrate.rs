//! All steps of a calibration, one after another.

use crate::chance;
use crate::doubt::Doubt;
use crate::fit::{Best, Search};
use crate::interval::{self, Interval, Limits, Profiles, Surroundings};
use crate::key::Key;
use crate::point::Points;
use crate::residual::{self, Cause, Errors, Unexplained};
use crate::runs::{Counts, Model, RunError, Runs, Wanted};
use crate::screen::screen;
use crate::slope::{Distance, Slopes};
use crate::tie::{self, Tie};

/// Searches that the profiles may start again, each from a better place.
const RESTARTS: usize = 4;
/// Searches from a place at most, each with what was learned at the end of the last one.
const LESSONS: usize = 6;
/// Share by which the costs of two searches differ that ended alike.
const SAME: f64 = 0.02;

/// Limits of a calibration.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Runs of the model after which the search ends. The steps after it need more.
    pub most_runs: usize,
}

/// A key after the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedKey {
    /// Fitted position.
    pub position: usize,
    /// Positions that the counts do not exclude; `None` if the key changes no fitted count.
    pub interval: Option<Interval>,
}

/// Result of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// One for each key.
    pub keys: Vec<FittedKey>,
    /// Keys that the counts do not distinguish.
    pub ties: Vec<Tie>,
    /// Counts that no value explains.
    pub unexplained: Vec<Unexplained>,
    /// Errors before the fit.
    pub before: Errors,
    /// Errors after it.
    pub after: Errors,
    /// Noise alone explains the fitted counts. Otherwise the structure of the model differs or the
    /// search missed the best place, and the intervals may be too narrow.
    pub is_noise: bool,
    /// Two searches from different places ended with the same difference; otherwise one of them
    /// missed the best place at least. `None` if there was one search, as where noise explains the
    /// counts.
    pub agrees: Option<bool>,
    /// Predictions of the best place.
    pub predicted: Vec<f64>,
}

/// Fits the keys. Returns `None` if the model has no machine where the search starts.
///
/// # Errors
/// A run of the model failed, or finished runs cannot be kept.
pub fn calibrate<M: Model>(
    runs: &mut Runs<'_, M>,
    keys: &[Key],
    points: &Points,
    settings: Settings,
) -> Result<Option<Calibration>, RunError<M::Error>> {
    runs.of_points(points);
    let fitted = points.fitted();
    let start: Vec<usize> = keys.iter().map(|key| key.start).collect();
    let Some(first) = runs.together(&start)? else { return Ok(None) };
    let active = screen(runs, keys, points, &fitted, &start)?;
    let most_runs = settings.most_runs;
    let is_by_chance = |key: &usize| chance::is_by_chance(&keys[*key]);
    let (by_chance, active): (Vec<usize>, Vec<usize>) = active.into_iter().partition(is_by_chance);
    let given = Given { keys, points, fitted: &fitted, active: &active, most_runs };
    let mut doubt = Doubt::new(points);
    doubt.by_chance(chance::spread(&given, runs, &by_chance, &start)?);
    doubt.learn(&given, runs, &start)?;
    let (mut best, mut agrees) = from_two_places(&given, &mut doubt, runs, &start)?;
    let mut restarts = 0;
    loop {
        doubt.learn_jumps(&given, runs, &best.place, Wanted::All)?;
        best = look(&given, &doubt, runs, &best.place)?;
        let doubted = doubt.of_fit(points);
        let search = given.search(&doubted);
        let Some(near) = surroundings(&search, runs, &best)? else { return Ok(None) };
        let luck = &doubt.luck(points, &fitted);
        let limits = Limits { luck, may_restart: restarts < RESTARTS };
        match interval::profiles(&search, runs, &best, &near, limits)? {
            Profiles::Better(better) => {
                restarts += 1;
                // Both searches missed this place.
                agrees = agrees.map(|_| false);
                best = settle(&given, &mut doubt, runs, &better.place)?;
            }
            Profiles::Known(intervals) => {
                let ties = tie::ties(&search, &best, &near, &intervals);
                let Some(predicted) = runs.together(&best.place)? else { return Ok(None) };
                let exact = doubt.of_verdict(points);
                let mut unexplained = residual::unexplained(&exact, &predicted, &near.spread());
                let is_open = |count: &Unexplained| count.cause == Cause::Structure;
                if unexplained.iter().any(is_open) {
                    let span = chance::span(&given, runs, &best.place)?;
                    residual::note_chance(&mut unexplained, points, &span);
                }
                return Ok(Some(Calibration {
                    keys: fitted_keys(&given, &by_chance, &best, &intervals),
                    ties,
                    unexplained,
                    before: residual::errors(points, &first),
                    after: residual::errors(points, &predicted),
                    is_noise: is_noise(&given, &doubt, &predicted),
                    agrees,
                    predicted: predicted.to_vec(),
                }));
            }
        }
    }
}

/// Data of all searches of a calibration.
pub(crate) struct Given<'a> {
    pub(crate) keys: &'a [Key],
    pub(crate) points: &'a Points,
    /// Numbers of the fitted points.
    pub(crate) fitted: &'a [usize],
    /// Numbers of the keys that may move.
    pub(crate) active: &'a [usize],
    most_runs: usize,
}

impl<'a> Given<'a> {
    fn search(&self, points: &'a Points) -> Search<'a> {
        Search::new(self.keys, points, self.fitted, self.active, self.most_runs)
    }
}

/// Searches from a place and, if noise does not explain the counts then, from another one too.
/// Returns the better result, and true if the two ended alike, if there were two.
fn from_two_places<M: Model>(
    given: &Given<'_>,
    doubt: &mut Doubt,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<(Best, Option<bool>), RunError<M::Error>> {
    let first = settle(given, doubt, runs, start)?;
    let predicted = runs.together(&first.place)?;
    let is_done = predicted.is_none_or(|predicted| is_noise(given, doubt, &predicted));
    if is_done || given.active.is_empty() || runs.made() > given.most_runs {
        return Ok((first, None));
    }
    let Some(far) = far_from(given, runs, start)? else { return Ok((first, None)) };
    let second = settle(given, doubt, runs, &far)?;
    // The second search has learned more: both places with the same doubts.
    let first = look(given, doubt, runs, &first.place)?;
    if !second.cost.is_finite() {
        return Ok((first, None));
    }
    let difference = (first.cost - second.cost).abs();
    let agrees = difference <= SAME * first.cost.min(second.cost);
    Ok((if second.cost < first.cost { second } else { first }, Some(agrees)))
}

/// Returns a place far away from another one in each key that may move. Where the model has no
/// machine, it goes back by half of the way until there is one.
fn far_from<M: Model>(
    given: &Given<'_>,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<Option<Vec<usize>>, RunError<M::Error>> {
    let mut far = start.to_vec();
    for key in given.active {
        let last = given.keys[*key].last();
        far[*key] = if start[*key] > last / 2 { last / 4 } else { last - last / 4 };
    }
    while far != start {
        if runs.one(&far, Wanted::Fitted)?.is_some() {
            return Ok(Some(far));
        }
        for (far, start) in far.iter_mut().zip(start) {
            *far =
                if *far > *start { start + (*far - start) / 2 } else { start - (start - *far) / 2 };
        }
    }
    Ok(None)
}

/// Searches from a place until what was learned at the best one leads to no other.
fn settle<M: Model>(
    given: &Given<'_>,
    doubt: &mut Doubt,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<Best, RunError<M::Error>> {
    let doubted = doubt.of_fit(given.points);
    let mut best = given.search(&doubted).run(runs, start)?;
    for _ in 0..LESSONS {
        doubt.learn(given, runs, &best.place)?;
        if runs.made() > given.most_runs {
            break;
        }
        let doubted = doubt.of_fit(given.points);
        let before = best.place;
        best = given.search(&doubted).run(runs, &before)?;
        if best.place == before {
            break;
        }
    }
    look(given, doubt, runs, &best.place)
}

/// Returns a place with its cost, exact there. Predictions are corrected by it from now on.
fn look<M: Model>(
    given: &Given<'_>,
    doubt: &Doubt,
    runs: &mut Runs<'_, M>,
    place: &[usize],
) -> Result<Best, RunError<M::Error>> {
    runs.correct(place)?;
    let doubted = doubt.of_fit(given.points);
    let predicted = runs.one(place, Wanted::Fitted)?;
    let cost = |predicted: Counts| given.search(&doubted).cost(&predicted);
    Ok(Best { place: place.to_vec(), cost: predicted.map_or(f64::INFINITY, cost) })
}

/// Returns true if noise alone explains the differences of a run of all kernels together.
fn is_noise(given: &Given<'_>, doubt: &Doubt, predicted: &[f64]) -> bool {
    let exact = doubt.of_verdict(given.points);
    let search = given.search(&exact);
    search.is_noise(search.cost(predicted))
}

/// Returns the slopes and covariances around a place.
fn surroundings<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    best: &Best,
) -> Result<Option<Surroundings>, RunError<M::Error>> {
    let Search { keys, points, active, fitted, .. } = *search;
    let both = (&Distance::Both, Wanted::All);
    let slopes = Slopes::measure(runs, keys, points, active, &best.place, both)?;
    let Some(predicted) = runs.one(&best.place, Wanted::Fitted)? else { return Ok(None) };
    Ok(Surroundings::new(search, slopes, &points.residuals(fitted, &predicted)))
}

fn fitted_keys(
    given: &Given<'_>,
    by_chance: &[usize],
    best: &Best,
    intervals: &[Interval],
) -> Vec<FittedKey> {
    let of = |number: usize| {
        let column = given.active.iter().position(|key| *key == number);
        let open = by_chance.contains(&number).then(|| chance::all_values(&given.keys[number]));
        let interval = column.map(|column| intervals[column]).or(open);
        FittedKey { position: best.place[number], interval }
    };
    (0..given.keys.len()).map(of).collect()
}
