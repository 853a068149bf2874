//! Verdict on a metric for one run, and the tolerance of a value.

use super::adjust::Finding;
use super::reason::Reason;
use crate::truth::{Truth, TruthUnit, Truths};

/// Rate per 1000 instructions below which a difference is ignored: one in 20,000 instructions.
const RARE_PER_KILO: f64 = 0.05;
/// Smallest count for which a simple multiple is not chance.
const COUNT_MIN: f64 = 100.0;
/// Size of a cache line in bytes.
const LINE_BYTES: f64 = 64.0;

/// Validation status of a metric on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValidationStatus {
    /// The value equals its claim within the tolerance.
    Right,
    /// The metric has no known claim, so there is nothing to compare.
    Unclaimed,
    /// The claimed quantity did not occur in the run, so neither side has a value.
    Nothing,
    /// The counts or the truth are unreliable. Both are reported without a conclusion.
    Doubtful,
    /// The value differs by more than the tolerance.
    Off,
    /// Data that determine the value are missing, so there is no verdict.
    Missing,
    /// The metric has no value although the truth has one, or it cannot be parsed.
    NoValue,
}

impl ValidationStatus {
    /// Returns the word for tables.
    pub fn word(self) -> &'static str {
        match self {
            ValidationStatus::Right => "right",
            ValidationStatus::Unclaimed => "unclaimed",
            ValidationStatus::Nothing => "nothing",
            ValidationStatus::Doubtful => "doubtful",
            ValidationStatus::Off => "off",
            ValidationStatus::NoValue => "no value",
            ValidationStatus::Missing => "no verdict",
        }
    }
}

/// Tolerance of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative tolerance.
    pub relative: f64,
    /// Tolerance of shares, in percentage points.
    pub points: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { relative: 0.05, points: 0.5 }
    }
}

impl Tolerance {
    /// Returns the largest accepted difference from this truth, in a run with the instructions and
    /// cycles of `run`.
    pub(super) fn of(&self, truth: Truth, real: f64, run: &Truths) -> f64 {
        let each = |truth| run.value(truth).unwrap_or(0.0);
        let rare = RARE_PER_KILO / 1000.0 * each(Truth::Retired);
        let least = match truth.unit() {
            TruthUnit::Share => self.points / 100.0,
            TruthUnit::PerKiloInstruction => RARE_PER_KILO,
            TruthUnit::PerCycle => 0.005,
            TruthUnit::Cycles => self.points / 100.0 * each(Truth::Cycles),
            TruthUnit::Slots => self.points / 100.0 * each(Truth::Slots),
            TruthUnit::Bytes => LINE_BYTES * rare,
            // Rates and bandwidths of the mesh do not depend on instructions.
            _ if Truth::OF_MESH.contains(&truth) => 0.0,
            TruthUnit::CyclesEach | TruthUnit::SlotsEach => 0.0,
            _ => rare,
        };
        (self.relative * real.abs()).max(least)
    }
}

/// Verdict on a metric for one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Name of the trace.
    pub trace: String,
    /// Validation status.
    pub status: ValidationStatus,
    /// Claimed ground truth.
    pub truth: Option<Truth>,
    /// True value of the claim.
    pub real: Option<f64>,
    /// Value from exact counts, in the unit of the truth, or in its own unit without a claim.
    pub value: Option<f64>,
    /// Value on a core of r0p0 to r0p2.
    pub on_erratum: Option<f64>,
    /// Value on a core of r0p3.
    pub on_sound: Option<f64>,
    /// Value from six counters that all metrics share. Its difference from `value` is an error of
    /// the counting, not of the formula.
    pub on_six: Option<f64>,
    /// Missing data that prevent a verdict.
    pub missing: Option<String>,
    /// Reason why one of the counts is doubtful, in a word or two: `no SVE accesses`.
    pub doubt: Option<&'static str>,
    /// Events of the formula, as it names them, with their counts.
    pub counts: Vec<(String, f64)>,
    /// Corrected formula for the claim, if the formula is wrong and the known one is not farther
    /// from the truth.
    pub corrected: Option<String>,
    /// Value of the corrected formula on this run, in the unit of the truth.
    pub corrected_value: Option<f64>,
    /// Reasons of the difference, or of a possible one; the most important first.
    pub findings: Vec<Finding>,
    /// Difference that the findings do not explain.
    pub rest: Option<f64>,
}

