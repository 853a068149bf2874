//! Count of a table with its tolerance.

use sim_core::CoreEvent;

/// Count, and the amount by which it may differ from the true count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Value of the count.
    pub value: u64,
    /// Relative tolerance; 0 for a count of the whole window.
    pub tolerance: f64,
    /// Absolute tolerance: 1 for a mean of several runs, which is rounded.
    pub rounding: u64,
    /// The count covers part of the time and was scaled.
    pub is_estimate: bool,
}

impl From<u64> for Count {
    /// Converts an exact count.
    fn from(value: u64) -> Count {
        Count { value, ..Count::default() }
    }
}

/// Weighted sum of events.
pub type Terms<E> = Vec<(u64, E)>;

/// Returns the value of a sum, with the largest relative tolerance of its terms. Returns `None` if
/// an event was not counted.
pub(crate) fn total<E: CoreEvent>(
    terms: &[(u64, E)],
    count: &impl Fn(E) -> Option<Count>,
) -> Option<Count> {
    terms.iter().try_fold(Count::default(), |sum, (weight, event)| {
        let term = count(*event)?;
        Some(Count {
            value: sum.value.saturating_add(weight.saturating_mul(term.value)),
            tolerance: sum.tolerance.max(term.tolerance),
            rounding: sum.rounding.saturating_add(weight.saturating_mul(term.rounding)),
            is_estimate: sum.is_estimate || term.is_estimate,
        })
    })
}

/// Returns a sum as text; an empty sum is 0.
pub(crate) fn formula<E: CoreEvent>(terms: &[(u64, E)]) -> String {
    let term = |(weight, event): &(u64, E)| match weight {
        1 => event.mnemonic().to_owned(),
        n => format!("{n} x {}", event.mnemonic()),
    };
    match terms.is_empty() {
        true => String::from("0"),
        false => terms.iter().map(term).collect::<Vec<_>>().join(" + "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identities::{Assumptions, check};
    use sim_core::PmuEvent::{self, *};

    /// A mean is rounded, so a sum of means may differ from the mean of the sum.
    #[test]
    fn rounded_means_keep_the_rules_and_wrong_ones_do_not() {
        let violations = |sum: u64, rounding: u64| {
            let of = |value| Some(Count { rounding, ..Count::from(value) });
            let counts = |event: PmuEvent| match event {
                L1D_CACHE => of(sum),
                L1D_CACHE_RD | L1D_CACHE_WR => of(50),
                _ => None,
            };
            check(counts, &Assumptions::default()).violations.len()
        };
        assert_eq!((violations(100, 0), violations(101, 0)), (0, 1));
        assert_eq!((violations(101, 1), violations(103, 1), violations(104, 1)), (0, 0, 1));
    }
}
