//! Cores that run at the same time on CPUs of the host. During a quantum each group of cores, most
//! often a single one, has its own private memory and a view of the shared part as it was at the
//! beginning, and logs its requests. At the end the machine performs the requests of all groups, in
//! the order of their cycles.
//!
//! The result does not depend on the number of CPUs. It is that of a run in exact order, unless
//! groups are in conflict: they use one line, or need more of memory than it has.
//! [`MemorySystem::conflicts`] and [`MemorySystem::waits_for_memory`] detect this. The caller then
//! takes the quantum of these groups back and runs them as one.

use sim_core::{Cycle, LineAddr};

use crate::core_memory::CoreMemory;
use crate::cores::Cores;
use crate::memory_system::MemorySystem;
use crate::units::request::SnoopRequest;

/// Part of the cores' time that answers of memory may come too early or too late in a quantum: one
/// cycle in so many.
const LATE_PART: Cycle = 128;

/// Reason to run groups of cores as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// Both requested one line.
    Line,
    /// One took a line that the other used.
    Snoop,
}

/// Answers of a quantum, and those that differ from what the cores saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantumAnswers {
    /// Lines read.
    pub reads: u64,
    /// Lines that another part supplied.
    pub other_source: u64,
    /// Cycles by which answers came earlier or later, in sum.
    pub cycles_off: Cycle,
}

/// Memory of a group of cores for a quantum.
#[derive(Debug)]
pub struct QuantumMemory {
    memory: MemorySystem,
    /// Private parts at the beginning of the quantum, in the order of the group.
    saved: Vec<Option<Box<CoreMemory>>>,
    /// Snoops that waited at the beginning, with their cores.
    waiting: Vec<(usize, SnoopRequest)>,
}

impl QuantumMemory {
    /// Returns the memory in which the cores run, under their own numbers.
    pub fn memory(&mut self) -> &mut MemorySystem {
        &mut self.memory
    }

    /// Returns the cores of the group.
    fn cores(&self) -> &[usize] {
        &self.memory.uncore.logged().cores
    }

    /// Saves the private parts. The caller calls this after [`MemorySystem::begin_quantum`], on any
    /// thread.
    pub fn save(&mut self) {
        let QuantumMemory { memory, saved, .. } = self;
        let cores = &memory.uncore.logged().cores;
        *saved = cores.iter().map(|core| memory.cores.boxed(*core).clone()).collect();
    }

    /// Returns whether a core did something that all cores see at once, such as maintenance of
    /// TLBs. The quantum is then wrong for all groups.
    pub fn needs_all(&self) -> bool {
        self.memory.uncore.logged().needs_all
    }

    /// Returns each core of the group with the lowest of the cores with which it competes: both
    /// requested a line, or another core competes with both. A core that competes with none has its
    /// own number.
    pub fn competitors(&self) -> Vec<(usize, usize)> {
        let log = self.memory.uncore.logged();
        let mut first: Vec<(usize, usize)> = log.cores.iter().map(|core| (*core, *core)).collect();
        if first.len() < 2 {
            return first;
        }
        let mut lines: Vec<(LineAddr, usize)> =
            log.entries.iter().map(|entry| (entry.line, entry.core)).collect();
        lines.sort_unstable();
        lines.dedup();
        for cores in lines.chunk_by(|a, b| a.0 == b.0).filter(|cores| cores.len() > 1) {
            let of_line = |(core, _): &&(usize, usize)| cores.iter().any(|(_, one)| one == core);
            let joined: Vec<usize> = first.iter().filter(of_line).map(|one| one.1).collect();
            let lowest = joined.iter().copied().min().unwrap_or(0);
            let of_joined = first.iter_mut().filter(|one| joined.contains(&one.1));
            of_joined.for_each(|one| one.1 = lowest);
        }
        first
    }

    /// Returns whether a core of the group may have used a line: an L1 cache has it at the
    /// beginning or at the end, or its state in the L2 is another one at the end.
    fn has_used(&self, core: usize, line: LineAddr) -> bool {
        let in_l1 =
            |core: &CoreMemory| core.l1d.probe(line).is_some() || core.l1i.probe(line).is_some();
        let in_l2 = |core: &CoreMemory| core.l2.probe(line).map(|entry| core.l2.state(entry));
        let now = &self.memory.cores[core];
        let place = self.cores().iter().position(|one| *one == core);
        let before = place.and_then(|place| self.saved[place].as_deref());
        in_l1(now) || before.is_none_or(|before| in_l1(before) || in_l2(before) != in_l2(now))
    }
}

impl MemorySystem {
    /// Creates memory for a group of cores. It takes little memory of the host until a quantum
    /// begins.
    pub fn quantum_memory(&self) -> QuantumMemory {
        let memory = MemorySystem {
            cores: Cores::asleep(self.cores.len()),
            uncore: self.uncore.view(),
            config: self.config.clone(),
            semantics: self.semantics,
            seed: self.seed,
        };
        QuantumMemory { memory, saved: Vec::new(), waiting: Vec::new() }
    }

