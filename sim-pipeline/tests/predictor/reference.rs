//! Slow reference of branch prediction, for comparison with the model.
//!
//! It follows the descriptions of `sim_pipeline::branch` and of `docs/decisions.md`, with other
//! data structures: maps and time stamps. It keeps the whole history and folds it again for each
//! look-up. Hash functions and sizes determine which branches share an entry, so that both use the
//! same ones.

mod btb;
mod direction;
mod history;
mod indirect;
mod lru;

pub(crate) use btb::BtbReference;

use direction::{DirectionReference, Found};
use history::{History, Mark};
use indirect::IndirectReference;
use sim_isa::BranchKind;
use sim_pipeline::branch::btb::{BtbHit, BtbLookup};
use sim_pipeline::branch::{Branch, Pairing, Prediction};
use sim_pipeline::config::BranchConfig;

/// Bytes of a region, whose branches are predicted in one step.
const REGION_BYTES: u64 = 32;

/// Inputs of the last prediction, for training.
struct Basis {
    btb_target: Option<u64>,
    found: Option<Found>,
    path: u64,
    before: Mark,
}

/// All predictors of a core.
pub(crate) struct Reference {
    btb: BtbReference,
    direction: DirectionReference,
    indirect: IndirectReference,
    /// Return addresses, oldest first.
    returns: Vec<u64>,
    return_entries: usize,
    history: History,
    basis: Basis,
    /// Second branch of the pair whose first branch was predicted last, and the buffer that knew
    /// the pair.
    partner: Option<(u64, BtbHit)>,
    /// Last taken branch that was predicted alone, and its target.
    candidate: Option<(u64, u64)>,
}

/// State that the end of a wrong path restores.
pub(crate) struct Saved {
    history: Mark,
    returns: Vec<u64>,
}

impl Reference {
    /// Returns empty predictors.
    pub(crate) fn new(config: &BranchConfig) -> Reference {
        Reference {
            btb: BtbReference::new(config.nano_btb_entries, config.btb_regions, config.btb_entries),
            direction: DirectionReference::new(config),
            indirect: IndirectReference::new(config.indirect_path_bits, config.indirect_targets),
            returns: Vec::new(),
            return_entries: config.return_stack,
            history: History::default(),
            basis: Basis { btb_target: None, found: None, path: 0, before: Mark::default() },
            partner: None,
            candidate: None,
        }
    }

    /// Predicts a branch, and updates the speculative history with the prediction.
    pub(crate) fn predict(&mut self, branch: Branch) -> Prediction {
        let is_direct = matches!(branch.kind, BranchKind::Direct | BranchKind::Call);
        let paired = self.partner.filter(|(second, _)| *second == branch.pc && is_direct);
        let known = match paired {
            Some((_, hit)) => BtbLookup { hit, target: Some(branch.target), second: None },
            None => self.btb.look_up(branch.pc),
        };
        let found = self.direction.look_up(branch.pc, &self.history);
        let taken = branch.kind != BranchKind::Conditional || found.taken;
        let target = self.target(branch, known.target);
        let next = if taken { target } else { Some(branch.pc + 4) };
        let (path, before) = (self.history.path(), self.history.mark());
        self.basis = Basis { btb_target: known.target, found: Some(found), path, before };
        // A target that is not known counts as 0.
        self.history.push(branch, taken, next.unwrap_or(0));
        let is_in_btb = known.hit != BtbHit::Miss;
        // This holds even if the indirect predictor selected another target (`docs/decisions.md`,
        // two taken branches).
        let second = if taken { known.second } else { None };
        // Only a branch that prediction does not see keeps the pair open: unknown and not taken.
        if taken || is_in_btb {
            self.partner = second.map(|second| (second, known.hit));
        }
        let pairing = match (paired, second) {
            (Some(_), _) => Pairing::Second,
            (None, Some(_)) => Pairing::First,
            (None, None) => Pairing::Alone,
        };
        Prediction { next, taken, btb: known.hit, pairing, resteered: taken && !is_in_btb }
    }

    /// Returns the target of a taken branch. Calls and returns update the return stack.
    fn target(&mut self, branch: Branch, btb_target: Option<u64>) -> Option<u64> {
        let indirect = |unit: &Reference| unit.indirect.look_up(branch.pc, unit.history.path());
        let target = match branch.kind {
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call => Some(branch.target),
            BranchKind::Return => self.returns.pop().or(indirect(self)).or(btb_target),
            BranchKind::Indirect | BranchKind::IndirectCall => indirect(self).or(btb_target),
            BranchKind::ExceptionReturn | BranchKind::None => None,
        };
        if matches!(branch.kind, BranchKind::Call | BranchKind::IndirectCall) {
            self.returns.push(branch.pc + 4);
            if self.returns.len() > self.return_entries {
                self.returns.remove(0);
            }
        }
        target
    }

    /// Trains with the outcome of the branch that was predicted last.
    pub(crate) fn train(&mut self, branch: Branch, prediction: &Prediction, next: u64) {
        let (pc, taken) = (branch.pc, Reference::is_taken(branch, next));
        let found = self.basis.found.take().expect("a prediction precedes its training");
        match branch.kind {
            BranchKind::Conditional => self.direction.train(pc, &found, taken),
            BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return => {
                let is_wrong = prediction.next != Some(next);
                self.indirect.train(pc, self.basis.path, next, is_wrong);
            }
            _ => {}
        }
        if taken {
            self.btb.train(pc, next, self.basis.btb_target);
            self.pair(branch, prediction.pairing, next);
        } else if self.basis.btb_target.is_some() {
            self.candidate = None;
        }
    }

    /// Pairs the last two taken branches if both were predicted alone. The second must be an
    /// unconditional direct branch, at the target of the first or after it in the same region.
    fn pair(&mut self, branch: Branch, pairing: Pairing, next: u64) {
        let candidate = self.candidate.take();
        if pairing != Pairing::Alone {
            return;
        }
        if let Some((first, target)) = candidate
            && matches!(branch.kind, BranchKind::Direct | BranchKind::Call)
            && (target..target / REGION_BYTES * REGION_BYTES + REGION_BYTES).contains(&branch.pc)
        {
            self.btb.pair(first, branch.pc);
        } else {
            self.candidate = Some((branch.pc, next));
        }
    }

    /// Returns the state to restore after a wrong path that begins at the branch predicted last.
    pub(crate) fn last_speculation(&self) -> Saved {
        Saved { history: self.basis.before, returns: self.returns.clone() }
    }

    /// Ends a wrong path, whose branch continued at `next`.
    pub(crate) fn recover(&mut self, branch: Branch, saved: &Saved, next: u64) {
        self.partner = None;
        self.history.restore(saved.history);
        self.returns.clone_from(&saved.returns);
        self.history.push(branch, Reference::is_taken(branch, next), next);
    }

    /// Returns whether the branch is taken if it continues at `next`. Only a conditional branch can
    /// fall through.
    fn is_taken(branch: Branch, next: u64) -> bool {
        branch.kind != BranchKind::Conditional || next != branch.pc + 4
    }
}
