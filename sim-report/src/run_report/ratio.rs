//! Ratios of counts, where there is something to divide by.

/// A part of a whole in percent; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    some_percent(part, whole).unwrap_or(0.0)
}

/// A part of a whole in percent; none of nothing.
pub(super) fn some_percent(part: u64, whole: u64) -> Option<f64> {
    over(part, whole, 100.0)
}

/// So many for each `scale` of the others.
pub(super) fn over(n: u64, others: u64, scale: f64) -> Option<f64> {
    (others > 0).then(|| n as f64 * scale / others as f64)
}
