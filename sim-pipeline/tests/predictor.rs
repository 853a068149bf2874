//! Branch prediction, compared with a slow reference, and single rules of it.

mod reference;
mod rules;
mod streams;

use reference::{BtbReference, Reference};
use sim_pipeline::branch::btb::{Btb, may_pair};
use sim_pipeline::branch::{BranchUnit, Outcome};
use sim_pipeline::config::{BranchConfig, Direction};
use streams::{Random, Step};

/// Returns the predictors of the committed configuration.
fn committed() -> BranchConfig {
    #[derive(serde::Deserialize)]
    struct Document {
        pipeline: sim_pipeline::PipelineConfig,
    }
    let text = include_str!("../../configs/neoverse-n2/machine.toml");
    toml::from_str::<Document>(text).expect("the committed configuration parses").pipeline.branch
}

/// Returns predictors so small that branches replace each other all the time.
fn tiny() -> BranchConfig {
    BranchConfig {
        nano_btb_entries: 8,
        btb_regions: 8,
        btb_entries: 32,
        return_stack: 3,
        bimodal_bits: 3,
        tagged_bits: 3,
        folded_bits: 4,
        history_lengths: vec![2, 5, 16, 21],
        gshare_bits: 5,
        indirect_path_bits: 4,
        indirect_targets: 128,
        ..committed()
    }
}

/// Returns predictors in which a branch keeps its entries for a while.
fn small() -> BranchConfig {
    BranchConfig {
        nano_btb_entries: 16,
        btb_regions: 16,
        btb_entries: 64,
        bimodal_bits: 6,
        tagged_bits: 6,
        folded_bits: 5,
        history_lengths: vec![1, 3, 7, 15, 17, 40],
        indirect_path_bits: 7,
        ..tiny()
    }
}

/// Generator of one kind of stream, for a number of steps.
type Stream = fn(usize, &mut Random) -> Vec<Step>;

const STREAMS: [(&str, Stream); 6] = [
    ("loops", streams::loops),
    ("correlated", streams::correlated),
    ("biased", streams::biased),
    ("dispatch", streams::dispatch),
    ("calls", streams::calls),
    ("crowded", streams::crowded),
];

/// Predicts and trains with each step in the model and in the reference. After a misprediction,
/// both follow a wrong path of at most `wrong_path` steps from anywhere in the stream.
fn compare(name: &str, config: &BranchConfig, steps: &[Step], wrong_path: u64) {
    let (mut model, mut reference) = (BranchUnit::new(config), Reference::new(config));
    let mut random = Random::new(steps.len() as u64);
    for (i, step) in steps.iter().enumerate() {
        let Step { branch, next } = *step;
        let predicted = model.predict(branch);
        let expected = reference.predict(branch);
        assert_eq!(predicted, expected, "{name}, step {i}: {step:x?}");
        let actual = Outcome { pc: branch.pc, taken: branch.goes_to(next), next };
        model.train(branch.kind, &predicted, actual);
        reference.train(branch, &expected, next);
        if predicted.next == Some(next) {
            continue;
        }
        let (speculation, saved) = (model.last_speculation(), reference.last_speculation());
        for _ in 0..random.below(wrong_path + 1) {
            let Step { branch, .. } = steps[random.below(steps.len() as u64) as usize];
            let (predicted, expected) = (model.predict(branch), reference.predict(branch));
            assert_eq!(predicted, expected, "{name}, wrong path of step {i}: {branch:x?}");
        }
        model.recover(branch, &speculation, actual);
        reference.recover(branch, &saved, next);
    }
}

/// Compares all kinds of streams, each alone and all one after the other.
fn compare_all(config: &BranchConfig, count: usize) {
    let mut all = Vec::new();
    for (seed, (name, stream)) in (1..).zip(STREAMS) {
        let steps = stream(count, &mut Random::new(seed));
        compare(name, config, &steps, 4);
        all.extend(steps.into_iter().take(count / 4));
    }
    compare("all", config, &all, 0);
}

#[test]
fn tiny_predictors_equal_the_reference() {
    compare_all(&tiny(), 5000);
}

#[test]
fn small_predictors_equal_the_reference() {
    compare_all(&small(), 5000);
}

#[test]
fn predictors_of_the_committed_configuration_equal_the_reference() {
    compare_all(&committed(), 1000);
}

#[test]
fn gshare_equals_the_reference() {
    compare_all(&BranchConfig { direction: Direction::Gshare, ..tiny() }, 2000);
}

#[test]
fn training_in_one_step_equals_prediction_training_and_recovery() {
    for (seed, (name, stream)) in (11..).zip(STREAMS) {
        let (mut model, mut reference) = (BranchUnit::new(&tiny()), Reference::new(&tiny()));
        for (i, step) in stream(2000, &mut Random::new(seed)).into_iter().enumerate() {
            let Step { branch, next } = step;
            let predicted = model.predict_and_train(branch, next);
            let expected = reference.predict(branch);
            let is_wrong = expected.next != Some(next);
            reference.train(branch, &expected, next);
            if is_wrong {
                let saved = reference.last_speculation();
                reference.recover(branch, &saved, next);
            }
            assert_eq!(predicted, (expected, is_wrong), "{name}, step {i}: {step:x?}");
        }
    }
}

#[test]
fn branch_target_buffers_equal_the_reference() {
    let (mut model, mut reference) = (Btb::new(8, 16, 32), BtbReference::new(8, 16, 32));
    let mut random = Random::new(3);
    for i in 0..20_000 {
        // Branches of 40 regions, close together in some of them and far apart in others.
        let number = random.below(40);
        let pc = 0x1000 + 0x20 * number + 4 * random.below(1 + number % 8);
        let known = model.look_up(pc);
        assert_eq!(known, reference.look_up(pc), "look-up {i} of {pc:#x}");
        if random.chance(60) {
            let target = 0x9000 + 0x100 * random.below(2);
            model.train(pc, target, known.target);
            reference.train(pc, target, known.target);
        }
        if random.chance(20) {
            let first = 0x1000 + 4 * random.below(320);
            model.pair(first, pc);
            reference.pair(first, pc);
        }
    }
}

#[test]
fn a_pair_shares_a_region_with_the_second_branch_at_the_target_or_after_it() {
    let second = 0x2010;
    let targets = [0x1ffc, 0x2000, 0x200c, 0x2010, 0x2014, 0x2030];
    let expected = [false, true, true, true, false, false];
    assert_eq!(targets.map(|target| may_pair(target, second)), expected);
}
