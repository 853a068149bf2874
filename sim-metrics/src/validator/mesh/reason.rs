//! Reasons why a metric of the mesh differs from its claim.

use std::fmt;

use crate::mesh_truth::Basis;

/// Reason of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshReason {
    /// The unit of an event is off by a factor: the formula adds more or less for it than it moves.
    UnitFactor {
        /// Times that this part of the value is too large; below 1, it is too small.
        times: f64,
        /// Event.
        event: String,
        /// Bytes that the formula adds for it.
        given: f64,
        /// Bytes that it moves at most.
        right: f64,
    },
    /// Parts of a group do not add up to their divisor.
    NotWhole {
        /// Name of the group.
        group: String,
        /// Events that count in the parts and not in the divisor.
        extra: Vec<String>,
        /// Events that count in the divisor and not in the parts.
        lacking: Vec<String>,
        /// Sum of the parts in a run.
        sum: Option<f64>,
    },
    /// The label of the unit contradicts the formula.
    Label {
        /// Unit as the file has it.
        unit: String,
        /// Quantity that the formula gives.
        gives: &'static str,
    },
    /// Requests that the events count more or less than the claim, with numbers of the run.
    Counts(String),
    /// There is no claim to compare with; the text says why.
    NoClaim(&'static str),
    /// Relation of the truth to the events.
    Basis(Basis),
    /// The value fits only one of the readings of its text.
    TwoReadings(&'static str, &'static str),
}

impl MeshReason {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            MeshReason::UnitFactor { .. } => "unit-factor",
            MeshReason::NotWhole { .. } => "not-whole",
            MeshReason::Label { .. } => "unit-label",
            MeshReason::Counts(_) => "other-requests",
            MeshReason::NoClaim(_) => "no-claim",
            MeshReason::TwoReadings(..) => "two-readings",
            MeshReason::Basis(Basis::Independent) => "independent",
            MeshReason::Basis(Basis::Partly) => "partly-independent",
            MeshReason::Basis(Basis::SameCounts) => "same-counts",
        }
    }

    /// Returns whether the formula itself must be fixed, independent of the workload.
    pub fn is_fault(&self) -> bool {
        use MeshReason::{Label, NotWhole, UnitFactor};
        matches!(self, UnitFactor { .. } | NotWhole { .. } | Label { .. })
    }
}

/// Factor in words.
struct Times(f64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The inverse of a power of ten has digits that mean nothing.
        let rounded = |times: f64| (times * 1e6).round() / 1e6;
        match self.0 < 1.0 {
            true => write!(f, "{} times too little", rounded(1.0 / self.0)),
            false => write!(f, "{} times too much", rounded(self.0)),
        }
    }
}

impl fmt::Display for MeshReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeshReason::UnitFactor { times, event, given, right } => write!(
                f,
                "it adds {given} bytes for each {event}, which moves at most {right}: {}",
                Times(*times)
            ),
            MeshReason::NotWhole { group, extra, lacking, sum } => {
                write!(f, "the parts of {group} ")?;
                match sum {
                    Some(sum) => write!(f, "add up to {sum:.2} instead of 1")?,
                    None => write!(f, "do not add up to 1")?,
                }
                if !extra.is_empty() {
                    write!(f, "; in a part and not in the divisor: {}", extra.join(", "))?;
                }
                if !lacking.is_empty() {
                    write!(f, "; in the divisor and in no part: {}", lacking.join(", "))?;
                }
                Ok(())
            }
            MeshReason::Label { unit, gives } => {
                write!(f, "its unit is '{unit}', and the formula gives {gives}")
            }
            MeshReason::Counts(text) => f.write_str(text),
            MeshReason::Basis(basis) => f.write_str(basis.sentence()),
            MeshReason::NoClaim(why) => write!(f, "no verdict on its value: {why}"),
            MeshReason::TwoReadings(one, other) => {
                write!(f, "its text may mean {one} or {other}, and its value is not both here")
            }
        }
    }
}
