//! All steps of a calibration, one after another.

use crate::fit::{Best, Search};
use crate::interval::{self, Interval, Profiles, Surroundings};
use crate::key::Key;
use crate::point::{Points, log_ratio};
use crate::residual::{self, Errors, Unexplained};
use crate::runs::{Model, RunError, Runs, Wanted};
use crate::screen::screen;
use crate::slope::{Distance, Slopes};
use crate::tie::{self, Tie};

/// Searches that the profiles may start again, each from a better place.
const RESTARTS: usize = 4;
/// Searches at most, each with the correction that the last one found.
const CORRECTIONS: usize = 6;
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
    let doubted = doubted(runs, points, &start)?;
    let active = screen(runs, keys, &doubted, &fitted, &start)?;
    let search = Search::new(keys, &doubted, &fitted, &active, settings.most_runs);
    let (mut best, agrees) = from_two_places(&search, runs, &start)?;
    let mut restarts = 0;
    loop {
        let Some(near) = surroundings(&search, runs, &best)? else { return Ok(None) };
        let may_restart = restarts < RESTARTS;
        match interval::profiles(&search, runs, &best, &near, may_restart)? {
            Profiles::Better(better) => {
                restarts += 1;
                best = settle(&search, runs, &better.place)?;
            }
            Profiles::Known(intervals) => {
                let ties = tie::ties(&search, &best, &near, &intervals);
                let Some(predicted) = runs.together(&best.place)? else { return Ok(None) };
                return Ok(Some(Calibration {
                    keys: fitted_keys(keys, &active, &best, &intervals),
                    ties,
                    unexplained: residual::unexplained(points, &predicted),
                    before: residual::errors(points, &first),
                    after: residual::errors(points, &predicted),
                    is_noise: search.is_noise(best.cost),
                    agrees,
                    predicted: predicted.to_vec(),
                }));
            }
        }
    }
}

/// Searches from a place and, if noise does not explain the counts then, from another one too.
/// Returns the better result, and false if the two differ.
fn from_two_places<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<(Best, bool), RunError<M::Error>> {
    let first = settle(search, runs, start)?;
    if search.is_noise(first.cost) {
        return Ok((first, true));
    }
    let mut far = start.to_vec();
    for key in search.active {
        let last = search.keys[*key].last();
        far[*key] = if start[*key] > last / 2 { last / 4 } else { last - last / 4 };
    }
    let second = settle(search, runs, &far)?;
    let difference = (first.cost - second.cost).abs();
    let agrees = difference <= SAME * first.cost.min(second.cost);
    let best = if second.cost < first.cost { second } else { first };
    runs.correct(&best.place)?;
    Ok((best, agrees))
}

/// Searches from a place until the correction at the best place leads to no other place.
fn settle<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    start: &[usize],
) -> Result<Best, RunError<M::Error>> {
    let mut best = search.run(runs, start)?;
    for _ in 0..CORRECTIONS {
        if runs.correct(&best.place)?.is_none() {
            break;
        }
        let before = best.place;
        best = search.run(runs, &before)?;
        if best.place == before {
            break;
        }
    }
    Ok(best)
}

/// Corrects the runs by what kernels leave to those that follow, and returns the points with a
/// deviation that has the size of this correction: it may differ at other places.
fn doubted<M: Model>(
    runs: &mut Runs<'_, M>,
    points: &Points,
    place: &[usize],
) -> Result<Points, RunError<M::Error>> {
    let mut doubted = points.clone();
    if let Some([together, alone]) = runs.correct(place)? {
        for (point, (together, alone)) in doubted.all.iter_mut().zip(together.iter().zip(&*alone)) {
            if let Some(sample) = &mut point.counted {
                sample.deviation = sample.deviation.hypot(log_ratio(*together, *alone));
            }
        }
    }
    Ok(doubted)
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
