//! Runs the kernels of the back end: loops for rates and latencies, and two misses with operations
//! in between for sizes.

use super::words as w;
use crate::core_bench::{CoreBench, FAR, HitMemory, cycles_per_turn};
use sim_cache::MemorySystem;
use sim_machine::config::MachineConfig;

/// Address of the kernels.
const CODE: u64 = 0x40_0000;
/// Address of data that hits the L1.
const DATA: u64 = 0x10_0000;
/// Instructions in one iteration, without the branch back.
const BODY: u32 = 240;
/// Iterations of a loop, half of them as warm-up.
const TURNS: u64 = 60;

/// Returns the instructions per cycle of a loop whose `i`-th instruction is `word(i)`.
pub(super) fn throughput(config: &MachineConfig, word: impl Fn(u32) -> u32) -> f64 {
    let mut words: Vec<u32> = (0..BODY).map(word).collect();
    words.push(w::b_back(BODY));
    f64::from(BODY) / cycles_per_turn(&config.pipeline, CODE, &words, TURNS, |_, _| None)
}

/// Returns the cycles per word in a chain of one word.
pub(super) fn latency(config: &MachineConfig, word: u32) -> f64 {
    1.0 / throughput(config, |_| word)
}

/// Returns the cycles per iteration of a loop of accesses at these offsets, on the real memory
/// system. The accesses must form a chain across iterations.
pub(super) fn chain_in_memory(config: &MachineConfig, accesses: &[(u32, u64)]) -> f64 {
    let mut memory = MemorySystem::new(&config.memory, &config.semantics, 1, config.run.seed);
    let mut bench = CoreBench::new(&config.pipeline, memory.port(0));
    let words = 20 * accesses.len();
    let (mut middle, turns) = (0, TURNS / 2);
    for turn in 0..2 * turns {
        for (i, (word, offset)) in accesses.iter().cycle().take(words).enumerate() {
            let pc = CODE + 4 * i as u64;
            bench.run(pc, *word, Some(DATA + offset), pc + 4);
        }
        let pc = CODE + 4 * words as u64;
        bench.run(pc, w::b_back(words as u32), None, CODE);
        if turn + 1 == turns {
            middle = bench.retired();
        }
    }
    (bench.retired() - middle) as f64 / (20 * turns) as f64
}

/// Operations that fill one structure of the window.
pub(super) struct Filler {
    /// The `i`-th operation.
    pub(super) word: fn(u32) -> u32,
    /// Data address of each operation.
    pub(super) addr: Option<u64>,
    /// They read v0, which the first load writes, so they wait in their issue queue.
    pub(super) waits: bool,
}

/// Returns the largest number of fillers between two loads that miss all caches with which the
/// second load still issues while the first waits.
pub(super) fn knee(config: &MachineConfig, filler: &Filler) -> usize {
    (0..4096).find(|n| !overlap(config, filler, *n + 1)).unwrap_or(4096)
}

fn overlap(config: &MachineConfig, filler: &Filler, fillers: usize) -> bool {
    let mut bench = CoreBench::new(&config.pipeline, HitMemory { far_cycles: 4000 });
    let mut pc = CODE;
    let mut run = |word: u32, addr: Option<u64>| {
        pc += 4;
        bench.run(pc - 4, word, addr, pc).complete
    };
    let first = if filler.waits { w::ldr_d(0, 24) } else { w::ldr_x(25, 24) };
    let arrived = run(first, Some(FAR));
    for i in 0..fillers as u32 {
        run((filler.word)(i), filler.addr);
    }
    run(w::ldr_x(26, 27), Some(FAR + 0x1000)) < arrived + 2000
}
