//! Wrong paths without a pipeline: the fetches and loads after a mispredicted branch.

use sim_core::Cycle;
use sim_isa::{Inst, Program};
use sim_pipeline::config::Direction;
use sim_pipeline::{Pipeline, PipelineConfig, WrongPathPort};

const BASE: u64 = 0x40_0000;
const TARGET: u64 = BASE + 0x100;
/// `cbz x0, TARGET`
const CBZ: u32 = 0xB400_0800;
/// `ldr x1, [x2]`
const LDR: u32 = 0xF940_0041;
/// `b .`
const B_SELF: u32 = 0x1400_0000;

/// `nop`
const NOP: u32 = 0xD503_201F;

#[derive(Default)]
struct RecordingPort {
    fetched: Vec<u64>,
    touched: Vec<(u64, u64)>,
    /// Cycles that every fetch waits.
    waits: Cycle,
    /// Address that cannot be fetched.
    unreachable: Option<u64>,
}

impl WrongPathPort for RecordingPort {
    fn fetch(&mut self, pc: u64) -> Option<Cycle> {
        self.fetched.push(pc);
        (self.unreachable != Some(pc)).then_some(self.waits)
    }

    fn touch(&mut self, pc: u64, _inst: &Inst, addr: u64) {
        self.touched.push((pc, addr));
    }
}

fn config() -> PipelineConfig {
    #[derive(serde::Deserialize)]
    struct Document {
        pipeline: PipelineConfig,
    }
    let text = include_str!("../../configs/neoverse-n2/machine.toml");
    toml::from_str::<Document>(text).expect("the committed configuration parses").pipeline
}

/// Returns a branch, a younger load with a known last address, and an endless loop after it.
fn machine(config: &PipelineConfig) -> (Pipeline, Program, u32) {
    let (mut program, mut pipeline) = (Program::new(), Pipeline::new(config));
    let branch = program.intern(BASE, CBZ);
    let load = program.intern(BASE + 4, LDR);
    program.intern(BASE + 8, B_SELF);
    pipeline.learn_address(load, 0x1234_0000);
    (pipeline, program, branch)
}

#[test]
fn a_wrong_path_ends_when_its_branch_resolves_or_a_fetch_fails() {
    let (mut pipeline, mut program, branch) = machine(&config());
    let mut port = RecordingPort::default();
    assert!(!pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut port));
    assert_eq!(port.touched, [(BASE + 4, 0x1234_0000)]);
    assert_eq!(port.fetched[..3], [BASE + 4, BASE + 8, BASE + 8]);
    assert!(port.fetched.len() < 100, "{} fetched", port.fetched.len());
    let mut slow = RecordingPort { waits: 100, ..RecordingPort::default() };
    let (mut pipeline, mut program, branch) = machine(&config());
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut slow);
    assert_eq!((slow.fetched.len(), slow.touched.len()), (1, 0), "the branch resolves first");
    let mut unreachable = RecordingPort { unreachable: Some(BASE + 8), ..RecordingPort::default() };
    let (mut pipeline, mut program, branch) = machine(&config());
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut unreachable);
    assert_eq!(unreachable.fetched, [BASE + 4, BASE + 8], "a failed fetch ends the path");
}

/// Returns how many instructions of a wrong path are fetched if each one waits for this number of
/// cycles.
fn fetched(config: &PipelineConfig, waits: Cycle) -> usize {
    let (mut pipeline, mut program, branch) = machine(config);
    for word in 2..200 {
        program.intern(BASE + 4 * word, NOP);
    }
    let mut port = RecordingPort { waits, ..RecordingPort::default() };
    assert!(!pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut port));
    port.fetched.len()
}

#[test]
fn a_wrong_path_lasts_twelve_cycles_of_five_instructions() {
    assert_eq!(fetched(&config(), 0), 60);
    assert_eq!(fetched(&config(), 1), 10, "each cycle of waiting costs five instructions");
    let mut narrow = config();
    narrow.front_end.mop_width = 2;
    assert_eq!(fetched(&narrow, 0), 24);
    let mut ideal = config();
    ideal.ideal.fetch = true;
    assert_eq!(fetched(&ideal, 0), 60, "ideal fetch delivers no more than rename takes");
}

#[test]
fn an_endless_loop_on_a_wrong_path_ends_with_ideal_fetch_too() {
    let mut ideal = config();
    ideal.ideal.fetch = true;
    let (mut pipeline, mut program, branch) = machine(&ideal);
    let mut port = RecordingPort::default();
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut port);
    assert!(port.fetched.len() <= 60, "{} fetched", port.fetched.len());
}

#[test]
fn neither_a_correct_prediction_nor_another_instruction_starts_a_wrong_path() {
    let (mut pipeline, mut program, branch) = machine(&config());
    for id in [branch + 1, branch] {
        let mut port = RecordingPort::default();
        let next = if id == branch { BASE + 4 } else { TARGET };
        assert!(pipeline.train_branch_and_wrong_path(id, next, &mut program, &mut port));
        assert!(port.fetched.is_empty());
    }
    let mut perfect = config();
    perfect.branch.direction = Direction::Perfect;
    let (mut pipeline, mut program, branch) = machine(&perfect);
    let mut port = RecordingPort::default();
    assert!(pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut port));
    assert!(port.fetched.is_empty());
}

#[test]
fn following_wrong_paths_does_not_change_the_training_of_directions() {
    let (mut pipeline, mut program, branch) = machine(&config());
    let mut straight = config();
    straight.wrong_path.enabled = false;
    let (mut other, mut same, _) = machine(&straight);
    for next in [TARGET, TARGET, BASE + 4, TARGET, BASE + 4, BASE + 4].repeat(20) {
        let mut nothing = RecordingPort::default();
        let right = pipeline.train_branch_and_wrong_path(
            branch,
            next,
            &mut program,
            &mut RecordingPort::default(),
        );
        assert_eq!(right, other.train_branch_and_wrong_path(branch, next, &mut same, &mut nothing));
        assert!(nothing.fetched.is_empty(), "it stays on the correct path");
    }
}
