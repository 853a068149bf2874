//! Reasons why a metric of the mesh differs from its claim.

use std::fmt;

/// Reason of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshReason {
    /// The unit is off by a factor: the formula adds more for an event than the event moves.
    UnitFactor {
        /// Times that the value is too large.
        times: f64,
        /// Event.
        event: String,
        /// Bytes that the formula adds for it.
        given: f64,
        /// Bytes that it moves.
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
        }
    }

    /// Returns whether the formula itself must be fixed, independent of the workload.
    pub fn is_fault(&self) -> bool {
        use MeshReason::{Label, NotWhole, UnitFactor};
        matches!(self, UnitFactor { .. } | NotWhole { .. } | Label { .. })
    }
}

impl fmt::Display for MeshReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeshReason::UnitFactor { times, event, given, right } => write!(
                f,
                "{times} times too large: it adds {given} bytes for each {event}, which is {right}"
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
            MeshReason::NoClaim(why) => write!(f, "no verdict on its value: {why}"),
            MeshReason::TwoReadings(one, other) => {
                write!(f, "its text may mean {one} or {other}, which differ here")
            }
        }
    }
}
