//! Branches: mispredictions by kind and by branch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_machine::observe::{BranchKind, CodeKind};

use super::code::{Cost, Place};
use super::names::branch_name;
use super::profiled::{CodeCost, N2Profile, Profiled};
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

/// Counts of a branch instruction, as a core's model collects them.
pub(super) struct BranchCount {
    pub(super) pc: u64,
    pub(super) kind: BranchKind,
    pub(super) retired: u64,
    pub(super) taken: u64,
    pub(super) mispredicted: u64,
    pub(super) bad_slots: u64,
}

impl Branches {
    /// Returns the branches of a Neoverse N2.
    pub(super) fn of(profile: &N2Profile<'_>) -> Branches {
        let branches = profile.instructions.iter().filter_map(|(_, cost)| match cost.kind {
            CodeKind::Branch(kind) => Some(BranchCount {
                pc: cost.pc,
                kind,
                retired: cost.retired,
                taken: cost.taken,
                mispredicted: cost.mispredicted,
                bad_slots: Cost::of(cost, profile.all_slots()).bad_speculation,
            }),
            _ => None,
        });
        Branches::from_counts(&branches.collect::<Vec<_>>(), profile)
    }

    /// Returns the branches with these counts.
    pub(super) fn from_counts<C: CodeCost>(
        branches: &[BranchCount],
        profile: &Profiled<'_, C>,
    ) -> Branches {
        let sum = |of: fn(&BranchCount) -> u64| branches.iter().map(of).sum::<u64>();
        let mispredicted = sum(|branch| branch.mispredicted);
        let mut wrong: Vec<_> = branches.iter().filter(|branch| branch.mispredicted > 0).collect();
        wrong.sort_by_key(|branch| (std::cmp::Reverse(branch.mispredicted), branch.pc));
        let site = |branch: &&BranchCount| BranchSite {
            place: profile.place_at(branch.pc),
            kind: branch_name(branch.kind).to_owned(),
            retired: branch.retired,
            taken: branch.taken,
            mispredicted: branch.mispredicted,
            miss_percent: percent(branch.mispredicted, branch.retired),
            share_percent: percent(branch.mispredicted, mispredicted),
            bad_slots: branch.bad_slots,
        };
        Branches {
            retired: sum(|branch| branch.retired),
            mispredicted,
            kinds: BranchKind::ALL.map(|kind| BranchKindCount::of(kind, branches)).into(),
            sites: wrong.iter().take(SITES).map(site).collect(),
            sites_left_out: wrong.len().saturating_sub(SITES) as u64,
        }
    }
}

impl BranchKindCount {
    fn of(kind: BranchKind, branches: &[BranchCount]) -> BranchKindCount {
        let own = || branches.iter().filter(|branch| branch.kind == kind);
        let sum = |of: fn(&BranchCount) -> u64| own().map(of).sum::<u64>();
        let (retired, mispredicted) = (sum(|own| own.retired), sum(|own| own.mispredicted));
        BranchKindCount {
            kind: branch_name(kind).to_owned(),
            retired,
            taken: sum(|own| own.taken),
            mispredicted,
            miss_percent: some_percent(mispredicted, retired),
        }
    }
}
