//! One count of a table, with how far it can be trusted.

use sim_core::PmuEvent;

/// A count, and the share by which it may differ from what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// The count.
    pub value: u64,
    /// 0 for a count of the whole window.
    pub tolerance: f64,
    /// True if it was counted for a part of the time and scaled.
    pub is_estimate: bool,
}

impl From<u64> for Count {
    /// An exact count.
    fn from(value: u64) -> Count {
        Count { value, tolerance: 0.0, is_estimate: false }
    }
}

/// A sum of events with weights.
pub(crate) type Terms = Vec<(u64, PmuEvent)>;

/// The value of a sum, with the largest tolerance of its terms; `None` if one was not counted.
pub(crate) fn total(
    terms: &[(u64, PmuEvent)],
    count: &impl Fn(PmuEvent) -> Option<Count>,
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

/// A sum as text; no events make 0.
pub(crate) fn formula(terms: &[(u64, PmuEvent)]) -> String {
    let term = |(weight, event): &(u64, PmuEvent)| match weight {
        1 => event.mnemonic().to_owned(),
        n => format!("{n} x {}", event.mnemonic()),
    };
    match terms.is_empty() {
        true => String::from("0"),
        false => terms.iter().map(term).collect::<Vec<_>>().join(" + "),
    }
}
