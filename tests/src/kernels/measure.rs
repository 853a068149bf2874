//! Measures the cycles of one iteration of a kernel on this model's core.
//!
//! Caches are warm, prediction is perfect and the front end is wide, so that only rename, dispatch,
//! issue and execution matter.

use sim_isa::{BranchKind, Inst, MemOp, decode};
use sim_lab::core_bench::{CoreBench, HitMemory};
use sim_pipeline::PipelineConfig;
use sim_pipeline::config::Direction;

use super::corpus::Kernel;

/// Address of the loop.
const BASE: u64 = 0x10_0000;
/// Address from which each access of the loop has lines of its own: LLVM assumes that accesses do
/// not conflict.
const DATA: u64 = 0x100_0000;
/// Distance of the data of neighbors, bytes.
const DATA_STEP: u64 = 256;
/// Number of words to which a kernel is unrolled, so that the backward branch is rare.
const UNROLLED: usize = 200;
/// Largest number of taken branches in the unrolled loop: the capacity of the first level of branch
/// targets.
const TAKEN: usize = 48;
/// Iterations of the unrolled loop; the first half warms up.
const TURNS: usize = 10;

/// Returns the configuration with a wide front end that never mispredicts.
pub fn wide_front_end(config: &PipelineConfig) -> PipelineConfig {
    let mut config = config.clone();
    config.branch.direction = Direction::Perfect;
    config.front_end.fetch_width = 16;
    config.front_end.mop_width = 16;
    config.front_end.fetch_queue = 64;
    config
}

/// Returns the cycles of one iteration, with every instruction changed by `view`.
pub fn cycles(config: &PipelineConfig, kernel: &Kernel, view: impl Fn(&str, &mut Inst)) -> f64 {
    let body: Vec<Inst> = kernel
        .words
        .iter()
        .map(|word| {
            let mut inst = decode(word.word);
            view(&word.text, &mut inst);
            inst
        })
        .collect();
    let taken = body.iter().filter(|inst| is_taken(inst)).count();
    let copies = (UNROLLED / body.len()).min(TAKEN / taken.max(1)).max(1);
    let words = copies * body.len();
    let path = path(&body, words);
    let back = decode(0x1400_0000 | ((words as u32).wrapping_neg() & 0x03ff_ffff));
    let mut bench = CoreBench::new(config, HitMemory::default());
    let mut middle = 0;
    for turn in 0..TURNS {
        if turn == TURNS / 2 {
            middle = bench.retired();
        }
        for (step, &at) in path.iter().enumerate() {
            let inst = &body[at % body.len()];
            let next = path.get(step + 1).copied().unwrap_or(words);
            let addr = (inst.mem.op != MemOp::None).then_some(DATA + DATA_STEP * at as u64);
            bench.run_inst(pc(at), inst, addr, pc(next));
        }
        bench.run_inst(pc(words), &back, None, BASE);
    }
    (bench.retired() - middle) as f64 / ((TURNS - TURNS / 2) * copies) as f64
}

fn pc(at: usize) -> u64 {
    BASE + 4 * at as u64
}

/// Returns whether a branch is taken. Conditional branches of a kernel are never taken, others
/// always.
fn is_taken(inst: &Inst) -> bool {
    !matches!(inst.branch, BranchKind::None | BranchKind::Conditional)
}

/// Returns the execution order of the words of the unrolled loop. Indirect branches go to the next
/// word.
fn path(body: &[Inst], words: usize) -> Vec<usize> {
    let mut path = Vec::new();
    let mut links = Vec::new();
    let mut at = 0;
    while at < words {
        let inst = &body[at % body.len()];
        path.push(at);
        let target = at.wrapping_add_signed(inst.offset as isize / 4);
        at = match inst.branch {
            BranchKind::Direct => target,
            BranchKind::Call => {
                links.push(at + 1);
                target
            }
            BranchKind::Return => links.pop().unwrap_or(at + 1),
            _ => at + 1,
        };
    }
    path
}
