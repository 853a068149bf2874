//! Branches: how many went wrong, of which kind, and where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_machine::observe::{BranchKind, CodeKind, InstCost};

use super::code::{Cost, Place};
use super::names::branch_name;
use super::profiled::Profiled;
use super::ratio::{percent, some_percent};

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

/// Branches that are listed.
const SITES: usize = 100;

impl Branches {
    pub(super) fn of(profile: &Profiled<'_>) -> Branches {
        let branches = profile.instructions.iter().filter_map(|(_, cost)| match cost.kind {
            CodeKind::Branch(kind) => Some((kind, *cost)),
            _ => None,
        });
        let branches: Vec<(BranchKind, &InstCost)> = branches.collect();
        let sum = |of: fn(&InstCost) -> u64| branches.iter().map(|(_, cost)| of(cost)).sum::<u64>();
        let mispredicted = sum(|cost| cost.mispredicted);
        let mut wrong: Vec<_> = branches.iter().filter(|(_, cost)| cost.mispredicted > 0).collect();
        wrong.sort_by_key(|(_, cost)| (std::cmp::Reverse(cost.mispredicted), cost.pc));
        let site = |(kind, cost): &&(BranchKind, &InstCost)| BranchSite {
            place: profile.place(cost),
            kind: branch_name(*kind).to_owned(),
            retired: cost.retired,
            taken: cost.taken,
            mispredicted: cost.mispredicted,
            miss_percent: percent(cost.mispredicted, cost.retired),
            share_percent: percent(cost.mispredicted, mispredicted),
            bad_slots: Cost::of(cost, profile.all_slots()).bad_speculation,
        };
        Branches {
            retired: sum(|cost| cost.retired),
            mispredicted,
            kinds: BranchKind::ALL.map(|kind| BranchKindCount::of(kind, &branches)).into(),
            sites: wrong.iter().take(SITES).map(site).collect(),
            sites_left_out: wrong.len().saturating_sub(SITES) as u64,
        }
    }
}

impl BranchKindCount {
    fn of(kind: BranchKind, branches: &[(BranchKind, &InstCost)]) -> BranchKindCount {
        let own = branches.iter().filter(|(own, _)| *own == kind);
        let mut sum = InstCost::default();
        own.for_each(|(_, cost)| sum.add(cost));
        BranchKindCount {
            kind: branch_name(kind).to_owned(),
            retired: sum.retired,
            taken: sum.taken,
            mispredicted: sum.mispredicted,
            miss_percent: some_percent(sum.mispredicted, sum.retired),
        }
    }
}
