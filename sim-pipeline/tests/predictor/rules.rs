//! Rules of prediction that a comparison of streams does not reach.

use crate::committed;
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
fn a_branch_without_a_condition_is_taken_even_to_the_next_instruction() {
    let branch = direct(0x1000);
    assert!(branch.goes_to(0x1004));
    let conditional = Branch { kind: BranchKind::Conditional, ..branch };
    assert!(!conditional.goes_to(0x1004));
}

#[test]
fn perfect_prediction_takes_a_branch_without_a_condition_to_the_next_instruction() {
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
fn under_perfect_prediction_a_branch_of_unknown_outcome_is_not_late_either() {
    // No next address is known on a wrong path, nor at the end of a stream.
    let mut unit = perfect();
    assert_eq!(unit.perfect(direct(0x1000), None), None);
    let prediction = unit.predict(direct(0x1000));
    assert_eq!((prediction.btb, prediction.pairing), (BtbHit::Nano, Pairing::Free));
    assert!(!prediction.resteered);
}
