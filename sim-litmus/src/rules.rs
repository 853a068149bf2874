//! Rules between the counts of one loop, which broken counts violate.
//!
//! The counts of a case are differences of two loops. A difference keeps equations between sums of
//! events (`L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR`), but not that one event is a part of another:
//! where the loop without the steps counts more of the rest, the part may be the larger one. So of
//! cases only equations are checked.

use std::collections::BTreeMap;

use sim_core::PmuEvent;
use sim_metrics::identities::{self, Assumptions, Comparison, Subject, Violation};

use crate::admission::{TOLERANCE, TOLERANCE_OF_CLAIM};
use crate::counts::Sample;
use crate::machine::Midr;

/// Counts of a round are multiplied by this before they become whole numbers.
const SCALE: f64 = 1000.0;
/// Deviations of the means by which the sides may differ.
const DEVIATIONS: f64 = 6.0;

/// Rule that the counts of a loop violate.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRule {
    /// The rule as a formula.
    pub rule: String,
    /// Value of the left side.
    pub left: f64,
    /// Value of the right side.
    pub right: f64,
    /// The rule is that of the rename slots, which revisions r0p0 to r0p2 of the N2 violate.
    pub is_of_slots: bool,
}

/// Result of a check of one loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Number of rules whose events were counted.
    pub tested: usize,
    /// Rules that do not hold.
    pub broken: Vec<BrokenRule>,
}

/// Checks the counts of a loop by event: a list of repetitions each. `are_differences`: they are
/// those of a case.
pub fn check(
    counts: &BTreeMap<String, Vec<f64>>,
    midr: Option<Midr>,
    are_differences: bool,
) -> Rules {
    let assumptions = Assumptions {
        core: midr
            .and_then(Midr::core)
            .filter(|core| core.is_related())
            .unwrap_or_else(|| Assumptions::default().core),
        has_stall_slot_erratum: midr.filter(|midr| midr.is_n2()).map(Midr::has_stall_slot_erratum),
        ..Assumptions::default()
    };
    let sample = |event: PmuEvent| counts.get(event.mnemonic()).and_then(|own| Sample::of(own));
    // A rule cannot be checked with an event that the loop without the steps counts more often.
    let count = |event| {
        let mean = sample(event)?.mean;
        (mean > -TOLERANCE).then(|| (mean.max(0.0) * SCALE).round() as u64)
    };
    let check = identities::check(count, &assumptions);
    let is_known = |broken: &&Violation| {
        (broken.comparison == Comparison::Equal || !are_differences) && is_outside(broken, &sample)
    };
    let broken = check.violations.iter().filter(is_known).map(|broken| BrokenRule {
        rule: format!("{} {} {}", broken.left, broken.comparison, broken.right),
        left: broken.left_value as f64 / SCALE,
        right: broken.right_value as f64 / SCALE,
        is_of_slots: broken.subject == Subject::Slots,
    });
    Rules { tested: check.tested, broken: broken.collect() }
}

/// Returns true if neither the tolerance nor the spread of the counts explains the difference.
fn is_outside(broken: &Violation, sample: &impl Fn(PmuEvent) -> Option<Sample>) -> bool {
    let words = broken.left.split(' ').chain(broken.right.split(' '));
    let events = words.filter_map(|word| PmuEvent::from_name(word).ok());
    let deviations = events.filter_map(|event| Some(sample(event)?.deviation));
    let spread: f64 = deviations.sum();
    let larger = broken.left_value.max(broken.right_value) as f64 / SCALE;
    let allowed = TOLERANCE + TOLERANCE_OF_CLAIM * larger + DEVIATIONS * spread;
    broken.difference() as f64 / SCALE > allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MIDR_EL1 of r0p0 and r0p3.
    const R0P0: u64 = 0x410f_d490;
    const R0P3: u64 = 0x410f_d493;

    fn broken(counts: &[(&str, [f64; 2])], midr: u64, are_differences: bool) -> Vec<String> {
        let counts = counts.iter().map(|(event, own)| ((*event).to_owned(), own.to_vec()));
        let rules = check(&counts.collect(), Some(Midr(midr)), are_differences);
        rules.broken.into_iter().map(|broken| broken.rule).collect()
    }

    #[test]
    fn a_wrong_sum_is_found_and_noise_is_not() {
        let sum = |all| {
            [("L1D_CACHE", [all, all]), ("L1D_CACHE_RD", [1.0, 1.02]), ("L1D_CACHE_WR", [1.0, 1.0])]
        };
        assert_eq!(broken(&sum(2.0), R0P3, true), Vec::<String>::new());
        assert_eq!(broken(&sum(3.0), R0P3, true), ["L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR"]);
        // Counts that vary so much say nothing.
        let wide =
            [("L1D_CACHE", [1.0, 5.0]), ("L1D_CACHE_RD", [1.0, 1.0]), ("L1D_CACHE_WR", [1.0, 1.0])];
        assert_eq!(broken(&wide, R0P3, true), Vec::<String>::new());
    }

    #[test]
    fn a_part_may_exceed_its_whole_in_a_difference_only() {
        let part = [("BR_MIS_PRED", [3.0, 3.0]), ("BR_PRED", [2.0, 2.0])];
        assert_eq!(broken(&part, R0P3, true), Vec::<String>::new());
        assert_eq!(broken(&part, R0P3, false), ["BR_MIS_PRED <= BR_PRED"]);
    }

    /// The first revisions count a stalled slot too many in every cycle.
    #[test]
    fn slots_follow_the_revision() {
        let slots = |stalled| {
            [
                ("OP_SPEC", [5.0, 5.0]),
                ("STALL_SLOT", [stalled, stalled]),
                ("CPU_CYCLES", [10.0, 10.0]),
            ]
        };
        assert_eq!(broken(&slots(55.0), R0P0, true), Vec::<String>::new());
        assert_eq!(broken(&slots(45.0), R0P3, true), Vec::<String>::new());
        assert_eq!(broken(&slots(55.0), R0P3, true), ["OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES"]);
        assert_eq!(broken(&slots(45.0), R0P0, true), ["OP_SPEC + STALL_SLOT = 6 x CPU_CYCLES"]);
        // An eight-wide core.
        assert_eq!(broken(&slots(75.0), 0x411f_d401, true), Vec::<String>::new());
    }
}
