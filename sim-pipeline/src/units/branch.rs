//! Branch prediction: BTBs, direction, indirect targets, return stack (HC33; PMU guide 4.10).
//!
//! [`BranchUnit::predict`] predicts a branch and updates the speculative history, the return stack
//! and the recency of BTB entries. [`BranchUnit::train`] receives the outcome. On the correct path,
//! training follows prediction at once. On a wrong path, only `predict` is called, and
//! [`BranchUnit::recover`] restores the history and the return stack afterwards.

mod branch_inst;
pub mod btb;
pub mod gshare;
pub mod history;
pub mod indirect;
pub mod limits;
pub mod return_stack;
pub mod tage;

pub use branch_inst::Branch;

use crate::config::{BranchConfig, Direction};
use btb::{Btb, BtbHit, BtbLookup, may_pair};
use gshare::Gshare;
use history::{History, HistoryState};
use indirect::IndirectPredictor;
use return_stack::ReturnStack;
use sim_core::{StateVisitor, WarmState};
use sim_isa::BranchKind;
use tage::{DirectionLookup, Tage};

/// Position of a taken branch in the prediction of its cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairing {
    /// The branch's BTB entry has no second branch: the next prediction begins after this one.
    #[default]
    Alone,
    /// First of a pair: the branch at the target is predicted in the same step.
    First,
    /// Second of a pair: predicted in the same step as the previous branch.
    Second,
    /// Not relevant: branches are predicted perfectly.
    Free,
}

/// Predicted outcome of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// Address at which fetch continues; `None` if no target is known and fetch must wait.
    pub next: Option<u64>,
    /// Set if the branch is predicted taken.
    pub taken: bool,
    /// BTB that held the branch; for the second branch of a pair, the BTB that held the pair.
    pub btb: BtbHit,
    /// Position of the branch in a pair that shares one prediction.
    pub pairing: Pairing,
    /// Set for a taken branch that missed all BTBs. Decode found it late.
    pub resteered: bool,
}

/// Inputs of the last prediction, for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Basis {
    /// Target in the BTB.
    btb_target: Option<u64>,
    lookup: DirectionLookup,
    /// History before the prediction.
    before: HistoryState,
}

/// Direction predictor in use.
#[derive(Clone, Debug)]
enum DirectionUnit {
    Tage(Tage),
    Gshare(Gshare),
    /// Perfect prediction by [`BranchUnit::perfect`], from the known outcome.
    Perfect,
}

impl DirectionUnit {
    fn new(config: &BranchConfig) -> DirectionUnit {
        match config.direction {
            Direction::Tage => DirectionUnit::Tage(Tage::new(config)),
            Direction::Gshare => DirectionUnit::Gshare(Gshare::new(config.gshare_bits)),
            Direction::Perfect => DirectionUnit::Perfect,
        }
    }

    #[inline]
    fn look_up(&self, pc: u64, history: &HistoryState, found: &mut DirectionLookup) -> bool {
        match self {
            DirectionUnit::Tage(tage) => tage.look_up(pc, history, found),
            DirectionUnit::Gshare(gshare) => gshare.look_up(pc, history),
            DirectionUnit::Perfect => false,
        }
    }

    #[inline]
    fn train(&mut self, pc: u64, basis: &Basis, taken: bool) {
        match self {
            DirectionUnit::Tage(tage) => tage.train(pc, &basis.lookup, taken),
            DirectionUnit::Gshare(gshare) => gshare.train(pc, &basis.before, taken),
            DirectionUnit::Perfect => {}
        }
    }
}

/// All predictors of the core.
#[derive(Clone, Debug)]
pub struct BranchUnit {
    btb: Btb,
    direction: DirectionUnit,
    indirect: IndirectPredictor,
    returns: ReturnStack,
    history: History,
    basis: Basis,
    /// Second branch of the pair whose first was predicted last, and the BTB that held the pair.
    partner: Option<(u64, BtbHit)>,
    /// Last taken correct-path branch that was predicted alone, and its target: a possible first
    /// branch of a pair.
    open: Option<(u64, u64)>,
}

