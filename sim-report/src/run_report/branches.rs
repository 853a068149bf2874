//! Branches: mispredictions by kind and by branch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_machine::observe::{BranchKind, CodeKind, InstCost};

use super::code::{Cost, Place};
use super::names::branch_name;
use super::profiled::Profiled;
use super::ratio::{percent, some_percent};

/// Retired branches and their mispredictions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branches {
    /// Retired branches, `BR_RETIRED`.
    pub retired: u64,
    /// Mispredicted branches, `BR_MIS_PRED_RETIRED`.
    pub mispredicted: u64,
    /// Counts by kind of branch.
    pub kinds: Vec<BranchKindCount>,
    /// Branches with mispredictions, most mispredicted first.
    pub sites: Vec<BranchSite>,
    /// Branches with mispredictions that are not listed.
    pub sites_left_out: u64,
}

/// Counts of one kind of branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchKindCount {
    /// `conditional`, `direct`, `call`, `indirect`, `indirect call`, `return`.
    pub kind: String,
    /// Retired executions.
    pub retired: u64,
    /// Taken executions.
    pub taken: u64,
    /// Mispredicted executions.
    pub mispredicted: u64,
    /// Share of mispredicted executions, in percent.
    pub miss_percent: Option<f64>,
}

/// Branch instruction with its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BranchSite {
    /// Place in the program.
    pub place: Place,
    /// Its kind, as in the counts by kind.
    pub kind: String,
    /// Retired executions.
    pub retired: u64,
    /// Taken executions.
    pub taken: u64,
    /// Mispredicted executions.
    pub mispredicted: u64,
    /// Share of mispredicted executions, in percent.
    pub miss_percent: f64,
    /// Share of all mispredictions, in percent.
    pub share_percent: f64,
    /// Slots lost to its mispredictions: squashed operations and the refill after them.
    pub bad_slots: u64,
}

/// Most branches listed.
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
