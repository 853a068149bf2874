//! All steps of a calibration, one after another.

use crate::doubt::Doubt;
use crate::fit::{Best, Search};
use crate::interval::{self, Interval, Limits, Profiles, Surroundings};
use crate::key::Key;
use crate::point::Points;
use crate::residual::{self, Errors, Unexplained};
use crate::runs::{Model, RunError, Runs, Wanted};
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
    /// Two searches from different places ended with the same difference, or noise explains the
    /// counts. Otherwise the search missed the best place at least once.
    pub agrees: bool,
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
    let given = Given { keys, points, fitted: &fitted, active: &active, most_runs };
    let mut doubt = Doubt::new(points);
    doubt.learn(&given, runs, &start)?;
    let (mut best, agrees) = from_two_places(&given, &mut doubt, runs, &start)?;
    for restarts in 0.. {
        let doubted = doubt.of_fit(points);
        let search = given.search(&doubted);
        let Some(near) = surroundings(&search, runs, &best)? else { return Ok(None) };
        let limits = Limits { luck: doubt.luck(points, &fitted), may_restart: restarts < RESTARTS };
        match interval::profiles(&search, runs, &best, &near, limits)? {
            Profiles::Better(better) => best = settle(&given, &mut doubt, runs, &better.place)?,
            Profiles::Known(intervals) => {
                let ties = tie::ties(&search, &best, &near, &intervals);
                doubt.learn_jumps(&given, runs, &best.place, Wanted::All)?;
                let Some(predicted) = runs.together(&best.place)? else { return Ok(None) };
                return Ok(Some(Calibration {
                    keys: fitted_keys(keys, &active, &best, &intervals),
                    ties,
                    unexplained: residual::unexplained(
                        &doubt.of_fit(points),
                        &predicted,
                        &near.spread(),
                    ),
                    before: residual::errors(points, &first),
                    after: residual::errors(points, &predicted),
                    is_noise: search.is_noise(best.cost),
                    agrees,
                    predicted: predicted.to_vec(),
                }));
            }
        }
    }
    Ok(None)
}

/// What stays the same in all searches of a calibration.
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
/// Returns the better result, and false if the two differ.
fn from_two_places<M: Model>(
    given: &Given<'_>,
    doubt: &mut Doubt,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<(Best, bool), RunError<M::Error>> {
    let first = settle(given, doubt, runs, start)?;
    if given.search(&doubt.of_fit(given.points)).is_noise(first.cost) {
        return Ok((first, true));
    }
    let mut far = start.to_vec();
    for key in given.active {
        let last = given.keys[*key].last();
        far[*key] = if start[*key] > last / 2 { last / 4 } else { last - last / 4 };
    }
    let second = settle(given, doubt, runs, &far)?;
    let difference = (first.cost - second.cost).abs();
    let agrees = difference <= SAME * first.cost.min(second.cost);
    let best = if second.cost < first.cost { second } else { first };
    doubt.learn(given, runs, &best.place)?;
    Ok((best, agrees))
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
        let doubted = doubt.of_fit(given.points);
        let before = best.place;
        best = given.search(&doubted).run(runs, &before)?;
        if best.place == before {
            break;
        }
    }
    Ok(best)
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
    keys: &[Key],
    active: &[usize],
    best: &Best,
    intervals: &[Interval],
) -> Vec<FittedKey> {
    let of = |number: usize| {
        let column = active.iter().position(|key| *key == number);
        FittedKey { position: best.place[number], interval: column.map(|column| intervals[column]) }
    };
    (0..keys.len()).map(of).collect()
}