impl BranchUnit {
    /// Returns empty predictors.
    pub fn new(config: &BranchConfig) -> BranchUnit {
        BranchUnit {
            btb: Btb::new(config.nano_btb_entries, config.btb_regions, config.btb_entries),
            direction: DirectionUnit::new(config),
            indirect: IndirectPredictor::new(config.indirect_path_bits, config.indirect_targets),
            returns: ReturnStack::new(config.return_stack),
            history: History::new(&config.history_lengths, config.folded_bits),
            basis: Basis {
                btb_target: None,
                lookup: DirectionLookup::default(),
                before: HistoryState::default(),
            },
            partner: None,
            open: None,
        }
    }

    /// Predicts one branch and updates the speculative history and return stack.
    pub fn predict(&mut self, branch: Branch) -> Prediction {
        self.basis.before = *self.history.state();
        let (known, is_second) = self.look_up(branch);
        let btb_target = known.target;
        self.basis.btb_target = btb_target;
        // A squashed branch has no outcome for a perfect prediction, but its prediction is not
        // late.
        let is_perfect = matches!(self.direction, DirectionUnit::Perfect);
        let btb = if is_perfect { BtbHit::Nano } else { known.hit };
        // Reads the history itself: with the copy in `basis`, the host would have to wait for
        // stores.
        let (history, found) = (self.history.state(), &mut self.basis.lookup);
        let taken = !branch.is_conditional() || self.direction.look_up(branch.pc, history, found);
        let target = self.target(branch, btb_target);
        if matches!(branch.kind, BranchKind::Call | BranchKind::IndirectCall) {
            self.returns.push(branch.pc.wrapping_add(4));
        }
        let next = if taken { target } else { Some(branch.pc.wrapping_add(4)) };
        self.history.push(branch, taken, next.unwrap_or(0));
        let resteered = taken && btb == BtbHit::Miss;
        let second = known.second.filter(|_| taken);
        if taken || btb_target.is_some() {
            // A not-taken branch that hits a BTB splits a pair, because it is the second branch of
            // the entry.
            self.partner = second.map(|second| (second, btb));
        }
        let pairing = match second {
            _ if is_second => Pairing::Second,
            Some(_) => Pairing::First,
            None if is_perfect => Pairing::Free,
            None => Pairing::Alone,
        };
        Prediction { next, taken, btb, pairing, resteered }
    }

    /// Returns the BTB result of a branch, and whether it is predicted with the previous one; then
    /// no BTB is read.
    #[inline]
    fn look_up(&mut self, branch: Branch) -> (BtbLookup, bool) {
        match self.partner {
            Some((second, hit)) if second == branch.pc && branch.is_always_to_target() => {
                (BtbLookup { hit, target: Some(branch.target), second: None }, true)
            }
            _ => (self.btb.look_up(branch.pc), false),
        }
    }

    /// Predicts a correct-path branch that continues at `next`, trains the predictors, and updates
    /// the history. Returns the prediction, and whether it was wrong.
    pub fn predict_and_train(&mut self, branch: Branch, next: u64) -> (Prediction, bool) {
        let perfect = self.perfect(branch, Some(next));
        let prediction = perfect.unwrap_or_else(|| self.predict(branch));
        let taken = branch.goes_to(next);
        self.train(branch.kind, &prediction, Outcome { pc: branch.pc, taken, next });
        let is_wrong = prediction.next != Some(next);
        if is_wrong {
            self.partner = None;
            self.history.restore(self.basis.before);
            self.history.push(branch, taken, next);
        }
        (prediction, is_wrong)
    }

    /// Returns a perfect prediction of a branch that continues at `next`, without a bubble, if
    /// branches are predicted perfectly. Nothing is trained then.
    pub fn perfect(&self, branch: Branch, next: Option<u64>) -> Option<Prediction> {
        let (DirectionUnit::Perfect, Some(target)) = (&self.direction, next) else { return None };
        let taken = !branch.is_conditional() || target != branch.pc.wrapping_add(4);
        let (btb, pairing) = (BtbHit::Nano, Pairing::Free);
        Some(Prediction { next, taken, btb, pairing, resteered: false })
    }

    /// Returns the predicted target of the branch if it is taken.
    #[inline]
    fn target(&mut self, branch: Branch, btb_target: Option<u64>) -> Option<u64> {
        match branch.kind {
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call => Some(branch.target),
            BranchKind::Return => self
                .returns
                .pop()
                .or_else(|| self.indirect.look_up(branch.pc, &self.basis.before))
                .or(btb_target),
            BranchKind::Indirect | BranchKind::IndirectCall => {
                self.indirect.look_up(branch.pc, &self.basis.before).or(btb_target)
            }
            BranchKind::ExceptionReturn | BranchKind::None => None,
        }
    }

