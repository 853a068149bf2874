//! Runs small loops on one core and directed programs on several, without a trace: for tests and
//! comparisons with other models.

use sim_core::{InstFlags, TraceInst};
use sim_isa::{Inst, MemOp, Program};

use crate::cluster::{A53Config, A53CoreOutcome, outcome};
use crate::code::Code;
use crate::core::Core;
use crate::event::{A53Counts, A53Sink};
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
            timing.spare(&config.pipeline.ideal);
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
    match has_operand(program.inst(id)) {
        true => TraceInst { id, flags: InstFlags::HAS_ADDR, addr: data },
        false => TraceInst { id, ..TraceInst::default() },
    }
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
    code: Code,
    cores: Vec<Core>,
    memory: ClusterMemory,
    sinks: Vec<S>,
}

impl<S: A53Sink + AsRef<A53Counts>> Cluster<S> {
    /// Creates a cluster with one core for each sink, and nothing in its caches and TLBs.
    pub fn new(config: &A53Config, sinks: Vec<S>) -> Cluster<S> {
        Cluster {
            config: config.clone(),
            code: Code::new(),
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

    /// Places a word that only a wrong path executes, after a mispredicted branch of a core. It
    /// accesses `addr`, if it is a load.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn place(&mut self, core: usize, pc: u64, word: u32, addr: u64) {
        let id = self.code.place(pc, word, &self.config.pipeline);
        self.cores[core].execute_wrong_paths(self.code.len());
        self.cores[core].expect_access(id, addr);
    }

    /// Executes an instruction on a core. After a mispredicted branch, so do the words placed on
    /// the wrong path.
    ///
    /// # Panics
    /// If there is no such core.
    pub fn execute(&mut self, core: usize, executed: &Executed) {
        let id = self.code.place(executed.pc, executed.word, &self.config.pipeline);
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
        let core = &mut self.cores[core];
        core.step(&inst, &[], self.code.timing(id), executed.next, memory, sink);
        if let Some(path) = core.take_wrong_path() {
            core.execute_wrong_path(path, &self.code, memory, sink);
        }
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
