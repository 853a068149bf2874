//! Correction of a faulty formula on one run. It is offered only if it is closer to the truth
//! there.

use super::adjust::Case;
use crate::formula::{Catalog, Formula, Linked};

/// Relative difference below which two values are the same.
const SAME: f64 = 1e-9;

/// Offered formula, with its value on the run.
pub(super) struct Correction {
    /// Text of the formula.
    pub(super) text: String,
    pub(super) formula: Linked,
    pub(super) value: f64,
}

impl Correction {
    /// Parses and evaluates a correction. Returns `None` if it cannot be parsed.
    pub(super) fn of(text: String, catalog: &Catalog, wrong: &Case) -> Option<Correction> {
        let formula = Linked::new(&Formula::parse(&text).ok()?, catalog).ok()?;
        let value = Case { formula: &formula, is_rest: false, ..*wrong }.value();
        Some(Correction { text, formula, value })
    }

    /// Returns whether the correction makes no difference on this run.
    pub(super) fn is_same(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| (self.value - value).abs() <= SAME * value.abs())
    }

    /// Returns whether the correction is farther from the truth than the original formula.
    pub(super) fn moves_away(&self, value: Option<f64>, real: Option<f64>) -> bool {
        let (Some(value), Some(real)) = (value, real) else { return false };
        let (own, before) = ((self.value - real).abs(), (value - real).abs());
        // A correction without a value is not closer.
        !own.is_finite() || own > before + SAME * real.abs()
    }
}
