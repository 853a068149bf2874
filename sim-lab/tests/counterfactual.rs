//! Programs with one known bottleneck: the ledger names it, and its removal saves the time.

use std::path::Path;

use sim_core::PmuEvent;
use sim_lab::counterfactual::{CoreIdeal, CoreLoss, Counterfactual, Ideal, Slots};
use sim_lab::kernels::Kernel;
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};

fn run(path: &Path, options: &RunOptions, ideals: &[Ideal]) -> Outcome {
    let overrides: Vec<String> = ideals.iter().map(|own| own.setting().to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("known keys");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(path, config, RunHeader::default()).expect("a good trace");
    session.run(options, &mut |_| {}).expect("a run")
}

/// Returns the slots of a kernel's measured part with these ideals.
fn measured(path: &Path, ideals: &[Ideal]) -> Slots {
    let options = RunOptions { roi: Some(Kernel::ROI), ..RunOptions::default() };
    Slots::of(&run(path, &options, ideals))
}

/// Returns the part of a charged slot that remains when its cause costs nothing: an L1 hit takes 4
/// of the 13 cycles of an L2 hit, the shortest computation 1 of the 2 cycles of a multiplication.
fn left(kernel: Kernel) -> f64 {
    match kernel {
        Kernel::L2Chase => 4.0 / 13.0,
        Kernel::MultiplyChain => 1.0 / 2.0,
        _ => 0.0,
    }
}

/// In a program with one bottleneck, at least 90 % of the lost slots are charged to it. Its ideal
/// saves at least 90 % of what can be saved.
#[test]
fn each_kernel_is_charged_to_its_bottleneck_and_the_ideal_saves_the_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for kernel in Kernel::ALL {
        let path = folder.path().join(kernel.name());
        kernel.save(&path).expect("a trace");
        let remedy = kernel.remedy();
        let (base, ideal) = (measured(&path, &[]), measured(&path, &[remedy]));
        let lost = remedy.removes().iter().filter(|loss| loss.is_empty());
        let lost: u64 = lost.map(|loss| base.loss(*loss)).sum();
        let charged = lost as f64 / base.empty() as f64;
        let saved = (base.total() as f64 - ideal.total() as f64) / base.charged(remedy) as f64;
        let text = format!("{:<20} charged {charged:.3} saved {saved:.3}", kernel.name());
        if charged < 0.9 || saved < 0.9 * (1.0 - left(kernel)) {
            wrong.push(format!("{text}\n  {base:?}\n  {ideal:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// In the DRAM chase with branches, the branch order buffer is full most of the time. An unlimited
/// window saves almost nothing, because memory is the bottleneck.
#[test]
fn a_full_buffer_that_waits_for_memory_is_not_a_bottleneck() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.n2t");
    Kernel::DramChaseBranches.save(&path).expect("a trace");
    let (base, wide) = (measured(&path, &[]), measured(&path, &[Ideal::Window]));
    assert!(base.charged(Ideal::Window) as f64 > 0.9 * base.empty() as f64, "{base:?}");
    assert!(wide.cycles as f64 > 0.98 * base.cycles as f64, "{} of {}", wide.cycles, base.cycles);
}

/// Events depend on the program, not on time: an ideal changes none of the correct path.
#[test]
fn ideals_change_no_count_that_does_not_depend_on_time() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/btree.n2t");
    let options = RunOptions { limit: Some(60_000), ..RunOptions::default() };
    let base = run(&path, &options, &[]).total();
    for ideal in Ideal::ALL {
        let counts = run(&path, &options, &[ideal]).total();
        for event in [PmuEvent::INST_RETIRED, PmuEvent::OP_RETIRED, PmuEvent::BR_RETIRED] {
            let (expected, found) = (base.value(event), counts.value(event));
            assert_eq!(found, expected, "{}: {}", ideal.name(), event.mnemonic());
        }
    }
}

/// With loops on wrong paths, an ideal front end delivers no more of them than rename takes.
#[test]
fn a_wrong_path_of_an_ideal_front_end_ends() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let options = RunOptions { limit: Some(60_000), ..RunOptions::default() };
    for name in ["aes_sha.n2t", "interp.n2t", "matrix.n2t"] {
        let cycles =
            |ideals: &[Ideal]| Slots::of(&run(&traces.join(name), &options, ideals)).cycles;
        assert!(cycles(&[Ideal::Fetch]) < cycles(&[]), "{name}");
    }
}

/// Every slot of every run has exactly one use, whatever is ideal.
#[test]
fn every_slot_of_an_ideal_run_has_one_use() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    let options = RunOptions { limit: Some(40_000), ..RunOptions::default() };
    let slots = |ideals: &[Ideal]| Slots::of(&run(&path, &options, ideals));
    let several = |sets: &[Vec<Ideal>]| {
        Ok::<_, std::convert::Infallible>(sets.iter().map(|set| slots(set)).collect())
    };
    let found = Counterfactual::run(slots(&[]), several).expect("runs do not fail");
    let pairs = found.pairs.iter().map(|pair| &pair.slots);
    let singles = found.singles.iter().map(|(_, slots)| slots);
    for slots in singles.chain(pairs).chain([&found.base, &found.all]) {
        let retired = slots.loss(sim_lab::counterfactual::Loss::Retired);
        let squashed = slots.loss(sim_lab::counterfactual::Loss::Squashed);
        assert_eq!(slots.empty() + retired + squashed, slots.total());
    }
    let least = found.singles.iter().map(|(_, slots)| slots.cycles).min();
    assert!(Some(found.all.cycles) < least, "all together save the most");
}
