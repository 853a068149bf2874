//! Differences that remain after a fit.

use crate::point::{Point, Points, log_ratio};

/// Standard deviations from which a difference is not chance, with thousands of points.
const NOT_CHANCE: f64 = 5.0;
/// Events in all rounds of a recording, and slots, up to which a difference is small: the first and
/// the last round, or what ran before, can make it. A cycle has five slots.
const FEW: f64 = 16.0;
const FEW_SLOTS: f64 = 5.0 * FEW;

/// Reason for a difference that no value of the keys explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The structure of the model differs from the machine there, or the search ended too early.
    Structure,
    /// The counts differ by a few events in all, which the first round can make.
    FewEvents,
    /// Other sizes of hashed tables, which are not fitted, can make it.
    HashedSizes,
}

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
    /// Reason for the difference.
    pub cause: Cause,
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
    let of = |(number, point): (usize, &Point)| {
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
            cause: match is_small(point, counted, predicted[number]) {
                true => Cause::FewEvents,
                false => Cause::Structure,
            },
        })
    };
    let mut all: Vec<Unexplained> = points.all.iter().enumerate().filter_map(of).collect();
    all.sort_by(|one, other| other.deviations.abs().total_cmp(&one.deviations.abs()));
    all
}

/// Finds the counts that other sizes of hashed tables can make. `span` has the lowest and the
/// highest count of each point with such sizes.
pub(crate) fn note_chance(found: &mut [Unexplained], points: &Points, span: &[(f64, f64)]) {
    for count in found.iter_mut().filter(|count| count.cause == Cause::Structure) {
        let is_it = |point: &Point| point.kernel == count.kernel && point.event == count.event;
        let Some(number) = points.all.iter().position(is_it) else { continue };
        let (point, (low, high)) = (&points.all[number], span[number]);
        // Above all counts of the model, or below them, by more than noise.
        let above = points.residual(point, high).is_none_or(|residual| residual < -NOT_CHANCE);
        let below = points.residual(point, low).is_none_or(|residual| residual > NOT_CHANCE);
        if !above && !below {
            count.cause = Cause::HashedSizes;
        }
    }
}

/// Returns whether two counts of a point differ by a few events in all.
fn is_small(point: &Point, counted: f64, predicted: f64) -> bool {
    let few = if point.event.starts_with("STALL_SLOT") { FEW_SLOTS } else { FEW };
    (counted - predicted).abs() <= few * point.step
}

/// Returns the variance of a fitted residual: 1 if the counts differ by noise alone. Differences
/// that are not chance are left out.
pub(crate) fn scale(residuals: &[f64]) -> f64 {
    let chance: Vec<f64> =
        residuals.iter().copied().filter(|residual| residual.abs() <= NOT_CHANCE).collect();
    root_mean_square(&chance).map_or(1.0, |root| root.powi(2).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Sample;

    /// Given 2,048 rounds and counts far outside of noise, expect the one that differs by 16 events
    /// to be small, and the one that differs by 17 not to be.
    #[test]
    fn a_difference_of_a_few_events_in_all_is_small() {
        let step = 1.0 / 2048.0;
        let small = |event: &str, counted: f64, predicted: f64| {
            let counted = Some(Sample { mean: counted * step, deviation: 0.0 });
            let event = event.to_owned();
            let point = Point { kernel: 0, event, counted, step, held_out: false };
            let kernels = vec!["chase".to_owned()];
            let points = Points { kernels, all: vec![point], noise: 0.0 };
            let found = unexplained(&points, &[predicted * step], &[0.0]);
            found.first().expect("more than five deviations").cause == Cause::FewEvents
        };
        assert!(small("STALL_FRONTEND", 33.0, 49.0));
        assert!(!small("STALL_FRONTEND", 33.0, 50.0));
        // A walk for each page of 64 lines, twice as often.
        assert!(!small("DTLB_WALK", 32.0, 64.0));
        assert!(small("STALL_SLOT_FRONTEND", 430.0, 510.0));
        assert!(!small("STALL_SLOT_FRONTEND", 430.0, 511.0));
    }
}