    /// Returns the history before the branch predicted last and the return stack after it, for
    /// [`BranchUnit::recover`] after its wrong path.
    pub fn last_speculation(&self) -> Speculation {
        Speculation { history: self.basis.before, returns: self.returns.clone() }
    }

    /// Returns the state that predictions change, for [`BranchUnit::restore`].
    pub fn speculation(&self) -> Speculation {
        Speculation { history: *self.history.state(), returns: self.returns.clone() }
    }

    /// Undoes all predictions since `before`.
    pub fn restore(&mut self, before: &Speculation) {
        self.partner = None;
        self.history.restore(before.history);
        self.returns.clone_from(&before.returns);
    }

    /// Restores history and return stack to the state after the branch with its actual outcome.
    pub fn recover(&mut self, branch: Branch, saved: &Speculation, actual: Outcome) {
        self.restore(saved);
        self.history.push(branch, actual.taken, actual.next);
    }

    /// Trains the predictors with the outcome of a correct-path branch, the one predicted last.
    #[inline(always)]
    pub fn train(&mut self, kind: BranchKind, prediction: &Prediction, actual: Outcome) {
        if let DirectionUnit::Perfect = self.direction {
            return;
        }
        let basis = &self.basis;
        match kind {
            BranchKind::Conditional => self.direction.train(actual.pc, basis, actual.taken),
            BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return => {
                let was_right = prediction.next == Some(actual.next);
                self.indirect.train(actual.pc, &basis.before, actual.next, was_right);
            }
            _ => {}
        }
        if actual.taken {
            self.btb.train(actual.pc, actual.next, basis.btb_target);
            self.pair(kind, prediction, actual);
        } else if basis.btb_target.is_some() {
            self.open = None;
        }
    }

    /// Pairs the last two taken branches if neither is part of a pair and the second always goes to
    /// its target.
    #[inline]
    fn pair(&mut self, kind: BranchKind, prediction: &Prediction, actual: Outcome) {
        let may_be_second = matches!(kind, BranchKind::Direct | BranchKind::Call);
        self.open = match (prediction.pairing, self.open) {
            (Pairing::First | Pairing::Second | Pairing::Free, _) => None,
            (Pairing::Alone, Some((first, target)))
                if may_be_second && may_pair(target, actual.pc) =>
            {
                self.btb.pair(first, actual.pc);
                None
            }
            (Pairing::Alone, _) => Some((actual.pc, actual.next)),
        };
    }
}

/// History and return stack at one time.
#[derive(Clone, Debug)]
pub struct Speculation {
    history: HistoryState,
    returns: ReturnStack,
}

/// Actual outcome of a branch.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Program counter of the branch.
    pub pc: u64,
    /// Set if the branch was taken.
    pub taken: bool,
    /// Next program counter.
    pub next: u64,
}

