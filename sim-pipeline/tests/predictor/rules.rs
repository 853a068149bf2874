//! Single rules of prediction: those that a comparison of streams does not reach, and those of
//! pairs.

use super::committed;
use sim_isa::BranchKind;
use sim_pipeline::branch::btb::BtbHit;
use sim_pipeline::branch::{Branch, BranchUnit, Pairing, Prediction};
use sim_pipeline::config::{BranchConfig, Direction};

fn direct(pc: u64) -> Branch {
    Branch { pc, kind: BranchKind::Direct, target: pc + 4 }
}

fn perfect() -> BranchUnit {
    BranchUnit::new(&BranchConfig { direction: Direction::Perfect, ..committed() })
}

#[test]
fn an_unconditional_branch_is_taken_even_to_the_next_instruction() {
    let branch = direct(0x1000);
    assert!(branch.goes_to(0x1004));
    let conditional = Branch { kind: BranchKind::Conditional, ..branch };
    assert!(!conditional.goes_to(0x1004));
}

#[test]
fn perfect_prediction_takes_an_unconditional_branch_to_the_next_instruction() {
    let prediction = perfect().perfect(direct(0x1000), Some(0x1004));
    assert_eq!(
        prediction,
        Some(Prediction {
            next: Some(0x1004),
            taken: true,
            btb: BtbHit::Nano,
            pairing: Pairing::Free,
            resteered: false,
        })
    );
}

#[test]
fn perfect_prediction_of_an_unknown_outcome_is_not_late() {
    // No next address is known on a wrong path, nor at the end of a stream.
    let mut unit = perfect();
    assert_eq!(unit.perfect(direct(0x1000), None), None);
    let prediction = unit.predict(direct(0x1000));
    assert_eq!((prediction.btb, prediction.pairing), (BtbHit::Nano, Pairing::Free));
    assert!(!prediction.resteered);
}

/// Trains a pair of a jump at 0x1000 and a jump at 0x2008. Returns the predictors with the jumps.
fn with_a_pair() -> (BranchUnit, [Branch; 2]) {
    let mut unit = BranchUnit::new(&committed());
    let first = Branch { target: 0x2000, ..direct(0x1000) };
    let second = Branch { target: 0x1000, ..direct(0x2008) };
    unit.predict_and_train(first, 0x2000);
    unit.predict_and_train(second, 0x1000);
    (unit, [first, second])
}

/// Returns a branch between the target of the first jump and the second jump.
fn between() -> Branch {
    Branch { pc: 0x2004, kind: BranchKind::Conditional, target: 0x3000 }
}

#[test]
fn an_unknown_not_taken_branch_does_not_split_a_pair() {
    let (mut unit, [first, second]) = with_a_pair();
    assert_eq!(unit.predict_and_train(first, 0x2000).0.pairing, Pairing::First);
    let (prediction, _) = unit.predict_and_train(between(), 0x2008);
    assert_eq!((prediction.btb, prediction.taken), (BtbHit::Miss, false));
    assert_eq!(unit.predict_and_train(second, 0x1000).0.pairing, Pairing::Second);
}

#[test]
fn a_known_not_taken_branch_splits_a_pair() {
    let (mut unit, [first, second]) = with_a_pair();
    // Given: the branch between them was taken once, and is predicted not taken again.
    unit.predict_and_train(between(), 0x3000);
    for _ in 0..8 {
        unit.predict_and_train(between(), 0x2008);
    }
    assert_eq!(unit.predict_and_train(first, 0x2000).0.pairing, Pairing::First);
    let (prediction, _) = unit.predict_and_train(between(), 0x2008);
    assert_eq!((prediction.btb, prediction.taken), (BtbHit::Nano, false));
    assert_eq!(unit.predict_and_train(second, 0x1000).0.pairing, Pairing::Alone);
}

#[test]
fn a_conditional_branch_that_replaces_the_second_of_a_pair_is_predicted_alone() {
    let (mut unit, [first, second]) = with_a_pair();
    assert_eq!(unit.predict_and_train(first, 0x2000).0.pairing, Pairing::First);
    let overwritten = Branch { kind: BranchKind::Conditional, ..second };
    assert_eq!(unit.predict(overwritten).pairing, Pairing::Alone);
}
