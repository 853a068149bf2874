//! Runs small loops on one core, without a trace: for tests and comparisons with other models.

use sim_core::{InstFlags, TraceInst};
use sim_isa::{MemOp, Program};

use crate::cluster::{A53Config, A53CoreOutcome, outcome};
use crate::core::Core;
use crate::event::A53Counts;
use crate::memory::ClusterMemory;
use crate::timing::Timing;
use crate::view::View;

/// Address of the first word.
const BASE: u64 = 0x10_0000;

/// Runs the words one after the other, and again from the first, `rounds` times. `data` returns the
/// address that the word with this index accesses. A branch goes to the word that follows it, and
/// the last word, if it is a branch, to the first.
pub fn run_loop(
    config: &A53Config,
    words: &[u32],
    data: impl Fn(usize) -> u64,
    rounds: usize,
) -> A53CoreOutcome {
    let body: Vec<LoopInst> =
        words.iter().enumerate().map(|(at, word)| LoopInst::new(*word, data(at))).collect();
    let path: Vec<usize> = (0..words.len()).collect();
    run_path(config, &body, &path, rounds)
}

/// An instruction of a loop.
#[derive(Clone, Debug)]
pub struct LoopInst {
    /// The A64 word.
    pub word: u32,
    /// Address that it accesses, if it accesses memory.
    pub data: u64,
    /// Differences of its timing.
    pub view: View,
}

impl LoopInst {
    /// Returns an instruction with the timing of this model.
    pub fn new(word: u32, data: u64) -> LoopInst {
        LoopInst { word, data, view: View::default() }
    }
}

/// Runs the instructions, which are neighbors in memory, in the order of `path`, their indexes, and
/// again from its first, `rounds` times.
pub fn run_path(
    config: &A53Config,
    body: &[LoopInst],
    path: &[usize],
    rounds: usize,
) -> A53CoreOutcome {
    let mut program = Program::new();
    let pc = |at: usize| BASE + 4 * at as u64;
    let mut insts = Vec::new();
    for (at, inst) in body.iter().enumerate() {
        let id = program.intern(pc(at), inst.word);
        insts.push(trace_inst(id, &program, inst.data));
    }
    let timings: Vec<Timing> = insts
        .iter()
        .zip(body)
        .map(|(inst, seen)| {
            let mut timing = Timing::of(&program, inst.id, &config.pipeline);
            seen.view.apply(program.inst(inst.id), &mut timing);
            timing
        })
        .collect();
    let mut memory = ClusterMemory::new(&config.memory, 1, config.cluster.seed);
    let mut core = Core::new(0, &config.pipeline);
    let mut counts = A53Counts::default();
    // Cycle of the last result of an instruction that writes in order.
    let mut written = 0;
    let order = path.iter().cycle().take(rounds * path.len());
    let mut following = order.clone().skip(1);
    for at in order.copied() {
        let next = following.next().map(|at| pc(*at));
        let view = &body[at].view;
        core.hold_until(view.earliest(written));
        core.step(&insts[at], &[], &timings[at], next, &mut memory, &mut counts);
        written = written.max(core.cycle() + view.written());
    }
    outcome(0, core, &mut memory, &mut counts)
}

fn trace_inst(id: u32, program: &Program, data: u64) -> TraceInst {
    let inst = program.inst(id);
    let accesses =
        inst.mem.op != MemOp::None || inst.maintenance.is_some_and(|what| what.has_operand());
    match accesses {
        true => TraceInst { id, flags: InstFlags::HAS_ADDR, addr: data },
        false => TraceInst { id, ..TraceInst::default() },
    }
}
