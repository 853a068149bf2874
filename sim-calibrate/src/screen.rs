//! Keys that change the counts at all, and the kernels whose counts each changes.

use crate::key::Key;
use crate::point::Points;
use crate::runs::{Counts, Model, RunError, Runs, Wanted};

/// Effect of a key over its whole range that makes it worth fitting: the root of the sum of its
/// squares over all points, in standard deviations.
const LEAST_EFFECT: f64 = 2.0;
/// Such an effect on a single kernel that makes it worth a run of its own.
const LEAST_OF_KERNEL: f64 = 0.5;

/// One end of the range of a key.
struct End {
    key: usize,
    /// Position of the end.
    position: usize,
    /// Position nearest to the end so far with a machine.
    inside: usize,
    /// Position nearest to `inside` so far without one.
    outside: Option<usize>,
    /// Predictions with the key at `inside`.
    run: Counts,
}

impl End {
    /// Returns the position to try next: the end, and then the middle between a machine and none.
    fn next(&self) -> Option<usize> {
        let next = self.outside.map_or(self.position, |outside| self.inside.midpoint(outside));
        (next != self.inside && Some(next) != self.outside).then_some(next)
    }
}

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
    let ends = ends(runs, keys, place, &here)?;
    let effect = |number: usize, points_of: &[usize]| {
        let of_run = |end: &End| {
            let change =
                |at: &usize| points.change(&points.all[*at], here[*at], end.run[*at]).powi(2);
            points_of.iter().map(change).sum::<f64>().sqrt()
        };
        ends[2 * number..2 * number + 2].iter().map(of_run).fold(0.0, f64::max)
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

/// Runs both ends of all ranges, each key alone, the low end first. If the model has no machine
/// there, bisection looks for the nearest position that has one, up to the present position.
fn ends<M: Model>(
    runs: &mut Runs<'_, M>,
    keys: &[Key],
    place: &[usize],
    here: &Counts,
) -> Result<Vec<End>, RunError<M::Error>> {
    let end = |key: usize, position: usize| End {
        key,
        position,
        inside: place[key],
        outside: None,
        run: here.clone(),
    };
    let both = |(key, of): (usize, &Key)| [end(key, 0), end(key, of.last())];
    let mut ends: Vec<End> = keys.iter().enumerate().flat_map(both).collect();
    loop {
        let next: Vec<(&mut End, usize)> =
            ends.iter_mut().filter_map(|end| end.next().map(|next| (end, next))).collect();
        if next.is_empty() {
            return Ok(ends);
        }
        let moved = |(end, position): &(&mut End, usize)| {
            let mut moved = place.to_vec();
            moved[end.key] = *position;
            moved
        };
        let places: Vec<Vec<usize>> = next.iter().map(moved).collect();
        for ((end, position), run) in next.into_iter().zip(runs.at(&places, Wanted::Fitted)?) {
            match run {
                Some(run) => (end.inside, end.run) = (position, run),
                None => end.outside = Some(position),
            }
        }
    }
}
