//! Wrong paths without a pipeline: what is fetched and loaded in vain behind a branch that is predicted wrongly.

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
struct Heard {
    fetched: Vec<u64>,
    touched: Vec<(u64, u64)>,
    /// Cycles that every fetch waits.
    waits: Cycle,
    /// What cannot be fetched.
    barred: Option<u64>,
}

impl WrongPathPort for Heard {
    fn fetch(&mut self, pc: u64) -> Option<Cycle> {
        self.fetched.push(pc);
        (self.barred != Some(pc)).then_some(self.waits)
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
    let text = include_str!("../../configs/neoverse-n2.toml");
    toml::from_str::<Document>(text).expect("the committed configuration parses").pipeline
}

/// A branch, a load behind it that was at an address before, and an endless loop behind that.
fn machine(config: &PipelineConfig) -> (Pipeline, Program, u32) {
    let (mut program, mut pipeline) = (Program::new(), Pipeline::new(config));
    let branch = program.intern(BASE, CBZ);
    let load = program.intern(BASE + 4, LDR);
    program.intern(BASE + 8, B_SELF);
    pipeline.learn_address(load, 0x1234_0000);
    (pipeline, program, branch)
}

#[test]
fn a_wrong_path_is_followed_until_time_is_up() {
    let (mut pipeline, mut program, branch) = machine(&config());
    let mut heard = Heard::default();
    assert!(!pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut heard));
    assert_eq!(heard.touched, [(BASE + 4, 0x1234_0000)]);
    assert_eq!(heard.fetched[..3], [BASE + 4, BASE + 8, BASE + 8]);
    assert!(heard.fetched.len() < 100, "{} fetched", heard.fetched.len());
    let mut slow = Heard { waits: 100, ..Heard::default() };
    let (mut pipeline, mut program, branch) = machine(&config());
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut slow);
    assert_eq!((slow.fetched.len(), slow.touched.len()), (1, 0), "the branch resolves before");
    let mut barred = Heard { barred: Some(BASE + 8), ..Heard::default() };
    let (mut pipeline, mut program, branch) = machine(&config());
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut barred);
    assert_eq!(barred.fetched, [BASE + 4, BASE + 8], "nothing is behind what cannot be fetched");
}

/// The instructions that are fetched of a wrong path of which each one waits so long.
fn fetched(config: &PipelineConfig, waits: Cycle) -> usize {
    let (mut pipeline, mut program, branch) = machine(config);
    for word in 2..200 {
        program.intern(BASE + 4 * word, NOP);
    }
    let mut heard = Heard { waits, ..Heard::default() };
    assert!(!pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut heard));
    heard.fetched.len()
}

#[test]
fn a_wrong_path_lasts_twelve_cycles_of_five_instructions() {
    assert_eq!(fetched(&config(), 0), 60);
    assert_eq!(fetched(&config(), 1), 10, "a cycle of waiting is five instructions less");
    let mut narrow = config();
    narrow.front_end.mop_width = 2;
    assert_eq!(fetched(&narrow, 0), 24);
    let mut ideal = config();
    ideal.ideal.fetch = true;
    assert_eq!(fetched(&ideal, 0), 60, "ideal fetch brings no more than rename takes");
}

#[test]
fn an_endless_loop_of_a_wrong_path_ends_with_ideal_fetch_too() {
    let mut ideal = config();
    ideal.ideal.fetch = true;
    let (mut pipeline, mut program, branch) = machine(&ideal);
    let mut heard = Heard::default();
    pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut heard);
    assert!(heard.fetched.len() <= 60, "{} fetched", heard.fetched.len());
}

#[test]
fn a_branch_predicted_right_and_what_is_no_branch_start_no_wrong_path() {
    let (mut pipeline, mut program, branch) = machine(&config());
    for id in [branch + 1, branch] {
        let mut heard = Heard::default();
        let next = if id == branch { BASE + 4 } else { TARGET };
        assert!(pipeline.train_branch_and_wrong_path(id, next, &mut program, &mut heard));
        assert!(heard.fetched.is_empty());
    }
    let mut perfect = config();
    perfect.branch.direction = Direction::Perfect;
    let (mut pipeline, mut program, branch) = machine(&perfect);
    let mut heard = Heard::default();
    assert!(pipeline.train_branch_and_wrong_path(branch, TARGET, &mut program, &mut heard));
    assert!(heard.fetched.is_empty());
}

#[test]
fn directions_are_learned_the_same_whether_wrong_paths_are_followed_or_not() {
    let (mut pipeline, mut program, branch) = machine(&config());
    let mut straight = config();
    straight.wrong_path.enabled = false;
    let (mut other, mut same, _) = machine(&straight);
    for next in [TARGET, TARGET, BASE + 4, TARGET, BASE + 4, BASE + 4].repeat(20) {
        let mut nothing = Heard::default();
        let right =
            pipeline.train_branch_and_wrong_path(branch, next, &mut program, &mut Heard::default());
        assert_eq!(right, other.train_branch_and_wrong_path(branch, next, &mut same, &mut nothing));
        assert!(nothing.fetched.is_empty(), "it stays on its way");
    }
}
