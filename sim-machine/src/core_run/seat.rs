//! A thread that leaves its core to another one, and its start on the next core
//! ([`crate::thread_scheduler`]). Between them nothing is counted.

use super::CoreRun;
use crate::run_sink::RunSink;
use crate::thread_scheduler::Seat;
use sim_cache::MemorySystem;
use sim_core::{Cycle, Notice};
use sim_pipeline::Pipeline;

impl CoreRun {
    /// Leaves the core, after the operations in flight, and returns its pipeline to `idle`.
    pub(crate) fn leave<S: RunSink>(
        &mut self,
        idle: &mut Pipeline,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        observer.notify(Notice::Core(self.thread));
        self.is_interrupted = self.opened.is_some();
        if self.is_interrupted {
            self.close(true, memory, observer);
        } else if self.engine.is_none() {
            self.pipeline.finish(&mut (&mut self.totals, &mut *observer));
        }
        self.left = self.clock();
        self.hand_over(idle, memory);
    }

    /// Returns the pipeline of the core, after the thread's last operation on it.
    pub(crate) fn hand_over(&mut self, idle: &mut Pipeline, memory: &mut MemorySystem) {
        memory.port(self.core).clear_exclusive();
        self.pipeline.exchange_core(idle);
    }

    /// Returns the cycle up to which all is counted.
    fn clock(&self) -> Cycle {
        match &self.engine {
            Some(engine) => engine.cycle(),
            None => self.pipeline.clock(),
        }
    }

    /// Begins on an idle core. Observers get no reports for the time until the start.
    pub(crate) fn sit<S: RunSink>(
        &mut self,
        seat: &Seat,
        idle: &mut Pipeline,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        observer.notify(Notice::Core(self.thread));
        self.pipeline.exchange_core(idle);
        self.pipeline.pause_until(seat.start);
        self.start = seat.start;
        if let Some(engine) = &mut self.engine {
            engine.wait_until(seat.start);
        }
        let ready = seat.ready.max(self.left);
        self.waits.away += ready - self.left;
        self.waits.queued += self.clock().saturating_sub(ready);
        self.waits.switches += u64::from(seat.is_switch);
        self.waits.migrations += u64::from(self.done > 0 && self.core != seat.core);
        self.core = seat.core;
        if std::mem::take(&mut self.is_interrupted) {
            self.open(memory, observer);
        } else {
            self.find_deadline(observer);
        }
    }
}
