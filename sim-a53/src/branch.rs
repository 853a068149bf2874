//! Branch prediction: pattern table with global history, table of indirect targets, return stack
//! (Cortex-A53 manual 2.1.1 and 6.4).
//!
//! A direct target needs no table, because pre-decode finds it in the instruction. Each branch is
//! trained when it is predicted: an in-order core resolves it before the next prediction matters.

use crate::config::BranchConfig;
use sim_isa::BranchKind;

/// Value of a new two-bit counter: weakly not taken.
const WEAKLY_NOT_TAKEN: u8 = 1;
/// Value of a saturated two-bit counter.
const STRONGLY_TAKEN: u8 = 3;

/// Prediction of one branch, compared with its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prediction {
    /// Predicted next address; `None` if the branch is not predicted.
    pub(crate) next: Option<u64>,
    /// True if it is predicted taken.
    pub(crate) taken: bool,
}

/// Entry of the table of indirect targets.
#[derive(Clone, Copy, Debug, Default)]
struct TargetEntry {
    pc: u64,
    target: u64,
}

/// Predictor of one core.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    counters: Box<[u8]>,
    history: u32,
    history_mask: u32,
    targets: Box<[TargetEntry]>,
    returns: Box<[u64]>,
    /// Entry after the newest one of the return stack.
    top: usize,
    /// Valid entries of the return stack.
    depth: usize,
}

impl Predictor {
    pub(crate) fn new(config: &BranchConfig) -> Predictor {
        Predictor {
            counters: vec![WEAKLY_NOT_TAKEN; config.pattern_entries].into(),
            history: 0,
            history_mask: (1u64 << config.history_bits).wrapping_sub(1) as u32,
            targets: vec![TargetEntry::default(); config.target_entries].into(),
            returns: vec![0; config.return_entries].into(),
            top: 0,
            depth: 0,
        }
    }

    /// Predicts the branch at `pc` with the direct target `target`, and trains the tables with its
    /// outcome: the stream continued at `next`.
    pub(crate) fn predict(
        &mut self,
        pc: u64,
        kind: BranchKind,
        target: u64,
        next: u64,
    ) -> Prediction {
        let follows = pc.wrapping_add(4);
        match kind {
            BranchKind::None | BranchKind::ExceptionReturn => {
                Prediction { next: None, taken: false }
            }
            BranchKind::Direct => Prediction { next: Some(target), taken: true },
            BranchKind::Call => {
                self.push(follows);
                Prediction { next: Some(target), taken: true }
            }
            BranchKind::Conditional => {
                let taken = self.direction(pc, next != follows);
                Prediction { next: Some(if taken { target } else { follows }), taken }
            }
            BranchKind::Indirect => self.indirect(pc, next),
            BranchKind::IndirectCall => {
                self.push(follows);
                self.indirect(pc, next)
            }
            BranchKind::Return => Prediction { next: self.pop(), taken: true },
        }
    }

    /// Predicts the direction of a conditional branch and trains with `outcome`.
    fn direction(&mut self, pc: u64, outcome: bool) -> bool {
        // The table's size is not a power of two. Multiplication spreads neighboring branches.
        let hash = (pc >> 2) ^ u64::from(self.history).wrapping_mul(0x9e37_79b9);
        let at = (hash % self.counters.len() as u64) as usize;
        let counter = self.counters[at];
        self.counters[at] = match outcome {
            true => (counter + 1).min(STRONGLY_TAKEN),
            false => counter.saturating_sub(1),
        };
        self.history = (self.history << 1 | u32::from(outcome)) & self.history_mask;
        counter > WEAKLY_NOT_TAKEN
    }

    fn indirect(&mut self, pc: u64, next: u64) -> Prediction {
        let at = ((pc >> 2) % self.targets.len() as u64) as usize;
        let entry = std::mem::replace(&mut self.targets[at], TargetEntry { pc, target: next });
        Prediction {
            next: (entry.pc == pc && entry.target != 0).then_some(entry.target),
            taken: true,
        }
    }

    fn push(&mut self, address: u64) {
        self.returns[self.top] = address;
        self.top = (self.top + 1) % self.returns.len();
        self.depth = (self.depth + 1).min(self.returns.len());
    }

    fn pop(&mut self) -> Option<u64> {
        self.depth = self.depth.checked_sub(1)?;
        self.top = self.top.checked_sub(1).unwrap_or(self.returns.len() - 1);
        Some(self.returns[self.top])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictor() -> Predictor {
        Predictor::new(&BranchConfig {
            pattern_entries: 3072,
            history_bits: 10,
            target_entries: 256,
            return_entries: 8,
        })
    }

    fn wrong(predictor: &mut Predictor, pc: u64, kind: BranchKind, target: u64, next: u64) -> bool {
        predictor.predict(pc, kind, target, next).next != Some(next)
    }

    /// Loops of up to eight rounds are learned whole (measured, qsdr).
    #[test]
    fn a_loop_of_eight_rounds_is_learned() {
        let mut predictor = predictor();
        let mut misses = 0;
        for round in 0..800 {
            let next = if round % 8 == 7 { 0x1004 } else { 0x0f00 };
            let is_wrong = wrong(&mut predictor, 0x1000, BranchKind::Conditional, 0x0f00, next);
            misses += u32::from(is_wrong && round >= 400);
        }
        assert_eq!(misses, 0);
    }

    /// Given nine nested calls, when they return, then the eight newest are predicted.
    #[test]
    fn the_return_stack_has_eight_entries() {
        let mut predictor = predictor();
        for call in 0..9 {
            wrong(&mut predictor, 0x1000 + call * 0x100, BranchKind::Call, 0x9000, 0x9000);
        }
        let returns: Vec<bool> = (0..9)
            .rev()
            .map(|call| wrong(&mut predictor, 0x9000, BranchKind::Return, 0, 0x1004 + call * 0x100))
            .collect();
        assert_eq!(returns, [false, false, false, false, false, false, false, false, true]);
    }

    #[test]
    fn an_indirect_branch_repeats_its_last_target() {
        let mut predictor = predictor();
        let branch = |predictor: &mut Predictor, next| {
            predictor.predict(0x1000, BranchKind::Indirect, 0, next).next
        };
        assert_eq!(branch(&mut predictor, 0x2000), None);
        assert_eq!(branch(&mut predictor, 0x2000), Some(0x2000));
        assert_eq!(branch(&mut predictor, 0x3000), Some(0x2000));
        assert_eq!(branch(&mut predictor, 0x3000), Some(0x3000));
    }
}
