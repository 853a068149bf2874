//! The cores of a machine whose threads share them: pipelines that stay with their core when its
//! thread changes.

use crate::thread_scheduler::Seat;
use sim_cache::MemorySystem;
use sim_core::{Cycle, Reserved};
use sim_pipeline::Pipeline;

/// A core that threads share.
struct SharedCore {
    /// Its pipeline while no thread runs on it, else the empty one of that thread.
    pipeline: Box<Pipeline>,
    /// Cycle in which the last thread left it.
    free_from: Cycle,
    _memory: Reserved,
}

/// The cores of a run that were used, and the thread on each.
#[derive(Default)]
pub(crate) struct Seats {
    cores: Vec<Option<SharedCore>>,
    /// The thread on each core.
    threads: Vec<Option<usize>>,
}

impl Seats {
    /// Creates this many cores, none of them used.
    pub(crate) fn new(cores: usize) -> Seats {
        Seats { cores: (0..cores).map(|_| None).collect(), threads: vec![None; cores] }
    }

    pub(crate) fn len(&self) -> usize {
        self.cores.len()
    }

    /// Returns true if the core was never used.
    pub(crate) fn is_new(&self, core: usize) -> bool {
        self.cores[core].is_none()
    }

    /// Enters a core that is used for the first time.
    pub(crate) fn add(&mut self, core: usize, pipeline: Pipeline, memory: Reserved) {
        self.cores[core] =
            Some(SharedCore { pipeline: Box::new(pipeline), free_from: 0, _memory: memory });
    }

    /// Returns the threads that must leave a core before a thread takes its seat, and these cores.
    pub(crate) fn leavers(&self, thread: usize, seat: &Seat) -> Vec<(usize, usize)> {
        let has_left = |(core, at): (usize, &Option<usize>)| {
            let at = (*at)?;
            (core == seat.core || at == thread).then_some((at, core))
        };
        self.threads.iter().enumerate().filter_map(has_left).collect()
    }

    /// Returns the core of a thread.
    pub(crate) fn core_of(&self, thread: usize) -> Option<usize> {
        self.threads.iter().position(|at| *at == Some(thread))
    }

    /// Notes which thread is on a core, and returns the pipeline that is kept for it.
    pub(crate) fn set(&mut self, core: usize, thread: Option<usize>) -> &mut Pipeline {
        self.threads[core] = thread;
        &mut self.cores[core].as_mut().expect("the core was added").pipeline
    }

    /// Notes that the last thread left a core in this cycle.
    pub(crate) fn left(&mut self, core: usize, cycle: Cycle) {
        if let Some(core) = &mut self.cores[core] {
            core.free_from = cycle;
        }
    }

    /// Returns the cycle in which the last thread left a core; 0 if it was never used.
    pub(crate) fn free_from(&self, core: usize) -> Cycle {
        self.cores[core].as_ref().map_or(0, |core| core.free_from)
    }

    /// Frees the private memory of all cores, after the last thread.
    pub(crate) fn release(&self, memory: &mut MemorySystem) {
        let used = (0..self.cores.len()).filter(|core| self.cores[*core].is_some());
        used.for_each(|core| memory.release(core));
    }
}
