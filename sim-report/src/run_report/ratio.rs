//! Ratios of counts, with a defined result for a divisor of 0.

/// Returns a part of a whole in percent, or 0 if the whole is 0.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    some_percent(part, whole).unwrap_or(0.0)
}

/// Returns a part of a whole in percent, or `None` if the whole is 0.
pub(super) fn some_percent(part: u64, whole: u64) -> Option<f64> {
    over(part, whole, 100.0)
}

/// Returns `n` per `scale` of the others, or `None` if the others are 0.
pub(super) fn over(n: u64, others: u64, scale: f64) -> Option<f64> {
    (others > 0).then(|| n as f64 * scale / others as f64)
}
