//! Waits of a thread for another thread that synchronized first in the recording
//! ([`crate::thread_scheduler`]).

use super::CoreRun;
use crate::run_sink::RunSink;
use sim_cache::MemorySystem;
use sim_core::{Cycle, InstId};
use sim_isa::{Program, Special};

impl CoreRun {
    /// Lets the thread run up to stream position `at`, and not before cycle `wait`.
    pub(crate) fn hold(&mut self, at: u64, wait: Cycle) {
        self.hold_at = at;
        self.wait = self.wait.max(wait);
        self.find_stop();
    }

    /// Finds the number of instructions of the batch that may run.
    pub(super) fn find_stop(&mut self) {
        let free = self.hold_at.saturating_sub(self.reader.batch_start());
        self.stop = free.min(self.batch.len() as u64) as usize;
    }

    /// Advances the clock to the end of a wait. Within a program the core idles and counts. A
    /// processor of a system sleeps after `WFI` or `WFE` and counts, as hardware does: that is not
    /// a wait on the core. After a system call and before its first instruction the thread is on
    /// no core: nothing is counted.
    #[cold]
    pub(super) fn wait_for_other<S: RunSink>(
        &mut self,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        let until = std::mem::take(&mut self.wait);
        if !self.is_away(program) {
            if self.full_system && self.follows(program, Special::Wait) {
                return self.pipeline.sleep_until(until);
            }
            self.note_wait(self.pipeline.cycle(), until);
            return self.pipeline.wait_until(until);
        }
        self.waits.away += until.saturating_sub(self.pipeline.cycle());
        let is_counted = self.opened.is_some();
        if is_counted {
            self.close(true, memory, observer);
        }
        // Observers receive no reports for this time.
        self.pipeline.settle_clocks(&mut (&mut self.totals, &mut *observer));
        self.pipeline.idle_until(until, &mut self.totals);
        self.pipeline.settle_clocks(&mut self.totals);
        if is_counted {
            self.open(memory, observer);
        }
    }

    /// Adds the time that the thread waits on its core between two cycles.
    pub(super) fn note_wait(&mut self, from: Cycle, until: Cycle) {
        if self.opened.is_some() {
            self.waits.on_core += until.saturating_sub(from.max(self.waits_from));
        }
    }

    /// Returns true if the next instruction follows a system call that is not in the trace, or is
    /// the first.
    pub(super) fn is_away(&self, program: &Program) -> bool {
        let follows_call = !self.full_system && self.follows(program, Special::SupervisorCall);
        follows_call || self.last_inst().is_none()
    }

    /// Returns true if the last instruction was one of this kind.
    fn follows(&self, program: &Program, special: Special) -> bool {
        self.last_inst().is_some_and(|id| program.inst(id).special == special)
    }

    /// Returns the last instruction; `None` before the first.
    fn last_inst(&self) -> Option<InstId> {
        match self.at.checked_sub(1) {
            Some(last) => self.batch.get(last).map(|inst| inst.id),
            None => self.before,
        }
    }
}
