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
        let ends: Vec<(usize, usize)> = active
            .iter()
            .enumerate()
            .map(|(number, key)| ends(&keys[*key], place[*key], distance, number))
            .collect();
        let mut places = Vec::new();
        for (key, (low, high)) in active.iter().zip(&ends) {
            for end in [low, high] {
                let mut moved = place.to_vec();
                moved[*key] = *end;
                places.push(moved);
            }
        }
        let predicted = runs.at(&places, wanted)?;
        let mut of_points = DMatrix::zeros(points.all.len(), active.len());
        for (column, (low, high)) in ends.iter().enumerate() {
            let both = (&predicted[2 * column], &predicted[2 * column + 1]);
            let (Some(before), Some(after)) = both else { continue };
            let steps = (high - low) as f64;
            for (row, point) in points.all.iter().enumerate() {
                let change = points.change(point, before[row], after[row]);
                of_points[(row, column)] = change / steps;
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

/// Returns the two positions between which the slope of a key is measured.
fn ends(key: &Key, position: usize, distance: &Distance, number: usize) -> (usize, usize) {
    let last = key.last();
    match distance {
        Distance::Both => (position.saturating_sub(1), (position + 1).min(last)),
        Distance::OneSided(steps) => {
            let steps = steps[number].clamp(1, last);
            match position + steps <= last {
                true => (position, position + steps),
                false => (position.saturating_sub(steps), position),
            }
        }
    }
}
