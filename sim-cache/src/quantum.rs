//! Cores that run at the same time on CPUs of the host. During a quantum each core has its own
//! private memory and a view of the shared part as it was at the beginning, and logs its requests.
//! At the end the machine performs the requests of all cores, in the order of their cycles.
//!
//! The result does not depend on the number of CPUs. It is that of a run in exact order, unless
//! cores met: used one line, or wanted more of memory than it has. [`MemorySystem::meeting`] finds
//! out. The caller then takes the quantum back and runs it in exact order.

use sim_core::{Cycle, LineAddr};

use crate::core_memory::CoreMemory;
use crate::cores::Cores;
use crate::memory_system::MemorySystem;
use crate::units::request::SnoopRequest;

/// Part of the cores' time that answers of memory may come too early or too late in a quantum: one
/// cycle in so many.
const LATE_PART: Cycle = 128;

/// Reason to run a quantum in exact order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A core did something that all cores see at once, such as maintenance of TLBs.
    Broadcast,
    /// Two cores requested one line.
    Line,
    /// A core took a line that another core used.
    Snoop,
    /// The cores waited for the same channels of memory.
    Memory,
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

/// Memory of one core for a quantum.
#[derive(Debug)]
pub struct QuantumMemory {
    core: usize,
    memory: MemorySystem,
    /// Private part at the beginning of the quantum.
    saved: Option<Box<CoreMemory>>,
    /// Snoops that waited at the beginning.
    waiting: Vec<SnoopRequest>,
}

impl QuantumMemory {
    /// Returns the memory in which the core runs, under its own number.
    pub fn memory(&mut self) -> &mut MemorySystem {
        &mut self.memory
    }

    /// Saves the private part. The caller calls this after [`MemorySystem::begin_quantum`], on any
    /// thread.
    pub fn save(&mut self) {
        self.saved = self.memory.cores.boxed(self.core).clone();
    }

    /// Returns whether the core used a line in an L1 cache at the beginning or at the end.
    fn has_used(&self, line: LineAddr) -> bool {
        let uses =
            |core: &CoreMemory| core.l1d.probe(line).is_some() || core.l1i.probe(line).is_some();
        self.saved.as_deref().is_some_and(uses) || uses(&self.memory.cores[self.core])
    }
}

impl MemorySystem {
    /// Creates the memory of a core for quanta. It takes little memory of the host until a quantum
    /// begins.
    pub fn quantum_memory(&self, core: usize) -> QuantumMemory {
        let memory = MemorySystem {
            cores: Cores::asleep(self.cores.len()),
            uncore: self.uncore.view(),
            config: self.config.clone(),
            semantics: self.semantics,
            seed: self.seed,
        };
        QuantumMemory { core, memory, saved: None, waiting: Vec::new() }
    }

    /// Begins a quantum of a core, whose private part moves to `quantum`.
    ///
    /// # Panics
    ///
    /// When the core is not awake.
    pub fn begin_quantum(&mut self, quantum: &mut QuantumMemory) {
        let core = quantum.core;
        quantum.waiting.clear();
        quantum.waiting.extend_from_slice(self.uncore.snoops.of(core));
        self.uncore.begin_quantum(core, &mut quantum.memory.uncore);
        *quantum.memory.cores.boxed(core) = self.cores.boxed(core).take();
    }

    /// Returns why the quantum of these cores, which took `cycles`, must run in exact order; `None`
    /// if it need not.
    pub fn meeting(&self, quanta: &[&QuantumMemory], cycles: Cycle) -> Option<Meeting> {
        if quanta.iter().any(|quantum| quantum.memory.uncore.logged().needs_all) {
            return Some(Meeting::Broadcast);
        }
        if has_common_line(quanta) {
            return Some(Meeting::Line);
        }
        let mut of_core = vec![None; self.cores.len()];
        for quantum in quanta {
            of_core[quantum.core] = Some(*quantum);
        }
        let mut snoops = quanta.iter().flat_map(|quantum| &quantum.memory.uncore.logged().snoops);
        if snoops.any(|(core, line)| of_core[*core].is_some_and(|other| other.has_used(*line))) {
            return Some(Meeting::Snoop);
        }
        let off = self.memory_cycles_off(quanta);
        (off * LATE_PART > cycles * quanta.len() as u64).then_some(Meeting::Memory)
    }

    /// Returns by how many cycles memory answers the accesses of all cores together later than
    /// those of each core alone, in sum.
    fn memory_cycles_off(&self, quanta: &[&QuantumMemory]) -> Cycle {
        let mut accesses: Vec<_> = quanta
            .iter()
            .flat_map(|quantum| {
                let memory = quantum.memory.uncore.logged().memory.iter().enumerate();
                memory.map(|(place, access)| ((access.key, quantum.core, place), access))
            })
            .collect();
        accesses.sort_unstable_by_key(|(key, _)| *key);
        let mut uncore = self.uncore.memory_alone();
        let off = accesses.iter().map(|(_, access)| {
            let done = uncore.access(access.line, access.at);
            done.abs_diff(access.done)
        });
        off.sum()
    }

    /// Ends a quantum: the private parts return, and the home nodes perform the requests.
    pub fn end_quantum(&mut self, quanta: &mut [&mut QuantumMemory]) -> QuantumAnswers {
        let mut order = Vec::new();
        for (number, quantum) in quanta.iter_mut().enumerate() {
            let core = quantum.core;
            *self.cores.boxed(core) = quantum.memory.cores.boxed(core).take();
            let entries = quantum.memory.uncore.end_quantum().entries.iter().enumerate();
            order.extend(entries.map(|(place, entry)| (entry.key, core, place, number)));
        }
        order.sort_unstable();
        let mut answers = QuantumAnswers::default();
        for (_, core, place, number) in order {
            let entry = quanta[number].memory.uncore.logged().entries[place];
            if let Some((cycles, is_other)) = self.uncore.perform_logged(core, &entry) {
                answers.reads += 1;
                answers.other_source += u64::from(is_other);
                answers.cycles_off += cycles;
            }
        }
        answers
    }

    /// Takes a quantum of a core back: its private part is as it was at the beginning.
    pub fn take_back(&mut self, quantum: &mut QuantumMemory) {
        let core = quantum.core;
        quantum.memory.uncore.end_quantum();
        drop(quantum.memory.cores.boxed(core).take());
        *self.cores.boxed(core) = quantum.saved.take();
        // What the core left in its own queue waited before, too.
        drop(quantum.memory.uncore.snoops.take(core));
        for request in quantum.waiting.drain(..) {
            self.uncore.snoops.send(core, request);
        }
    }
}

/// Returns whether two cores requested one line.
fn has_common_line(quanta: &[&QuantumMemory]) -> bool {
    let mut lines: Vec<(LineAddr, usize)> = quanta
        .iter()
        .flat_map(|quantum| {
            let entries = quantum.memory.uncore.logged().entries.iter();
            entries.map(|entry| (entry.line, quantum.core))
        })
        .collect();
    lines.sort_unstable();
    lines.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
}
