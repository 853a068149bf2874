//! All steps of a calibration, one after another.

use crate::fit::{Best, Search};
use crate::interval::{self, Interval, Profiles, Surroundings};
use crate::key::Key;
use crate::point::Points;
use crate::residual::{self, Errors, Unexplained};
use crate::runs::{Model, RunError, Runs};
use crate::screen::screen;
use crate::slope::{Distance, Slopes};
use crate::tie::{self, Tie};

/// Searches that the profiles may start again, each from a better place.
const RESTARTS: usize = 4;

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
    runs.expect_points(points.all.len());
    let fitted = points.fitted();
    let start: Vec<usize> = keys.iter().map(|key| key.start).collect();
    let Some(first) = runs.one(&start)? else { return Ok(None) };
    let active = screen(runs, keys, points, &fitted, &start)?;
    let search =
        Search { keys, points, fitted: &fitted, active: &active, most_runs: settings.most_runs };
    let mut best = search.run(runs, &start)?;
    let mut restarts = 0;
    loop {
        let Some(near) = surroundings(&search, runs, &best)? else { return Ok(None) };
        let may_restart = restarts < RESTARTS;
        match interval::profiles(&search, runs, &best, &near, may_restart)? {
            Profiles::Better(better) => {
                restarts += 1;
                best = search.run(runs, &better.place)?;
            }
            Profiles::Known(intervals) => {
                let ties = tie::ties(&search, &best, &near, &intervals);
                let Some(predicted) = runs.one(&best.place)? else { return Ok(None) };
                return Ok(Some(Calibration {
                    keys: fitted_keys(keys, &active, &best, &intervals),
                    ties,
                    unexplained: residual::unexplained(points, &predicted),
                    before: residual::errors(points, &first),
                    after: residual::errors(points, &predicted),
                    is_noise: search.is_noise(best.cost),
                    predicted: predicted.to_vec(),
                }));
            }
        }
    }
}

/// Returns the slopes and covariances around a place.
fn surroundings<M: Model>(
    search: &Search<'_>,
    runs: &mut Runs<'_, M>,
    best: &Best,
) -> Result<Option<Surroundings>, RunError<M::Error>> {
    let Search { keys, points, active, fitted, .. } = *search;
    let slopes = Slopes::measure(runs, keys, points, active, &best.place, &Distance::Both)?;
    let Some(predicted) = runs.one(&best.place)? else { return Ok(None) };
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
