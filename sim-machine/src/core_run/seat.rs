//! A thread that leaves its core to another one, and its start on the next core
//! ([`crate::thread_scheduler`]). Between them nothing is counted.

use super::CoreRun;
use crate::run_sink::RunSink;
use crate::thread_scheduler::Seat;
use sim_cache::MemorySystem;
use sim_core::{Cycle, Notice};
use sim_isa::Program;
use sim_pipeline::Pipeline;

impl CoreRun {
    /// Leaves the core, after the operations in flight, and returns its pipeline to `idle`. The
    /// time until maintenance of all cores is complete belongs to no part of the thread's waits.
    pub(crate) fn leave<S: RunSink>(
        &mut self,
        idle: &mut Pipeline,
        program: &Program,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        observer.notify(Notice::Core(self.thread));
        let sink = &mut (&mut self.totals, &mut *observer);
        if let (Some(engine), Some(next)) = (&mut self.engine, self.batch.get(self.at)) {
            engine.resolve_pending_branch(Some(next.id), &mut self.pipeline, program, sink);
        }
        self.pipeline.push_stores(0, &mut memory.port(self.core), sink);
        let completed = self.pipeline.complete_maintenance(&mut memory.port(self.core), sink);
        self.is_interrupted = self.opened.is_some();
        if self.is_interrupted {
            self.close(true, memory, observer);
        } else if self.engine.is_none() {
            self.pipeline.finish(&mut (&mut self.totals, &mut *observer));
        }
        self.hand_over(idle, memory);
        self.left = self.left.max(completed);
    }

    /// Returns the pipeline of the core, after the thread's last operation on it.
    pub(crate) fn hand_over(&mut self, idle: &mut Pipeline, memory: &mut MemorySystem) {
        // At the end of a thread that was not counted then, operations are still in flight.
        self.pipeline.push_stores(0, &mut memory.port(self.core), &mut self.totals);
        self.pipeline.finish(&mut self.totals);
        memory.port(self.core).clear_exclusive();
        self.left = self.clock();
        self.pipeline.exchange_core(idle);
    }

    /// Returns the clock at which the thread left a core that it shares.
    pub(crate) fn left(&self) -> Cycle {
        self.left
    }

    /// Returns the cycle from which the mesh counts: that of the next instruction, or the start on
    /// a core.
    pub(super) fn counted_from(&self) -> Cycle {
        self.cycle().max(self.start)
    }

    /// Returns the cycle up to which all is counted.
    pub(super) fn clock(&self) -> Cycle {
        match &self.engine {
            Some(engine) => engine.cycle(),
            None => self.pipeline.clock(),
        }
    }

    /// Begins on an idle core, whose last thread left it at `free_from`. Observers get no reports
    /// for the time until the start.
    pub(crate) fn sit<S: RunSink>(
        &mut self,
        seat: &Seat,
        free_from: Cycle,
        idle: &mut Pipeline,
        memory: &mut MemorySystem,
        observer: &mut S,
    ) {
        observer.notify(Notice::Core(self.thread));
        self.pipeline.exchange_core(idle);
        let ready = seat.ready.max(self.left);
        self.start = ready.max(free_from).saturating_add(seat.switch_cycles);
        self.pipeline.pause_until(self.start);
        if let Some(engine) = &mut self.engine {
            engine.wait_until(self.start);
        }
        self.waits.away += ready - self.left;
        self.waits.queued += self.start - ready;
        self.waits.switching += seat.switch_cycles;
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
