//! How a metric did on a run, and how far a value may be from its truth.

use super::adjust::Finding;
use super::reason::Reason;
use crate::truth::{Truth, TruthUnit, Truths};

/// What happens so seldom that no difference of it is one: of 20,000 instructions one.
const RARE_PER_KILO: f64 = 0.05;
/// Counts from which on a simple multiple is no chance.
const COUNT_MIN: f64 = 100.0;
/// Bytes of a cache line.
const LINE_BYTES: f64 = 64.0;

/// How a metric did on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValidationStatus {
    /// It says what it claims, within the tolerance.
    Right,
    /// It claims nothing that is known; there is nothing to compare.
    Unclaimed,
    /// What it claims did not occur in the run: neither has a value.
    Nothing,
    /// Its counts or its truth cannot be trusted: both are told, and nothing is concluded.
    Doubtful,
    /// It differs by more than the tolerance.
    Off,
    /// Something is missing that decides its value: nothing can be said.
    Missing,
    /// It has no value although there is one, or it cannot be read.
    NoValue,
}

impl ValidationStatus {
    /// A word for tables.
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

/// How far a value may be from its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// As a part of the truth.
    pub relative: f64,
    /// For shares, in percentage points: less is never a difference.
    pub points: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { relative: 0.05, points: 0.5 }
    }
}

impl Tolerance {
    /// The largest difference from this truth that is none, in a run of so many instructions and cycles.
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
            TruthUnit::CyclesEach | TruthUnit::SlotsEach => 0.0,
            _ => rare,
        };
        (self.relative * real.abs()).max(least)
    }
}

/// A metric on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The trace.
    pub trace: String,
    /// How it did.
    pub status: ValidationStatus,
    /// What it claims.
    pub truth: Option<Truth>,
    /// The real value of that.
    pub real: Option<f64>,
    /// Its value from exact counts, in the unit of the truth (with its own factor, without one).
    pub value: Option<f64>,
    /// Its value on a core of r0p0 to r0p2.
    pub on_erratum: Option<f64>,
    /// Its value on a core of r0p3.
    pub on_sound: Option<f64>,
    /// Its value from six counters that all metrics share. What it differs from `value` by is an error
    /// of the counting and none of the formula.
    pub on_six: Option<f64>,
    /// What is missing, if nothing can be said without it.
    pub missing: Option<String>,
    /// What makes one of its counts doubtful, in a word or two: `no SVE accesses`.
    pub doubt: Option<&'static str>,
    /// The events that it was computed from, as it names them, with their counts.
    pub counts: Vec<(String, f64)>,
    /// A formula for its claim, where one is known, it is wrong and the other is not farther from the truth.
    pub corrected: Option<String>,
    /// The value of that formula on this run, in the unit of the truth.
    pub corrected_value: Option<f64>,
    /// Why it is off, or may be; the most important first.
    pub findings: Vec<Finding>,
    /// What the findings leave of the difference.
    pub rest: Option<f64>,
}

impl Verdict {
    /// Value less truth.
    pub fn difference(&self) -> Option<f64> {
        Some(self.value? - self.real?)
    }

    /// The difference as a part of the truth.
    pub fn relative(&self) -> Option<f64> {
        let real = self.real.filter(|real| *real != 0.0)?;
        Some(self.difference()? / real.abs())
    }

    /// True if enough was counted: few of anything are a simple multiple of each other by chance.
    pub(super) fn is_of_many(&self) -> bool {
        let is_many = |(_, count): &(String, f64)| *count >= COUNT_MIN;
        !self.counts.is_empty() && self.counts.iter().all(is_many)
    }

    /// What sharing six counters adds to the value.
    pub fn multiplexing(&self) -> Option<f64> {
        Some(self.on_six? - self.value?)
    }

    /// True if anything is wrong with the formula, or the value is off.
    pub fn alarms(&self) -> bool {
        let has_fault = self.findings.iter().any(|finding| finding.reason.is_fault());
        has_fault || matches!(self.status, ValidationStatus::Off | ValidationStatus::NoValue)
    }

    /// True if the reason with this code was found.
    pub fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.reason.code() == code)
    }

    /// Notes that all runs together show the reason that this one alone does not.
    pub fn explained(&mut self) {
        self.findings.retain(|finding| finding.reason != Reason::Unexplained);
    }

    /// Adds counting biases that are no reasons yet.
    pub(super) fn explained_by(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if !self.has(finding.reason.code()) {
                self.findings.push(finding);
            }
        }
    }

    /// Takes back what counts decided that cannot be trusted; what is wrong whatever is counted stays.
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
    fn next_to_nothing_is_no_difference() {
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
