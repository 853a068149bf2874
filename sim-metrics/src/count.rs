//! Count of a table with its tolerance.

use sim_core::CoreEvent;

/// Count, and the relative amount by which it may differ from the true count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Value of the count.
    pub value: u64,
    /// Relative tolerance; 0 for a count of the whole window.
    pub tolerance: f64,
    /// The count covers part of the time and was scaled.
    pub is_estimate: bool,
}

impl From<u64> for Count {
    /// Converts an exact count.
    fn from(value: u64) -> Count {
        Count { value, tolerance: 0.0, is_estimate: false }
    }
}

/// Weighted sum of events.
pub type Terms<E> = Vec<(u64, E)>;

/// Returns the value of a sum, with the largest tolerance of its terms. Returns `None` if an event
/// was not counted.
pub(crate) fn total<E: CoreEvent>(
    terms: &[(u64, E)],
    count: &impl Fn(E) -> Option<Count>,
) -> Option<Count> {
    terms.iter().try_fold(Count::default(), |sum, (weight, event)| {
        let term = count(*event)?;
        Some(Count {
            value: sum.value.saturating_add(weight.saturating_mul(term.value)),
            tolerance: sum.tolerance.max(term.tolerance),
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
