//! A formula in the place of a wrong one, on one run: it is offered only if it comes nearer to the truth there.

use super::adjust::Case;
use crate::formula::{Catalog, Formula, Linked};

/// How exactly two values agree that are the same.
const SAME: f64 = 1e-9;

/// What is offered, with its value on the run.
pub(super) struct Correction {
    /// The formula, in words.
    pub(super) text: String,
    pub(super) formula: Linked,
    pub(super) value: f64,
}

impl Correction {
    /// Reads and evaluates what is offered in the place of a formula. `None` if it cannot be read.
    pub(super) fn of(text: String, catalog: &Catalog, wrong: &Case) -> Option<Correction> {
        let formula = Linked::new(&Formula::parse(&text).ok()?, catalog).ok()?;
        let value = Case { formula: &formula, is_rest: false, ..*wrong }.value();
        Some(Correction { text, formula, value })
    }

    /// True if it makes no difference on this run.
    pub(super) fn is_same(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| (self.value - value).abs() <= SAME * value.abs())
    }

    /// True if it is farther from the truth than the formula that it corrects.
    pub(super) fn moves_away(&self, value: Option<f64>, real: Option<f64>) -> bool {
        let (Some(value), Some(real)) = (value, real) else { return false };
        let (own, before) = ((self.value - real).abs(), (value - real).abs());
        // No number is nearer to nothing.
        !own.is_finite() || own > before + SAME * real.abs()
    }
}
