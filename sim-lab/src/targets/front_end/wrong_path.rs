//! Length of the wrong path after a misprediction, by the operand that the branch waits for.

use super::code::{BR, CODE, Dice, MOV_ZERO, NOP, b, cbz_back, cbz_over_one, straight};
use crate::core_bench::{CoreBench, FAR, HitMemory};
use sim_core::{Cycle, OpTimeline, PmuEvent};
use sim_machine::config::MachineConfig;

/// `ldr x1, [x2]`
const LDR_X1: u32 = 0xf940_0041;
/// Iterations of a loop; the first half warms up.
const TURNS: u64 = 4000;

/// Result of one kernel: a loop with one random branch.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongPath {
    /// Operand that the branch waits for, and length of the loop.
    pub what: &'static str,
    /// Mean cycles from the rename of a mispredicted branch to its resolution.
    pub resolves_after: f64,
    /// Instructions renamed on the wrong path per misprediction.
    pub insts: f64,
    /// Most micro-operations that rename can deliver in that time: its width times the cycles.
    pub most: f64,
}

/// Operand of the random branch.
#[derive(Clone, Copy)]
enum Operand {
    /// Ready before the branch is renamed.
    Ready,
    /// Loaded, with this load-to-use latency in cycles.
    Loaded(Cycle),
}

/// Measures branches that resolve at once, and branches that wait for data of the L1, the L2 and
/// memory.
pub fn measure(config: &MachineConfig) -> Vec<WrongPath> {
    vec![
        closing(config, "ready, closes a loop of 3", 3),
        closing(config, "ready, closes a loop of 6", 6),
        jumping(config, "ready, loop of 8", Operand::Ready, 4),
        jumping(config, "ready, loop of 36", Operand::Ready, 32),
        jumping(config, "loaded from L1, loop of 9", Operand::Loaded(4), 4),
        jumping(config, "loaded from L2, loop of 9", Operand::Loaded(13), 4),
        jumping(config, "loaded from memory, loop of 9", Operand::Loaded(400), 4),
    ]
}

/// Returns the cycles per misprediction of an indirect branch with `targets` targets: random order
/// less the same targets in turn.
pub fn indirect_cycles(config: &MachineConfig, targets: u64) -> f64 {
    let run = |random: bool| {
        let mut bench = CoreBench::new(&config.pipeline, HitMemory::default());
        let (mut dice, mut wrong, mut start) = (Dice::new(), 0_u64, 0);
        for turn in 0..TURNS {
            if turn == TURNS / 2 {
                (wrong, start) = (0, bench.retired());
            }
            let number = if random { dice.below(targets) } else { turn % targets };
            let target = CODE + 64 + 64 * number;
            wrong += u64::from(bench.run(CODE, BR, None, target).mispredicted);
            let end = straight(&mut bench, target, &[MOV_ZERO; 4]);
            bench.run(end, b(end, CODE), None, CODE);
        }
        ((bench.retired() - start) as f64, wrong as f64)
    };
    let ((random, wrong), (steady, foreseen)) = (run(true), run(false));
    (random - steady) / (wrong - foreseen)
}

/// Waits of mispredicted branches.
#[derive(Default)]
struct Tally {
    branches: u64,
    cycles: Cycle,
}

impl Tally {
    fn add(&mut self, branch: &OpTimeline) {
        if branch.mispredicted {
            self.branches += 1;
            self.cycles += branch.complete - branch.rename;
        }
    }

    /// Returns the figures of a kernel with this number of squashed instructions.
    fn figures(&self, what: &'static str, squashed: u64) -> WrongPath {
        let each = |n: u64| n as f64 / self.branches as f64;
        let resolves_after = each(self.cycles);
        let most = resolves_after * sim_pipeline::SLOTS as f64;
        WrongPath { what, resolves_after, insts: each(squashed), most }
    }
}

/// Runs a loop of a branch that skips one instruction at random, `body` moves of zero, and a jump
/// back.
fn jumping(config: &MachineConfig, what: &'static str, operand: Operand, body: usize) -> WrongPath {
    let far_cycles = match operand {
        Operand::Ready => 4,
        Operand::Loaded(cycles) => cycles,
    };
    let mut bench = CoreBench::new(&config.pipeline, HitMemory { far_cycles });
    let body = vec![MOV_ZERO; body];
    let (mut dice, mut tally, mut before) = (Dice::new(), Tally::default(), 0);
    for turn in 0..TURNS {
        if turn == TURNS / 2 {
            (tally, before) = (Tally::default(), squashed(&bench));
        }
        let mut pc = CODE;
        if let Operand::Loaded(_) = operand {
            bench.run(pc, LDR_X1, Some(FAR), pc + 4);
            pc += 4;
        }
        let taken = dice.bit();
        let next = if taken { pc + 8 } else { pc + 4 };
        tally.add(bench.run(pc, cbz_over_one(), None, next));
        if !taken {
            bench.run(pc + 4, NOP, None, pc + 8);
        }
        let end = straight(&mut bench, pc + 8, &body);
        bench.run(end, b(end, CODE), None, CODE);
    }
    tally.figures(what, squashed(&bench) - before)
}

/// Runs a loop of `insts` instructions that its last one, a conditional branch, ends after 16 to 31
/// iterations at random; then the loop starts again.
fn closing(config: &MachineConfig, what: &'static str, insts: u64) -> WrongPath {
    let mut bench = CoreBench::new(&config.pipeline, HitMemory::default());
    let body = vec![MOV_ZERO; insts as usize - 1];
    let branch = CODE + 4 * (insts - 1);
    let (mut dice, mut tally, mut before) = (Dice::new(), Tally::default(), 0);
    for round in 0..TURNS / 16 {
        if round == TURNS / 32 {
            (tally, before) = (Tally::default(), squashed(&bench));
        }
        let turns = 16 + dice.below(16);
        for turn in 0..turns {
            straight(&mut bench, CODE, &body);
            let next = if turn + 1 == turns { branch + 4 } else { CODE };
            tally.add(bench.run(branch, cbz_back(insts - 1), None, next));
        }
        bench.run(branch + 4, b(branch + 4, CODE), None, CODE);
    }
    tally.figures(what, squashed(&bench) - before)
}

/// Returns the number of renamed instructions that did not retire.
fn squashed(bench: &CoreBench<HitMemory>) -> u64 {
    let value = |event| bench.counts().value(event);
    value(PmuEvent::INST_SPEC) - value(PmuEvent::INST_RETIRED)
}
