//! Branches: how many went wrong, of which kind, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::Place;

/// Branches that retired, and which of them went wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branches {
    /// All of them, `BR_RETIRED`.
    pub retired: u64,
    /// Those that were mispredicted, `BR_MIS_PRED_RETIRED`.
    pub mispredicted: u64,
    /// The same by kind.
    pub kinds: Vec<BranchKindCount>,
    /// Where mispredictions come from, most first.
    pub sites: Vec<BranchSite>,
    /// Branches with mispredictions that are not listed.
    pub sites_left_out: u64,
}

/// Branches of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchKindCount {
    /// `conditional`, `direct`, `call`, `indirect`, `indirect call`, `return`.
    pub kind: String,
    /// Retired.
    pub retired: u64,
    /// Taken of them.
    pub taken: u64,
    /// Mispredicted of them.
    pub mispredicted: u64,
    /// Mispredicted of all, in percent.
    pub miss_percent: Option<f64>,
}

/// One branch instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchSite {
    /// Where it is.
    pub place: Place,
    /// Its kind, as in the counts by kind.
    pub kind: String,
    /// Retired.
    pub retired: u64,
    /// Taken of them.
    pub taken: u64,
    /// Mispredicted of them.
    pub mispredicted: u64,
    /// Mispredicted of all its executions, in percent.
    pub miss_percent: f64,
    /// Of all mispredictions, in percent.
    pub share_percent: f64,
    /// Slots that its mispredictions cost: operations thrown away and the refill behind it.
    pub bad_slots: u64,
}
