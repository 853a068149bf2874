//! Whole steps of several keys with about the least value of a quadratic form.
//!
//! Rounding each key on its own fails where keys are tied: one up and one down belong together.

use nalgebra::{DMatrix, DVector};

/// Moves tried before the search ends; it ends long before.
const MOST_MOVES: usize = 1000;

/// A cost as a quadratic form of steps.
pub(crate) struct Quadratic {
    /// Second derivatives, positive definite.
    pub(crate) normal: DMatrix<f64>,
    /// First derivatives.
    pub(crate) gradient: DVector<f64>,
    /// Least and greatest step of each key. A key whose ends are the same is fixed there.
    pub(crate) bounds: Vec<(i64, i64)>,
}

impl Quadratic {
    /// Returns the steps with about the least cost, and the best ones in which one more key
    /// differs: at most `most`, the best first.
    pub(crate) fn best_steps(&self, most: usize) -> Vec<Vec<i64>> {
        let Some(mut steps) = self.rounded() else { return Vec::new() };
        let mut slope = self.slope(&steps);
        for _ in 0..MOST_MOVES {
            let Some(change) = self.best_move(&steps, &slope) else { break };
            for (at, by) in change {
                steps[at] += by;
                slope += self.normal.column(at) * by as f64;
            }
        }
        let mut near: Vec<(f64, Vec<i64>)> = vec![(0.0, steps.clone())];
        for at in 0..steps.len() {
            for by in [-1, 1] {
                if self.is_inside(at, steps[at] + by) {
                    let mut other = steps.clone();
                    other[at] += by;
                    near.push((self.change_of_one(&slope, at, by), other));
                }
            }
        }
        near.sort_by(|one, other| one.0.total_cmp(&other.0));
        near.into_iter().take(most).map(|(_, steps)| steps).collect()
    }

    fn is_inside(&self, at: usize, step: i64) -> bool {
        (self.bounds[at].0..=self.bounds[at].1).contains(&step)
    }

    /// Returns the first derivatives after some steps.
    fn slope(&self, steps: &[i64]) -> DVector<f64> {
        let steps = DVector::from_iterator(steps.len(), steps.iter().map(|step| *step as f64));
        &self.gradient + &self.normal * steps
    }

    /// Rounds one key after another, each with those that are already rounded where they are.
    fn rounded(&self) -> Option<Vec<i64>> {
        let size = self.bounds.len();
        let mut steps = vec![0; size];
        let mut free: Vec<usize> = (0..size).collect();
        // Fixed keys first.
        free.sort_by_key(|at| self.bounds[*at].0 != self.bounds[*at].1);
        while let Some(&at) = free.first() {
            let (low, high) = self.bounds[at];
            steps[at] = match low == high {
                true => low,
                false => {
                    let slope = self.slope(&steps).select_rows(&free);
                    let square = self.normal.select_rows(&free).select_columns(&free);
                    let best = -square.cholesky()?.solve(&slope)[0];
                    (best.round().clamp(low as f64, high as f64)) as i64
                }
            };
            free.remove(0);
        }
        Some(steps)
    }

    fn change_of_one(&self, slope: &DVector<f64>, at: usize, by: i64) -> f64 {
        let by = by as f64;
        slope[at] * by + 0.5 * self.normal[(at, at)] * by * by
    }

    /// Returns the move of one key, or of two, by one step that lowers the cost most.
    fn best_move(&self, steps: &[i64], slope: &DVector<f64>) -> Option<Vec<(usize, i64)>> {
        let mut best: (f64, Vec<(usize, i64)>) = (-1e-9, Vec::new());
        let mut singles = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            for by in [-1, 1] {
                if self.is_inside(at, step + by) {
                    singles.push((at, by, self.change_of_one(slope, at, by)));
                }
            }
        }
        for (number, (at, by, change)) in singles.iter().enumerate() {
            if *change < best.0 {
                best = (*change, vec![(*at, *by)]);
            }
            for (other, other_by, other_change) in &singles[number + 1..] {
                let both =
                    change + other_change + self.normal[(*at, *other)] * (*by * *other_by) as f64;
                if other != at && both < best.0 {
                    best = (both, vec![(*at, *by), (*other, *other_by)]);
                }
            }
        }
        (!best.1.is_empty()).then_some(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given two keys of which only the sum matters, and a third one, expect the sum.
    #[test]
    fn steps_of_a_sum() {
        let rows = DMatrix::from_row_slice(3, 3, &[10.0, 10.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 5.0]);
        let residuals = DVector::from_row_slice(&[-31.0, 0.0, 9.0]);
        let quadratic = |bounds: [(i64, i64); 3]| Quadratic {
            normal: rows.tr_mul(&rows),
            gradient: rows.tr_mul(&residuals),
            bounds: bounds.to_vec(),
        };
        let free = quadratic([(-9, 9), (-9, 9), (-9, 9)]).best_steps(1).remove(0);
        assert_eq!((free[0] + free[1], free[2]), (3, -2));
        let fixed = quadratic([(5, 5), (-9, 9), (-1, 9)]).best_steps(1).remove(0);
        assert_eq!(fixed, [5, -2, -1]);
    }
}
