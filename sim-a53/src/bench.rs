//! Runs small loops on one core, without a trace: for tests and comparisons with other models.

use sim_core::{InstFlags, TraceInst};
use sim_isa::{MemOp, Program};

use crate::cluster::{A53Config, A53CoreOutcome, outcome};
use crate::core::Core;
use crate::event::A53Counts;
use crate::memory::ClusterMemory;
use crate::timing::Timing;

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
    let mut program = Program::new();
    let pc = |at: usize| BASE + 4 * at as u64;
    let ids: Vec<u32> =
        words.iter().enumerate().map(|(at, word)| program.intern(pc(at), *word)).collect();
    let timings: Vec<Timing> =
        ids.iter().map(|id| Timing::of(&program, *id, &config.pipeline)).collect();
    let accesses = |id: u32| {
        let inst = program.inst(id);
        inst.mem.op != MemOp::None || inst.maintenance.is_some_and(|what| what.has_operand())
    };
    let insts: Vec<TraceInst> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| match accesses(*id) {
            true => TraceInst { id: *id, flags: InstFlags::HAS_ADDR, addr: data(at) },
            false => TraceInst { id: *id, ..TraceInst::default() },
        })
        .collect();
    let mut memory = ClusterMemory::new(&config.memory, 1, config.cluster.seed);
    let mut core = Core::new(0, &config.pipeline);
    let mut counts = A53Counts::default();
    for round in 0..rounds {
        for (at, inst) in insts.iter().enumerate() {
            let is_last = round + 1 == rounds && at + 1 == insts.len();
            let next = (!is_last).then(|| pc((at + 1) % insts.len()));
            core.step(inst, &[], &timings[at], next, &mut memory, &mut counts);
        }
    }
    outcome(0, core, &mut memory, &mut counts)
}
