//! Runs a kernel on one core: an uncounted warm-up, then the measured loads.

use sim_cache::MemorySystem;
use sim_core::{Counts, Cycle, InstFlags, InstId, TraceInst};
use sim_isa::Program;
use sim_pipeline::{Pipeline, Step};

use super::kernel::Kernel;
use sim_machine::config::MachineConfig;

/// Loads of a kernel that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of loads that only warm the machine.
    pub warmup: u64,
    /// Number of measured loads.
    pub measured: u64,
}

impl Plan {
    /// Creates a plan with `passes` passes of warm-up and at most `most` measured loads.
    pub fn after_passes(kernel: &Kernel, passes: u64, most: u64) -> Plan {
        Plan { warmup: passes * kernel.period(), measured: most }
    }
}

/// Result of a measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Number of measured loads.
    pub loads: u64,
    /// Bytes read by the measured loads.
    pub bytes: u64,
    /// Cycles from the retirement of the last warm-up load to that of the last measured one.
    pub cycles: Cycle,
    /// Events raised during these cycles.
    pub counts: Counts,
}

impl Measurement {
    /// Returns the cycles per load; in a chain this is the load-to-use latency.
    pub fn cycles_per_load(&self) -> f64 {
        self.cycles as f64 / self.loads as f64
    }

    /// Returns the bytes read per cycle.
    pub fn bytes_per_cycle(&self) -> f64 {
        self.bytes as f64 / self.cycles as f64
    }
}

/// Runs a kernel on a fresh machine.
pub fn measure(config: &MachineConfig, kernel: &Kernel, plan: Plan) -> Measurement {
    let mut runner = Runner::new(config, kernel);
    let start = runner.run(plan.warmup);
    let before = runner.counts.clone();
    let end = runner.run(plan.measured);
    Measurement {
        loads: plan.measured,
        bytes: plan.measured * kernel.load_bytes(),
        cycles: end - start,
        counts: runner.counts.since(&before),
    }
}

/// A core that runs a kernel.
struct Runner<'a> {
    kernel: &'a Kernel,
    pipeline: Pipeline,
    memory: MemorySystem,
    program: Program,
    ids: Vec<InstId>,
    counts: Counts,
    /// Index of the next word of the loop.
    word: usize,
    /// Number of the next load.
    load: u64,
    retired: Cycle,
}

impl<'a> Runner<'a> {
    fn new(config: &MachineConfig, kernel: &'a Kernel) -> Runner<'a> {
        let mut program = Program::costing(config.pipeline.costs());
        let places = (kernel.code()..).step_by(4);
        let ids = places.zip(kernel.words()).map(|(pc, word)| program.intern(pc, *word)).collect();
        let seed = config.run.seed;
        Runner {
            kernel,
            pipeline: Pipeline::new(&config.pipeline),
            memory: MemorySystem::new(&config.memory, &config.semantics, 1, seed),
            program,
            ids,
            counts: Counts::default(),
            word: 0,
            load: 0,
            retired: 0,
        }
    }

    /// Runs `loads` more loads. Returns the cycle in which the last one retired.
    fn run(&mut self, loads: u64) -> Cycle {
        let until = self.load + loads;
        while self.load < until {
            self.run_word();
        }
        self.retired
    }

    fn run_word(&mut self) {
        let is_load = self.word < self.kernel.loads_per_turn();
        let mut inst = TraceInst { id: self.ids[self.word], ..TraceInst::default() };
        if is_load {
            inst.addr = self.kernel.address(self.load);
            inst.flags = InstFlags::HAS_ADDR;
        }
        self.word = (self.word + 1) % self.ids.len();
        let next_pc = self.program.pc(self.ids[self.word]);
        let step = Step { inst, more: &[], next_pc: Some(next_pc) };
        let mut port = self.memory.port(0);
        let timeline =
            self.pipeline.run_inst(&step, &mut self.program, &mut port, &mut self.counts);
        if is_load {
            self.load += 1;
            self.retired = timeline.retire;
        }
    }
}
