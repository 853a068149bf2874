//! Runs small loops on one core and directed programs on several, without a trace: for tests and
//! comparisons with other models.

use sim_core::{InstFlags, TraceInst};
use sim_isa::{Inst, MemOp, Program};

use crate::cluster::{A53Config, A53CoreOutcome, outcome};
use crate::core::Core;
use crate::event::{A53Counts, A53Sink};
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
    let accesses = |id: u32| has_operand(program.inst(id));
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

/// Returns whether an instruction takes an address, or the operand of a maintenance operation.
pub fn has_operand(inst: &Inst) -> bool {
    inst.mem.op != MemOp::None || inst.maintenance.is_some_and(|what| what.has_operand())
}

/// One executed instruction of a directed program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its address.
    pub pc: u64,
    /// Its word.
    pub word: u32,
    /// Address of its access, or the operand of its maintenance operation.
    pub operand: Option<u64>,
    /// The store-exclusive does not store.
    pub exclusive_fails: bool,
    /// It takes an exception in place of being completed, and does not retire.
    pub is_abandoned: bool,
    /// Address of the next instruction; `None` where the stream breaks off.
    pub next: Option<u64>,
}

/// A cluster that executes a directed program, one instruction after the other.
pub struct Cluster<S> {
    config: A53Config,
    program: Program,
    cores: Vec<Core>,
    memory: ClusterMemory,
    sinks: Vec<S>,
}

impl<S: A53Sink + AsRef<A53Counts>> Cluster<S> {
    /// Creates a cluster with one core for each sink, and nothing in its caches and TLBs.
    pub fn new(config: &A53Config, sinks: Vec<S>) -> Cluster<S> {
        Cluster {
            config: config.clone(),
            program: Program::new(),
            cores: (0..sinks.len()).map(|core| Core::new(core, &config.pipeline)).collect(),
            memory: ClusterMemory::new(&config.memory, sinks.len(), config.cluster.seed),
            sinks,
        }
    }

    /// Returns the memory side, to be filled before the first instruction.
    pub fn memory(&mut self) -> &mut ClusterMemory {
        &mut self.memory
    }

    /// Returns the sink of a core.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn sink(&self, core: usize) -> &S {
        &self.sinks[core]
    }

    /// Executes an instruction on a core.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn execute(&mut self, core: usize, executed: &Executed) {
        let id = self.program.intern(executed.pc, executed.word);
        let timing = Timing::of(&self.program, id, &self.config.pipeline);
        let mut inst = TraceInst { id, ..TraceInst::default() };
        if let Some(addr) = executed.operand {
            (inst.flags, inst.addr) = (inst.flags.with(InstFlags::HAS_ADDR), addr);
        }
        if executed.exclusive_fails {
            inst.flags = inst.flags.with(InstFlags::EXCLUSIVE_FAILED);
        }
        if executed.is_abandoned {
            inst.flags = inst.flags.with(InstFlags::ABANDONED);
        }
        let (memory, sink) = (&mut self.memory, &mut self.sinks[core]);
        self.cores[core].step(&inst, &[], &timing, executed.next, memory, sink);
    }

    /// Takes an exception on a core before its next instruction. `vector` is the offset in the
    /// vector table.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn take_exception(&mut self, core: usize, vector: u32) {
        self.cores[core].take_exception(vector, &mut self.sinks[core]);
    }

    /// Lets a core wait, with an empty queue, until the other cores have left write-back and
    /// emptied their store buffers.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn wait_for_others(&mut self, core: usize) {
        let mut until = 0;
        for other in (0..self.cores.len()).filter(|other| *other != core) {
            let end = self.cores[other].end();
            let end = self.memory.drain(other, end, &mut self.sinks[other]);
            until = until.max(end);
        }
        self.cores[core].fetch_from(until);
    }

    /// Ends the program. Returns the result of each core, and its sink.
    pub fn finish(mut self) -> Vec<(A53CoreOutcome, S)> {
        let mut ended = Vec::new();
        for (number, (core, mut sink)) in self.cores.into_iter().zip(self.sinks).enumerate() {
            ended.push((outcome(number as u32, core, &mut self.memory, &mut sink), sink));
        }
        ended
    }
}
