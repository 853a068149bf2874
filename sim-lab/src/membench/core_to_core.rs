//! Cost of a line that another core has just written: two cores pass lines back and forth.
//!
//! Each core counts down in registers until the other one's compare-and-swap is complete. Then it
//! performs its own on the same line, which the other core's L1 D-cache holds modified.

use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle, InstFlags, InstId, LINE_BYTES, OpTimeline, TraceInst};
use sim_isa::Program;
use sim_pipeline::{Pipeline, Step};

use super::kernel::{B_NE, CODE, DATA, SUBS};
use super::latency::Setting;
use sim_machine::config::MachineConfig;

/// Number of lines, so that the mean is over as many home nodes.
const LINES: u64 = 64;
/// Round trips of each line before the measurement.
const ROUNDS_OF_WARMUP: u64 = 4;
/// Measured round trips of each line.
const ROUNDS: u64 = 16;
/// Number of cores, as in the published measurement.
const CORES: usize = 128;
/// Partners of core 0 in the sweep.
pub const PARTNERS: [usize; 8] = [1, 2, 4, 8, 14, 16, 64, 127];

/// `casal x0, x3, [x2]`
const CASAL: u32 = 0xc8e0_fc43;
/// `b .-12`
const B_BACK: u32 = 0x17ff_fffd;
/// Loop: count down, branch back while counting, swap, branch to the start.
const WORDS: [u32; 4] = [SUBS, B_NE | (0x7_ffff << 5), CASAL, B_BACK];

/// Cost of passing lines between two cores.
#[derive(Clone, Debug)]
pub struct Handover {
    /// Partner of core 0.
    pub partner: usize,
    /// Cycles of one compare-and-swap from issue to result, while the other core holds the line.
    pub cycles: f64,
    /// Nanoseconds of one compare-and-swap at the configured clock.
    pub nanoseconds: f64,
    /// Counts of core 0 during the measurement.
    pub counts: Counts,
    /// Number of compare-and-swaps of core 0 in the measurement.
    pub swaps: u64,
}

/// Measures core 0 and one partner.
pub fn handover(config: &MachineConfig, partner: usize) -> Handover {
    let setting = Setting { page_bytes: 4 << 10, prefetch: false };
    let mut pair = Pair::new(&setting.applied_to(config), partner);
    pair.pass_around(ROUNDS_OF_WARMUP);
    let before = pair.cores[0].counts.clone();
    let waited = pair.pass_around(ROUNDS);
    let swaps = ROUNDS * LINES;
    let cycles = waited as f64 / (2 * swaps) as f64;
    Handover {
        partner,
        cycles,
        nanoseconds: cycles * 1e9 / config.core.clock_hz as f64,
        counts: pair.cores[0].counts.since(&before),
        swaps,
    }
}

/// A core in its loop.
struct Core {
    number: usize,
    pipeline: Pipeline,
    counts: Counts,
}

/// Two active cores of a machine.
struct Pair {
    cores: [Core; 2],
    memory: MemorySystem,
    program: Program,
    ids: [InstId; WORDS.len()],
    /// Cycle in which the last swap completed.
    done: Cycle,
}

impl Pair {
    fn new(config: &MachineConfig, partner: usize) -> Pair {
        let mut program = Program::costing(config.pipeline.costs());
        let mut pc = CODE;
        let ids = WORDS.map(|word| {
            pc += 4;
            program.intern(pc - 4, word)
        });
        let core = |number| Core {
            number,
            pipeline: Pipeline::new(&config.pipeline),
            counts: Counts::default(),
        };
        let seed = config.run.seed;
        Pair {
            cores: [core(0), core(partner)],
            memory: MemorySystem::new(&config.memory, &config.semantics, CORES, seed),
            program,
            ids,
            done: 0,
        }
    }

    /// Passes every line back and forth `rounds` times. Returns the cycles of all swaps.
    fn pass_around(&mut self, rounds: u64) -> Cycle {
        let lines = (0..rounds * LINES).map(|pass| DATA + pass % LINES * LINE_BYTES);
        lines.map(|line| self.take_turn(0, line) + self.take_turn(1, line)).sum()
    }

    /// Lets a core wait for the last swap and perform its own. Returns the swap's cycles.
    fn take_turn(&mut self, core: usize, line: u64) -> Cycle {
        while self.cores[core].pipeline.cycle() < self.done {
            self.run(core, 0, None, 1);
            self.run(core, 1, None, 0);
        }
        self.run(core, 0, None, 1);
        self.run(core, 1, None, 2);
        let swap = self.run(core, 2, Some(line), 3);
        self.run(core, 3, None, 0);
        self.done = swap.complete;
        swap.complete - swap.issue
    }

    /// Runs one word of the loop, which the word `next` follows.
    fn run(&mut self, core: usize, word: usize, addr: Option<u64>, next: usize) -> OpTimeline {
        let mut inst = TraceInst { id: self.ids[word], ..TraceInst::default() };
        if let Some(addr) = addr {
            inst.addr = addr;
            inst.flags = InstFlags::HAS_ADDR;
        }
        let step = Step { inst, more: &[], next_pc: Some(self.program.pc(self.ids[next])) };
        let Core { number, pipeline, counts } = &mut self.cores[core];
        let mut port = self.memory.port(*number);
        *pipeline.run_inst(&step, &mut self.program, &mut port, counts)
    }
}
