//! One core that executes given words, one at a time, without a trace. Callers read its cycle and
//! its counts in between: measurements of loops with warm caches.

use sim_core::{InstFlags, TraceInst};
use sim_isa::Program;

use crate::cluster::A53Config;
use crate::core::Core;
use crate::event::{A53Counts, A53Event};
use crate::memory::ClusterMemory;
use crate::timing::Timing;

/// A core, its memory, and the words that it may execute.
#[derive(Debug)]
pub struct Stepper {
    base: u64,
    words: Vec<(TraceInst, Timing)>,
    core: Core,
    memory: ClusterMemory,
    counts: A53Counts,
}

impl Stepper {
    /// Creates a core with cold caches. The words are at `base` and the addresses after it.
    pub fn new(config: &A53Config, base: u64, words: &[u32]) -> Stepper {
        let mut program = Program::new();
        let place = |(word, pc): (&u32, u64)| {
            let id = program.intern(pc, *word);
            let inst = TraceInst { id, ..TraceInst::default() };
            (inst, Timing::of(&program, id, &config.pipeline))
        };
        Stepper {
            base,
            words: words.iter().zip((base..).step_by(4)).map(place).collect(),
            core: Core::new(0, &config.pipeline),
            memory: ClusterMemory::new(&config.memory, 1, config.cluster.seed),
            counts: A53Counts::default(),
        }
    }

    /// Executes the word with the index `at`, which accesses `addr`. The word with the index `next`
    /// follows.
    pub fn step(&mut self, at: usize, addr: Option<u64>, next: usize) {
        let (inst, timing) = &self.words[at];
        let inst = match addr {
            Some(addr) => TraceInst { flags: InstFlags::HAS_ADDR, addr, ..*inst },
            None => *inst,
        };
        let next = Some(self.base + 4 * next as u64);
        self.core.step(&inst, &[], timing, next, &mut self.memory, &mut self.counts);
    }

    /// Returns the cycle of the latest issue.
    pub fn cycle(&self) -> u64 {
        self.core.cycle()
    }

    /// Returns the count of an event until now.
    pub fn count(&self, event: A53Event) -> u64 {
        self.counts.value(event)
    }
}
