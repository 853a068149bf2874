//! Keys that change the counts at all, and the kernels whose counts each changes.

use crate::key::Key;
use crate::point::Points;
use crate::runs::{Model, Predicted, RunError, Runs, Wanted};

/// Effect of a key over its whole range that makes it worth fitting: the root of the sum of its
/// squares over all points, in standard deviations.
const LEAST_EFFECT: f64 = 2.0;
/// Such an effect on a single kernel that makes it worth a run of its own.
const LEAST_OF_KERNEL: f64 = 0.5;

/// Runs each key at both ends of its range, with the others where they are. Returns the numbers of
/// the keys that change the fitted counts. From then on, a kernel runs again only for keys that
/// change it, if it has fitted counts.
pub(crate) fn screen<M: Model>(
    runs: &mut Runs<'_, M>,
    keys: &[Key],
    points: &Points,
    fitted: &[usize],
    place: &[usize],
) -> Result<Vec<usize>, RunError<M::Error>> {
    let Some(here) = runs.one(place, Wanted::Fitted)? else { return Ok(Vec::new()) };
    let mut places = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        for position in [0, key.last()] {
            let mut moved = place.to_vec();
            moved[number] = position;
            places.push(moved);
        }
    }
    let predicted = runs.at(&places, Wanted::Fitted)?;
    let effect = |number: usize, points_of: &[usize]| {
        let of_run = |run: &Predicted| {
            // Without a machine at the end of the range, nothing is known about the key.
            let Some(run) = run else { return f64::INFINITY };
            let change = |at: &usize| points.change(&points.all[*at], here[*at], run[*at]).powi(2);
            points_of.iter().map(change).sum::<f64>().sqrt()
        };
        predicted[2 * number..2 * number + 2].iter().map(of_run).fold(0.0, f64::max)
    };
    for kernel in 0..points.kernels.len() {
        let own = fitted.iter().copied().filter(|at| points.all[*at].kernel == kernel);
        let own: Vec<usize> = own.collect();
        if !own.is_empty() {
            let depends = (0..keys.len()).map(|key| effect(key, &own) >= LEAST_OF_KERNEL);
            runs.depends(kernel, depends.collect());
        }
    }
    Ok((0..keys.len()).filter(|number| effect(*number, fitted) >= LEAST_EFFECT).collect())
}
