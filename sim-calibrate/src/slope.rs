//! Changes of the predictions with each key.

use nalgebra::{DMatrix, DVector};

use crate::key::Key;
use crate::point::Points;
use crate::runs::{Model, RunError, Runs, Wanted};

/// Changes of every point with one step of each active key, in standard deviations.
#[derive(Clone, Debug)]
pub(crate) struct Slopes {
    /// A column for each active key. Rows are all points, whether they were counted or not.
    pub(crate) of_points: DMatrix<f64>,
}

/// Distance of the places between which a slope is measured.
#[derive(Clone, Debug)]
pub(crate) enum Distance {
    /// Some steps of each key, to one side.
    OneSided(Vec<usize>),
    /// One step to both sides.
    Both,
}

impl Slopes {
    /// Measures the slopes of the wanted points at a place.
    pub(crate) fn measure<M: Model>(
        runs: &mut Runs<'_, M>,
        keys: &[Key],
        points: &Points,
        active: &[usize],
        place: &[usize],
        (distance, wanted): (&Distance, Wanted),
    ) -> Result<Slopes, RunError<M::Error>> {
        let candidates =
            |(number, key): (usize, &usize)| candidates(&keys[*key], place[*key], distance, number);
        let candidates: Vec<Vec<Ends>> = active.iter().enumerate().map(candidates).collect();
        let mut of_points = DMatrix::zeros(points.all.len(), active.len());
        let mut open: Vec<usize> = (0..active.len()).collect();
        for choice in 0.. {
            let ends = |column: usize| Some((column, *candidates[column].get(choice)?));
            let ends: Vec<(usize, Ends)> = open.drain(..).filter_map(ends).collect();
            if ends.is_empty() {
                break;
            }
            let mut places = Vec::new();
            for (column, (low, high)) in &ends {
                for end in [low, high] {
                    let mut moved = place.to_vec();
                    moved[active[*column]] = *end;
                    places.push(moved);
                }
            }
            let predicted = runs.at(&places, wanted)?;
            for ((column, (low, high)), both) in ends.into_iter().zip(predicted.chunks_exact(2)) {
                let [Some(before), Some(after)] = both else {
                    open.push(column);
                    continue;
                };
                for (row, point) in points.all.iter().enumerate() {
                    let change = points.change(point, before[row], after[row]);
                    of_points[(row, column)] = change / (high - low) as f64;
                }
            }
        }
        Ok(Slopes { of_points })
    }

    /// Returns the rows of some points.
    pub(crate) fn rows(&self, numbers: &[usize]) -> DMatrix<f64> {
        self.of_points.select_rows(numbers)
    }

    /// Returns the change of every point with a move along all active keys.
    pub(crate) fn along(&self, steps: &DVector<f64>) -> DVector<f64> {
        &self.of_points * steps
    }
}

/// Two positions of a key between which its slope is measured.
type Ends = (usize, usize);

/// Returns the ends for the slope of a key, and then others in case that the model has no machine
/// at one of them.
fn candidates(key: &Key, position: usize, distance: &Distance, number: usize) -> Vec<Ends> {
    let last = key.last();
    let down = |steps: usize| (position.saturating_sub(steps), position);
    let up = |steps: usize| (position, (position + steps).min(last));
    let mut all = match distance {
        Distance::Both => vec![(down(1).0, up(1).1)],
        Distance::OneSided(steps) => {
            let steps = steps[number].clamp(1, last);
            match position + steps <= last {
                true => vec![up(steps), down(steps)],
                false => vec![down(steps), up(steps)],
            }
        }
    };
    all.extend([up(1), down(1)]);
    all.retain(|(low, high)| low < high);
    all
}
