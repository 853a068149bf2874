//! Kernels of the front end: fetch rate, cost of taken and mispredicted branches, capacity of the
//! predictors.

use super::code::{BR, CODE, Dice, MOV_ZERO, NOP, RET, b, bl, maybe_over_one, straight};
use crate::core_bench::{CoreBench, HitMemory};
use sim_cache::MemorySystem;
use sim_core::MemoryPort;
use sim_machine::config::MachineConfig;

/// Largest misprediction ratio at which targets count as known and a pattern as learned.
const KNOWN: f64 = 0.05;
const LEARNED: f64 = 0.03;

fn bench(config: &MachineConfig) -> CoreBench<HitMemory> {
    CoreBench::new(&config.pipeline, HitMemory::default())
}

/// Returns the cycles per iteration of `turn`, which gets its number; the first half warms up.
fn cycles_per_turn<M: MemoryPort>(
    bench: &mut CoreBench<M>,
    turns: u64,
    mut turn: impl FnMut(&mut CoreBench<M>, u64),
) -> f64 {
    let warm = turns / 2;
    (0..warm).for_each(|i| turn(bench, i));
    let start = bench.retired();
    (warm..turns).for_each(|i| turn(bench, i));
    (bench.retired() - start) as f64 / (turns - warm) as f64
}

/// Returns the instructions per cycle of a loop of `words` instructions, alternately these two.
fn loop_rate<M: MemoryPort>(bench: &mut CoreBench<M>, pair: [u32; 2], words: u64) -> f64 {
    let body: Vec<u32> = (0..words).map(|i| pair[i as usize % 2]).collect();
    let cycles = cycles_per_turn(bench, 6, |bench, _| {
        let end = straight(bench, CODE, &body);
        bench.run(end, b(end, CODE), None, CODE);
    });
    words as f64 / cycles
}

/// Returns the `NOP`s per cycle from the MOP cache, where pairs share a MOP.
pub(super) fn nops(config: &MachineConfig) -> f64 {
    loop_rate(&mut bench(config), [NOP, NOP], 1024)
}

/// Returns the instructions per cycle from the MOP cache if none shares a MOP or needs a pipe.
pub(super) fn unfused(config: &MachineConfig) -> f64 {
    loop_rate(&mut bench(config), [NOP, MOV_ZERO], 1024)
}

/// Returns the `NOP`s per cycle of a loop of 256 KiB, from the L2.
pub(super) fn nops_from_l2(config: &MachineConfig) -> f64 {
    let seed = config.run.seed;
    let mut memory = MemorySystem::new(&config.memory, &config.semantics, 1, seed);
    loop_rate(&mut CoreBench::new(&config.pipeline, memory.port(0)), [NOP, NOP], 65_536)
}

/// Returns the cycles per branch of a loop of taken branches that lie `spacing` bytes apart.
pub(super) fn taken(config: &MachineConfig, branches: u64, spacing: u64) -> f64 {
    let last = CODE + (branches - 1) * spacing;
    let turns = (2048 / branches).clamp(2, 16) * 2;
    let cycles = cycles_per_turn(&mut bench(config), turns, |bench, _| {
        for pc in (CODE..=last).step_by(spacing as usize) {
            let next = if pc == last { CODE } else { pc + spacing };
            bench.run(pc, b(pc, next), None, next);
        }
    });
    cycles / branches as f64
}

/// Returns the most taken branches with at most `cycles` each, in steps of an eighth of a power of
/// two.
pub(super) fn taken_knee(config: &MachineConfig, spacing: u64, from: u64, cycles: f64) -> u64 {
    let holds = |branches: &u64| taken(config, *branches, spacing) <= cycles;
    eighths(from).take_while(holds).last().unwrap_or(0)
}

/// Returns numbers from a power of two on, each an eighth of the last power larger.
fn eighths(from: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(from), |n| Some(n + (1 << n.ilog2()) / 8))
}

/// Returns the cycles per misprediction: a loop with one random branch less the same loop with the
/// branch always one way. All code fits the MOP cache.
pub(super) fn mispredict_cycles(config: &MachineConfig) -> f64 {
    const TURNS: u64 = 4000;
    let run = |random: bool| {
        let (mut dice, mut wrong) = (Dice::new(), 0_u64);
        let cycles = cycles_per_turn(&mut bench(config), TURNS, |bench, turn| {
            let bit = dice.bit();
            wrong += u64::from(maybe_over_one(bench, CODE, random && bit) && turn >= TURNS / 2);
            let end = straight(bench, CODE + 8, &[MOV_ZERO; 4]);
            bench.run(end, b(end, CODE), None, CODE);
        });
        (cycles, wrong as f64 / (TURNS / 2) as f64)
    };
    let ((random, wrong), (steady, _)) = (run(true), run(false));
    (random - steady) / wrong
}

