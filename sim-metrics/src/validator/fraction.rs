//! Simple fractions: typical factors that are forgotten or applied twice.

use std::fmt;

/// Largest numerator and denominator.
const NUMBER_MAX: u32 = 16;
/// Relative difference below which a value is the fraction.
const EXACT: f64 = 1e-6;

/// Reduced fraction of two small numbers, or a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) part: u32,
    pub(super) whole: u32,
}

impl Fraction {
    /// Returns the fraction equal to a value, with the smallest denominator.
    pub(super) fn of(value: f64) -> Option<Fraction> {
        if value <= 0.0 || !value.is_finite() {
            return None;
        }
        let candidate = |whole: u32| {
            let part = (value * f64::from(whole)).round();
            let is_exact = (value * f64::from(whole) / part - 1.0).abs() < EXACT;
            let is_small = part <= f64::from(NUMBER_MAX) || (whole == 1 && part < 1e9);
            (part >= 1.0 && is_exact && is_small).then_some(Fraction { part: part as u32, whole })
        };
        let inverse = || {
            let whole = (1.0 / value).round();
            let is_exact = (value * whole - 1.0).abs() < EXACT && whole < 1e9;
            is_exact.then_some(Fraction { part: 1, whole: whole as u32 })
        };
        (1..=NUMBER_MAX).find_map(candidate).or_else(inverse)
    }

    /// Returns the exact value of the fraction, without the rounding of its input.
    pub(super) fn value(self) -> f64 {
        f64::from(self.part) / f64::from(self.whole)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole {
            1 => write!(f, "{}", self.part),
            whole => write!(f, "{}/{whole}", self.part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fractions_are_found_and_others_are_not() {
        let text = |value| Fraction::of(value).map(|fraction| fraction.to_string());
        assert_eq!(text(0.625).as_deref(), Some("5/8"));
        assert_eq!(text(0.8).as_deref(), Some("4/5"));
        assert_eq!(text(2.0).as_deref(), Some("2"));
        assert_eq!(text(1000.0).as_deref(), Some("1000"));
        assert_eq!(text(0.01).as_deref(), Some("1/100"));
        assert_eq!(text(1.25).as_deref(), Some("5/4"));
        for value in [0.62501, std::f64::consts::PI, 0.0, -2.0, f64::NAN, 17.0 / 19.0] {
            assert_eq!(text(value), None, "{value}");
        }
    }

    /// Tests the largest numerator and denominator, and the next larger ones.
    #[test]
    fn large_numbers_do_not_form_a_fraction() {
        let text = |value| Fraction::of(value).map(|fraction| fraction.to_string());
        assert_eq!(text(16.0 / 3.0).as_deref(), Some("16/3"));
        assert_eq!(text(999_999_999.0).as_deref(), Some("999999999"));
        assert_eq!(text(1.0 / 999_999_999.0).as_deref(), Some("1/999999999"));
        for value in [17.0 / 3.0, 1e9, 1e12, 1e-9, 1e-12, -0.5, f64::INFINITY] {
            assert_eq!(text(value), None, "{value}");
        }
    }
}