/// Trained state. The last look-up is not part of it, because no branch is in flight.
impl WarmState for BranchUnit {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.btb.visit(visitor);
        match &mut self.direction {
            DirectionUnit::Tage(tage) => tage.visit(visitor),
            DirectionUnit::Gshare(gshare) => gshare.visit(visitor),
            DirectionUnit::Perfect => {}
        }
        self.indirect.visit(visitor);
        self.returns.visit(visitor);
        self.history.visit(visitor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> BranchConfig {
        BranchConfig {
            direction: Direction::Tage,
            nano_btb_entries: 32,
            btb_regions: 128,
            btb_entries: 1024,
            btb_cycles: 2,
            btb_bubble_cycles: 1,
            resteer_cycles: 4,
            redirect_cycles: 3,
            isb_cycles: 20,
            return_stack: 16,
            bimodal_bits: 12,
            tagged_bits: 10,
            folded_bits: 10,
            history_lengths: vec![4, 8, 16, 32, 64, 128],
            gshare_bits: 12,
            indirect_path_bits: 10,
            indirect_targets: 1024,
        }
    }

    /// Predicts and trains with one branch. Returns whether the prediction was correct.
    fn run(unit: &mut BranchUnit, branch: Branch, taken: bool, next: u64) -> bool {
        let prediction = unit.predict(branch);
        let actual = Outcome { pc: branch.pc, taken, next };
        unit.train(branch.kind, &prediction, actual);
        let right = prediction.next == Some(next);
        if !right {
            let saved = unit.last_speculation();
            unit.recover(branch, &saved, actual);
        }
        right
    }

    fn conditional() -> Branch {
        Branch { pc: 0x1000, kind: BranchKind::Conditional, target: 0x2000 }
    }

    #[test]
    fn the_largest_tables_that_can_be_configured_learn() {
        let history_lengths = vec![2, 4, 16, 17, 60, 256, 800, limits::MAX_HISTORY];
        let tagged_bits = limits::MAX_TAGGED_BITS;
        let config = BranchConfig { tagged_bits, history_lengths, ..config() };
        let mut unit = BranchUnit::new(&config);
        let mut wrong_late = 0;
        for i in 0..20_000_u64 {
            // 50 branches in turn; each takes the other direction every seventh time.
            let pc = 0x1000 + 0x40 * (i % 50);
            let branch = Branch { pc, kind: BranchKind::Conditional, target: 0x2000 };
            let taken = i % 7 == 0;
            let next = if taken { 0x2000 } else { pc + 4 };
            wrong_late += usize::from(!run(&mut unit, branch, taken, next) && i >= 15_000);
        }
        assert!(wrong_late < 50, "{wrong_late} of 5000");
    }

    #[test]
    fn a_repeating_pattern_of_directions_is_learned() {
        let mut unit = BranchUnit::new(&config());
        let pattern = [true, true, false, true, false, false, true, false, true, true, true];
        let mut wrong_late = 0;
        for i in 0..4000 {
            let taken = pattern[i % pattern.len()];
            let next = if taken { 0x2000 } else { 0x1004 };
            let right = run(&mut unit, conditional(), taken, next);
            wrong_late += usize::from(!right && i >= 3000);
        }
        assert_eq!(wrong_late, 0);
    }

    #[test]
    fn returns_go_back_to_their_calls() {
        let mut unit = BranchUnit::new(&config());
        for depth in 0..8 {
            let call = Branch { pc: 0x100 * depth, kind: BranchKind::Call, target: 0x9000 };
            unit.predict(call);
        }
        for depth in (0..8).rev() {
            let ret = Branch { pc: 0x9000, kind: BranchKind::Return, target: 0 };
            assert_eq!(unit.predict(ret).next, Some(0x100 * depth + 4));
        }
    }

    #[test]
    fn a_call_in_the_last_word_of_the_address_space_returns_to_its_first() {
        let mut unit = BranchUnit::new(&config());
        unit.predict(Branch { pc: u64::MAX - 3, kind: BranchKind::Call, target: 0x9000 });
        let ret = Branch { pc: 0x9000, kind: BranchKind::Return, target: 0 };
        assert_eq!(unit.predict(ret).next, Some(0));
    }

    #[test]
    fn an_indirect_branch_that_follows_its_history_is_learned() {
        let mut unit = BranchUnit::new(&config());
        let branch = Branch { pc: 0x4000, kind: BranchKind::Indirect, target: 0 };
        let mut wrong_late = 0;
        for i in 0..3000_u64 {
            let next = 0x5000 + 0x100 * (i % 3);
            let right = run(&mut unit, branch, true, next);
            wrong_late += usize::from(!right && i >= 2000);
        }
        assert_eq!(wrong_late, 0);
    }

    #[test]
    fn the_btb_knows_a_taken_branch_after_its_first_execution() {
        let mut unit = BranchUnit::new(&config());
        let branch = Branch { pc: 0x1000, kind: BranchKind::Direct, target: 0x3000 };
        let first = unit.predict(branch);
        assert!(first.resteered);
        let actual = Outcome { pc: 0x1000, taken: true, next: 0x3000 };
        unit.train(branch.kind, &first, actual);
        let second = unit.predict(branch);
        assert_eq!((second.btb, second.resteered), (BtbHit::Nano, false));
    }

    /// Returns how two consecutive branches are predicted in each of three rounds.
    fn pairings(kind: BranchKind, distance: u64) -> [(Pairing, Pairing); 3] {
        let mut unit = BranchUnit::new(&config());
        let first = Branch { pc: 0x1000, kind: BranchKind::Conditional, target: 0x2000 };
        let second = Branch { pc: 0x2000 + distance, kind, target: 0x1000 };
        // The direction is trained first, so that only the BTB decides.
        (0..20).for_each(|_| unit.direction.train(first.pc, &unit.basis, true));
        [(); 3].map(|()| {
            let (a, _) = unit.predict_and_train(first, 0x2000);
            let (b, _) = unit.predict_and_train(second, 0x1000);
            (a.pairing, b.pairing)
        })
    }

    #[test]
    fn a_loop_branch_does_not_pair_with_the_jump_after_the_loop() {
        let mut unit = BranchUnit::new(&config());
        let closing = Branch { pc: 0x2008, kind: BranchKind::Conditional, target: 0x2000 };
        let jump = Branch { pc: 0x200c, kind: BranchKind::Direct, target: 0x2000 };
        for turn in 0..100 {
            let next = if turn % 4 == 3 { 0x200c } else { 0x2000 };
            assert_eq!(unit.predict_and_train(closing, next).0.pairing, Pairing::Alone);
            if turn % 4 == 3 {
                unit.predict_and_train(jump, 0x2000);
            }
        }
    }

    #[test]
    fn two_known_taken_branches_are_predicted_at_once_if_the_second_is_unconditional() {
        use Pairing::{Alone, First, Second};
        let alone = (Alone, Alone);
        assert_eq!(pairings(BranchKind::Direct, 8), [alone, (First, Second), (First, Second)]);
        assert_eq!(pairings(BranchKind::Indirect, 8), [alone; 3]);
        assert_eq!(pairings(BranchKind::Direct, 32), [alone; 3]);
    }

    #[test]
    fn perfect_prediction_equals_the_known_outcome() {
        let config = BranchConfig { direction: Direction::Perfect, ..config() };
        let unit = BranchUnit::new(&config);
        let taken = unit.perfect(conditional(), Some(0x2000)).expect("the outcome is known");
        assert_eq!((taken.next, taken.taken, taken.btb), (Some(0x2000), true, BtbHit::Nano));
        let not_taken = unit.perfect(conditional(), Some(0x1004)).expect("the outcome is known");
        assert_eq!((not_taken.next, not_taken.taken), (Some(0x1004), false));
        assert_eq!(unit.perfect(conditional(), None), None);
        assert_eq!(BranchUnit::new(&self::config()).perfect(conditional(), Some(0x2000)), None);
    }

    #[test]
    fn one_step_training_equals_separate_prediction_and_training() {
        let (mut trained, mut ran) = (BranchUnit::new(&config()), BranchUnit::new(&config()));
        let pattern = [true, true, false, true, false];
        for i in 0..500 {
            let next = if pattern[i % pattern.len()] { 0x2000 } else { 0x1004 };
            trained.predict_and_train(conditional(), next);
            run(&mut ran, conditional(), pattern[i % pattern.len()], next);
            let call = Branch { pc: 0x3000, kind: BranchKind::Call, target: 0x9000 };
            trained.predict_and_train(call, 0x9000);
            run(&mut ran, call, true, 0x9000);
        }
        for branch in [conditional(), Branch { pc: 0x9000, kind: BranchKind::Return, target: 0 }] {
            assert_eq!(trained.predict(branch), ran.predict(branch));
            assert_eq!(trained.basis, ran.basis);
        }
    }

    #[test]
    fn gshare_learns_a_short_pattern_but_not_a_long_one() {
        let wrong = |direction: Direction, length: u64| {
            let mut unit = BranchUnit::new(&BranchConfig { direction, ..config() });
            let mut wrong = 0;
            for i in 0..20_000_u64 {
                // All taken except the last of each period.
                let taken = i % length != length - 1;
                let next = if taken { 0x2000 } else { 0x1004 };
                wrong += usize::from(!run(&mut unit, conditional(), taken, next) && i >= 15_000);
            }
            wrong
        };
        assert_eq!(wrong(Direction::Gshare, 10), 0);
        assert!(wrong(Direction::Gshare, 40) > 100);
        assert_eq!(wrong(Direction::Tage, 40), 0);
    }
}
