//! Differences that remain after a fit.

use crate::point::{Points, log_ratio};

/// Standard deviations from which a difference is not chance, with thousands of points.
const NOT_CHANCE: f64 = 5.0;
/// Counts per round below which an event is not one of the loop. It comes from what ran before, or
/// from the first and last round.
const RARE: f64 = 0.1;

/// A count that no value of the keys explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Unexplained {
    /// Number of the kernel.
    pub kernel: usize,
    /// Mnemonic of the event.
    pub event: String,
    /// Count of the machine per round.
    pub counted: f64,
    /// Count of the best model per round.
    pub predicted: f64,
    /// Difference in standard deviations.
    pub deviations: f64,
    /// The point was not fitted.
    pub held_out: bool,
    /// Both counts are below one in ten rounds: too few to say that the structure differs.
    pub is_rare: bool,
}

/// Errors of predictions, as shares; `None` where nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Root mean square of the logarithms of the ratios, over the fitted points.
    pub fitted: f64,
    /// The same over points that were held out.
    pub held_out: Option<f64>,
    /// The same for a perfect model: the noise of the held-out counts.
    pub noise: Option<f64>,
    /// Median of the absolute errors of `CPU_CYCLES`, over the fitted points.
    pub cycles: Option<f64>,
    /// The same over points that were held out.
    pub held_out_cycles: Option<f64>,
}

/// Computes the errors.
pub(crate) fn errors(points: &Points, predicted: &[f64]) -> Errors {
    let ratios = |held_out: bool, event: Option<&str>| {
        let is_wanted = |at: &usize| {
            let point = &points.all[*at];
            point.held_out == held_out && event.is_none_or(|event| point.event == event)
        };
        let ratio = |at: usize| {
            let sample = points.all[at].counted?;
            Some(log_ratio(predicted[at], sample.mean))
        };
        (0..points.all.len()).filter(is_wanted).filter_map(ratio).collect::<Vec<f64>>()
    };
    let held_out: Vec<f64> = points
        .all
        .iter()
        .filter(|point| point.held_out)
        .filter_map(|point| point.counted)
        .map(|sample| log_ratio(sample.mean * (1.0 + points.of_chance(sample)), sample.mean))
        .collect();
    Errors {
        fitted: root_mean_square(&ratios(false, None)).unwrap_or_default(),
        held_out: root_mean_square(&ratios(true, None)),
        noise: root_mean_square(&held_out),
        cycles: median(ratios(false, Some("CPU_CYCLES"))),
        held_out_cycles: median(ratios(true, Some("CPU_CYCLES"))),
    }
}

fn root_mean_square(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (!values.is_empty()).then(|| (squares / values.len() as f64).sqrt())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.iter_mut().for_each(|value| *value = value.exp_m1().abs());
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns the counts that differ by more than chance, the largest difference first. `spread` is
/// the standard deviation of each prediction, in those of the count: the part that fitted counts
/// leave open widens those that were held out.
pub(crate) fn unexplained(points: &Points, predicted: &[f64], spread: &[f64]) -> Vec<Unexplained> {
    let of = |(number, point): (usize, &crate::point::Point)| {
        let residual = points.residual(point, predicted[number])?;
        let open = if point.held_out { spread[number] } else { 0.0 };
        let deviations = residual / 1.0_f64.hypot(open);
        let counted = point.counted?.mean;
        (deviations.abs() > NOT_CHANCE).then(|| Unexplained {
            kernel: point.kernel,
            event: point.event.clone(),
            counted,
            predicted: predicted[number],
            deviations,
            held_out: point.held_out,
            is_rare: counted.max(predicted[number]) < RARE,
        })
    };
    let mut all: Vec<Unexplained> = points.all.iter().enumerate().filter_map(of).collect();
    all.sort_by(|one, other| other.deviations.abs().total_cmp(&one.deviations.abs()));
    all
}

/// Returns the variance of a fitted residual: 1 if the counts differ by noise alone. Differences
/// that are not chance are left out.
pub(crate) fn scale(residuals: &[f64]) -> f64 {
    let chance: Vec<f64> =
        residuals.iter().copied().filter(|residual| residual.abs() <= NOT_CHANCE).collect();
    root_mean_square(&chance).map_or(1.0, |root| root.powi(2).max(1.0))
}
