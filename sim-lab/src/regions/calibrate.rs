//! Calibrates the weights of windows to the means of the whole trace (Deville and Särndal, 1992).
//! Known features are then exact, and correlated counts nearly so.
//!
//! Each window starts with the weight of its sampling chance. The weights change as little as
//! possible. Windows that represent many intervals change first, bursts last. A ridge term keeps
//! weights from extreme values.

/// Fraction of a feature's variance that is left to chance.
const RIDGE: f64 = 0.02;
/// Smallest and largest factor by which a weight may change.
const CHANGE: (f64, f64) = (0.2, 5.0);

/// Features of all intervals, one row each.
pub(crate) struct Calibration<'a> {
    /// Length of each interval in instructions.
    pub(crate) lengths: &'a [f64],
    /// Features of each interval per instruction.
    pub(crate) features: &'a [Vec<f64>],
}

impl Calibration<'_> {
    /// Returns the features with mean 0 and variance 1 over all intervals, without constant ones.
    fn standard(&self) -> Vec<Vec<f64>> {
        let all: f64 = self.lengths.iter().sum();
        let count = self.features.first().map_or(0, Vec::len);
        let mut columns = Vec::new();
        for column in 0..count {
            let values = || self.features.iter().map(|row| row[column]).zip(self.lengths);
            let mean = values().map(|(value, length)| value * length).sum::<f64>() / all;
            let squares = values().map(|(value, length)| (value - mean).powi(2) * length);
            let deviation = (squares.sum::<f64>() / all).sqrt();
            if deviation > 1e-12 {
                columns.push(values().map(|(value, _)| (value - mean) / deviation).collect());
            }
        }
        columns
    }

    /// Returns the calibrated weights of the chosen intervals, starting from the weights `first`.
    pub(crate) fn weights(&self, chosen: &[usize], first: &[f64]) -> Vec<f64> {
        let all: f64 = first.iter().sum();
        // The possible change of a weight grows with what the window represents beyond itself.
        let length = |at: &usize| self.lengths[*at].max(1.0);
        let ratios: Vec<f64> = first.iter().zip(chosen).map(|(w, at)| w / length(at)).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
        let gives: Vec<f64> = ratios.iter().map(|one| one / mean).collect();
        let columns: Vec<Vec<f64>> = self.standard();
        let of_window = |column: &Vec<f64>| chosen.iter().map(|at| column[*at]).collect();
        let columns: Vec<Vec<f64>> = columns.iter().map(of_window).collect();
        let n = columns.len();
        let mut matrix = vec![vec![0.0; n + 1]; n];
        for (i, row) in matrix.iter_mut().enumerate() {
            for j in 0..n {
                let products = columns[i].iter().zip(&columns[j]).zip(first.iter().zip(&gives));
                row[j] = products.map(|((a, b), (weight, gives))| a * b * weight * gives).sum();
            }
            row[i] += RIDGE * all;
            row[n] = -columns[i].iter().zip(first).map(|(a, weight)| a * weight).sum::<f64>();
        }
        let factors = solve(matrix);
        let change = |window: usize| {
            let sum: f64 = columns.iter().zip(&factors).map(|(c, factor)| c[window] * factor).sum();
            (1.0 + gives[window] * sum).clamp(CHANGE.0, CHANGE.1)
        };
        let weights: Vec<f64> =
            first.iter().enumerate().map(|(window, weight)| weight * change(window)).collect();
        let scale = all / weights.iter().sum::<f64>();
        weights.iter().map(|weight| weight * scale).collect()
    }
}

/// Solves linear equations by elimination; the last column is the right side. The matrix is
/// positive definite, so no pivot search is needed.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for i in 0..n {
        let pivot = rows[i].clone();
        for row in &mut rows[i + 1..] {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).skip(i).for_each(|(value, part)| *value -= factor * part);
        }
    }
    let mut solution = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][n] - known) / rows[i][i];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let found = solve(vec![vec![4.0, 1.0, 9.0], vec![1.0, 3.0, 5.0]]);
        assert!((found[0] - 2.0).abs() < 1e-12 && (found[1] - 1.0).abs() < 1e-12, "{found:?}");
        assert!(solve(Vec::new()).is_empty());
    }

    #[test]
    fn weighted_windows_have_the_means_of_the_trace() {
        // A growing feature of which the windows have too little, and a constant one.
        let lengths = vec![10.0; 100];
        let features: Vec<Vec<f64>> = (0..100).map(|n| vec![f64::from(n), 7.0]).collect();
        let calibration = Calibration { lengths: &lengths, features: &features };
        let chosen = [5, 20, 35, 50, 60, 80];
        let first = vec![1000.0 / 6.0; 6];
        let mean = |weights: &[f64]| {
            let sums = chosen.iter().zip(weights).map(|(at, weight)| *at as f64 * weight);
            sums.sum::<f64>() / 1000.0
        };
        let weights = calibration.weights(&chosen, &first);
        assert!((mean(&first) - 49.5).abs() > 7.0);
        assert!((mean(&weights) - 49.5).abs() < 0.5, "{}", mean(&weights));
        assert!((weights.iter().sum::<f64>() - 1000.0).abs() < 1e-6);
        assert_eq!(calibration.weights(&[1, 2], &[500.0, 500.0]).len(), 2);
    }
}