impl Verdict {
    /// Returns the value minus the truth.
    pub fn difference(&self) -> Option<f64> {
        Some(self.value? - self.real?)
    }

    /// Returns the difference relative to the truth.
    pub fn relative(&self) -> Option<f64> {
        let real = self.real.filter(|real| *real != 0.0)?;
        Some(self.difference()? / real.abs())
    }

    /// Returns whether the counts are large. Small counts may be simple multiples of each other by
    /// chance.
    pub(super) fn is_of_many(&self) -> bool {
        let is_many = |(_, count): &(String, f64)| *count >= COUNT_MIN;
        !self.counts.is_empty() && self.counts.iter().all(is_many)
    }

    /// Returns the error that sharing six counters adds to the value.
    pub fn multiplexing(&self) -> Option<f64> {
        Some(self.on_six? - self.value?)
    }

    /// Returns whether the formula has a fault, or the value is off.
    pub fn alarms(&self) -> bool {
        let has_fault = self.findings.iter().any(|finding| finding.reason.is_fault());
        has_fault || matches!(self.status, ValidationStatus::Off | ValidationStatus::NoValue)
    }

    /// Returns whether the reason with this code was found.
    pub fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.reason.code() == code)
    }

    /// Removes the reason `Unexplained`, because all runs together reveal another one.
    pub fn explained(&mut self) {
        self.findings.retain(|finding| finding.reason != Reason::Unexplained);
    }

    /// Adds counting biases that are not reasons yet.
    pub(super) fn explained_by(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if !self.has(finding.reason.code()) {
                self.findings.push(finding);
            }
        }
    }

    /// Removes conclusions from unreliable counts. Faults that do not depend on counts stay.
    pub(super) fn doubted(&mut self) {
        let of_counts = |reason: &Reason| {
            use Reason::{AboveOne, CyclesForSlots, Negative};
            !reason.is_fault() || matches!(reason, AboveOne(_) | Negative(_) | CyclesForSlots)
        };
        self.findings.retain(|finding| !of_counts(&finding.reason));
        self.rest = None;
        if !matches!(self.status, ValidationStatus::Unclaimed | ValidationStatus::Missing) {
            self.status = ValidationStatus::Doubtful;
        }
        if self.findings.is_empty() {
            (self.corrected, self.corrected_value) = (None, None);
        }
    }

    pub(super) fn add(&mut self, reason: Reason) {
        if !self.has(reason.code()) {
            self.findings.push(Finding { reason, shift: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_difference_is_accepted() {
        let mut run = Truths::default();
        for (truth, value) in [(Truth::Retired, 2e6), (Truth::Cycles, 1e6), (Truth::Slots, 5e6)] {
            run.set(truth, value);
        }
        let of = |truth, real| Tolerance::default().of(truth, real, &run);
        assert_eq!(of(Truth::DtlbWalkPki, 0.002), 0.05);
        assert_eq!(of(Truth::DtlbWalkPki, 4.0), 0.2);
        assert_eq!(of(Truth::DtlbWalks, 4.0), 100.0);
        assert_eq!(of(Truth::BytesRead, 0.0), 6400.0);
        assert_eq!(of(Truth::Retiring, 0.02), 0.005);
        assert_eq!(of(Truth::FrontendIdle, 0.0), 5000.0);
        assert_eq!(of(Truth::BackendSlots, 0.0), 25_000.0);
        assert_eq!(of(Truth::LoadLatency, 10.0), 0.5);
    }
}
