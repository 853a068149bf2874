//! Rules between the counts of one window: their form, and the result of a check. The events are
//! those of any core.

use std::fmt;

use sim_core::CoreEvent;

use crate::count::{Count, Terms, formula, total};

/// Origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The document of the core states the rule.
    Printed,
    /// The rule follows from the event definitions, or from Arm's published counts.
    Inferred,
}

/// Required comparison of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The left side equals the right side.
    Equal,
    /// The left side is at most the right side.
    AtMost,
    /// The left side is at least the right side.
    AtLeast,
}

/// Subject of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One event is the sum of others.
    Sum,
    /// Two events count the same occurrences.
    Alias,
    /// One event counts a part of another event.
    Subset,
    /// The event stays 0 on this core.
    Never,
    /// The last-level events stay 0 without an external cache.
    NoExternalCache,
    /// The bus has a limit per cycle.
    BusCeiling,
    /// Operations and stalled slots add up to all slots.
    Slots,
    /// The event occurs at most so often in a cycle.
    PerCycle,
}

/// Violated rule, with both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Subject of the rule.
    pub subject: Subject,
    /// Left side as a formula.
    pub left: String,
    /// Value of the left side.
    pub left_value: u64,
    /// Comparison that should hold.
    pub comparison: Comparison,
    /// Right side as a formula.
    pub right: String,
    /// Value of the right side.
    pub right_value: u64,
    /// Origin of the rule.
    pub origin: Origin,
    /// A count of either side is an estimate.
    pub is_estimate: bool,
    /// Reason why the rule must hold, with the source; `None` if the event table says it.
    pub reason: Option<&'static str>,
}

impl Violation {
    /// Returns the difference of the sides.
    pub fn difference(&self) -> u64 {
        self.left_value.abs_diff(self.right_value)
    }

    /// Returns the difference relative to the larger side.
    pub fn difference_share(&self) -> f64 {
        self.difference() as f64 / self.left_value.max(self.right_value).max(1) as f64
    }
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Number of rules whose events were all counted.
    pub tested: usize,
    /// Number of rules skipped because an event was not counted.
    pub left_out: usize,
    /// For an unknown revision: whether the slots show the surplus of r0p0 to r0p2.
    pub found_erratum: Option<bool>,
    /// Rules that do not hold.
    pub violations: Vec<Violation>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::AtMost => "<=",
            Comparison::AtLeast => ">=",
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::Printed => "printed",
            Origin::Inferred => "inferred",
        };
        write!(
            f,
            "{} {} {} does not hold: {} against {} ({origin})",
            self.left, self.comparison, self.right, self.left_value, self.right_value
        )
    }
}

/// Rule between two sums.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule<E> {
    /// Subject of the rule.
    pub subject: Subject,
    /// Left side, as weights and events; empty for 0.
    pub left: Terms<E>,
    /// Required comparison of the sides.
    pub comparison: Comparison,
    /// Right side.
    pub right: Terms<E>,
    /// Origin of the rule.
    pub origin: Origin,
    /// Reason why the rule must hold, with the source; `None` if the event table says it.
    pub reason: Option<&'static str>,
}

impl<E: CoreEvent> fmt::Display for Rule<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", formula(&self.left), self.comparison, formula(&self.right))
    }
}

impl<E: CoreEvent> Rule<E> {
    /// Compares the sides, if all of their events were counted.
    pub(crate) fn apply(
        &self,
        count: &impl Fn(E) -> Option<Count>,
        tolerance: f64,
        check: &mut Check,
    ) {
        let (Some(left), Some(right)) = (total(&self.left, count), total(&self.right, count))
        else {
            check.left_out += 1;
            return;
        };
        check.tested += 1;
        if !holds(left, self.comparison, right, tolerance) {
            check.violations.push(Violation {
                subject: self.subject,
                left: formula(&self.left),
                left_value: left.value,
                comparison: self.comparison,
                right: formula(&self.right),
                right_value: right.value,
                origin: self.origin,
                is_estimate: left.is_estimate || right.is_estimate,
                reason: self.reason,
            });
        }
    }

    /// Returns the rank of the rule for errors, lower being better. Two names of one count seldom
    /// differ.
    fn worth(&self) -> u8 {
        match self.subject {
            Subject::Sum | Subject::Slots => 0,
            Subject::Subset | Subject::BusCeiling | Subject::PerCycle => 1,
            Subject::Alias | Subject::Never | Subject::NoExternalCache => 2,
        }
    }

    /// Returns whether `event` occurs on either side.
    pub(crate) fn has(&self, event: E) -> bool {
        self.left.iter().chain(&self.right).any(|(_, own)| *own == event)
    }

    /// Returns whether `other` is the same rule, written from its other end.
    pub(crate) fn is_mirror_of(&self, other: &Rule<E>) -> bool {
        let is_turned = matches!(
            (self.comparison, other.comparison),
            (Comparison::AtMost, Comparison::AtLeast) | (Comparison::AtLeast, Comparison::AtMost)
        );
        is_turned && self.left == other.right && self.right == other.left
    }
}

fn holds(left: Count, comparison: Comparison, right: Count, tolerance: f64) -> bool {
    let tolerance = tolerance.max(left.tolerance).max(right.tolerance);
    let rounding = left.rounding.saturating_add(right.rounding);
    let (left, right) = (left.value, right.value);
    let slack = ((left.max(right) as f64 * tolerance) as u64).saturating_add(rounding);
    match comparison {
        Comparison::Equal => left.abs_diff(right) <= slack,
        Comparison::AtMost => left <= right.saturating_add(slack),
        Comparison::AtLeast => left.saturating_add(slack) >= right,
    }
}

/// Returns the rule that lacks the fewest counts, and the missing events.
pub(crate) fn nearest<E: CoreEvent>(
    rules: Vec<Rule<E>>,
    count: &impl Fn(E) -> Option<Count>,
) -> Option<(String, Vec<E>)> {
    let lacks = |rule: Rule<E>| {
        let events: Vec<E> = rule.left.iter().chain(&rule.right).map(|(_, event)| *event).collect();
        let missing: Vec<E> =
            events.iter().copied().filter(|event| count(*event).is_none()).collect();
        let is_begun = missing.len() < events.len() && !missing.is_empty();
        is_begun.then(|| (rule.worth(), rule.to_string(), missing))
    };
    let begun = rules.into_iter().filter_map(lacks);
    let nearest = begun.min_by_key(|(worth, _, missing)| (*worth, missing.len()));
    nearest.map(|(_, rule, missing)| (rule, missing))
}
