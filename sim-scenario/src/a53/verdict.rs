//! Verdict of a case: wrong counts, and their explanation.

use sim_a53::{A53CoreOutcome, A53Counts};

use super::document::Case;
use super::expect::{Expected, Measure};
use crate::language::Place;

/// Counts of one step, with all its repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// Text of the step.
    pub step: String,
    /// Place of the text.
    pub place: Place,
    /// Core that ran it.
    pub core: usize,
    /// Counts of its core.
    pub counts: A53Counts,
}

/// A wrong count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The expectation.
    pub expected: Expected,
    /// The count.
    pub counted: u64,
}

/// Verdict of a case.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Wrong counts in the order of the expectations.
    pub mismatches: Vec<Mismatch>,
    /// Result of each core.
    pub outcomes: Vec<A53CoreOutcome>,
    /// Counts of each step, without those of the end of the program.
    pub by_step: Vec<StepCounts>,
}

impl Verdict {
    /// Compares results with the expectations of a case.
    pub(super) fn of(
        case: &Case,
        outcomes: Vec<A53CoreOutcome>,
        by_step: Vec<StepCounts>,
    ) -> Verdict {
        let compare = |expected: &Expected| {
            let counted = expected.measure.of(&outcomes[expected.core]);
            (!expected.bound.holds(counted)).then_some(Mismatch { expected: *expected, counted })
        };
        let mismatches = case.expect.iter().filter_map(compare).collect();
        Verdict { mismatches, outcomes, by_step }
    }

    /// Returns true if every expectation holds.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Explains a failed case: place, claim, section, and for each wrong event the expected count,
    /// the found count, and the steps that counted it.
    pub fn explain(&self, file: &str, case: &Case) -> String {
        let Case { test, claim, guide, place, .. } = case;
        let mut text = format!("{file}:{}: {test} fails: {claim} ({guide})\n", place.line);
        for Mismatch { expected: Expected { core, measure, bound }, counted } in &self.mismatches {
            let on = if *core == 0 { String::new() } else { format!(" on core {core}") };
            text += &format!("    {}{on}: expected {bound}, counted {counted}\n", measure.name());
            let Measure::Event(event) = measure else { continue };
            for step in self.by_step.iter().filter(|step| step.core == *core) {
                let (n, Place { line, column }) = (step.counts.value(*event), step.place);
                if n > 0 {
                    text += &format!("        {n} by {} ({file}:{line}:{column})\n", step.step);
                }
            }
        }
        text
    }
}
