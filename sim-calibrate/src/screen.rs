//! Which keys change the counts at all.

use crate::key::Key;
use crate::point::Points;
use crate::runs::{Model, RunError, Runs};

/// Effect of a key over its whole range that makes it worth fitting: the root of the sum of its
/// squares over all points, in standard deviations.
const LEAST_EFFECT: f64 = 2.0;

/// Runs each key at both ends of its range, with the others where they are. Returns the numbers of
/// the keys that change the fitted counts.
pub(crate) fn screen<M: Model>(
    runs: &mut Runs<'_, M>,
    keys: &[Key],
    points: &Points,
    fitted: &[usize],
    place: &[usize],
) -> Result<Vec<usize>, RunError<M::Error>> {
    let Some(here) = runs.one(place)? else { return Ok(Vec::new()) };
    let mut places = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        for position in [0, key.last()] {
            let mut moved = place.to_vec();
            moved[number] = position;
            places.push(moved);
        }
    }
    let predicted = runs.at(&places)?;
    let effect = |number: usize| {
        let runs = predicted[2 * number..2 * number + 2].iter().flatten();
        let of_run = |run: &std::sync::Arc<Vec<f64>>| {
            let change = |at: &usize| points.change(&points.all[*at], here[*at], run[*at]).powi(2);
            fitted.iter().map(change).sum::<f64>().sqrt()
        };
        runs.map(of_run).fold(0.0, f64::max)
    };
    Ok((0..keys.len()).filter(|number| effect(*number) >= LEAST_EFFECT).collect())
}