    /// Begins a quantum of these cores, whose private parts move to `quantum`.
    ///
    /// # Panics
    ///
    /// When there is no such core.
    pub fn begin_quantum(&mut self, quantum: &mut QuantumMemory, cores: &[usize]) {
        quantum.waiting.clear();
        for core in cores {
            let waiting = self.uncore.snoops.of(*core).iter();
            quantum.waiting.extend(waiting.map(|request| (*core, *request)));
            *quantum.memory.cores.boxed(*core) = self.cores.boxed(*core).take();
        }
        self.uncore.begin_quantum(cores, &mut quantum.memory.uncore);
    }

    /// Returns which groups are in conflict, as pairs of their places in `quanta`, and why.
    pub fn conflicts(&self, quanta: &[&QuantumMemory]) -> Vec<(usize, usize, Conflict)> {
        let mut pairs = common_lines(quanta);
        let mut group_of = vec![None; self.cores.len()];
        for (place, quantum) in quanta.iter().enumerate() {
            quantum.cores().iter().for_each(|core| group_of[*core] = Some(place));
        }
        for (place, quantum) in quanta.iter().enumerate() {
            for (core, line) in &quantum.memory.uncore.logged().snoops {
                if let Some(other) = group_of[*core]
                    && quanta[other].has_used(*core, *line)
                {
                    pairs.push((place.min(other), place.max(other), Conflict::Snoop));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Returns whether the groups, which ran for `cycles`, need more of memory together than it
    /// has.
    pub fn waits_for_memory(&self, quanta: &[&QuantumMemory], cycles: Cycle) -> bool {
        let cores: usize = quanta.iter().map(|quantum| quantum.cores().len()).sum();
        self.memory_cycles_off(quanta) * LATE_PART > cycles * cores as u64
    }

    /// Returns by how many cycles memory answers the accesses of all groups together later than
    /// those of each group alone, in sum.
    fn memory_cycles_off(&self, quanta: &[&QuantumMemory]) -> Cycle {
        let groups = quanta.iter().enumerate();
        let mut accesses: Vec<_> = groups
            .flat_map(|(group, quantum)| {
                let memory = quantum.memory.uncore.logged().memory.iter().enumerate();
                memory.map(move |(place, access)| ((access.key, group, place), access))
            })
            .collect();
        accesses.sort_unstable_by_key(|(key, _)| *key);
        let mut memory = self.uncore.memory_alone();
        let off = |access: &crate::uncore::quantum_log::MemoryAccess| {
            memory.access(access.line, access.at).abs_diff(access.done)
        };
        accesses.into_iter().map(|(_, access)| access).map(off).sum()
    }

    /// Ends a quantum: the private parts return, and the home nodes perform the requests.
    pub fn end_quantum(&mut self, quanta: &mut [&mut QuantumMemory]) -> QuantumAnswers {
        let mut order = Vec::new();
        for (group, quantum) in quanta.iter_mut().enumerate() {
            let QuantumMemory { memory, saved, .. } = &mut **quantum;
            let log = memory.uncore.end_quantum();
            let entries = log.entries.iter().enumerate();
            order.extend(entries.map(|(place, entry)| (entry.key, group, place)));
            saved.clear();
            for core in log.cores.clone() {
                *self.cores.boxed(core) = memory.cores.boxed(core).take();
                memory.uncore.snoops.move_to(core, &mut self.uncore.snoops);
            }
        }
        order.sort_unstable();
        let mut answers = QuantumAnswers::default();
        for (_, group, place) in order {
            let log = quanta[group].memory.uncore.logged();
            if let Some((cycles, is_other)) = self.uncore.perform_logged(log, place) {
                answers.reads += 1;
                answers.other_source += u64::from(is_other);
                answers.cycles_off += cycles;
            }
        }
        answers
    }

    /// Takes a quantum of a group back: the private parts are as they were at the beginning.
    pub fn take_back(&mut self, quantum: &mut QuantumMemory) {
        let QuantumMemory { memory, saved, waiting } = quantum;
        let cores = memory.uncore.end_quantum().cores.clone();
        for (core, saved) in cores.into_iter().zip(saved.drain(..)) {
            drop(memory.cores.boxed(core).take());
            *self.cores.boxed(core) = saved;
            // What the core left in the queue of its view waited before, or comes again.
            drop(memory.uncore.snoops.take(core));
        }
        for (core, request) in waiting.drain(..) {
            self.uncore.snoops.send(core, request);
        }
    }
}

/// Returns the pairs of groups that requested one line.
fn common_lines(quanta: &[&QuantumMemory]) -> Vec<(usize, usize, Conflict)> {
    let groups = quanta.iter().enumerate();
    let mut lines: Vec<(LineAddr, usize)> = groups
        .flat_map(|(group, quantum)| {
            let entries = quantum.memory.uncore.logged().entries.iter();
            entries.map(move |entry| (entry.line, group))
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let common = lines.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    common.map(|pair| (pair[0].1, pair[1].1, Conflict::Line)).collect()
}