/// Returns the deepest nest of calls in which every return is predicted. Each function calls the
/// next from one of two places at random, so that only a stack can predict the return.
pub(super) fn return_depth(config: &MachineConfig) -> usize {
    let holds = |depth: &usize| mispredicted_returns(config, *depth) == 0;
    (2..64).take_while(holds).last().unwrap_or(0)
}

fn mispredicted_returns(config: &MachineConfig, depth: usize) -> u64 {
    let mut bench = bench(config);
    let (mut dice, mut wrong) = (Dice::new(), 0);
    let function = |level: usize| CODE + 256 * level as u64;
    for turn in 0..40 {
        let mut returns = Vec::new();
        for level in 0..depth {
            // Eight words to choose from, then one of two calls.
            let pc = function(level) + if dice.bit() { 64 } else { 32 };
            bench.run(function(level), b(function(level), pc), None, pc);
            bench.run(pc, bl(pc, function(level + 1)), None, function(level + 1));
            returns.push(pc + 4);
        }
        let mut pc = function(depth);
        while let Some(back) = returns.pop() {
            wrong += u64::from(bench.run(pc, RET, None, back).mispredicted && turn >= 20);
            pc = back;
        }
        bench.run(pc, b(pc, CODE), None, CODE);
    }
    wrong
}

/// Returns the most targets that `branches` indirect branches visit in turn without mispredictions,
/// in steps of an eighth of a power of two.
pub(super) fn target_knee(config: &MachineConfig, branches: u64, from: u64) -> u64 {
    let holds = |targets: &u64| mispredicted_targets(config, branches, *targets) <= KNOWN;
    eighths(from).take_while(holds).last().unwrap_or(0)
}

/// Returns the most indirect branches of `targets` targets each without mispredictions.
pub(super) fn indirect_knee(config: &MachineConfig, targets: u64, from: u64) -> u64 {
    let holds = |branches: &u64| mispredicted_targets(config, *branches, targets) <= KNOWN;
    eighths(from).take_while(holds).last().unwrap_or(0)
}

fn mispredicted_targets(config: &MachineConfig, branches: u64, targets: u64) -> f64 {
    const ROUNDS: u64 = 8;
    let mut bench = bench(config);
    let mut wrong = 0;
    let place = |branch: u64| CODE + 16 * branch;
    for turn in 0..ROUNDS * targets {
        for branch in 0..branches {
            let target = 2 * CODE + 64 * (branch * targets + turn % targets);
            let pc = place(branch);
            let missed = bench.run(pc, BR, None, target).mispredicted;
            wrong += u64::from(missed && turn >= (ROUNDS - 1) * targets);
            let next = place((branch + 1) % branches);
            bench.run(target, b(target, next), None, next);
        }
    }
    wrong as f64 / (branches * targets) as f64
}

/// Returns the longest random pattern that `branches` conditional branches learn, each its own, in
/// steps of an eighth of a power of two.
pub(super) fn pattern_knee(config: &MachineConfig, branches: u64, from: u64) -> u64 {
    let holds = |length: &u64| mispredicted_patterns(config, branches, *length) <= LEARNED;
    eighths(from).take_while(holds).last().unwrap_or(0)
}

fn mispredicted_patterns(config: &MachineConfig, branches: u64, length: u64) -> f64 {
    const ROUNDS: u64 = 96;
    let mut bench = bench(config);
    let mut dice = Dice::new();
    let patterns: Vec<Vec<bool>> = (0..branches).map(|_| dice.bits(length as usize)).collect();
    let end = CODE + 8 * branches;
    let mut wrong = 0;
    for turn in 0..ROUNDS * length {
        for (i, pattern) in patterns.iter().enumerate() {
            let taken = pattern[(turn % length) as usize];
            let missed = maybe_over_one(&mut bench, CODE + 8 * i as u64, taken);
            wrong += u64::from(missed && turn >= (ROUNDS - 1) * length);
        }
        bench.run(end, b(end, CODE), None, CODE);
    }
    wrong as f64 / (branches * length) as f64
}
