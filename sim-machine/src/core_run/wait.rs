//! A thread that waits for another one, because it synchronized behind it when it was recorded
//! ([`crate::thread_scheduler`]).

use super::CoreRun;
use sim_cache::MemorySystem;
use sim_core::{Cycle, EventSink};
use sim_isa::{Program, Special};

impl CoreRun {
    /// The thread may run up to this instruction of its stream, not before this cycle.
    pub(crate) fn hold(&mut self, at: u64, wait: Cycle) {
        self.hold_at = at;
        self.wait = self.wait.max(wait);
        self.find_stop();
    }

    /// Finds how many instructions of the batch may run.
    pub(super) fn find_stop(&mut self) {
        let free = self.hold_at.saturating_sub(self.reader.batch_start());
        self.stop = free.min(self.batch.len() as u64) as usize;
    }

    /// Lets the clock pass. In the middle of a program the core is there and does nothing; behind a system
    /// call, and before its first instruction, the thread is not on its core, and nothing is counted.
    #[cold]
    pub(super) fn wait_for_other<S: EventSink>(
        &mut self,
        program: &Program,
        memory: &MemorySystem,
        listener: &mut S,
    ) {
        let until = std::mem::take(&mut self.wait);
        if !self.is_away(program) {
            self.note_wait(self.pipeline.cycle(), until);
            return self.pipeline.wait_until(until);
        }
        self.waits.away += until.saturating_sub(self.pipeline.cycle());
        let is_counted = self.opened.is_some();
        if is_counted {
            self.close(true, memory, listener);
        }
        // Those who follow the run hear nothing of this time.
        self.pipeline.settle_clocks(&mut (&mut self.totals, &mut *listener));
        self.pipeline.idle_until(until, &mut self.totals);
        self.pipeline.settle_clocks(&mut self.totals);
        if is_counted {
            self.open(memory, listener);
        }
    }

    /// The thread stands still on its core between these cycles.
    pub(super) fn note_wait(&mut self, from: Cycle, until: Cycle) {
        if self.opened.is_some() {
            self.waits.on_core += until.saturating_sub(from);
        }
    }

    /// The next instruction stands behind a system call, or is the first.
    pub(super) fn is_away(&self, program: &Program) -> bool {
        let before = match self.at.checked_sub(1) {
            Some(last) => self.batch.get(last).map(|inst| inst.id),
            None => self.before,
        };
        before.is_none_or(|id| program.inst(id).special == Special::SupervisorCall)
    }
}
